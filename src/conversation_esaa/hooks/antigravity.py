"""Antigravity CLI: a named hook of ours in `hooks.json`.

Known from other tools' notes alone. Only the end of a turn is registered: it is the one event whose name all of them
agree on. A build that reads plugins only does not run it; then a watcher captures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command
from conversation_esaa.hooks.json_hooks import JsonHooks
from conversation_esaa.hooks.surface import NOT_NEEDED, PROJECT, USER, Approval, Event, home_of
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("antigravity")
DEFAULT_SCOPE = USER
EVENTS = (Event(name="Stop"),)


def home(machine: Machine) -> Path:
    """`~/.gemini/antigravity-cli`, or what ANTIGRAVITY_HOME names."""
    return home_of(machine, "ANTIGRAVITY_HOME", ".gemini", "antigravity-cli")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The file of the project, and the global one."""
    return {
        PROJECT: root / ".agents" / "hooks.json",
        USER: machine.user_home / ".gemini" / "config" / "hooks.json",
    }


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """No question of trust is known."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """None is known."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    del inject
    shell = command.CMD if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name)
    return {"type": "command", "command": line, "timeout": event.timeout_s}  # whole seconds


FORM = JsonHooks(events=EVENTS, handler=_handler, below=("conversation-esaa",), grouped=False)
