"""Measure every budget and print the table: python benchmarks/run.py [--quick | --full] [--json FILE]

`--quick` (the default) takes a minute or two; `--full` goes to a million events and 100,000 turns and takes
ten to thirty minutes, by the machine, and 10 GB of disk. Each size can be set. Nothing outside a throw-away directory is touched.
Exit code 0, whatever was measured: budgets are judged by people, on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import budgets
import msgspec
import watcher
from bench import FULL, QUICK, Bench, Sizes
from table import Row, rendered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ON_REQUEST = ("watcher",)  # what takes a minute by its nature
SECTIONS = ("start", "hooks", "files", "log", "session", "cold", "append", "verify")


class Results(msgspec.Struct, kw_only=True):
    """What `--json` writes."""

    machine: str
    version: str  # of the product, with its commit where there is a repository
    sizes: Sizes
    rows: list[Row]
    not_measured: tuple[str, ...] = budgets.NOT_MEASURED
    curve: budgets.Curve | None = None


def measure(bench: Bench, sections: Sequence[str]) -> Iterator[Results]:
    """The rows of the chosen sections, in the order of the table; what there is so far after each."""
    results = Results(machine=machine(), version=version(), sizes=bench.sizes, rows=[])
    for section in sections:
        match section:
            case "start":
                rows = budgets.start_up(bench)
            case "hooks":
                rows = budgets.hook_calls(bench)
            case "files":
                rows = budgets.many_files(bench)
            case "log":
                rows, results.curve = budgets.log_sizes(bench)
            case "session":
                rows = budgets.session_sizes(bench)
            case "cold":
                rows = budgets.cold_capture(bench)
            case "append":
                rows = budgets.durability(bench)
            case "watcher":
                rows = watcher.watching(bench)
            case _:
                rows = budgets.verification(bench)
        results.rows += rows
        yield results


def machine() -> str:
    """What this ran on."""
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return ", ".join(filter(None, (platform.platform(), f"{os.cpu_count()} cores", python, load)))


def version() -> str:
    """Of the product."""
    from conversation_esaa import __version__

    git = shutil.which("git")
    if git is None:
        return __version__
    asked = subprocess.run(
        [git, "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{__version__} {asked.stdout.strip()}".strip()


def sizes_of(args: argparse.Namespace) -> Sizes:
    """The chosen set, with what was set apart."""
    sizes = FULL if args.full else QUICK
    given: dict[str, object] = {}
    for name in ("files", "many_files", "long_session", "short_session", "appends", "idle_s", "runs"):
        if getattr(args, name) is not None:
            given[name] = getattr(args, name)
    if args.runs is not None:
        given["runs_start"] = args.runs
    if args.events:
        given["log_events"] = tuple(sorted(set(args.events)))
    if args.cold:
        given["cold"] = tuple(tuple(map(int, pair.split("x"))) for pair in args.cold)
    return msgspec.structs.replace(sizes, **given)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="small sizes (default)")
    how.add_argument("--full", action="store_true", help="the sizes of the budgets")
    add("--only", action="append", choices=(*SECTIONS, *ON_REQUEST), help="only these rows; may be repeated")
    add("--json", type=Path, metavar="FILE", help="also write everything there")
    add("--dir", type=Path, help="measure below this directory (a real disk, not a RAM disk)")
    add("--events", type=int, action="append", help="a size of the log; give at least two")
    add("--files", type=int, help="session files in a normal home")
    add("--many-files", type=int, help="session files in a large one")
    add("--short-session", type=int, metavar="TURNS")
    add("--long-session", type=int, metavar="TURNS")
    add("--cold", action="append", metavar="SESSIONSxTURNS", help="a home to capture; give at least two")
    add("--appends", type=int)
    add("--idle", type=float, dest="idle_s", metavar="S", help="how long a watcher is looked at while idle")
    add("--runs", type=int, help="how often each command runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="conversation-esaa-bench-", dir=args.dir) as directory:
        for results in measure(Bench(Path(directory), sizes_of(args)), args.only or SECTIONS):
            if args.json:  # after each section: a long run that is stopped has not measured for nothing
                args.json.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    sys.stdout.write(f"conversation-esaa {results.version}\n{results.machine}\n\n{rendered(results.rows)}\n")
    sys.stdout.write(
        "Times are CPU time, medians; memory is the peak of the largest process.\nNot measured:\n"
    )
    sys.stdout.writelines(f"- {what}\n" for what in results.not_measured)


if __name__ == "__main__":
    main()
