"""`show`: one event whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.reading.shown import as_json, whole

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Show one event with all its words. Secrets are masked unless you ask for the original."""


def arguments(parser: ArgumentParser) -> None:
    """Which one."""
    parser.add_argument(
        "event", metavar="ID", help="an event id, 8 or more of its first characters, DEC-n, or `last`"
    )
    parser.add_argument("--original", action="store_true", help="do not mask secrets")


def run(args: Namespace, call: Call) -> None:
    """Show it."""
    entry = call.workspace.show(args.event)
    call.out.data("show", {"event": as_json(entry, original=args.original)})
    call.out.text(whole(entry, original=args.original))
