"""How the watcher learns that something changed: the system tells it, or it looks again and again.

Where the system cannot tell (no `watchfiles`, its limits are reached, a file system that tells nothing),
looking every two seconds does; that costs a stat per file, so it is no misfortune, and `status` shows it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from conversation_esaa.watch.places import topmost

if TYPE_CHECKING:
    from threading import Event

QUIET_MS = 300  # without a further file before what changed is looked at
LONGEST_MS = 2_000  # that looking is put off while more and more files change
TICK_MS = 1_000  # between two looks at ourselves: a list that changed, a store that is gone
POLL_S = 2.0
MOST_DIRECTORIES = 10_000  # that the system is asked about; more are looked at by ourselves

# The system tells of one directory each on Linux; elsewhere of whole trees, at the same price.
WHOLE_TREES = sys.platform != "linux"


class Heard(msgspec.Struct, frozen=True):
    """What became known in one wait."""

    changed: bool = False
    reshaped: bool = False  # directories came or went


class Ear(Protocol):
    """Waits for changes."""

    mode: str  # "events" or "polling"
    why: str  # why it is polling

    def wait(self) -> Heard:
        """Return when something changed, and after a second or two in any case. Raises Deaf."""

    def close(self) -> None:
        """Give back what the system lent."""


class Deaf(Exception):
    """The system does not tell of changes; the words say why."""


class Events:
    """Told by the system, through `watchfiles`. Three descriptors, whatever the number of directories."""

    mode, why = "events", ""

    def __init__(self, directories: frozenset[str], stop: Event) -> None:
        """Begin to listen; what changes from now on is heard. Raises Deaf."""
        if len(directories) > MOST_DIRECTORIES:
            raise Deaf(f"{len(directories):,} directories are more than the system should be asked about")
        try:
            from watchfiles import _rust_notify  # the documented backend: its front end cannot tell "armed"
        except ImportError:
            raise Deaf("watchfiles is not installed: pip install 'conversation-esaa[watch]'") from None
        self._directories, self._stop = directories, stop
        paths = topmost(directories) if WHOLE_TREES else sorted(directories)
        try:
            # The last argument: refusals are raised. When told to ignore them, it swallows its limits too.
            self._told = _rust_notify.RustNotify(paths, False, False, 0, WHOLE_TREES, False)  # noqa: FBT003
        except (OSError, RuntimeError, ValueError) as error:
            raise Deaf(_words(error)) from None

    def wait(self) -> Heard:
        """Return when files came to rest after a change, and after a second in any case. Raises Deaf."""
        try:
            told = self._told.watch(LONGEST_MS, QUIET_MS, TICK_MS, self._stop)
        except (OSError, RuntimeError, ValueError) as error:
            raise Deaf(_words(error)) from None
        if isinstance(told, str):  # "timeout", "stop", "signal"
            return Heard()
        added, _, deleted = 1, 2, 3
        ours = [
            (change, path)
            for change, path in told
            if path in self._directories or str(Path(path).parent) in self._directories
        ]
        reshaped = any(
            (change == added and os.path.isdir(path)) or (change == deleted and path in self._directories)
            for change, path in ours
        )
        return Heard(changed=bool(ours), reshaped=reshaped)

    def close(self) -> None:
        """Stop listening."""
        self._told.close()


class Polling:
    """Knows nothing by itself: every look is due after a while."""

    mode = "polling"

    def __init__(self, why: str, stop: Event) -> None:
        self.why, self._stop = why, stop

    def wait(self) -> Heard:
        """Return after two seconds, having heard nothing."""
        self._stop.wait(POLL_S)
        return Heard()

    def close(self) -> None:
        """There is nothing to give back."""


def listen(directories: frozenset[str], stop: Event, *, poll: str = "") -> Ear:
    """The best ear there is for `directories`. `poll`: why not to ask the system at all."""
    if not poll:
        try:
            return Events(directories, stop)
        except Deaf as deaf:
            poll = str(deaf)
    return Polling(poll, stop)


def _words(error: Exception) -> str:
    """What the system said, without the path it said it of."""
    text = str(error).split(" about [", maxsplit=1)[0]
    return text[:120] if text.isprintable() else type(error).__name__
