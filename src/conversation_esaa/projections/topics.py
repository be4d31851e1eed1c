"""Topics: the index of the conversation, made by hand, never guessed.

A topic is linked to events (turns, and the events of decisions), to decisions and to tasks. Every link is
kept; only what a page shows is cut.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import msgspec

from conversation_esaa.events import (
    TOPIC_STATUSES,
    ConversationTurn,
    DecisionRecorded,
    Head,
    Recorded,
    TaskEvent,
    TopicClosed,
    TopicCreated,
    TopicEventLinked,
    TopicEventUnlinked,
    TopicUpdated,
)
from conversation_esaa.ids import DecisionId, EventId, TaskId, TopicId
from conversation_esaa.projections.markdown import code, label, moment, more, notice, status, words
from conversation_esaa.text import masked

if TYPE_CHECKING:
    from conversation_esaa.projections.decisions import Decisions

SCHEMA = "conversation-esaa.topics/2"
NOTICE = "generated, do not edit: `conversation-esaa project` rebuilds it"

ACTIVE, _PAUSED, COMPLETED, _ARCHIVED = TOPIC_STATUSES
CLOSED = (COMPLETED, _ARCHIVED)
EVENTS_SHOWN = 20

_Id = TypeVar("_Id", bound=str)


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """One topic, as the log has it now. Words are masked; links in the order they were made."""

    id: TopicId
    title: str
    summary: str
    status: str  # one of TOPIC_STATUSES; whatever an old log says
    created_ts: str = ""
    last_ts: str = ""  # the newest event about it
    keywords: tuple[str, ...] = ()
    key_event_ids: tuple[EventId, ...] = ()
    decision_ids: tuple[DecisionId, ...] = ()
    task_ids: tuple[TaskId, ...] = ()
    evidence: str | None = None  # how a reader can check that it is done with


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A topic as a list of topics tells it."""

    id: TopicId
    title: str
    summary: str
    status: str
    events: int  # how many it is linked to


Topics = Mapping[TopicId, Topic]  # in the order they were first created
EMPTY: Topics = MappingProxyType({})


def apply(topics: dict[TopicId, Topic], event: Recorded) -> None:
    """Move `topics`, which the caller owns, one event forward. Unknown topics change nothing.

    Decision events come with their ids (`decisions.named`). An event that names topics itself is linked
    to them: a turn by its event, a task by its task id, a decision by both, as the older tool did.
    """
    match event:
        case ConversationTurn(topic_ids=named) if named:
            for topic_id in named:
                _link(topics, topic_id, event, events=(event.event_id,))
        case DecisionRecorded(topic_ids=named):
            for topic_id in named:
                _link(topics, topic_id, event, events=(event.event_id,), decisions=(event.decision_id,))
        case TaskEvent(topic_ids=named):
            for topic_id in named:
                _link(topics, topic_id, event, tasks=(event.task_id,))
        case TopicEventLinked():
            _link(
                topics,
                event.topic_id,
                event,
                events=event.event_ids,
                decisions=event.decision_ids,
                tasks=event.task_ids,
            )
        case TopicEventUnlinked() if event.topic_id in topics:
            topic = topics[event.topic_id]
            topics[event.topic_id] = _moved(
                topic,
                event,
                key_event_ids=_without(topic.key_event_ids, event.event_ids),
                decision_ids=_without(topic.decision_ids, event.decision_ids),
                task_ids=_without(topic.task_ids, event.task_ids),
            )
        case TopicCreated():
            topics[event.topic_id] = Topic(
                id=event.topic_id,
                title=masked(event.title),
                summary=masked(event.summary),
                status=masked(event.status) or ACTIVE,
                created_ts=event.ts,
                last_ts=event.ts,
                keywords=tuple(map(masked, event.keywords)),
                key_event_ids=_joined((), event.event_ids),
            )
        case TopicUpdated() if event.topic_id in topics:
            topics[event.topic_id] = _updated(topics[event.topic_id], event)
        case TopicClosed() if event.topic_id in topics:
            topics[event.topic_id] = _moved(
                topics[event.topic_id],
                event,
                status=masked(event.status) or COMPLETED,
                evidence=masked(event.evidence) or None,
            )
        case _:
            return


def step(topics: Topics, event: Recorded) -> Topics:
    """One event forward."""
    return fold((event,), topics)


def fold(events: Iterable[Recorded], start: Topics = EMPTY) -> Topics:
    """All events forward, in log order."""
    topics = dict(start)
    for event in events:
        apply(topics, event)
    return topics


def active(topics: Topics) -> list[Topic]:
    """What is being talked about, the most recently touched first."""
    return sorted(
        (topic for topic in topics.values() if topic.status == ACTIVE), key=lambda t: t.last_ts, reverse=True
    )


def listed(topic: Topic) -> Listed:
    """`topic` without its links."""
    return Listed(
        id=topic.id,
        title=topic.title,
        summary=topic.summary,
        status=topic.status,
        events=len(topic.key_event_ids),
    )


def of_decisions(topics: Topics) -> dict[DecisionId, tuple[TopicId, ...]]:
    """For each linked decision its topics, in the order of the topics."""
    found: dict[DecisionId, tuple[TopicId, ...]] = {}
    for topic in topics.values():
        for decision_id in topic.decision_ids:
            found[decision_id] = (*found.get(decision_id, ()), topic.id)
    return found


def of_tasks(topics: Topics) -> dict[TaskId, tuple[TopicId, ...]]:
    """For each linked task its topics, in the order of the topics."""
    found: dict[TaskId, tuple[TopicId, ...]] = {}
    for topic in topics.values():
        for task_id in topic.task_ids:
            found[task_id] = (*found.get(task_id, ()), topic.id)
    return found


def render_json(topics: Topics, head: Head, decisions: "Decisions") -> str:
    """topics.json: the older tool's field names, with every link. `related_decisions` are event ids."""
    document = {
        "schema_version": SCHEMA,
        "notice": NOTICE,
        "log": {"seq": head.seq, "hash": head.hash},
        "topics": [_as_json(topic, decisions) for topic in topics.values()],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def render(topics: Topics, head: Head) -> str:
    """topics.md: active ones first, the most recently touched first; then the others by status."""
    lines = [notice(SCHEMA, head), "", "# Topics", "", "## Active", ""]
    shown = active(topics)
    for topic in shown:
        lines += _told(topic)
    if not shown:
        lines += ["None.", ""]
    others = [topic for topic in topics.values() if topic.status != ACTIVE]
    if others:
        lines += ["## Other", ""]
        for topic in others:
            lines += _told(topic)
    return "\n".join(lines)


def _as_json(topic: Topic, decisions: "Decisions") -> dict[str, object]:
    return {
        "id": topic.id,
        "title": topic.title,
        "summary": topic.summary,
        "status": topic.status,
        "created_ts": topic.created_ts,
        "last_ts": topic.last_ts,
        "keywords": topic.keywords,
        "key_event_ids": topic.key_event_ids,
        "event_count": len(topic.key_event_ids),
        "first_event_id": topic.key_event_ids[0] if topic.key_event_ids else None,
        "last_event_id": topic.key_event_ids[-1] if topic.key_event_ids else None,
        "related_decisions": [
            decisions[known].event_id for known in topic.decision_ids if known in decisions
        ],
        "decision_ids": topic.decision_ids,
        "related_tasks": topic.task_ids,
        "evidence": topic.evidence,
        "source": "curated",
    }


def _told(topic: Topic) -> list[str]:
    lines = [f"### {label(topic.id)} [{status(topic.status)}]", "", words(topic.title, limit=200), ""]
    if topic.summary and topic.summary != topic.title:
        lines += [words(topic.summary, limit=2000), ""]
    lines.append(f"- from {moment(topic.created_ts)} to {moment(topic.last_ts)}")
    if topic.keywords:
        lines.append(f"- keywords: {', '.join(words(keyword, limit=60) for keyword in topic.keywords)}")
    if topic.decision_ids:
        lines.append(f"- decisions: {', '.join(map(label, topic.decision_ids))}")
    if topic.task_ids:
        lines.append(f"- tasks: {', '.join(map(label, topic.task_ids))}")
    if topic.evidence:
        lines.append(f"- closed: {words(topic.evidence, limit=500)}")
    if topic.key_event_ids:
        newest = topic.key_event_ids[-EVENTS_SHOWN:]
        shown = ", ".join(code(event_id[:12]) for event_id in newest)
        lines.append(f"- events ({len(topic.key_event_ids)}): {shown}")
        if len(topic.key_event_ids) > EVENTS_SHOWN:
            rest = len(topic.key_event_ids) - EVENTS_SHOWN
            lines.append(
                more(rest, "older event", f"`conversation-esaa context --topic-id {label(topic.id)}`")
            )
    lines.append("")
    return lines


def _updated(topic: Topic, event: TopicUpdated) -> Topic:
    summary = event.summary
    if event.v == 1 and summary == f"topic.updated {event.topic_id}":
        summary = None  # what the older tool wrote when no summary was given
    return _moved(
        topic,
        event,
        title=masked(event.title) if event.title else topic.title,
        summary=masked(summary) if summary else topic.summary,
        status=masked(event.status or "") or topic.status,
        keywords=topic.keywords if event.keywords is None else tuple(map(masked, event.keywords)),
    )


def _link(
    topics: dict[TopicId, Topic],
    topic_id: TopicId,
    event: Recorded,
    *,
    events: tuple[EventId, ...] = (),
    decisions: tuple[DecisionId, ...] = (),
    tasks: tuple[TaskId, ...] = (),
) -> None:
    if topic_id not in topics:
        return
    topic = topics[topic_id]
    topics[topic_id] = _moved(
        topic,
        event,
        key_event_ids=_joined(topic.key_event_ids, events),
        decision_ids=_joined(topic.decision_ids, decisions),
        task_ids=_joined(topic.task_ids, tasks),
    )


def _moved(topic: Topic, event: Recorded, **changes: object) -> Topic:
    return msgspec.structs.replace(topic, last_ts=max(topic.last_ts, event.ts), **changes)


def _joined(before: tuple[_Id, ...], added: tuple[_Id, ...]) -> tuple[_Id, ...]:
    return tuple(dict.fromkeys((*before, *(one for one in added if one))))


def _without(before: tuple[_Id, ...], gone: tuple[_Id, ...]) -> tuple[_Id, ...]:
    return tuple(one for one in before if one not in set(gone))
