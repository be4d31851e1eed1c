"""Which event ids were met so far: exact answers are kept for the few that need them.

An id is held as 60 bits of Python's own hash of it, which is keyed anew in every process, so that nobody can
write two ids that meet there: 66 bytes an event instead of 220. Two of a million ids meet by chance once in
some million runs; that an id is there twice is therefore looked up in the log itself before it is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.events import VERSION, Entry
from conversation_esaa.forensic.findings import Findings, Severity, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conversation_esaa.ids import EventId
    from conversation_esaa.log.contract import EventLog

_BITS = (1 << 60) - 1  # what fits the two digits of a small integer


class MetIds:
    """The ids of all lines so far."""

    def __init__(self) -> None:
        self._met: set[int] = set()
        self._twice: set[EventId] = set()  # or so it seems

    def __contains__(self, event_id: object) -> bool:
        return hash(event_id) & _BITS in self._met

    def is_new(self, event_id: EventId) -> bool:
        """Take in the id of the next line; whether no line before it has it."""
        met = self._met
        before = len(met)
        met.add(hash(event_id) & _BITS)
        if len(met) > before:
            return True
        self._twice.add(event_id)
        return False

    def take_in(self, event_ids: Sequence[EventId]) -> None:
        """Take in the ids of the next lines."""
        fresh = {hash(event_id) & _BITS for event_id in event_ids}
        if len(fresh) == len(event_ids) and self._met.isdisjoint(fresh):
            self._met |= fresh
        else:
            for event_id in event_ids:
                self.is_new(event_id)

    def tell_doubles(self, findings: Findings, log: EventLog, *, end: int) -> None:
        """Tell the lines before byte `end` whose id an earlier one has. A second pass, where any seems to."""
        if not self._twice:
            return
        first: dict[EventId, int] = {}
        for line_no, item in log.numbered():
            if item.offset >= end:
                return
            if not isinstance(item, Entry) or item.event.event_id not in self._twice:
                continue
            event_id = item.event.event_id
            if first.setdefault(event_id, line_no) != line_no:
                findings.tell(
                    "identity.duplicate",
                    f"has the event_id {named(event_id, length=12)} of line {first[event_id]}",
                    line_no=line_no,
                    offset=item.offset,
                    severity=None if item.event.v >= VERSION else Severity.INFO,
                )
