"""Where the time of a cold capture goes: python benchmarks/shares.py [--sessions N] [--turns N]

Looks a thousand times a second of CPU time at what the process is doing. A call into C counts for who called it.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

if TYPE_CHECKING:
    from types import FrameType

# What it is doing is what the first of these says that is under way: words, file, functions ("": any).
PLACES = (
    ("masking for the full text", "text.py", ("masked_all",)),
    ("the fold", "store.py", ("_fold_forward",)),
    ("rows and full text in SQLite", "store.py", ("_do", "_do_all", "commit", "close", "_rows")),
    ("what else the index does", "store.py", ("",)),
    ("appending: sealing, reading again, the sync", "writer.py", ("append",)),
    ("drafts of turns, their ids", "session.py", ("_admitted",)),
    ("what is known already", "dedupe.py", ("",)),
    ("reading: a glance at each line, decoding", "jsonl.py", ("read_records",)),
    ("reading: the agents' rules", "session.py", ("_drafts",)),
    ("merging the sessions by time, batches", "sync.py", ("",)),
    ("start-up: imports", "<frozen importlib._bootstrap>", ("_find_and_load",)),
)


def capture() -> None:
    """`up` in the present directory, looked at; prints the shares."""
    counts: collections.Counter[str] = collections.Counter()

    def look(_signal: int, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            stack.append((os.path.basename(frame.f_code.co_filename), frame.f_code.co_name))
            frame = frame.f_back
        if any(name == "_find_and_load" for _, name in stack):
            counts[PLACES[-1][0]] += 1
            return
        # A generator that reads has the rules on top of it, and they have what they yield to below them.
        for words, file, functions in PLACES:
            if any(found == file and (name in functions or "" in functions) for found, name in stack):
                counts[words] += 1
                return
        counts["the rest"] += 1

    sys.argv = ["conversation-esaa", "up"]
    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    from conversation_esaa.cli.main import run

    with contextlib.redirect_stdout(io.StringIO()):
        run()
    signal.setitimer(signal.ITIMER_PROF, 0)
    total = sum(counts.values())
    for words, count in counts.most_common():
        print(f"{100 * count / max(1, total):5.1f} %  {words}")
    print(f"{total} looks")


def main() -> None:
    """The command line: a home is made, and captured in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=520, help="in each session")
    args = parser.parse_args()
    from bench import QUICK, Bench

    with tempfile.TemporaryDirectory(prefix="conversation-esaa-bench-") as directory:
        bench = Bench(Path(directory), QUICK)
        spot = bench.spot("shares")
        bench.with_sessions(spot, sessions=args.sessions, turns=args.turns)
        env = {**bench.env(spot), "PYTHONPATH": f"{HERE}{os.pathsep}{bench.env(spot)['PYTHONPATH']}"}
        looking = [sys.executable, "-c", "import shares; shares.capture()"]
        subprocess.run(looking, cwd=spot.workspace, env=env, check=True)


if __name__ == "__main__":
    main()
