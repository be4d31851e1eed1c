"""`status`: one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.cli.commands.watch import told as told_watcher
from conversation_esaa.cli.words import many, plain
from conversation_esaa.text import inline
from conversation_esaa.watch import state as watching

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.reading.diagnosis import Diagnosis
    from conversation_esaa.reading.status import Status
    from conversation_esaa.watch.state import WatcherStatus

HELP = """One screen: how far the log goes, what each agent gave, what is stale, what could not be read."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Look and tell."""
    del args
    workspace = call.workspace
    status = workspace.status()
    found = workspace.doctor(prove=False, status=status)
    watcher = watching.status(call.machine)
    more = {"problems": found.problems, "watcher": watcher}
    call.out.data("status", {**msgspec.structs.asdict(status), **more})
    call.out.text(told(status, health(found), watcher))


def health(found: Diagnosis) -> str:
    """The doctor's word in a line."""
    calling = [each.agent for each in found.agents if any(fact.kind == "hooks" for fact in each.hooks)]
    hooks = f"hooks of {', '.join(calling)}" if calling else "no hooks"
    if not found.problems:
        return f"no problem found; {hooks}"
    return f"{many(len(found.problems), 'problem')}: `conversation-esaa doctor` says what mends each; {hooks}"


def told(status: Status, doctor: str, watcher: WatcherStatus) -> str:
    """The screen."""
    turns = status.events.get("conversation_turn", 0)
    size = sum(file.bytes for file in status.files)
    curated = (
        f"{many(status.decisions_active, 'active decision')}, {many(status.tasks_open, 'open task')},"
        f" {many(status.topics_active, 'active topic')}"
    )
    lines = [
        f"workspace  {plain(status.workspace)}",
        f"log        {status.freshness.words().removeprefix('log ')}",
        f"said       {many(turns, 'turn')}{f', last at {status.last_turn}' if status.last_turn else ''}",
        f"curated    {curated}",
        f"objective  {inline(status.goal, limit=160) if status.goal else '(none: conversation-esaa goal TEXT)'}",
        f"health     {doctor}",
        f"watcher    {told_watcher(watcher)[0]}",
        f"on disk    {size:,} bytes in {many(len(status.files), 'file')}",
        "",
        "agents",
    ]
    for agent in status.agents:
        if agent.excluded:
            state = "excluded in config.toml"
        elif not agent.found and not agent.moved:
            continue
        elif not agent.found:
            state = f"not found ({plain(agent.home)})"
        else:
            state = f"{many(agent.captured, 'event')} from {many(agent.sessions, 'session file')}"
            state += f", {agent.with_news} with news" if agent.with_news else ""
            elsewhere = sum(agent.refused.values())
            state += f"; {many(elsewhere, 'turn')} said elsewhere refused" if elsewhere else ""
        lines.append(f"  {agent.agent:<12} {state}")
    if notes := [*status.notes, *watcher.warnings]:
        lines += ["", "deserves a look", *(f"  {plain(note)}" for note in notes)]
    return "\n".join(lines)
