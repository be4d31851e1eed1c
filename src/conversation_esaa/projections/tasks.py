"""Tasks: what was promised, what comes next, and what shows that it is done.

Same rules as the older tool where its logs are read: an update patches what it states, an update after a
close leaves the close alone, the last event wins, an unknown id changes nothing.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from conversation_esaa.events import (
    TASK_OPEN,
    Head,
    Recorded,
    TaskClosed,
    TaskCreated,
    TaskReopened,
    TaskUpdated,
)
from conversation_esaa.ids import AgentId, EventId, TaskId, TopicId
from conversation_esaa.text import masked

SCHEMA = "conversation-esaa.tasks/2"
NOTICE = "generated, do not edit: `conversation-esaa project` rebuilds it"

CLOSED = ("completed", "cancelled")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task, as the log has it now. Words are masked; None means never stated, or cleared."""

    id: TaskId
    title: str
    status: str  # one of TASK_STATUSES; whatever an old log says
    description: str | None = None
    next_step: str | None = None
    completed_at: str | None = None  # when it was closed, done or given up
    evidence: str | None = None
    reopened_because: str | None = None
    created_at: str = ""
    updated_at: str = ""  # of the last event that changed it
    created_by: AgentId | None = None
    related_turns: tuple[EventId, ...] = ()
    event_id: EventId = EventId("")  # of its creation
    seq: int = 0


Tasks = Mapping[TaskId, Task]  # in the order they were first created
EMPTY: Tasks = MappingProxyType({})


def apply(tasks: dict[TaskId, Task], event: Recorded) -> None:
    """Move `tasks`, which the caller owns, one event forward."""
    match event:
        case TaskCreated(task_id=task_id):
            tasks[task_id] = Task(
                id=task_id,
                title=masked(event.title),
                status=masked(event.status) or TASK_OPEN[0],
                description=_said(event.description),
                next_step=_said(event.next_step),
                created_at=event.ts,
                updated_at=event.ts,
                created_by=event.agent_id,
                related_turns=event.related_turns,
                event_id=event.event_id,
                seq=event.seq,
            )
        case TaskUpdated(task_id=task_id) if task_id in tasks:
            tasks[task_id] = _updated(tasks[task_id], event)
        case TaskClosed(task_id=task_id) if task_id in tasks:
            task = tasks[task_id]
            tasks[task_id] = msgspec.structs.replace(
                task,
                status=masked(event.status) or CLOSED[0],
                completed_at=event.ts,
                evidence=_said(event.evidence) or task.evidence,
                updated_at=event.ts,
                related_turns=_joined(task.related_turns, event.related_turns),
            )
        case TaskReopened(task_id=task_id) if task_id in tasks:
            task = tasks[task_id]
            tasks[task_id] = msgspec.structs.replace(
                task,
                status=TASK_OPEN[0],
                completed_at=None,
                evidence=None,
                reopened_because=_said(event.evidence),
                next_step=_said(event.next_step) or task.next_step,
                updated_at=event.ts,
                related_turns=_joined(task.related_turns, event.related_turns),
            )
        case _:
            return


def step(tasks: Tasks, event: Recorded) -> Tasks:
    """One event forward."""
    return fold((event,), tasks)


def fold(events: Iterable[Recorded], start: Tasks = EMPTY) -> Tasks:
    """All events forward, in log order."""
    tasks = dict(start)
    for event in events:
        apply(tasks, event)
    return tasks


def is_open(task: Task) -> bool:
    """Neither completed nor cancelled. A status from an old log that we do not know counts as open."""
    return task.status not in CLOSED


def open_tasks(tasks: Tasks) -> list[Task]:
    """What is still to do, in the order of creation, what is in progress first and what is blocked last.

    The first is the one to go on with.
    """
    order = {"in_progress": 0, "blocked": 2}
    still = [task for task in tasks.values() if is_open(task)]
    return sorted(still, key=lambda task: order.get(task.status, 1))  # stable: creation order within


def render(tasks: Tasks, head: Head, topics: Mapping[TaskId, tuple[TopicId, ...]]) -> str:
    """tasks.json. `topics` gives for each task the topics it belongs to, see `topics.of_tasks`."""
    document = {
        "schema_version": SCHEMA,
        "notice": NOTICE,
        "log": {"seq": head.seq, "hash": head.hash},
        "tasks": [
            {**msgspec.structs.asdict(task), "topic_ids": topics.get(task.id, ())} for task in tasks.values()
        ],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _updated(task: Task, event: TaskUpdated) -> Task:
    """`task` with what `event` states. v1.1 tools wrote empty strings for what was not given."""
    clears = event.v > 1
    status = masked(event.status or "") or task.status
    completed_at = task.completed_at
    if event.status in CLOSED:
        completed_at = completed_at or event.ts
    elif event.status:
        completed_at = None
    return msgspec.structs.replace(
        task,
        title=masked(event.title) if event.title else task.title,
        status=status,
        completed_at=completed_at,
        description=_patched(task.description, event.description, clears=clears),
        next_step=_patched(task.next_step, event.next_step, clears=clears),
        updated_at=event.ts,
        related_turns=_joined(task.related_turns, event.related_turns),
    )


def _patched(before: str | None, stated: str | None, *, clears: bool) -> str | None:
    if stated is None or (not stated and not clears):
        return before
    return _said(stated)


def _said(words: str) -> str | None:
    return masked(words) if words else None


def _joined(before: tuple[EventId, ...], added: tuple[EventId, ...]) -> tuple[EventId, ...]:
    return tuple(dict.fromkeys((*before, *added))) if added else before
