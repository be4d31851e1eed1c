"""Copilot CLI's event streams: which events are the conversation, and where a session is when it is said."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from builders.copilot_cli import OTHER, TEA, Session, opened, read, texts, turns
from conversation_esaa.agents import copilot_cli
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn


def talk(session: Session | None = None) -> Session:
    return (session or Session()).typed("Name a herb.").answered("Mint.")


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_a_turn_says_who_where_when_and_with_what():
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=copilot_cli.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=talk().records[4]["id"],
        message_ref="m-4",
        said_at="2026-01-02T03:04:09.000Z",
        cwd="/home/dev/tea",
        git_branch="main",
        git_commit="c0ffee",
        model="demo",
        agent_version="1.0.102",
    )


def test_a_prompt_is_what_was_typed_and_not_what_the_model_got():
    """FC-E02: time, reminders and what hooks add stand in `transformedContent`, which is not read."""
    found = read(talk().records)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)


def test_all_other_events_are_not_conversation():
    """FC-E04: what hooks, tools and skills say stays out, and so does what a version writes that is known."""
    session = talk()
    for kind in sorted(copilot_cli.KNOWN_INVISIBLE):
        session.event(kind, content="CANARY", output={"additionalContext": "CANARY"})
    session.answer("").answer(" \n").event("assistant.message", content=None)
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


def test_what_a_version_adds_tomorrow_is_counted_and_not_read():
    state = opened()
    session = Session().event("assistant.song", content="CANARY").prompt("CANARY", source="oracle-7")

    assert read([*session.records, 7], state) == []
    assert state.unknown == {"assistant.song": 1, "user.message of source oracle": 1, "<int>": 1}


@pytest.mark.parametrize("source", ["skill-pdf", "skill", "agent-7", "autopilot", "system", "command"])
def test_a_prompt_that_the_program_wrote_is_told_by_its_source(source):
    """FC-E05: a skill's text and a prompt between agents come in the user's name."""
    state = opened()

    assert read(Session().prompt("CANARY", source=source).records, state) == []
    assert state.unknown == {}


@pytest.mark.parametrize("source", ["user", None])
def test_a_prompt_of_the_user_is_read_whether_its_source_is_stated_or_not(source):
    assert texts(read(Session().prompt("Name a herb.", source=source).records)) == ["Name a herb."]


def test_the_prompts_of_autopilot_are_nobodys():
    assert read(Session().prompt("CANARY go on", isAutopilotContinuation=True).records) == []


def test_what_sub_agents_say_is_not_conversation():
    """FC-D02: older versions name the tool call that started them, newer ones the sub-agent."""
    session = talk().answer("CANARY", parentToolCallId="c-1").answer("CANARY", agent="a-1")
    session.prompt("CANARY", agent="a-1").event("session.compaction_complete", agent="a-1", success=True)
    session.event("session.model_change", agent="a-1", newModel="small").event("aside", agent="a-1")
    session.event("session.context_changed", agent="a-1", cwd="/elsewhere").typed("Another?")
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint.", "Another?"]
    assert {(turn.model, turn.cwd) for turn in turns(found)} == {("demo", "/home/dev/tea")}
    assert [mark.kind for mark in marks(found)] == [MarkKind.STARTED]
    assert state.unknown == {"aside": 1}


def test_text_that_looks_like_a_wrapper_is_somebodys():
    """Marks decide, not the text."""
    text = "<system_reminder>what is this?</system_reminder>"

    assert texts(read(Session().typed(text).records)) == [text]


def test_each_turn_has_the_directory_that_the_session_was_in_when_it_was_said():
    """A session may be resumed elsewhere, and may change its directory in between."""
    session = talk().resumed("/home/dev/tea/pkg").typed("And here?")
    session.event("session.context_changed", cwd="/elsewhere", branch="side").typed("And there?")

    found = turns(read(session.records))

    assert [turn.cwd for turn in found] == ["/home/dev/tea"] * 2 + ["/home/dev/tea/pkg", "/elsewhere"]
    assert [turn.git_branch for turn in found] == ["main", "main", "main", "side"]


def test_a_session_starts_once_and_is_compacted_when_that_succeeded():
    session = talk().event("session.compaction_start").event("session.compaction_complete", success=True)
    session.resumed("/home/dev/tea").event("session.compaction_complete", success=False).typed("Another?")

    found = marks(read(session.records))

    assert [mark.kind for mark in found] == [MarkKind.STARTED, MarkKind.COMPACTED]
    assert found[0].said_at == "2026-01-02T03:04:05.000Z"
    assert found[1].source_ref


def test_the_model_may_change():
    session = Session().event("session.model_change", newModel="other").typed("Name a herb.")

    assert turns(read(session.records))[0].model == "other"


def test_an_id_that_is_no_uuid_is_one_of_its_session():
    """FC-D05."""
    session = talk()
    session.records[1]["id"] = "e2"

    assert turns(read(session.records))[0].source_ref == f"{TEA}/e2"


@pytest.mark.parametrize("value", [None, 7, [], {}, "half \ud83d"])
@pytest.mark.parametrize("key", ["id", "timestamp", "data"])
def test_a_field_of_another_shape_hinders_nothing(key, value):
    """FC-N14, FC-C01."""
    session = talk()
    for record in session.records[:2]:
        record[key] = value
    state = opened()

    found = read(session.records, state)

    assert texts(found)[-1] == "Mint."
    assert msgspec.json.encode(state)


# Where the files are


def found_in(home: Path) -> list[str]:
    return [file.session_id for file in copilot_cli.session_files(home, ["/home/dev/tea"])]


def test_every_session_is_listed_for_any_of_them_may_have_been_resumed_here(tmp_path):
    talk().save(tmp_path)
    talk(Session(OTHER, cwd="/elsewhere")).save(tmp_path)

    assert found_in(tmp_path) == [TEA, OTHER]


def test_only_event_streams_are_sessions_and_older_ones_may_lie_flat(tmp_path):
    path = talk().save(tmp_path)
    (path.with_name("checkpoints")).mkdir()
    (path.with_name("other.jsonl")).write_text('{"CANARY":1}\n')
    (path.parents[1] / "empty").mkdir()
    (path.parents[1] / "notes.txt").write_text("CANARY")
    path.with_name("flat").write_text("")
    os.link(path, path.parents[1] / f"{OTHER}.jsonl")
    (tmp_path / "history-session-state").mkdir()
    (tmp_path / "history-session-state" / "session_1.json").write_text("{}")

    assert found_in(tmp_path) == [TEA, OTHER]
    assert copilot_cli.unlisted(tmp_path) == {
        "sessions of 2025 in one JSON document (history-session-state)": 1
    }


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    folder = talk().save(tmp_path / "real").parent
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (folder.parent / "01-twin").symlink_to(folder)
    (folder.parent / "circle").symlink_to(folder.parent / "circle")

    (file,) = copilot_cli.session_files(tmp_path / "home", ["/home/dev/tea"])

    assert (file.session_id, file.path.resolve()) == (TEA, folder / "events.jsonl")


def test_long_lines_of_tools_are_passed_over_without_being_decoded():
    """FC-B04."""
    glances = [copilot_cli.glance(json.dumps(record).encode(), opened()) for record in talk().records]

    assert glances == [False, False, True, True, False, True]
