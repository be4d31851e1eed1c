"""`watch`: for now one look, as `sync` takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.commands import sync
from conversation_esaa.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Look once for what is new and capture it, exactly as `sync` does. (A watcher that stays is not
part of this version.)"""


def arguments(parser: ArgumentParser) -> None:
    """As sync has them, and --once."""
    parser.add_argument("--once", action="store_true", help="look once and end")
    sync.arguments(parser)


def run(args: Namespace, call: Call) -> int:
    """One look."""
    if not args.once:
        raise UsageError(
            "a watcher that stays is not part of this version",
            hint="`conversation-esaa watch --once` looks once; reading commands look by themselves.",
        )
    return sync.run(args, call)
