"""Agents' hooks as agents run them: a real process, a payload on its standard input."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.world import SOURCE, Ran

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders.world import World

ENTRY = SOURCE / "conversation_esaa" / "hooks" / "entry.py"


class Hooks:
    """The hooks of one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.run = world.store / "run"
        self.spool = self.run / "spool"

    def command(self, agent: str, event: str, *words: str) -> list[str]:
        """As it is written into an agent's settings."""
        return [sys.executable, "-I", "-S", str(ENTRY), agent, event, *words]

    def environ(self, **more: str) -> dict[str, str]:
        """What the agent hands on: no PYTHONPATH, which the worker could not see either."""
        environ = self.world.process_environ()
        del environ["PYTHONPATH"]
        return {**environ, **more}

    def call(
        self,
        agent: str,
        event: str,
        *words: str,
        cwd: Path | None = None,
        raw: bytes | None = None,
        **keys: Any,
    ) -> Ran:
        """One call. `keys` are the payload's, `raw` is what is sent instead."""
        payload = {"cwd": str(self.world.project), "hook_event_name": event, **keys}
        done = subprocess.run(
            self.command(agent, event, *words),
            cwd=cwd or self.world.project,
            env=self.environ(),
            input=json.dumps(payload).encode() if raw is None else raw,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    @contextmanager
    def somebody_there(self) -> Iterator[None]:
        """While it lasts, a watcher seems to look into the spool: what is called stays there."""
        self.run.mkdir(mode=0o700, exist_ok=True)
        with (self.run / "watcher.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def settle(self) -> None:
        """Wait until no worker is there: it has its lock from before its hook ended until it is done."""
        with (self.run / "worker.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
        for pid in self.workers():
            with suppress(ProcessLookupError):
                process = os.pidfd_open(pid)
                select.select([process], [], [], 60)
                os.close(process)

    def spooled(self) -> list[dict[str, Any]]:
        """What waits, in order."""
        return [
            json.loads(path.read_text("utf-8"), strict=False) for path in sorted(self.spool.glob("[!.]*"))
        ]

    def noted(self) -> list[str]:
        """The lines of the log of failures, without their time."""
        log = self.run / "hook.log"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        return [line.partition(" ")[2] for line in lines]

    def workers(self) -> list[int]:
        """Processes that work on this workspace's spool."""
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                words = (directory / "cmdline").read_bytes()
            except OSError:
                continue
            if b"hooks.worker" in words and os.fsencode(self.world.project) in words:
                found.append(int(directory.name))
        return found


def silent(ran: Ran) -> bool:
    """Ended well and said nothing."""
    return (ran.code, ran.out, ran.err) == (0, "", "")
