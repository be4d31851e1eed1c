"""The log as it was at one moment: what is appended while an answer is put together is not in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.events import Entry, Head, Unreadable


class Lines(Protocol):
    """What an answer is made from: the log, or a prefix of it."""

    def entries(self) -> Iterator[Entry | Unreadable]:
        """All lines, oldest first."""

    def entries_backward(self) -> Iterator[Entry | Unreadable]:
        """All lines, newest first."""


class Prefix:
    """The lines of `log` up to `head`, so that an answer is what its freshness says it is."""

    def __init__(self, log: Lines, head: Head) -> None:
        self.head = head
        self._log = log

    def entries(self) -> Iterator[Entry | Unreadable]:
        """All lines up to the head, oldest first."""
        for entry in self._log.entries():
            if entry.offset >= self.head.size:
                return
            yield entry

    def entries_backward(self) -> Iterator[Entry | Unreadable]:
        """All lines up to the head, newest first."""
        return (entry for entry in self._log.entries_backward() if entry.offset < self.head.size)
