"""Tables of ours at the end of a TOML file, and out again; every other byte stays.

What comes out is read with the standard library's parser, which says whether the change was the one that was meant.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks.surface import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_HEADER = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)
_LINE_END = re.compile(r"\r?\n")
_PLACE = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)")


def parse(text: str) -> dict[str, Any]:
    """The document. Raises NotEditable, naming line and column."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what = str(error)
        found = _PLACE.search(what)
        line, column = (int(found[1]), int(found[2])) if found and found[1] else (text.count("\n") + 1, 1)
        raise broken(_PLACE.sub("", what).strip(), line, column) from None
    except RecursionError:
        raise broken("nested too deeply", 1, 1) from None


def quoted(text: str) -> str:
    """`text` as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def append(text: str, tables: Sequence[str]) -> str:
    """`text` with tables behind it, each set off by a blank line.

    A file that does not end in a line feed does not do so afterwards: that is how `cut` gives it back.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    ends_open = bool(text) and not text.endswith("\n")
    parts = [text, newline] if ends_open else [text]
    for table in tables:
        parts += [newline, table.strip("\n").replace("\n", newline), newline]
    if not text:
        del parts[1]
    if ends_open:
        del parts[-1]
    return "".join(parts)


def cut(text: str, meant: Callable[[str], bool]) -> str:
    """`text` without the tables that are meant: header, keys, and the blank line before.

    meant   judges the text of one table, from its header to its last key.
    """
    headers = [found.start() for found in _HEADER.finditer(text)]
    tables = [
        (begin, _without_tail(text[begin:behind]))
        for begin, behind in zip(headers, [*headers[1:], len(text)], strict=False)
    ]
    for begin, table in reversed(tables):
        if meant(table):
            text = _without(text, begin, begin + len(table))
    return text


def _without(text: str, begin: int, end: int) -> str:
    """`text` without one table that `append` may have put there."""
    ends_open = end == len(text)
    if found := _LINE_END.match(text, end):
        end = found.end()
    above = begin - _line_end_before(text, begin)
    if above == 0 or _line_end_before(text, above):
        begin = above  # the blank line before
    if ends_open:
        begin -= _line_end_before(text, begin)
    return text[:begin] + text[end:]


def _without_tail(table: str) -> str:
    """A table without the blank lines and remarks behind its last key: they belong to what follows."""
    lines = table.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip("\r\n")


def _line_end_before(text: str, at: int) -> int:
    """How long the line end is that stands directly before `at`; 0 where none does."""
    return 2 if text.endswith("\r\n", 0, at) else int(text.endswith("\n", 0, at))
