"""The quick way to read turns: only for lines that are, byte for byte, what the writer writes."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.events import TYPES, ConversationTurn
from conversation_esaa.log import chain
from conversation_esaa.log.codec import read_line
from conversation_esaa.log.written import runs, spelled

PREVIOUS, SALT = bytes(32), bytes(range(16))
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def sealed(name: str, **fields: object) -> bytes:
    """A line as the writer makes it."""
    whole = {"v": 2, "seq": 7, "event": name, "event_id": "e" * 64, "actor": "user", **fields}
    return chain.seal(whole, TYPES[name].CONTENT, salt=SALT, previous=PREVIOUS)[0]


def a_turn(**fields: object) -> bytes:
    return sealed("conversation_turn", **{"source": "codex", "text": "Which port?", **fields})


@given(st.sampled_from(sorted(TYPES)), st.data())
def test_any_event_is_spelled_as_the_writer_spelled_it(name, data):
    """So that a deep check needs neither a second decoding nor another hash."""
    fields = {
        field.name: data.draw(words)
        for field in msgspec.structs.fields(TYPES[name])
        if field.type is str and field.name not in {"hash", "salt", "content_digest", "event_id", "actor"}
    }
    line = sealed(name, **fields)

    event = read_line(line)

    assert spelled(event) == line


@given(words, st.sampled_from(["user", "assistant"]), st.lists(words, max_size=3))
def test_a_turn_as_written_has_the_values_that_readers_take(text, actor, flags):
    line = a_turn(text=text, summary=text[:200], actor=actor, **({"flags": flags} if flags else {}))

    [(_, [turn])] = runs(line + b"\n")

    read = read_line(line)
    assert all(getattr(turn, name) == getattr(read, name) for name in ConversationTurn.__struct_fields__)


TURN = a_turn()
FIELDS = json.loads(TURN)
OTHERWISE = {
    "a space": TURN.replace(b'"seq":7', b'"seq": 7'),
    "an escape that is not needed": TURN.replace(b"Which", rb"\u0057hich"),
    "an escaped slash": a_turn(text="a/b").replace(b"a/b", rb"a\/b"),
    "capitals in an escape": a_turn(text="\x1f").replace(rb"\u001f", rb"\u001F"),
    "another order": json.dumps(dict(sorted(FIELDS.items())), separators=(",", ":")).encode(),
    "a key twice": TURN[:-1] + b',"text":"Another?"}',
    "a key that nobody knows": TURN[:-1] + b',"later":1}',
    "a default that is stated": TURN.replace(b'"event":', b'"cwd":"","event":'),
    "a number with an exponent": TURN.replace(b'"seq":7', b'"seq":7e0'),
    "a carriage return": TURN + b"\r",
    "a byte order mark": b"\xef\xbb\xbf" + TURN,
    "a value of the wrong type": TURN.replace(b'"seq":7', b'"seq":"7"'),
    "another event": sealed("goal.set", goal="Ship it"),
    "an event with nothing but keys of a turn": sealed("session.ended", source="codex"),
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": TURN.replace(b"Which", b"\xff"),
    "deep nesting": b"[" * 100_000,
}


@pytest.mark.parametrize("line", OTHERWISE.values(), ids=OTHERWISE)
def test_what_is_written_otherwise_is_left_to_others(line):
    """Two readers could take two things from it, or it is no turn: the careful way is for such lines."""
    apart = line + b"\n"

    assert list(runs(apart)) == [([apart], [])]
    for order in ([TURN, line], [line, TURN], [TURN, TURN, line, TURN]):
        piece = b"".join(each + b"\n" for each in order)
        found = list(runs(piece))
        assert b"".join(each for lines, _ in found for each in lines) == piece
        assert all(len(turns) in {0, len(lines)} for lines, turns in found)
        assert [bool(turns) for lines, turns in found for _ in lines] == [each is TURN for each in order]
