"""GitHub Copilot CLI: a file of ours among its hooks, with a command for each shell and time-outs in seconds.

Its payloads do not name the event. Hooks of a repository run in a trusted folder only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command
from conversation_esaa.hooks.json_hooks import JsonHooks
from conversation_esaa.hooks.surface import NOT_NEEDED, PROJECT, USER, Approval, Event, home_of, json_value
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("copilot-cli")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="sessionStart", injects=True),
    Event(name="userPromptSubmitted"),
    Event(name="agentStop"),
    Event(name="sessionEnd"),
)


def home(machine: Machine) -> Path:
    """`~/.copilot`, or what COPILOT_HOME names."""
    return home_of(machine, "COPILOT_HOME", ".copilot")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    name = "conversation-esaa.json"
    return {PROJECT: root / ".github" / "hooks" / name, USER: home(machine) / "hooks" / name}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """The folder, or one above it, must be trusted for the hooks of a repository."""
    del changed
    if scope == USER or _is_trusted(machine, root):
        return NOT_NEEDED
    return Approval(required=True, step=f"start `copilot` in {root} and trust the folder")


def trust(machine: Machine, root: Path) -> Trust | None:
    """Its file says of itself that it is managed automatically: it is read, and never written."""
    del machine, root
    return None


def _is_trusted(machine: Machine, root: Path) -> bool:
    folders = json_value(home(machine) / "config.json").get("trustedFolders")
    return isinstance(folders, list) and any(str(folder) in folders for folder in (root, *root.parents))


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell, key = (command.POWERSHELL, "powershell") if program.windows else (command.SH, "bash")
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    return {"type": "command", key: line, "timeoutSec": event.timeout_s}


FORM = JsonHooks(events=EVENTS, handler=_handler, grouped=False, base={"version": 1})
