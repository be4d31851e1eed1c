"""Factory droid: `hooks` in its settings, exactly as Claude Code has them. No question of trust is known."""

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

NAME = AgentId("droid")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="SessionStart", injects=True),
    Event(name="UserPromptSubmit"),  # not in `droid exec`
    Event(name="Stop"),
    Event(name="SessionEnd"),
)


def home(machine: Machine) -> Path:
    """`.factory` in the home directory, or in the one that FACTORY_HOME_OVERRIDE names instead."""
    return home_of(machine, "FACTORY_HOME_OVERRIDE") / ".factory"


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The settings of either scope."""
    return {PROJECT: root / ".factory" / "settings.json", USER: home(machine) / "settings.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """None."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """Nothing to trust."""
    del machine, root
    return None


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell = command.CMD if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    return {"type": "command", "command": line, "timeout": event.timeout_s}  # seconds


FORM = JsonHooks(events=EVENTS, handler=_handler)
