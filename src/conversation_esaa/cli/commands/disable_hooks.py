"""`disable-hooks`: take our entries out of agents' settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.commands.enable_hooks import check, tell
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Take our entries out of agents' settings again, and nothing else. A file that nobody but us changed gets
its old bytes back; one that we made goes away. Works outside a workspace too."""


def arguments(parser: ArgumentParser) -> None:
    """Whose settings."""
    parser.add_argument(
        "--agent", action="append", default=[], metavar="NAME", help="this agent; may be repeated"
    )
    parser.add_argument("--all", action="store_true", help="every agent")
    parser.add_argument("--scope", metavar="project|user", help="only these settings (default: both)")
    parser.add_argument(
        "--instructions", action="store_true", help="also the block in the project's instruction file"
    )
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would change")


def run(args: Namespace, call: Call) -> int:
    """Take out and tell."""
    check(args)
    changes = Workspace.anywhere(call.path, machine=call.machine).disable_hooks(
        args.agent, scope=args.scope or "", instruct=args.instructions, dry_run=args.dry_run
    )
    return tell("disable-hooks", changes, call, dry_run=args.dry_run)
