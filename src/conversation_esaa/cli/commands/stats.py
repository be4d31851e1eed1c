"""`stats`: counts and token economy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many, plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Counts per agent and event, and how many tokens a handoff takes against reading every turn.
Tokens are estimated without a tokenizer, on the high side."""


def arguments(parser: ArgumentParser) -> None:
    """Nothing of its own."""
    del parser


def run(args: Namespace, call: Call) -> None:
    """Count and tell."""
    del args
    stats = call.workspace.stats()
    call.out.data("stats", stats)
    lines = [stats.freshness.words(), ""]
    lines += [f"{count:>9,}  {plain(name)}" for name, count in stats.events.items()]
    lines.append("")
    for agent in stats.agents:
        lines.append(
            f"{plain(agent.agent):<12} {many(agent.user_turns, 'prompt')}, {many(agent.assistant_turns, 'answer')},"
            f" {many(agent.sessions, 'session')}"
        )
    lines += [
        "",
        f"said from {stats.first_turn or '-'} to {stats.last_turn or '-'}",
        f"every turn   about {stats.conversation_tokens:,} tokens ({stats.characters:,} characters)",
        f"a handoff    about {stats.handoff_tokens:,} tokens",
        f"the log      {stats.log_bytes:,} bytes",
    ]
    call.out.text("\n".join(lines))
