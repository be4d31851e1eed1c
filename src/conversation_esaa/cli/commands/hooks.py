"""`hooks`: which agents call us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import plain
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.hooks.status import HookStatus

HELP = """Which agents tell us by themselves when something was said, from which file, and what keeps one from it.
Reads files and changes nothing. Works outside a workspace too."""


def arguments(parser: ArgumentParser) -> None:
    """Which agents."""
    parser.add_argument(
        "--agent", action="append", default=[], metavar="NAME", help="only this agent; may be repeated"
    )


def run(args: Namespace, call: Call) -> None:
    """Look and tell."""
    found = Workspace.anywhere(call.path, machine=call.machine).hooks(args.agent)
    call.out.data("hooks", {"agents": found})
    call.out.text(told(found))


def told(agents: list[HookStatus]) -> str:
    """An agent a line, and a line for each of its files."""
    lines = []
    for agent in agents:
        if not agent.installed:
            lines.append(f"{agent.agent:<12} off{'' if agent.present else ', and not found on this machine'}")
        for each in agent.installed:
            state = "on, handoff injected" if each.inject else "on"
            state = "stale" if each.stale else "waits for approval" if each.approval_required else state
            lines.append(f"{agent.agent:<12} {state}: {each.kind} ({each.scope}) {plain(each.file)}")
            if each.problem:
                lines += [f"{'':12} {plain(each.problem)}", f"{'':12} {plain(each.mend)}"]
    lines.append("\n`conversation-esaa enable-hooks --agent NAME` turns one on.")
    return "\n".join(lines)
