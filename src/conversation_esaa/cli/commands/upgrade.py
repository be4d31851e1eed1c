"""`upgrade`: a directory of the older PowerShell tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.commands.init import told as told_setup
from conversation_esaa.cli.words import many, plain
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Take over a `.conversation-esaa/` of the older PowerShell tool. Its lines stay byte for byte as they
are; new events continue behind them. Says what was found, and leaves the older tool's files alone."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Take over and tell."""
    del args
    upgraded = Workspace.upgrade(call.path, progress=call.out.progress, **call.options)
    call.out.data("upgrade", upgraded)
    call.out.text(told_setup(upgraded.established))
    counts = ", ".join(f"{count} {plain(name)}" for name, count in upgraded.events.items())
    lines = [f"Readable here: {counts or 'nothing'}"]
    if upgraded.foreign:
        lines.append(f"{many(upgraded.foreign, 'line')} of another workspace: kept, never shown")
    if upgraded.shadowed:
        lines.append(f"{many(upgraded.shadowed, 'line')} repeating a native record: kept, shown once")
    if upgraded.unreadable:
        lines.append(
            f"{many(upgraded.unreadable, 'line')} not readable: kept, see `conversation-esaa verify`"
        )
    if upgraded.leftovers:
        lines.append("No longer used, yours to delete: " + ", ".join(upgraded.leftovers))
    if upgraded.hooks:
        lines.append("Hooks of the older tool still call it: " + ", ".join(upgraded.hooks))
    call.out.text("\n".join(lines))
