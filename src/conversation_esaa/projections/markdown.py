"""The marks that our Markdown is made of, and how a value gets between them without becoming one.

Sentences go through `text.inline` and `text.quote`. Here is what both are too coarse for: ids, branches,
paths and commands, which a reader wants to copy as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.patterns import lazy
from conversation_esaa.text import inline, masked
from conversation_esaa.timestamps import parse_utc

if TYPE_CHECKING:
    from conversation_esaa.events import Head

UNKNOWN_TIME = "at an unknown time"
NO_WORDS = "(its words were removed)"

_FIRST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~/._")
_TOKEN = _FIRST | frozenset(":@+=,-")
_COMMAND = _TOKEN | frozenset("' ")
_STATUS = lazy(r"[a-z]+(_[a-z]+)*")
_ID = lazy(r"[A-Z]{1,8}-[0-9]{1,9}")


def notice(schema: str, head: Head) -> str:
    """The first line of a Markdown read model: what it is, what it was built from, who rebuilds it."""
    return (
        f"<!-- {schema} | {position(head)} | "
        f"generated, do not edit: `conversation-esaa project` rebuilds it -->"
    )


def position(head: Head) -> str:
    """How a notice states the log position."""
    return f"log seq={head.seq} hash={head.hash or 'none'}"


def code(value: str) -> str:
    """An id, branch, path, model: as a code span when it is a plain word, else as escaped text."""
    if _is_made_of(_TOKEN, value, longest=200) and masked(value) == value:
        return f"`{value}`"
    return inline(value, limit=80) or "(none)"


def command(line: str) -> str:
    """A shell command as a code span, so that it can be copied; escaped text when it has odd characters."""
    if _is_made_of(_COMMAND, line, longest=300) and masked(line) == line:
        return f"`{line}`"
    return inline(line, limit=200)


def _is_made_of(characters: frozenset[str], text: str, *, longest: int) -> bool:
    return 0 < len(text) <= longest and text[0] in _FIRST and characters.issuperset(text)


def label(name: str) -> str:
    """DEC-0001, CONV-001, TOP-001. Old logs may hold any string there; that one is escaped."""
    return name if _ID.fullmatch(name) else inline(name, limit=40) or "(no id)"


def status(value: str) -> str:
    """open, in_progress, active, …; a status from an old log may be any string, and is escaped."""
    return value if _STATUS.fullmatch(value) else inline(value, limit=40) or "(none)"


def moment(ts: str) -> str:
    """A time as the log has it."""
    return parse_utc(ts) or UNKNOWN_TIME


def minute(ts: str) -> str:
    """A time to the minute, where every token counts."""
    parsed = parse_utc(ts)
    return f"{parsed[:16]}Z" if parsed else UNKNOWN_TIME


def words(value: str | None, *, limit: int) -> str:
    """Somebody's sentence on one line."""
    return inline(value or "", limit=limit) or NO_WORDS


def who(agent_id: str | None, actor: str) -> str:
    """The agent that curated, or the role when no agent is named."""
    return code(agent_id) if agent_id else code(actor or "unknown")


def counted(count: int, what: str) -> str:
    """1 turn, 2 turns."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def more(count: int, what: str, how: str) -> str:
    """What was left out, and what shows it."""
    return f"- … and {counted(count, what)} more: {how}"
