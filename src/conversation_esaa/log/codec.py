"""Bytes to events and back: one line of the log, whatever it turns out to be.

A line is decoded in one pass by its `event` tag. What that refuses is looked at again, patiently: a byte
order mark, lone surrogates, an event name from a newer version, a v1.1 line. Nothing here raises for a
line's sake: a line that is no event of ours is a `Problem` with a reason that never quotes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.canonical import without_surrogates
from conversation_esaa.events import (
    TYPES,
    ConversationTurn,
    Event,
    Recorded,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
    UnknownEvent,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Older(msgspec.Struct, frozen=True):
    """A line without `v`: v1.1, for v1_1.py to read."""

    fields: dict[str, Any]


class Problem(msgspec.Struct, frozen=True):
    """A line that is no event of ours."""

    reason: str  # what is wrong with it, never what it says


HASH_BYTES = 32

_BOM = b"\xef\xbb\xbf"
_decode_any = msgspec.json.Decoder().decode
_unhex = bytes.fromhex


def read_line(line: bytes) -> Recorded | Older | Problem | None:
    """The event of one line; None for a blank one. `line` has no line feed; a CR at its end is ignored."""
    try:
        event: Recorded = _events.decode(line)
        if event.v >= 2 and event.seq > 0 and len(_unhex(event.hash)) == HASH_BYTES:
            return event
    except msgspec.ValidationError:
        if _events.widened():
            return read_line(line)
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    return _read_patiently(line)


def read_together(lines: bytes) -> list[Recorded]:
    """The events of lines that are events as the writer writes them, at two thirds of the cost of one by one.

    Of other lines it may be any list: whoever calls this knows each event's hash, and compares.
    """
    try:
        return _events.decode_lines(lines)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return []


class _Events:
    """The decoder of events: of what agents' logs give at first, of all when a line of another kind comes.

    Making the whole one costs as much as reading a thousand lines, and most commands meet turns only.
    """

    def __init__(self) -> None:
        said = ConversationTurn | SessionStarted | SessionEnded | SessionCompacted
        self._take(msgspec.json.Decoder(said))
        self._is_whole = False

    def widened(self) -> bool:
        """Whether there is more that can be decoded from now on."""
        if self._is_whole:
            return False
        self._take(msgspec.json.Decoder(Event))
        self._is_whole = True
        return True

    def _take(self, decoder: msgspec.json.Decoder[Any]) -> None:
        self.decode: Callable[[bytes], Recorded] = decoder.decode
        self.decode_lines: Callable[[bytes], list[Recorded]] = decoder.decode_lines


_events = _Events()


def read_fields(line: bytes) -> dict[str, Any] | Problem | None:
    """The JSON object of one line, with lone surrogates replaced by U+FFFD; None for a blank line."""
    line = line.removeprefix(_BOM)
    if not line.strip(b" \t\r\n"):
        return None
    try:
        fields = _decode_any(line)
    except RecursionError:
        return Problem("nested too deeply")
    except (msgspec.DecodeError, ValueError):
        import json

        try:  # msgspec refuses lone surrogates, which a writer in JavaScript or .NET may leave
            fields = cleaned(json.loads(line.decode("utf-8")))
        except RecursionError:
            return Problem("nested too deeply")
        except UnicodeDecodeError:
            return Problem("not UTF-8")
        except ValueError:
            return Problem("NUL bytes, as a crash leaves them" if b"\0" in line else "not JSON")
    return fields if isinstance(fields, dict) else Problem("not a JSON object")


def cleaned(value: Any) -> Any:
    """`value`, a JSON value, with each lone surrogate in its strings and keys replaced by U+FFFD."""
    match value:
        case str():
            return without_surrogates(value)
        case list() | tuple():
            return [cleaned(item) for item in value]
        case dict():
            return {cleaned(key): cleaned(item) for key, item in value.items()}
        case _:
            return value


def json_schema() -> dict[str, Any]:
    """JSON Schema of one line of the log, as docs/reference/event.schema.json has it.

    `x-content-keys` names the keys of each event that the chain commits to through their salted digest.
    """
    schema = msgspec.json.schema(Event)
    for kind in TYPES.values():
        schema["$defs"][kind.__name__]["x-content-keys"] = sorted(kind.CONTENT)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Event", **schema}


def _read_patiently(line: bytes) -> Recorded | Older | Problem | None:
    fields = read_fields(line)
    if not isinstance(fields, dict):
        return fields
    version, name = fields.get("v", 1), fields.get("event")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return Problem("`v` is not a version")
    if not isinstance(name, str) or not name:
        return Problem("a JSON object without an event name")
    if version < 2:
        return Older(fields)
    kind = TYPES.get(name)
    try:
        if kind is None:
            known = {key: fields[key] for key in UnknownEvent.__struct_fields__ if key in fields}
            event: Recorded = msgspec.convert({**known, "name": name}, UnknownEvent)
        else:
            event = msgspec.convert(fields, kind)
    except (msgspec.ValidationError, ValueError) as error:
        return Problem(f"an event with a value of the wrong type: {error}")
    return event if _is_link(event) else Problem("a v2 event without seq or hash")


def _is_link(event: Recorded) -> bool:
    """Whether the event has what the next line goes on from: a position and a hash."""
    try:
        return event.seq > 0 and len(_unhex(event.hash)) == HASH_BYTES
    except ValueError:
        return False
