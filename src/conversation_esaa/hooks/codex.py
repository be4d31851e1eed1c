"""Codex: `hooks.json`, behind two gates: the folder must be trusted, and each hook reviewed by its user.

The second gate is Codex's own: what it keeps of a review is never written by us. The older way, `notify`, needs
neither, see `codex_notify.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command
from conversation_esaa.hooks.json_hooks import JsonHooks, entries
from conversation_esaa.hooks.surface import (
    NOT_NEEDED,
    PROJECT,
    USER,
    Approval,
    Event,
    Trust,
    home_of,
    read,
    toml_value,
)
from conversation_esaa.hooks.trusted import TrustedTable
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.machine import Machine

NAME = AgentId("codex")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="SessionStart", injects=True),  # comes again after each compaction
    Event(name="UserPromptSubmit"),
    Event(name="Stop"),
    Event(name="PreCompact"),
    Event(name="SessionEnd", timeout_s=3),  # Codex allows no more there
)


def home(machine: Machine) -> Path:
    """`~/.codex`, or what CODEX_HOME names."""
    return home_of(machine, "CODEX_HOME", ".codex")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    return {PROJECT: root / ".codex" / "hooks.json", USER: home(machine) / "hooks.json"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """Both gates. A changed entry is reviewed anew; `codex exec` silently leaves out what is not."""
    steps = []
    config = home(machine) / "config.toml"
    trusted = toml_value(config, "projects")
    if scope == PROJECT and not any(
        isinstance(told := trusted.get(str(folder)), dict) and told.get("trust_level") == "trusted"
        for folder in (root, *root.parents)
    ):
        steps.append(f"start `codex` in {root} and say that you trust the folder, or give --trust here")
    path = places(machine, root)[scope]
    reviewed = toml_value(config, "hooks").get("state", {})
    if changed or not all(key in reviewed for key in _review_keys(path)):
        steps.append(
            "start `codex` once and choose `Trust all and continue` where it says that hooks need review"
        )
    return Approval(required=True, step="; then ".join(steps)) if steps else NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """`[projects."/path"] trust_level = "trusted"`."""
    says = {"trust_level": "trusted"}
    form = TrustedTable(table="projects", folder=str(root), says=says, by="trust_level")
    return Trust(path=home(machine) / "config.toml", form=form)


def _review_keys(path: Path) -> list[str]:
    """What Codex calls our entries where it keeps its reviews: file, event, group and position."""
    keys = []
    for where in entries(read(path)):
        if len(where) == 5:
            _, event, group, _, position = where
            snake = re.sub(r"(?<!^)(?=[A-Z])", "_", str(event)).lower()
            keys.append(f"{path}:{snake}:{group}:{position}")
    return keys


def _handler(program: Program, event: Event, *, inject: bool) -> dict[str, Any]:
    shell = command.CMD if program.windows else command.SH
    line = command.command(program, shell, NAME, event.name, inject=inject and event.injects)
    return {"type": "command", "command": line, "timeout": event.timeout_s}  # seconds


FORM = JsonHooks(events=EVENTS, handler=_handler)
