"""Grok: a file of ours among its hooks. Those of the user are always trusted, those of a project once it is.

What a hook prints does not reach the model, so nothing is injected.
"""

from __future__ import annotations

from datetime import datetime
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
    toml_value,
)
from conversation_esaa.hooks.trusted import TrustedTable
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.machine import Machine

NAME = AgentId("grok")
DEFAULT_SCOPE = USER
EVENTS = tuple(
    Event(name=name) for name in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
)


def home(machine: Machine) -> Path:
    """`~/.grok`, or what GROK_HOME names."""
    return home_of(machine, "GROK_HOME", ".grok")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    name = "conversation-esaa.json"
    return {PROJECT: root / ".grok" / "hooks" / name, USER: home(machine) / "hooks" / name}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """For the hooks of a project, the folder must be trusted, and be the root of a git repository."""
    del changed
    folders = toml_value(home(machine) / "trusted_folders.toml", "folders")
    if scope == USER:
        return NOT_NEEDED
    if not any(
        isinstance(told := folders.get(str(folder)), dict) and told.get("trusted") is True
        for folder in (root, *root.parents)
    ):
        return Approval(
            required=True,
            step=f"start `grok --trust` once in {root}, or give --trust here (it covers MCP too)",
        )
    if not (root / ".git").exists():
        return Approval(
            required=True,
            step=f"grok looks for hooks of a project at the root of a git repository only, which {root} is not: "
            "run `git init` there, or use the scope user",
        )
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """`[folders."/path"] trusted = true`, with the second in which it was decided."""
    says = {"trusted": True, "decided_at": int(datetime.fromisoformat(machine.now()).timestamp())}
    form = TrustedTable(table="folders", folder=str(root), says=says, by="trusted")
    return Trust(path=home(machine) / "trusted_folders.toml", form=form)


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    del inject
    shell = command.CMD if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name)
    return {"type": "command", "command": line, "timeout": event.timeout_s}  # seconds


FORM = JsonHooks(events=EVENTS, handler=_handler)
