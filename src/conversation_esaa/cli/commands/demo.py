"""`demo`: the main job on a made-up conversation, without touching anything of yours."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import shlex
import tempfile
import textwrap
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.cli.words import plain
from conversation_esaa.demo import native_logs
from conversation_esaa.demo.script import commands
from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.machine import Machine
from conversation_esaa.timestamps import to_utc
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from conversation_esaa.cli.call import Call

HELP = """Run the main job on a made-up conversation of three agents: capture, curate, capture again, verify,
hand over to a fourth. All in a throw-away directory; no log, setting or workspace of yours is looked at."""
EXAMPLES = """examples:
  conversation-esaa demo
  conversation-esaa demo --keep ferry-demo     look around in it afterwards"""

PROJECT = "ferry"  # what the made-up conversation is about
FOURTH = "antigravity"  # an agent that was not there
AFTERWARDS = datetime(2025, 3, 10, 16, 0, tzinfo=UTC)  # the made-up day, when all three had answered


class DemoFailed(ConversationError):
    """The demo did not do what it is there to show."""

    code = "demo.failed"


def arguments(parser: ArgumentParser) -> None:
    """Where."""
    parser.add_argument("--keep", metavar="DIR", help="run it in this new directory, and leave it there")


def run(args: Namespace, call: Call) -> None:
    """Lay the logs out, run the commands, show what they print."""
    with _place(args.keep, call) as place:
        show = _Show(call, place.resolve())
        show.lay_out()
        show.explain(
            f"Three agents worked on a made-up project, {PROJECT}: Claude Code began, Codex mended a bug, Grok"
            " was asked last. Each left its own private log. Everything happens in"
            f" {plain(str(place))}; nothing of yours is read or written."
        )
        show.explain("1. One log of what was visibly said, from all three. Each turn once.")
        show.step("up")
        turns = show.workspace.state().conversation.turns
        show.explain("2. What matters is recorded: the goal, decisions with reasons, tasks, a topic.")
        for words in commands():
            show.step(*words, lines=1)
        show.explain("3. Captured again: nothing comes in twice.")
        before = show.workspace.log.head().seq
        show.step("sync")
        again = show.workspace.log.head().seq - before
        show.explain("4. The log is checked: the chain of hashes, and the read models against it.")
        show.step("verify")
        show.explain(f"5. A fourth agent, {FOURTH}, starts cold. This is what it gets:")
        show.step("handoff", "--for", FOURTH)
        handoff = show.workspace.handoff(reader=FOURTH)
        if not turns or again:
            raise DemoFailed(f"{turns} turns were captured, and {again} events a second time", hint=_REPORT)
        call.out.data(
            "demo",
            {
                "turns": turns,
                "captured_again": again,
                "handoff": handoff,
                "kept": str(place) if args.keep else "",
                "steps": show.steps,
            },
        )
        where = f"It is all in {plain(str(place))}." if args.keep else "The directory is removed again."
        show.explain(
            f"{turns} turns of three agents, and a handoff of about {handoff.tokens:,} tokens for the fourth."
            f" {where} In a project of yours: `conversation-esaa up`."
        )


_REPORT = (
    "That is a fault of ours; `conversation-esaa demo --keep DIR` leaves everything there to report it with."
)


@contextlib.contextmanager
def _place(keep: str | None, call: Call) -> Iterator[Path]:
    """An empty directory: a temporary one that goes away whatever happens, or the one to keep."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="conversation-esaa-demo-") as temporary:
            yield Path(temporary)
        return
    place = call.machine.present / Path(keep).expanduser()
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} is there already", hint="--keep takes a new directory, or an empty one.")
    place.mkdir(parents=True, exist_ok=True)
    yield place


class _Show:
    """Runs commands on a machine of its own and tells what they said."""

    def __init__(self, call: Call, place: Path) -> None:
        self.steps: list[dict[str, Any]] = []
        self._out, self._width = call.out, min(call.columns, 76)
        self._project, self._home = place / PROJECT, place / "home"
        # No environment: neither an agent's own variables nor the agent that this may run in count here.
        moments = (to_utc(AFTERWARDS + timedelta(seconds=second)) for second in itertools.count())
        self._machine = Machine(
            environ={}, user_home=self._home, present=self._project, now=lambda: next(moments)
        )

    def lay_out(self) -> None:
        """The agents' logs below the made-up home, naming the project where it is now."""
        self._project.mkdir()
        for name, text in native_logs(str(self._project)):
            file = self._home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")

    def explain(self, text: str) -> None:
        """A paragraph between two steps."""
        self._out.text(
            "\n" + textwrap.fill(text, self._width, break_long_words=False, break_on_hyphens=False)
        )

    def step(self, *words: str, lines: int | None = None) -> str:
        """Run one command; returns what it printed. Raises DemoFailed when it did not end well.

        lines   how many lines of it are shown; None for all.
        """
        from conversation_esaa.cli.main import main

        out, err = io.StringIO(), io.StringIO()
        # Named, so that no workspace around the directory can be meant.
        argv = ["--workspace", str(self._project), *words, *(["--json"] if self._out.as_json else [])]
        code = main(argv, machine=self._machine, stdout=out, stderr=err)
        if code:
            why = err.getvalue().strip().partition("\n")[0]
            raise DemoFailed(f"`conversation-esaa {words[0]}` ended with {code} {why}".rstrip(), hint=_REPORT)
        told = out.getvalue()
        if self._out.as_json:
            self.steps.append({"command": list(words), "answer": json.loads(told)})
        else:
            shown = told.rstrip("\n").splitlines()[:lines]
            command = textwrap.shorten(shlex.join(words), max(20, self._width - 20), placeholder=" ...")
            self._out.text("\n".join(["", f"$ conversation-esaa {command}", *shown]))
        return told

    @property
    def workspace(self) -> Workspace:
        """The made-up project's."""
        return Workspace(self._project, machine=self._machine, catch_up=False)
