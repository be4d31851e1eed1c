"""What a change to the log does to its chain, and that anybody can recompute it."""

from __future__ import annotations

import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from builders.log import NOW, STAMP, InMemory, append, damage, findings, goal, started, turn, v1_1_log
from conversation_esaa.canonical import canonical_trusted
from conversation_esaa.events import TYPES, Entry
from conversation_esaa.log import chain


@pytest.fixture
def kept():
    """A small log: three turns, a goal, and an event without words."""
    kept = InMemory()
    append(kept, turn("one"), started(), turn("two", index=1), goal(), turn("three", index=2))
    return kept


def lines_of(kept) -> list[bytes]:
    return kept.bytes().splitlines(keepends=True)


def hash_of(fields, previous: bytes) -> str:
    """As docs/reference/log-format.md has it, with another JSON library than ours."""
    content = TYPES[fields["event"]].CONTENT
    leaf = {key: value for key, value in fields.items() if key not in {*content, "salt", "hash"}}
    return hashlib.sha256(previous + rfc8785.dumps(leaf)).hexdigest()


def test_a_log_as_it_was_written_has_no_findings(kept):
    assert findings(kept) == []


def test_the_chain_can_be_recomputed_with_other_peoples_tools(kept):
    previous = hashlib.sha256(b"").digest()
    for line in lines_of(kept):
        fields = json.loads(line)
        assert fields["hash"] == hash_of(fields, previous)
        words = {key: fields[key] for key in TYPES[fields["event"]].CONTENT if key in fields}
        if words:
            digest = hashlib.sha256(bytes.fromhex(fields["salt"]) + rfc8785.dumps(words)).hexdigest()
            assert fields["content_digest"] == digest
        else:
            assert not {"salt", "content_digest"} & set(fields)
        previous = bytes.fromhex(fields["hash"])


def test_the_first_link_commits_to_the_older_log():
    kept = InMemory()
    kept.put(v1_1_log())
    [entry] = append(kept, turn())

    assert entry.event.hash == hash_of(entry.fields, hashlib.sha256(v1_1_log()).digest())


def test_flipping_any_bit_of_any_byte_is_found(kept):
    """Or changes nothing that a JSON reader could see."""
    whole = kept.bytes()
    original = [json.loads(line) for line in lines_of(kept)]
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 1 << position % 8
        kept.put(bytes(changed))
        if findings(kept) or kept.log.unfinished():
            continue
        read = [entry.fields for entry in kept.log.entries() if isinstance(entry, Entry)]
        assert read == original, f"byte {position}"


@given(st.data())
def test_replacing_any_byte_by_any_other_is_found(data):
    kept = InMemory()
    append(kept, turn("one"), goal(), turn("two", index=1))
    original = [entry.fields for entry in kept.log.entries()]
    changed = bytearray(kept.bytes())
    position = data.draw(st.integers(0, len(changed) - 1))
    changed[position] = data.draw(st.integers(0, 255))

    kept.put(bytes(changed))

    if not findings(kept) and not kept.log.unfinished():
        assert [e.fields for e in kept.log.entries()] == original


def tomorrow(kept, *, spelled=lambda line: line) -> bytes:
    """A line with an event name that this version does not know, sealed by the same rules."""
    fields = {"event": "redaction.applied", "v": 2, "seq": 6, "policy": "p", "reason": "made-up words"}
    previous = bytes.fromhex(kept.log.head().hash)
    line, _ = chain.seal(fields, {"reason"}, salt=bytes(16), previous=previous)
    return spelled(line) + b"\n"


@pytest.mark.parametrize("spelled", [lambda line: line, lambda line: json.dumps(json.loads(line)).encode()])
def test_an_event_with_a_name_from_tomorrow_is_checked_too(kept, spelled):
    """Its words are what stands behind the salt."""
    line = tomorrow(kept, spelled=spelled)
    kept.put(kept.bytes() + line)
    assert findings(kept) == []

    kept.put(kept.bytes().replace(b"made-up", b"made-op"))
    assert damage(kept) == [("wrong_content", 6)]


def test_an_event_that_got_another_name_is_found(kept):
    """Else anything said could be hidden by giving it a name that nobody reads."""
    kept.put(kept.bytes().replace(b'"conversation_turn"', b'"conversation_burn"', 1))

    assert damage(kept) == [("broken_hash", 1)]


def test_an_event_of_a_newer_format_cannot_be_checked_and_that_is_said(kept):
    """Its rules are not known here; its hash is what the next line goes on from."""
    newer = {"event": "goal.set", "v": 3, "seq": 6, "hash": "ab" * 32}
    kept.put(kept.bytes() + json.dumps(newer).encode() + b"\n")
    append(kept, turn("after", index=7))

    assert [(f.kind, f.line_no, f.is_damage) for f in findings(kept)] == [("not_checked", 6, False)]


@pytest.mark.parametrize("at", range(4))
def test_swapping_two_lines_is_found(kept, at):
    lines = lines_of(kept)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    kept.put(b"".join(lines))

    assert {("broken_hash", at + 1), ("seq_gap", at + 1)} <= set(damage(kept))


@pytest.mark.parametrize("at", range(4))
def test_dropping_a_line_is_found_where_it_was(kept, at):
    lines = lines_of(kept)
    del lines[at]
    kept.put(b"".join(lines))

    assert damage(kept) == [("broken_hash", at + 1), ("seq_gap", at + 1)]


@pytest.mark.parametrize("at", range(5))
def test_doubling_a_line_is_found(kept, at):
    lines = lines_of(kept)
    lines.insert(at, lines[at])
    kept.put(b"".join(lines))

    assert damage(kept) == [("broken_hash", at + 2), ("seq_gap", at + 2)]


def test_a_changed_word_is_found_and_told_from_a_changed_key(kept):
    kept.put(kept.bytes().replace(b'"text":"two"', b'"text":"TWO"'))
    assert damage(kept) == [("wrong_content", 3)]

    kept.put(
        kept.bytes().replace(b'"text":"TWO"', b'"text":"two"').replace(b'"actor":"user"', b'"actor":"asst"')
    )
    assert ("broken_hash", 3) in damage(kept)


def test_a_finding_says_where_and_quotes_nothing(kept):
    lines = lines_of(kept)
    kept.put(kept.bytes().replace(b'"text":"two"', b'"text":"own words"'))

    [found] = findings(kept)

    assert (found.line_no, found.offset) == (3, len(lines[0] + lines[1]))
    assert "own words" not in found.message
    assert found.is_damage


def test_a_key_that_is_there_twice_is_found(kept):
    """Two readers may take two different ones."""
    kept.put(kept.bytes().replace(b'{"actor":"user",', b'{"actor":"system","actor":"user",', 1))

    assert damage(kept)


def test_words_slipped_into_a_line_without_any_are_found(kept):
    lines = lines_of(kept)
    lines[1] = lines[1].replace(b"}\n", b',"trigger":"x"}\n')
    kept.put(b"".join(lines))
    assert ("broken_hash", 2) in damage(kept)


@pytest.mark.parametrize("salt", ["", "xyz", "00", "g" * 32])
def test_a_spoilt_salt_is_a_finding_not_a_crash(kept, salt):
    fields = json.loads(lines_of(kept)[0])
    spoilt = kept.bytes().replace(fields["salt"].encode(), salt.encode())
    kept.put(spoilt)

    assert damage(kept) == [("wrong_content", 1)]


def purged(line: bytes) -> bytes:
    fields = json.loads(line)
    for key in [*TYPES[fields["event"]].CONTENT, "salt"]:
        fields.pop(key, None)
    return json.dumps(fields).encode() + b"\n"


def test_a_purge_breaks_nothing(kept):
    """Words and salt go; every hash stays."""
    lines = lines_of(kept)
    kept.put(b"".join([purged(lines[0]), *lines[1:]]))

    assert [(f.kind, f.line_no, f.is_damage) for f in findings(kept)] == [("purged", 1, False)]


def test_words_put_back_after_a_purge_are_found(kept):
    lines = lines_of(kept)
    forged = purged(lines[0]).replace(b"}\n", b',"text":"I never said that"}\n')
    kept.put(b"".join([forged, *lines[1:]]))

    assert damage(kept) == [("wrong_content", 1)]


@pytest.mark.parametrize(
    "spelled_anew",
    [
        lambda line: line.replace(b"\n", b"\r\n"),
        lambda line: json.dumps(json.loads(line)).encode() + b"\n",
        lambda line: json.dumps(dict(reversed(json.loads(line).items())), ensure_ascii=True).encode() + b"\n",
    ],
    ids=["CRLF", "spaces", "other order and escapes"],
)
def test_a_line_that_was_only_spelled_anew_still_verifies(spelled_anew):
    """What is committed is what the line says, not how: a checkout with CRLF is no tampering."""
    kept = InMemory()
    append(kept, turn("né → 😀"), started(), goal())
    before = [entry.event for entry in kept.log.entries()]
    kept.put(b"".join(map(spelled_anew, lines_of(kept))))

    assert findings(kept) == []
    assert [entry.event for entry in kept.log.entries()] == before


def test_keys_of_a_newer_version_are_committed_too():
    fields = {"event": "goal.set", "v": 2, "seq": 1, "invented": {"tomorrow": [1]}}
    line, _ = chain.seal(dict(fields), set(), salt=bytes(16), previous=hashlib.sha256(b"").digest())
    kept = InMemory()
    kept.put(line + b"\n")
    assert findings(kept) == []

    kept.put(line.replace(b"tomorrow", b"tomorrov") + b"\n")
    assert damage(kept) == [("broken_hash", 1)]


def test_the_line_after_an_unreadable_one_is_not_called_changed(kept):
    """FC-A08: one damaged line, one finding of damage, at its number."""
    lines = lines_of(kept)
    lines[2] = lines[2][:40] + b"\n"
    kept.put(b"".join(lines))

    assert damage(kept) == [("unreadable", 3)]
    assert [(f.kind, f.line_no) for f in findings(kept)] == [("unreadable", 3), ("unlinked", 4)]


def test_an_unreadable_line_that_was_put_in_breaks_nothing(kept):
    lines = lines_of(kept)
    kept.put(b"".join([*lines[:2], b"not ours\n", *lines[2:]]))

    assert damage(kept) == [("unreadable", 3)]
    assert len(findings(kept)) == 1


def test_a_check_can_begin_within_a_chain(kept):
    entries = list(kept.log.entries())
    checker = chain.Checker(kept.log.prefix_digest, previous=bytes.fromhex(entries[1].event.hash), seq=2)

    assert [found for n, entry in enumerate(entries[2:]) for found in checker.see(n + 3, entry)] == []
    assert (checker.seq, checker.previous) == (5, bytes.fromhex(kept.log.head().hash))


profile = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(st.characters(max_codepoint=127)), profile, max_size=8))
def test_our_canonical_form_is_the_one_of_rfc_8785(value):
    assert canonical_trusted(value) == rfc8785.dumps(value)


@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5))
def test_whatever_is_said_the_chain_holds_and_anybody_can_recompute_it(said):
    kept = InMemory()
    append(kept, *(turn(text, index=i, model=model) for i, (text, model) in enumerate(said)))

    assert findings(kept) == []
    previous = hashlib.sha256(b"").digest()
    for entry in kept.log.entries():
        assert entry.event.hash == hash_of(entry.fields, previous)
        previous = bytes.fromhex(entry.event.hash)


def test_the_same_events_with_the_same_salts_give_the_same_bytes():
    logs = [InMemory(), InMemory()]
    for kept in logs:
        kept.log._entropy = lambda size: bytes(range(16)) * (size // 16)
        append(kept, turn("a"), goal(), at=NOW)

    assert logs[0].bytes() == logs[1].bytes()
    assert STAMP.workspace_id.encode() in logs[0].bytes()
