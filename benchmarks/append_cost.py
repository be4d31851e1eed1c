"""One durable append, against one fdatasync of the same bytes: append_cost.py WORKSPACE [TIMES]

An append is all that a command pays to have one event on disk: take the lock, look at the tail, seal the
line, write, sync, give the lock back. Beside it, turn and turn about, a bare write and sync of an equally
long line to a file in the same directory. Prints the medians and minima in seconds of wall time as JSON.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa import Workspace
from conversation_esaa.events import DecisionRecorded
from conversation_esaa.ids import HUMAN, DecisionId

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.log.file_log import FileLog

AT = "2026-01-01T07:00:00.000Z"
WORDS = "The label printer waits for the ledger before it sorts the parcels. " * 6


class Appended(msgspec.Struct, kw_only=True):
    """Seconds of wall time."""

    times: int
    line_bytes: int
    append: float
    append_least: float
    sync: float
    sync_least: float


def measured(workspace: Path, times: int) -> Appended:
    """Append `times` events to the log of `workspace`."""
    log = Workspace.find(workspace).log
    beside = workspace / "raw.bin"
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    to_disk = getattr(os, "fdatasync", os.fsync)
    appends: list[float] = []
    syncs: list[float] = []
    line = _appended(log, 0)
    for number in range(1, times + 1):
        steps: list[tuple[list[float], Callable[[], object]]] = [
            (appends, partial(_appended, log, number)),
            (syncs, partial(_written, descriptor, line, to_disk)),
        ]
        for taken, step in steps if number % 2 else steps[::-1]:
            began = time.perf_counter()
            step()
            taken.append(time.perf_counter() - began)
    os.close(descriptor)
    beside.unlink()
    return Appended(
        times=times,
        line_bytes=len(line) + 1,
        append=statistics.median(appends),
        append_least=min(appends),
        sync=statistics.median(syncs),
        sync_least=min(syncs),
    )


def _appended(log: FileLog, number: int) -> bytes:
    draft = DecisionRecorded(
        ts=AT,
        actor="system",
        agent_id=HUMAN,
        decision_id=DecisionId(f"DEC-{number + 1:06d}"),
        decision=WORDS,
    )
    with log.writing(purpose="benchmark") as writer:
        return writer.append([draft], recorded_at=AT)[0].line


def _written(descriptor: int, line: bytes, to_disk: Callable[[int], None]) -> None:
    os.write(descriptor, line + b"\n")
    to_disk(descriptor)


if __name__ == "__main__":
    found = measured(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200)
    sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
