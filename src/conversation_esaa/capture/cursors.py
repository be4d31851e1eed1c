"""How far each native log was read: `sync-state.json`, a cache that can only cost time.

A cursor is an offset and a fingerprint of the bytes before it. A file that grew is read on from there; one
that was rewritten, shrunk or replaced has another fingerprint and is read again from its beginning, and
what the log has already is recognised by identity.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from conversation_esaa.agents.storage import Kind, storage
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.digests import sha256
from conversation_esaa.replace import replacing

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import SessionFile
    from conversation_esaa.capture.unchanged import Witness

SCHEMA = "conversation-esaa.sync-state/2"
_SAMPLE = 1024


class Stat(msgspec.Struct, frozen=True, omit_defaults=True):
    """What tells that a file may have changed, without opening it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    beside: str = ""  # a digest of what tells the same of every other file of the session

    @classmethod
    def of(cls, result: os.stat_result) -> "Stat":
        """From what the operating system says."""
        return cls(result.st_size, result.st_mtime_ns, result.st_ctime_ns, result.st_ino)


class Cursor(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One native log: how far it was read, and what was met in it."""

    agent: str
    session_id: str
    stat: Stat
    revision: str = ""  # of a session that shares its file with others
    offset: int = 0  # 0: to be read from its beginning when it changes
    line_no: int = 0
    fingerprint: str = ""
    state: msgspec.Raw = msgspec.Raw(b"{}")  # the agent module's ReaderState; decoded when it is needed
    captured: int = 0  # events of this file that the log has
    refused: dict[str, int] = {}  # working directory outside the workspace → turns said there
    private: int = 0  # turns that were nothing but <private> text
    bad_lines: list[tuple[int, str]] = []  # line number from 1, reason
    recognised: dict[str, str] = {}  # turns that a v1.1 tool had captured: event id → digest

    def is_current(self, stat: Stat, revision: str) -> bool:
        """Whether nothing can have changed since it was read."""
        return self.stat == stat or (revision != "" and self.revision == revision)


class SyncState(msgspec.Struct, kw_only=True):
    """All cursors, and how far the log went when they were saved.

    A cursor stays as it is stored until it is asked for: of those of thousands of sessions, most runs need one.
    """

    schema: str = SCHEMA
    log_size: int = 0
    log_fingerprint: str = ""
    roots: list[str] = []  # that the gate had: with other roots, what was refused is looked at again
    sources: dict[str, msgspec.Raw] = {}  # path → a Cursor

    def cursor(self, key: str) -> Cursor | None:
        """How far one native log was read; None when that is not known. Costs its decoding."""
        try:
            return _cursor(self.sources[key])
        except (KeyError, msgspec.DecodeError, ValueError):  # damaged: the file is looked at anew
            return None

    def keep(self, key: str, cursor: Cursor) -> None:
        """Remember it."""
        self.sources[key] = msgspec.Raw(encoded(cursor))

    def recognised(self) -> Iterator[dict[str, str]]:
        """Of each native log that a v1.1 tool had captured: its turns, event id → digest."""
        for key, stored in self.sources.items():
            if _RECOGNISED in bytes(stored) and (cursor := self.cursor(key)):
                yield cursor.recognised


_cursor = msgspec.json.Decoder(Cursor).decode
_RECOGNISED = b'"recognised"'  # stands in no other cursor, as defaults are left out


def load(path: Path) -> SyncState | None:
    """What was saved; None when there is nothing, or nothing of ours. Raises nothing."""
    try:
        state = msgspec.json.decode(path.read_bytes(), type=SyncState)
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return None
    return state if state.schema == SCHEMA else None


def save(path: Path, state: SyncState) -> None:
    """Replace the saved cursors in one step. Raises OSError."""
    with replacing(path) as file:
        file.write(encoded(state))
        file.write(b"\n")


def encoded(value: msgspec.Struct) -> bytes:
    """JSON of `value`; half a character, in a path or the name of a record type, becomes U+FFFD."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # rare, so paid for here
        return msgspec.json.encode(_encodable(msgspec.to_builtins(value, builtin_types=(msgspec.Raw,))))


def look(file: "SessionFile", witness: "Witness | None" = None) -> Stat:
    """What tells whether a session may have changed, without opening it. Raises OSError, without its file."""
    looked = file.path.stat()
    if witness:
        witness.stat(str(file.path), looked)
    stat = Stat.of(looked)
    if file.kind is Kind.JSONL:  # by far the most: nothing lies beside it
        return stat
    digest = sha256()
    for path in storage(file.kind).beside(file):
        if witness:
            witness.written(path)
        digest.update(_written(path))
    return msgspec.structs.replace(stat, beside=digest.hexdigest()[:32])


def _written(path: str) -> bytes:
    try:
        found = os.stat(path)  # noqa: PTH116 - a path is text here
    except (OSError, ValueError):
        return b"-\n"
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ino}\n".encode()  # its owner may be set by reading


def fingerprint(file: BinaryIO, end: int) -> str:
    """A digest of the first and the last kilobyte before `end`. Costs two reads."""
    digest = sha256(end.to_bytes(8, "big"))
    file.seek(0)
    digest.update(file.read(min(_SAMPLE, end)))
    file.seek(max(0, end - _SAMPLE))
    digest.update(file.read(min(_SAMPLE, end)))
    return digest.hexdigest()[:32]


def bytes_behind(file: "SessionFile", stat: Stat, cursor: Cursor | None) -> int:
    """How many bytes of a session nobody has read; 0 for one that shares its file, of which nobody knows its size."""
    if file.revision:
        return 0
    done = cursor.offset if cursor else 0
    return stat.size - done if done < stat.size else stat.size  # shorter than it was: another file


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return without_surrogates(value)
        case dict():
            return {without_surrogates(key): _encodable(item) for key, item in value.items()}
        case list() | tuple():
            return [_encodable(item) for item in value]
        case _:
            return value
