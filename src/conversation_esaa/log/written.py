"""Turns exactly as the writer writes them: the quick way through a log that nobody touched.

A line and the turn in it are the same bytes in two forms when the turn, encoded anew in the order of a line's
keys, gives the line. Then nothing in the line can be read in another way, no key is there twice or unknown,
and its parts may be cut out at their places. What is not written so is for `codec` and `chain` to look at.
"""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import msgspec

from conversation_esaa.events import ConversationTurn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conversation_esaa.events import Recorded

_encode = msgspec.json.Encoder().encode


def spelled(event: Recorded) -> bytes:
    """The line that the writer makes of the values of a chained event; no second decoding, no hashing.

    Not that of a line with keys that the event's type does not know, nor with defaults that it states.
    """
    return _spelling(type(event))(event)


def turns_in(lines: Sequence[bytes]) -> list[ConversationTurn | None]:
    """For each line the turn that it is as written; None where it is anything else.

    What comes has all attributes of a ConversationTurn and is none: its fields stand in the order of a line,
    which makes decoding and encoding half as dear.
    """
    decode = _turn_decoder().decode
    try:
        turns = [decode(line) for line in lines]
    except (msgspec.DecodeError, ValueError, RecursionError):
        return [None] * len(lines)
    return [
        cast("ConversationTurn", turn) if _encode(turn) == line and turn.event == _TURN else None
        for turn, line in zip(turns, lines, strict=True)
    ]


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
