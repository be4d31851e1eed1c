"""Whether an index has the events that the log has, where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conversation_esaa.events import Entry
    from conversation_esaa.index.store import Index


class Comparison:
    """Holds an index against the log's events as they pass by on their way to something else."""

    def __init__(self, index: Index) -> None:
        self._positions = index.positions()
        self._equal = True

    def passing(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries."""
        for entry in entries:
            self._equal = self._equal and next(self._positions, None) == (entry.offset, entry.event.event_id)
            yield entry

    def ended_together(self) -> bool:
        """Whether the index has these events, where they are, and no other."""
        return self._equal and next(self._positions, None) is None
