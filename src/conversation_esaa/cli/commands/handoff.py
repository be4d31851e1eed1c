"""`handoff`: the entry contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.values import positive
from conversation_esaa.reading.handoff import DEFAULT_BUDGET

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Print what an agent that starts cold needs to know: objective, last request, what each agent did
last, decisions with reasons, open tasks, topics, the last exchange, and where to read on."""


def arguments(parser: ArgumentParser) -> None:
    """How much, and for whom."""
    parser.add_argument(
        "--budget",
        type=positive,
        default=DEFAULT_BUDGET,
        metavar="TOKENS",
        help=f"at most that many tokens (default {DEFAULT_BUDGET})",
    )
    parser.add_argument("--for", dest="reader", default="", metavar="AGENT", help="the agent that reads it")


def run(args: Namespace, call: Call) -> None:
    """Print it."""
    handoff = call.workspace.handoff(budget=args.budget, reader=args.reader)
    call.out.data("handoff", handoff)
    call.out.text(handoff.text)
