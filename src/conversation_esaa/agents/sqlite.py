"""Sessions in an SQLite database that its agent has open and writes while we read.

Read-only, in short reads, and without leaving anything beside the file. A database in WAL mode makes that a
matter of three cases, for whoever opens one creates the files `-wal` and `-shm` where they are missing:

- both are there: its agent has it open. It is opened as any reader would; what is only in the WAL is seen.
- no `-wal`: nobody has it open, and there is nothing that the file alone would not tell. It is opened as
  immutable, and after each read it is made sure that this was true; else it is opened anew.
- a `-wal` without `-shm`: a copied database. A private copy of both is read.

Several connections to a database are not needed: inside of `storage.kept_open` it is opened once, and of many databases
only some stay open.
"""

from __future__ import annotations

import contextlib
import errno
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from conversation_esaa.agents.jsonl import decode_line
from conversation_esaa.agents.listing import depends_on, depends_on_what_is_written
from conversation_esaa.agents.storage import Opened, kept
from conversation_esaa.canonical import without_surrogates

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from tempfile import TemporaryDirectory

    from conversation_esaa.agents.jsonl import Lines
    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile

BUSY_S = 1.0  # how long a read waits for another process; SQLite tries again in growing steps
OPEN_AT_ONCE = 16  # databases; each takes up to three descriptors
_TRIES = 3
_HEADER = 100  # bytes at the beginning; the 19th and 20th say whether the file is written through a WAL
_BUSY = "the database is locked by another process; the next sync looks again"
_MOVING = "the database was being opened or closed by its agent; the next sync looks again"
_FOREIGN = "the database has not the tables that are known of this agent"
_DAMAGED = "not a database, or a damaged one"

Row = tuple[Any, ...]


class DatabaseUnreadable(OSError):
    """A database that cannot be read, now or at all. `strerror` says it in plain words."""


class ReadsRows(Protocol):
    """What the module of an agent offers whose sessions are in a database."""

    def rows(self, database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
        """The records of a session that `state` has not read, in order, for the module's own `read`."""


class Database:
    """A database of an agent, opened when it is first asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._alone: tuple[int, ...] | None = None  # the file's stat, when it was opened as immutable
        self._copies: TemporaryDirectory[str] | None = None

    def rows(self, query: str, *values: object) -> list[Row]:
        """All rows of a query: one short read, which keeps its agent from nothing.

        Raises FileNotFoundError when there is no database (any more), else DatabaseUnreadable.
        """
        return self._asked(query, values)[1]

    def records(self, query: str, *values: object) -> list[dict[str, Any]]:
        """As `rows`, each with the names of its columns: for `SELECT *`, where versions have different ones."""
        names, rows = self._asked(query, values)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _asked(self, query: str, values: tuple[object, ...]) -> tuple[list[str], list[Row]]:
        import sqlite3

        for _ in range(_TRIES):
            try:
                cursor = self._open().execute(query, values)
                found = [column[0] for column in cursor.description or ()], cursor.fetchall()
            except sqlite3.Error as error:
                moved = not self._still_alone()
                self.close()
                if not moved:
                    raise DatabaseUnreadable(*_in_words(error), str(self.path)) from None
            else:
                if self._still_alone():
                    return found
                self.close()
        raise DatabaseUnreadable(errno.EBUSY, _MOVING, str(self.path))

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns; empty when there is no such table."""
        return {row[0] for row in self.rows("SELECT name FROM pragma_table_info(?)", table)}

    @property
    def is_open(self) -> bool:
        """Whether it holds the file."""
        return self._connection is not None

    def close(self) -> None:
        """Let go of the file; a later question opens it again."""
        if self._connection is not None:
            self._connection.close()
        if self._copies is not None:
            self._copies.cleanup()
        self._connection = self._alone = self._copies = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        path, options = self.path, "mode=ro"
        with path.open("rb") as file:
            header = file.read(_HEADER)
        if header[18:20] == b"\2\2":
            if not _beside(path, "-wal").exists():
                self._alone = _stat(path)
                options += "&immutable=1"
            elif not _beside(path, "-shm").exists():
                path = self._copied()
        _make_room_for(self)
        self._connection = _connected(path, options)
        return self._connection

    def _copied(self) -> Path:
        import shutil
        from tempfile import TemporaryDirectory

        self._copies = TemporaryDirectory(prefix="conversation-esaa-", ignore_cleanup_errors=True)
        copy = Path(self._copies.name, "copy.db")
        for suffix in ("", "-wal"):
            shutil.copyfile(_beside(self.path, suffix), _beside(copy, suffix))
        return copy

    def _still_alone(self) -> bool:
        if self._alone is None:
            return True
        return self._alone == _stat(self.path) and not _beside(self.path, "-wal").exists()


def _make_room_for(one: Database) -> None:
    """Of the databases that are kept open, let go of those that were opened first, when there are many."""
    shared = kept()
    if shared is not None and shared.get(one.path) is one:
        shared[one.path] = shared.pop(one.path)
        still_open = [other for other in shared.values() if isinstance(other, Database) and other.is_open]
        for other in still_open[: 1 - OPEN_AT_ONCE]:
            other.close()


@contextlib.contextmanager
def database(path: Path) -> Iterator[Database]:
    """The database at `path`. Its existence, and all that is in it, is told to a witness."""
    depends_on(path)
    depends_on_what_is_written(_beside(path, "-wal"))  # where root looks, SQLite sets its owner
    shared = kept()
    if shared is not None:
        yield cast("Database", shared.setdefault(path, Database(path)))
        return
    opened_here = Database(path)
    try:
        yield opened_here
    finally:
        opened_here.close()


def beside(file: SessionFile) -> Sequence[str]:
    """The WAL: what was written last may be there alone."""
    return (f"{file.path}-wal",)


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The session, read through its module's `rows`. Raises OSError, when records are asked for."""
    with database(file.path) as source:

        def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
            for record in cast("ReadsRows", module).rows(source, file, state):
                lines.offset += 1
                yield record

        yield Opened(records)


def keys_of(values: Iterable[str]) -> str:
    """Values for one query: `… IN (SELECT value FROM json_each(?))`."""
    return msgspec.json.encode([without_surrogates(value) for value in values]).decode()


def json_object(value: object) -> dict[str, Any]:
    """The JSON object in a column; {} when it holds something else."""
    if isinstance(value, str | bytes):
        try:
            found = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            records = decode_line(value.encode("utf-8", "replace") if isinstance(value, str) else value)
            found = records[0] if records else None
        if isinstance(found, dict):
            return found
    return {}


def json_array(value: object) -> list[Any]:
    """The JSON array in a column; [] when it holds something else."""
    text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    found = json_object(b'{"":%b}' % text).get("") if isinstance(text, bytes) else None
    return found if isinstance(found, list) else []


def _connected(path: Path, options: str) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=BUSY_S, isolation_level=None
    )
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection


def _in_words(error: sqlite3.Error) -> tuple[int, str]:
    import sqlite3

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return errno.EBUSY, _BUSY
    if code == sqlite3.SQLITE_ERROR:
        return errno.EINVAL, _FOREIGN
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return errno.EIO, _DAMAGED
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return errno.EIO, f"the database cannot be read: {name}"


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix) if suffix else path


def _stat(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
