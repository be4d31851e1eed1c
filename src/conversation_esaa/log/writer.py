"""Appending: the only code that makes lines of the log.

Drafts of one batch are sealed one after the other, and reach the medium in one piece. Every line is
decoded again before it is written: what readers would not understand is never acknowledged.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from conversation_esaa.canonical import MAX_INTEGER
from conversation_esaa.events import VERSION, Entry, FromSource, Head, Recorded, UnknownEvent, event_name
from conversation_esaa.ids import curated_event_id
from conversation_esaa.log import reader
from conversation_esaa.log.chain import SALT_BYTES, seal
from conversation_esaa.log.codec import Older, Problem, cleaned, read_line
from conversation_esaa.log.contract import BadDraft, Recovered, Stamp, WriterClosed
from conversation_esaa.timestamps import parse_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SURROGATES_REPLACED = "surrogates_replaced"

_FILLED_IN = ("salt", "content_digest", "hash")


class Medium(reader.Source, Protocol):
    """Where the bytes of a log live, opened by the one who may write."""

    def extend(self, data: bytes, *, size: int) -> None:
        """Put `data` behind the `size` bytes there are, durably, or leave all as it was and raise."""

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes, durably."""

    def set_aside(self, offset: int, data: bytes) -> str:
        """Keep `data`, found at `offset`, out of the log, durably; where it is now."""


class LogWriter:
    """The writer of both logs; what differs is the medium."""

    def __init__(
        self,
        medium: Medium,
        stamp: Stamp,
        *,
        recovered: Recovered | None,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._medium = medium
        self._stamp = _stated(stamp)
        self._entropy = entropy
        self._open = True
        self.recovered = recovered
        self.head = reader.head(medium)

    def close(self) -> None:
        """The lock is given back; nothing can be appended from here on."""
        self._open = False

    def append(self, drafts: Sequence[Recorded], *, recorded_at: str) -> list[Entry]:
        """See `contract.Writer.append`."""
        if not self._open:
            raise WriterClosed
        if not drafts:
            return []
        if not recorded_at or parse_utc(recorded_at) != recorded_at:
            raise BadDraft("recorded_at is not RFC 3339 UTC with milliseconds")
        head = self.head
        salts = self._entropy(SALT_BYTES * len(drafts))
        previous = bytes.fromhex(head.hash) if head.hash else reader.prefix_digest(self._medium, head.size)
        written, lines, offset = [], [], head.size
        for index, draft in enumerate(drafts):
            fields = self._fields(draft, seq=head.seq + index + 1, recorded_at=recorded_at)
            salt = salts[SALT_BYTES * index : SALT_BYTES * (index + 1)]
            line, previous = _sealed(fields, draft, salt=salt, previous=previous)
            written.append(_as_read(line, offset))
            lines.append(line)
            offset += len(line) + 1
        lines.append(b"")
        self._medium.extend(b"\n".join(lines), size=head.size)
        self.head = Head(seq=head.seq + len(drafts), hash=previous.hex(), size=offset)
        return written

    def _fields(self, draft: Recorded, *, seq: int, recorded_at: str) -> dict[str, Any]:
        if isinstance(draft, UnknownEvent):
            raise BadDraft("an event with a name that this version does not know can only be read")
        fields: dict[str, Any] = msgspec.to_builtins(draft)
        for key in _FILLED_IN:
            fields.pop(key, None)
        fields.update(self._stamp, v=VERSION, seq=seq, recorded_at=recorded_at)
        fields.setdefault("ts", recorded_at)
        if not draft.event_id:
            if isinstance(draft, FromSource):
                raise BadDraft(f"a {event_name(draft)} event from an agent's log comes with its event_id")
            replica = fields.get("replica_id", "")
            fields["event_id"] = curated_event_id(replica_id=replica, seq=seq, recorded_at=recorded_at)
        return fields


@cache  # for every append the same
def _stated(stamp: Stamp) -> dict[str, Any]:
    return {key: value for key, value in cleaned(msgspec.to_builtins(stamp)).items() if value}


def _sealed(fields: dict[str, Any], draft: Recorded, *, salt: bytes, previous: bytes) -> tuple[bytes, bytes]:
    try:
        return seal(dict(fields), draft.CONTENT, salt=salt, previous=previous)
    except UnicodeEncodeError:
        fields = cleaned(fields)
        fields["flags"] = sorted({*fields.get("flags", ()), SURROGATES_REPLACED})
        return seal(fields, draft.CONTENT, salt=salt, previous=previous)


def _as_read(line: bytes, offset: int) -> Entry:
    found = read_line(line)
    if found is None or isinstance(found, Older | Problem):
        reason = found.reason if isinstance(found, Problem) else "no event"
        raise BadDraft(f"a draft that could not be read again: {reason}")
    if max(map(abs, _integers(found))) > MAX_INTEGER:
        raise BadDraft("an integer beyond 2^53−1")
    return Entry(found, line, offset)


def _integers(event: Recorded) -> list[int]:
    return [event.seq, getattr(event, "source_index", 0), getattr(event, "v1_1_lines", 0)]
