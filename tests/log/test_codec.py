"""One line of a log, whatever it turns out to be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.log import InMemory, append, goal, turn
from conversation_esaa.events import TYPES, GoalSet, UnknownEvent
from conversation_esaa.log.codec import Older, Problem, json_schema, read_line

HASH = "ab" * 32
SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "event.schema.json"


REGENERATE = (
    'PYTHONPATH=src python -c "import json; from conversation_esaa.log.codec import json_schema; '
    'print(json.dumps(json_schema(), indent=2))" > docs/reference/event.schema.json'
)


def line(**fields: object) -> bytes:
    return json.dumps({"event": "goal.set", "v": 2, "seq": 1, "hash": HASH, **fields}).encode()


def test_a_line_is_read_by_its_event_name():
    assert read_line(line(goal="Ship it")) == GoalSet(v=2, seq=1, hash=HASH, goal="Ship it")


def test_keys_of_a_newer_version_do_not_hinder():
    assert read_line(line(goal="a", invented_tomorrow={"x": [1.5]})) == GoalSet(
        v=2, seq=1, hash=HASH, goal="a"
    )


def test_an_event_name_of_a_newer_version_is_kept():
    found = read_line(line(event="redaction.applied", actor="user", policy="p"))

    assert found == UnknownEvent(v=2, seq=1, hash=HASH, actor="user", name="redaction.applied")


def test_a_key_called_name_does_not_become_the_name_of_an_unknown_event():
    assert read_line(line(event="redaction.applied", name="goal.set")).name == "redaction.applied"


def test_a_line_without_v_is_an_older_one():
    assert read_line(b'{"event":"goal.set","goal":"a"}') == Older({"event": "goal.set", "goal": "a"})


@pytest.mark.parametrize("blank", [b"", b"\r", b" \t\r", b"\xef\xbb\xbf"])
def test_a_blank_line_is_none(blank):
    assert read_line(blank) is None


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"{", "not JSON"),
        (b'{"event":"goal.set"}{"event":"goal.set"}', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"\0" * 40, "NUL bytes"),
        (b'{"event":"goal.set","goal":"\xff"}', "not UTF-8"),
        (b"{}", "without an event name"),
        (line(event=5), "without an event name"),
        (line(event=""), "without an event name"),
        (line(v="2"), "not a version"),
        (line(v=True), "not a version"),
        (line(v=2.0), "not a version"),
        (line(v=0), "not a version"),
        (line(goal=5), "wrong type"),
        (line(seq="1"), "wrong type"),
        (line(seq=0), "without seq or hash"),
        (line(hash=""), "without seq or hash"),
        (line(hash="g" * 64), "without seq or hash"),
        (line(hash="ab" * 31), "without seq or hash"),
        (line(event="redaction.applied", hash=""), "without seq or hash"),
        (b'{"a":' * 20_000, "nested too deeply"),
        (b'{"event":"goal.set","x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", "nested too deeply"),
        (b'{"event":"goal.set","seq":' + b"9" * 5000 + b"}", ""),
    ],
)
def test_what_is_no_event_is_named_and_never_raises(broken, reason):
    """FC-N15 and FC-A08."""
    found = read_line(broken)

    assert isinstance(found, Problem | Older)
    assert reason in getattr(found, "reason", "")


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_no_bytes_can_stop_a_reader(data):
    read_line(data)


@given(st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_no_damage_within_a_line_can_stop_a_reader(at, garbage):
    kept = InMemory()
    [entry] = append(kept, turn("some words"))

    read_line(entry.line[:at] + garbage + entry.line[at + len(garbage) :])


def test_reasons_never_quote_the_line():
    """Reasons end up in bug reports."""
    for broken in (line(goal=["my own words"]), b"{my own words", line(v="my own words")):
        assert "own words" not in read_line(broken).reason


def test_every_event_type_reads_back_as_it_was_written():
    kept = InMemory()
    drafts = [kind(event_id=f"{number:064x}") for number, kind in enumerate(TYPES.values())]

    written = append(kept, *drafts)

    assert [type(entry.event) for entry in written] == list(TYPES.values())
    assert list(kept.log.entries()) == written


def test_the_published_schema_is_the_one_of_the_types():
    """One declaration is the type, the wire form and the schema.

    When this fails, an event was changed. If that was meant, write the file anew with REGENERATE.
    """
    assert SCHEMA.read_text(encoding="utf-8") == json.dumps(json_schema(), indent=2) + "\n", REGENERATE


def test_the_schema_names_every_event():
    tags = {
        definition["properties"]["event"]["enum"][0]
        for definition in json_schema()["$defs"].values()
        if "event" in definition["properties"]
    }

    assert tags == set(TYPES)


def test_the_goal_is_content_and_the_schema_does_not_mind_its_absence():
    """A purge takes words out; the line stays an event."""
    [entry] = append(InMemory(), goal())
    fields = entry.fields
    del fields["goal"], fields["salt"]

    assert isinstance(read_line(json.dumps(fields).encode()), GoalSet)
