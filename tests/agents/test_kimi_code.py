"""Kimi Code CLI's streams: which records are the conversation, and whose prompts are a person's."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from builders.kimi_code import FORK, TEA, Session, opened, read, texts, turns
from conversation_esaa.agents import kimi_code
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn


def talk(session: Session | None = None) -> Session:
    return (session or Session()).typed("Name a herb.").answered("Mint.")


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_a_turn_says_who_where_when_and_with_what():
    records = talk().records

    found = turns(read(records))

    assert found[0].source_ref == records[2]["promptId"]
    assert found[1] == Turn(
        source=kimi_code.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=records[6]["event"]["uuid"],
        message_ref="step-1",
        said_at="2026-01-02T03:04:05.600Z",
        cwd="/home/dev/tea",
        model="demo",
    )


def test_reasoning_tools_reminders_and_what_repeats_a_message_are_not_conversation():
    """FC-E04: what the model got holds every prompt again, with reminders in the user's name."""
    session = talk()
    for kind in sorted(kimi_code.KNOWN_INVISIBLE):
        if kind.startswith("event/"):
            session.event(kind.removeprefix("event/"), text="CANARY")
        elif kind.startswith("part/"):
            session.part(kind.removeprefix("part/"), text="CANARY")
        else:
            session.record(kind, text="CANARY", message={"role": "user", "content": "CANARY"})
    state = opened()

    found = read(session.compacted().records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


@pytest.mark.parametrize(
    "kind", ["system_trigger", "skill_activation", "plugin_command", "cron", "task", "injection", "retry"]
)
@pytest.mark.parametrize("how", ["turn.prompt", "turn.steer"])
def test_a_prompt_that_nobody_typed_is_told_by_its_origin(kind, how):
    """FC-E05."""
    state = opened()

    assert read(Session().prompt("CANARY", how, kind=kind).records, state) == []
    assert state.unknown == {}


def test_what_a_version_adds_tomorrow_is_counted_and_not_read():
    state = opened()
    session = Session().record("song", text="CANARY").event("hum").part("smell", text="CANARY")
    session.prompt("CANARY", kind="oracle").record("turn.prompt", input=[])

    assert read([*session.records, 7], state) == []
    assert state.unknown == {
        "song": 1,
        "event/hum": 1,
        "part/smell": 1,
        "a prompt of origin oracle": 1,
        "a prompt of origin ": 1,
        "<int>": 1,
    }


def test_what_is_typed_while_the_model_works_is_a_prompt():
    assert texts(read(talk().steered("Only one.").records)) == ["Name a herb.", "Mint.", "Only one."]


def test_the_texts_of_skills_that_a_prompt_brings_along_are_taken_out():
    """They are the first text parts, as many as the origin names."""
    parts = [{"type": "text", "text": text} for text in ("CANARY one", "CANARY two", "For the garden.")]
    activations = [{"name": "herbs"}, {"name": "soil"}]

    assert texts(read(Session().prompt(parts, skillActivations=activations).records)) == ["For the garden."]


def test_pictures_and_their_tags_add_nothing():
    parts = [
        {"type": "text", "text": text} for text in ("See ", '<image path="/x.png">', "</image>", "this.")
    ]
    parts.insert(2, {"type": "image_url", "imageUrl": {"url": "CANARY"}})

    assert texts(read(Session().prompt(parts).records)) == ["See this."]


def test_what_another_agent_says_in_the_stream_is_not_conversation():
    """FC-D02."""
    session = talk().record("turn.prompt", agent="agent-0", input=[{"type": "text", "text": "CANARY"}])

    assert texts(read(session.records)) == ["Name a herb.", "Mint."]


def test_prompts_that_were_taken_over_from_kimi_cli_are_left_to_its_own_log():
    """They all bear the moment at which their file was made; what is typed afterwards does not."""
    session = Session().typed("CANARY").typed("CANARY")
    for record in session.records[1:]:
        record["time"] = session.records[0]["created_at"]
    session.typed("Another?").answered("Sage.")

    assert texts(read(session.records)) == ["Another?", "Sage."]


def test_a_fork_keeps_ids_so_its_copies_are_its_parents_turns(tmp_path):
    """FC-D01: and what was compacted before it was compacted there."""
    parent = talk().compacted()
    fork = parent.forked().typed("What if?").compacted()
    state = kimi_code.open_session(kimi_code.SessionFile(path=fork.save(tmp_path), session_id=FORK))

    found = read(fork.records, state)

    ids = [turn_event_id(turn) for turn in turns(found)]
    assert ids[:2] == [turn_event_id(turn) for turn in turns(read(parent.records))]
    assert len(set(ids)) == 3
    started, compacted = marks(found)
    assert (started.kind, started.forked_from, started.source_session_id) == (MarkKind.STARTED, TEA, FORK)
    assert (compacted.kind, compacted.source_ref) == (MarkKind.COMPACTED, f"compaction@{fork.at_ms}")


def test_older_versions_give_prompts_no_id_and_their_moment_names_them():
    session = talk()
    del session.records[2]["promptId"]

    assert turns(read(session.records))[0].source_ref == f"turn.prompt@{session.records[2]['time']}"


def test_an_id_that_is_no_uuid_is_one_of_its_session():
    """FC-D05."""
    session = talk()
    session.records[6]["event"]["uuid"] = "p1"

    assert turns(read(session.records))[1].source_ref == f"{TEA}/p1"


@pytest.mark.parametrize("value", [None, 7, [], {}, "half \ud83d"])
@pytest.mark.parametrize("key", ["time", "origin", "input", "created_at", "modelAlias", "agentId"])
def test_a_field_of_another_shape_hinders_nothing(key, value):
    """FC-N14, FC-C01."""
    session = talk()
    for record in session.records[:3]:
        record[key] = value
    state = opened()

    found = read(session.records, state)

    assert texts(found)[-1] == "Mint."
    assert msgspec.json.encode(state)


# Side files, and where the files are


def found_in(home: Path) -> list[str]:
    return [file.session_id for file in kimi_code.session_files(home, ["/home/dev/tea"])]


@pytest.mark.parametrize("state", [{}, {"cwd": None, "workDir": "/home/dev/tea"}])
def test_the_state_file_tells_the_directory_in_either_spelling(tmp_path, state):
    talk().save(tmp_path, **state)

    (file,) = kimi_code.session_files(tmp_path, ["/home/dev/tea"])

    assert kimi_code.open_session(file).cwd == "/home/dev/tea"


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"cwd":7}', b"\xff\xfe"])
def test_without_a_readable_state_file_no_directory_is_guessed(tmp_path, content):
    """The gate refuses turns without one."""
    path = talk().save(tmp_path)
    state = path.parents[2] / "state.json"
    state.unlink() if content is None else state.write_bytes(content)

    (file,) = kimi_code.session_files(tmp_path, ["/home/dev/tea"])

    assert kimi_code.open_session(file).cwd == ""


def test_streams_of_sub_agents_are_not_listed(tmp_path):
    talk().save(tmp_path)
    talk(Session(FORK)).save(tmp_path).unlink()

    assert found_in(tmp_path) == [TEA]


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    folder = talk().save(tmp_path / "real").parents[2]
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (folder.parent / "01-twin").symlink_to(folder)
    (folder.parent / "circle").symlink_to(folder.parent / "circle")

    assert found_in(tmp_path / "home") == [TEA]


def test_long_lines_of_tools_are_passed_over_without_being_decoded():
    """FC-B04."""
    glances = [kimi_code.glance(json.dumps(record).encode(), opened()) for record in talk().records]

    assert glances == [False, False, False, True, True, False, False, True, True, True]
