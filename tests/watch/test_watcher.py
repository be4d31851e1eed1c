"""The watcher as a process: what is said is captured, for every workspace, and one watcher serves a user."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from builders.watching import Watching, following, watching
from builders.world import World
from conversation_esaa.cli.commands import watch
from conversation_esaa.log.lock import held

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and pipes are told the POSIX way")
EVENTS = pytest.mark.skipif(
    importlib.util.find_spec("watchfiles") is None, reason="watchfiles is not installed"
)
WAYS = [pytest.param((), id="events", marks=EVENTS), pytest.param(("--poll",), id="polling")]


def another(world: World, name: str) -> World:
    """A second project on the same machine."""
    other = World(world.home.parent, project=name)
    other.workspace()
    return other


@pytest.fixture
def two(world: World) -> tuple[World, World]:
    world.workspace()
    return world, another(world, "other")


@pytest.mark.parametrize("options", WAYS)
def test_what_is_said_is_captured_while_it_runs(world: World, options):
    """In a session that was there, in one that begins, of an agent that had nothing here before."""
    claude = world.claude().user("one")
    world.workspace()
    with watching(world, *options) as watcher:
        watcher.captured(2)
        claude.assistant("two")
        watcher.captured(3)
        world.claude("claude-2").user("three")
        watcher.captured(5)
        ran = watcher.stopped()

    assert (ran.code, ran.err) == (0, "")
    assert [text for _, text in world.said()] == ["one", "two", "three"]
    assert world.sync().captured == 0  # FC-D06: another way to capture finds nothing more
    (world.store / "sync-state.json").unlink()
    assert world.sync().captured == 0


@EVENTS
def test_a_directory_that_comes_later_is_listened_at(world: World):
    """Codex begins a folder each day: the first words in it may come before anybody looks there."""
    world.codex().user("yesterday")
    world.workspace()
    with watching(world) as watcher:
        watcher.captured(2)
        path = world.home / ".codex" / "sessions" / "2026" / "03" / "02"
        path.mkdir()
        codex = world.codex("codex-2")
        codex.path = path / codex.path.name
        codex.user("today")
        watcher.captured(4)
        codex.assistant("still today")
        watcher.captured(5)

    assert [text for _, text in world.said()] == ["yesterday", "today", "still today"]


@pytest.mark.parametrize("options", WAYS)
def test_one_process_serves_all_registered_workspaces(two, options):
    """A workspace that is registered while it runs is served too, and no turn goes astray."""
    here, there = two
    with watching(here, *options) as watcher:
        second = there.run("watch")
        watcher.until(f"watching {there.project}")
        there.claude("there").user("over there")
        here.claude("here").user("over here")
        watcher.captured(4)
        status = here.run("watch", "--status", "--json").json

    assert (second.code, second.err) == (0, "")
    assert f"a watcher runs already and serves what is registered (pid {watcher.process.pid})" in second.out
    assert [each["state"] for each in status["workspaces"]] == ["watched", "watched"]
    assert here.said() == [("user", "over here")]
    assert there.said() == [("user", "over there")]


def test_status_tells_how_it_stands(world: World):
    """Before, while and after."""
    world.workspace()
    none = world.run("watch", "--status", "--json").json
    with watching(world, "--poll") as watcher:
        running = world.run("watch", "--status", "--json").json
        shown = world.run("status", "--no-sync").out
        pid = watcher.process.pid
    ended = world.run("watch", "--status", "--json").json

    assert (none["running"], none["workspaces"]) == (False, [])
    assert (running["running"], running["pid"], running["mode"]) == (True, pid, "polling")
    assert running["why"] == "asked for"
    assert running["workspaces"][0]["root"] == str(world.project)
    assert f"runs for 1 workspace, by polling: asked for (pid {pid}" in shown
    assert (ended["running"], ended["workspaces"][0]["state"]) == (False, "waiting")
    assert ended["notes"] == []  # hooks do without one
    assert "watch --install" in world.run("watch", "--status").out


def test_what_it_keeps_is_private(world: World):
    """The list says where somebody works."""
    world.workspace()
    os.umask(0)
    try:
        with watching(world, "--poll"):
            state = world.home / ".local" / "state" / "conversation-esaa"
            modes = {path.name: path.stat().st_mode & 0o777 for path in (state, *state.iterdir())}
            spool = world.store / "run" / "spool"
            assert spool.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(0o022)

    assert modes.pop("conversation-esaa") == 0o700
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("rounds", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_it_starts_and_stops_as_often_as_one_likes(world: World, rounds):
    """FC-B09: never two, nothing survives it, and a kill -9 keeps nobody from starting the next."""
    claude = world.claude().user("0")
    world.workspace()
    endings = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # else we run under nohup, and so does the watcher
        endings.append(signal.SIGHUP)
    for number in range(rounds):
        ending = endings[number % len(endings)]
        with watching(world, "--poll") as watcher:
            second = world.run("watch")
            group = children(watcher.process.pid)
            ran = watcher.stopped(ending)

        assert "runs already" in second.out
        assert group == []
        assert ran.code == (-signal.SIGKILL if ending == signal.SIGKILL else 0)
    claude.assistant("done")
    with watching(world, "--poll") as watcher:
        watcher.captured(1)
    assert world.said()[-1] == ("assistant", "done")
    assert world.run("verify", "--deep").code == 0


@pytest.mark.timeout(20)
def test_a_signal_ends_it_at_whatever_step_it_comes():
    """Also while the main thread is within the event that the signal is to set, and holds its lock."""
    stop = threading.Event()
    former = watch._stopped_by_signals(stop)
    try:
        with stop._cond:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0)  # the handler has run when this is over
        assert stop.wait(10)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def children(pid: int) -> list[str]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


def test_two_that_start_at_once_become_one(world: World):
    """FC-B09: a login script and a service."""
    world.workspace()
    processes = [world.process("watch", "--poll") for _ in range(4)]
    watchers = [Watching(world, process) for process in processes]
    ended = [watcher for watcher in watchers if _ends_by_itself(watcher)]
    running = [watcher for watcher in watchers if watcher not in ended]

    assert len(running) == 1
    assert running[0].stopped().code == 0
    assert all(watcher.process.returncode == 0 for watcher in ended)


def _ends_by_itself(watcher: Watching) -> bool:
    while watcher._read(60):
        if any("changes are found" in line for line in watcher.lines):
            return False
    watcher.ended()
    return True


@pytest.mark.parametrize("options", WAYS)
def test_another_watcher_of_the_same_workspace_is_left_to_it(world: World, options):
    """FC-B09: with another state directory, as another user of a shared directory has."""
    world.workspace()
    elsewhere = str(world.home / "elsewhere")
    with (
        watching(world, *options),
        watching(world, *options, CONVERSATION_ESAA_STATE_DIR=elsewhere) as second,
    ):
        line = second.until("another watcher serves this workspace already")

    assert "(watch " in line


@pytest.mark.parametrize("trouble", ["bad settings", "locked log"])
def test_one_workspace_in_trouble_hinders_no_other(two, trouble):
    """It is told once, tried again, and told when it is well again."""
    here, there = two
    there.run("watch", "--forget", str(there.project))
    config = here.store / "config.toml"
    with watching(here, "--poll") as watcher:
        assert "runs already" in there.run("watch").out
        watcher.until(f"watching {there.project}")
        good = config.read_bytes()
        if trouble == "bad settings":
            config.write_bytes(b"root = [")
            here.claude("here").user("late")
            watcher.until("config.toml")
            there.claude("there").user("in time")
            watcher.captured(2)
            config.write_bytes(good)
        else:
            with held(here.workspace().layout.write_lock, purpose="stall", wait_s=0):
                here.claude("here").user("late")
                watcher.until("is writing to the log")
                there.claude("there").user("in time")
                watcher.captured(2)
        failing = here.run("watch", "--status", "--json").json["workspaces"]
        watcher.until("all is well again")
        watcher.captured(4)

    assert {each["state"] for each in failing} == {"failing", "watched"}
    assert there.said() == [("user", "in time")]
    assert here.said() == [("user", "late")]


def test_a_list_that_is_damaged_is_an_error_with_a_mend(world: World):
    """Nothing is written over it: it may be a newer version's."""
    world.workspace()
    state = world.home / "state"
    state.mkdir()
    (state / "workspaces.json").write_text("{}")
    world.environ["CONVERSATION_ESAA_STATE_DIR"] = str(state)

    ran = world.run("watch", "--registered", "--json")

    assert (ran.code, ran.error["code"]) == (1, "state.unusable")
    assert "Move that file away" in ran.error["hint"]
    assert (state / "workspaces.json").read_text() == "{}"
    assert "Move that file away" in world.run("watch", "--status").out


def test_nothing_registered_is_nothing_to_do(world: World):
    """A service without work ends well, and is not started again."""
    ran = world.run("watch", "--registered")

    assert (ran.code, ran.err) == (0, "")
    assert "no workspace is registered" in ran.out
    assert not (world.home / ".local").exists()
    assert world.run("watch").code == 4


def test_under_json_one_object_says_how_it_was(world: World):
    """A program that starts it gets one answer, when it has ended."""
    world.workspace()
    process = world.process("watch", "--poll", "--json")
    with following(world, process) as watcher:
        lock = world.home / ".local" / "state" / "conversation-esaa" / "watcher.json"
        while not lock.exists():
            assert process.poll() is None
        ran = watcher.stopped()

    assert json.loads(ran.out)["schema"] == "conversation-esaa.watch/1"
    assert json.loads(ran.out)["running"] is False


def test_without_watchfiles_it_polls_and_names_the_package(world: World, tmp_path):
    """FC-B08: the extra is not installed."""
    world.workspace()
    (tmp_path / "shadow").mkdir()
    (tmp_path / "shadow" / "watchfiles.py").write_text("raise ImportError('not here')")
    path = os.pathsep.join([str(tmp_path / "shadow"), world.process_environ()["PYTHONPATH"]])
    with watching(world, PYTHONPATH=path) as watcher:
        line = watcher.until("changes are found")

    assert "by polling (watchfiles is not installed: pip install 'conversation-esaa[watch]')" in line


@EVENTS
@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_the_limits_of_the_system_make_it_poll(world: World, limit):
    """FC-B08: the kernel refuses, for this process and its user namespace alone."""
    world.claude().user("one")
    world.workspace()
    set_limit = f"echo 0 > /proc/sys/user/{limit}"
    if subprocess.run(["unshare", "-Ur", "sh", "-c", set_limit], capture_output=True, check=False).returncode:
        pytest.skip("no user namespace to limit here")
    process = subprocess.Popen(
        ["unshare", "-Ur", "sh", "-c", f'{set_limit}; exec "{sys.executable}" -m conversation_esaa watch'],
        cwd=world.project,
        env=world.process_environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with following(world, process) as watcher:
        line = watcher.until("changes are found")
        watcher.captured(2)
        status = world.run("status", "--no-sync").out

    assert "by polling" in line
    assert "by polling: " in status
    assert world.said() == [("user", "one")]
