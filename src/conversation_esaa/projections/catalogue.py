"""All read models: one pass over the log, and a table of what can be written from it.

A new read model is one file here, one line in RENDERERS, one golden file. The value is what a cache may
keep: `fold` from a stored State over the lines behind it gives what a fold of the whole log gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

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
    standing,
    state,
    tasks,
    topics,
)
from conversation_esaa.projections.conversation import Conversation
from conversation_esaa.projections.decisions import Decision
from conversation_esaa.projections.goal import Goal
from conversation_esaa.projections.standing import Brief, NotKept
from conversation_esaa.projections.tasks import Task
from conversation_esaa.projections.topics import Topic

if TYPE_CHECKING:
    from conversation_esaa.events import Head, Recorded

VERSION = 3
"""Of State's shape and of what folding means. A stored State of another version is folded anew."""


T = TypeVar("T")


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
        if not _may_curate(event):
            return
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


def _may_curate(event: Recorded) -> bool:
    """Whether decisions, tasks, topics or goals may come from it."""
    return bool(event.topic_ids) if isinstance(event, ConversationTurn) else not isinstance(event, FromSource)


def brief(value: State) -> Brief:
    """What the pages of limited length are made from, nothing of it left out."""
    return Brief(
        standing=standing.standing(value),
        conversation=value.conversation,
        seq=value.seq,
        curated_seq=value.curated_seq,
        version=value.version,
    )


class Fold:
    """The fold of a log up to some event, of which what only curation moves may not have been looked at yet.

    With thousands of decisions that is nearly all of it, and a new turn needs a handful. `brief` is what there
    is of it at hand; `load` gives the whole value for it, and may raise.
    """

    def __init__(self, brief: Brief, load: Callable[[Brief], State]) -> None:
        self._brief: Brief | None = brief
        self._load = load
        self._whole: State | None = None

    @classmethod
    def of(cls, value: State) -> Fold:
        """Of a value that is there as a whole."""
        fold = cls(Brief(version=value.version), lambda _: value)
        fold._brief, fold._whole = None, value
        return fold

    @property
    def brief(self) -> Brief:
        """What is told on a page of limited length; of its lists perhaps only the beginning."""
        if self._brief is None:
            self._brief = brief(self.whole())
        return self._brief

    @property
    def curated_seq(self) -> int:
        """As in State."""
        return self.brief.curated_seq if self._whole is None else self._whole.curated_seq

    @property
    def is_whole(self) -> bool:
        """Whether everything was looked at, or was there from the beginning."""
        return self._whole is not None

    def whole(self) -> State:
        """Everything. Raises what loading it raises."""
        if self._whole is None:
            self._whole = self._load(self.brief)
        return self._whole

    def forward(self, entries: Sequence[Entry]) -> Fold:
        """The fold behind some more entries. Loads everything when one of them may be curation."""
        if self._whole is not None or any(_may_curate(entry.event) for entry in entries):
            return Fold.of(fold(entries, self.whole()))
        before = self.brief
        talk = conversation.fold((entry.event for entry in entries), before.conversation)
        seq = next((entry.event.seq for entry in reversed(entries) if entry.event.seq), before.seq)
        return Fold(msgspec.structs.replace(before, conversation=talk, seq=seq), self._load)

    def told(self, make: Callable[[Brief], T]) -> T:
        """What `make` makes of the brief; of everything, when the brief has not enough."""
        try:
            return make(self.brief)
        except NotKept:
            return make(brief(self.whole()))


def parts(value: Fold) -> tuple[Brief, Callable[[], tuple[Brief, State]]]:
    """What every turn moves; and a way to what only curation does, of which the smaller part is told on pages."""
    now = value.brief
    moving = msgspec.structs.replace(now, standing=standing.Standing())

    def curated() -> tuple[Brief, State]:
        told, seq = standing.front(now.standing), now.curated_seq
        return (
            Brief(standing=told, seq=seq, curated_seq=seq, version=VERSION),
            msgspec.structs.replace(value.whole(), conversation=conversation.EMPTY, seq=seq),
        )

    return moving, curated


def joined(moving: Brief, told: Brief) -> Brief | None:
    """The brief that had these parts; None when they are not of one value."""
    if moving.version != VERSION or told.version != VERSION or moving.curated_seq != told.seq:
        return None
    return msgspec.structs.replace(moving, standing=told.standing)


def completed(moving: Brief, curated: State) -> State | None:
    """The whole value that a brief is of; None when they are not of one value."""
    if curated.version != VERSION or moving.curated_seq != curated.seq:
        return None
    return msgspec.structs.replace(curated, conversation=moving.conversation, seq=moving.seq)


Resume = Callable[[AgentId, str], str]


def no_resume(agent: AgentId, session_id: str) -> str:  # noqa: ARG001
    """For callers that do not know how agents take a session up again."""
    return ""


def _decisions(value: State, head: Head) -> str:
    return decisions.render(value.decisions, head, topics.of_decisions(value.topics))


def _tasks(value: State, head: Head) -> str:
    return tasks.render(value.tasks, head, topics.of_tasks(value.topics))


Render = Callable[[Fold, "Head", Resume], str]

RENDERERS: dict[str, Render] = {
    "handoff.md": lambda value, head, resume: value.told(lambda b: handoff.render(b, head, resume=resume)),
    "state.md": lambda value, head, _: value.told(lambda b: state.render(b, head)),
    "decisions.md": lambda value, head, _: _decisions(value.whole(), head),
    "tasks.json": lambda value, head, _: _tasks(value.whole(), head),
    "topics.md": lambda value, head, _: topics.render(value.whole().topics, head),
    "topics.json": lambda value, head, _: topics.render_json(
        value.whole().topics, head, value.whole().decisions
    ),
}


SELDOM_CHANGED = ("decisions.md", "tasks.json", "topics.md", "topics.json")
"""Read models that a new turn does not change, the log position in their head apart."""


def basis(value: Fold) -> str:
    """Names all that the SELDOM_CHANGED are rendered from: within one log, same basis, same words."""
    return f"{VERSION}:{value.curated_seq}"


HEAD_BYTES = 1024
"""As much of the beginning of one of the SELDOM_CHANGED holds all that names the log position."""


def moved(beginning: bytes, before: Head, now: Head) -> bytes | None:
    """The beginning of one of the SELDOM_CHANGED, rendered at `before`, as it is rendered at `now`.

    What follows it is the same where the basis is. None when it does not name `before`, as all do in their head.
    """
    for form in (markdown.position, json_position):
        stated = form(before).encode()
        if stated in beginning:
            return beginning.replace(stated, form(now).encode(), 1)
    return None


def json_position(head: Head) -> str:
    """How tasks.json and topics.json state their log position."""
    return f'"seq": {head.seq},\n    "hash": "{head.hash}"'


def render(name: str, value: Fold | State, head: Head, *, resume: Resume = no_resume) -> str:
    """The text of one read model: same state and head, same bytes. Raises UnknownName.

    head     what `value` was folded from; it is printed in the text.
    resume   the shell command that takes a session up again, "" where there is none.
    """
    if name not in RENDERERS:
        raise UnknownName("read model", name, known=tuple(RENDERERS))
    return RENDERERS[name](Fold.of(value) if isinstance(value, State) else value, head, resume)
