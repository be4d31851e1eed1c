"""`agents`: which agents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many, plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """The agents whose logs can be read, where each keeps its sessions, and what there is for this
workspace. Works outside a workspace too."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Look and tell."""
    del args
    from conversation_esaa.workspace import agents

    surveys = agents(call.path, machine=call.machine)
    call.out.data("agents", {"agents": surveys})
    lines = []
    for agent in surveys:
        found = many(agent.sessions, "session file") if agent.found else "not found"
        lines.append(f"{agent.agent:<12} {agent.title:<16} {found:<18} {plain(agent.home)}")
        lines += [f"{'':12} {count} × {plain(reason)}" for reason, count in sorted(agent.unlisted.items())]
        if agent.failed:
            lines.append(f"{'':12} could not be looked at: {agent.failed}")
    lines.append("\nSession files are those that may hold something said in this project.")
    call.out.text("\n".join(lines))
