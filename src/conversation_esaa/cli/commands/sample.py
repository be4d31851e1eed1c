"""`sample`: the structure of a native log, to report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many
from conversation_esaa.errors import ConversationError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Show what the records of an agent's log look like, without a word of it: keys and types, and the names of kinds
of records. For a report about a format that is not understood. Look through it before you send it."""
EXAMPLES = """examples:
  conversation-esaa sample ~/.codex/sessions/2026/03/01/rollout-….jsonl > sample.txt"""


class NotSampled(ConversationError):
    """A file that has no structure to show."""

    code = "sample.unreadable"


def arguments(parser: ArgumentParser) -> None:
    """Of which file."""
    parser.add_argument("path", metavar="PATH", help="a session file (JSONL, JSON) or a database (SQLite)")


def run(args: Namespace, call: Call) -> None:
    """Look and tell."""
    from conversation_esaa.agents.skeleton import skeleton

    path = call.machine.present / Path(args.path).expanduser()
    try:
        found = skeleton(path)
    except OSError as error:
        raise NotSampled(
            f"{path}: {error.strerror or type(error).__name__}",
            hint="`conversation-esaa agents` shows where each agent keeps its sessions.",
        ) from None
    call.out.data("sample", found)
    lines = [
        f"{many(found.records, 'record')}, {many(found.unreadable, 'line')} not readable; keys and types, no text"
    ]
    for name, columns in found.tables.items():
        lines.append(f"table {name}: {', '.join(f'{key} {kind}'.strip() for key, kind in columns.items())}")
    lines += [f"{each.count:>6} × {json.dumps(each.shape, ensure_ascii=True)}" for each in found.shapes]
    if found.left_out:
        lines.append(f"{many(found.left_out, 'rarer shape')} left out")
    call.out.text("\n".join(lines))
