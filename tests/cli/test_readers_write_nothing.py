"""FC-M06: reading takes no lock and needs no right to write."""

import json
import os
import subprocess
import sys

import pytest

from builders.world import World
from conversation_esaa.log.lock import held

READING = [
    "context --last 100",
    "handoff",
    "status",
    "stats",
    "goal",
    "task list",
    "topic list",
    "show DEC-0001",
    "project --check",
    "verify",
    "agents",
]
# A process for which everything below the given directories is on a read-only file system. Every way that
# Python has to write is seen by its audit hooks, so this holds for root too, where modes do not bind.
READ_ONLY = """
import errno, os, sys
places = tuple(os.fsencode(path) for path in sys.argv.pop(1).split(os.pathsep))
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
def refuse(event, args):
    if event == "open" and not (isinstance(args[2], int) and args[2] & WRITING):
        return
    if event == "open" or event in CHANGES:
        for path in args[:2]:
            if isinstance(path, (str, bytes, os.PathLike)) and os.fsencode(path).startswith(places):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), os.fsdecode(path))
from conversation_esaa.cli.main import entry
sys.addaudithook(refuse)
sys.exit(entry())
"""


@pytest.fixture
def talk(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    world.run("up")
    world.run("decide", "Use 8080")
    return world


def run_read_only(world: World, *argv: str) -> subprocess.CompletedProcess[bytes]:
    places = os.pathsep.join(map(str, (world.project, world.home)))
    return subprocess.run(
        [sys.executable, "-c", READ_ONLY, places, *argv],
        cwd=world.project,
        env=world.process_environ(),
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("command", READING)
def test_reading_works_on_a_read_only_file_system(talk, command):
    """FC-N08: a mounted backup, another user's project, a container."""
    ran = run_read_only(talk, *command.split())

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout


@pytest.mark.parametrize(
    "command", ["context --last 100", "handoff", "status", "stats", "goal", "show DEC-0001"]
)
def test_what_cannot_be_captured_there_is_said_and_not_shown(talk, command):
    """Something was said meanwhile: the answer is what the log has, and says that it is not the newest."""
    talk.codex().user("And in tests?")

    ran = run_read_only(talk, *command.split(), "--json")

    assert (ran.returncode, ran.stderr) == (0, b"")
    freshness = json.loads(ran.stdout)["freshness"]
    assert freshness["caught_up"] is False
    assert "Read-only file system" in freshness["reason"]
    assert b"And in tests?" not in ran.stdout


@pytest.mark.parametrize(
    "command",
    [
        "decide Use it",
        "goal Ship it",
        "task create Write",
        "sync",
        "topic create Ports",
        "project",
        "init",
        "up",
    ],
)
def test_writing_there_fails_with_one_clear_line(talk, command):
    """FC-N08: what happened, what it means, what to do; nothing half done."""
    talk.codex().user("And in tests?")
    (talk.store / "state.md").unlink()
    (talk.store / ".gitignore").unlink()
    before = talk.bytes_of_store()

    ran = run_read_only(talk, *command.split())

    told = ran.stderr.decode()
    assert ran.returncode == 1, told
    assert told.startswith("error: ")
    assert "Read-only file system" in told
    assert "\nhint:  " in told
    assert len(told.splitlines()) == 2
    assert talk.bytes_of_store() == before


@pytest.mark.parametrize("command", READING)
def test_reading_does_not_wait_while_another_process_writes(talk, command):
    """A long import must not stop anybody from reading."""
    with held(talk.store / "run" / "write.lock", purpose="a long import", wait_s=0):
        ran = talk.run(*command.split(), "--lock-timeout", "0")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out


@pytest.mark.parametrize(
    "command", ["context", "handoff", "status", "show DEC-0001", "goal", "stats", "task list"]
)
def test_reading_takes_no_lock_when_there_is_nothing_to_capture(talk, command):
    """Then the answer is the newest there is, whoever writes; and it does not pay for rebuilding anything."""
    with held(talk.store / "run" / "write.lock", purpose="a long import", wait_s=0):
        ran = talk.run(*command.split(), "--json")

    assert ran.json["freshness"]["caught_up"] is True


@pytest.mark.parametrize("command", ["context --last 100", "handoff", "status", "show DEC-0001"])
def test_reading_says_when_another_process_kept_it_from_catching_up(talk, command):
    """The answer is a consistent part of the log, and says that there may be more."""
    talk.codex().user("And in tests?")

    with held(talk.store / "run" / "write.lock", purpose="a long import", wait_s=0):
        ran = talk.run(*command.split(), "--json")

    freshness = ran.json["freshness"]
    assert ran.code == 0
    assert (freshness["caught_up"], freshness["reason"]) == (False, "another process is writing")
    assert talk.run(*command.split(), "--json").json["freshness"]["caught_up"] is True
