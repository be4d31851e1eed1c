"""A capture that is stopped half-way goes on the next time: nothing lost, nothing doubled, less to read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.capture import sync as capturing

if TYPE_CHECKING:
    from builders.world import World

SESSIONS, TURNS = 12, 20

# Appends in small steps, and stands still in one of them until it is interrupted, with the lock held.
STOPPED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started deaf to it
from conversation_esaa.capture import sync
from conversation_esaa.log.writer import LogWriter
sync.OPEN_FILES, sync.BATCH = 3, 7
append, times, last = LogWriter.append, [], int(sys.argv[1])
def stopped(writer, drafts, *, recorded_at):
    times.append(1)
    if len(times) == last:
        print("appending", flush=True)
        signal.pause()
    return append(writer, drafts, recorded_at=recorded_at)
LogWriter.append = stopped
sys.argv = ["conversation-esaa", "sync"]
from conversation_esaa.cli.main import entry
sys.exit(entry())
"""


@pytest.fixture
def many(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(capturing, "OPEN_FILES", 3)
    monkeypatch.setattr(capturing, "BATCH", 7)
    monkeypatch.setattr(capturing, "TELL_EVERY", 1)
    world.workspace()
    for number in range(SESSIONS):
        claude = world.claude(f"session {number}")
        for turn in range(TURNS // 2):
            claude.user(f"Question {number}.{turn}?").assistant(f"Answer {number}.{turn}.")
    return world


def everything() -> set[str]:
    pairs = ((number, turn) for number in range(SESSIONS) for turn in range(TURNS // 2))
    return {f"{kind} {n}.{t}{end}" for n, t in pairs for kind, end in (("Question", "?"), ("Answer", "."))}


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def interrupt(world: World, share: float) -> int:
    """A person looks at the progress and presses Ctrl-C; how many bytes there were to read."""
    totals: list[int] = []

    def progress(doing: str, done: int, total: int) -> None:
        totals.append(total)
        if doing == "capturing" and done >= share * total:
            raise KeyboardInterrupt

    workspace = world.workspace()
    workspace.progress = progress
    with pytest.raises(KeyboardInterrupt):
        workspace.sync()
    return totals[0]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.9])
def test_the_next_run_completes_it_and_reads_only_what_was_not_finished(many: World, share):
    interrupt(many, share)
    before = (many.store / "activity.jsonl").read_bytes()

    report = many.agent("claude-code", many.sync())

    assert (many.store / "activity.jsonl").read_bytes().startswith(before)
    assert sorted(texts(many)) == sorted(everything())
    assert report.read <= SESSIONS - int(share * SESSIONS) + 3  # those that were open are read again
    assert many.workspace().verify(deep=True).ok


def test_each_run_that_is_stopped_leaves_less_to_read(many: World):
    left = [interrupt(many, 0.5) for _ in range(4)]
    many.sync()

    assert left == sorted(left, reverse=True)
    assert left[-1] < left[0] / 4
    assert sorted(texts(many)) == sorted(everything())


def test_what_was_finished_is_not_read_again(many: World):
    interrupt(many, 0.6)
    read: list[int] = []
    workspace = many.workspace()
    workspace.progress = lambda doing, done, total: read.append(total) if doing == "capturing" else None

    workspace.sync()

    whole = sum(path.stat().st_size for path in many.home.rglob("*.jsonl"))
    assert read[0] <= 0.5 * whole


def test_a_root_that_joined_is_not_forgotten_by_a_run_that_was_stopped(many: World, tmp_path):
    """What was refused before is looked at again until a run has looked at all of it."""
    elsewhere = tmp_path / "worktree"
    elsewhere.mkdir()
    for number in range(5):
        many.claude(f"worktree {number}", cwd=elsewhere).user(f"In the worktree {number}.")
    many.sync()
    assert not any("worktree" in text for text in texts(many))
    many.add_roots(str(elsewhere))

    interrupt(many, 0.3)
    many.sync()

    assert sum("worktree" in text for text in texts(many)) == 5


@pytest.mark.skipif(os.name == "nt", reason="signals are told the POSIX way")
@pytest.mark.parametrize("append", [1, 9, 20])
def test_ctrl_c_in_a_cold_capture_keeps_what_was_captured(many: World, append):
    """In a process of its own, in the middle of an append."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(append)],
        cwd=many.project,
        env=many.process_environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"appending\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (
        130,
        b"stopped; what was captured and indexed so far is kept, and the next run goes on there\n",
    )
    kept = (many.store / "activity.jsonl").read_bytes()
    events = len(many.entries())

    answer = json.loads(many.run("sync", "--json").out)

    (claude,) = [agent for agent in answer["agents"] if agent["agent"] == "claude-code"]
    assert (many.store / "activity.jsonl").read_bytes().startswith(kept)
    assert sorted(texts(many)) == sorted(everything())
    assert claude["captured"] == len(many.entries()) - events
    assert (claude["read"] < SESSIONS) == (append > 1)
