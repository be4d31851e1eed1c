"""`init`: a workspace and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    if "activity.jsonl" in established.created:
        lines.append(f"Set up {established.root}/.conversation-esaa/")
    elif established.created:
        lines.append(f"Completed {established.root}/.conversation-esaa/: {', '.join(established.created)}")
    else:
        lines.append(f"Workspace {established.root}")
    if established.v1_1_lines:
        lines.append(f"Took over a log of the older tool as it is: {established.v1_1_lines} lines")
    if established.moved_from:
        lines.append(f"Noted that the directory was {established.moved_from} before")
    if established.worktree:
        lines.append(f"The git worktree {established.worktree} belongs to this workspace now")
    if established.tightened:
        lines.append(f"Took other users' rights away from {len(established.tightened)} files")
    return "\n".join(lines)
