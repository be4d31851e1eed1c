"""Qwen Code: `hooks` in its settings; Claude Code's shape and names, and time-outs in milliseconds.

Hooks of a project run without a question of trust.
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

NAME = AgentId("qwen-code")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="SessionStart", injects=True),  # 0.15.10: not in print mode
    Event(name="UserPromptSubmit"),
    Event(name="Stop"),
    Event(name="SessionEnd"),
)


def home(machine: Machine) -> Path:
    """`~/.qwen`, or what QWEN_HOME names."""
    return home_of(machine, "QWEN_HOME", ".qwen")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The settings of either scope."""
    return {PROJECT: root / ".qwen" / "settings.json", USER: home(machine) / "settings.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """None."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """Nothing to trust."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell = command.POWERSHELL if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    handler = {
        "type": "command",
        "command": line,
        "name": "conversation-esaa",
        "timeout": event.timeout_s * 1000,
    }
    return {**handler, "shell": "powershell"} if program.windows else handler


FORM = JsonHooks(events=EVENTS, handler=_handler)
