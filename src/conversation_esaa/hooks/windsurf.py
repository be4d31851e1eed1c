"""Windsurf: Cascade's `hooks.json`, whose entries are handlers without groups. The files of all scopes run.

Its log is encrypted, so what its hooks tell is all there is. A hook before something can forbid it by exit code 2;
ours ends with 0 whatever happens. No time-out is documented, and no event takes text into the context.
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

NAME = AgentId("windsurf")
DEFAULT_SCOPE = USER
EVENTS = (Event(name="pre_user_prompt"), Event(name="post_cascade_response"))


def home(machine: Machine) -> Path:
    """`~/.codeium/windsurf`."""
    return machine.user_home / ".codeium" / "windsurf"


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    return {PROJECT: root / ".windsurf" / "hooks.json", USER: home(machine) / "hooks.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """Nothing is documented that its user has to allow."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """No file is documented."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    del inject
    shell = command.CMD if program.windows else command.SH
    return {"command": command.command(program, shell, NAME, event.name), "show_output": False}


FORM = JsonHooks(events=EVENTS, handler=_handler, grouped=False)
