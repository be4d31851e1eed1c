"""Building an index takes long for a long log: stopped half-way it goes on, and says nothing wrong meanwhile."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from builders.log import turn as a_turn
from conversation_esaa.index import store
from conversation_esaa.log.file_log import FileLog
from conversation_esaa.lookup import Keys
from conversation_esaa.projections import catalogue
from conversation_esaa.reading.prefix import IndexedPrefix, Prefix
from conversation_esaa.reading.window import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.workspace import Workspace

PORTION, FOLD_EVERY = 4, 10


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Portions of a few events."""
    monkeypatch.setattr(store, "_BATCH", PORTION)
    monkeypatch.setattr(store, "_FOLD_EVERY", FOLD_EVERY)


@pytest.fixture
def talk(small: None, world: World) -> World:
    """Forty turns, some of them with a curated event between, and a line that is no event."""
    claude = world.claude()
    for number in range(5):
        for turn in range(4):
            claude.user(f"Question {number}.{turn}?").assistant(f"Answer {number}.{turn}.")
        world.sync()
        world.workspace().decide(f"Decision {number}", sources=["last"])
        with (world.store / "activity.jsonl").open("ab") as log:
            log.write(b"no event\n" if number == 2 else b"")
    return world


@pytest.fixture
def older(small: None, world: World) -> World:
    """The v1.1 log with every oddity, gone on with by today's writer."""
    world.taken_over()
    claude = world.claude()
    for turn in range(9):
        claude.user(f"Question {turn}?").assistant(f"Answer {turn}.")
    world.sync()
    return world


def content(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that an index says, full text included; how FTS5 keeps it may differ."""
    database = sqlite3.connect(path)
    try:
        database.execute("CREATE VIRTUAL TABLE temp.said USING fts5vocab(main, words, instance)")
        tables = ("meta", "name", "event", "copy_key", "v1_1_turn", "temp.said")
        rows = {table: sorted(database.execute(f"SELECT * FROM {table}")) for table in tables}
        return {**rows, "fold": list(database.execute("SELECT part, state FROM fold ORDER BY part"))}
    finally:
        database.close()


def built_at_once(world: World) -> dict[str, list[tuple[Any, ...]]]:
    """What the index says when nothing stops its build."""
    path = world.store / "index.db"
    path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "_BATCH", 1_000_000)
        world.workspace().project()
    whole = content(path)
    path.unlink()
    return whole


def stopped_build(world: World, portion: int) -> int:
    """Ctrl-C in the build of an index from nothing; how far into the log it is."""
    told: list[int] = []

    def progress(doing: str, done: int, total: int) -> None:
        if doing == "indexing":
            told.append(done)
            if len(told) == portion:
                raise KeyboardInterrupt

    workspace = world.workspace()
    workspace.progress = progress
    with pytest.raises(KeyboardInterrupt):
        workspace.project()
    return position(workspace)


def position(workspace: Workspace) -> int:
    index = store.open_for_reading(workspace.layout.index)
    assert index is not None
    with index:
        return index.position.size


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From where the log was read, each time."""
    found: list[int] = []
    entries = FileLog.entries

    def noted(log: FileLog, start: int = 0) -> Iterator[Any]:
        found.append(start)
        return entries(log, start)

    monkeypatch.setattr(FileLog, "entries", noted)
    return found


@pytest.mark.parametrize("portion", [1, 2, 5, 9])
def test_a_build_that_was_stopped_goes_on_and_ends_as_if_it_had_not(talk, starts, portion):
    """Nothing is read again but what the stored fold lacks."""
    whole = built_at_once(talk)
    at = stopped_build(talk, portion)
    assert at > 0
    starts.clear()

    talk.sync()  # nothing to capture: renews what is old
    (talk.store / "handoff.md").unlink()
    talk.sync()

    assert content(talk.store / "index.db") == whole
    assert at in starts
    assert (
        [start for start in starts if start < at] == [] or portion * PORTION > FOLD_EVERY or min(starts) == 0
    )


KILLED = """
import os, signal, sys
from conversation_esaa.index import store
store._BATCH, store._FOLD_EVERY = 4, 10
insert, times, last = store.Index._insert, [], int(sys.argv[1])
def killed(index, entries):
    times.append(1)
    insert(index, entries)
    if len(times) == last:
        os.kill(os.getpid(), signal.SIGKILL)
store.Index._insert = killed
sys.argv = ["conversation-esaa", "project"]
from conversation_esaa.cli.main import entry
sys.exit(entry())
"""


@pytest.mark.parametrize("last", [1, 2, 6])
def test_a_build_that_was_killed_goes_on_from_its_last_portion(talk, starts, last):
    """kill -9 between two statements: what was committed is there, and no more."""
    whole = built_at_once(talk)
    argv = [sys.executable, "-c", KILLED, str(last)]
    killed = subprocess.run(argv, check=False, cwd=talk.project, env=talk.process_environ(), timeout=60)
    assert killed.returncode == -signal.SIGKILL
    at = position(talk.workspace())
    assert (at > 0) == (last > 1)
    starts.clear()

    assert talk.run("project").code == 0

    assert content(talk.store / "index.db") == whole
    assert at in starts


def test_a_build_that_is_killed_again_and_again_comes_to_its_end(talk):
    whole = built_at_once(talk)
    argv = [sys.executable, "-c", KILLED, "3"]
    for _ in range(30):
        ended = subprocess.run(argv, check=False, cwd=talk.project, env=talk.process_environ(), timeout=60)
        if ended.returncode == 0:
            break

    assert ended.returncode == 0
    assert content(talk.store / "index.db") == whole


@pytest.mark.parametrize("portion", [1, 4, 8])
def test_readers_are_told_the_same_by_a_half_built_index(talk, portion):
    talk.store.joinpath("index.db").unlink()
    at = stopped_build(talk, portion)
    workspace = talk.workspace()
    log, roots = workspace.log, workspace.roots
    head = log.head()
    index = store.open_for_reading(workspace.layout.index)
    assert index is not None
    assert 0 < at < head.size
    assert index.answers_for(log, head, roots)
    scanned, indexed = Prefix(log, head, roots), IndexedPrefix(log, head, roots, index)

    everything = list(scanned.entries())
    assert list(indexed.newest_first(Keys())) == everything[::-1]
    assert indexed.seen.unreadable == scanned.seen.unreadable == 1
    for entry in everything:
        below = list(indexed.newest_first(Keys(), below=entry.offset))
        assert below == [each for each in everything[::-1] if each.offset < entry.offset]
        above = list(indexed.oldest_first(Keys(), above=entry.offset))
        assert above == [each for each in everything if each.offset > entry.offset]
        assert resolve(indexed, entry.event.event_id[:9]) == entry.event.event_id
        assert indexed.entry(entry.event.event_id) == entry
    assert indexed.fold() == catalogue.fold(everything)
    indexed.close()
    for words in (("context", "--last", "7"), ("handoff",), ("show", everything[-1].event.event_id[:12])):
        half = answer(talk, *words)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(store, "open_for_reading", lambda _: None)
            assert answer(talk, *words) == half


def answer(world: World, *words: str) -> dict[str, Any]:
    """But for what is told of lines that are no event: who reads backward has not met them all."""
    answer: dict[str, Any] = json.loads(world.run(*words, "--no-sync", "--json").out)
    return {key: value for key, value in answer.items() if key not in ("freshness", "tokens")}


def test_what_is_visible_of_an_older_log_is_decided_in_one_piece(older):
    """Which v1.1 line repeats another depends on all before: no portion ends among them."""
    whole = built_at_once(older)
    lines = (older.store / "activity.jsonl").read_bytes().splitlines(keepends=True)
    first_of_ours = sum(len(line) for line in lines if b'"v":2' not in line)

    ends = []
    for portion in range(1, 10):
        (older.store / "index.db").unlink(missing_ok=True)
        ends.append(stopped_build(older, portion))
        older.workspace().project()
        assert content(older.store / "index.db") == whole

    assert all(end == 0 or end > first_of_ours for end in ends)
    assert min(ends) == 0
    assert max(ends) > first_of_ours


def test_a_log_that_is_all_v1_1_is_answered_by_a_whole_index_or_by_none(older, monkeypatch):
    """A line that was added may repeat an old one, which the index alone knows."""
    log = older.store / "activity.jsonl"
    old = [line for line in log.read_bytes().splitlines(keepends=True) if b'"v":2' not in line]
    log.write_bytes(b"".join(old[:-3]))
    older.workspace().project()
    log.write_bytes(b"".join(old))
    workspace = older.workspace()
    index = store.open_for_reading(workspace.layout.index)
    assert index is not None

    with index:
        assert not index.answers_for(workspace.log, workspace.log.head(), workspace.roots)
    assert json.loads(older.run("context", "--no-sync", "--json", "--last", "50").out)["events"]


def test_two_that_bring_an_index_forward_in_turn_do_not_undo_each_other(world: World):
    """A long capture gives the log's lock back between two batches, and others use that."""
    world.claude().user("Question 0?").assistant("Answer 0.")
    world.sync()
    workspace = world.workspace()
    log, roots, path = workspace.log, workspace.roots, workspace.layout.index
    with store.open_for_writing(path) as ours, store.open_for_writing(path) as theirs:
        for number, index in enumerate((ours, theirs, theirs, ours, theirs, ours), start=1):
            with log.writing(purpose="test") as writer:
                index.catch_up(log, roots)
                draft = a_turn(f"Question {number}?", index=100 + number)
                assert not index.has_id(draft.event_id)
                written = writer.append([draft], recorded_at=world.now())
                index.add(written, writer.head, log)
                assert index.has_id(draft.event_id)
                assert index.folded is not None
                index.keep(index.folded)
                index.commit()
            assert index.position == log.head()
            assert index.folded.whole() == catalogue.fold(workspace.entries())
    before = content(path)

    path.unlink()
    world.run("project")

    assert content(path) == before
