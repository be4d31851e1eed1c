"""What a command pays before its first line of work: python benchmarks/imports.py [MODULE...]

Each module is imported in a fresh interpreter, turn and turn about with an empty one. Modules share others, so
the figures overlap. `python -X importtime -m conversation_esaa sync` shows the tree, with more noise.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench import QUICK, Bench
from measure import alternating

RUNS = 15
MODULES = (
    "conversation_esaa.cli.main",
    "conversation_esaa.events",
    "conversation_esaa.log.file_log",
    "conversation_esaa.projections.catalogue",
    "conversation_esaa.capture.sync",
    "conversation_esaa.workspace",
    "conversation_esaa.cli.call",
    "msgspec",
    "argparse",
    "hashlib",
    "json",
    "pathlib",
    "socket",
    "tomllib",
)


def main() -> None:
    """Print a line for each module."""
    with tempfile.TemporaryDirectory(prefix="conversation-esaa-bench-") as directory:
        bench = Bench(Path(directory), QUICK)
        bare = "(nothing)"
        commands = {bare: bench.python("-c", "pass")}
        commands |= {name: bench.python("-c", f"import {name}") for name in sys.argv[1:] or MODULES}
        costs = alternating(commands, RUNS)
    for name, cost in costs.items():
        added = 1000 * (cost.cpu_least - costs[bare].cpu_least)
        ratio = cost.cpu_least / costs[bare].cpu_least
        print(
            f"{name:42} {1000 * cost.cpu_least:6.1f} ms  adds {added:5.1f} ms  {ratio:5.2f} ×  {cost.peak_mb:5.1f} MB"
        )


if __name__ == "__main__":
    main()
