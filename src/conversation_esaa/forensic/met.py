"""Which event ids were met so far: exact answers are kept for the few that need them.

An id is held as Python's own hash of it, which is keyed anew in every process, so that nobody can write two
ids that meet there: eight bytes an event, parted by some of their bits, where a set of strings would take 220.
Two of a million ids meet by chance once in some million runs; that an id is there twice is therefore looked up
in the log itself before it is told.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING

from conversation_esaa.events import VERSION, Entry
from conversation_esaa.forensic.findings import Findings, Severity, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.ids import EventId
    from conversation_esaa.log.contract import EventLog

_PARTS = 1024  # a power of two; of a million ids each has a thousand

_digits = hash


class MetIds:
    """The ids of all lines so far."""

    def __init__(self) -> None:
        self._parts = [array("q") for _ in range(_PARTS)]
        self._take = [part.append for part in self._parts]

    def __contains__(self, event_id: object) -> bool:
        """Costs some microseconds at a million."""
        digits = _digits(event_id)
        return digits in self._parts[digits & _PARTS - 1]

    def is_new(self, event_id: EventId) -> bool:
        """Take in the id of the next line; whether no line before it has it. As dear as `in`."""
        new = event_id not in self
        self.take_in([event_id])
        return new

    def take_in(self, event_ids: Iterable[EventId]) -> None:
        """Take in the ids of the next lines."""
        take = self._take
        for digits in map(_digits, event_ids):
            take[digits & _PARTS - 1](digits)

    def tell_doubles(self, findings: Findings, log: EventLog, *, end: int) -> None:
        """Tell the lines before byte `end` whose id an earlier one has. A second pass, where any seems to."""
        twice = self._twice()
        if not twice:
            return
        first: dict[EventId, int] = {}
        for line_no, item in log.numbered():
            if item.offset >= end:
                return
            if not isinstance(item, Entry) or _digits(item.event.event_id) not in twice:
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

    def _twice(self) -> set[int]:
        """What is there more than once."""
        return {
            digits
            for part in self._parts
            if len(set(part)) < len(part)
            for digits, times in Counter(part).items()
            if times > 1
        }
