"""Logs as crashes, editors, disks and other tools leave them: what is read, what is mended, what is said."""

from __future__ import annotations

import pytest

from builders.log import (
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
from conversation_esaa.events import Entry


@pytest.fixture(params=["on disk", "in memory"])
def kept(request, tmp_path):
    return OnDisk(tmp_path) if request.param == "on disk" else InMemory()


def recovered(kept):
    with kept.log.writing(purpose="test") as writer:
        return writer.recovered


def test_a_log_cut_at_any_byte_goes_on_without_loss(kept):
    """FC-A03: whatever a crash left, whole lines stay, torn bytes are kept aside, nothing is glued."""
    append(kept, turn("one"), goal(), turn("two → né", index=1))
    whole = kept.bytes()
    lines = whole.splitlines(keepends=True)
    places = range(len(whole) + 1) if isinstance(kept, InMemory) else range(0, len(whole) + 1, 17)
    for cut in places:
        kept.put(whole[:cut])
        already_aside = len(kept.quarantined())
        complete = [line for i, line in enumerate(lines) if len(b"".join(lines[: i + 1])) <= cut + 1]
        torn = whole[:cut][len(b"".join(complete)) :]

        append(kept, turn("after", index=2))

        assert kept.bytes().startswith(b"".join(complete)), cut
        assert kept.bytes().count(b"\n") == len(complete) + 1
        assert texts(kept)[-1] == "after"
        assert findings(kept) == []
        assert kept.quarantined()[already_aside:] == ([torn] if torn else [])
        if isinstance(kept, InMemory):
            kept.log.quarantined.clear()
        else:
            for path in kept.layout.quarantine.glob("*"):
                path.unlink()


def test_what_recovery_did_is_told(kept):
    append(kept, turn("one"))
    size = len(kept.bytes())
    kept.put(kept.bytes() + b'{"event":"conver')

    told = recovered(kept)

    assert (told.offset, told.length) == (size, 16)
    assert f"activity-{size}" in told.quarantined
    assert recovered(kept) is None
    assert kept.quarantined() == [b'{"event":"conver']


def test_the_torn_end_of_an_old_log_is_set_aside(kept):
    kept.put(v1_1_log()[:-10])

    append(kept, turn("new"))

    assert len(kept.quarantined()) == 1
    assert [e.event.seq for e in kept.log.entries()] == list(range(1, 30))
    assert findings(kept) == []


def test_a_whole_line_of_the_chain_that_only_lacks_its_line_feed_stays(kept):
    """The write was cut one byte short; what is there is whole and proves it."""
    written = append(kept, turn("one"), turn("two", index=1))
    kept.put(kept.bytes()[:-1])
    assert list(kept.log.entries()) == written[:1]

    assert recovered(kept).quarantined == ""
    assert list(kept.log.entries()) == written


def test_a_whole_line_that_does_not_continue_the_chain_is_set_aside(kept):
    append(kept, turn("one"), turn("two", index=1))
    lines = kept.bytes().splitlines(keepends=True)
    kept.put(lines[0] + lines[1] + lines[0].rstrip(b"\n"))

    append(kept, turn("three", index=2))

    assert kept.quarantined() == [lines[0].rstrip(b"\n")]
    assert findings(kept) == []


@pytest.mark.parametrize(
    "tail", [b"\0" * 4096, b" ", b"\xff\xfe", b"{}", b"null", b"[", b"\xef\xbb\xbf", b"{" * 50_000]
)
def test_any_other_bytes_at_the_end_are_set_aside(kept, tail):
    """Padding of a file system after a power cut, or somebody's stray bytes."""
    append(kept, turn("one"))
    kept.put(kept.bytes() + tail)

    append(kept, turn("two", index=1))

    assert kept.quarantined() == [tail]
    assert texts(kept) == ["one", "two"]
    assert findings(kept) == []


def test_the_same_torn_bytes_twice_are_kept_once(kept):
    for _ in range(2):
        kept.put(b"torn")
        assert recovered(kept).length == 4

    assert kept.quarantined() == [b"torn"]


@pytest.mark.parametrize("at", range(4))
def test_one_corrupt_line_hides_no_other(kept, at):
    """FC-A08: readers show every good event, say how many lines they skipped, and verify names the line."""
    append(kept, *(turn(str(i), index=i) for i in range(4)))
    lines = kept.bytes().splitlines(keepends=True)
    lines[at] = b"\xff" + lines[at][1:]
    kept.put(b"".join(lines))

    append(kept, turn("after", index=4))

    assert texts(kept) == [str(i) for i in range(4) if i != at] + ["after"]
    assert [(u.line_no, u.offset, u.length) for u in unreadable(kept)] == [
        (at + 1, len(b"".join(lines[:at])), len(lines[at]) - 1)
    ]
    # What the first link committed to is gone with the first line, so that cannot be taken for harmless.
    assert damage(kept) == [("unreadable", at + 1), *([("broken_hash", 2)] if at == 0 else [])]
    assert kept.bytes().startswith(b"".join(lines))  # left as it was found


def test_nul_bytes_within_the_log_cost_only_their_line(kept):
    append(kept, *(turn(str(i), index=i) for i in range(3)))
    lines = kept.bytes().splitlines(keepends=True)
    lines[1] = b"\0" * (len(lines[1]) - 1) + b"\n"
    kept.put(b"".join(lines))

    assert texts(kept) == ["0", "2"]
    assert unreadable(kept)[0].reason == "NUL bytes, as a crash leaves them"


def test_a_corrupt_old_line_keeps_its_place(kept):
    lines = v1_1_log().splitlines(keepends=True)
    lines[4] = b"{broken\n"
    kept.put(b"".join(lines))
    [entry] = append(kept, turn("new"))

    assert entry.event.seq == 30
    assert [(u.line_no, u.offset) for u in unreadable(kept)] == [(5, len(b"".join(lines[:4])))]
    assert [f.kind for f in findings(kept)] == ["unreadable"]
    backward = [e.event.seq for e in kept.log.entries_backward() if isinstance(e, Entry)]
    assert backward == [n for n in range(30, 0, -1) if n != 5]


def test_a_checkout_with_crlf_still_reads_verifies_and_goes_on(kept):
    append(kept, turn("one"), started(), turn("two", index=1))
    kept.put(kept.bytes().replace(b"\n", b"\r\n"))

    append(kept, turn("three", index=2))

    assert texts(kept) == ["one", "two", "three"]
    assert findings(kept) == []


def test_a_byte_order_mark_before_our_first_line_is_read_over(kept):
    append(kept, turn("one"))
    kept.put(b"\xef\xbb\xbf" + kept.bytes())
    append(kept, turn("two", index=1))

    assert texts(kept) == ["one", "two"]
    assert damage(kept) == []


def test_a_log_cut_after_a_whole_line_cannot_be_told_from_a_shorter_one(kept):
    """The chain alone cannot know; checkpoints and whoever remembers a head can. Said in the format page."""
    append(kept, turn("one"), turn("two", index=1))
    head = kept.log.head()
    kept.put(kept.bytes().splitlines(keepends=True)[0])

    assert findings(kept) == []
    assert kept.log.head().size < head.size


def test_changed_events_at_the_end_are_evidence_and_appends_go_on_behind_them(kept):
    append(kept, turn("one"), turn("two", index=1))
    forged = kept.bytes().replace(b'"actor":"user"', b'"actor":"asst"')
    kept.put(forged)

    append(kept, turn("three", index=2))

    assert kept.bytes().startswith(forged)
    assert damage(kept) == [("broken_hash", 1), ("broken_hash", 2)]


@pytest.mark.parametrize("garbage", [b"\n", b"\n\n\n", b"x\n", b"{}\n" * 3, b"\xef\xbb\xbf\n"])
def test_a_log_that_holds_nothing_of_ours_can_be_begun(kept, garbage):
    kept.put(garbage)

    [entry] = append(kept, turn("one"))

    assert entry.event.seq == garbage.count(b"\n") + 1
    assert kept.bytes().startswith(garbage)
    assert [f for f in findings(kept) if f.kind != "unreadable"] == []
    assert next(kept.log.entries_backward()) == entry
