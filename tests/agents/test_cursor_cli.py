"""Cursor's program for the terminal: what is read of its stores, as far as other readers describe them."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.cursor_cli import TEA, Chat, read, texts
from conversation_esaa.agents import cursor_cli
from conversation_esaa.agents.sqlite import Database
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

ROOT = "/home/dev/tea"
OTHER = "cccccccc-0000-4000-8000-000000000002"


def found(home: Path, *roots: str) -> list[SessionFile]:
    return list(cursor_cli.session_files(home, roots or (ROOT,)))


def only(home: Path) -> SessionFile:
    (file,) = found(home)
    return file


# --- what is said -------------------------------------------------------------------------------------------


def test_prompts_and_answers_are_read_as_they_were_said(tmp_path):
    """A prompt as it was typed, each text of an answer a turn; nothing of what stands around them."""
    Chat().typed("Name a herb.").answered("Let me look.", "Mint.").tool().typed("Another?").save(tmp_path)

    items = read(only(tmp_path))

    mark, *turns = items
    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.said_at) == (MarkKind.STARTED, "2026-01-02T03:05:00.000Z")
    assert [(str(turn.actor), turn.text) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb."),
        ("assistant", "Let me look."),
        ("assistant", "Mint."),
        ("user", "Another?"),
    ]
    assert "CANARY" not in repr(items)
    assert {turn.cwd for turn in turns} == {ROOT}
    assert {turn.model for turn in turns} == {"", "demo-model"}
    assert len({turn.source_ref for turn in turns}) == 4
    assert turns[1].message_ref == turns[2].message_ref


def test_a_prompt_may_quote_the_tags(tmp_path):
    Chat().typed("What does </user_query> mean, and <user_query>?").save(tmp_path)

    assert texts(read(only(tmp_path))) == ["What does </user_query> mean, and <user_query>?"]


@pytest.mark.parametrize(
    "content",
    ["CANARY summary", [{"type": "text", "text": "<system_reminder>CANARY</system_reminder>"}], 7, [], [7]],
)
def test_what_the_program_says_in_somebody_s_name_is_not_read(tmp_path, content):
    Chat().message("user", content).typed("Name a herb.").save(tmp_path)

    assert texts(read(only(tmp_path))) == ["Name a herb."]


def test_the_same_words_twice_are_two_turns(tmp_path):
    """Equal messages are one blob, which the root names twice."""
    Chat().typed("yes").answered("Done.").typed("yes").answered("Done.").save(tmp_path)

    turns = [item for item in read(only(tmp_path)) if isinstance(item, Turn)]

    assert [turn.text for turn in turns] == ["yes", "Done."] * 2
    assert len({turn.source_ref for turn in turns}) == 4


def test_moments_are_milliseconds_and_the_last_one_stated_holds(tmp_path):
    chat = Chat().typed("Name a herb.", createdAt=1_767_323_130_250).answered("Mint.")
    chat.save(tmp_path)

    assert [item.said_at for item in read(only(tmp_path))] == ["2026-01-02T03:05:30.250Z"] * 3


# --- while it is written ------------------------------------------------------------------------------------


def test_what_was_read_is_not_read_again(tmp_path):
    chat = Chat().typed("Name a herb.").answered("Mint.").save(tmp_path)
    state = cursor_cli.open_session(only(tmp_path))
    read(only(tmp_path), state)

    nothing = read(only(tmp_path), state)
    chat.typed("Another?").answered("Sage.").save(tmp_path)

    assert nothing == []
    assert texts(read(only(tmp_path), state)) == ["Another?", "Sage."]


def test_a_message_that_is_not_there_yet_is_read_when_it_is(tmp_path):
    chat = Chat().typed("Name a herb.").answered("Mint.").save(tmp_path)
    with contextlib.closing(sqlite3.connect(chat.path(tmp_path), isolation_level=None)) as connection:
        connection.execute("DELETE FROM blobs WHERE instr(CAST(data AS TEXT), 'Mint')")
    state = cursor_cli.open_session(only(tmp_path))
    first = read(only(tmp_path), state)
    chat.save(tmp_path)

    assert (texts(first), texts(read(only(tmp_path), state))) == (["Name a herb."], ["Mint."])


def test_an_edited_prompt_is_another_turn_and_nothing_is_said_twice(world: World):
    """The newest root has a new branch; the blobs of the old one stay where they are."""
    home = cursor_cli.home({}, world.home)
    chat = Chat(folder=str(world.project)).typed("Name a herb.").answered("Mint.").typed("No.").save(home)
    world.sync()
    del chat.messages[-1]
    chat.typed("A sweet one.").save(home)

    world.sync()

    assert [text for _, text in world.said()] == ["Name a herb.", "Mint.", "No.", "A sweet one."]


# --- which chats --------------------------------------------------------------------------------------------


def test_a_chat_is_found_by_the_hash_of_its_directory(tmp_path):
    Chat().typed("x").save(tmp_path)
    Chat(OTHER, folder="/home/dev/tea2").typed("x").save(tmp_path)

    assert [(file.session_id, file.cwd) for file in found(tmp_path)] == [(TEA, ROOT)]


def test_a_drive_s_letter_has_two_cases(tmp_path):
    Chat(folder="c:\\Users\\dev\\tea").typed("x").save(tmp_path)

    assert [file.session_id for file in found(tmp_path, "C:\\Users\\dev\\tea")] == [TEA]


@pytest.mark.parametrize("stated", ["side file", "store", "root"])
def test_a_chat_below_a_root_is_found_by_what_it_states(tmp_path, monkeypatch, stated):
    """A hash does not tell what it was made of."""
    folder = f"{ROOT}/pkg a"
    chat = Chat(folder=folder, **({"workspacePath": folder} if stated == "store" else {})).typed("x")
    if stated == "root":
        uri = b"file:///home/dev/tea/pkg%20a"
        root = chat.root() + b"\x4a" + bytes([len(uri)]) + uri
        monkeypatch.setattr(chat, "root", lambda: root)
    chat.save(tmp_path, **({"cwd": folder} if stated == "side file" else {}))

    assert [file.cwd for file in found(tmp_path)] == [folder]


def test_a_statement_that_does_not_fit_the_folder_counts_for_nothing(tmp_path):
    """I4: somebody may have copied it there."""
    Chat(folder="/elsewhere").typed("CANARY").save(tmp_path, cwd=ROOT)

    assert found(tmp_path) == []


def test_sub_agents_are_left_out(tmp_path):
    Chat().typed("CANARY").save(tmp_path, isSubagent=True)
    Chat(OTHER, subagentInfo={"parent": TEA}).typed("CANARY").save(tmp_path)

    assert [texts(read(file)) for file in found(tmp_path)] == [[]]


# --- the store ----------------------------------------------------------------------------------------------


def test_another_chat_s_words_are_not_read(world: World, monkeypatch):
    """Of a folder that is not ours one chat is asked where it is, and nothing of what was said."""
    Chat(folder="/elsewhere").typed("CANARY").save(cursor_cli.home({}, world.home))
    rows, seen = Database.rows, []

    def noted(self, *asked):
        seen.append(rows(self, *asked))
        return seen[-1]

    monkeypatch.setattr(Database, "rows", noted)

    world.sync()

    assert seen
    assert b"user_query" not in repr(seen).encode()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_damaged_store_is_named_and_hides_no_other(world: World, content):
    home = cursor_cli.home({}, world.home)
    Chat(folder=str(world.project)).typed("Name a herb.").save(home)
    damaged = Chat(OTHER, folder=str(world.project)).path(home)
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(content)

    report = world.sync()

    assert [problem.path for problem in world.agent("cursor-cli", report).problems] == [str(damaged)]
    assert world.said() == [("user", "Name a herb.")]


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("meta", ("0", "not hexadecimal")),
        ("meta", ("0", b"\xff")),
        ("meta", ("0", b"{}".hex())),
        ("meta", ("0", 7)),
    ],
)
def test_a_store_without_a_root_gives_nothing(tmp_path, table, row):
    chat = Chat().typed("x").save(tmp_path)
    with contextlib.closing(sqlite3.connect(chat.path(tmp_path), isolation_level=None)) as connection:
        connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", row)

    assert texts(read(only(tmp_path))) == []


@given(st.binary(max_size=80))
def test_no_root_can_stop_a_sync(node):
    """Whatever the bytes are, reading them ends."""
    list(cursor_cli._fields(node))


def test_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    chat = Chat(folder=str(world.project)).typed(f"{injected}\n\nName a herb.").typed(injected)
    chat.save(cursor_cli.home({}, world.home))

    world.sync()

    assert world.said() == [("user", "Name a herb.")]


def test_cursors_stay_when_another_agent_is_asked_alone(world: World):
    """What was read is not read again because of it."""
    Chat(folder=str(world.project)).typed("Name a herb.").save(cursor_cli.home({}, world.home))
    world.sync()
    world.sync(agents=["codex"])

    report = world.sync()

    assert world.agent("cursor-cli", report).read == 0
