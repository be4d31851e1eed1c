"""Fault cases D: identity, duplicates, forks and resumes, from end to end."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import World


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


@pytest.mark.parametrize("renamed", [False, True])
def test_a_fork_adds_only_its_own_turns(world: World, renamed):
    """FC-D01: the copied rows keep their ids, with the old or the new session's name in them."""
    parent = world.claude("parent").user("one").assistant("two").user("three").assistant("four")
    world.sync()
    fork = world.claude("fork")
    for line in parent.path.read_text("utf-8").splitlines():
        row = json.loads(line)
        fork.write({**row, "sessionId": fork.id} if renamed else row)
    fork.user("five").assistant("six")

    world.sync()

    assert texts(world) == ["one", "two", "three", "four", "five", "six"]


def test_parent_and_fork_captured_in_one_first_run_give_each_turn_once(world: World):
    """FC-D01: and the parent, the older file, is the one that is said to have them."""
    parent = world.claude("parent").user("one").assistant("two")
    fork = world.claude("fork")
    for line in parent.path.read_text("utf-8").splitlines():
        fork.write({**json.loads(line), "sessionId": fork.id})
    fork.user("three")
    os.utime(parent.path, (1_000, 1_000))

    world.sync()

    assert texts(world) == ["one", "two", "three"]
    assert [turn.source_session_id for turn in world.turns()] == [parent.id, parent.id, fork.id]


@pytest.mark.parametrize("marks", [1, 1 << 20])
@pytest.mark.parametrize("later", [False, True], ids=["in one run", "in a later run"])
def test_a_codex_fork_that_copies_its_parent_without_ids_adds_only_its_own_turns(
    world: World, monkeypatch, later, marks
):
    """FC-D01: copies are told by thread, ordinal and words, also where every identity has to be looked up."""
    monkeypatch.setattr("conversation_esaa.index.store._MARKS", marks)
    parent, fork = world.codex("parent"), world.codex("fork")
    parent.record("session_meta", parent.meta(history_mode="legacy"))
    for kind, words in (("user_message", "one"), ("agent_message", "two"), ("user_message", "three")):
        parent.record("event_msg", {"type": kind, "message": words})
    if later:
        world.sync()
    fork.record("session_meta", fork.meta(history_mode="legacy", forked_from_id=parent.id))
    for line in parent.path.read_text("utf-8").splitlines():
        fork.write(json.loads(line))
    fork.record("event_msg", {"type": "user_message", "message": "four"})
    os.utime(parent.path, (1_000, 1_000))

    world.sync()

    assert texts(world) == ["one", "two", "three", "four"]


def test_a_sub_agents_rollout_is_no_conversation(world: World):
    """FC-D02, FC-D03: the first header decides, also when the parent's is copied in behind it."""
    parent = world.codex("parent").user("one").assistant("two")
    child = world.codex("child")
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent.id, "depth": 1}}}
    child.record("session_meta", child.meta(source=spawn, thread_source="subagent"))
    for line in parent.path.read_text("utf-8").splitlines():
        child.write(json.loads(line))
    child.user("CANARY do this for me").assistant("CANARY done")

    world.sync()

    assert texts(world) == ["one", "two"]
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())


def test_a_bookkeeping_line_at_the_top_moves_no_identity(world: World):
    """FC-D04: line numbers of a file are nobody's name."""
    claude = world.claude().user("one").assistant("two")
    grok = world.grok().user("three").assistant("four")
    world.sync()
    for path in (claude.path, grok.path):
        path.write_bytes(b'{"type":"summary","summary":"Tea","leafUuid":"x"}\n' + path.read_bytes())

    report = world.sync()

    assert report.captured == 0
    assert texts(world) == ["one", "two", "three", "four"]


def test_two_files_of_one_session_with_other_words_are_kept_apart(world: World):
    """FC-D05: equal positions are no equal turns; nothing is lost and the run goes on."""
    first, second = world.codex("first"), world.codex("second")
    for codex, words in ((first, "one"), (second, "two")):
        codex.record("session_meta", codex.meta(id=first.id, history_mode="legacy"))
        codex.record("event_msg", {"type": "user_message", "message": words})
    world.grok().user("three")

    world.sync()
    again = world.sync(full=True)

    assert sorted(texts(world)) == ["one", "three", "two"]
    assert again.captured == 0


def test_no_way_of_looking_again_adds_anything(world: World):
    """FC-D06: another run, all files anew, no cursors, one agent, one file."""
    claude = world.claude().user("one").assistant("two")
    world.codex().user("three")
    world.sync()
    before = world.bytes_of_store()

    world.sync()
    world.sync(full=True)
    (world.store / "sync-state.json").unlink()
    world.sync(agents=["claude-code"])
    world.sync(session=claude.path)
    world.sync()

    assert world.bytes_of_store() == before


def test_a_file_that_grows_with_an_old_time_is_read_on(world: World):
    """FC-D07, FC-F06: synchronised folders keep old times; size, change time and inode tell too."""
    claude = world.claude().user("one")
    os.utime(claude.path, (1_000, 1_000))
    world.sync()
    for text in ("two", "three"):
        claude.assistant(text)
        os.utime(claude.path, (1_000, 1_000))
        world.sync()

    assert texts(world) == ["one", "two", "three"]


@pytest.mark.parametrize("rounds", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_two_runs_at_once_capture_each_turn_once(world: World, rounds):
    """FC-D08: both end well, whoever is first."""
    world.workspace()
    claude, said = world.claude(), []
    for number in range(rounds):
        claude.user(f"question {number}").assistant(f"answer {number}")
        said += [f"question {number}", f"answer {number}"]

        both = [world.process("sync"), world.process("sync")]
        ran = [world.wait(process) for process in both]

        assert [one.code for one in ran] == [0, 0], [one.err for one in ran]
    assert texts(world) == said
    assert world.run("verify", "--deep").code == 0


def test_a_copied_home_gives_nothing_new(world: World, tmp_path):
    """A backup of an agent's home, used as its home: the same turns under other paths."""
    world.claude().user("one")
    world.codex().user("two")
    world.sync()
    before = world.workspace().layout.log.read_bytes()
    for name, variable in ((".claude", "CLAUDE_CONFIG_DIR"), (".codex", "CODEX_HOME")):
        shutil.copytree(world.home / name, tmp_path / "backup" / name)
        world.environ[variable] = str(tmp_path / "backup" / name)

    report = world.sync()

    assert report.captured == 0
    assert world.workspace().layout.log.read_bytes() == before
