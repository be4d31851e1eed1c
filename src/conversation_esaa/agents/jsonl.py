"""Bytes to records: files of one JSON object a line, as agents really leave them.

What is tolerated: a byte order mark, lone surrogates, NUL padding, blank lines, two objects on one line,
a last line that is still being written, lines that are no JSON. A good record is never hidden by a bad
neighbour; a bad line is named by its number and skipped.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

_decode = msgspec.json.Decoder().decode
_tolerant = json.JSONDecoder()
_BLANK = b" \t\r\n\0"
_BOM = b"\xef\xbb\xbf"


class BadLine(msgspec.Struct, frozen=True):
    """A line that could not be read, or only in part."""

    line_no: int  # from 1
    reason: str  # what is wrong with it, never what it says


class Lines(msgspec.Struct, kw_only=True):
    """How far a file was read. `offset` and `line_no` are the cursor to go on from."""

    offset: int = 0  # bytes: start of the first line not yet read
    line_no: int = 0  # lines before `offset`
    bad: list[BadLine] = []


def read_records(file: BinaryIO, lines: Lines) -> Iterator[Any]:
    """The records of `file` from `lines.offset` on, in order; `lines` moves forward with them.

    The last line counts when it ends with a line feed or is a whole JSON value without one (an object
    cannot be the beginning of another). Otherwise it is being written: the offset stays before it.
    Memory: one line. Raises OSError only.
    """
    file.seek(lines.offset)
    for line in file:
        complete = line.endswith(b"\n")
        stripped = line.strip(_BLANK)
        records, reason = decode_line(stripped, first=lines.offset == 0) if stripped else ([], "")
        if reason and not complete:
            return
        if b"\0" in line:
            reason = reason or "NUL bytes, as a crash leaves them"
        if reason:
            lines.bad.append(BadLine(lines.line_no + 1, reason))
        if not stripped and not complete and reason:
            return  # padding where a file system may still put a line
        lines.offset += len(line)
        lines.line_no += complete
        yield from records


def decode_line(line: bytes, *, first: bool = False) -> tuple[list[Any], str]:
    """The JSON objects of one line, and what was wrong with it ("" when nothing was).

    first   the line is the file's first one, and may start with a byte order mark.
    """
    if first and line.startswith(_BOM):
        line = line[len(_BOM) :]
    try:
        return [_decode(line)], ""
    except (msgspec.DecodeError, RecursionError, ValueError):
        return _decode_tolerantly(line)


def _decode_tolerantly(line: bytes) -> tuple[list[Any], str]:
    text, reason = line.decode("utf-8", "replace"), ""
    records: list[Any] = []
    at = 0
    while at < len(text):
        try:
            value, at = _tolerant.raw_decode(text, at)
        except json.JSONDecodeError:
            reason = "not JSON" if not records else "something that is not JSON follows a record"
            break
        except RecursionError:
            reason = "nested too deeply"
            break
        except ValueError:
            reason = "a number too long to read"
            break
        if not isinstance(value, dict):
            reason = "not a JSON object"
            break
        records.append(value)
        while at < len(text) and text[at] in " \t\r\n\0":
            at += 1
    return records, reason
