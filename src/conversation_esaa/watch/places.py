"""Which directories matter: those that finding the sessions of a workspace looks into, and no other.

Asked of the agents' own discovery, by looking over its shoulder, so a new agent needs nothing here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.agents import listing
from conversation_esaa.agents.registry import agent, modules
from conversation_esaa.capture.roots import roots_now
from conversation_esaa.errors import ConversationError
from conversation_esaa.ids import agent_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.workspace import Workspace


def directories(workspace: Workspace) -> set[str]:
    """The directories below which a new word for this workspace would appear, as their real paths.

    Each of them as it is now, not what is below it: a directory that comes later is seen to come in the one
    above. Nothing that holds the user's home is among them. Costs what finding the sessions costs.
    """
    looked = _Looked()
    machine = workspace.machine
    try:
        settings = workspace.settings
    except ConversationError:  # then nothing is captured either; whoever serves it says so
        return set()
    roots = roots_now(workspace.layout, settings)
    excluded = set(map(agent_id, settings.capture.exclude_agents))
    for name in modules():
        if name in excluded:
            continue
        try:
            module = agent(name)
            home = module.home(machine.environ, machine.user_home)
            with listing.witnessed_by(looked):
                for file in module.session_files(home, roots):
                    looked.content(str(file.path.parent))
        except Exception:  # noqa: BLE001, S112 - the sync says which module is broken
            continue
    above = {str(machine.user_home), *map(str, machine.user_home.parents)}
    above |= set(map(os.path.realpath, above))
    found = {path if os.path.isdir(path) else str(Path(path).parent) for path in looked.paths}
    return {os.path.realpath(path) for path in found if _watchable(path)} - above


def topmost(paths: Iterable[str]) -> list[str]:
    """`paths` without those that lie below another one."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: Path(path).parts):
        if not kept or not Path(path).is_relative_to(kept[-1]):
            kept.append(path)
    return kept


class _Looked:
    """A witness of what discovery looks at: here only where."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def content(self, path: str) -> None:
        self.paths.add(path)

    def written(self, path: str) -> None:
        self.paths.add(path)

    def real(self, path: str) -> None:
        """Nothing to watch: what lies there is told by itself."""

    def kind(self, path: str) -> None:
        self.paths.add(str(Path(path).parent))


def _watchable(path: str) -> bool:
    return os.path.isdir(path) and os.access(path, os.R_OK)
