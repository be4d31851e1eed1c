"""From a turn to an event: what is taken out, what is cut, and what names it for ever."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.capture.drafts import home_relative, mark_event, turn_event
from conversation_esaa.events import SessionCompacted, SessionEnded, SessionStarted
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

SAID = Turn(
    source="codex",
    source_session_id="s-1",
    source_index=3,
    actor=Actor.USER,
    text="Which port does the tea server use?",
    copy_keys=("k1",),
    said_at="2026-03-01T10:00:00.000Z",
    cwd="/w/app",
)


def drafted(limit: int = 1_000, **more):
    return turn_event(msgspec.structs.replace(SAID, **more), source_path="~/x.jsonl", max_characters=limit)


def test_a_plain_turn_is_kept_as_it_was_said():
    """Verbatim, with its summary, and nothing is flagged."""
    event = drafted(text="Two\n  lines ")

    assert (event.text, event.summary, event.flags) == ("Two\n  lines ", "Two lines", ())
    assert event.agent_id == "codex"


@pytest.mark.parametrize(
    "text", ["<private>x</private>", " <PRIVATE>x", f"{begin_line(3, 'ab')}\nx\n{end_line(3)}"]
)
def test_a_turn_of_which_nothing_may_be_stored_is_no_event(text):
    """FC-K03, FC-E07."""
    assert drafted(text=text) is None


def test_neither_identity_nor_copy_keys_keep_a_trace_of_what_was_private():
    """FC-K03: a digest over the private words could be guessed from."""
    one, other = (drafted(text=f"Use <private>{secret}</private> it.") for secret in ("alpha", "omega"))

    assert one == other
    assert one.copy_keys == ()
    assert one.text == "Use  it."


def test_the_limit_is_no_part_of_the_identity():
    """So a file that is read again under another limit gives no second turn."""
    assert drafted(limit=5).event_id == drafted().event_id
    assert drafted(limit=5).text.startswith("Which\n[… 30 characters left out")
    assert drafted(limit=5).flags == ("cut",)


def test_a_turn_without_a_moment_is_flagged():
    """The writer puts in the time of capture, and readers can tell."""
    assert drafted(said_at="").flags == ("time_of_capture",)


@given(st.text(st.characters(), max_size=60), st.text(st.characters(), max_size=10))
def test_any_text_becomes_an_event_that_can_be_written_or_none(text, ref):
    """Half characters, controls, markers of ours: the log takes it, and takes it the same way twice."""
    first = drafted(text=text, source_ref=ref, source_session_id=ref)

    assert first == drafted(text=text, source_ref=ref, source_session_id=ref)
    if first is not None:
        first.text.encode()
        assert len(first.event_id) == 64


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        (MarkKind.STARTED, SessionStarted),
        (MarkKind.ENDED, SessionEnded),
        (MarkKind.COMPACTED, SessionCompacted),
    ],
)
def test_a_mark_becomes_the_event_of_its_kind(kind, event):
    """Spoken by nobody."""
    mark = SessionMark(source="grok", source_session_id="s\ud800", kind=kind, trigger="auto", forked_from="p")

    found = mark_event(mark, source_path="~/x")

    assert type(found) is event
    assert found.actor == "system"


def test_a_path_below_home_names_no_user(tmp_path):
    """What lies elsewhere is written out."""
    assert home_relative(tmp_path / "a" / "b.jsonl", tmp_path) == "~/a/b.jsonl"
    assert home_relative(tmp_path, tmp_path / "home") == tmp_path.as_posix()
