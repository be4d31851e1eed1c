"""A watcher in a process of its own, followed by what it prints: no test has to guess how long to wait."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from builders.world import Ran, World

PATIENCE_S = 60.0


class Watching:
    """One `watch`, and the lines that it printed."""

    def __init__(self, world: World, process: subprocess.Popen[bytes]) -> None:
        self.world, self.process = world, process
        self.lines: list[str] = []
        self._rest = b""

    def until(self, words: str, *, since: int = 0) -> str:
        """The first line from number `since` on with `words` in it, as soon as it is there."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            for line in self.lines[since:]:
                if words in line:
                    return line
            left = deadline - time.monotonic()
            assert left > 0, f"{words!r} is not in {self.lines}"
            assert self._read(left), f"it ended without {words!r}: {self.lines}"

    def captured(self, count: int) -> None:
        """Return when it has captured `count` events in all."""
        while self._events() < count:
            self.until("new event", since=len(self.lines))

    def _events(self) -> int:
        return sum(int(line.split(": ")[1].split()[0]) for line in self.lines if "new event" in line)

    def _read(self, within_s: float) -> bool:
        output = self.process.stdout
        assert output is not None
        if not select.select([output], [], [], within_s)[0]:
            return True
        found = os.read(output.fileno(), 65_536)
        *lines, self._rest = (self._rest + found).split(b"\n")
        self.lines += [line.decode() for line in lines]
        return bool(found)

    def ended(self) -> Ran:
        """How it ended, which it is about to do by itself."""
        ran = self.world.wait(self.process)
        self.lines += ran.out.splitlines()
        return ran

    def stopped(self, number: int = signal.SIGTERM) -> Ran:
        """End it."""
        self.process.send_signal(number)
        return self.ended()

    @property
    def descriptors(self) -> int:
        """How many files it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def memory_kb(self) -> int:
        """Of it, in use now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


@contextlib.contextmanager
def watching(world: World, *options: str, **environ: str) -> Iterator[Watching]:
    """A watcher that has begun to listen; killed at the end, if it has not ended by then."""
    process = world.process("watch", *options, **environ)
    with following(world, process) as found:
        found.until("changes are found")
        yield found


@contextlib.contextmanager
def following(world: World, process: subprocess.Popen[bytes]) -> Iterator[Watching]:
    """As `watching`, for a process that was started otherwise, and from its beginning."""
    try:
        yield Watching(world, process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
