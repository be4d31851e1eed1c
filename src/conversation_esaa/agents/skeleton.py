"""The structure of a native log without a word of it: what can be sent to whoever is to read a new format.

Keys and types, a line for each shape that occurs, with how often. Of values only those are shown that name a
kind of record, and only when they look like such a name. Keys that do not look like one are not shown either:
some formats use paths, or what somebody said, as keys.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import Lines, read_document_bytes, read_records
from conversation_esaa.agents.sqlite import Database
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KINDS = frozenset({"type", "subtype", "kind", "role", "event", "status", "method"})
MOST_SHAPES = 200
MOST_ROWS = 2_000  # of a table that are looked at
DEPTH = 12

_KEY = lazy(r"[A-Za-z_$][A-Za-z0-9_$.-]{0,39}", re.ASCII)
_NAME = lazy(r"[A-Za-z][A-Za-z0-9_.-]{0,39}", re.ASCII)


class Shape(msgspec.Struct, frozen=True):
    """A shape that records have."""

    count: int
    shape: Any  # JSON: objects with their keys, types as strings


class Skeleton(msgspec.Struct, frozen=True):
    """One file."""

    records: int
    unreadable: int  # lines that are no record
    shapes: list[Shape]  # most frequent first; of more than MOST_SHAPES, the rest are left out
    left_out: int = 0
    tables: dict[str, dict[str, str]] = {}  # of a database: table → column → declared type


def skeleton(path: Path) -> Skeleton:
    """The structure of a JSONL or JSON file, or of an SQLite database. Raises OSError."""
    with path.open("rb") as file:
        begin = file.read(16)
        if begin.startswith(b"SQLite format 3"):
            return _of_database(path)
        file.seek(0)
        if not _begins_with_a_record(path) and (
            document := list(read_document_bytes(path.read_bytes(), Lines()))
        ):
            return _skeleton(_counted(document))
        lines = Lines()
        found = _counted(read_records(file, lines))
    return _skeleton(found, unreadable=lines.bad_count)


def shape(value: Any, depth: int = 0) -> Any:
    """A value's keys and types."""
    match value:
        case dict():
            if depth >= DEPTH:
                return "{…}"
            found: dict[str, Any] = {}
            for key, item in value.items():
                name = key if isinstance(key, str) and _KEY.fullmatch(key) else "<key>"
                is_kind = name in KINDS and isinstance(item, str) and _NAME.fullmatch(item)
                found[name] = f"={item}" if is_kind else shape(item, depth + 1)
            return found
        case list():
            shapes = {msgspec.json.encode(shape(item, depth + 1)): None for item in value[:100]}
            return [msgspec.json.decode(each) for each in shapes]
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string" if value else "empty string"
        case None:
            return "null"
        case _:
            return type(value).__name__


def _begins_with_a_record(path: Path) -> bool:
    """Whether the first line stands for itself."""
    with path.open("rb") as file:
        line = file.readline(1 << 20)
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _counted(records: Iterable[Any]) -> dict[bytes, int]:
    counts: dict[bytes, int] = {}
    for record in records:
        each = msgspec.json.encode(shape(record))
        counts[each] = counts.get(each, 0) + 1
    return counts


def _skeleton(
    counts: dict[bytes, int], *, unreadable: int = 0, tables: dict[str, dict[str, str]] | None = None
) -> Skeleton:
    ordered = sorted(counts.items(), key=lambda item: -item[1])  # stable: by first appearance within
    return Skeleton(
        records=sum(counts.values()),
        unreadable=unreadable,
        shapes=[Shape(count, msgspec.json.decode(each)) for each, count in ordered[:MOST_SHAPES]],
        left_out=max(0, len(ordered) - MOST_SHAPES),
        tables=tables or {},
    )


def _of_database(path: Path) -> Skeleton:
    counts: dict[bytes, int] = {}
    tables: dict[str, dict[str, str]] = {}
    with contextlib.closing(Database(path)) as database:
        for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            columns = database.rows("SELECT name, type FROM pragma_table_info(?)", name)
            tables[str(name)] = {str(column): str(kind) for column, kind in columns}
            quoted = str(name).replace('"', '""')
            for row in database.rows(f'SELECT * FROM "{quoted}" LIMIT ?', MOST_ROWS):  # noqa: S608
                shown = {
                    column: _column(value) for column, value in zip(tables[str(name)], row, strict=False)
                }
                each = msgspec.json.encode({"<table>": name, **shown})
                counts[each] = counts.get(each, 0) + 1
    return _skeleton(counts, tables=tables)


def _column(value: object) -> Any:
    """What is in a column: JSON is opened, anything else is a type."""
    if isinstance(value, str | bytes):
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = msgspec.json.decode(value)
            if isinstance(found, dict | list):
                return {"<JSON>": shape(found)}
        return "bytes" if isinstance(value, bytes) else "string"
    return shape(value)
