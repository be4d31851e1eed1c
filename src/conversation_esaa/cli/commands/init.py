"""`init`: a workspace and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many, plain
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.establish import Established

HELP = """Make this project a workspace: a directory `.conversation-esaa/` that ignores itself in git, readable
by you alone. Nothing else is touched, and what is there stays as it is."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Set up and tell."""
    del args
    workspace, established = Workspace.create(call.path, **call.options)
    workspace.project()
    call.out.data("init", established)
    call.out.text(told(established))


def told(established: Established) -> str:
    """What setting up did, in a few lines."""
    lines = []
    root = plain(established.root)
    if "activity.jsonl" in established.created:
        lines.append(f"Set up {root}/.conversation-esaa/")
    elif established.created:
        lines.append(f"Completed {root}/.conversation-esaa/: {', '.join(established.created)}")
    else:
        lines.append(f"Workspace {root}")
    if established.v1_1_lines:
        lines.append(f"Took over a log of the older tool as it is: {many(established.v1_1_lines, 'line')}")
    if established.moved_from:
        lines.append(f"Noted that the directory was {plain(established.moved_from)} before")
    if established.worktree:
        lines.append(f"The git worktree {plain(established.worktree)} belongs to this workspace now")
    if established.tightened:
        lines.append(f"Took other users' rights away from {many(len(established.tightened), 'file')}")
    return "\n".join(lines)
