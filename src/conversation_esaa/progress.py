"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


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
