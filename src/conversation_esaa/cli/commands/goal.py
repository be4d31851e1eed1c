"""`goal`: the current objective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.errors import UsageError
from conversation_esaa.projections.goal import current
from conversation_esaa.text import inline

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Show the current objective, or set it. Earlier ones stay in the log."""


def arguments(parser: ArgumentParser) -> None:
    """What to set."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the objective; none shows it")
    parser.add_argument("--clear", action="store_true", help="there is no objective any more")
    parser.add_argument("--history", action="store_true", help="show earlier ones too")
    parser.add_argument("--agent", default="", metavar="NAME", help="who sets it (default: detected)")


def run(args: Namespace, call: Call) -> None:
    """Set or show."""
    workspace = call.workspace
    if args.text and args.clear:
        raise UsageError(
            "--clear takes no text", hint="`conversation-esaa goal TEXT` replaces the objective."
        )
    if args.text or args.clear:
        workspace.set_goal(" ".join(args.text), by=args.agent)
    overview = workspace.overview()
    goals = overview.state.goals
    now = current(goals)
    call.out.data(
        "goal", {"freshness": overview.freshness, "goal": now.goal if now else "", "history": goals}
    )
    if args.history:
        lines = [f"- [{goal.ts}] {inline(goal.goal) or '(cleared)'}" for goal in goals]
        call.out.text("\n".join(lines) or "No objective was ever set.")
    else:
        call.out.text(inline(now.goal) if now else "No objective is set: `conversation-esaa goal TEXT`.")
        if now:
            call.out.text(f"  set by {inline(now.agent_id or now.actor or 'somebody')}, {now.ts}")
    call.out.text(overview.freshness.words())
