"""Fault cases B and I that speak of a watcher, with the real thing."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from builders.watching import following, watching
from builders.world import World

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks /proc about the process")
EVENTS = pytest.mark.skipif(
    importlib.util.find_spec("watchfiles") is None, reason="watchfiles is not installed"
)
WAYS = [pytest.param((), id="events", marks=EVENTS), pytest.param(("--poll",), id="polling")]


@pytest.mark.parametrize("options", WAYS)
def test_three_thousand_session_directories_and_few_descriptors(world: World, options):
    """FC-B06: `ulimit -n 256`, as macOS has by default."""
    grok = world.grok().user("one")
    for number in range(3_000):
        folder = world.home / ".grok" / "sessions" / quote(str(world.project), safe="-._~") / f"{number:08}"
        folder.mkdir()
        (folder / "updates.jsonl").touch()
    world.workspace()
    command = 'ulimit -n 256; exec "$0" -m conversation_esaa watch "$@"'
    process = subprocess.Popen(
        ["sh", "-c", command, sys.executable, *options],
        cwd=world.project,
        env=world.process_environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with following(world, process) as watcher:
        watcher.captured(2)
        how = watcher.until("changes are found")
        grok.assistant("two")
        watcher.captured(3)
        open_files = watcher.descriptors
        ran = watcher.stopped()

    assert (ran.code, ran.err) == (0, "")
    assert ("told by the system" in how) == (not options)
    assert open_files < 30
    assert [text for _, text in world.said()] == ["one", "two"]


@pytest.mark.parametrize("options", WAYS)
def test_five_hundred_appends_leave_nothing_open_and_nothing_behind(world: World, options):
    """FC-B07: descriptors are as many at the end as after the first capture, and memory hardly more."""
    claude = world.claude().user("begin")
    world.workspace()
    with watching(world, *options) as watcher:
        watcher.captured(2)
        claude.assistant("warm")
        watcher.captured(3)
        descriptors, memory_kb = watcher.descriptors, watcher.memory_kb
        for burst in range(5):
            for number in range(100):
                claude.user(f"{burst} {number} " + "word " * 200)
            watcher.captured(3 + 100 * (burst + 1))
        after = watcher.descriptors, watcher.memory_kb

    assert after[0] == descriptors
    assert after[1] - memory_kb < 12_000
    assert after[1] < 60_000
    assert len(world.turns()) == 502


@pytest.mark.parametrize("options", WAYS)
def test_a_store_that_is_deleted_stays_deleted(world: World, options):
    """FC-I13: a word, exit code 0, and nothing comes back, though the agent goes on talking."""
    claude = world.claude().user("one")
    world.workspace()
    with watching(world, *options) as watcher:
        watcher.captured(2)
        claude.assistant("two")
        shutil.rmtree(world.store)
        claude.user("three")
        watcher.until("its store is gone")
        ran = watcher.ended()

    assert (ran.code, ran.err) == (0, "")
    assert "no registered workspace is left to watch" in watcher.lines[-1]
    assert not world.store.exists()


@pytest.mark.parametrize("options", WAYS)
def test_the_other_workspaces_go_on_and_a_new_store_is_served_again(world: World, options):
    """FC-I13: what was deleted and set up anew is another store, with another lock."""
    other = World(world.home.parent, project="other")
    other.workspace()
    world.workspace()
    with watching(world, *options) as watcher:
        other.run("watch")
        watcher.until(f"watching {other.project}")
        shutil.rmtree(other.store)
        watcher.until("its store is gone")
        gone = world.run("watch", "--status", "--json").json["workspaces"]
        mark = len(watcher.lines)
        assert other.run("init").code == 0
        watcher.until(f"watching {other.project}", since=mark)
        other.claude("other").user("again")
        watcher.captured(2)

    assert [each["state"] for each in gone] == ["watched", "gone"]
    assert other.said() == [("user", "again")]


@pytest.mark.parametrize("options", WAYS)
def test_a_log_that_goes_back_is_told_and_gone_on_from(world: World, options):
    """FC-I10: nothing is restored silently; what the agents still have comes in again, each turn once."""
    claude = world.claude().user("one")
    world.workspace()
    log = world.store / "activity.jsonl"
    with watching(world, *options) as watcher:
        watcher.captured(2)
        older = log.read_bytes()
        claude.assistant("two")
        watcher.captured(3)
        log.write_bytes(older)
        line = watcher.until("the log went back")
        watcher.captured(4)
        claude.user("three")
        watcher.captured(5)

    assert "Nothing was restored" in line
    assert [text for _, text in world.said()] == ["one", "two", "three"]
    assert world.run("verify", "--deep").code == 0


def test_a_session_that_is_deleted_between_hearing_and_reading_is_passed_over(world: World):
    """FC-L02 under a watcher: an agent that cleans up while it is watched."""
    world.workspace()
    with watching(world, "--poll") as watcher:
        for number in range(20):
            world.claude(f"gone-{number}").user("quick").path.unlink()
        world.claude("kept").user("stays")
        watcher.until("new event")
        ran = watcher.stopped()

    assert (ran.code, ran.err) == (0, "")
    assert ("user", "stays") in world.said()
    assert not any("could not be read" in line for line in watcher.lines)


def test_a_state_directory_that_cannot_be_written_is_an_error_with_a_mend(world: World, tmp_path):
    """FC-I04: never silent."""
    world.workspace()
    (tmp_path / "file").write_text("")
    world.environ["CONVERSATION_ESAA_STATE_DIR"] = str(tmp_path / "file" / "state")

    ran = world.run("watch", "--json")

    assert (ran.code, ran.error["code"]) == (1, "state.unusable")
    assert "CONVERSATION_ESAA_STATE_DIR" in ran.error["hint"]
    assert os.listdir(tmp_path / "home") == []
