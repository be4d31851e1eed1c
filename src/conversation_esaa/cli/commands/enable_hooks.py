"""`enable-hooks`: make agents call us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import plain
from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.text import terminal

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.hooks.install import Change

HELP = """Make agents tell when something was said, so that it is captured by itself: our entries are merged into
their settings, and everything that is there stays as it is. `disable-hooks` takes them out again. Safe to run
again, after an upgrade or a move for example: entries are renewed where they stand, never doubled."""
EXAMPLES = """examples:
  conversation-esaa enable-hooks --agent claude-code --inject
  conversation-esaa enable-hooks --all --dry-run
  conversation-esaa enable-hooks --agent grok --scope project --trust
  conversation-esaa enable-hooks --agent grok --instructions"""


def arguments(parser: ArgumentParser) -> None:
    """Whose settings, and how."""
    parser.add_argument(
        "--agent", action="append", default=[], metavar="NAME", help="this agent; may be repeated"
    )
    parser.add_argument("--all", action="store_true", help="every agent that is on this machine")
    parser.add_argument(
        "--scope",
        metavar="project|user",
        help="whose settings: of this project, or of the user for all projects (default: where the agent "
        "keeps what is private)",
    )
    parser.add_argument(
        "--inject", action="store_true", help="hand the handoff to the agent when a session starts"
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="also write that the project is trusted, where the agent's vendor documents such a file",
    )
    parser.add_argument(
        "--instructions",
        action="store_true",
        help="also put a marked block into AGENTS.md, CLAUDE.md or GEMINI.md of the project",
    )
    parser.add_argument(
        "--notify", action="store_true", help="for codex: also chain onto `notify`, which needs no review"
    )
    parser.add_argument("--dry-run", action="store_true", help="change nothing, show what would change")


def run(args: Namespace, call: Call) -> int:
    """Put in and tell."""
    check(args)
    changes = call.workspace.enable_hooks(
        args.agent,
        scope=args.scope or "",
        inject=args.inject,
        trust=args.trust,
        instruct=args.instructions,
        notify=args.notify,
        dry_run=args.dry_run,
    )
    return tell("enable-hooks", changes, call, dry_run=args.dry_run)


def check(args: Namespace) -> None:
    """Agents must be named, or all be meant. Raises UsageError."""
    if bool(args.agent) == args.all:
        raise UsageError(
            "say which agents: --agent NAME, or --all", hint="`conversation-esaa hooks` lists them."
        )
    if args.scope not in (None, "project", "user"):
        raise UsageError(f"no scope is called {args.scope[:40]!r}", hint="There are: project, user.")


def tell(command: str, changes: list[Change], call: Call, *, dry_run: bool) -> int:
    """Show what was done; 1 when something was refused. Raises it when nothing else was there to do."""
    refused = [change for change in changes if change.action == "refused"]
    if len(refused) == len(changes) == 1:
        error = ConversationError(refused[0].problem, hint=refused[0].hint)
        error.code = refused[0].code
        raise error
    call.out.data(command, {"dry_run": dry_run, "changes": changes})
    call.out.text(told(changes, dry_run=dry_run))
    return 1 if refused else 0


def told(changes: list[Change], *, dry_run: bool) -> str:
    """A few lines a file."""
    lines = []
    for change in changes:
        did = f"would be {change.action}" if dry_run and change.diff else change.action
        events = f": {', '.join(map(plain, change.events))}" if change.events else ""
        lines.append(f"{change.agent:<12} {change.kind} ({change.scope}) {plain(change.file)} {did}{events}")
        if change.problem:
            lines += [f"{'':12} {plain(change.problem)}", f"{'':12} {plain(change.hint)}"]
        if change.approval_required:
            lines.append(f"{'':12} approval required: {plain(change.step)}")
        lines += [f"{'':12} {plain(note)}" for note in change.notes]
        if dry_run and change.diff:
            lines += ["", terminal(change.diff), ""]
    return "\n".join(lines) if lines else "Nothing of ours is there."
