"""Fault cases I: log, state, locks and processes, from end to end."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.log.lock import held

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders.world import World


def seqs(world: World) -> list[int]:
    return [json.loads(line)["seq"] for line in world.workspace().layout.log.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("processes", "commands"), [(4, 2), pytest.param(8, 6, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_processes_that_write_at_once_make_one_chain(world: World, processes, commands):
    """FC-I01, FC-I02, FC-I03, FC-N09: captures and decisions of several agents in the same second."""
    world.workspace()
    claude, codex = world.claude(), world.codex()
    for _ in range(commands):
        claude.user("one").assistant("two " * 4_000)
        codex.user("three").assistant("four")

        running = [world.process("decide", f"Decision {number}") for number in range(processes)]
        running += [world.process("task", "create", f"Task {number}") for number in range(processes)]
        running += [world.process("sync", "--agent", name) for name in ("claude-code", "codex")]
        ran = [world.wait(process) for process in running]

        assert [one.code for one in ran] == [0] * len(ran), [one.err for one in ran]
    state = world.workspace().state()
    assert len(state.decisions) == len(state.tasks) == processes * commands
    assert len(world.turns()) == 4 * commands
    assert seqs(world) == list(range(1, len(seqs(world)) + 1))
    assert world.run("verify", "--deep").code == 0
    assert not [name for name in world.bytes_of_store() if name.endswith(".tmp")]


@pytest.mark.parametrize("error", [errno.EROFS, errno.EDQUOT, errno.EBADF, errno.EIO])
@pytest.mark.parametrize("command", [("sync",), ("decide", "Take the north harbour"), ("goal", "Ship it")])
def test_a_write_that_fails_is_never_silent(world: World, monkeypatch, error, command):
    """FC-I04: one line and a hint, exit code 1, and a log that is as it was."""
    world.claude().user("one")
    world.workspace()
    before = world.workspace().layout.log.read_bytes()
    real = os.write

    def failing(descriptor, data):
        if os.path.samestat(os.fstat(descriptor), world.workspace().layout.log.stat()):
            raise OSError(error, os.strerror(error))
        return real(descriptor, data)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", failing)
        ran = world.run(*command)

    assert ran.code == 1
    assert os.strerror(error) in ran.err
    assert "Traceback" not in ran.err
    assert world.workspace().layout.log.read_bytes() == before


def test_a_run_that_was_killed_locks_nobody_out(world: World):
    """FC-I05: the lock dies with its holder."""
    world.claude().user("one")
    world.workspace()
    with _lock_held_by_another_process(world):
        pass  # killed on the way out

    ran = world.run("sync", "--lock-timeout", "0")

    assert ran.code == 0
    assert world.said() == [("user", "one")]


def test_a_holder_that_stalls_keeps_its_lock(world: World):
    """FC-I06, FC-I11: nobody judges whether it is stale; who waits gives up with exit code 5 and a name."""
    world.claude().user("one")
    world.workspace()
    with _lock_held_by_another_process(world) as pid:
        ran = world.run("sync", "--lock-timeout", "0.05")
        reading = world.run("context")

    assert ran.code == 5
    assert f"pid {pid}" in ran.err
    assert reading.code == 0
    assert "another process is writing" in reading.out + reading.err
    assert world.run("sync").code == 0
    assert world.said() == [("user", "one")]


@contextlib.contextmanager
def _lock_held_by_another_process(world: World) -> Iterator[int]:
    code = (
        "import sys; from pathlib import Path; from conversation_esaa.log.lock import held\n"
        "with held(Path(sys.argv[1]), purpose='stall', wait_s=0):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(world.workspace().layout.write_lock)],
        env=world.process_environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process.pid
        process.kill()


@pytest.mark.parametrize("command", ["status", "verify", "context", "handoff", "sync"])
def test_a_log_that_is_no_file_is_named_as_the_cause(world: World, command):
    """FC-I08: a directory in its place, as unreadable as mode 000."""
    world.workspace()
    log = world.workspace().layout.log
    log.unlink()
    log.mkdir()

    ran = world.run(command)

    assert ran.code in (1, 3)
    assert "activity.jsonl" in ran.out + ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", ["status", "verify", "context", "sync", "project"])
def test_a_store_that_is_gone_is_said_to_be_gone(world: World, command):
    """FC-I08, FC-I13: and no command but `up` and `init` makes a new one."""
    world.claude().user("one")
    world.sync()
    shutil.rmtree(world.store)

    ran = world.run(command)

    assert ran.code == 4
    assert "up" in ran.err
    assert not world.store.exists()


def test_a_full_disk_is_named_and_loses_nothing(world: World):
    """FC-I08, FC-N07: a real limit on file size, in a process of its own."""
    world.workspace()
    world.claude().user("long " * 100_000)
    before = world.workspace().layout.log.read_bytes()
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from conversation_esaa.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )

    ran = subprocess.run(
        [sys.executable, "-c", code, "sync"],
        cwd=world.project,
        env=world.process_environ(),
        capture_output=True,
        check=False,
    )

    assert ran.returncode == 1
    assert b"File too large" in ran.stderr
    assert world.workspace().layout.log.read_bytes() == before
    assert world.sync().captured == 2
    assert world.run("verify", "--deep").code == 0


def test_a_log_that_went_back_to_an_older_state_is_captured_again(world: World):
    """FC-I10: a restored backup. The cursors are found to be of another log; nothing is doubled."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    older = world.workspace().layout.log.read_bytes()
    claude.user("three").assistant("four")
    world.sync()
    world.workspace().layout.log.write_bytes(older)

    report = world.sync()

    assert report.captured == 2
    assert [text for _, text in world.said()] == ["one", "two", "three", "four"]
    assert world.run("verify", "--deep").code == 0


def test_one_unreadable_source_is_partial_and_the_other_is_captured(world: World):
    """FC-I12: exit code 3, counts per agent in the answer."""
    claude = world.claude()
    claude.path.mkdir()  # a directory where a file should be
    (world.home / ".codex").mkdir()
    (world.home / ".codex" / "sessions").write_text("a file where a directory should be")
    world.grok().user("one")
    world.workspace()

    ran = world.run("sync", "--json")

    agents = {agent["agent"]: agent for agent in ran.json["agents"]}
    assert world.said() == [("user", "one")]
    assert agents["grok"]["captured"] == 2
    assert ran.code in (0, 3)
    assert (ran.code == 3) == ran.json["partial"]


def test_a_reader_that_breaks_costs_its_own_agent_and_no_other(world: World, monkeypatch):
    """FC-I12: a defect of ours in one module; the rest is captured, and the file is not taken for read."""
    from conversation_esaa.agents import codex

    world.codex().user("one")
    world.grok().user("two")
    world.workspace()

    def broken(records, state):
        raise AttributeError("CANARY")
        yield

    with monkeypatch.context() as patched:
        patched.setattr(codex, "read", broken)
        failed = world.run("sync")
    mended = world.sync()

    assert failed.code == 3
    assert "AttributeError" in failed.out
    assert "CANARY" not in failed.out + failed.err
    assert mended.captured == 2
    assert sorted(text for _, text in world.said()) == ["one", "two"]


def test_another_process_between_two_batches_is_noticed(world: World, monkeypatch):
    """The lock is given back between batches; what was appended meanwhile counts as known."""
    from conversation_esaa.capture import sync as capturing

    claude = world.claude()
    for number in range(6):
        claude.user(f"turn {number}")
    world.workspace()
    monkeypatch.setattr(capturing, "BATCH", 2)
    real = capturing._Run._append
    nested = iter([True])

    def append(run, batch):
        real(run, batch)
        if next(nested, False):
            assert world.wait(world.process("sync")).code == 0

    monkeypatch.setattr(capturing._Run, "_append", append)
    world.sync()

    assert [text for _, text in world.said()] == [f"turn {number}" for number in range(6)]


def test_a_lock_is_needed_for_writing_alone(world: World):
    """FC-M06: every reader answers while somebody writes."""
    world.claude().user("one")
    world.sync()
    with held(Path(world.workspace().layout.write_lock), purpose="test", wait_s=0):
        ran = [world.run(*words) for words in (["context"], ["handoff"], ["status"], ["show", "last"])]

    assert [one.code for one in ran] == [0, 0, 0, 0], [one.err for one in ran]


@pytest.mark.parametrize("content", [b"*.log", b"*.log\n", None])
def test_fc_i09_nothing_of_ours_shows_in_git_and_its_ignore_file_is_left_alone(world: World, content):
    """FC-I09: the store ignores itself; a `.gitignore` without a final newline, or that is read-only, is not needed."""
    git = ["git", "-C", str(world.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    ignore = world.project / ".gitignore"
    if content is not None:
        ignore.write_bytes(content)
        ignore.chmod(0o444)
    world.claude().user("Which port?").assistant("8080.")
    before = subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True).stdout

    for words in (
        ["up"],
        ["decide", "Use 8080"],
        ["enable-hooks", "--agent", "codex"],
        ["doctor", "--no-proof"],
    ):
        world.run(*words)

    after = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=all"], check=True, capture_output=True
    )
    assert after.stdout == before
    assert content is None or ignore.read_bytes() == content
    assert (
        subprocess.run(
            [*git, "check-ignore", "-q", ".conversation-esaa/activity.jsonl"], check=False
        ).returncode
        == 0
    )
