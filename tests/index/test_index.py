"""The index may be missing, old, another log's or broken: answers are the same, and nothing is ever lost."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.world import World
from conversation_esaa.errors import ConversationError
from conversation_esaa.index import store
from conversation_esaa.lookup import Keys
from conversation_esaa.projections import catalogue
from conversation_esaa.reading.prefix import IndexedPrefix, Prefix
from conversation_esaa.reading.query import Query, needs_state
from conversation_esaa.reading.window import resolve, window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conversation_esaa.workspace import Workspace


BRANCH = "tides/north"
SECRET_BRANCH = "try-ghp_" + "Zx9" * 12


@pytest.fixture(scope="module")
def talk() -> Iterator[World]:
    """Three agents and everything that can be recorded."""
    with tempfile.TemporaryDirectory() as base:
        world = World(Path(base))
        world.claude().user("Which port does the shop use?").assistant("8080.").assistant("Say if not.")
        world.claude("claude-2").user("On a branch?", gitBranch=BRANCH).assistant("Yes.", gitBranch=BRANCH)
        world.claude("claude-3").user("On which?", gitBranch=SECRET_BRANCH).assistant("Left.")
        world.codex().user("Retry on port 8081?").assistant("Yes, with a budget.")
        world.sync()
        workspace = world.workspace()
        workspace.set_goal("A shop that answers")
        workspace.decide("Port 8080", rationale="It is free", sources=["last"])
        workspace.create_task("Write the retry", sources=["last"])
        workspace.create_topic("Ports", events=["last"])
        workspace.link("TOP-001", decisions=["DEC-0001"], tasks=["CONV-001"])
        world.grok().user("And the port?").assistant("Still 8080.")
        world.sync()
        workspace.decide("Port 8081", supersedes=["DEC-0001"])
        workspace.close_task("CONV-001", evidence="done")
        yield world


def both_ways(workspace: Workspace) -> tuple[Prefix, IndexedPrefix]:
    log, roots = workspace.log, workspace.roots
    index = store.open_for_reading(workspace.layout.index)
    assert index is not None
    assert index.is_of(log, roots)
    return Prefix(log, log.head(), roots), IndexedPrefix(log, log.head(), roots, index)


questions = st.fixed_dictionaries(
    {"last": st.integers(1, 9), "window": st.integers(0, 3)},
    optional={
        "agents": st.sampled_from([("codex",), ("claude-code",), ("human",), ("grok", "codex"), ("nobody",)]),
        "actor": st.sampled_from(["user", "assistant", "system"]),
        "session": st.sampled_from(["0", "f", "no such session"]),
        "branch": st.sampled_from([BRANCH, SECRET_BRANCH, "no such branch"]),
        "since": st.sampled_from(["2026-03-01T10:00:05.000Z", "2030"]),
        "until": st.sampled_from(["2026-03-01T10:00:20.000Z", "2000"]),
        "topic_id": st.just("TOP-001"),
        "decision": st.sampled_from(["DEC-0001", "DEC-0002"]),
        "task": st.just("CONV-001"),
        "marks": st.booleans(),
    },
)


@given(asked=questions, at=st.integers(0, 30), side=st.sampled_from(["", "before", "after", "around"]))
def test_every_answer_is_the_same_with_and_without_the_index(talk, asked, at, side):
    """An index that is never silently wrong."""
    workspace = talk.workspace()
    scanned, indexed = both_ways(workspace)
    everything = list(scanned.entries())
    if side:
        asked[side] = everything[at % len(everything)].event.event_id
    query = Query(**asked)
    state = scanned.fold() if needs_state(query) else None

    def answer(lines: Prefix) -> object:
        try:
            return window(lines, query, state=state)
        except ConversationError as refusal:
            return str(refusal)

    try:
        assert answer(indexed) == answer(scanned)
    finally:
        indexed.close()


def test_ids_and_the_fold_are_the_same_with_and_without_the_index(talk):
    workspace = talk.workspace()
    scanned, indexed = both_ways(workspace)

    assert indexed.fold() == scanned.fold() == catalogue.fold(scanned.entries())
    for entry in scanned.entries():
        assert resolve(indexed, entry.event.event_id[:9]) == entry.event.event_id
        assert indexed.entry(entry.event.event_id) == entry
    indexed.close()


def test_no_word_of_a_secret_is_in_the_index(world):
    """I6 holds for caches too."""
    secret = "ghp_" + "Zx9" * 12
    world.claude().user(f"the token is {secret}").assistant("noted")
    world.sync()
    world.workspace().decide(f"use {secret}")

    content = world.bytes_of_store()["index.db"]

    assert secret.encode() not in content
    assert secret.lower().encode() not in content


def lost(path: Path) -> None:
    path.unlink()


def overwritten(path: Path) -> None:
    path.write_bytes(os.urandom(5000))


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def of_another_version(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 999")
    database.close()


def of_another_program(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()


def emptied(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM event")
        database.execute("UPDATE meta SET value = 0 WHERE key IN ('size', 'seq')")
        database.execute("UPDATE meta SET value = '' WHERE key = 'hash'")
    database.close()


def pointing_elsewhere(path: Path) -> None:
    """Every position is wrong: nothing but the log itself can tell."""
    with sqlite3.connect(path) as database:
        database.execute("UPDATE event SET offset = offset + 7")
    database.close()


EVERYTHING = Keys()

DAMAGES = [lost, overwritten, truncated, of_another_version, of_another_program, emptied, pointing_elsewhere]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_whatever_happened_to_the_index_answers_stay_right(world, damage: Callable[[Path], None]):
    """Reading goes on without it; the next command that writes builds it anew; nothing is captured twice."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    wanted = world.run("context", "--no-sync", "--json").json["events"]
    first = wanted[0]["event_id"]

    damage(world.store / "index.db")

    assert world.run("context", "--no-sync", "--json").json["events"] == wanted
    assert world.run("show", "--no-sync", first[:12], "--json").json["event"]["text"] == "one"
    assert world.run("handoff", "--no-sync").code == 0
    claude.user("three")
    world.sync()
    assert [text for _, text in world.said()] == ["one", "two", "three"]
    assert world.run("project").code == 0
    scanned, indexed = both_ways(world.workspace())
    assert list(indexed.newest_first(EVERYTHING)) == list(scanned.newest_first(EVERYTHING))
    indexed.close()
    assert world.run("sync", "--full").code == 0
    assert [text for _, text in world.said()] == ["one", "two", "three"]


def test_an_index_that_lags_behind_is_completed_from_the_log(world):
    """A writer that could not index leaves the rest to be read from the log."""
    world.claude().user("one")
    world.sync()
    kept = (world.store / "index.db").read_bytes()
    world.claude("claude-2").user("two").assistant("three")
    world.sync()
    (world.store / "index.db").write_bytes(kept)

    scanned, indexed = both_ways(world.workspace())

    assert list(indexed.newest_first(EVERYTHING)) == list(scanned.newest_first(EVERYTHING))
    assert indexed.fold() == scanned.fold()
    indexed.close()


def test_a_log_that_went_back_is_not_answered_from_the_index(world):
    """FC-I10: the log is the truth, also when somebody put an older one in its place."""
    world.claude().user("one")
    world.sync()
    older = (world.store / "activity.jsonl").read_bytes()
    world.claude("claude-2").user("two")
    world.sync()

    (world.store / "activity.jsonl").write_bytes(older)
    answer = world.run("context", "--no-sync", "--json").json

    assert [event["text"] for event in answer["events"]] == ["one"]


def test_the_index_is_for_its_owner_alone(world):
    world.claude().user("one")
    world.sync()

    assert (world.store / "index.db").stat().st_mode & 0o777 == 0o600
    assert not list(world.store.glob("index.db-*"))


def test_status_knows_an_edited_read_model_without_rendering_them_all(world, monkeypatch):
    """How each was left is remembered, so that looking costs six stats."""
    world.claude().user("one")
    world.sync()
    rendered = []
    render = catalogue.render
    monkeypatch.setattr(
        catalogue, "render", lambda name, *a, **k: rendered.append(name) or render(name, *a, **k)
    )

    untouched = world.run("status", "--no-sync", "--json").json
    with (world.store / "decisions.md").open("a") as file:
        file.write("- DEC-0099 by hand\n")
    os.utime(world.store / "tasks.json")
    edited = world.run("status", "--no-sync", "--json").json

    assert untouched["stale_read_models"] == []
    assert edited["stale_read_models"] == ["decisions.md"]
    assert rendered == ["decisions.md", "tasks.json"]


def test_a_new_turn_renders_no_decision_anew_and_the_bytes_are_those_of_a_cold_rendering(world, monkeypatch):
    """A thousand decisions must not be paid for at each turn."""
    claude = world.claude().user("one")
    world.sync()
    workspace = world.workspace()
    workspace.decide("Keep it", sources=["last"])
    workspace.create_task("Do it")
    claude.assistant("two")
    with monkeypatch.context() as context:
        for renderer in ("decisions.render", "tasks.render", "topics.render", "topics.render_json"):
            name = f"conversation_esaa.projections.{renderer}"
            context.setattr(name, lambda *_, **__: pytest.fail("rendered"))
        world.sync()

    assert world.run("project", "--check").code == 0
    (world.store / "decisions.md").write_text("by hand")
    claude.user("three")
    world.sync()
    assert world.run("project", "--check").code == 0
