"""`capture`: a turn from standard input, for agents whose logs nobody here reads."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from conversation_esaa.errors import UsageError
from conversation_esaa.reading.shown import as_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Take one thing that was said into the log, from standard input: for an agent whose own log is not read. The
same --key again adds nothing, so a script may be run twice. Agents that `conversation-esaa agents` lists are
captured by `sync`."""
EXAMPLES = """examples:
  printf %s "Which port?" | conversation-esaa capture --from-stdin --agent my-agent --actor user --key 17
  my-agent ask | conversation-esaa capture --from-stdin --agent my-agent --actor assistant --key 18"""

MOST_BYTES = 64_000_000


def arguments(parser: ArgumentParser) -> None:
    """Whose words they are."""
    add = parser.add_argument
    add("--from-stdin", action="store_true", help="read the text, in UTF-8, from standard input")
    add("--agent", default="", metavar="NAME", help="the agent whose conversation it is")
    add("--actor", default="", metavar="WHO", help="`user` or `assistant`")
    add("--key", default="", metavar="KEY", help="names this turn for ever: captured once for each key")
    add("--session", default="", metavar="ID", help="the conversation it belongs to (default: one per agent)")
    add("--said-at", default="", metavar="TIME", help="when, RFC 3339 (default: now)")
    add("--cwd", default="", metavar="DIR", help="where it was said (default: the project's root)")
    add("--model", default="", metavar="NAME", help="the model that spoke")


def run(args: Namespace, call: Call) -> None:
    """Read, record, tell."""
    if not args.from_stdin:
        raise UsageError("capture reads from standard input alone", hint="Say so: --from-stdin.")
    if not args.agent:
        raise UsageError("whose words are they?", hint="Name the agent: --agent NAME.")
    workspace = call.workspace
    entry = workspace.append_turn(
        _text(),
        agent=args.agent,
        actor=args.actor,
        key=args.key,
        session=args.session,
        said_at=args.said_at,
        cwd=args.cwd,
        model=args.model,
    )
    call.out.data("capture", {"events": [as_json(entry)] if entry else [], "known": entry is None})
    call.out.text(
        f"captured: event {entry.event.event_id[:12]}" if entry else "known already: nothing was added"
    )


def _text() -> str:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"more than {MOST_BYTES:,} bytes are no turn", hint="Nothing was written.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 at byte {error.start}", hint="Nothing was written.") from None
