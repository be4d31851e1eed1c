"""Databases of agents: read as they are, by a guest who leaves nothing behind."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.agents.sqlite import Database, DatabaseUnreadable, database, json_object
from conversation_esaa.agents.storage import kept_open

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAID = "SELECT word FROM said ORDER BY rowid"


@contextlib.contextmanager
def agent_at_work(path: Path, *words: str, journal: str = "wal") -> Iterator[sqlite3.Connection]:
    """A database that its agent has open."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute("CREATE TABLE IF NOT EXISTS said (word TEXT)")
        say(connection, *words)
        yield connection


def say(connection: sqlite3.Connection, *words: str) -> None:
    connection.executemany("INSERT INTO said VALUES (?)", [(word,) for word in words])


def there(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "a home, 100% é"
    folder.mkdir()
    return folder / "agent.db"


@pytest.fixture
def asked(path: Path) -> Iterator[Database]:
    with database(path) as found:
        yield found


def words(asked: Database) -> list[str]:
    return [word for (word,) in asked.rows(SAID)]


def test_what_is_only_in_the_wal_is_seen(path: Path, asked: Database):
    """FC-I14: the file alone has no table yet, as long as nobody has checkpointed."""
    with agent_at_work(path, "one") as agent:
        first = words(asked)
        say(agent, "two")
        second = words(asked)

    assert (first, second) == (["one"], ["one", "two"])


@pytest.mark.parametrize("journal", ["wal", "delete", "truncate"])
def test_a_database_that_nobody_has_open_stays_alone(path: Path, asked: Database, journal):
    """FC-I14: a reader's `-wal` and `-shm` would stay behind for ever."""
    with agent_at_work(path, "one", journal=journal):
        pass
    before = there(path.parent)

    found = words(asked)
    asked.close()

    assert found == ["one"]
    assert there(path.parent) == before


def test_a_database_that_its_agent_has_open_is_not_written_to(path: Path, asked: Database):
    with agent_at_work(path, "one"):
        before = there(path.parent)

        words(asked)
        asked.close()

        after = there(path.parent)
    assert set(after) == set(before) == {"agent.db", "agent.db-wal", "agent.db-shm"}
    assert all(after[name] == before[name] for name in ("agent.db", "agent.db-wal"))


def test_a_copy_without_its_shm_is_read_whole_and_left_alone(path: Path, tmp_path: Path):
    """FC-I14: as a backup, or a tool that copies a home, makes it."""
    copy = tmp_path / "copy"
    copy.mkdir()
    with agent_at_work(path, "one", "two"):
        for name in ("agent.db", "agent.db-wal"):
            shutil.copy(path.with_name(name), copy)
    before = there(copy)

    with database(copy / "agent.db") as asked:
        found = words(asked)

    assert found == ["one", "two"]
    assert there(copy) == before


def test_an_agent_that_begins_to_write_while_we_look_is_noticed(path: Path, asked: Database):
    """It was opened as one that nobody changes; that has to be true, or it is opened anew."""
    with agent_at_work(path, "one"):
        pass
    first = words(asked)

    with agent_at_work(path, "two") as agent:
        second = words(asked)
        say(agent, "three")
        third = words(asked)

    assert (first, second, third) == (["one"], ["one", "two"], ["one", "two", "three"])


def test_an_agent_that_wrote_and_closed_meanwhile_is_noticed(path: Path, asked: Database):
    with agent_at_work(path, "one"):
        pass
    words(asked)
    with agent_at_work(path, "two"):
        pass

    assert words(asked) == ["one", "two"]


def test_a_locked_database_is_told_of_and_read_the_next_time(path: Path, asked: Database, monkeypatch):
    """FC-I11: in plain words, after a bounded wait."""
    monkeypatch.setattr("conversation_esaa.agents.sqlite.BUSY_S", 0.01)
    with agent_at_work(path, "one", journal="delete") as agent:
        agent.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseUnreadable) as error:
            words(asked)
        agent.execute("COMMIT")

        later = words(asked)

    assert "locked by another process" in error.value.strerror
    assert later == ["one"]


@pytest.mark.parametrize("content", [b"", b"no database at all" * 50])
def test_what_is_no_database_is_said_to_be_none(path: Path, asked: Database, content):
    """FC-E09: an empty file is a database without a table."""
    path.write_bytes(content)

    with pytest.raises(DatabaseUnreadable) as error:
        words(asked)

    assert error.value.strerror in (
        "not a database, or a damaged one",
        "the database has not the tables that are known of this agent",
    )
    assert set(there(path.parent)) == {"agent.db"}


def test_a_database_that_is_gone_is_no_problem_of_a_database(asked: Database):
    """FC-L02: whoever asked knows what a vanished file means."""
    with pytest.raises(FileNotFoundError):
        words(asked)


def test_bytes_that_are_no_utf_8_do_not_stop_a_read(path: Path, asked: Database):
    with agent_at_work(path) as agent:
        agent.execute("INSERT INTO said VALUES (CAST(? AS TEXT))", (b"caf\xe9",))

        assert words(asked) == ["caf\ufffd"]


def test_columns_are_told_and_a_missing_table_has_none(path: Path, asked: Database):
    with agent_at_work(path):
        assert asked.columns("said") == {"word"}
        assert asked.columns("unsaid") == set()


def test_a_database_is_opened_once_where_it_is_kept_open(path: Path):
    with agent_at_work(path), kept_open(), database(path) as first, database(path) as second:
        assert first is second
    with database(path) as third:
        assert third is not first


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (b'{"a": 1}', {"a": 1}),
        ('{"a": "\\ud83d"}', {"a": "\ud83d"}),
        ("[1]", {}),
        ('{"a": ', {}),
        ("", {}),
        (None, {}),
        (1, {}),
        ("[" * 100_000, {}),
    ],
)
def test_a_column_holds_a_json_object_or_nothing(value, expected):
    """FC-C01, FC-N15."""
    assert json_object(value) == expected
