"""What a hook call means for the log. Pure.

Texts of a hook differ from those of the agent's own log: cut, joined, with context in them that nobody typed. So
a call is a reason to look into that log, and only what no log tells is taken from the call itself: that a
session ended; and the words of an agent whose log we cannot read (`ONLY_HOOKS`), under one identity however
often its hooks fire.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from conversation_esaa.canonical import without_surrogates
from conversation_esaa.capture.cascade import spoken
from conversation_esaa.ids import AgentId
from conversation_esaa.text import masked
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from conversation_esaa.capture.spool import Hook
    from conversation_esaa.projections.conversation import Session

ONLY_HOOKS = frozenset({AgentId("windsurf")})
"""Agents whose hooks tell all that was said, and whose logs nobody can read."""

_ALSO = {AgentId("cursor"): (AgentId("cursor-cli"),)}
"""Agents that run the hooks of another one, and look like it there."""

_SPEAKERS = {  # event of an agent in ONLY_HOOKS → who said it, and the key of the words
    "preuserprompt": (Actor.USER, "user_prompt"),
    "postcascaderesponse": (Actor.ASSISTANT, "response"),
}
_SESSION = ("session_id", "sessionId", "conversation_id", "thread-id", "trajectory_id")
_ANSWER = ("last_assistant_message", "lastAssistantMessage", "last-assistant-message", "prompt_response")
_PROMPTS = {"userpromptsubmit", "userpromptsubmitted", "beforeagent"}
_OF_A_SUBAGENT = ("agent_id", "subagentType", "subagent_id", "agent_transcript_path")
_COMPARED = 400  # characters of an answer; hooks cut long ones


def callers(hook: Hook) -> tuple[AgentId, ...]:
    """The agents of which one has called."""
    return (hook.agent, *_ALSO.get(hook.agent, ()))


def session_id(hook: Hook) -> str:
    """The session that a call is about; "" when it does not say, or is about a sub-agent in it."""
    if any(hook.payload.get(key) for key in _OF_A_SUBAGENT):
        return ""
    return _text(hook, *_SESSION)


def answer(hook: Hook) -> str:
    """What the agent has just said, according to the call; "" when it does not tell."""
    return _text(hook, *_ANSWER)


def goes_on(hook: Hook) -> bool:
    """Whether the call tells of a new prompt."""
    return _event(hook) in _PROMPTS


def ends(hook: Hook) -> bool:
    """Whether the call tells that its session ended."""
    return _event(hook) == "sessionend"


def is_in(said: str, session: Session | None) -> bool:
    """Whether `said` is the last answer of the session, as far as a hook's text can be compared with a log's."""
    if session is None or session.answer is None or session.unanswered:
        return False
    told, kept = _folded(masked(said)), _folded(session.answer.text)
    return told[:_COMPARED] in kept or kept[:_COMPARED] in told


def end(hook: Hook, agent: AgentId, *, turns: int, cwd: str) -> SessionMark:
    """The end of a session, as a mark that is the same however often it is told.

    agent   whose session it is.
    turns   of the session so far: it can end again after more.
    """
    return SessionMark(
        source=agent,
        source_session_id=session_id(hook),
        kind=MarkKind.ENDED,
        source_ref=f"turns={turns}",
        said_at=hook.at,
        cwd=cwd,
        model=_text(hook, "model"),
        trigger=_text(hook, "reason", "trigger"),
    )


def turn(hook: Hook, *, cwd: str) -> Turn | None:
    """What was said, for an agent in ONLY_HOOKS."""
    speaker = _SPEAKERS.get(_event(hook))
    session = session_id(hook)
    if speaker is None or not session or hook.agent not in ONLY_HOOKS:
        return None
    actor, key = speaker
    text = _text(hook, key)
    if actor is Actor.ASSISTANT:
        text = spoken(text)
    if not text.strip():
        return None
    digest = hashlib.sha256(without_surrogates(text).encode()).hexdigest()[:16]
    execution = _text(hook, "execution_id")
    return Turn(
        source=hook.agent,
        source_session_id=session,
        source_index=-1,
        source_ref=f"{execution}/{actor}/{digest}",
        message_ref=execution,
        actor=actor,
        text=text,
        said_at=hook.at,
        cwd=cwd,
        model=_text(hook, "model_name"),
    )


def _event(hook: Hook) -> str:
    """Without the ways to spell it: `SessionEnd`, `sessionEnd`, `session_end`."""
    return hook.event.replace("_", "").replace("-", "").lower()


def _text(hook: Hook, *keys: str) -> str:
    found = (hook.payload.get(key) for key in keys)
    return next((value for value in found if isinstance(value, str) and value), "")


def _folded(text: str) -> str:
    return " ".join(text.split())
