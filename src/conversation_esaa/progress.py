"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conversation_esaa.events import Entry

_ENTRIES = 4_096  # between two words


class Progress(Protocol):
    """Told now and then by work that may take long: often enough to watch, seldom enough to cost nothing."""

    def __call__(self, doing: str, done: int, total: int) -> None:
        """Where the work is.

        doing   what is done, in a few words for people: "checking the log".
        done    of `total`, in the work's own unit, mostly bytes; it may pass `total` where something grew.
        """


def unheard(doing: str, done: int, total: int) -> None:
    """Nobody listens."""
    del doing, done, total


def watched(entries: Iterable[Entry], doing: str, progress: Progress, *, size: int) -> Iterator[Entry]:
    """The same entries, told by the way. `size`: bytes of the log that they are read from."""
    for number, entry in enumerate(entries):
        if number % _ENTRIES == 0:
            progress(doing, entry.offset, size)
        yield entry
