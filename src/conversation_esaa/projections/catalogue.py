"""All read models: one pass over the log, and a table of what can be written from it.

A new read model is one file here, one line in READ_MODELS, one golden file. The value is what a cache may
keep: `fold` from a stored State over the lines behind it gives what a fold of the whole log gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import UnknownName
from conversation_esaa.events import ConversationTurn, DecisionRecorded, Entry, FromSource
from conversation_esaa.ids import AgentId, DecisionId, TaskId, TopicId
from conversation_esaa.projections import (
    conversation,
    decisions,
    goal,
    handoff,
    markdown,
    state,
    tasks,
    topics,
)
from conversation_esaa.projections.conversation import Conversation
from conversation_esaa.projections.decisions import Decision
from conversation_esaa.projections.goal import Goal
from conversation_esaa.projections.tasks import Task
from conversation_esaa.projections.topics import Topic

if TYPE_CHECKING:
    from conversation_esaa.events import Head, Recorded

VERSION = 2
"""Of State's shape and of what folding means. A stored State of another version is folded anew."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What all read models are rendered from. Nothing in it is an unmasked secret. Goes through JSON."""

    decisions: Mapping[DecisionId, Decision] = {}
    tasks: Mapping[TaskId, Task] = {}
    topics: Mapping[TopicId, Topic] = {}
    goals: tuple[Goal, ...] = ()
    conversation: Conversation = conversation.EMPTY
    seq: int = 0  # of the last line that was folded
    curated_seq: int = 0  # of the last line that decisions, tasks, topics or goals may come from
    version: int = VERSION


def fold(entries: Iterable[Entry], start: State | None = None) -> State:
    """The state behind `entries`, in one pass.

    entries   visible lines in log order, from the one after `start`.
    start     an earlier fold to go on from; None begins anew. It is not changed.
    """
    folding = Folding(start)
    for entry in entries:
        folding.take(entry.event)
    return folding.state()


class Folding:
    """A fold under way, for one pass: what it knows may be looked at between two events. `state()` ends it."""

    def __init__(self, start: State | None = None) -> None:
        start = start or State()
        self.decisions = dict(start.decisions)
        self.tasks = dict(start.tasks)
        self.topics = dict(start.topics)
        self._goals, self._seq, self._curated_seq = start.goals, start.seq, start.curated_seq
        self._listener = conversation.Listener(start.conversation)

    def take(self, event: Recorded) -> None:
        """One visible event forward."""
        self._seq = event.seq or self._seq
        if isinstance(event, ConversationTurn) and not event.topic_ids:  # nearly every line
            self._listener.hear_turn(event)
            return
        self._listener.hear(event)
        if not isinstance(event, FromSource) or isinstance(event, ConversationTurn):
            self._curated_seq = self._seq
        if isinstance(event, DecisionRecorded):
            event = decisions.named(event, self.decisions)
        decisions.apply(self.decisions, event)
        tasks.apply(self.tasks, event)
        topics.apply(self.topics, event)
        self._goals = goal.step(self._goals, event)

    def take_turns(self, turns: Sequence[ConversationTurn]) -> None:
        """Some turns forward, none of which names a topic. Whatever has a turn's attributes will do."""
        self._listener.hear_turns(turns)
        self._seq = turns[-1].seq

    def state(self) -> State:
        """The value; the fold is over."""
        return State(
            decisions=self.decisions,
            tasks=self.tasks,
            topics=self.topics,
            goals=self._goals,
            conversation=self._listener.conversation(),
            seq=self._seq,
            curated_seq=self._curated_seq,
        )


def parts(value: State) -> tuple[State, State]:
    """What every turn moves, and what only curation does: to be kept apart, since the second is the larger."""
    moving = msgspec.structs.replace(value, decisions={}, tasks={}, topics={}, goals=())
    return moving, msgspec.structs.replace(value, conversation=conversation.EMPTY, seq=value.curated_seq)


def joined(moving: State, curated: State) -> State | None:
    """The value that had these `parts`; None when they are not of one value."""
    if moving.version != VERSION or curated.version != VERSION or moving.curated_seq != curated.seq:
        return None
    return msgspec.structs.replace(curated, conversation=moving.conversation, seq=moving.seq)


Resume = Callable[[AgentId, str], str]


def no_resume(agent: AgentId, session_id: str) -> str:  # noqa: ARG001
    """For callers that do not know how agents take a session up again."""
    return ""


Render = Callable[[State, "Head", Resume], str]

READ_MODELS: dict[str, Render] = {
    "handoff.md": lambda value, head, resume: handoff.render(value, head, resume=resume),
    "state.md": lambda value, head, _: state.render(value, head),
    "decisions.md": lambda value, head, _: decisions.render(
        value.decisions, head, topics.of_decisions(value.topics)
    ),
    "tasks.json": lambda value, head, _: tasks.render(value.tasks, head, topics.of_tasks(value.topics)),
    "topics.md": lambda value, head, _: topics.render(value.topics, head),
    "topics.json": lambda value, head, _: topics.render_json(value.topics, head, value.decisions),
}


SELDOM_CHANGED = ("decisions.md", "tasks.json", "topics.md", "topics.json")
"""Read models that a new turn does not change, the log position in their head apart."""


def basis(value: State) -> str:
    """Names all that the SELDOM_CHANGED are rendered from: within one log, same basis, same words."""
    return f"{VERSION}:{value.curated_seq}"


def moved(content: bytes, before: Head, now: Head) -> bytes | None:
    """One of the SELDOM_CHANGED, rendered at `before`, as it is rendered at `now` from an equal basis.

    None when it does not name the position `before`, as all do in their head.
    """
    for form in (markdown.position, json_position):
        stated = form(before).encode()
        if stated in content:
            return content.replace(stated, form(now).encode(), 1)
    return None


def json_position(head: Head) -> str:
    """How tasks.json and topics.json state their log position."""
    return f'"seq": {head.seq},\n    "hash": "{head.hash}"'


def render(name: str, value: State, head: Head, *, resume: Resume = no_resume) -> str:
    """The text of one read model: same state and head, same bytes. Raises UnknownName.

    head     what `value` was folded from; it is printed in the text.
    resume   the shell command that takes a session up again, "" where there is none.
    """
    if name not in READ_MODELS:
        raise UnknownName("read model", name, known=tuple(READ_MODELS))
    return READ_MODELS[name](value, head, resume)
