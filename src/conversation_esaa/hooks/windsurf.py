"""Windsurf: the hooks of Cascade, in `hooks.json`, handlers without groups. The files of all scopes run.

Of what was said there nothing else can be read: Cascade's own files are encrypted. It knows no start and no end of
a session, has no time-out for a hook, and takes nothing into the model's context. A hook that comes before a prompt
stops it by exit code 2, which ours never gives.
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
    """No question of trust is documented."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """None is documented."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    del inject
    if not program.windows:
        line = command.command(program, command.SH, NAME, event.name)
        return {"command": line, "show_output": False}
    return {  # some versions have a key of its own for PowerShell
        "command": command.command(program, command.CMD, NAME, event.name),
        "powershell": command.command(program, command.POWERSHELL, NAME, event.name),
        "show_output": False,
    }


FORM = JsonHooks(events=EVENTS, handler=_handler, grouped=False)
