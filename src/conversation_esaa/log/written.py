"""Turns exactly as the writer writes them: the quick way through a log that nobody touched.

A line and the turn in it are the same bytes in two forms when the turn, encoded anew in the order of a line's
keys, gives the line. Then nothing in the line can be read in another way, no key is there twice or unknown,
and its parts may be cut out at their places. What is not written so is for `codec` and `chain` to look at.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import msgspec

from conversation_esaa.events import ConversationTurn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conversation_esaa.events import Recorded

_encoder = msgspec.json.Encoder()
_encode, _encode_lines = _encoder.encode, _encoder.encode_lines


def spelled(event: Recorded) -> bytes:
    """The line that the writer makes of the values of a chained event; no second decoding, no hashing.

    Not that of a line with keys that the event's type does not know, nor with defaults that it states.
    """
    return _spelling(type(event))(event)


def runs(piece: bytes) -> Iterator[tuple[list[bytes], list[ConversationTurn]]]:
    """The lines of a piece of a log, in order: runs of turns as they are written, and what is between them.

    Lines come with their line feeds. With those that are anything else comes an empty list.

    What comes as a turn has all attributes of a ConversationTurn and is none: its fields stand in the order of
    a line, which makes decoding and encoding half as dear. Doing it for many at once saves a third of the rest.
    """
    lines = BytesIO(piece).readlines()  # `split` looks at each byte by itself
    try:
        found = _turn_decoder().decode_lines(piece)
    except (msgspec.DecodeError, ValueError, RecursionError):
        found = []
    if len(found) != len(lines):  # one that cannot be read, a blank one, two values in one
        yield from _runs_by_line(lines)
        return
    begin = offset = 0
    for is_turn, run in groupby([turn.event == _TURN for turn in found]):
        end = begin + len(list(run))
        turns, own = found[begin:end], lines[begin:end]
        if not is_turn:
            yield own, []
        elif piece.startswith(_encode_lines(turns), offset):  # no JSON has a line feed in it
            yield own, turns
        else:
            yield from _runs_by_line(own)
        offset += sum(map(len, own))
        begin = end


def _runs_by_line(lines: list[bytes]) -> Iterator[tuple[list[bytes], list[ConversationTurn]]]:
    for is_turn, run in groupby(map(_turn_in, lines), bool):
        turns = list(run)
        own, lines = lines[: len(turns)], lines[len(turns) :]
        yield own, cast("list[ConversationTurn]", turns) if is_turn else []


def _turn_in(line: bytes) -> ConversationTurn | None:
    try:
        turn = _turn_decoder().decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    as_written = turn.event == _TURN and _encode(turn) + b"\n" == line
    return cast("ConversationTurn", turn) if as_written else None


_TURN = str(ConversationTurn.__struct_config__.tag)


def _keys(kind: type[Recorded]) -> list[str]:
    """The keys of a line, in their order, after `chain.seal`."""
    names = {field.name for field in msgspec.structs.fields(kind)}
    content = kind.CONTENT & names
    return [*sorted({*names, "event"} - content - {"hash", "salt"}), "hash", "salt", *sorted(content)]


def _twin(kind: type[Recorded]) -> type[Any]:
    """`kind` with its fields in the order of a line's keys, `event` among them."""
    fields = {field.name: (field.type, field.default) for field in msgspec.structs.fields(kind)}
    fields["event"] = (str, "")
    return msgspec.defstruct(
        f"Written{kind.__name__}",
        [(key, *fields[key]) for key in _keys(kind)],
        omit_defaults=True,
        frozen=True,
        gc=False,
    )


@cache  # made when it is needed: few commands check a log
def _turn_decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_twin(ConversationTurn))


@cache
def _spelling(kind: type[Recorded]) -> Callable[[Recorded], bytes]:
    twin, values = _twin(kind), msgspec.structs.astuple
    in_order = itemgetter(*map([*kind.__struct_fields__, "event"].index, _keys(kind)))
    name = (str(kind.__struct_config__.tag),)
    return lambda event: _encode(twin(*in_order(values(event) + name)))
