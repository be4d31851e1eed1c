"""I2: an acknowledged line is never lost, changed or repeated, and capture loses and doubles no turn, wherever
a process dies.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import Claude, Codex, World

# Runs a command and kills its own process, as `kill -9` would, at the n-th call that changes something on
# the disk: before it, half-way through a write, or behind it.
DYING = """
import os, signal, sys
at, moment = int(sys.argv[1]), sys.argv[2]
seen = 0
def dying(name):
    real = getattr(os, name)
    def call(*args, **options):
        global seen
        seen += 1
        if seen == at and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if seen == at and moment == "half" and name == "write":
            real(args[0], bytes(args[1])[: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return real(*args, **options)
        finally:
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, name, call)
for name in ("write", "fdatasync", "ftruncate", "replace", "mkdir", "unlink"):
    dying(name)
from conversation_esaa.capture import sync
sync.BATCH = 2
from conversation_esaa.cli.main import main
sys.exit(main(sys.argv[3:]))
"""


class Talk:
    """Two agents that go on talking, and what they said so far."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.claude: Claude = world.claude()
        self.codex: Codex = world.codex()
        self.said: list[str] = []

    def go_on(self) -> None:
        number = len(self.said)
        words = [f"question {number} to one", f"answer {number}\n" * 50, f"question {number} to the other"]
        self.claude.user(words[0]).assistant(words[1].strip())
        self.codex.user(words[2])
        self.said += [words[0], words[1].strip(), words[2]]

    def assert_nothing_lost_or_doubled(self) -> None:
        assert sorted(text for _, text in self.world.said()) == sorted(self.said)


@pytest.mark.parametrize(
    "moment",
    ["half", pytest.param("before", marks=pytest.mark.slow), pytest.param("after", marks=pytest.mark.slow)],
)
def test_a_capture_that_dies_at_any_call_is_completed_by_the_next(world: World, moment):
    """Every write, sync, truncation and rename of a run is a place to die at; after each of them the next run
    brings log, cursors and read models to where they belong.
    """
    world.workspace()
    talk = Talk(world)
    acknowledged = b""
    for at in range(1, 100):
        talk.go_on()
        died = subprocess.run(
            [sys.executable, "-c", DYING, str(at), moment, "sync"],
            cwd=world.project,
            env=world.process_environ(),
            capture_output=True,
            check=False,
        )
        log = world.workspace().layout.log.read_bytes()
        assert log.startswith(acknowledged)

        world.sync()

        talk.assert_nothing_lost_or_doubled()
        assert world.run("project", "--check").code == 0
        acknowledged = world.workspace().layout.log.read_bytes()
        if died.returncode == 0:
            break
        assert died.returncode == -signal.SIGKILL, died.stderr
    assert at > 10, "the run was hardly interrupted at all"
    assert "chain intact" in world.run("verify", "--deep").out


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_a_capture_that_is_killed_at_any_time_is_completed_by_the_next(world: World, rounds):
    """`kill -9` from outside, at moments that no call marks."""
    world.workspace()
    talk, chance = Talk(world), random.Random(rounds)
    talk.go_on()
    for _ in range(rounds):
        talk.go_on()
        process = world.process("sync")
        try:
            process.wait(timeout=chance.uniform(0.02, 0.4))
        except subprocess.TimeoutExpired:
            process.kill()
        world.wait(process)

    world.sync()

    talk.assert_nothing_lost_or_doubled()
    assert "chain intact" in world.run("verify", "--deep").out
    assert world.run("project", "--check").code == 0


@pytest.mark.parametrize("rounds", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_a_decision_is_in_the_log_once_it_was_answered_and_never_twice(world: World, rounds):
    """The answer is the acknowledgement: what was killed before it may be there or not, as a whole."""
    world.workspace()
    chance, acknowledged = random.Random(rounds), []
    for number in range(rounds * 2):
        process = world.process("decide", f"Decision {number}")
        try:
            process.wait(timeout=chance.uniform(0.1, 0.6))
        except subprocess.TimeoutExpired:
            process.kill()
        if world.wait(process).code == 0:
            acknowledged.append(f"Decision {number}")

    world.run("decide", "The last one")

    recorded = [decision.decision for decision in world.workspace().state().decisions.values()]
    assert set(acknowledged) <= set(recorded)
    assert len(recorded) == len(set(recorded))
    assert "chain intact" in world.run("verify", "--deep").out


def test_what_agents_do_to_their_logs_takes_nothing_from_ours(world: World):
    """Rewritten, shortened, rotated, deleted: our lines are our own."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    before = world.workspace().layout.log.read_bytes()
    content = claude.path.read_bytes()
    for damage in (content[:40], b"", b"\0" * 500, content[::-1], content.splitlines(keepends=True)[-1]):
        claude.path.write_bytes(damage)
        world.sync()
    claude.path.unlink()
    world.sync()

    assert world.workspace().layout.log.read_bytes() == before
