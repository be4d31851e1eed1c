"""Names of things: which string is which, and how a new one is made.

An event derived from an agent's log has an identity computed from the fact, so capturing twice adds
nothing. Ids shown to people (DEC-0001, CONV-001, TOP-001) are counted in the log, under its lock.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NewType

from conversation_esaa.canonical import canonical_trusted
from conversation_esaa.digests import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark, Turn

EventId = NewType("EventId", str)
AgentId = NewType("AgentId", str)
DecisionId = NewType("DecisionId", str)
TaskId = NewType("TaskId", str)
TopicId = NewType("TopicId", str)

HUMAN = AgentId("human")

# The older PowerShell tool called Claude Code `claude`; both names mean the same agent everywhere.
ALIASES = {"claude": AgentId("claude-code")}

DECISION_WIDTH = 4
TASK_WIDTH = 3
TOPIC_WIDTH = 3


def agent_id(name: str) -> AgentId:
    """`name` as its format page spells it: lower case, aliases resolved."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, AgentId(lowered))


def turn_event_id(turn: Turn) -> EventId:
    """Same turn, same id, on every machine and every run.

    The agent's own record id where it has a stable one: it survives resume, fork and file copies. Else
    session, ordinal among the visible records, actor and text, so that bookkeeping lines put in before
    a turn do not move it.
    """
    if turn.source_ref:
        return digest_of("turn", turn.source, turn.source_ref)
    return digest_of(
        "turn", turn.source, turn.source_session_id, str(turn.source_index), turn.actor, turn.text
    )


def mark_event_id(mark: SessionMark) -> EventId:
    """Same mark, same id: a session starts once, and is compacted once per native record."""
    return digest_of("session", mark.source, mark.source_session_id, mark.kind, mark.source_ref)


def curated_event_id(*, replica_id: str, seq: int, recorded_at: str) -> EventId:
    """Where and when a command was carried out. Two commands never share a position on one replica."""
    return digest_of("curated", replica_id, str(seq), recorded_at)


def digest_of(*parts: str) -> EventId:
    """SHA-256 of the canonical JSON array of `parts`, as 64 hex digits.

    Raises UnicodeEncodeError for a lone surrogate.
    """
    return EventId(sha256(canonical_trusted(parts)).hexdigest())


def next_id(prefix: str, width: int, taken: Iterable[str]) -> str:
    """`prefix-` and the highest number in `taken` plus one: gaps are never filled, ids never reused."""
    pattern = re.compile(rf"{re.escape(prefix)}-(\d+)")
    numbers = [int(match[1]) for match in map(pattern.fullmatch, taken) if match]
    return f"{prefix}-{max(numbers, default=0) + 1:0{width}d}"
