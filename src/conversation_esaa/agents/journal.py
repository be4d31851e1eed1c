"""Sessions that are a journal: operations on one JSON object, an operation a line.

    {"kind": 0, "v": {…}}                         the whole object
    {"kind": 1, "k": [path], "v": value}          set
    {"kind": 2, "k": [path], "v": [items], "i": n}   cut an array at n, where n is given, and append
    {"kind": 3, "k": [path]}                      delete

What is at the end of all of them is the one record. The file is appended to, and now and then written anew as one
line, so it may shrink; it is replayed as a whole. An operation that does not fit is named and passed over, and
one that is still being written is left for later. Memory: the object, once.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import BUFFER, Lines, read_records
from conversation_esaa.agents.storage import Opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile

_MISFIT = "an operation that does not fit what is there"


def beside(file: SessionFile) -> Sequence[str]:
    """Nothing: it is one file."""
    del file
    return ()


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The file, replayed when the records are asked for. Raises OSError."""
    with file.path.open("rb", buffering=BUFFER) as handle:

        def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
            del module, state
            read = Lines()
            found = replay(read_records(handle, read), read)
            lines.bad, lines.bad_count = read.bad, read.bad_count  # the place to go on from is the beginning
            if found is not None:
                yield found

        yield Opened(records)


def replay(operations: Iterable[Any], lines: Lines) -> dict[str, Any] | None:
    """The object at the end of all operations; None when there is none. What does not fit is named in `lines`."""
    root: dict[str, Any] = {}
    for operation in operations:
        try:
            _apply(operation, root)
        except (KeyError, IndexError, TypeError):
            lines.line_no -= 1  # it stands before the place where reading goes on
            lines.name_bad(_MISFIT)
            lines.line_no += 1
    found = root.get("v")
    return found if isinstance(found, dict) else None


def _apply(operation: dict[str, Any], root: dict[str, Any]) -> None:
    """Carry out an operation. Raises KeyError, IndexError or TypeError when it does not fit."""
    match operation:
        case {"kind": 0, "v": dict(value)}:
            root["v"] = value
        case {"kind": 1, "k": [*path], "v": value}:
            place, key = _place(root, path)
            if isinstance(place, list) and key == len(place):
                place.append(value)
            else:
                place[key] = value
        case {"kind": 1 | 3, "k": [*path]}:  # a value that is not defined is not written
            place, key = _place(root, path)
            if isinstance(place, list):
                place[key] = None
            else:
                place.pop(key, None)
        case {"kind": 2, "k": [*path]}:
            place, key = _place(root, path)
            _append(place, key, operation)
        case _:
            raise TypeError


def _append(place: Any, key: Any, operation: dict[str, Any]) -> None:
    target = place[key] if isinstance(place, list) else place.setdefault(key, [])
    items, start = operation.get("v", []), operation.get("i")
    if not isinstance(target, list) or not isinstance(items, list):
        raise TypeError
    if start is not None:
        if type(start) is not int or start < 0:
            raise TypeError
        del target[start:]
    target.extend(items)


def _place(root: dict[str, Any], path: list[Any]) -> tuple[Any, Any]:
    """The object or array in which the last part of a path is a key, and that key."""
    place: Any = root
    keys = ["v", *path]
    for depth, key in enumerate(keys):
        if isinstance(place, list):
            if type(key) is not int or key < 0:
                raise TypeError
        elif not isinstance(place, dict) or not isinstance(key, str):
            raise TypeError
        if depth == len(keys) - 1:
            return place, key
        place = place[key]
    raise TypeError
