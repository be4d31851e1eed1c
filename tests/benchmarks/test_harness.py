"""The benchmarks run and say what they should. What they measure is for people to judge: no times here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"

# A benchmark directory is on a developer's disk, not in an installed package.
pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="there is no benchmarks/ beside the tests")


def tool(name: str, *words: object) -> str:
    """What one of the scripts printed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / name), *map(str, words)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tree(directory: Path) -> dict[str, bytes]:
    """Every file below."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_the_table_has_a_row_for_every_budget(tmp_path: Path):
    """At sizes where nothing means anything, the whole path of a measurement is still gone through."""
    results = tmp_path / "results.json"

    printed = tool(
        "run.py",
        *("--dir", tmp_path, "--json", results, "--runs", 1, "--appends", 3),
        *("--events", 20, "--events", 60, "--files", 3, "--many-files", 5),
        *("--short-session", 4, "--long-session", 8, "--cold", "2x4", "--cold", "2x8"),
    )

    for what in (
        "`--version`",
        "a hook call, 60 events in the log",
        "a hook call that injects, 60 events in the log",
        "a hook call that starts a worker, 60 events in the log",
        "sync, nothing new, 3 session files",
        "sync, nothing new, 5 session files",
        "one new turn, 5 session files",
        "peak memory, one new turn, 5 session files",
        "sync, nothing new, 60 events in the log against 20",
        "one new turn, session of 8 turns against 4",
        "`context --last 20`, 60 events in the log against 20",
        "`handoff`, 60 events in the log against 20",
        "`show ID`, 60 events",
        "cold capture,",
        "peak memory, cold capture of",
        "bytes of the log for a byte of what was said",
        "one durable append of",
        "`verify --deep`, ",
    ):
        assert what in printed
    assert "Not measured:" in printed
    rows = json.loads(results.read_text("utf-8"))["rows"]
    assert len({row["key"] for row in rows}) == len(rows)
    assert all(row["value"] > 0 for row in rows)
    assert not list(tmp_path.glob("conversation-esaa-bench-*"))  # what was measured in is gone

    picture = tmp_path / "plot.svg"
    tool("plot.py", results, picture)

    assert picture.read_text("utf-8").startswith("<svg")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc what a process costs")
def test_a_watcher_is_measured_where_it_is_asked_for(tmp_path: Path):
    """It is idle for a minute by its nature; here for a moment."""
    printed = tool("run.py", "--dir", tmp_path, "--only", "watcher", "--idle", 0.5, "--runs", 1, "--files", 3)

    for what in (
        "an idle minute, 3 session files",
        "from an appended line to a captured turn",
        "peak memory",
    ):
        assert f"watcher by polling, {what}" in printed or f"{what}, watcher by polling" in printed


def test_the_same_arguments_give_the_same_sessions(tmp_path: Path):
    """Two people who compare figures have measured the same bytes."""
    words = ("--workspace", "/home/dev/tea", "--sessions", 4, "--turns", 9, "--elsewhere", 2)

    tool("synthetic.py", tmp_path / "one", *words)
    tool("synthetic.py", tmp_path / "two", *words)
    tool("synthetic.py", tmp_path / "one", "--append", 1)
    tool("synthetic.py", tmp_path / "two", "--append", 1)
    tool("synthetic.py", tmp_path / "other", *words, "--seed", 2)

    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert tree(tmp_path / "one") != tree(tmp_path / "other")


def test_the_same_arguments_give_the_same_log(tmp_path: Path):
    """The log's own salts are drawn from the seed here, and nowhere else."""
    workspace = tmp_path / "project"
    words = (tmp_path / "home", "--workspace", workspace, "--log-events", 1_100)
    log = workspace / ".conversation-esaa" / "activity.jsonl"
    tool("synthetic.py", *words)
    first = log.read_bytes()
    workspace.rename(tmp_path / "aside")

    tool("synthetic.py", *words)

    assert log.read_bytes() == first
    assert first.count(b"\n") == 1_100


def test_the_reference_loop_finds_every_visible_turn(tmp_path: Path):
    """A yardstick that does less than the work would flatter nobody for long."""
    workspace = tmp_path / "project"
    home = tmp_path / "home"
    tool("synthetic.py", home, "--workspace", workspace, "--sessions", 6, "--turns", 150, "--elsewhere", 3)
    visible = sum(
        session["visible"] for session in json.loads((home / "synthetic.json").read_text("utf-8"))["sessions"]
    )

    counted = tool("reference_loop.py", "capture", home, workspace, tmp_path / "out.jsonl")

    assert int(counted) == visible == 900


def test_the_shares_of_a_capture_are_all_of_it():
    """Whatever it is doing at a look is one of the things that are named."""
    told = tool("shares.py", "--sessions", 2, "--turns", 30).splitlines()

    assert told[-1].endswith(" looks")
    assert 99 <= sum(float(line.split("%")[0]) for line in told[:-1]) <= 101


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind here")
@pytest.mark.slow
def test_instructions_are_counted_from_an_empty_interpreter_on():
    """Each line holds what stands above it."""
    counts = [float(line.split()[-4]) for line in tool("instructions.py", "--events", 100).splitlines()]

    assert counts == sorted(counts)
    assert len(counts) == 4
