"""What others can know of the watcher: `watcher.json` in the per-user state directory, and who holds its lock.

The lock alone says whether one runs; the file says what it does, and is written when that changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa import __version__
from conversation_esaa.capture.cursors import encoded
from conversation_esaa.errors import ConversationError
from conversation_esaa.layout import Layout
from conversation_esaa.log.lock import is_held
from conversation_esaa.machine import state_directory
from conversation_esaa.registered import registered
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from conversation_esaa.machine import Machine

SCHEMA = "conversation-esaa.watcher/1"


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """One workspace, as the watcher has it."""

    root: str
    state: str = "watched"  # or: waiting (no watcher runs, or not yet), gone (it has no store), failing
    captured: int = 0  # events, since the watcher began
    last_capture: str = ""
    problem: str = ""


class WatcherFile(msgspec.Struct, frozen=True, kw_only=True):
    """What the watcher writes down."""

    schema: str = SCHEMA
    pid: int = 0
    version: str = ""
    since: str = ""
    mode: str = ""  # "events" or "polling"
    why: str = ""  # why it is polling
    workspaces: list[Watched] = []
    warnings: list[str] = []  # what an agent is about to delete


class WatcherStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What `watch --status` tells, for `status` and others too."""

    running: bool
    pid: int = 0
    version: str = ""
    since: str = ""
    mode: str = ""
    why: str = ""
    workspaces: list[Watched] = []  # the registered ones, and what else it serves
    warnings: list[str] = []
    notes: list[str] = []  # what deserves a look, each with its command


def lock_file(machine: Machine) -> Path:
    """Held by the one watcher of this user."""
    return state_directory(machine) / "watcher.lock"


def state_file(machine: Machine) -> Path:
    """What it does."""
    return state_directory(machine) / "watcher.json"


def write(path: Path, told: WatcherFile) -> None:
    """Put it there for others to read. Raises OSError."""
    replace_file(path, encoded(told) + b"\n")


def read(path: Path) -> WatcherFile:
    """What a watcher wrote last; an empty one when there is nothing of ours. Raises nothing."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=WatcherFile)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return WatcherFile()
    return found if found.schema == SCHEMA else WatcherFile()


def status(machine: Machine) -> WatcherStatus:
    """How it stands with the watcher of this user. Writes nothing, raises nothing."""
    running = is_held(lock_file(machine))
    told = read(state_file(machine))
    notes = []
    try:
        roots = registered(machine)
    except ConversationError as error:
        roots = []
        notes.append(f"{error.message}. {error.hint}")
    known = {each.root: each for each in told.workspaces} if running else {}
    workspaces = [known.pop(str(root), Watched(root=str(root), state="waiting")) for root in roots]
    workspaces = [_as_it_is(each) for each in [*workspaces, *known.values()]]
    notes += [
        f"{each.root} has no store any more: `conversation-esaa watch --forget DIR` strikes it off"
        for each in workspaces
        if each.state == "gone"
    ]
    if not running:  # which is nothing wrong: hooks do without, and commands look by themselves
        return WatcherStatus(running=False, workspaces=workspaces, notes=notes)
    if told.version != __version__:
        notes.append(
            f"the watcher that runs is version {told.version}, this is {__version__}: "
            "`conversation-esaa watch --install` replaces it"
        )
    return WatcherStatus(
        running=True,
        pid=told.pid,
        version=told.version,
        since=told.since,
        mode=told.mode,
        why=told.why,
        workspaces=workspaces,
        warnings=told.warnings,
        notes=notes,
    )


def _as_it_is(each: Watched) -> Watched:
    if Layout(Path(each.root)).store.is_dir():
        return each
    return msgspec.structs.replace(each, state="gone")
