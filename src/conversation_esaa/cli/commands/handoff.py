"""`handoff`: the entry contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Print what an agent that starts cold needs to know: objective, last request, what each agent did
last, decisions with reasons, open tasks, topics, the last exchange, and where to read on."""


def arguments(parser: ArgumentParser) -> None:
    """How much, and for whom."""
    parser.add_argument(
        "--budget", type=int, metavar="TOKENS", help="at most that many tokens (default 2000)"
    )
    parser.add_argument("--for", dest="reader", default="", metavar="AGENT", help="the agent that reads it")


def run(args: Namespace, call: Call) -> None:
    """Print it."""
    if args.budget is not None and args.budget < 1:
        raise UsageError("--budget takes a number from 1")
    budget = {} if args.budget is None else {"budget": args.budget}
    handoff = call.workspace.handoff(**budget, reader=args.reader)
    call.out.data("handoff", handoff)
    call.out.text(handoff.text)
