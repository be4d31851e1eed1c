"""What stands now of all that was recorded: the little of it that handoff.md, state.md and `status` tell.

A log may have thousands of decisions; a page has room for a few. So this holds the first of each list, and how
many there are, and is stored apart: whoever renders a page reads some kilobytes. A page that has room for more
than is kept here hears it (`NotKept`), and is made from everything.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, overload

import msgspec

from conversation_esaa.projections import conversation, decisions, goal, tasks, topics
from conversation_esaa.projections.conversation import Conversation
from conversation_esaa.projections.decisions import Decision
from conversation_esaa.projections.goal import Goal
from conversation_esaa.projections.tasks import Task
from conversation_esaa.projections.topics import Listed

if TYPE_CHECKING:
    from conversation_esaa.projections.catalogue import State

KEPT = 30  # of each list when it is stored; a handoff of the usual size names a dozen

T = TypeVar("T")


class NotKept(Exception):
    """Asked for more of a list than was kept: the answer has to be made from everything."""


class Front(Sequence[T], Generic[T]):
    """A list of `count` items of which the first are here. Raises NotKept for the others."""

    __slots__ = ("_count", "_kept")

    def __init__(self, kept: Sequence[T], count: int) -> None:
        self._kept, self._count = kept[:count], count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...

    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        wanted = range(self._count)[at]
        if isinstance(wanted, range):
            return [self[index] for index in wanted]
        if wanted >= len(self._kept):
            raise NotKept
        return self._kept[wanted]


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The first of each list, in the order in which pages tell them, and how many there are."""

    goal: Goal | None = None  # the objective that holds
    decisions: Sequence[Decision] = ()  # active ones, newest first
    decisions_active: int = 0
    decisions_ever: int = 0
    tasks: Sequence[Task] = ()  # open ones, in the order of need
    tasks_open: int = 0
    tasks_ever: int = 0
    topics: Sequence[Listed] = ()  # active ones, the most recently touched first; then the others
    topics_active: int = 0
    topics_ever: int = 0

    @property
    def active_decisions(self) -> Front[Decision]:
        """What holds, newest first."""
        return Front(self.decisions, self.decisions_active)

    @property
    def open_tasks(self) -> Front[Task]:
        """What is to be done, in the order of need."""
        return Front(self.tasks, self.tasks_open)

    @property
    def active_topics(self) -> Front[Listed]:
        """What is being talked about, the most recently touched first."""
        return Front(self.topics, self.topics_active)

    @property
    def all_topics(self) -> Front[Listed]:
        """The active ones, then the others."""
        return Front(self.topics, self.topics_ever)


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What the pages of limited length are made from. Goes through JSON."""

    standing: Standing = Standing()
    conversation: Conversation = conversation.EMPTY
    seq: int = 0  # as in State, from here on
    curated_seq: int = 0
    version: int


def standing(state: "State") -> Standing:
    """All that stands in `state`; nothing is left out."""
    held, still, current = (
        decisions.active(state.decisions),
        tasks.open_tasks(state.tasks),
        topics.active(state.topics),
    )
    others = [topic for topic in state.topics.values() if topic.status != topics.ACTIVE]
    return Standing(
        goal=goal.current(state.goals),
        decisions=held,
        decisions_active=len(held),
        decisions_ever=len(state.decisions),
        tasks=still,
        tasks_open=len(still),
        tasks_ever=len(state.tasks),
        topics=[topics.listed(topic) for topic in (*current, *others)],
        topics_active=len(current),
        topics_ever=len(state.topics),
    )


def front(whole: Standing) -> Standing:
    """As much of `whole` as is stored."""
    return msgspec.structs.replace(
        whole, decisions=whole.decisions[:KEPT], tasks=whole.tasks[:KEPT], topics=whole.topics[:KEPT]
    )
