"""The log as it was at one moment, and ways into it: what is appended while an answer is put together is
not in it.

`Prefix` reads the log itself. `IndexedPrefix` gives the same from the index, at a cost that does not grow
with the log; what lies behind the index is read from the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from conversation_esaa.events import Entry, Unreadable
from conversation_esaa.ids import EventId
from conversation_esaa.log.contract import PositionLost
from conversation_esaa.log.v1_1 import Visibility, visible
from conversation_esaa.lookup import IndexUnusable
from conversation_esaa.progress import unheard, watched
from conversation_esaa.projections import catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from conversation_esaa.events import Head
    from conversation_esaa.index.store import Index
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.lookup import FileStat, Keys
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.catalogue import Fold, State


class Lines(Protocol):
    """What an answer is made from. All of it is visible: lines of other workspaces are not in it."""

    head: Head
    seen: Visibility  # what was passed over; complete once the lines were read, or at once with an index

    def entries(self) -> Iterator[Entry]:
        """Everything, oldest first."""

    def newest_first(self, keys: Keys, *, below: int | None = None) -> Iterator[Entry]:
        """At least what has these keys, and nothing else that is certain not to matter; newest first.

        below   only what begins before this byte offset.
        """

    def oldest_first(self, keys: Keys, *, above: int) -> Iterator[Entry]:
        """As `newest_first`, oldest first, from behind this byte offset."""

    def beginning(self, prefix: str) -> list[EventId]:
        """The event id that is `prefix`, else at most two that begin with it."""

    def entry(self, event_id: EventId) -> Entry | None:
        """The event with this id."""

    def fold(self) -> State:
        """Decisions, tasks, topics, goal and conversation."""


class Prefix:
    """The lines of `log` up to `head`, read from the log. Every question costs a pass, or what it returns.

    roots     the paths that were this workspace: v1.1 lines of other ones are not shown.
    progress  told how far a fold of all of it is.
    """

    def __init__(
        self, log: EventLog, head: Head, roots: Collection[str], progress: Progress = unheard
    ) -> None:
        self.head = head
        self.seen = Visibility()
        self._log, self._roots, self._progress = log, roots, progress

    def entries(self) -> Iterator[Entry]:
        """Everything, oldest first."""
        self.seen = Visibility()
        return visible(self._lines(), self._roots, self.seen)

    def newest_first(self, keys: Keys, *, below: int | None = None) -> Iterator[Entry]:  # noqa: ARG002
        """Everything before `below`, newest first."""
        end = self.head.size if below is None else below
        for item in self._log.entries_backward():
            if isinstance(item, Unreadable):
                self.seen.unreadable += item.offset < self.head.size
            elif item.event.v == 1:
                # Which of these are visible is known only from the front; there are no newer ones below.
                older = [entry for entry in self.entries() if entry.offset <= item.offset]
                yield from (entry for entry in reversed(older) if entry.offset < end)
                return
            elif item.offset < end:
                yield item

    def oldest_first(self, keys: Keys, *, above: int) -> Iterator[Entry]:  # noqa: ARG002
        """Everything behind `above`, oldest first."""
        return (entry for entry in self.entries() if entry.offset > above)

    def beginning(self, prefix: str) -> list[EventId]:
        """The event id that is `prefix`, else at most two that begin with it."""
        wanted = prefix.lower()
        found: dict[EventId, None] = {}
        for entry in self.entries():
            event_id = entry.event.event_id
            if event_id == prefix:
                return [event_id]
            if event_id.startswith(wanted) and len(found) < 2:
                found[event_id] = None
        return list(found)

    def entry(self, event_id: EventId) -> Entry | None:
        """The event with this id."""
        return next((entry for entry in self.entries() if entry.event.event_id == event_id), None)

    def fold(self) -> State:
        """Decisions, tasks, topics, goal and conversation."""
        return self.folded().whole()

    def folded(self) -> Fold:
        """The same, perhaps with less at hand than all of it. To be used while this is open."""
        entries = watched(self.entries(), "reading the log", self._progress, size=self.head.size)
        return catalogue.Fold.of(catalogue.fold(entries))

    def published(self) -> dict[str, FileStat]:
        """How each read model was left that was written at this position; empty when that is not known."""
        return {}

    def close(self) -> None:
        """Give back what is held open. Asking on is no mistake of a Prefix, but of an IndexedPrefix."""

    def without_index(self) -> Prefix:
        """The same moment of the same log, read from the log alone."""
        return Prefix(self._log, self.head, self._roots, self._progress)

    def _lines(self) -> Iterator[Entry | Unreadable]:
        for item in self._log.entries():
            if item.offset >= self.head.size:
                return
            yield item


class IndexedPrefix(Prefix):
    """As `Prefix`, from an index that was built from the beginning of the same log.

    Whatever the index says is looked up in the log before it is given. Raises IndexUnusable; then the same question has to be asked of a Prefix.
    """

    def __init__(
        self,
        log: EventLog,
        head: Head,
        roots: Collection[str],
        index: Index,
        progress: Progress = unheard,
    ) -> None:
        super().__init__(log, head, roots, progress)
        self._index = index
        self._end = index.position.size  # from here on the log itself is read
        self._found = Visibility(foreign=index.foreign, shadowed=index.shadowed, unreadable=index.unreadable)
        self.seen = self._found

    def newest_first(self, keys: Keys, *, below: int | None = None) -> Iterator[Entry]:
        """What has these keys, newest first."""
        end = self.head.size if below is None else below
        if end > self._end:
            yield from self._newest_behind_index(end)
        for offset in self._index.offsets(keys, newest_first=True, below=below):
            yield self._at(offset)

    def oldest_first(self, keys: Keys, *, above: int) -> Iterator[Entry]:
        """What has these keys, oldest first."""
        for offset in self._index.offsets(keys, newest_first=False, above=above):
            yield self._at(offset)
        yield from (entry for entry in self._behind_index() if entry.offset > above)

    def beginning(self, prefix: str) -> list[EventId]:
        """The event id that is `prefix`, else at most two that begin with it."""
        if self._index.offset_of(prefix) is not None:
            return [EventId(prefix)]
        found = dict.fromkeys(map(EventId, self._index.ids_beginning(prefix)))
        for entry in self._behind_index():
            event_id = entry.event.event_id
            if event_id == prefix:
                return [event_id]
            if event_id.startswith(prefix.lower()):
                found[event_id] = None
        return list(found)[:2]

    def entry(self, event_id: EventId) -> Entry | None:
        """The event with this id."""
        offset = self._index.offset_of(event_id)
        if offset is None:
            behind = self._behind_index()
            return next((entry for entry in behind if entry.event.event_id == event_id), None)
        entry = self._at(offset)
        if entry.event.event_id != event_id:
            raise IndexUnusable("another event")
        return entry

    def folded(self) -> Fold:
        """Decisions, tasks, topics, goal and conversation; what was folded before is not read again."""
        return self._index.fold(self._log, self._roots, end=self.head.size) or super().folded()

    def published(self) -> dict[str, FileStat]:
        """How each read model was left that was written at this position; empty when none was."""
        written = self._index.published()
        if written is None or (written.head.seq, written.head.hash) != (self.head.seq, self.head.hash):
            return {}
        return written.stats

    def close(self) -> None:
        """Give the index back."""
        self._index.close()

    def _at(self, offset: int) -> Entry:
        try:
            entry = self._log.entry_at(offset)
        except PositionLost:
            raise IndexUnusable("a position that the log has not") from None
        if not isinstance(entry, Entry):
            raise IndexUnusable("a line that is no event")
        return entry

    def _behind_index(self) -> Iterator[Entry]:
        """What the log has and the index has not: nothing, or what was written while nobody could index.

        An index that is still being built may lack most of the log: nothing is held.
        """
        if self.head.size <= self._end:
            return
        self.seen = msgspec.structs.replace(self._found)
        lines = (item for item in self._log.entries(self._end) if item.offset < self.head.size)
        yield from visible(lines, self._roots, self.seen)

    def _newest_behind_index(self, end: int) -> Iterator[Entry]:
        """The same before `end`, newest first. There are no v1.1 lines in it: an index ends at a chained one."""
        self.seen = msgspec.structs.replace(self._found)
        for item in self._log.entries_backward():
            if item.offset < self._end:
                return
            if isinstance(item, Unreadable):
                self.seen.unreadable += item.offset < self.head.size
            elif item.offset < end:
                yield item
