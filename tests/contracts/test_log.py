"""What every event log promises, on disk and in memory alike."""

from __future__ import annotations

import json
import threading

import pytest

from builders.log import (
    LATER,
    NOW,
    STAMP,
    InMemory,
    OnDisk,
    append,
    damage,
    findings,
    goal,
    started,
    texts,
    turn,
    unreadable,
    v1_1_log,
)
from conversation_esaa.errors import LockTimeout
from conversation_esaa.events import ConversationTurn, Head, TaskUpdated, UnknownEvent
from conversation_esaa.ids import curated_event_id
from conversation_esaa.log import reader
from conversation_esaa.log.contract import BadDraft, PositionLost, WriterClosed


@pytest.fixture(params=["on disk", "in memory"])
def kept(request, tmp_path):
    return OnDisk(tmp_path) if request.param == "on disk" else InMemory()


def test_a_log_that_never_was_written_reads_as_empty(kept):
    assert kept.log.head() == Head()
    assert list(kept.log.entries()) == list(kept.log.entries_backward()) == []
    assert kept.log.unfinished() == 0


def test_what_was_appended_is_what_is_read_in_both_directions(kept):
    written = append(kept, turn("first"), goal(), started()) + append(kept, turn("second", index=1))

    assert list(kept.log.entries()) == written
    assert list(kept.log.entries_backward()) == written[::-1]
    assert [kept.log.entry_at(entry.offset) for entry in written] == written
    assert [line_no for line_no, _ in kept.log.numbered()] == [1, 2, 3, 4]
    assert findings(kept) == []


@pytest.mark.parametrize("size", [1, 7, 300, 1 << 16])
def test_pieces_are_all_lines_whatever_their_size(kept, size, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "PIECE", size)
    append(kept, turn("first"), goal(), turn("x" * 1000, index=1), started())
    lines = kept.bytes() + b"\n\nno event\n"
    kept.put(lines + b"torn")

    pieces = list(kept.log.pieces())

    assert b"".join(piece for _, piece in pieces) == lines
    assert all(piece.endswith(b"\n") for _, piece in pieces)
    assert all(lines.startswith(piece, offset) for offset, piece in pieces)
    assert all(len(piece) <= 2 * size or b"\n" not in piece[:-size] for _, piece in pieces)


@pytest.mark.parametrize("size", [1, 7, 300, 1 << 13])
def test_the_end_is_found_whatever_is_read_at_once(kept, size, monkeypatch: pytest.MonkeyPatch):
    """The head is read at each append: little is read, so lines are mostly longer than that."""
    monkeypatch.setattr(reader, "FIRST_BLOCK_BACKWARD", size)
    monkeypatch.setattr(reader, "BLOCK", 4 * size)
    append(kept, turn("first"), goal(), turn("x" * 1000, index=1))
    whole = kept.bytes()
    kept.put(whole[:40] + b"\n\n" + whole)

    backward = list(kept.log.entries_backward())

    assert [line.offset for line in backward] == [entry.offset for entry in kept.log.entries()][::-1]
    assert backward[:3] == list(kept.log.entries())[:0:-1]
    assert kept.log.head() == Head(seq=3, hash=backward[0].event.hash, size=len(whole) + 42)
    kept.put(whole + b"{torn")
    assert (kept.log.head().size, kept.log.unfinished()) == (len(whole), len(b"{torn"))


def test_the_writer_fills_in_what_a_draft_cannot_know(kept):
    [spoken, curated] = [entry.event for entry in append(kept, turn("hello"), goal(), at=LATER)]

    assert (spoken.v, spoken.seq, curated.seq) == (2, 1, 2)
    assert spoken.recorded_at == curated.recorded_at == curated.ts == LATER
    assert spoken.ts == NOW  # when it happened stays
    assert spoken.workspace_root == STAMP.workspace_root
    assert spoken.workspace_id == STAMP.workspace_id
    assert spoken.replica_id == STAMP.replica_id
    assert curated.event_id == curated_event_id(replica_id=STAMP.replica_id, seq=2, recorded_at=LATER)
    assert len(spoken.salt) == 32
    assert spoken.salt != curated.salt


def test_the_writers_stamp_replaces_what_a_draft_claims(kept):
    """An event that enters this log belongs to this workspace, whatever file it was taken from."""
    [entry] = append(kept, turn("hello", workspace_id="another", workspace_root="/elsewhere", hash="0" * 64))

    assert entry.event.workspace_id == STAMP.workspace_id
    assert entry.event.workspace_root == STAMP.workspace_root
    assert findings(kept) == []


def test_head_moves_with_every_append_and_is_the_same_for_readers(kept):
    with kept.log.writing(purpose="test") as writer:
        writer.append([turn("one")], recorded_at=NOW)
        [last] = writer.append([turn("two", index=1)], recorded_at=NOW)

        assert writer.head == kept.log.head() == Head(seq=2, hash=last.event.hash, size=len(kept.bytes()))


def test_an_empty_batch_writes_nothing(kept):
    assert append(kept) == []
    assert kept.bytes() == b""


def test_a_reader_can_go_on_from_an_earlier_head(kept):
    append(kept, turn("old"))
    head = kept.log.head()
    written = append(kept, turn("new", index=1))

    assert list(kept.log.entries(head.size)) == written
    assert list(kept.log.entries(kept.log.head().size)) == []


@pytest.mark.parametrize("offset", [1, 5, 10_000, -1])
def test_a_position_where_no_line_begins_is_refused(kept, offset):
    """FC-I10: the log went back to an older or another version under a reader."""
    append(kept, turn("one"))

    with pytest.raises(PositionLost):
        kept.log.entries(offset)
    with pytest.raises(PositionLost):
        kept.log.entry_at(offset)


def test_there_is_no_entry_at_the_end(kept):
    append(kept, turn("one"))

    with pytest.raises(PositionLost):
        kept.log.entry_at(kept.log.head().size)


def test_what_is_read_was_settled_when_the_reading_began(kept):
    """A reader answers from a consistent prefix while a writer goes on."""
    written = append(kept, turn("before"))
    forward, backward = kept.log.entries(), kept.log.entries_backward()
    append(kept, turn("after", index=1))

    assert list(forward) == list(backward) == written


def test_a_line_that_is_being_written_is_not_read(kept):
    written = append(kept, turn("whole"))
    kept.put(kept.bytes() + b'{"event":"conversation_turn","v":2,"te')

    assert list(kept.log.entries()) == list(kept.log.entries_backward()) == written
    assert kept.log.unfinished() == 38


def test_a_writer_is_of_no_use_after_its_lock(kept):
    with kept.log.writing(purpose="test") as writer:
        pass

    with pytest.raises(WriterClosed):
        writer.append([turn()], recorded_at=NOW)
    assert kept.bytes() == b""


def test_two_writers_of_one_process_exclude_each_other(kept):
    with (
        kept.log.writing(purpose="sync"),
        pytest.raises(LockTimeout, match=r"pid \d+ .*sync"),
        kept.log.writing(purpose="decide", wait_s=0),
    ):
        pytest.fail("two writers at once")


def test_the_lock_is_free_after_an_error_inside(kept):
    with pytest.raises(ZeroDivisionError), kept.log.writing(purpose="test"):
        raise ZeroDivisionError

    assert len(append(kept, turn())) == 1


def test_threads_append_one_after_the_other(kept):
    """FC-N09: two agents finish in the same second."""

    def agent(name):
        for index in range(20):
            append(kept, turn(f"{name} {index}", index=index, session=name))

    threads = [threading.Thread(target=agent, args=(name,)) for name in ("claude", "codex", "grok")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [entry.event.seq for entry in kept.log.entries()] == list(range(1, 61))
    assert sorted(texts(kept)) == sorted(f"{n} {i}" for n in ("claude", "codex", "grok") for i in range(20))
    assert findings(kept) == []


def test_a_clock_that_goes_back_changes_no_order(kept):
    """FC-N13: positions count, not clocks."""
    append(kept, goal("one"), at="2026-03-01T10:00:00.000Z")
    append(kept, goal("two"), at="2026-03-01T09:00:00.000Z")

    assert [(e.event.seq, e.event.goal) for e in kept.log.entries()] == [(1, "one"), (2, "two")]
    assert len({e.event.event_id for e in kept.log.entries()}) == 2
    assert findings(kept) == []


def test_lone_surrogates_become_replacement_characters_and_are_flagged(kept):
    """FC-C01: a JavaScript agent cut a string inside an emoji; the log must stay valid UTF-8."""
    [entry] = append(kept, turn("done \ud83d", cwd="/w/\udcff", flags=("private_removed",)))

    assert entry.event.text == "done \ufffd"
    assert entry.event.cwd == "/w/\ufffd"
    assert entry.event.flags == ("private_removed", "surrogates_replaced")
    assert list(kept.log.entries()) == [entry]
    kept.bytes().decode("utf-8")
    assert findings(kept) == []


def test_control_characters_and_line_separators_are_kept(kept):
    """FC-C04: the log keeps text losslessly, and one event stays one line."""
    text = "\x1b[2J\x1b]0;t\x07 \b \r\n\t \x9b \u2028 \x00 end"

    append(kept, turn(text), turn("next", index=1))

    assert texts(kept) == [text, "next"]
    assert kept.bytes().count(b"\n") == 2


def test_none_and_empty_are_two_things(kept):
    """An update that clears a field is not one that leaves it alone."""
    [entry] = append(kept, TaskUpdated(task_id="CONV-001", next_step=""))

    assert entry.event.next_step == ""
    assert entry.event.title is None
    assert findings(kept) == []


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (turn(model=3), "wrong type"),
        (turn(index=2**60), "2\\^53"),
        (ConversationTurn(text="no id"), "event_id"),
        (UnknownEvent(name="redaction.applied"), "only be read"),
    ],
    ids=["wrong type", "integer beyond the profile", "turn without an id", "a name of tomorrow"],
)
def test_a_batch_with_a_bad_draft_is_refused_whole(kept, draft, why):
    with pytest.raises(BadDraft, match=why):
        append(kept, turn("good"), draft)

    assert kept.bytes() == b""


@pytest.mark.parametrize("moment", ["", "now", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000+01:00"])
def test_the_time_of_recording_has_one_form(kept, moment):
    with pytest.raises(BadDraft):
        append(kept, turn(), at=moment)


def test_a_log_of_the_older_tool_is_continued(kept):
    """Its lines stay byte for byte; the first new line commits to all of them."""
    old = v1_1_log()
    kept.put(old)

    head = kept.log.head()
    [entry] = append(kept, turn("new"))

    assert head == Head(seq=29, hash="", size=len(old))
    assert kept.bytes().startswith(old)
    assert entry.event.seq == 30
    assert findings(kept) == []
    assert list(kept.log.entries_backward()) == list(kept.log.entries())[::-1]
    assert [e.event.seq for e in kept.log.entries()] == list(range(1, 31))


@pytest.mark.parametrize("at", [0, 100, 5000, -2])
def test_a_changed_byte_in_the_old_lines_breaks_the_first_new_link(kept, at):
    kept.put(v1_1_log())
    append(kept, turn("new"), turn("newer", index=1))
    changed = bytearray(kept.bytes())
    position = at if at >= 0 else len(v1_1_log()) + at
    changed[position] ^= 1

    kept.put(bytes(changed))

    assert ("broken_hash", 30) in damage(kept)
    assert ("broken_hash", 31) not in damage(kept)


def test_an_old_line_written_after_new_ones_is_reported_and_left(kept):
    """The older tool's hooks may still be installed; its lines are never chained and never lost."""
    append(kept, turn("new"))
    foreign = v1_1_log().splitlines(keepends=True)[2]
    kept.put(kept.bytes() + foreign)
    append(kept, turn("newer", index=1))

    assert foreign in kept.bytes()
    assert texts(kept) == ["new", "newer"]
    assert [(u.line_no, u.reason) for u in unreadable(kept)] == [(2, "a v1.1 line after v2 lines")]
    assert damage(kept) == [("unreadable", 2)]
    backward = list(kept.log.entries_backward())
    assert [type(e).__name__ for e in backward] == ["Entry", "Unreadable", "Entry"]


def test_reading_on_from_the_middle_tells_old_lines_from_foreign_ones(kept):
    kept.put(v1_1_log())
    middle = list(kept.log.entries())[10]
    foreign = v1_1_log().splitlines(keepends=True)[2]

    assert next(kept.log.entries(middle.offset)) == middle == kept.log.entry_at(middle.offset)

    [first] = append(kept, turn("new"))
    kept.put(kept.bytes() + foreign)
    start = first.offset + len(first.line) + 1
    [line] = kept.log.entries(start)
    assert (line.line_no, line.reason) == (31, "a v1.1 line after v2 lines")
    assert kept.log.entry_at(start) == line


def test_an_event_from_a_newer_version_is_kept_and_carried_on(kept):
    """Its hash is taken as given: this version cannot know its rules."""
    append(kept, turn("one"))
    newer = {"event": "redaction.applied", "v": 3, "seq": 2, "hash": "ab" * 32, "policy": "p", "x": 1}
    kept.put(kept.bytes() + json.dumps(newer).encode() + b"\n")
    [entry] = append(kept, turn("three", index=1))

    unknown = list(kept.log.entries())[1]
    assert isinstance(unknown.event, UnknownEvent)
    assert unknown.event.name == "redaction.applied"
    assert unknown.fields["policy"] == "p"
    assert entry.event.seq == 3
    assert [(f.kind, f.is_damage) for f in findings(kept)] == [("not_checked", False)]


def test_a_blank_line_is_no_event_and_no_damage(kept):
    append(kept, turn("one"))
    kept.put(kept.bytes() + b"\n\r\n  \n")
    append(kept, turn("two", index=1))

    assert texts(kept) == ["one", "two"]
    assert [line_no for line_no, _ in kept.log.numbered()] == [1, 5]
    assert findings(kept) == []


@pytest.mark.parametrize("size", [1, 100, 65_535, 65_536, 65_537, 1 << 20, 3 << 20])
def test_lines_of_any_length_are_read_in_both_directions(kept, size):
    """FC-N06: blocks end anywhere within a line."""
    words = ["a", "b" * size, "c", "d" * size, "e"]
    written = append(kept, *(turn(text, index=i) for i, text in enumerate(words)))

    assert list(kept.log.entries()) == written
    assert list(kept.log.entries_backward()) == written[::-1]
    assert findings(kept) == []


def test_a_fingerprint_tells_this_log_from_another(kept):
    """A cache built from a log must know whether it is still that log."""
    append(kept, turn("first"), goal())
    size = kept.log.head().size
    before = kept.log.fingerprint(size)

    append(kept, turn("second", index=1))

    assert kept.log.fingerprint(size) == before
    assert kept.log.fingerprint(kept.log.head().size) != before
    assert kept.log.fingerprint(kept.log.head().size + 1) == ""
