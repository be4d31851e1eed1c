"""Writing lines: what the writer makes of a draft is what the chain's own rules make of its keys."""

import hashlib
import json
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.events import TYPES, VERSION, FromSource, Recorded
from conversation_esaa.log import chain, writer
from conversation_esaa.log.codec import cleaned
from conversation_esaa.log.contract import BadDraft, Stamp
from conversation_esaa.log.in_memory import InMemoryLog

NOW = "2026-05-01T10:00:00.000Z"
STAMP = Stamp(workspace_root="/home/dev/café", workspace_id="w" * 32, replica_id="r" * 16)
FILLED_IN = {
    "v",
    "seq",
    "recorded_at",
    "workspace_root",
    "workspace_id",
    "replica_id",
    "salt",
    "content_digest",
    "hash",
}
words = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(["", "\ud83d", "\udc00 ", "ü"])
numbers = st.integers(-(2**53) + 1, 2**53 - 1)


def values(kind: object) -> st.SearchStrategy[object]:
    if kind is int:
        return numbers
    if type(None) in get_args(kind):
        return st.none() | (st.lists(words, max_size=2).map(tuple) if "tuple" in str(kind) else words)
    if str(kind).startswith("tuple"):
        return st.lists(words, max_size=3).map(tuple)
    return words


def drafts(kind: type[Recorded]) -> st.SearchStrategy[Recorded]:
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    optional = {name: values(field) for name, field in fields.items() if name not in FILLED_IN}
    needed = {"event_id": words.filter(bool)} if issubclass(kind, FromSource) else {}
    return st.fixed_dictionaries(
        needed, optional={name: value for name, value in optional.items() if name not in needed}
    ).map(lambda given: kind(**given))


def by_the_rules(draft: Recorded, fields: dict[str, object], previous: bytes) -> bytes:
    """The line of `draft`, by way of its keys: each step as docs/reference/log-format.md has it."""
    stated = {**msgspec.to_builtins(draft), "v": VERSION, "seq": 1, "recorded_at": NOW}
    stated |= {key: value for key, value in msgspec.to_builtins(STAMP).items() if value}
    stated["ts"], stated["event_id"] = stated.get("ts") or NOW, draft.event_id or fields["event_id"]
    try:
        return chain.seal(dict(stated), draft.CONTENT, salt=bytes(16), previous=previous)[0]
    except UnicodeEncodeError:
        stated = cleaned(stated)
        stated["flags"] = sorted({*stated.get("flags", ()), "surrogates_replaced"})
        return chain.seal(stated, draft.CONTENT, salt=bytes(16), previous=previous)[0]


@given(draft=st.sampled_from([*TYPES.values()]).flatmap(drafts))
def test_a_line_is_its_draft_sealed_by_the_rules(draft):
    """The writer keeps each kind's keys in order beforehand; the rules sort them, key by key."""
    log = InMemoryLog(STAMP, entropy=bytes)

    with log.writing(purpose="test") as writing:
        (entry,) = writing.append([draft], recorded_at=NOW)

    assert entry.line == by_the_rules(draft, entry.fields, hashlib.sha256(b"").digest())
    assert bytes(log.data) == entry.line + b"\n"
    assert json.loads(entry.line)["hash"] == entry.event.hash


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("conversation_turn", {"text": 5}), ("session.ended", {"trigger": ["x"]}), ("goal.set", {"goal": None})],
)
def test_one_draft_that_nobody_could_read_keeps_all_of_its_batch_out(kind, fields):
    """Lines are read again together; that must not let one through."""
    good, bad = TYPES[kind](event_id="0" * 64), TYPES[kind](event_id="1" * 64, **fields)
    log = InMemoryLog(STAMP)

    with log.writing(purpose="test") as writing, pytest.raises(BadDraft):
        writing.append([good, bad, good], recorded_at=NOW)

    assert not log.data


def test_lines_read_together_are_taken_only_where_each_is_the_one_that_was_written(monkeypatch):
    """A decoder that gives other events, or as many in another place, is not believed."""
    turns = [TYPES["conversation_turn"](event_id=digit * 64, text=digit) for digit in "12"]
    log = InMemoryLog(STAMP)
    together = writer.read_together
    monkeypatch.setattr(writer, "read_together", lambda lines: together(lines)[::-1])

    with log.writing(purpose="test") as writing:
        entries = writing.append(turns, recorded_at=NOW)

    assert [entry.event.text for entry in entries] == ["1", "2"]
