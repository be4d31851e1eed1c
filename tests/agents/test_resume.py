"""The command that takes a session up again."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conversation_esaa.agents.registry import MODULES
from conversation_esaa.agents.resume import COMMANDS, resume_command
from conversation_esaa.ids import AgentId

TEA = "22222222-bbbb-4bbb-8bbb-000000000002"

# Their sessions are taken up in a list of their own.
IN_THEIR_OWN_WINDOW = {
    *("cline-vscode", "continue", "copilot-chat", "cursor", "kilo-code", "roo-code", "warp", "zed")
}


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude-code", f"claude --resume {TEA}"),
        ("codex", f"codex resume {TEA}"),
        ("grok", f"grok -r {TEA}"),
        ("antigravity", f"agy --conversation={TEA}"),
        ("copilot-cli", f"copilot --resume={TEA}"),
        ("aider", "aider --restore-chat-history"),
        ("zed", ""),
        ("an-agent-of-another-package", ""),
    ],
)
def test_a_session_is_taken_up_again_by_its_id(agent, command):
    assert resume_command(AgentId(agent), TEA) == command


def test_every_agent_has_a_command_or_none_for_a_reason():
    assert set(COMMANDS) | IN_THEIR_OWN_WINDOW == set(MODULES)
    assert not IN_THEIR_OWN_WINDOW.intersection(COMMANDS)


def test_a_session_without_an_id_has_no_command():
    assert not any(resume_command(agent, "") for agent in MODULES)


@pytest.mark.parametrize("agent", sorted(COMMANDS))
@given(session_id=st.text(min_size=1) | st.sampled_from(["x; rm -rf ~", "$(reboot)", "{id}", "a'b", "a b"]))
def test_an_id_is_one_word_of_the_command_whatever_it_holds(agent, session_id):
    """It comes out of a file, and the command is there to be copied into a shell."""
    assume(not session_id.startswith("-"))

    words = shlex.split(resume_command(agent, session_id))

    assert words == [word.replace("{id}", session_id) for word in COMMANDS[agent].split()]


@pytest.mark.parametrize("agent", sorted(COMMANDS))
def test_an_id_that_a_program_would_take_for_an_option_is_none(agent):
    assert resume_command(agent, "--dangerously-skip-permissions") == ""
