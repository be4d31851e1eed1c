"""Cursor: `hooks.json`, whose entries are handlers without groups. The files of all scopes run.

Its own schema wants `version`. Grok runs these hooks too, as it does Claude Code's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command
from conversation_esaa.hooks.json_hooks import JsonHooks
from conversation_esaa.hooks.surface import NOT_NEEDED, PROJECT, USER, Approval, Event
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("cursor")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="sessionStart", injects=True),
    Event(name="beforeSubmitPrompt"),
    Event(name="afterAgentResponse"),
    Event(name="stop"),
    Event(name="preCompact"),
    Event(name="sessionEnd"),
)


def home(machine: Machine) -> Path:
    """`~/.cursor`."""
    return machine.user_home / ".cursor"


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    return {PROJECT: root / ".cursor" / "hooks.json", USER: home(machine) / "hooks.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """The workspace must be trusted in the editor for the hooks of a project; where that is kept is unknown."""
    del machine, changed
    if scope == USER:
        return NOT_NEEDED
    return Approval(required=True, step=f"open {root} in Cursor as a trusted workspace")


def trust(machine: Machine, root: Path) -> Trust | None:
    """No file is documented."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell = command.CMD if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    return {"command": line, "timeout": event.timeout_s}  # seconds


FORM = JsonHooks(events=EVENTS, handler=_handler, grouped=False, base={"version": 1})
