"""Gemini CLI: `hooks` in its settings; its time-outs are milliseconds.

Hooks of the user run without a question. Those of a project run in a trusted folder only, and not with `--skip-trust`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command
from conversation_esaa.hooks.json_hooks import JsonHooks
from conversation_esaa.hooks.surface import (
    NOT_NEEDED,
    PROJECT,
    USER,
    Approval,
    Event,
    Trust,
    home_of,
    json_value,
)
from conversation_esaa.hooks.trusted import TrustedMember
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.machine import Machine

NAME = AgentId("gemini-cli")
DEFAULT_SCOPE = USER
EVENTS = (  # not PreCompress: it comes before every call of the model
    Event(name="SessionStart", injects=True),
    Event(name="BeforeAgent"),
    Event(name="AfterAgent"),
    Event(name="SessionEnd"),
)


def home(machine: Machine) -> Path:
    """`.gemini` in the home directory, or in the one that GEMINI_CLI_HOME names instead."""
    return home_of(machine, "GEMINI_CLI_HOME") / ".gemini"


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The settings of either scope."""
    return {PROJECT: root / ".gemini" / "settings.json", USER: home(machine) / "settings.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """The folder must be trusted for the hooks of a project."""
    del changed
    folders = json_value(home(machine) / "trustedFolders.json")
    if (
        scope == USER
        or any(folders.get(str(folder)) == "TRUST_FOLDER" for folder in (root, *root.parents))
        or machine.environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true"
    ):
        return NOT_NEEDED
    return Approval(
        required=True, step=f"start `gemini` in {root} and trust the folder, or give --trust here"
    )


def trust(machine: Machine, root: Path) -> Trust | None:
    """`{"/path": "TRUST_FOLDER"}`."""
    form = TrustedMember(folder=str(root), says="TRUST_FOLDER")
    return Trust(path=home(machine) / "trustedFolders.json", form=form)


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell = command.POWERSHELL if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    return {
        "type": "command",
        "command": line,
        "name": "conversation-esaa",
        "timeout": event.timeout_s * 1000,
    }


FORM = JsonHooks(events=EVENTS, handler=_handler)
