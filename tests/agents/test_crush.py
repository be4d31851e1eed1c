"""Crush: what is read of a project's database, as its source writes it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from builders.crush import TEA, Session, read, registered, texts
from conversation_esaa.agents import crush
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

OTHER = "dddddddd-0000-4000-8000-000000000002"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tea").mkdir()
    return tmp_path / "tea"


@pytest.fixture
def store(project: Path) -> Path:
    return project / ".crush" / "crush.db"


def found(project: Path) -> list[SessionFile]:
    return list(crush.session_files(project.parent / "global", [str(project)]))


def only(project: Path) -> SessionFile:
    (file,) = found(project)
    return file


# --- what is said -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("migrated", [True, False])
def test_prompts_and_answers_are_read_in_the_order_they_were_made(project, store, migrated):
    """Several share a second; columns that older versions have not are not needed."""
    session = Session().typed("Name a herb.").answered("Let me look.").tool().answered("Mint.")
    session.save(store, migrated=migrated)

    mark, *turns = items = read(only(project))

    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.said_at) == (MarkKind.STARTED, "2026-01-02T03:05:00.000Z")
    assert [(str(turn.actor), turn.text, turn.model) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb.", ""),
        ("assistant", "Let me look.", "demo-model"),
        ("assistant", "Mint.", "demo-model"),
    ]
    assert "CANARY" not in repr(items)
    assert {turn.cwd for turn in turns} == {str(project)}
    assert turns[0].source_ref == f"{TEA}/eeeeeeee-0001-4000-8000-000000000000"


def test_a_summary_is_a_mark(project, store):
    Session().typed("Name a herb.").answered("Mint.").compacted().typed("Another?").save(store)

    items = read(only(project))

    assert texts(items) == ["Name a herb.", "Mint.", "Another?"]
    assert [item.kind for item in items if isinstance(item, SessionMark)] == [
        MarkKind.STARTED,
        MarkKind.COMPACTED,
    ]


def test_what_the_program_says_in_somebody_s_name_is_not_read(project, store):
    """A hidden text, a shell command with its output."""
    session = Session().message("user", ("text", {"text": "CANARY go on", "hidden": True}))
    session.message("user", ("shell_command", {"command": "ls", "output": "CANARY"})).typed("Thanks.")
    session.save(store)

    assert texts(read(only(project))) == ["Thanks."]


@pytest.mark.parametrize("moment", [1_767_323_100, 1_767_323_100_000])
def test_a_moment_is_in_seconds_or_in_milliseconds(project, store, moment):
    Session().message("user", ("text", {"text": "Name a herb."}), created_at=moment).save(store)

    assert read(only(project))[-1].said_at == "2026-01-02T03:05:00.000Z"


# --- while it is written ------------------------------------------------------------------------------------


def test_an_answer_is_read_when_it_is_finished(project, store):
    session = Session().typed("Name a herb.").answered("Mi", done=False).save(store)
    file = only(project)
    state = crush.open_session(file)
    first = read(file, state)
    session.messages.pop()
    session.answered("Mint.").save(store)

    assert file.revision != only(project).revision
    assert (texts(first), texts(read(file, state))) == (["Name a herb."], ["Mint."])


def test_an_answer_that_never_finished_is_read_when_something_follows(project, store):
    """Crush was killed."""
    Session().typed("Name a herb.").answered("Mi", done=False).typed("Again!").save(store)

    assert texts(read(only(project))) == ["Name a herb.", "Mi", "Again!"]


def test_what_was_read_is_not_read_again_and_a_deletion_is_no_error(project, store):
    session = Session().typed("Name a herb.").answered("Mint.").save(store)
    file = only(project)
    state = crush.open_session(file)
    read(file, state)

    nothing = read(file, state)
    session.typed("Another?").save(store)
    more = read(file, state)
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("DELETE FROM messages WHERE role = 'assistant'")
    again = read(file, state)

    assert (texts(nothing), texts(more)) == ([], ["Another?"])
    assert texts(again) == ["Name a herb.", "Another?"]  # known by their ids


def test_a_neighbour_s_news_are_no_news(project, store):
    Session().typed("x").save(store)
    neighbour = Session(OTHER).typed("y").save(store)
    before = [file.revision for file in found(project)]
    neighbour.answered("z").save(store)

    after = [file.revision for file in found(project)]

    assert before[0] == after[0]
    assert before[1] != after[1]


# --- which sessions -----------------------------------------------------------------------------------------


def test_sub_agents_are_left_out(project, store):
    Session().typed("x").save(store)
    Session(OTHER, parent=TEA).typed("CANARY").save(store)

    assert [file.session_id for file in found(project)] == [TEA]


def test_projects_are_found_by_the_list_of_them(project, tmp_path):
    """In a directory below a root, and with its data elsewhere; each database once."""
    for name in ("pkg", "far"):
        (project / name).mkdir()
    Session().typed("x").save(project / "pkg" / ".crush" / "crush.db")
    Session(OTHER).typed("y").save(tmp_path / "data" / "crush.db")
    Session("foreign").typed("CANARY").save(tmp_path / "tea2" / ".crush" / "crush.db")
    registered(
        tmp_path / "global",
        (str(project / "pkg"), ".crush"),
        (str(project / "pkg"), str(project / "pkg" / ".crush")),
        (str(project / "far"), str(tmp_path / "data")),
        (str(tmp_path / "tea2"), ".crush"),
    )

    assert {(file.session_id, file.cwd) for file in found(project)} == {
        (TEA, str(project / "pkg")),
        (OTHER, str(project / "far")),
    }


@pytest.mark.parametrize(
    "list_of_them", ["", "[]", '{"projects": [1, {"path": 1}, {"path": "\\u0000", "data_dir": ""}]}']
)
def test_a_damaged_list_of_projects_stops_nothing(project, store, tmp_path, list_of_them):
    (tmp_path / "global").mkdir()
    (tmp_path / "global" / "projects.json").write_text(list_of_them)
    Session().typed("x").save(store)

    assert texts(read(only(project))) == ["x"]


def test_the_list_lies_where_each_system_has_its_data(monkeypatch, tmp_path):
    assert crush.home({"XDG_DATA_HOME": "/data"}, tmp_path).as_posix() == "/data/crush"
    monkeypatch.setattr("sys.platform", "win32")
    assert crush.home({"LOCALAPPDATA": str(tmp_path / "l")}, tmp_path) == tmp_path / "l" / "crush"


# --- captured -----------------------------------------------------------------------------------------------


def test_a_damaged_database_is_named_and_hides_no_other(world: World):
    """FC-I12."""
    store = world.project / ".crush" / "crush.db"
    Session().typed("x").save(store)
    store.write_bytes(b"no database at all" * 100)
    store.with_name("crush.db-wal").unlink(missing_ok=True)
    world.claude().user("Which port?")

    report = world.sync()

    assert [problem.path for problem in world.agent("crush", report).problems] == [str(store.resolve())]
    assert world.said() == [("user", "Which port?")]


def test_a_session_is_captured_once_and_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    session = Session().typed(f"{injected}\n\nName a herb.").answered("Mint.")
    session.save(world.project / ".crush" / "crush.db")

    world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.sync(full=True).captured == 0
    assert world.agent("crush", world.sync()).read == 0
