"""Qwen Code: which records are the conversation, and which files may hold it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from builders.qwen_code import TEA, Session, opened, read, texts
from builders.world import World
from conversation_esaa.agents import qwen_code
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "/home/dev/tea"
HANDOFF = f"{begin_line(3, 'ab' * 32)}\nCANARY <decisions> & tasks\n{end_line(3)}"


def talk() -> Session:
    return Session().typed("Name a herb.").tool_call("Let me look.").answered("Mint.")


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def test_prompts_and_answers_are_the_conversation():
    """FC-E04: no reasoning, no tool's answer, and not the telemetry that repeats the answer."""
    state = opened()
    found = turns(read(talk().record("system", "custom_title", systemPayload="CANARY").records, state))

    assert texts(found) == ["Name a herb.", "Let me look.", "Mint."]
    assert [turn.actor for turn in found] == [Actor.USER, Actor.ASSISTANT, Actor.ASSISTANT]
    assert state.unknown == {}


def test_a_turn_says_who_where_when_and_with_what():
    found = turns(read(talk().records))

    assert found[2] == Turn(
        source=qwen_code.NAME,
        source_session_id=TEA,
        source_index=2,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref="57af0000-u-4",
        said_at="2026-01-02T03:00:04.500Z",
        cwd=ROOT,
        git_branch="main",
        model="demo",
        agent_version="0.15.10",
    )


def test_a_record_that_is_stated_again_is_one_turn_and_a_further_piece_another():
    """The agent takes records of one uuid for pieces of one."""
    session = Session().typed("Name a herb.").answered("Mint.")
    piece = {**session.records[-1], "message": {"role": "model", "parts": [{"text": "Or sage."}]}}
    session.records += [session.records[-1], piece, piece]

    found = turns(read(session.records))

    assert texts(found) == ["Name a herb.", "Mint.", "Or sage."]
    assert len({turn.source_ref for turn in found}) == 3


def test_a_compression_is_a_mark_and_its_summary_no_turn():
    found = read(talk().compressed().records)

    kinds = [item.kind for item in found if isinstance(item, SessionMark)]
    assert kinds == [MarkKind.STARTED, MarkKind.COMPACTED]
    assert "CANARY" not in repr(found)


def test_what_hooks_and_files_put_behind_a_prompt_is_not_what_was_typed():
    """FC-E07: hooks' context is a part of its own, with no mark; newer versions name what they displayed."""
    session = Session().injected("one", "<memory>CANARY</memory>").typed("two @a.txt", "CANARY", "CANARY")
    session.typed("CANARY", systemPayload={"displayText": "three", "hookContext": "CANARY"})

    assert texts(read(session.records)) == ["one", "two @a.txt", "three"]


def test_records_of_a_kind_that_nobody_knows_are_counted_and_not_read():
    """FC-N14: also a record in the user's name that says it is something else."""
    state = opened()
    session = talk().typed("CANARY", subtype="cron").record("system", "sprout", text="CANARY").record("seed")
    session.typed("CANARY", isSidechain=True)

    assert texts(read([*session.records, {"text": "CANARY"}], state)) == [
        "Name a herb.",
        "Let me look.",
        "Mint.",
    ]
    assert state.unknown == {"user/cron": 1, "system/sprout": 1, "seed": 1, "<dict>": 1}


def test_our_handoff_never_becomes_a_turn_however_it_comes_back(tmp_path: Path):
    """FC-E07: behind a prompt, escaped in one, or alone: nothing of it is in the log."""
    world = World(tmp_path)
    session = Session(cwd=str(world.project)).injected("one", HANDOFF).injected("", HANDOFF)
    session.typed(f"two\n\n{HANDOFF.replace('<', '&lt;').replace('&', '&amp;')}").typed(HANDOFF)
    session.save(world.home / ".qwen")

    world.sync()

    assert world.said() == [("user", "one"), ("user", "two")]
    assert b"CANARY" not in world.workspace().layout.log.read_bytes()


def test_two_records_on_one_line_are_both_read(tmp_path: Path):
    """FC-A01: seen in the field; and a session is read on from where it was left."""
    world = World(tmp_path)
    session = Session(cwd=str(world.project)).typed("one").typed("two")
    path = session.save(world.home / ".qwen")
    path.write_text("".join(json.dumps(record) for record in session.records) + "\n")
    world.sync()
    session.typed("three")
    with path.open("a") as file:
        file.write(json.dumps(session.records[-1]) + "\n")

    second = world.sync()

    assert [text for _, text in world.said()] == ["one", "two", "three"]
    assert (second.captured, world.agent("qwen-code", second).known) == (1, 0)


def test_a_session_with_another_directory_is_refused_by_its_records(tmp_path: Path):
    """FC-G01: `my app` and `my-app` share a folder; the record decides."""
    world = World(tmp_path, project="my app")
    path = Session("s-1", str(world.project)).typed("one").save(world.home / ".qwen")
    foreign = Session("s-2", str(tmp_path / "my-app")).typed("CANARY").save(world.home / ".qwen")
    assert path.parent == foreign.parent

    report = world.sync()

    assert world.said() == [("user", "one")]
    assert world.agent("qwen-code", report).refused_cwds == {str(tmp_path / "my-app"): 1}


# --- Which files


@pytest.mark.parametrize(
    ("cwd", "taken"),
    [
        (ROOT, True),
        (f"{ROOT}/leaves", True),
        ("/home/dev", True),
        ("/home/dev/tea-2", True),  # the name alone cannot tell it from a directory below
        ("/home/dev/tearoom", False),
        ("/home/dev/coffee", False),
    ],
)
def test_folders_are_narrowed_by_name(tmp_path: Path, cwd, taken):
    Session(cwd=cwd).typed("one").save(tmp_path)

    assert len(list(qwen_code.session_files(tmp_path, [ROOT]))) == taken


def test_a_folder_name_counts_code_units_and_knows_no_case():
    assert qwen_code.encoded("/w/beta Proj_x.1") == "-w-beta-proj-x-1"
    assert qwen_code.encoded("C:\\Tea\\é🌱") == "c--tea----"


def test_links_and_loops_lead_to_each_session_once(tmp_path: Path):
    """FC-G06."""
    path = Session(cwd=ROOT).typed("one").save(tmp_path)
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parent / "loop.jsonl").symlink_to("loop.jsonl")

    assert [file.path for file in qwen_code.session_files(tmp_path, [ROOT])] == [path]


def test_sessions_in_the_older_form_are_counted(tmp_path: Path):
    folder = tmp_path / "tmp" / "ab" / "chats"
    folder.mkdir(parents=True)
    (folder / "session-1.json").write_text("{}")

    assert qwen_code.unlisted(tmp_path) == {"sessions in the form of an older version (tmp/)": 1}
