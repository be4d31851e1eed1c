"""`show`: one thing whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.errors import UsageError
from conversation_esaa.reading.shown import as_json, whole

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Show one event with all its words, or a task or topic as it is now. Secrets are masked unless you
ask for the original."""
EXAMPLES = """examples:
  conversation-esaa show 4f2a91c0
  conversation-esaa show last
  conversation-esaa show DEC-0001"""


def arguments(parser: ArgumentParser) -> None:
    """Which one."""
    parser.add_argument(
        "event",
        metavar="ID",
        help="an event id, 8 or more of its first characters, `last` for the newest turn, DEC-n, CONV-n, TOP-n",
    )
    parser.add_argument("--original", action="store_true", help="do not mask secrets (events only)")


def run(args: Namespace, call: Call) -> None:
    """Show it."""
    kind = args.event.upper().partition("-")[0]
    if kind in ("CONV", "TOP"):
        if args.original:
            raise UsageError(
                "--original is for events", hint=f"`conversation-esaa show {kind}-n` shows it without."
            )
        _show_curated(kind, args.event, call)
        return
    shown = call.workspace.show(args.event)
    fields = as_json(shown.entry, original=args.original)
    call.out.data("show", {"freshness": shown.freshness, "standing": shown.standing, "event": fields})
    call.out.text(whole(shown.entry, original=args.original))
    if shown.standing:
        call.out.text(f"this decision is {shown.standing}")
    call.out.text(shown.freshness.words())


def _show_curated(kind: str, name: str, call: Call) -> None:
    from conversation_esaa.cli.commands import task, topic

    (task if kind == "CONV" else topic).show(name, call)
