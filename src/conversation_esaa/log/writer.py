"""Appending: the only code that makes lines of the log.

Drafts of one batch are sealed one after the other, and reach the medium in one piece. Every line is
decoded again before it is written: what readers would not understand is never acknowledged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import asdict, astuple

from conversation_esaa.canonical import MAX_INTEGER
from conversation_esaa.events import (
    VERSION,
    ConversationTurn,
    Entry,
    FromSource,
    Head,
    Recorded,
    UnknownEvent,
)
from conversation_esaa.ids import curated_event_id
from conversation_esaa.log import reader
from conversation_esaa.log.chain import SALT_BYTES, digest_of_words, linked, seal
from conversation_esaa.log.codec import Problem, cleaned, read_line, read_together
from conversation_esaa.log.contract import BadDraft, Recovered, Stamp, WriterClosed
from conversation_esaa.timestamps import parse_utc

if TYPE_CHECKING:
    from collections.abc import Sequence

SURROGATES_REPLACED = "surrogates_replaced"

_NO_WORDS = b"{}"
_encode = msgspec.json.Encoder().encode


class Medium(reader.Source, Protocol):
    """Where the bytes of a log live, opened by the one who may write."""

    def extend(self, data: bytes, *, size: int) -> None:
        """Put `data` behind the `size` bytes there are, durably, or leave all as it was and raise."""

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes, durably."""

    def set_aside(self, offset: int, data: bytes) -> str:
        """Keep `data`, found at `offset`, out of the log, durably; where it is now."""


class LogWriter:
    """The writer of both logs; what differs is the medium. Made under the lock: it mends a torn end first."""

    def __init__(
        self,
        medium: Medium,
        stamp: Stamp,
        *,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._medium = medium
        self._stamp = _stated(stamp)
        self._entropy = entropy
        self._open = True
        self.recovered: Recovered | None = None
        head = reader.settled_head(medium)
        if head is None:
            from conversation_esaa.log.recovery import recover  # hardly ever

            self.recovered = recover(medium)
            head = reader.head(medium)
        self.head = head

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
        if head.seq + len(drafts) > MAX_INTEGER:
            raise BadDraft("a position beyond 2^53−1")
        salts = self._entropy(SALT_BYTES * len(drafts))
        previous = bytes.fromhex(head.hash) if head.hash else reader.prefix_digest(self._medium, head.size)
        lines, hashes = [], []
        for index, draft in enumerate(drafts):
            salt = salts[SALT_BYTES * index : SALT_BYTES * (index + 1)]
            line, previous = self._sealed(
                draft, seq=head.seq + index + 1, recorded_at=recorded_at, salt=salt, previous=previous
            )
            lines.append(line)
            hashes.append(previous.hex())
        data = b"\n".join([*lines, b""])
        written = _as_read(lines, data, hashes, head.size)
        self._medium.extend(data, size=head.size)
        self.head = Head(seq=head.seq + len(drafts), hash=hashes[-1], size=head.size + len(data))
        return written

    def _sealed(
        self, draft: Recorded, *, seq: int, recorded_at: str, salt: bytes, previous: bytes
    ) -> tuple[bytes, bytes]:
        """The line of a draft and its hash."""
        form = _form(type(draft))
        values = (*astuple(draft), form.name)
        leaf = form.leaf(*form.of_leaf(values))
        content = form.content(*[values[at] for at in form.of_content])
        for key, value in self._stamp:
            setattr(leaf, key, value)
        leaf.v, leaf.seq, leaf.recorded_at = VERSION, seq, recorded_at
        leaf.content_digest = ""
        if not leaf.ts:
            leaf.ts = recorded_at
        if not leaf.event_id:
            if isinstance(draft, FromSource):
                raise BadDraft(f"a {form.name} event from an agent's log comes with its event_id")
            leaf.event_id = curated_event_id(replica_id=leaf.replica_id, seq=seq, recorded_at=recorded_at)
        try:
            words = _encode(content)
            if words == _NO_WORDS:
                words = b""
            else:
                leaf.content_digest = digest_of_words(words, salt)
            return linked(_encode(leaf), words, salt=salt, previous=previous)
        except UnicodeEncodeError:
            leaf.content_digest = ""
            fields = cleaned(msgspec.to_builtins(leaf) | msgspec.to_builtins(content))
            fields["flags"] = sorted({*fields.get("flags", ()), SURROGATES_REPLACED})
            return seal(fields, draft.CONTENT, salt=salt, previous=previous)


@cache  # for every append the same
def _stated(stamp: Stamp) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in cleaned(asdict(stamp)).items() if value]


class _Form(msgspec.Struct, frozen=True):
    """How events of a kind become the two objects of a line, with no dictionary to be built and sorted.

    Both types have their fields in canonical order, and leave out the defaults of the event's type. They are made of
    an event's values with its name behind them.
    """

    name: str
    leaf: type[Any]
    of_leaf: Callable[[tuple[Any, ...]], tuple[Any, ...]]
    content: type[Any]
    of_content: list[int]  # places of its values


@cache  # made when it is needed: a command appends few kinds
def _form(kind: type[Recorded]) -> _Form:
    if kind is UnknownEvent:
        raise BadDraft("an event with a name that this version does not know can only be read")
    names = [*kind.__struct_fields__, "event"]
    defaults = dict(zip(kind.__struct_fields__, kind.__struct_defaults__, strict=True)) | {"event": ""}
    content = sorted(kind.CONTENT.intersection(names))
    leaf = sorted({*names} - {"hash", "salt", *content})

    def type_of(keys: list[str]) -> type[Any]:
        fields = [(key, object, defaults[key]) for key in keys]
        return msgspec.defstruct(kind.__name__, fields, omit_defaults=True, gc=False)

    return _Form(
        name=str(kind.__struct_config__.tag),
        leaf=type_of(leaf),
        of_leaf=itemgetter(*map(names.index, leaf)),
        content=type_of(content),
        of_content=[names.index(key) for key in content],
    )


def _as_read(lines: Sequence[bytes], data: bytes, hashes: Sequence[str], offset: int) -> list[Entry]:
    """The entries of `lines`, which are `data` from byte `offset` of the log on. Raises BadDraft for what is none."""
    events = read_together(data)
    if [event.hash for event in events] != hashes:
        events = [_read_alone(line) for line in lines]
    if any(abs(_number(event)) > MAX_INTEGER for event in events):
        raise BadDraft("an integer beyond 2^53−1")
    entries = []
    for line, event in zip(lines, events, strict=True):
        entries.append(Entry(event, line, offset))
        offset += len(line) + 1
    return entries


def _read_alone(line: bytes) -> Recorded:
    found = read_line(line)
    if isinstance(found, Recorded):
        return found
    reason = found.reason if isinstance(found, Problem) else "no event"
    raise BadDraft(f"a draft that could not be read again: {reason}")


def _number(event: Recorded) -> int:
    """The one integer that is the caller's and not ours."""
    return event.source_index if isinstance(event, ConversationTurn) else getattr(event, "v1_1_lines", 0)
