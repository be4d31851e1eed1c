"""Goose: what is read of its database and of the files before it, as its source writes them."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from builders.goose import BEGAN_S, Session, read, texts
from conversation_esaa.agents import goose
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

ROOT = "/home/dev/tea"


def found(home: Path, *roots: str) -> list[SessionFile]:
    return list(goose.session_files(home, roots or (ROOT,)))


def only(home: Path) -> SessionFile:
    (file,) = found(home)
    return file


def refs(home: Path) -> list[str]:
    return [item.source_ref for item in read(only(home)) if isinstance(item, Turn)]


# --- what is said -------------------------------------------------------------------------------------------


def test_prompts_and_answers_are_read_in_the_order_they_were_made(tmp_path):
    Session().typed("Name a herb.").tool().answered("Mint.").typed("Another?").save(tmp_path)

    mark, *turns = items = read(only(tmp_path))

    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.said_at) == (MarkKind.STARTED, "2026-01-02T03:05:00.000Z")
    assert [(str(turn.actor), turn.text, turn.model) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb.", ""),
        ("assistant", "Mint.", "demo"),
        ("user", "Another?", ""),
    ]
    assert "CANARY" not in repr(items)
    assert {turn.cwd for turn in turns} == {ROOT}


def test_a_message_for_the_model_alone_is_not_read(tmp_path):
    """A summary, a continuation."""
    session = Session().typed("Name a herb.")
    session.typed("CANARY summary", metadata={"userVisible": False, "agentVisible": True}).answered("Mint.")
    session.message("user", {"type": "somethingNew", "text": "CANARY"}).save(tmp_path)
    file = only(tmp_path)
    state = goose.open_session(file)

    assert texts(read(file, state)) == ["Name a herb.", "Mint."]
    assert state.unknown == {"somethingNew": 1}


def test_equal_words_of_one_second_are_several_turns(tmp_path):
    Session().typed("yes", created=BEGAN_S).typed("yes", created=BEGAN_S).typed("yes").save(tmp_path)

    assert len(set(refs(tmp_path))) == 3
    assert refs(tmp_path) == refs(tmp_path)


# --- while it is written ------------------------------------------------------------------------------------


def test_rows_that_were_put_in_anew_say_nothing_anew(world: World):
    """Compaction, an edit: every row gets another number."""
    home = goose.home({}, world.home)
    session = Session(folder=str(world.project)).typed("yes").answered("Done.").typed("yes").save(home)
    world.sync()
    session.typed("Another?").save(home)

    world.sync()

    assert [text for _, text in world.said()] == ["yes", "Done.", "yes", "Another?"]


def test_what_was_read_is_not_read_again(tmp_path):
    session = Session().typed("Name a herb.").save(tmp_path)
    file = only(tmp_path)
    state = goose.open_session(file)
    read(file, state)
    nothing = read(file, state)
    session.answered("Mint.")
    with contextlib.closing(sqlite3.connect(file.path, isolation_level=None)) as connection:
        session.add(connection, session.messages[-1])

    assert (nothing, texts(read(file, state))) == ([], ["Mint."])
    assert file.revision != only(tmp_path).revision


def test_a_neighbour_s_news_are_no_news(tmp_path):
    Session().typed("x").save(tmp_path)
    neighbour = Session("20260102_2").typed("y").save(tmp_path)
    before = [file.revision for file in found(tmp_path)]
    neighbour.answered("z").save(tmp_path)

    after = [file.revision for file in found(tmp_path)]

    assert before[0] == after[0]
    assert before[1] != after[1]


def test_a_new_database_numbers_its_sessions_anew(tmp_path):
    """The same number on the same day is another session all the same."""
    Session().typed("yes").save(tmp_path / "a")
    Session().typed("yes", created=BEGAN_S + 3600).save(tmp_path / "b")

    assert set(refs(tmp_path / "a")).isdisjoint(refs(tmp_path / "b"))


def test_a_forked_session_is_known(world: World):
    """Its messages keep their moments."""
    home = goose.home({}, world.home)
    folder = str(world.project)
    Session(folder=folder).typed("Name a herb.").answered("Mint.").save(home)
    Session("20260102_2", folder=folder).typed("Name a herb.").answered("Mint.").typed("Another?").save(home)

    world.sync()

    assert [text for _, text in world.said()] == ["Name a herb.", "Mint.", "Another?"]


def test_nothing_is_kept_of_private_words(world: World):
    """FC-K03: not a digest either, though the words are a part of what names a message."""
    home = goose.home({}, world.home)
    folder = str(world.project)
    Session(folder=folder).typed("Tea <private>one</private>").save(home)
    world.sync()
    (one,) = world.turns()
    Session(folder=folder).typed("Tea <private>two</private>").save(home)

    world.sync()

    assert [turn.event_id for turn in world.turns()] == [one.event_id]


# --- which sessions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "listed"),
    [("user", 1), ("terminal", 1), ("sub_agent", 0), ("hidden", 0), ("scheduled", 0), ("invented", 0)],
)
def test_sessions_of_persons_are_read(tmp_path, kind, listed):
    Session(kind=kind).typed("x").save(tmp_path)

    assert len(found(tmp_path)) == listed


def test_sessions_of_other_directories_are_not_listed(tmp_path):
    Session(folder="/home/dev/tea2").typed("x").save(tmp_path)
    Session("20260102_2", folder=f"{ROOT}/pkg").typed("x").save(tmp_path)

    assert [file.session_id for file in found(tmp_path)] == ["20260102_2"]


def test_a_database_of_before_types_is_read(tmp_path):
    """Schema version 4 and before."""
    Session().typed("x").save(tmp_path)
    with contextlib.closing(sqlite3.connect(only(tmp_path).path, isolation_level=None)) as connection:
        connection.execute("ALTER TABLE sessions DROP COLUMN session_type")
        connection.execute("ALTER TABLE messages DROP COLUMN metadata_json")

    assert texts(read(only(tmp_path))) == ["x"]


def test_a_file_of_before_is_read_and_known_once_it_was_imported(world: World):
    """FC-L04: the union of both, each session once."""
    home = goose.home({}, world.home)
    folder = str(world.project)
    session = Session("20250102_030405", folder=folder).typed("Name a herb.").tool().answered("Mint.")
    path = session.save_as_file(home)
    Session("20250102_050607", folder="/elsewhere").typed("CANARY").save_as_file(home)
    world.sync()
    first = world.said()
    session.save(home)
    Session(folder=folder).typed("Another?", created=BEGAN_S + 60).save(home)

    world.sync()

    assert first == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.said() == [*first, ("user", "Another?")]
    assert path not in {file.path for file in goose.session_files(home, [folder])}


@pytest.mark.parametrize("content", [b"", b"\n", b"[1]\n", b'{"working_dir": 1}\n', b"\xff"])
def test_a_damaged_file_of_before_is_passed_over(tmp_path, content):
    Session("20250102_030405").typed("x").save_as_file(tmp_path)
    (tmp_path / "sessions" / "20250102_050607.jsonl").write_bytes(content)

    assert [file.session_id for file in found(tmp_path)] == ["20250102_030405"]


def test_the_data_lie_where_each_system_has_them(monkeypatch, tmp_path):
    assert goose.home({"XDG_DATA_HOME": "/data"}, tmp_path).as_posix() == "/data/goose"
    monkeypatch.setattr("sys.platform", "win32")
    assert goose.home({"APPDATA": str(tmp_path / "r")}, tmp_path) == tmp_path / "r/Block/goose/data"


# --- captured -----------------------------------------------------------------------------------------------


def test_a_session_is_captured_once_and_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    session = Session(folder=str(world.project)).typed(f"{injected}\n\nName a herb.").answered("Mint.")
    session.save(goose.home({}, world.home))

    world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.sync(full=True).captured == 0
    assert world.agent("goose", world.sync()).read == 0


def test_a_damaged_database_is_named_and_hides_nothing_else(world: World):
    """FC-E09, FC-I12."""
    home = goose.home({}, world.home)
    Session("20250102_030405", folder=str(world.project)).typed("Name a herb.").save_as_file(home)
    (home / "sessions" / "sessions.db").write_bytes(b"no database at all" * 100)
    world.claude().user("Which port?")

    report = world.sync()

    assert [problem.path for problem in world.agent("goose", report).problems] == [
        str(home / "sessions" / "sessions.db")
    ]
    assert sorted(text for _, text in world.said()) == ["Name a herb.", "Which port?"]
