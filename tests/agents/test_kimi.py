"""Kimi CLI's streams: which messages are the conversation, and which directory a session was held in."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from builders.kimi import FORK, TEA, Session, digest, opened, read, texts, turns
from conversation_esaa.agents import kimi
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn


def talk(session: Session | None = None) -> Session:
    return (session or Session()).typed("Name a herb.").answered("Mint.")


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_a_turn_says_who_where_and_when():
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=kimi.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref="1767323050.125/2",
        message_ref=f"{TEA}/1",
        said_at="2026-01-02T03:04:10.500Z",
        cwd="/home/dev/tea",
    )


def test_reasoning_tools_and_sub_agents_are_not_conversation():
    """FC-E04: only what a person or the model said to the other becomes a turn."""
    session = talk()
    for kind in sorted(kimi.KNOWN_INVISIBLE):
        if kind.startswith("ContentPart/"):
            session.part(kind.removeprefix("ContentPart/"), text="CANARY", think="CANARY")
        else:
            session.message(kind, text="CANARY", user_input="CANARY", question="CANARY")
    inner = {"type": "ContentPart", "payload": {"type": "text", "text": "CANARY"}}
    session.message("SubagentEvent", agent_id="a1", event=inner).compacted()
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


def test_what_a_version_adds_tomorrow_is_counted_and_not_read():
    state = opened()
    session = Session().message("Song", text="CANARY").part("smell", text="CANARY").message("ContentPart")

    assert read([*session.records, {"x": 1}, 7], state) == []
    assert state.unknown == {
        "Song": 1,
        "ContentPart/smell": 1,
        "ContentPart without a type": 1,
        "a line that is no message": 1,
        "<int>": 1,
    }


def test_what_is_typed_while_the_model_works_is_a_prompt():
    session = talk().message("SteerInput", user_input="Only one.").answered("Then mint.")

    assert texts(read(session.records)) == ["Name a herb.", "Mint.", "Only one.", "Then mint."]


def test_a_prompt_may_be_parts_and_pictures_add_nothing():
    """Each picture stands between two parts with a tag."""
    parts = [{"type": "text", "text": text} for text in ("See", '<image path="/x.png">', "</image>", "this")]
    parts.insert(2, {"type": "image_url", "image_url": {"url": "CANARY"}})

    assert texts(read(Session().typed(parts).records)) == ["See\nthis"]


def test_the_texts_of_one_step_share_it_and_those_of_the_next_do_not():
    session = talk().part("text", text="Or thyme.").answered("Sage.")

    refs = [turn.message_ref for turn in turns(read(session.records))]

    assert refs == ["", f"{TEA}/1", f"{TEA}/1", f"{TEA}/2"]


@pytest.mark.parametrize(
    "notice",
    [
        "<system-reminder>CANARY tasks have completed.</system-reminder>",
        "<system-reminder>\nCANARY\n</system-reminder>\n",
        "[Imported context from file 'CANARY.md']",
    ],
)
def test_notices_of_the_program_come_as_prompts_and_are_none(notice):
    """FC-E05."""
    assert texts(read(talk(Session().typed(notice)).records)) == ["Name a herb.", "Mint."]


def test_a_prompt_that_talks_about_reminders_is_somebodys():
    """FC-E02."""
    text = "Why <system-reminder>x</system-reminder> here?"

    assert texts(read(Session().typed(text).records)) == [text]


def test_the_prompt_that_a_command_makes_is_the_programs():
    """FC-E05: `/init` begins a turn of its own within the turn that called it, with a prompt nobody typed."""
    session = Session().typed("/init").message("TurnBegin", user_input="CANARY explore the project")
    session.answered("Explored.").message("TurnEnd").typed("Thanks.").answered("Welcome.")

    assert texts(read(session.records)) == ["/init", "Explored.", "Thanks.", "Welcome."]


def test_a_loop_of_prompts_gives_the_first_of_them_and_every_answer():
    session = Session().typed("Grow.")
    for number in (1, 2):
        session.message("TurnBegin", user_input=f"Grow. CANARY loop {number}")
        session.answered(f"Grown {number}.").message("TurnEnd")

    assert texts(read(session.records)) == ["Grow.", "Grown 1.", "Grown 2."]


@pytest.mark.parametrize("how", ["interrupted", "killed", "older version"])
def test_a_prompt_after_a_turn_without_an_end_is_somebodys(how):
    session = Session(protocol="1.1" if how == "older version" else "1.10").typed("Name a herb.")
    if how == "interrupted":
        session.message("StepInterrupted")
    elif how == "killed":
        session.at_s += 30
    session.message("TurnBegin", user_input="A short one.").answered("Mint.")

    assert texts(read(session.records)) == ["Name a herb.", "A short one.", "Mint."]


def test_a_session_starts_once_and_each_compaction_is_one():
    session = talk().compacted().typed("Another?").compacted()

    found = marks(read(session.records))

    assert [mark.kind for mark in found] == [MarkKind.STARTED, MarkKind.COMPACTED, MarkKind.COMPACTED]
    assert found[0].said_at == "2026-01-02T03:04:10.125Z"
    assert len({mark.source_ref for mark in found}) == 3


def test_a_fork_keeps_times_so_its_copies_are_its_parents_turns():
    """FC-D01: there are no ids; a turn is named by when its prompt was sent, and its place in it."""
    parent = talk().typed("Again!").answered("Mint.")
    fork = parent.forked().typed("Again!").answered("Mint.")

    ids = [[turn_event_id(turn) for turn in turns(read(session.records))] for session in (parent, fork)]

    assert ids[1][:4] == ids[0]
    assert len(set(ids[1])) == 6


def test_two_turns_of_one_moment_are_two():
    """A coarse clock."""
    session = Session().message("TurnBegin", user_input="one").message("TurnEnd")
    session.at_s -= 0.25
    session.message("TurnBegin", user_input="two")

    assert len({turn_event_id(turn) for turn in turns(read(session.records))}) == 2


@pytest.mark.parametrize("value", [None, True, -1, 1e300, "soon", []])
def test_without_a_moment_session_and_ordinal_name_a_turn(value):
    """FC-N14."""
    session = talk()
    for record in session.records[1:]:
        record["timestamp"] = value

    found = turns(read(session.records))

    assert texts(found) == ["Name a herb.", "Mint."]
    assert {(turn.source_ref, turn.said_at) for turn in found} == {("", "")}


@pytest.mark.parametrize("value", [None, 7, [], {}, "half \ud83d"])
@pytest.mark.parametrize("key", ["timestamp", "message", "type", "protocol_version"])
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


def found_in(home: Path, *roots: str) -> list[tuple[str, str]]:
    return [(file.session_id, file.cwd) for file in kimi.session_files(home, roots)]


def test_the_table_tells_the_directory_that_a_folders_name_is_the_digest_of(tmp_path):
    """All that are known are listed: the gate decides, also about a directory that a link leads to."""
    talk().save(tmp_path)
    talk(Session(FORK, cwd="/home/dev/ünï 日本 🚀")).save(tmp_path)

    assert sorted(found_in(tmp_path, "/home/dev/tea")) == [
        (TEA, "/home/dev/tea"),
        (FORK, "/home/dev/ünï 日本 🚀"),
    ]
    assert kimi.unlisted(tmp_path) == {}


@pytest.mark.parametrize("table", [None, b"", b"{", b"[]", b'{"work_dirs":7}', b'{"work_dirs":[7,{}]}'])
def test_without_a_table_a_root_is_known_by_its_own_digest(tmp_path, table):
    talk().save(tmp_path, listed=False)
    if table is not None:
        (tmp_path / "kimi.json").write_bytes(table)

    assert found_in(tmp_path, "/home/dev/tea/") == [(TEA, "/home/dev/tea")]
    assert found_in(tmp_path, "/home/dev") == []
    assert kimi.unlisted(tmp_path) == {"sessions of unknown directory (not in kimi.json)": 1}


def test_a_directory_of_another_machine_is_not_ours_though_it_has_the_same_name(tmp_path):
    path = talk().save(tmp_path, listed=False)
    path.parents[1].rename(tmp_path / "sessions" / f"ssh_{digest('/home/dev/tea')}")
    entry = {"path": "/home/dev/tea", "kaos": "ssh", "last_session_id": None}
    (tmp_path / "kimi.json").write_text(json.dumps({"work_dirs": [entry]}))

    assert found_in(tmp_path, "/home/dev/tea") == []
    assert kimi.unlisted(tmp_path) == {"sessions on other machines": 1}


def test_a_session_without_a_stream_is_counted(tmp_path):
    talk().save(tmp_path).unlink()

    assert found_in(tmp_path, "/home/dev/tea") == []
    assert kimi.unlisted(tmp_path) == {"sessions without a stream (wire.jsonl)": 1}


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    folder = talk().save(tmp_path / "real").parent
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (folder.parent / "01-twin").symlink_to(folder)
    (folder.parent / "circle").symlink_to(folder.parent / "circle")

    (file,) = kimi.session_files(tmp_path / "home", ["/home/dev/tea"])

    assert (file.session_id, file.path.resolve()) == (TEA, folder / "wire.jsonl")


def test_what_vanishes_meanwhile_is_skipped(tmp_path, monkeypatch):
    """FC-L02."""
    talk().save(tmp_path)
    talk(Session(FORK, cwd="/home/dev/tea/pkg")).save(tmp_path)
    listing = os.scandir

    def vanishing(folder):
        if str(folder).endswith(digest("/home/dev/tea/pkg")):
            raise FileNotFoundError(folder)
        return listing(folder)

    monkeypatch.setattr(os, "scandir", vanishing)

    assert [session for session, _ in found_in(tmp_path, "/home/dev/tea")] == [TEA]


def test_long_lines_of_tools_are_passed_over_without_being_decoded():
    """FC-B04: but not their moment, which a turn within a turn is told by."""
    state = opened()

    glances = [kimi.glance(json.dumps(record).encode(), state) for record in talk().records]

    assert glances == [False, False, False, False, False, True, True]
    assert state.at_s == talk().records[-1]["timestamp"]
