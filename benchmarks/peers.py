"""What a user would pick instead, on the same logs and in the same run: python benchmarks/peers.py --cache DIR

Each tool gets a copy of the same synthetic home and takes turns with the others. Tools are installed below
the cache directory, each in an environment of its own, by pip and npm; a tool that cannot be installed is
named and left out. They do different things: the table says what each keeps, so compare like with like.

    conversation-esaa       the visible conversation of one workspace, verifiable, and a handoff
    agsearch                a text cache for full-text search
    agentsview              a database for a local web application
    ai-session-search       a database with full-text search (needs Python 3.12)
    ai-r                    no cache: reads everything each time
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import msgspec
import synthetic
from bench import QUICK, SETTLING_S, STORE, Bench, Spot
from measure import Command, Cost, Failed, alternating, run
from native_session import Shape
from table import aligned, seconds

OURS = "conversation-esaa"
QUERY = "ledger parcels"
NEWER_PYTHON = ("python3.12", "python3.13", "python3.14")


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """One tool. Commands begin with its executable, found in its own environment."""

    package: str
    npm: bool = False
    pre: bool = False  # only pre-releases are published
    newer_python: bool = False  # needs 3.12
    state: tuple[str, ...]  # what it keeps below the home folder
    start: str
    ingest: str
    search: str = ""


PEERS = {
    "agsearch": Peer(
        package="agsearch",
        state=(".cache/agsearch", ".agsearch", ".local/share/agsearch"),
        start="agsearch --version",
        ingest="agsearch -n QUERY",
        search="agsearch -n QUERY",
    ),
    "agentsview": Peer(
        package="agentsview", state=(".agentsview",), start="agentsview version", ingest="agentsview sync"
    ),
    "ai-session-search": Peer(
        package="ai-session-search",
        pre=True,
        newer_python=True,
        state=(".local/share/ai-session-search", ".cache/ai-session-search", ".ai-session-search"),
        start="aise --version",
        ingest="aise --skip-release-notification reindex",
        search="aise --skip-release-notification --index-refresh existing-only search QUERY",
    ),
    "ai-r": Peer(
        package="agent-session-reader",
        state=(".cache/agent-session-reader",),
        start="ai-r --version",
        ingest="ai-r stats --json",
    ),
}


def installed(name: str, cache: Path) -> Path | None:
    """The directory of the tool's executables, installed if need be; None when it cannot be."""
    peer = PEERS[name]
    own = cache / name
    binaries = own / ("node_modules/.bin" if peer.npm else "bin")
    executable = binaries / peer.start.split(maxsplit=1)[0]
    if not executable.exists():
        sys.stderr.write(f"… installing {name}\n")
        for words in _installing(peer, own):
            done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                return None
    return binaries if executable.exists() else None


def _installing(peer: Peer, own: Path) -> list[list[str]]:
    if peer.npm:
        npm = shutil.which("npm")
        return [[npm or "npm", "install", "--prefix", str(own), peer.package]] if npm else []
    python = next(filter(None, map(_working, NEWER_PYTHON)), None) if peer.newer_python else sys.executable
    if python is None:
        return []
    pip = [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", *(["--pre"] * peer.pre)]
    return [[python, "-m", "venv", str(own)], [*pip, peer.package]]


def _working(name: str) -> str | None:
    """A path of an interpreter that runs; a version manager may have a name without one."""
    path = shutil.which(name)
    if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
        return path
    return None


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """A tool in its own copy of the home."""

    spot: Spot
    state: tuple[Path, ...]
    start: Command
    cold: Command
    again: Command
    search: Command | None

    def wipe(self) -> None:
        """As if it had never run."""
        for path in self.state:
            shutil.rmtree(path, ignore_errors=True)

    def state_mb(self) -> float:
        """What it keeps."""
        files = (file for path in self.state if path.exists() for file in path.rglob("*") if file.is_file())
        return sum(file.stat().st_size for file in files) / 1e6


def ours(bench: Bench, spot: Spot) -> Contender:
    """The product."""
    return Contender(
        spot=spot,
        state=(spot.workspace / STORE,),
        start=bench.product("--version", spot=spot),
        cold=bench.product("up", spot=spot),
        again=bench.product("sync", spot=spot),
        search=bench.product("context", "--topic", QUERY, spot=spot),
    )


def contender(name: str, binaries: Path, spot: Spot) -> Contender:
    """A peer."""
    peer = PEERS[name]
    home = spot.home
    env = {
        "HOME": str(home),
        "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', '')}",
        "LANG": "C.UTF-8",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "AGENTSVIEW_NO_DAEMON": "1",
        "NO_COLOR": "1",
    }

    def command(line: str) -> Command:
        first, *words = line.split()
        argv = [str(binaries / first), *(QUERY if word == "QUERY" else word for word in words)]
        return Command(argv=argv, cwd=spot.workspace, env=env)

    ingest = command(peer.ingest)
    return Contender(
        spot=spot,
        state=tuple(home / path for path in peer.state),
        start=command(peer.start),
        cold=ingest,
        again=ingest,
        search=command(peer.search) if peer.search else None,
    )


def race(contenders: dict[str, Contender], runs: int) -> dict[str, dict[str, Cost]]:
    """All of them through all operations: operation → tool → cost."""
    preparing = msgspec.structs.replace
    costs = {
        "start": alternating({name: each.start for name, each in contenders.items()}, runs),
        "cold": alternating(
            {name: preparing(each.cold, prepare=each.wipe) for name, each in contenders.items()}, runs
        ),
    }
    again = {name: each.again for name, each in contenders.items()}
    time.sleep(SETTLING_S)
    alternating(again, 1)
    costs["nothing new"] = alternating(again, runs)
    one_more = {
        name: preparing(each.again, prepare=partial(synthetic.append, each.spot.home))
        for name, each in contenders.items()
    }
    costs["one new turn"] = alternating(one_more, runs)
    costs["search"] = alternating(
        {name: each.search for name, each in contenders.items() if each.search}, runs
    )
    return costs


def table(contenders: dict[str, Contender], costs: dict[str, dict[str, Cost]]) -> str:
    """A Markdown table: CPU time and, where it differs much, wall time."""
    lines = []
    for name, each in contenders.items():
        cells = [_told(by_tool.get(name)) for by_tool in costs.values()]
        peak = max(by_tool[name].peak_mb for by_tool in costs.values() if name in by_tool)
        lines.append([name, *cells, f"{peak:.0f} MB", f"{each.state_mb():.1f} MB"])
    return aligned(["", *costs, "peak", "keeps"], lines)


def _told(cost: Cost | None) -> str:
    return f"{seconds(cost.cpu)} ({seconds(cost.wall)})" if cost else "–"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("names", nargs="*", help=f"default: {' '.join(PEERS)}")
    add("--cache", type=Path, required=True, help="where tools are installed and stay")
    add("--dir", type=Path, help="measure below this directory")
    add("--sessions", type=int, default=20)
    add("--turns", type=int, default=520, help="visible turns in each session")
    add("--tools", type=float, default=5.0, help="mean number of tool calls behind a prompt")
    add("--runs", type=int, default=3)
    args = parser.parse_args()
    if strange := set(args.names) - set(PEERS):
        parser.error(f"unknown: {' '.join(sorted(strange))}")
    args.cache.mkdir(parents=True, exist_ok=True)
    found = {name: installed(name, args.cache.resolve()) for name in args.names or PEERS}
    with tempfile.TemporaryDirectory(prefix="conversation-esaa-peers-", dir=args.dir) as directory:
        bench = Bench(Path(directory), QUICK)
        spot = bench.spot(OURS)
        shape = Shape(workspace=str(spot.workspace), tools=args.tools)
        manifest = synthetic.write_home(spot.home, shape, sessions=args.sessions, turns=args.turns)
        size = sum(file.stat().st_size for file in spot.home.rglob("*.jsonl")) / 1e6
        contenders = {OURS: ours(bench, spot)}
        problems = [f"{name}: could not be installed" for name, binaries in found.items() if not binaries]
        for name, binaries in found.items():
            if not binaries:
                continue
            own = Spot(bench.directory / name / "home", spot.workspace)
            shutil.copytree(spot.home, own.home)
            candidate = contender(name, binaries, own)
            try:
                run(candidate.start)
                run(candidate.cold)
                if candidate.search:
                    run(candidate.search)
            except Failed as error:
                problems.append(f"{name}: does not run here: {str(error).splitlines()[-1][:100]}")
                continue
            contenders[name] = candidate
        costs = race(contenders, args.runs)
        about = f"{size:.0f} MB of logs, {args.sessions} sessions, {manifest.visible:,} visible turns"
        sys.stdout.write(f"{about}; CPU time (wall time), medians of {args.runs}\n\n")
        sys.stdout.write(table(contenders, costs))
        sys.stdout.writelines(f"- {problem}\n" for problem in problems)


if __name__ == "__main__":
    main()
