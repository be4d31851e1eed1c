"""From a turn to an event of the log: what is taken out first, what is cut, and what names it for ever. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.canonical import without_surrogates
from conversation_esaa.events import (
    ConversationTurn,
    FromSource,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
)
from conversation_esaa.ids import mark_event_id, turn_event_id
from conversation_esaa.projections.injected import without_injected
from conversation_esaa.text import strip_private, summary
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path


def turn_event(turn: Turn, *, source_path: str, max_characters: int) -> ConversationTurn | None:
    """The draft of a turn; None when nothing of it may be stored.

    max_characters   a longer text is cut there, with a marker and the number of characters left out.

    What stands in `<private>` tags, and what we ourselves put into the conversation, is taken out first, so
    that neither words nor identity keep a trace of it. Identity is that of the whole text: another limit
    does not make another turn.
    """
    flags = []
    text = without_surrogates(turn.text)
    if text is not turn.text:
        flags.append("surrogates_replaced")
    public, had_private = strip_private(text)
    if had_private:
        flags.append("private_removed")
    if (cleaned := without_injected(public)) != public:
        public = cleaned
        flags.append("injection_removed")
    if public is not text:
        text = public.strip()
    if not text or text.isspace():
        return None
    turn = _encodable(turn, text, copy_keys=() if had_private else turn.copy_keys)
    event_id = turn_event_id(turn)
    if len(text) > max_characters:
        left_out = len(text) - max_characters
        text = f"{text[:max_characters]}\n[… {left_out} characters left out at capture]"
        flags.append("cut")
    return ConversationTurn(
        event_id=event_id,
        ts=turn.said_at,
        actor=str(turn.actor),
        agent_id=turn.source,
        flags=tuple(flags if turn.said_at else [*flags, "time_of_capture"]),
        source=turn.source,
        source_session_id=turn.source_session_id,
        source_path=source_path,
        source_ref=turn.source_ref,
        source_index=turn.source_index,
        message_ref=turn.message_ref,
        cwd=turn.cwd,
        git_branch=turn.git_branch,
        git_commit=turn.git_commit,
        model=turn.model,
        agent_version=turn.agent_version,
        copy_keys=turn.copy_keys,
        text=text,
        summary=summary(text),
    )


def mark_event(mark: SessionMark, *, source_path: str) -> FromSource:
    """The draft of a session's start, end or compaction."""
    session, ref = without_surrogates(mark.source_session_id), without_surrogates(mark.source_ref)
    if session is not mark.source_session_id or ref is not mark.source_ref:
        mark = msgspec.structs.replace(mark, source_session_id=session, source_ref=ref)
    common = FromSource(
        event_id=mark_event_id(mark),
        ts=mark.said_at,
        actor=str(Actor.SYSTEM),
        agent_id=mark.source,
        source=mark.source,
        source_session_id=mark.source_session_id,
        source_path=source_path,
        source_ref=mark.source_ref,
        cwd=mark.cwd,
        git_branch=mark.git_branch,
        git_commit=mark.git_commit,
        model=mark.model,
        agent_version=mark.agent_version,
    )
    fields = msgspec.structs.asdict(common)
    if mark.kind is MarkKind.STARTED:
        return SessionStarted(**fields, forked_from=mark.forked_from)
    if mark.kind is MarkKind.ENDED:
        return SessionEnded(**fields, trigger=mark.trigger)
    return SessionCompacted(**fields, trigger=mark.trigger)


def home_relative(path: Path, user_home: Path) -> str:
    """`~/…` with forward slashes for what lies below the home directory: no user name in the log."""
    try:
        return "~/" + path.relative_to(user_home).as_posix()
    except ValueError:
        return path.as_posix()


def _encodable(turn: Turn, text: str, *, copy_keys: tuple[str, ...]) -> Turn:
    """`turn` with `text`, and with an identity that can be hashed; other keys are the log's to clean."""
    session, ref = without_surrogates(turn.source_session_id), without_surrogates(turn.source_ref)
    if text is turn.text and session is turn.source_session_id and ref is turn.source_ref:
        return turn
    return msgspec.structs.replace(
        turn, text=text, source_session_id=session, source_ref=ref, copy_keys=copy_keys
    )
