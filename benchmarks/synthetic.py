"""Write a home folder with Claude Code and Codex sessions of any size, or a log of any size.

    synthetic.py HOME --workspace DIR --sessions 20 --turns 500      both agents, turn and turn about
    synthetic.py HOME --workspace DIR --elsewhere 9900               sessions of other workspaces as well
    synthetic.py HOME --append 1                                     one more exchange on the newest session
    synthetic.py HOME --workspace DIR --log-events 1000000           that many events in DIR's own log

Same arguments, same bytes. HOME/synthetic.json says what was written and how many visible turns a reader
should find: prompts, and the text blocks that the agent showed. DIR need not exist for sessions. All
content is made up.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import claude_sessions
import codex_sessions
import msgspec
from claude_sessions import ClaudeSession
from codex_sessions import CodexSession
from native_session import Place, Shape
from prose import Prose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from native_session import NativeSession

MANIFEST = "synthetic.json"
BEGIN = 1_767_250_800_000  # 2026-01-01T07:00:00Z
BETWEEN_SESSIONS = 5 * 3600 * 1000
OTHER_WORKSPACES = 40

Open = type[ClaudeSession] | type[CodexSession]
AGENTS: dict[str, tuple[Callable[[Shape, Random, int], Place], Open]] = {
    "claude-code": (claude_sessions.new_place, ClaudeSession),
    "codex": (codex_sessions.new_place, CodexSession),
}
BOTH = tuple(AGENTS)


class Manifest(msgspec.Struct, kw_only=True):
    """What is in a home folder."""

    seed: int
    shape: Shape
    sessions: list[Place]  # of the workspace, oldest first
    elsewhere: int = 0  # sessions of other workspaces

    @property
    def visible(self) -> int:
        """Turns that a reader of the workspace should find."""
        return sum(place.visible for place in self.sessions)


def write_home(
    home: Path,
    shape: Shape,
    *,
    sessions: int,
    turns: int,
    agents: Sequence[str] = BOTH,
    elsewhere: int = 0,
    seed: int = 1,
) -> Manifest:
    """Write `sessions` sessions of `turns` visible turns each, and `elsewhere` short ones said elsewhere."""
    rng = Random(seed)
    prose = Prose(rng)
    manifest = Manifest(seed=seed, shape=shape, sessions=[], elsewhere=elsewhere)
    others = [f"{shape.workspace}-neighbour/{number}" for number in range(OTHER_WORKSPACES)]
    small = Shape(workspace="", tool_output=100, tools=1.0, sidechains=0.0)
    for number in range(elsewhere):
        place_shape = msgspec.structs.replace(small, workspace=others[number % len(others)])
        now = BEGIN + (number - elsewhere) * BETWEEN_SESSIONS // 50
        _session(home, place_shape, rng, prose, agents[number % len(agents)], now, turns=2)
    for number in range(sessions):
        now = BEGIN + number * BETWEEN_SESSIONS
        place = _session(home, shape, rng, prose, agents[number % len(agents)], now, turns=turns)
        manifest.sessions.append(place)
    save(home, manifest)
    return manifest


def append(home: Path, exchanges: int = 1) -> Manifest:
    """A running agent goes on: short exchanges, a prompt and an answer each, on the newest session."""
    manifest = load(home)
    place = manifest.sessions[-1]
    rng = Random(f"{manifest.seed}/{place.session_id}/{place.exchanges}")
    shape = msgspec.structs.replace(manifest.shape, tools=1.0, sidechains=0.0)
    session = AGENTS[place.agent][1](home, place, shape, rng, Prose(rng))
    for _ in range(exchanges):
        session.exchange(room=2)
    session.close()
    save(home, manifest)
    return manifest


def load(home: Path) -> Manifest:
    """What was written to `home`."""
    return msgspec.json.decode((home / MANIFEST).read_bytes(), type=Manifest)


def save(home: Path, manifest: Manifest) -> None:
    """Remember it."""
    home.mkdir(parents=True, exist_ok=True)
    (home / MANIFEST).write_bytes(msgspec.json.encode(manifest) + b"\n")


def _session(
    home: Path, shape: Shape, rng: Random, prose: Prose, agent: str, now: int, *, turns: int
) -> Place:
    new_place, opened = AGENTS[agent]
    session: NativeSession = opened(home, new_place(shape, rng, now), shape, rng, prose)
    session.begin()
    while session.place.visible < turns:
        session.exchange(room=turns - session.place.visible)
    session.close()
    return session.place


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("home", type=Path)
    add(
        "--workspace", type=Path, default=Path("/home/dev/project"), help="the directory sessions are said in"
    )
    add("--agent", action="append", choices=BOTH, help="default: both")
    add("--sessions", type=int, default=10)
    add("--turns", type=int, default=100, help="visible turns in each session")
    add("--tool-output", type=int, default=600, help="characters of the median tool result")
    add("--tools", type=float, default=5.0, help="mean number of tool calls behind a prompt")
    add("--elsewhere", type=int, default=0, help="short sessions of other workspaces")
    add("--append", type=int, default=0, metavar="N", help="only: N more exchanges on the newest session")
    add("--log-events", type=int, default=0, metavar="N", help="only: N events in the workspace's own log")
    add("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.log_events:
        from event_log import write_log

        size = write_log(args.workspace.resolve(), args.log_events, seed=args.seed)
        print(f"{args.log_events} events, {size} bytes")
        return
    if args.append:
        manifest = append(args.home, args.append)
    else:
        shape = Shape(workspace=str(args.workspace), tool_output=args.tool_output, tools=args.tools)
        manifest = write_home(
            args.home,
            shape,
            sessions=args.sessions,
            turns=args.turns,
            agents=args.agent or BOTH,
            elsewhere=args.elsewhere,
            seed=args.seed,
        )
    print(f"{len(manifest.sessions)} sessions, {manifest.visible} visible turns")


if __name__ == "__main__":
    main()
