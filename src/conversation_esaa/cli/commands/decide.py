"""`decide`: knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.errors import UsageError
from conversation_esaa.reading.shown import as_json, done

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Record a decision and why it was taken. Sources are the evidence and must exist."""
EXAMPLES = """examples:
  conversation-esaa decide "Prices are integers, in cents" --rationale "Floats lost a cent" --source last
  conversation-esaa decide "Prices are decimals" --supersedes DEC-0001
  conversation-esaa decide --retract DEC-0002 --rationale "The vendor fixed it" """


def arguments(parser: ArgumentParser) -> None:
    """What was decided."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the decision")
    parser.add_argument(
        "--decision", default="", metavar="TEXT", help="the decision, as the older tool took it"
    )
    parser.add_argument("--rationale", default="", metavar="TEXT", help="why")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="EVENT",
        help="an event it rests on, or `last` for the newest turn; may be repeated",
    )
    parser.add_argument("--topic", action="append", default=[], metavar="TOP-n", help="a topic it belongs to")
    parser.add_argument(
        "--supersedes", action="append", default=[], metavar="DEC-n", help="a decision it takes the place of"
    )
    parser.add_argument("--retract", default="", metavar="DEC-n", help="say that a decision no longer holds")
    parser.add_argument("--agent", default="", metavar="NAME", help="who decides (default: detected)")


def run(args: Namespace, call: Call) -> None:
    """Record and tell."""
    text = " ".join(args.text) or args.decision
    if args.retract:
        if text or args.supersedes or args.source or args.topic:
            raise UsageError(
                "--retract takes only --rationale",
                hint="To put another decision in its place: `conversation-esaa decide TEXT --supersedes DEC-n`.",
            )
        entries = [call.workspace.retract(args.retract, rationale=args.rationale, by=args.agent)]
    else:
        entries = call.workspace.decide(
            text,
            rationale=args.rationale,
            sources=args.source,
            topics=args.topic,
            supersedes=args.supersedes,
            by=args.agent,
        )
    call.out.data("decide", {"events": [as_json(entry) for entry in entries]})
    call.out.text("".join(done(entry) for entry in entries))
