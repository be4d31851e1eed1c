"""`up`: from nothing to a handoff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.commands.enable_hooks import told as told_hooks
from conversation_esaa.cli.commands.init import told as told_setup
from conversation_esaa.cli.commands.sync import exit_code
from conversation_esaa.cli.commands.sync import told as told_sync
from conversation_esaa.cli.words import plain
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Set up a workspace here if there is none, capture what the agents' logs have, and say what the
next agent will get. Safe to run at any time, as often as you like. Nothing outside the workspace is changed, but with
--yes, which takes the hooks that are offered."""


def arguments(parser: ArgumentParser) -> None:
    """Whether to take what is offered."""
    parser.add_argument(
        "--yes",
        action="store_true",
        help="also `enable-hooks --inject` for the agents that are here and have none",
    )


def run(args: Namespace, call: Call) -> int:
    """Set up, capture, tell."""
    workspace, established = Workspace.create(call.path, **call.options)
    workspace.progress = call.out.progress
    report = workspace.sync()
    workspace.catch_up = False  # it just did
    handoff = workspace.handoff()
    offered = [each.agent for each in workspace.hooks() if each.present and not each.installed]
    changes = workspace.enable_hooks(offered, inject=True) if offered and args.yes else []
    call.out.data(
        "up",
        {
            "workspace": str(workspace.root),
            "established": established,
            "sync": report,
            "handoff": {"path": str(workspace.layout.read_model("handoff.md")), "tokens": handoff.tokens},
            "hooks": {"offered": offered, "changes": changes},
        },
    )
    call.out.text(told_setup(established))
    call.out.text(told_sync(report))
    if not any(agent.found for agent in report.agents):
        call.out.text(
            "\nNone of these agents has kept anything for this user. Where one keeps its sessions\n"
            "elsewhere, name it by the agent's own variable: CLAUDE_CONFIG_DIR, CODEX_HOME, GROK_HOME, ..."
        )
    call.out.text(
        f"\nThe next agent gets {plain(str(workspace.layout.read_model('handoff.md')))}\n"
        f"(about {handoff.tokens:,} tokens). Tell it to run `conversation-esaa handoff` first.\n"
        "Record what matters with `goal`, `decide` and `task create`;\n"
        "`conversation-esaa --help` lists the rest."
    )
    if changes:
        call.out.text(f"\n{told_hooks(changes, dry_run=False)}")
    elif offered:
        call.out.text(
            f"\n{', '.join(offered)} can tell by themselves when something was said, and start with\n"
            "the handoff: `conversation-esaa up --yes` merges our hooks into their settings, and\n"
            "`conversation-esaa disable-hooks --all` takes exactly those out again."
        )
    return exit_code(report) or int(any(change.action == "refused" for change in changes))
