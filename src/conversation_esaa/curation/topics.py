"""To name a subject, to link what belongs to it, and to close it. Nothing here guesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.curation import checks
from conversation_esaa.events import (
    TOPIC_STATUSES,
    Recorded,
    TopicClosed,
    TopicCreated,
    TopicEventLinked,
    TopicEventUnlinked,
    TopicUpdated,
)
from conversation_esaa.ids import TOPIC_WIDTH, AgentId, DecisionId, EventId, TaskId, TopicId, next_id
from conversation_esaa.projections.topics import ACTIVE, CLOSED, COMPLETED, Topic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.projections.catalogue import State

_OPEN = tuple(status for status in TOPIC_STATUSES if status not in CLOSED)


def create(
    state: State,
    *,
    title: str,
    summary: str = "",
    keywords: Iterable[str] = (),
    events: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """A new topic, active, linked to `events`. Without a summary, its title is its summary.

    Raises BlankText, TextTooLong, UnknownName, AmbiguousName.
    """
    title = checks.stated("the title", title, hint="`conversation-esaa topic create TITLE` makes a topic.")
    return [
        TopicCreated(
            topic_id=TopicId(next_id("TOP", TOPIC_WIDTH, state.topics)),
            title=title,
            summary=checks.optional("the summary", summary) or title,
            status=ACTIVE,
            keywords=_keywords(keywords),
            event_ids=checks.events(events, known),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def update(
    state: State,
    *,
    topic_id: str,
    title: str | None = None,
    summary: str | None = None,
    status: str | None = None,
    keywords: Iterable[str] | None = None,
    agent: AgentId,
) -> list[Recorded]:
    """What changes of a topic. None leaves as it was.

    Every status can be reached from every other: a closed topic that comes up again is set active.
    Only what differs is written; when nothing differs, NothingToDo is raised.
    Raises UnknownName, BlankText, TextTooLong, UnknownStatus, NothingToDo.
    """
    topic = existing(state, topic_id)
    if title is not None:
        title = checks.stated("the title", title)
    if summary is not None:
        summary = checks.stated("the summary", summary)
    if status is not None:
        status = checks.status_in(status, TOPIC_STATUSES)
    words = None if keywords is None else _keywords(keywords)
    event = TopicUpdated(
        topic_id=topic.id,
        title=None if title == topic.title else title,
        summary=None if summary == topic.summary else summary,
        status=None if status == topic.status else status,
        keywords=None if words == topic.keywords else words,
        agent_id=agent,
        actor=checks.actor_of(agent),
    )
    if (event.title, event.summary, event.status, event.keywords) == (None, None, None, None):
        raise checks.NothingToDo(f"this changes nothing about {topic.id}", hint=_show(topic))
    return [event]


def link(
    state: State,
    *,
    topic_id: str,
    events: Iterable[str] = (),
    decisions: Iterable[str] = (),
    tasks: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """That events, decisions or tasks belong to a topic. A decision brings its own event along.

    What is linked already is left out; when nothing is left, NothingToDo is raised.
    Raises UnknownName, AmbiguousName, BlankText (nothing named), NothingToDo.
    """
    topic = existing(state, topic_id)
    named = _named(state, events, decisions, tasks, known)
    event_ids = tuple(one for one in named[0] if one not in topic.key_event_ids)
    decision_ids = tuple(one for one in named[1] if one not in topic.decision_ids)
    task_ids = tuple(one for one in named[2] if one not in topic.task_ids)
    if not (event_ids or decision_ids or task_ids):
        raise checks.NothingToDo(f"all of this is linked to {topic.id} already", hint=_show(topic))
    return [
        TopicEventLinked(
            topic_id=topic.id,
            event_ids=event_ids,
            decision_ids=decision_ids,
            task_ids=task_ids,
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def unlink(
    state: State,
    *,
    topic_id: str,
    events: Iterable[str] = (),
    decisions: Iterable[str] = (),
    tasks: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """That links were a mistake. A decision takes its own event along.

    What is not linked is left out; when nothing is left, NothingToDo is raised.
    Raises UnknownName, AmbiguousName, BlankText (nothing named), NothingToDo.
    """
    topic = existing(state, topic_id)
    named = _named(state, events, decisions, tasks, known)
    event_ids = tuple(one for one in named[0] if one in topic.key_event_ids)
    decision_ids = tuple(one for one in named[1] if one in topic.decision_ids)
    task_ids = tuple(one for one in named[2] if one in topic.task_ids)
    if not (event_ids or decision_ids or task_ids):
        raise checks.NothingToDo(f"none of this is linked to {topic.id}", hint=_show(topic))
    return [
        TopicEventUnlinked(
            topic_id=topic.id,
            event_ids=event_ids,
            decision_ids=decision_ids,
            task_ids=task_ids,
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def close(
    state: State, *, topic_id: str, evidence: str = "", status: str = COMPLETED, agent: AgentId
) -> list[Recorded]:
    """That a subject is done with. Raises AlreadyClosed, UnknownName, UnknownStatus, TextTooLong."""
    topic = existing(state, topic_id)
    if topic.status in CLOSED:
        raise checks.AlreadyClosed(
            f"{topic.id} is closed already ({topic.status})",
            hint=f"`conversation-esaa topic update {topic.id} --status {_OPEN[0]}` takes it up again.",
        )
    return [
        TopicClosed(
            topic_id=topic.id,
            status=checks.status_in(status, CLOSED),
            evidence=checks.optional("the evidence", evidence),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def existing(state: State, name: str) -> Topic:
    """The topic called `name`. Raises UnknownName."""
    return state.topics[
        checks.existing("topic", name, state.topics, listing="`conversation-esaa topic list --status all`")
    ]


def _named(
    state: State, events: Iterable[str], decisions: Iterable[str], tasks: Iterable[str], known: checks.Known
) -> tuple[tuple[EventId, ...], tuple[DecisionId, ...], tuple[TaskId, ...]]:
    decision_ids = checks.unique(
        checks.existing("decision", name, state.decisions, listing="`.conversation-esaa/decisions.md`")
        for name in decisions
    )
    task_ids = checks.unique(
        checks.existing("task", name, state.tasks, listing="`conversation-esaa task list --status all`")
        for name in tasks
    )
    own = tuple(state.decisions[decision_id].event_id for decision_id in decision_ids)
    event_ids = checks.unique((*checks.events(events, known), *(event_id for event_id in own if event_id)))
    if not (event_ids or decision_ids or task_ids):
        raise checks.BlankText(
            "nothing is named that could belong to the topic",
            hint="`conversation-esaa topic link ID --event-id EVENT` links an event; "
            "`conversation-esaa context` shows event ids.",
        )
    return event_ids, decision_ids, task_ids


def _keywords(words: Iterable[str]) -> tuple[str, ...]:
    return checks.unique(checks.stated("a keyword", word) for word in words)


def _show(topic: Topic) -> str:
    return f"`conversation-esaa topic show {topic.id}` shows what it says now."
