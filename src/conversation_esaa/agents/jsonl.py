"""Bytes to records: files of one JSON object a line, as agents really leave them.

What is tolerated: a byte order mark, lone surrogates, NUL padding, blank lines, two objects on one line,
control characters inside a string, bytes that are no UTF-8, a last line that is still being written, lines
that are no JSON. A good record is never hidden by a bad neighbour; a bad line is named by its number and
skipped. Of a key that a line states twice, the last one counts.
"""

from __future__ import annotations

import contextlib
import math
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from conversation_esaa.agents.registry import glancing
from conversation_esaa.agents.storage import Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from json import JSONDecoder
    from pathlib import Path
    from typing import BinaryIO

    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile

BUFFER = 1 << 17  # bytes read at once from each file
MAX_NAMED = 100  # bad lines that are named; of a file that is no JSONL at all, the rest are counted

_decode = msgspec.json.Decoder().decode
_BETWEEN = " \t\r\n\0\ufeff"  # what may stand before, between and behind the objects of a line
_LINE_FEED = ord("\n")
_UNREAD, _SILENT = object(), object()  # what a line may turn out to be, beside a record
_NULS = "NUL bytes, as a crash leaves them"


class BadLine(msgspec.Struct, frozen=True):
    """A line that could not be read, only in part, or only with replacements."""

    line_no: int  # from 1
    reason: str  # what is wrong with it, never what it says


class Lines(msgspec.Struct, kw_only=True):
    """How far a file was read. `offset` and `line_no` are the cursor to go on from."""

    offset: int = 0  # bytes: start of the first line not yet read
    line_no: int = 0  # lines before `offset`
    bad: list[BadLine] = []  # the first MAX_NAMED
    bad_count: int = 0  # all of them

    def name_bad(self, reason: str) -> None:
        """The line after `line_no` is bad."""
        self.bad_count += 1
        if len(self.bad) < MAX_NAMED:
            self.bad.append(BadLine(self.line_no + 1, reason))


class _Line(msgspec.Struct, frozen=True):
    """What one line holds."""

    records: list[Any]  # JSON objects
    remark: str = ""  # what is wrong with it; "" when nothing is
    whole: bool = True  # it is records and nothing else, so nothing can be missing


def beside(file: SessionFile) -> Sequence[str]:
    """Nothing: it is one file."""
    del file
    return ()


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The file, read from where its reader left off. Raises OSError."""
    with file.path.open("rb", buffering=BUFFER) as handle:

        def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
            return read_records(handle, lines, glancing(module, state))

        yield Opened(records, grows=handle)


def read_records(
    file: BinaryIO, lines: Lines, glance: Callable[[bytes], bool] | None = None
) -> Iterator[Any]:
    """The records of `file` from `lines.offset` on, in order; `lines` moves forward with them.

    A record is a JSON object (dict); other values are bad lines. The last line counts when it ends with a
    line feed or is whole without one: an object cannot be the beginning of another. Otherwise it is being
    written, and the offset stays before it. In whichever pieces a growing file is read, its finished lines
    give the same records.

    glance    whether a line holds nothing for its reader, told without decoding all of it; it may raise
              DecodeError, for a line that is no JSON.

    `lines` is right when the iterator has ended; while a line with two records is handed over, it is
    already past it. Memory: one line, once. Raises OSError only.
    """
    offset, line_no = lines.offset, lines.line_no
    file.seek(offset)
    for line in file:
        complete = line[-1] == _LINE_FEED
        try:
            # Both take the line feed along: a copy without it would double a long line.
            record = _SILENT if glance is not None and glance(line) else _decode(line)
        except (msgspec.DecodeError, RecursionError):
            record = _UNREAD
        if record is _SILENT or type(record) is dict:
            offset += len(line)
            line_no += complete
            if record is not _SILENT:
                lines.offset, lines.line_no = offset, line_no
                yield record
            continue
        lines.offset, lines.line_no = offset, line_no
        found = _read_tolerantly(line)
        if not complete and not found.whole:
            if found.remark == _NULS:
                lines.name_bad(_NULS)  # padding, where a file system may still put a line
            return
        if found.remark:
            lines.name_bad(found.remark)
        offset += len(line)
        line_no += complete
        lines.offset, lines.line_no = offset, line_no
        yield from found.records
    lines.offset, lines.line_no = offset, line_no


def decode_line(line: bytes) -> list[Any]:
    """The JSON objects of one line, as `read_records` would give them."""
    return _read_tolerantly(line).records


def read_document(path: Path) -> dict[str, Any]:
    """The one JSON object of a side file, read as tolerantly as a line.

    {} when the file is missing or unreadable, or holds something else. For small files: held whole.
    """
    try:
        records = _read_tolerantly(path.read_bytes()).records
    except OSError:
        return {}
    return dict(records[0]) if records else {}


def read_document_bytes(content: bytes, lines: Lines) -> Iterator[Any]:
    """The one JSON object of a file; what is wrong with it is named in `lines`, which stay at the beginning.

    An empty file is one that is about to be written: nothing, and nothing wrong.
    """
    found = _read_tolerantly(content)
    if found.remark:
        lines.name_bad(found.remark)
    yield from found.records[:1]


def _read_tolerantly(line: bytes) -> _Line:
    remark = _NULS if b"\0" in line else ""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text, remark = line.decode("utf-8", "replace"), "bytes that are no UTF-8, replaced by U+FFFD"
    decoder, not_json = _tolerant()
    records: list[Any] = []
    at = _skip(text, 0)
    while at < len(text):
        problem = ""
        try:
            value, at = decoder.raw_decode(text, at)
        except not_json:
            problem = "something that is no JSON follows a record" if records else "not JSON"
        except RecursionError:
            problem = "nested too deeply"
        except ValueError:
            problem = "a number that cannot be read"
        else:
            if not isinstance(value, dict):
                problem = "not a JSON object"
        if problem:
            return _Line(records, problem, whole=False)
        records.append(value)
        at = _skip(text, at)
    return _Line(records, remark, whole=bool(records))


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BETWEEN:
        at += 1
    return at


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _refuse(_digits: str) -> NoReturn:
    raise ValueError


@cache
def _tolerant() -> tuple[JSONDecoder, type[ValueError]]:
    """The tolerant decoder, and what it raises. Made when a line needs it, which is rare.

    `strict=False` lets control characters stand inside strings; numbers that JSON does not have are refused,
    as the strict decoder does.
    """
    import json

    decoder = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_refuse)
    return decoder, json.JSONDecodeError
