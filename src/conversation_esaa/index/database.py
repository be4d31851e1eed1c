"""The file `index.db`: its tables, how it is opened, and that it can always be thrown away."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, TypeVar

from conversation_esaa.layout import FILE_MODE
from conversation_esaa.lookup import IndexUnusable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

VERSION = 5
"""Of the tables and of what is put into them. A file of another version is built anew."""

# An id of ours is 64 hexadecimal digits: four numbers of 64 bits, the first of them in an index. Any other
# id, as old lines may have, stands as text in place of the first. Parts of the full text are merged from 16
# of a size on, little by little, and at once only when there are 128: a first capture is not kept waiting
# by it, nor is a turn.
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE name (id INTEGER PRIMARY KEY, value TEXT UNIQUE NOT NULL);
CREATE TABLE fold (part INTEGER PRIMARY KEY, size INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE published (state BLOB NOT NULL);
CREATE TABLE event (
    offset INTEGER PRIMARY KEY,
    id,
    id_2 INTEGER,
    id_3 INTEGER,
    id_4 INTEGER,
    kind INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    source INTEGER NOT NULL,
    actor INTEGER NOT NULL,
    session INTEGER NOT NULL,
    branch INTEGER NOT NULL,
    ts TEXT NOT NULL
);
CREATE INDEX event_id ON event (id);
CREATE INDEX event_agent ON event (agent);
CREATE INDEX event_source ON event (source) WHERE source <> agent;
CREATE INDEX event_session ON event (session);
CREATE TABLE copy_key (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE v1_1_turn (key TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (body, content='', tokenize="unicode61 remove_diacritics 2");
INSERT INTO words (words, rank) VALUES ('automerge', 16), ('crisismerge', 128);
PRAGMA application_id = 0x65736161;
"""
_APPLICATION = 0x65736161  # "esaa": tells our file from another program's


def for_writing(path: Path, use: Callable[[sqlite3.Connection], T]) -> T:
    """What `use` makes of the index at `path`, for whoever holds the log's lock; made when missing.

    What is damaged, of another version or another program's is removed first: it can be built again.
    Raises IndexUnusable when no file can be had there.
    """
    try:
        try:
            return _opened(path, use)
        except sqlite3.Error:
            remove(path)
            return _opened(path, use)
    except (sqlite3.Error, OSError) as error:
        raise IndexUnusable(str(error)) from None


def for_reading(path: Path, use: Callable[[sqlite3.Connection], T]) -> T | None:
    """What `use` makes of the index at `path` as it is; None when there is none that can be used.

    Where the directory can be written to, SQLite keeps readers and a writer apart by side files that are
    gone when the last of them closes. Where it cannot, nobody writes, and none are needed.
    """
    for mode in ("mode=rw", "mode=ro&immutable=1"):
        if "immutable" in mode and path.with_name(f"{path.name}-wal").exists():
            return None  # something is in there that only a writer can bring into the file
        try:
            database = sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=1.0
            )
        except sqlite3.Error:
            continue
        try:
            database.execute("PRAGMA query_only = ON")
            if _is_ours(database):
                database.execute("BEGIN")  # one state of it for all that follows
                return use(database)
        except sqlite3.OperationalError:
            database.close()
            continue
        except sqlite3.Error:
            pass
        database.close()
        return None
    return None


def remove(path: Path) -> None:
    """Throw the index away, its side files included. Raises OSError."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()


def _opened(path: Path, use: Callable[[sqlite3.Connection], T]) -> T:
    previous = os.umask(0o077)  # SQLite makes its side files with the mode of the main one
    try:
        database = sqlite3.connect(path, isolation_level=None, timeout=5.0)
    finally:
        os.umask(previous)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA cache_size = -4000")
        if not _is_ours(database):
            if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise sqlite3.DatabaseError("another version")
            database.executescript(f"{_SCHEMA}PRAGMA user_version = {VERSION};")
        path.chmod(FILE_MODE)
        return use(database)
    except sqlite3.Error:
        database.close()
        raise


def _is_ours(database: sqlite3.Connection) -> bool:
    version = database.execute("PRAGMA user_version").fetchone()[0]
    application = database.execute("PRAGMA application_id").fetchone()[0]
    return bool(version == VERSION and application == _APPLICATION)
