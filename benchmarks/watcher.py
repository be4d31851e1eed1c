"""What a watcher costs while nothing happens, and how soon it has captured a word. Takes a minute and more."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import synthetic
from bench import SETTLING_S
from measure import Failed
from table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench import Bench, Spot

IDLE_MS = 60.0  # of CPU time in a minute: a thousandth of a core
PEAK_MB = 60.0
SOON_S = {"events": 1.0, "polling": 2.5}
PATIENCE_S = 60.0
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def watching(bench: Bench) -> list[Row]:
    """The rows of both ways to hear of a change; of one, where watchfiles is not installed. Linux alone."""
    if not Path("/proc/self/stat").exists():
        return []
    rows: list[Row] = []
    for options in ((), ("--poll",)):
        spot = bench.spot(f"watched{''.join(options)}")
        sizes = bench.sizes
        here = min(sizes.files, sizes.files_here)
        bench.with_sessions(spot, sessions=here, turns=12, elsewhere=sizes.files - here)
        bench.captured(spot)
        found = list(_watched(bench, spot, options))
        if not {row.key for row in found} & {row.key for row in rows}:
            rows += found
    return rows


def _watched(bench: Bench, spot: Spot, options: tuple[str, ...]) -> Iterator[Row]:
    command = bench.product("watch", *options, spot=spot)
    state = spot.home / ".local" / "state" / "conversation-esaa" / "watcher.json"
    process = subprocess.Popen(
        command.argv, cwd=command.cwd, env=dict(command.env), stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    try:
        _until(state.exists)
        time.sleep(SETTLING_S * 3)  # what a first look leaves to be done
        mode = "polling" if b'"mode":"polling"' in state.read_bytes() else "events"
        bench.told(f"a watcher ({mode}), idle for {bench.sizes.idle_s:g} s")
        before, began = _cpu_s(process.pid), time.monotonic()
        time.sleep(bench.sizes.idle_s)
        idle_ms = 1000 * (_cpu_s(process.pid) - before) * 60 / (time.monotonic() - began)
        files = f"{bench.sizes.files:,} session files"
        yield _row(
            f"watcher_idle_{mode}", f"watcher by {mode}, an idle minute, {files}", IDLE_MS, "ms CPU", idle_ms
        )
        took = [_captured_after(spot) for _ in range(bench.sizes.runs_start)]
        yield _row(
            f"watcher_soon_{mode}",
            f"watcher by {mode}, from an appended line to a captured turn",
            SOON_S[mode],
            "s (wall)",
            statistics.median(took),
            absolute=f"{min(took):.2f} to {max(took):.2f} s",
        )
        yield _row(
            f"watcher_peak_{mode}", f"peak memory, watcher by {mode}", PEAK_MB, "MB", _peak_mb(process.pid)
        )
    finally:
        process.terminate()
        process.wait()


def _captured_after(spot: Spot) -> float:
    size = spot.log.stat().st_size
    synthetic.append(spot.home)
    began = time.monotonic()
    _until(lambda: spot.log.stat().st_size > size)
    took = time.monotonic() - began
    time.sleep(1 + took % 0.7)  # not in step with a watcher that looks at even times
    return took


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise Failed("the watcher did not do it")
        time.sleep(0.005)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS  # user and system


def _peak_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def _row(key: str, what: str, limit: float, unit: str, value: float, *, absolute: str = "") -> Row:
    return Row(key=key, what=what, limit=limit, unit=unit, value=value, absolute=absolute)
