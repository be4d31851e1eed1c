"""How a session is taken up again in its own agent, from a shell.

A table, so that a handoff names the commands of a dozen agents and imports no module of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS: Mapping[AgentId, str] = {
    AgentId("claude-code"): "claude --resume {id}",  # finds it only in the directory it was started in
    AgentId("codex"): "codex resume {id}",
    AgentId("grok"): "grok -r {id}",
    AgentId("antigravity"): "agy --conversation={id}",
    AgentId("gemini-cli"): "gemini --resume {id}",
    AgentId("qwen-code"): "qwen --resume {id}",
    AgentId("opencode"): "opencode --session {id}",
    AgentId("kilo"): "kilo --session {id}",
    AgentId("pi"): "pi --session {id}",
    AgentId("copilot-cli"): "copilot --resume={id}",
    AgentId("droid"): "droid --resume {id}",
    AgentId("kimi"): "kimi -r {id}",  # in the directory of the session
    AgentId("kimi-code"): "kimi -r {id}",
    AgentId("cursor-cli"): "cursor-agent --resume={id}",
    AgentId("crush"): "crush --session {id}",  # in the project
    AgentId("goose"): "goose session --resume --session-id {id}",
    AgentId("kiro-cli"): "kiro-cli chat --resume-id {id}",  # in the directory of the session
    AgentId("aider"): "aider --restore-chat-history",  # sessions have no names to ask for
    AgentId("cline"): "cline --id {id}",
    AgentId("amp"): "amp threads continue {id}",
}
"""Those that are not here take a session up again in a list of their own, which no shell command reaches."""


def resume_command(name: AgentId, session_id: str) -> str:
    """The shell command that takes a session up again; "" where there is none.

    Other packages' agents have none: what a log gives must not depend on what is installed beside us. Nor has
    an id that begins as an option does: no agent makes one, and their programs would take it for an option.
    """
    if not session_id or session_id.startswith("-"):
        return ""
    return COMMANDS.get(name, "").format(id=_quoted(session_id))


def _quoted(word: str) -> str:
    """`word` as one word of a shell command: what `shlex.quote` gives, which is hardly ever needed for an id."""
    if word.isascii() and word.replace("-", "").replace("_", "").isalnum():
        return word
    import shlex

    return shlex.quote(word)
