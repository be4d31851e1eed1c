"""The files made from the log: there, and as the log says?

Each states the log position and the hash it was built from. That tells a file that only waits for its
renewal from one that was edited by hand, and from one that knows of lines that are no longer there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.layout import READ_MODELS
from conversation_esaa.projections import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conversation_esaa.events import Head
    from conversation_esaa.forensic.findings import Findings
    from conversation_esaa.layout import Layout
    from conversation_esaa.projections.catalogue import Resume, State

_STATED = re.compile(
    rb"(?:<!-- \S{1,80} \| log|\[conversation-esaa handoff begin) seq=(\d{1,16}) hash=(none|[0-9a-f]{12,64})\b"
)


class Position(msgspec.Struct, frozen=True):
    """Of the last line that a file knows of."""

    seq: int
    hash: str = ""  # or its beginning; "" while nothing is chained

    def is_at(self, seq: int, hash_there: str) -> bool:
        """Whether the log's line `seq`, with that hash, is meant."""
        return self.seq == seq and hash_there.startswith(self.hash) and bool(self.hash) == bool(hash_there)


class _Stamped(msgspec.Struct):
    log: Position


class ReadModels:
    """The read models as they were before the log was read, so that none can be newer than what was read."""

    def __init__(self, layout: Layout) -> None:
        self._contents: dict[str, bytes | None] = {}
        self._unreadable: dict[str, str] = {}
        for name in READ_MODELS:
            try:
                self._contents[name] = layout.read_model(name).read_bytes()
            except FileNotFoundError:
                self._contents[name] = None
            except OSError as error:
                self._unreadable[name] = error.strerror or type(error).__name__
        self._positions = {name: _stated(content) for name, content in self._contents.items() if content}
        self.stated = frozenset(position.seq for position in self._positions.values() if position)

    def check(
        self, findings: Findings, state: State, head: Head, *, hashes: Mapping[int, str], resume: Resume
    ) -> None:
        """Compare each with what `state` renders to.

        hashes   of the chained lines whose seq is in `stated`.
        """
        for name, problem in self._unreadable.items():
            findings.tell("read_model.unreadable", f"cannot be read: {problem}", file=name)
        for name, content in self._contents.items():
            if content is None:
                findings.tell("read_model.missing", "is not there", file=name)
            elif content != catalogue.render(name, state, head, resume=resume).encode():
                code, message = _difference(self._positions.get(name), head, hashes)
                if findings.log_is_damaged and code in ("read_model.edited", "read_model.stale"):
                    code, message = "read_model.differs", "is not what the log gives, and the log is damaged"
                findings.tell(code, message, file=name)


def _difference(position: Position | None, head: Head, hashes: Mapping[int, str]) -> tuple[str, str]:
    if position is None:
        return (
            "read_model.unstamped",
            "does not say what it was built from: the older tool's, or edited by hand",
        )
    if position.is_at(head.seq, head.hash):
        return "read_model.edited", f"is not what the log gives at position {head.seq}: edited by hand"
    if position.seq > head.seq:
        return (
            "read_model.ahead",
            f"was built from log position {position.seq}; the log now ends at {head.seq}",
        )
    if not position.is_at(position.seq, hashes.get(position.seq, "")):
        return (
            "read_model.other_log",
            f"was built from a log that had another line at position {position.seq}",
        )
    return "read_model.stale", f"was built from log position {position.seq}; the log is at {head.seq}"


def _stated(content: bytes) -> Position | None:
    if found := _STATED.match(content):
        return Position(int(found[1]), "" if found[2] == b"none" else found[2].decode())
    try:
        return msgspec.json.decode(content, type=_Stamped).log
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
