"""What a command is made of, counted in instructions: python benchmarks/instructions.py [--events N] (needs valgrind)

No other work on the machine changes a count, so a tenth of a per cent is a difference here. What the system
does for a process is not in it. Each line holds what stands above it, too.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import synthetic
from bench import QUICK, Bench
from measure import run

if TYPE_CHECKING:
    from measure import Command

OF_PYTHON = "import contextlib, datetime, pathlib, re, sqlite3, typing"
COUNTED = re.compile(rb"Collected : (\d+)")


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=int, default=1_000, help="in the log")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not here; a package manager has it under that name")
    with tempfile.TemporaryDirectory(prefix="conversation-esaa-bench-") as directory:
        bench = Bench(Path(directory), QUICK)
        spot = bench.logged(args.events)
        sync = bench.product("sync", spot=spot)
        parts = {
            "an empty interpreter": bench.bare(),
            "… and what a turn needs of Python": bench.python("-I", "-c", OF_PYTHON),
            "… and msgspec": bench.python("-I", "-c", f"{OF_PYTHON}; import msgspec"),
            f"one new turn, {args.events:,} events in the log": sync,
        }
        synthetic.append(spot.home)
        run(sync)  # so that all is compiled
        bench.settled(spot)
        synthetic.append(spot.home)
        counts = {name: counted(command) for name, command in parts.items()}
    bare = next(iter(counts.values()))
    for name, count in counts.items():
        print(f"{name:45} {count / 1e6:6.0f} million  {count / bare:5.2f} ×")


def counted(command: Command) -> int:
    """Instructions of one run."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    env = {**command.env, "PYTHONHASHSEED": "0"}
    done = subprocess.run([*tool, *command.argv], cwd=command.cwd, env=env, capture_output=True, check=False)
    found = COUNTED.search(done.stderr)
    if done.returncode or not found:
        sys.exit(f"valgrind ended with {done.returncode}: {done.stderr[-200:].decode()}")
    return int(found[1])


if __name__ == "__main__":
    main()
