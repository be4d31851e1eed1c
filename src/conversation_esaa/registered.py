"""The workspaces of this user that a watcher serves: one small file in the per-user state directory.

Written only when somebody asked for it: `watch` in a workspace, `watch --forget`, and what else registers one
by name. A store that is gone is not struck off: a disk that is not mounted comes back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError
from conversation_esaa.log.files import make_private_directory
from conversation_esaa.log.lock import held
from conversation_esaa.machine import STATE_DIRECTORY, state_directory
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.machine import Machine

SCHEMA = "conversation-esaa.registered/1"
WAIT_S = 10.0  # for another process that registers one; it takes milliseconds


class StateUnusable(ConversationError):
    """The per-user state directory, or what is in it, cannot be read or written."""

    code = "state.unusable"


def list_file(machine: Machine) -> Path:
    """Where the list is."""
    return state_directory(machine) / "workspaces.json"


def registered(machine: Machine) -> list[Path]:
    """The roots on the list, in the order they came. Empty when there is no list. Raises StateUnusable."""
    return [Path(root) for root in _read(list_file(machine))]


def register(machine: Machine, root: Path) -> bool:
    """Put a workspace on the list; whether it was not there before. Raises StateUnusable, LockTimeout."""
    return _changed(machine, lambda roots: [*roots, str(root)] if str(root) not in roots else roots)


def forget(machine: Machine, root: Path) -> bool:
    """Strike a workspace off the list; whether it was there. Raises StateUnusable, LockTimeout."""
    return _changed(machine, lambda roots: [each for each in roots if each != str(root)])


def private_state_directory(machine: Machine) -> Path:
    """The per-user state directory, made if need be, for this user alone. Raises StateUnusable."""
    directory = state_directory(machine)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        make_private_directory(directory)
    except OSError as error:
        raise _unusable(directory, error) from None
    return directory


def _changed(machine: Machine, change: Callable[[list[str]], list[str]]) -> bool:
    directory, path = private_state_directory(machine), list_file(machine)
    with held(directory / "workspaces.lock", purpose="register", wait_s=WAIT_S):
        before = _read(path)
        after = change(before)
        if after != before:
            # ASCII, so that a path that is no UTF-8 comes back as it was.
            text = json.dumps({"schema": SCHEMA, "workspaces": after}, indent=1)
            try:
                replace_file(path, text.encode() + b"\n")
            except OSError as error:
                raise _unusable(path, error) from None
    return after != before


def _read(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unusable(path, error) from None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and found.get("schema") == SCHEMA:
        roots = found.get("workspaces")
        if isinstance(roots, list) and all(isinstance(root, str) for root in roots):
            return roots
    raise StateUnusable(
        f"{path} is no list of workspaces of ours",
        hint="Move that file away; then `conversation-esaa watch` in each workspace registers it again.",
    )


def _unusable(path: Path, error: OSError) -> StateUnusable:
    return StateUnusable(
        f"{path}: {error.strerror or type(error).__name__}",
        hint=f"Make it writable for your user, or name another directory with {STATE_DIRECTORY}.",
    )
