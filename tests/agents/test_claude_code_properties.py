"""Claude Code: what holds for every file, however it looks and however it is cut."""

from __future__ import annotations

import itertools
import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from builders.claude_code import Session, file_of
from conversation_esaa.agents import claude_code
from conversation_esaa.agents.claude_code import KNOWN_INVISIBLE, State
from conversation_esaa.turn import MarkKind, SessionMark, Turn

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
texts = st.sampled_from(
    ["Brew?", "yes", "", " ", "<system-reminder>x</system-reminder>", "<task-notification>x", "\ud83d"]
)
kinds = st.sampled_from(
    ["user", "assistant", "attachment", "system", "queue-operation", *sorted(KNOWN_INVISIBLE)]
)
blocks = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "tool_result"]), "text": texts | json_values}
    )
    | json_values,
    max_size=3,
)
odd_records = st.fixed_dictionaries(
    {},
    optional={
        "type": kinds | json_values,
        "uuid": texts | json_values,
        "sessionId": texts | json_values,
        "cwd": texts | json_values,
        "version": st.sampled_from(["1.0.65", "1.0.120", "2.1.55", "2.1.332", "x"]) | json_values,
        "timestamp": st.just("2026-01-02T03:04:05.006Z") | json_values,
        "isMeta": st.booleans() | json_values,
        "origin": st.just({"kind": "human"}) | json_values,
        "message": st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant"]), "content": texts | blocks | json_values},
            optional={"id": texts | json_values, "model": texts | json_values},
        )
        | json_values,
        "attachment": st.fixed_dictionaries(
            {
                "type": st.just("queued_command"),
                "commandMode": st.just("prompt") | json_values,
                "prompt": texts | blocks | json_values,
            }
        )
        | json_values,
        "operation": st.sampled_from(["enqueue", "dequeue", "remove", "popAll"]) | json_values,
        "content": texts | json_values,
        "subtype": st.just("compact_boundary") | json_values,
        "compactMetadata": json_values,
    },
)


def stored(state: State) -> State:
    """The state as a cursor keeps it between two syncs."""
    return msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(state))), State)


@given(st.lists(odd_records | json_values, max_size=20))
def test_no_native_record_can_stop_a_sync(records):
    """Vendors change their logs without notice; the worst outcome is a turn we did not read."""
    state = claude_code.open_session(file_of())

    for found in claude_code.read(records, state):
        assert isinstance(found, SessionMark) or found.text.strip()
    stored(state)


steps = st.sampled_from(
    [
        "said",
        "said again",
        "answered",
        "thought",
        "tool",
        "compacted",
        "busy",
        "enqueue",
        "dequeue",
        "remove",
        "popAll",
    ]
)
versions = st.sampled_from(["1.0.65", "1.0.120", "2.0.77", "2.1.55", "2.1.80", "2.1.332"])


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    session = Session(version=draw(versions))
    for number, step in enumerate(draw(st.lists(steps, max_size=15))):
        match step:
            case "said":
                session.said(f"prompt {number}")
            case "said again":
                session.said("yes")
            case "answered":
                session.answered(f"answer {number}", f"msg_{number // 3}")
            case "thought":
                session.thought("CANARY", f"msg_{number // 3}")
            case "tool":
                session.tool_answered("CANARY")
            case "compacted":
                session.compacted()
            case "busy":
                session.typed_while_busy("yes")
            case "enqueue":
                session.queue("enqueue", draw(st.sampled_from(["yes", "no", "<task-notification>x"])))
            case operation:
                session.queue(operation)
    return session


@given(sessions(), st.lists(st.integers(0, 20), max_size=4))
def test_reading_in_pieces_gives_the_same_as_reading_at_once(session, cuts):
    """A sync may come at any moment; only where a prompt's copy key hangs may depend on it, and before
    1.0.93 alone (`read` says so)."""
    state = claude_code.open_session(file_of())
    pieces: list[Any] = []
    edges = [0, *sorted(min(cut, len(session.records)) for cut in cuts), len(session.records)]
    for start, end in itertools.pairwise(edges):
        pieces += claude_code.read(session.records[start:end], state)
        state = stored(state)

    whole_state = claude_code.open_session(file_of())
    whole = list(claude_code.read(session.records, whole_state))

    def without_keys(items: list[Any]) -> list[Any]:
        return [
            msgspec.structs.replace(item, copy_keys=()) if isinstance(item, Turn) else item for item in items
        ]

    assert without_keys(pieces) == without_keys(whole)
    if session.version != "1.0.65":
        assert pieces == whole
        assert state == whole_state
    assert all_keys(pieces) <= all_keys(whole)


def all_keys(items: list[Any]) -> set[str]:
    return {key for item in items if isinstance(item, Turn) for key in item.copy_keys}


@given(sessions())
def test_visible_records_are_numbered_without_gaps_behind_one_start(session):
    """The ordinal is identity where there is no id; a session starts once."""
    found = list(claude_code.read(session.records, claude_code.open_session(file_of())))

    indexes = [item.source_index for item in found if isinstance(item, Turn)]
    assert indexes == list(range(len(indexes)))
    starts = [
        at for at, item in enumerate(found) if isinstance(item, SessionMark) and item.kind is MarkKind.STARTED
    ]
    assert starts == ([0] if found else [])
    assert "CANARY" not in repr(found)
