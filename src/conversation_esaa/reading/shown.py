"""An entry of the log as it is shown: JSON for programs, Markdown for agents and people.

The words of a conversation leave here masked; `original=True` is for a person who asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conversation_esaa import text
from conversation_esaa.events import (
    ConversationTurn,
    DecisionRecorded,
    DecisionRetracted,
    DecisionSuperseded,
    Entry,
    FromSource,
    GoalSet,
    Recorded,
    SessionCompacted,
    SessionStarted,
    TaskEvent,
    TopicEvent,
    TopicEventLinked,
    TopicEventUnlinked,
    UnknownEvent,
    event_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Keys that hold names and numbers of ours: never words of a conversation, so never masked.
_OURS = frozenset(
    {
        "v", "seq", "event_id", "ts", "recorded_at", "event", "actor", "agent_id", "workspace_id",
        "replica_id", "flags", "salt", "content_digest", "hash", "source", "source_session_id",
        "source_index", "source_ref", "message_ref", "copy_keys", "decision_id", "superseded_by", "task_id",
        "topic_id", "topic_ids", "event_ids", "decision_ids", "task_ids", "related_turns", "status",
    }
)  # fmt: skip


def as_json(entry: Entry, *, original: bool = False) -> dict[str, Any]:
    """All keys of the line as they were written, with `seq`; words masked unless `original`."""
    fields = entry.fields
    fields.setdefault("seq", entry.event.seq)
    if original:
        return fields
    shown = {key: value if key in _OURS else _masked(value) for key, value in fields.items()}
    said = fields.get("text")
    if isinstance(said, str) and fields.get("summary") == text.summary(said):
        shown["summary"] = text.summary(shown["text"])  # a secret that the summary cuts is none to a mask
    return shown


def headline(entry: Entry) -> str:
    """When, who, what, which: the one line above an entry's words. Plain names only."""
    event = entry.event
    short = event.event_id[:12] if event.event_id else "(legacy)"
    return f"[{event.ts}] {_who(event)} `{short}` {_what(event)}".rstrip()


def done(entry: Entry) -> str:
    """What a curating command did: `DEC-0001 recorded (event ...)`, and its words on a line below."""
    event = entry.event
    ids = (getattr(event, name, "") for name in ("task_id", "topic_id", "decision_id"))
    subject = text.inline(next(filter(None, ids), "goal"))
    what = event_name(event).rpartition(".")[2]
    if isinstance(event, DecisionSuperseded):
        what += f" by {text.inline(event.superseded_by)}"
    if status := getattr(event, "status", None):
        what += f", {text.inline(status)}"
    lines = [f"{subject} {what} (event `{event.event_id[:12]}`)"]
    if words := _words_inline(entry):
        lines.append(f"  {words}")
    if sources := _sources(event):
        lines.append(f"  rests on: {sources}")
    return "\n".join(lines) + "\n"


def whole(entry: Entry, *, original: bool = False) -> str:
    """An entry as a Markdown list item with all its words.

    original   for a person who asked: secrets are not masked, and the words stand as they are.
    """
    if not original:
        return told([entry], full=True)
    words = (f"{label}:\n{value}" if label else value for label, value in words_of(entry.event))
    return "\n".join([f"- {headline(entry)}", "", *words, ""])


def told(group: Sequence[Entry], *, full: bool) -> str:
    """The records of one message, or a single entry, as one Markdown list item.

    full   all words, fenced; else the beginning of each record on a line.
    """
    lines = [f"- {headline(group[0])}"]
    for entry in group:
        if not full:
            if words := _words_inline(entry):
                lines.append(f"  {words}")
            continue
        for label, words in words_of(entry.event):
            lines += ["", f"{label.replace('_', ' ')}:"] if label else []
            lines += ["", text.quote(words).removesuffix("\n")] if words else []
    if sources := _sources(group[0].event):
        lines += ["", f"rests on: {sources}"] if full else [f"  rests on: {sources}"]
    return "\n".join(lines) + "\n"


def _sources(event: Recorded) -> str:
    related = getattr(event, "related_turns", ())
    return ", ".join(f"`{text.inline(event_id[:12])}`" for event_id in related)


def grouped(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The records of one message together, where its first one stands; everything else alone, in order.

    Between two records of a message stands what another agent said meanwhile.
    """
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_message_of(entry.event), []).append(entry)
    return list(groups.values())


def _message_of(event: Recorded) -> tuple[str, ...]:
    if isinstance(event, ConversationTurn) and event.message_ref:
        return event.source, event.source_session_id, event.actor, event.message_ref
    return (str(event.seq),)


def cost_of(*, full: bool) -> Callable[[Entry], int]:
    """What showing an entry takes, in estimated tokens."""
    return lambda entry: text.tokens(told([entry], full=full) + "\n")


def words_of(event: Recorded) -> list[tuple[str, str]]:
    """The words of an event in the order to read them, each with its label ("" for what was said)."""
    if isinstance(event, ConversationTurn):
        return [("", event.text)]
    labels = ("goal", "decision", "title", "summary", "description", "rationale", "next_step", "evidence")
    found = [
        (name, value) for name in labels if isinstance(value := getattr(event, name, None), str) and value
    ]
    return found or [("", getattr(event, "text", "") or "")]


def _words_inline(entry: Entry) -> str:
    event = entry.event
    if isinstance(event, ConversationTurn):
        # Not the summary: it ends without a sign that it was cut, maybe in the middle of a secret.
        return text.inline(event.text or event.summary, limit=text.SUMMARY_CHARACTERS)
    words = [
        text.inline(value, limit=text.SUMMARY_CHARACTERS)
        if label in ("", "goal", "decision", "title")
        else f"({label.replace('_', ' ')}: {text.inline(value, limit=text.SUMMARY_CHARACTERS)})"
        for label, value in words_of(event)
        if value
    ]
    return " ".join(words)


def _who(event: Recorded) -> str:
    agent = text.inline(event.agent_id) if event.agent_id else ""
    match event:
        case ConversationTurn(actor="user") if agent:
            return f"user → {agent}"
        case ConversationTurn():
            return agent or text.inline(event.actor)
        case FromSource():
            return agent or text.inline(event.source)
        case _:
            return f"by {agent or text.inline(event.actor) or 'somebody'}"


def _what(event: Recorded) -> str:
    match event:
        case ConversationTurn():
            return ""
        case DecisionRecorded(decision_id=decision_id) if decision_id:
            return f"{event_name(event)} {text.inline(decision_id)}"
        case DecisionSuperseded():
            return f"{text.inline(event.decision_id)} superseded by {text.inline(event.superseded_by)}"
        case DecisionRetracted():
            return f"{text.inline(event.decision_id)} retracted"
        case TaskEvent():
            status = getattr(event, "status", None)
            return f"{event_name(event)} {text.inline(event.task_id)}" + (
                f" ({text.inline(status)})" if status else ""
            )
        case TopicEventLinked() | TopicEventUnlinked():
            count = len(event.event_ids) + len(event.decision_ids) + len(event.task_ids)
            return f"{event_name(event)} {text.inline(event.topic_id)}: {count}"
        case TopicEvent():
            return f"{event_name(event)} {text.inline(event.topic_id)}"
        case SessionStarted() | SessionCompacted():
            return f"{event_name(event)} {text.inline(event.source_session_id)}"
        case UnknownEvent():
            return f"{text.inline(event.name)} (written by a newer version)"
        case GoalSet():
            return "goal.set" if event.goal else "goal.set (cleared)"
        case _:
            return event_name(event)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return text.masked(value)
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in value.items()}
    return value
