"""A turn: one thing that somebody visibly said, as an agent's own log states it.

What the agent modules give and capture takes. A turn is evidence: it is what the screen showed, never
reasoning, tool output, system prompts or the talk of sub-agents.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from conversation_esaa.ids import AgentId


class Actor(StrEnum):
    """Who spoke."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class MarkKind(StrEnum):
    """What happened to a session, other than something being said. The value ends the event's name."""

    STARTED = "started"
    ENDED = "ended"
    COMPACTED = "compacted"


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One visible record of an agent's log: a prompt, or one text block of an answer.

    Empty strings mean that the log does not say.
    """

    source: AgentId
    source_session_id: str
    source_index: int  # ordinal among the session's visible records, from 0
    actor: Actor
    text: str  # verbatim, never blank
    source_ref: str = ""  # the agent's own id of this record, when it has a stable one
    message_ref: str = ""  # shared by the records of one message
    copy_keys: tuple[str, ...] = ()
    """Other identities that survive where `source_ref` does not: a copy of a session that some versions
    write with new record ids. A turn with a known copy key was captured before."""
    said_at: str = ""  # RFC 3339 UTC, milliseconds
    cwd: str = ""  # the directory this record was said in, as recorded; decides the workspace
    git_branch: str = ""
    git_commit: str = ""
    model: str = ""
    agent_version: str = ""


class SessionMark(msgspec.Struct, frozen=True, kw_only=True):
    """A session began, ended, or was compacted by its agent, when the log tells."""

    source: AgentId
    source_session_id: str
    kind: MarkKind
    source_ref: str = ""  # tells two compactions of one session apart
    said_at: str = ""
    cwd: str = ""
    git_branch: str = ""
    git_commit: str = ""
    model: str = ""
    agent_version: str = ""
    forked_from: str = ""  # the session whose history this one continues
    trigger: str = ""  # manual, auto, … in the agent's own word
