"""What a command costs: CPU and wall time, peak memory; two commands compared under the same noise.

The figure to trust is CPU time (user + system, of the process and what it waited for): other work on the
machine moves it least. Compared commands take turns, so that what noise there is hits all of them. A ratio
is one of medians; the ratio of the minima beside it tells when noise decided.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

LAUNCH = str(Path(__file__).with_name("launch.py"))
NOISE = 0.15  # medians and minima may tell ratios that far apart before we call it noise

Key = TypeVar("Key")


class Failed(Exception):
    """A command did not end as it should: a measurement of it would mean nothing."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """What is measured."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    prepare: Callable[[], object] | None = None  # before each run, not measured
    expect: int = 0  # exit code
    stdin: str = os.devnull


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    cpu: float  # seconds
    wall: float
    peak_mb: float
    output: bytes


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Some runs of one command. Seconds, megabytes."""

    runs: int
    cpu: float  # median
    cpu_least: float
    wall: float  # median
    wall_least: float
    peak_mb: float  # of the largest process, in the worst run

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Cost:
        """Their medians and minima."""
        cpu = [sample.cpu for sample in samples]
        wall = [sample.wall for sample in samples]
        return cls(
            runs=len(samples),
            cpu=statistics.median(cpu),
            cpu_least=min(cpu),
            wall=statistics.median(wall),
            wall_least=min(wall),
            peak_mb=max(sample.peak_mb for sample in samples),
        )


class Ratio(msgspec.Struct, frozen=True):
    """How many times dearer one thing is than another."""

    of_medians: float
    of_minima: float

    @property
    def noisy(self) -> bool:
        """Whether the two ways to tell it disagree."""
        return abs(self.of_medians - self.of_minima) > NOISE * self.of_minima


def ratio(dear: Cost, cheap: Cost) -> Ratio:
    """By CPU time."""
    return Ratio(dear.cpu / cheap.cpu, dear.cpu_least / cheap.cpu_least)


def run(command: Command) -> Sample:
    """Run it once. Raises Failed with the end of its output when the exit code is another."""
    if command.prepare:
        command.prepare()
    with tempfile.NamedTemporaryFile() as output:
        launched = subprocess.run(
            [sys.executable, "-I", "-S", LAUNCH, str(command.cwd), command.stdin, output.name, *command.argv],
            env=dict(command.env),
            stdout=subprocess.PIPE,
            check=True,
        )
        code, cpu, wall, peak = launched.stdout.split()
        said = Path(output.name).read_bytes()
    if int(code) != command.expect:
        end = said[-600:].decode("utf-8", "replace")
        raise Failed(f"{' '.join(command.argv)}: exit code {int(code)}\n{end}")
    return Sample(cpu=float(cpu), wall=float(wall), peak_mb=float(peak) / 1024, output=said)


def alternating(commands: Mapping[Key, Command], runs: int, *, warm: bool = True) -> dict[Key, Cost]:
    """Each command `runs` times, turn and turn about; a first round, when `warm`, is not counted."""
    samples: dict[Key, list[Sample]] = {key: [] for key in commands}
    for number in range(runs + warm):
        for key, command in commands.items():
            sample = run(command)
            if number or not warm:
                samples[key].append(sample)
    return {key: Cost.of(found) for key, found in samples.items()}
