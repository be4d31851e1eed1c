"""Processes that end: each is bounded in time, and none outlives its test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it printed. `code` is None when it had to be stopped."""

    words: list[str]
    code: int | None
    out: str
    err: str

    def __str__(self) -> str:
        ending = "did not end in time" if self.code is None else f"ended with {self.code}"
        return f"{' '.join(self.words)}\n{ending}\n--- out\n{self.out[-3000:]}\n--- err\n{self.err[-3000:]}"


def run(words: list[str], *, cwd: Path, environ: Mapping[str, str], most_s: float) -> Ended:
    """Run a program to its end, or for `most_s` seconds.

    What it prints goes into files: a child that it leaves behind would hold a pipe open for ever.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            words,
            cwd=cwd,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(timeout=most_s)
        except subprocess.TimeoutExpired:
            code = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode("utf-8", "replace"))
    return Ended(words, code, *printed)


def of_home(home: Path) -> dict[int, str]:
    """The processes that were started with this HOME, by pid, with their command lines.

    A test's home is nobody else's, and children inherit it; so it tells what a test has left behind. Only where
    there is a /proc: elsewhere the answer is empty.
    """
    mark = f"HOME={home}".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                if words.strip():  # a zombie has none
                    found[int(folder.name)] = words.decode("utf-8", "replace").strip()
        except OSError:
            continue  # it ended meanwhile, or is not ours
    return found


def end_all(home: Path) -> None:
    """Stop whatever still runs with this HOME."""
    for pid in of_home(home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
