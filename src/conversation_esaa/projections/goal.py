"""The objective: what the work in this workspace is for, and what it was for before."""

from collections.abc import Iterable

import msgspec

from conversation_esaa.events import GoalSet, Recorded
from conversation_esaa.ids import AgentId, EventId
from conversation_esaa.text import masked

KEPT = 20  # goals in the value; the log has all of them


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """One objective. Words are masked; an empty `goal` says that there is none any more."""

    goal: str
    ts: str = ""
    actor: str = ""
    agent_id: AgentId | None = None  # who set it
    event_id: EventId = EventId("")
    seq: int = 0


Goals = tuple[Goal, ...]  # the newest KEPT, oldest first
EMPTY: Goals = ()


def step(goals: Goals, event: Recorded) -> Goals:
    """One event forward."""
    if not isinstance(event, GoalSet):
        return goals
    goal = Goal(
        goal=masked(event.goal),
        ts=event.ts,
        actor=event.actor,
        agent_id=event.agent_id,
        event_id=event.event_id,
        seq=event.seq,
    )
    return (*goals, goal)[-KEPT:]


def fold(events: Iterable[Recorded], start: Goals = EMPTY) -> Goals:
    """All events forward, in log order."""
    for event in events:
        start = step(start, event)
    return start


def current(goals: Goals) -> Goal | None:
    """The objective that holds; None when none was set, or the last one was cleared."""
    return goals[-1] if goals and goals[-1].goal else None
