"""Claude Code: `hooks` in its settings. By default in the private settings of the project, which git ignores.

Grok runs these hooks too. The entry file knows Grok by what it hands over, and a turn that is told of twice is
captured once, so that needs nothing here.
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

NAME = AgentId("claude-code")
DEFAULT_SCOPE = PROJECT
EVENTS = (
    Event(name="SessionStart", injects=True),  # comes again after each compaction
    Event(name="UserPromptSubmit"),
    Event(name="Stop"),
    Event(name="PreCompact"),
    Event(name="SessionEnd"),
)


def home(machine: Machine) -> Path:
    """`~/.claude`, or what CLAUDE_CONFIG_DIR names."""
    return home_of(machine, "CLAUDE_CONFIG_DIR", ".claude")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The private settings of the project, and those of the user."""
    return {PROJECT: root / ".claude" / "settings.local.json", USER: home(machine) / "settings.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """Claude Code asks once whether a folder is trusted; print mode runs hooks without that."""
    del changed
    if scope == USER or _is_trusted(machine, root):
        return NOT_NEEDED
    return Approval(
        required=True,
        step=f"start `claude` in {root} once and accept its question about trusting the folder",
    )


def trust(machine: Machine, root: Path) -> Trust | None:
    """Where the answer is kept is Claude Code's own affair."""
    del machine, root
    return None


def _is_trusted(machine: Machine, root: Path) -> bool:
    given = machine.environ.get("CLAUDE_CONFIG_DIR", "")
    state = (home(machine) if given else machine.user_home) / ".claude.json"
    projects = json_value(state, "projects")
    return any(
        isinstance(told := projects.get(str(folder)), dict) and told.get("hasTrustDialogAccepted") is True
        for folder in (root, *root.parents)
    )


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    line = command.command(program, command.SH, NAME, event.name, inject=inject and event.injects)
    return {"type": "command", "command": line, "timeout": event.timeout_s}  # seconds


FORM = JsonHooks(events=EVENTS, handler=_handler)
