"""`capture --from-stdin` and `append_turn`: turns of agents whose logs nobody here reads."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.appended import NotCaptured
from conversation_esaa.errors import UsageError
from conversation_esaa.projections.injected import begin_line, end_line

if TYPE_CHECKING:
    from builders.world import Ran, World

TURN = {"agent": "my-agent", "actor": "user", "key": "1"}


@pytest.fixture
def here(world: World) -> World:
    world.run("up")
    return world


def piped(world: World, content: bytes, *words: str) -> Ran:
    process = subprocess.Popen(
        [sys.executable, "-m", "conversation_esaa", "capture", "--from-stdin", *words],
        cwd=world.project,
        env=world.process_environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate(content, timeout=60)
    from builders.world import Ran

    return Ran(process.returncode, out.decode(), err.decode())


def test_what_is_piped_in_is_a_turn_like_any_other(here):
    asked = piped(here, "Which pört?\n".encode(), "--agent", "my-agent", "--actor", "user", "--key", "1")
    said = piped(here, b"8080.", "--agent", "my-agent", "--actor", "assistant", "--key", "2", "--json")

    assert (asked.code, asked.err) == (0, "")
    assert said.json["known"] is False
    assert here.said() == [("user", "Which pört?\n"), ("assistant", "8080.")]
    assert "8080" in here.run("handoff").out
    assert "Which pört?" in here.run("context", "--agent", "my-agent").out
    assert here.run("verify", "--deep").code == 0


def test_the_same_key_again_adds_nothing(here):
    """A script that is run twice, also after its text changed."""
    workspace = here.workspace()
    first = workspace.append_turn("Which port?", **TURN)

    assert first is not None
    assert workspace.append_turn("Which port?", **TURN) is None
    assert workspace.append_turn("Which port, please?", **TURN) is None
    assert len(here.turns()) == 1


def test_two_agents_may_use_the_same_key(here):
    workspace = here.workspace()
    workspace.append_turn("One.", **TURN)

    assert workspace.append_turn("Two.", **{**TURN, "agent": "another"})


def test_what_is_private_or_ours_does_not_come_in(here):
    workspace = here.workspace()
    handoff = f"{begin_line(3, 'ab' * 32)}\n# Handoff\n{end_line(3)}"

    workspace.append_turn(f"{handoff}\n\nGo on <private>pin 1234</private>please.", **TURN)

    assert here.said() == [("user", "Go on please.")]
    with pytest.raises(NotCaptured):
        workspace.append_turn("<private>pin 1234</private>", **{**TURN, "key": "2"})


def test_what_was_said_elsewhere_is_refused(here, tmp_path):
    workspace = here.workspace()

    with pytest.raises(NotCaptured, match="is not in the workspace"):
        workspace.append_turn("Hello.", **TURN, cwd=str(tmp_path))
    assert here.turns() == []


def test_an_agent_whose_log_is_read_is_refused(here):
    """Else each of its turns would be there twice."""
    with pytest.raises(NotCaptured, match="come twice"):
        here.workspace().append_turn("Hello.", **{**TURN, "agent": "claude"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"actor": "system"},
        {"key": ""},
        {"key": "two\nlines"},
        {"session": "x" * 501},
        {"said_at": "yesterday"},
        {"agent": "no name"},
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(here, wrong):
    with pytest.raises(UsageError):
        here.workspace().append_turn("Hello.", **{**TURN, **wrong})
    assert here.turns() == []


@pytest.mark.parametrize(
    ("content", "words", "code"),
    [
        (b"\xff\xfe", ["--agent", "a", "--actor", "user", "--key", "1"], 2),
        (b"", ["--agent", "a", "--actor", "user", "--key", "1"], 1),
        (b"x", ["--actor", "user", "--key", "1"], 2),
        (b"x", ["--agent", "a", "--key", "1"], 2),
    ],
)
def test_bad_input_is_an_error_in_two_lines(here, content, words, code):
    ran = piped(here, content, *words)

    assert ran.code == code
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 2
    assert here.turns() == []
