"""Where measurements happen: throw-away homes and workspaces, and the commands to run in them."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import synthetic
from measure import Command, Failed, run
from native_session import Shape

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
STORE = ".conversation-esaa"

# What an installer writes for `conversation-esaa`.
ENTRY = """\
import sys
from conversation_esaa.cli.main import entry
if __name__ == "__main__":
    sys.exit(entry())
"""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much of everything."""

    log_events: tuple[int, ...]  # logs to compare, smallest and largest first and last
    files: int  # session files in a normal home
    files_here: int = 20  # of these, said in the workspace
    many_files: int
    short_session: int = 1_000  # visible turns
    long_session: int
    cold: tuple[tuple[int, int], ...]  # (sessions, turns in each), smallest first
    appends: int = 200
    idle_s: float = 60.0  # that a watcher is looked at while nothing happens
    runs_start: int  # of what takes milliseconds
    runs: int  # of the rest


QUICK = Sizes(
    log_events=(1_000, 10_000),
    files=100,
    many_files=1_000,
    long_session=5_000,
    cold=((4, 100), (10, 250)),
    runs_start=5,
    runs=3,
)
FULL = Sizes(
    log_events=(1_000, 10_000, 100_000, 1_000_000),
    files=100,
    many_files=10_000,
    long_session=100_000,
    cold=((6, 200), (20, 520)),
    runs_start=11,
    runs=3,
)


class Spot(msgspec.Struct, frozen=True):
    """A home folder and a workspace that belong together."""

    home: Path
    workspace: Path

    @property
    def store(self) -> Path:
        """What the product keeps."""
        return self.workspace / STORE

    @property
    def log(self) -> Path:
        """The event log."""
        return self.store / "activity.jsonl"


SETTLING_S = 2.2  # longer than the coarsest clock of a file system


class Bench:
    """A directory to measure in."""

    def __init__(self, directory: Path, sizes: Sizes) -> None:
        self.directory, self.sizes = directory.resolve(), sizes
        self.script = self.directory / "bin" / "conversation-esaa"
        self.script.parent.mkdir()
        self.script.write_text(ENTRY, "utf-8")
        self._logged: dict[int, Spot] = {}
        self.calm = self.spot("calm")  # where nothing is: for what needs no workspace

    def spot(self, name: str) -> Spot:
        """An empty home and an empty project."""
        spot = Spot(self.directory / name / "home", self.directory / name / "project")
        spot.home.mkdir(parents=True)
        spot.workspace.mkdir()
        return spot

    def told(self, what: str) -> None:
        """Say on stderr what takes the time."""
        sys.stderr.write(f"… {what}\n")
        sys.stderr.flush()

    def env(self, spot: Spot) -> dict[str, str]:
        """An environment in which no agent of this machine is found."""
        return {
            "HOME": str(spot.home),
            "PATH": os.environ.get("PATH", ""),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(SOURCE),
        }

    def python(self, *words: str, spot: Spot | None = None, cwd: Path | None = None) -> Command:
        """The interpreter that runs this."""
        spot = spot or self.calm
        return Command(argv=[sys.executable, *words], cwd=cwd or spot.workspace, env=self.env(spot))

    def bare(self) -> Command:
        """Starting the interpreter: the floor under every command."""
        return self.python("-I", "-c", "pass")

    def product(
        self, *words: str, spot: Spot | None = None, prepare: Callable[[], object] | None = None
    ) -> Command:
        """`conversation-esaa WORDS` as an installed script."""
        return msgspec.structs.replace(self.python(str(self.script), *words, spot=spot), prepare=prepare)

    def hook(self, event: str, *words: str, spot: Spot) -> Command:
        """A call of Claude Code's hook, as it is registered, with what that agent sends."""
        payload = spot.workspace.with_name("payload.json")
        told = {
            "session_id": "74e99ad4-4826-441c-97b0-a551951c078d",
            "transcript_path": str(spot.home / ".claude" / "projects" / "none.jsonl"),
            "cwd": str(spot.workspace),
            "hook_event_name": event,
            "last_assistant_message": "",
        }
        payload.write_bytes(msgspec.json.encode(told))
        entry = str(SOURCE / "conversation_esaa" / "hooks" / "entry.py")
        command = self.python("-I", "-S", entry, "claude-code", event, *words, spot=spot)
        return msgspec.structs.replace(command, stdin=str(payload))

    def with_sessions(
        self, spot: Spot, *, sessions: int, turns: int, elsewhere: int = 0, lean: bool = False
    ) -> synthetic.Manifest:
        """Fill the home. `lean`: little tool output, as for long sessions of which turns matter."""
        shape = Shape(workspace=str(spot.workspace))
        if lean:
            shape = msgspec.structs.replace(shape, tool_output=64, tools=1.0, sidechains=0.0)
        agents = ("claude-code",) if sessions == 1 else synthetic.BOTH
        return synthetic.write_home(
            spot.home, shape, sessions=sessions, turns=turns, elsewhere=elsewhere, agents=agents
        )

    def with_log(self, spot: Spot, events: int) -> None:
        """A log of `events` events, made by the product's writer in a process of its own."""
        tool = str(HERE / "synthetic.py")
        run(
            self.python(
                tool,
                str(spot.home),
                "--workspace",
                str(spot.workspace),
                "--log-events",
                str(events),
                spot=spot,
            )
        )

    def logged(self, events: int) -> Spot:
        """A workspace with that many events, and the sessions of a normal home captured behind them."""
        if events not in self._logged:
            self.told(f"a log of {events:,} events")
            spot = self._logged[events] = self.spot(f"log-{events}")
            here = min(self.sizes.files, self.sizes.files_here)
            self.with_log(spot, events)
            self.with_sessions(spot, sessions=here, turns=12, elsewhere=self.sizes.files - here)
            self.captured(spot)
        return self._logged[events]

    def captured(self, spot: Spot) -> None:
        """Bring the workspace up to date, setting it up if need be."""
        run(self.product("up", spot=spot))

    def settled(self, *spots: Spot) -> None:
        """As a machine is most of the time: what the agents wrote last is some seconds old.

        Times of files within two seconds of a look prove nothing, so only then is a look remembered.
        """
        time.sleep(SETTLING_S)
        for spot in spots:
            run(self.product("sync", spot=spot))

    def check_capture(self, spot: Spot, manifest: synthetic.Manifest) -> None:
        """Fast and wrong is worth nothing. Raises Failed when a turn is missing or doubled."""
        found = sum(b'"event":"conversation_turn"' in line for line in spot.log.open("rb"))
        if found != manifest.visible:
            raise Failed(f"{spot.home}: {manifest.visible} visible turns, {found} in the log")

    def cleared(self, spot: Spot) -> None:
        """No workspace any more."""
        shutil.rmtree(spot.store, ignore_errors=True)
