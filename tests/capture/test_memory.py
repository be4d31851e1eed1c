"""Memory of a capture does not grow with the files: they are read line by line, and merged as streams."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from builders.world import World

if TYPE_CHECKING:
    from pathlib import Path

PEAK = """
import sys
from conversation_esaa.cli.main import main
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    print(next(line for line in status if line.startswith("VmHWM")).split()[1], file=sys.stderr)
sys.exit(code)
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak of a process")


def peak_mb(world: World) -> float:
    """The largest resident memory of a `sync` in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, "sync"],
        cwd=world.project,
        env=world.process_environ(),
        capture_output=True,
        check=True,
    )
    return int(ran.stderr.split()[-1]) / 1024


def with_tool_output(world: World, megabytes: int) -> None:
    """One session of 20 visible turns between a lot of tool output."""
    claude = world.claude()
    output = json.dumps(
        claude.record("user", message={"role": "user", "content": []}, toolUseResult="x" * 100_000)
    )
    for _ in range(10):
        claude.user("question").assistant("answer")
        claude.write_bytes((output + "\n").encode() * megabytes)


def test_a_session_of_many_megabytes_costs_no_more_memory_than_a_small_one(tmp_path: Path):
    """FC-B01, FC-B02: and the whole stays within the budget of 60 MB."""
    small, large = World(tmp_path / "small"), World(tmp_path / "large")
    for world, megabytes in ((small, 1), (large, 60)):
        world.workspace()
        with_tool_output(world, megabytes)

    peaks = peak_mb(small), peak_mb(large)

    assert len(large.turns()) == 20
    assert peaks[1] < peaks[0] + 5
    assert peaks[1] < 60


def test_hundreds_of_sessions_are_merged_without_being_held(tmp_path: Path):
    """More files than are open at once, each with turns: groups of them, batch by batch."""
    world = World(tmp_path)
    world.workspace()
    for number in range(250):
        session = world.codex(f"s{number}")
        for turn in range(4):
            session.user(f"question {number}/{turn} " + "words " * 300)

    peak = peak_mb(world)

    assert len(world.turns()) == 1_000
    assert peak < 60
