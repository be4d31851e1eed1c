"""Kimi CLI: `[[hooks]]` tables in the user's `config.toml`. There is no file of a project, and no question of trust.

What a hook prints does not reach the model, so nothing is injected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.hooks.surface import NOT_NEEDED, USER, Approval, Event, home_of
from conversation_esaa.hooks.toml_hooks import TomlHooks
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("kimi")
DEFAULT_SCOPE = USER
EVENTS = tuple(
    Event(name=name) for name in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
)


def home(machine: Machine) -> Path:
    """`~/.kimi`, or what KIMI_SHARE_DIR names."""
    return home_of(machine, "KIMI_SHARE_DIR", ".kimi")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """The user's settings only."""
    del root
    return {USER: home(machine) / "config.toml"}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """None."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """Nothing to trust."""
    del machine, root
    return None


FORM = TomlHooks(agent=NAME, events=EVENTS)
