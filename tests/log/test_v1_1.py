"""Logs of the older tool: every line of the synthetic one, and the oddities of real ones."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.log import InMemory, turn, v1_1_log
from conversation_esaa.events import ConversationTurn, Entry, UnknownEvent, event_name
from conversation_esaa.log.v1_1 import Visibility, turn_key, v1_1_turn_keys, visible

ROOTS = ["/w/app"]


def log_of(*lines: object) -> InMemory:
    kept = InMemory()
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    kept.put(b"".join(line + b"\n" for line in raw))
    return kept


def entries(kept: InMemory) -> list[Entry]:
    found = list(kept.log.entries())
    assert all(isinstance(entry, Entry) for entry in found)
    return found


@pytest.fixture
def golden() -> list[Entry]:
    return entries(log_of(*v1_1_log().splitlines()))


def line(golden, number):
    return golden[number - 1].event


def test_every_line_of_the_golden_log_is_an_event(golden):
    assert [entry.event.seq for entry in golden] == list(range(1, 30))
    assert {entry.event.v for entry in golden} == {1}
    assert len({e.event.event_id for e in golden} - {""}) == 27
    assert Counter(event_name(e.event) for e in golden) == {
        "conversation_turn": 13,  # with the one pre_compact_sync
        "decision.recorded": 3,
        "task.created": 3,
        "task.updated": 2,
        "task.closed": 1,
        "topic.created": 2,
        "topic.updated": 1,
        "topic.event.linked": 3,
        "topic.closed": 1,
    }


def test_what_is_visible_of_the_golden_log(golden):
    """The foreign line L10 and L21, a native step that is in the log twice, are not."""
    counted = Visibility()

    shown = list(visible(golden, ROOTS, counted))

    assert [e.event.seq for e in shown] == [n for n in range(1, 30) if n not in {10, 21}]
    assert counted == Visibility(foreign=1, shadowed=1, unreadable=0)
    assert Counter(e.event.agent_id for e in shown) == {
        "grok": 9,
        "codex": 8,
        "claude-code": 3,
        "antigravity": 1,
        None: 6,
    }
    sources = Counter(getattr(e.event, "source", "") for e in shown)
    assert sources == {"codex": 3, "claude-code": 3, "grok": 2, "antigravity": 2, "curated": 2, "": 15}
    assert sum(isinstance(e.event, ConversationTurn) for e in shown) == 11


def test_the_oddities_of_the_golden_log(golden):
    legacy = line(golden, 1)
    assert (legacy.event_id, legacy.agent_id, legacy.workspace_root, legacy.source) == ("", None, "", "")
    assert line(golden, 2).ts == "2026-06-18T12:00:30.500Z"
    assert line(golden, 3).ts == "2026-06-21T13:00:00.000Z"
    assert line(golden, 3).agent_id is None
    assert len(line(golden, 8).summary) == 200
    assert len(line(golden, 8).text) == 254
    assert (line(golden, 12).agent_id, line(golden, 12).source) == ("claude-code", "claude-code")
    assert (line(golden, 16).rationale, line(golden, 16).topic_ids) == ("", ("TOP-001",))
    assert line(golden, 17).topic_ids == ("TOP-001",)
    assert line(golden, 23).event_ids == (line(golden, 19).event_id,)
    assert line(golden, 28).topic_ids == ("TOP-002", "TOP-404")
    assert line(golden, 29).related_turns == (line(golden, 28).event_id, line(golden, 19).event_id)


def test_the_bytes_stay_as_they_were_written(golden):
    assert [e.line for e in golden] == v1_1_log().splitlines()
    assert golden[11].fields["event"] == "pre_compact_sync"
    assert golden[11].fields["source"] == "claude"


@pytest.mark.parametrize(
    ("root", "is_ours"),
    [
        ("/w/app", True),
        ("/w/app/", True),
        ("/W/App", True),  # the older tool compared without regard to case
        ("", True),
        ("/w/app2", False),
        ("/w", False),
        ("/w/app/sub", False),
    ],
)
def test_a_root_is_ours_or_foreign(root, is_ours):
    """FC-G11: a root that begins like ours is another one."""
    kept = log_of({"event": "conversation_turn", "text": "x", "workspace_root": root})

    assert bool(list(visible(kept.log.entries(), ROOTS))) is is_ours


def test_windows_roots_compare_whatever_their_slashes():
    kept = log_of({"event": "conversation_turn", "text": "x", "workspace_root": "C:\\Work\\App\\"})

    assert len(list(visible(kept.log.entries(), ["c:/work/app"]))) == 1


def test_every_root_the_workspace_ever_had_counts():
    kept = log_of(
        {"event": "conversation_turn", "text": "x", "workspace_root": "/old/app"},
        {"event": "conversation_turn", "text": "y", "workspace_root": "/w/app"},
    )

    assert len(list(visible(kept.log.entries(), ["/w/app", "/old/app"]))) == 2


def test_a_turn_without_a_whole_native_identity_shadows_nothing():
    kept = log_of(
        {"event": "conversation_turn", "text": "a", "source": "codex", "actor": "user"},
        {"event": "conversation_turn", "text": "b", "source": "codex", "actor": "user"},
    )

    assert len(list(visible(kept.log.entries(), ROOTS))) == 2


def test_new_lines_pass_whatever_their_root():
    """Capture let only ours in; the directory may have been moved since."""
    kept = InMemory()
    with kept.log.writing(purpose="test") as writer:
        writer.append([turn("a"), turn("a", source_ref="other")], recorded_at="2026-03-01T10:00:00.000Z")

    assert len(list(visible(kept.log.entries(), ["/moved"]))) == 2


def test_unreadable_lines_are_counted():
    """FC-A08: readers say how many lines they skipped."""
    kept, counted = log_of({"event": "conversation_turn", "text": "a"}, b"{broken", b"[]"), Visibility()

    assert len(list(visible(kept.log.entries(), ROOTS, counted))) == 1
    assert counted.unreadable == 2


def test_blank_and_unreadable_lines_count_as_positions():
    """The seq of a v1.1 line is its physical line number, so that no later line changes it."""
    kept = log_of({"event": "conversation_turn"}, b"", b"{broken", {"event": "conversation_turn"})

    assert [line.event.seq for line in kept.log.entries() if isinstance(line, Entry)] == [1, 4]
    assert [line.event.seq for line in kept.log.entries_backward() if isinstance(line, Entry)] == [4, 1]
    assert kept.log.head().seq == 4


def test_wrong_types_count_as_missing():
    """FC-N14: null, numbers and lists where words were meant."""
    [event] = [
        e.event
        for e in entries(
            log_of(
                {
                    "event": "conversation_turn",
                    "event_id": None,
                    "ts": 5,
                    "actor": ["user"],
                    "agent_id": {"a": 1},
                    "source": None,
                    "source_index": "7",
                    "text": None,
                    "summary": 1.5,
                    "topic_ids": "TOP-001",
                    "salt": "x",
                    "seq": 99,
                }
            )
        )
    ]

    assert event == ConversationTurn(seq=1, topic_ids=("TOP-001",))


def test_a_half_of_an_emoji_in_an_old_summary_is_replaced():
    """FC-C01: the older tool cut summaries at 200 UTF-16 units."""
    [entry] = entries(log_of(b'{"event":"conversation_turn","text":"x","summary":"x\\ud83d"}'))

    assert entry.event.summary == "x\ufffd"
    assert entry.fields["text"] == "x"


def test_an_old_event_name_that_nobody_knows_is_kept():
    [entry] = entries(log_of({"event": "hook.stop", "actor": "user"}))

    assert entry.event == UnknownEvent(name="hook.stop", seq=1, actor="user")


def test_a_bom_and_crlf_are_read():
    """FC-C02: an editor on Windows saved the log."""
    kept = log_of()
    kept.put(b"\xef\xbb\xbf" + v1_1_log().replace(b"\n", b"\r\n"))

    assert [e.event.seq for e in entries(kept)] == list(range(1, 30))
    assert entries(kept)[0].fields["actor"] == "user"


def test_a_last_event_without_its_line_feed_counts():
    """Somebody edited the log by hand; what it says is still there for readers, and for the next writer."""
    kept = log_of()
    kept.put(v1_1_log().rstrip(b"\n"))

    head = kept.log.head()

    assert (head.seq, head.size) == (29, len(kept.bytes()))
    assert [e.event.seq for e in entries(kept)] == list(range(1, 30))
    assert list(kept.log.entries_backward()) == entries(kept)[::-1]
    with kept.log.writing(purpose="test") as writer:
        [entry] = writer.append([turn()], recorded_at="2026-03-01T10:00:00.000Z")
    assert writer.recovered is not None
    assert writer.recovered.quarantined == ""
    assert kept.bytes().startswith(v1_1_log())
    assert list(kept.log.entries(head.size)) == [entry]


def test_capture_recognises_what_the_older_tool_captured(golden):
    keys = {key for entry in golden if (key := v1_1_turn_keys(entry))}

    assert turn_key("claude-code", "k-001", "user", "  Review the installer for the workspace.\n") in keys
    assert (
        turn_key("claude-code", "k-001", "assistant", "Review the installer for the workspace.") not in keys
    )
    assert len(keys) == 11  # 13 turns, one without a source, one step twice


def test_only_turns_of_the_older_tool_have_such_keys():
    kept = InMemory()
    with kept.log.writing(purpose="test") as writer:
        [entry] = writer.append([turn()], recorded_at="2026-03-01T10:00:00.000Z")

    assert v1_1_turn_keys(entry) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(
    [
        "event",
        "ts",
        "agent_id",
        "source",
        "event_ids",
        "linked_event_id",
        "topic_id",
        "topic_ids",
        "text",
        "v",
    ]
)
names = st.sampled_from(
    ["conversation_turn", "pre_compact_sync", "topic.event.linked", "decision.recorded", "x"]
)


@given(st.dictionaries(keys, json_values), names)
def test_no_old_line_can_stop_a_reader(fields, name):
    kept = log_of({"event": name, **fields})

    assert len(list(visible(kept.log.entries(), ROOTS))) <= 1
