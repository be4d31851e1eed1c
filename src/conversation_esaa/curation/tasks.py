"""To promise something, to say what comes next, to close it, and to take it up again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.curation import checks
from conversation_esaa.curation.topics import existing as existing_topic
from conversation_esaa.events import (
    TASK_OPEN,
    TASK_STATUSES,
    Recorded,
    TaskClosed,
    TaskCreated,
    TaskReopened,
    TaskUpdated,
)
from conversation_esaa.ids import TASK_WIDTH, AgentId, TaskId, TopicId, next_id
from conversation_esaa.projections.tasks import CLOSED, Task, is_open

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.projections.catalogue import State


def create(
    state: State,
    *,
    title: str,
    description: str = "",
    next_step: str = "",
    status: str = TASK_OPEN[0],
    sources: Iterable[str] = (),
    topics: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """A new task, open in one of the open statuses.

    Raises BlankText, TextTooLong, UnknownStatus, UnknownName, AmbiguousName.
    """
    return [
        TaskCreated(
            task_id=TaskId(next_id("CONV", TASK_WIDTH, state.tasks)),
            title=checks.stated(
                "the title", title, hint="`conversation-esaa task create TITLE` makes a task."
            ),
            description=checks.optional("the description", description),
            next_step=checks.optional("the next step", next_step),
            status=checks.status_in(status, TASK_OPEN),
            related_turns=checks.events(sources, known),
            topic_ids=checks.unique(existing_topic(state, name).id for name in topics),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def update(
    state: State,
    *,
    task_id: str,
    title: str | None = None,
    description: str | None = None,
    next_step: str | None = None,
    status: str | None = None,
    sources: Iterable[str] = (),
    topics: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """What changes of a task. None leaves as it was; "" clears a description or a next step.

    Only what differs is written; when nothing differs, NothingToDo is raised. The words of a closed task
    may still be mended; its status changes by `close` and `reopen` alone.
    Raises UnknownName, AmbiguousName, BlankText, TextTooLong, UnknownStatus, AlreadyClosed, NothingToDo.
    """
    task = existing(state, task_id)
    if title is not None:
        title = checks.stated("the title", title)
    if description is not None:
        description = checks.optional("the description", description)
    if next_step is not None:
        next_step = checks.optional("the next step", next_step)
    if status is not None:
        status = _open_status(task, status)
    linked = _new_topics(state, task, topics)
    turns = tuple(turn for turn in checks.events(sources, known) if turn not in task.related_turns)
    event = TaskUpdated(
        task_id=task.id,
        title=_changed(task.title, title),
        description=_changed(task.description, description),
        next_step=_changed(task.next_step, next_step),
        status=_changed(task.status, status),
        related_turns=turns,
        topic_ids=linked,
        agent_id=agent,
        actor=checks.actor_of(agent),
    )
    said = (event.title, event.description, event.next_step, event.status)
    if all(one is None for one in said) and not turns and not linked:
        raise checks.NothingToDo(
            f"this changes nothing about {task.id}",
            hint=f"`conversation-esaa task show {task.id}` shows what it says now.",
        )
    return [event]


def close(
    state: State,
    *,
    task_id: str,
    evidence: str = "",
    status: str = CLOSED[0],
    sources: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """That a task is done, or given up. Raises AlreadyClosed, and what `update` raises."""
    task = existing(state, task_id)
    if not is_open(task):
        raise checks.AlreadyClosed(
            f"{task.id} is closed already ({task.status})",
            hint=f"`conversation-esaa task reopen {task.id}` takes it up again.",
        )
    return [
        TaskClosed(
            task_id=task.id,
            status=checks.status_in(status, CLOSED),
            evidence=checks.optional("the evidence", evidence),
            related_turns=checks.events(sources, known),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def reopen(
    state: State, *, task_id: str, evidence: str = "", next_step: str = "", agent: AgentId
) -> list[Recorded]:
    """That a task was not done after all; `evidence` says why. Raises NotClosed, UnknownName, TextTooLong."""
    task = existing(state, task_id)
    if is_open(task):
        raise checks.NotClosed(
            f"{task.id} is open ({task.status})",
            hint=f"`conversation-esaa task update {task.id} --status in_progress` changes its status.",
        )
    return [
        TaskReopened(
            task_id=task.id,
            next_step=checks.optional("the next step", next_step),
            evidence=checks.optional("the evidence", evidence),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def existing(state: State, name: str) -> Task:
    """The task called `name`. Raises UnknownName."""
    return state.tasks[
        checks.existing("task", name, state.tasks, listing="`conversation-esaa task list --status all`")
    ]


def _open_status(task: Task, status: str) -> str:
    """A status that an update may set: closing and reopening have commands that ask for evidence."""
    spelled = checks.status_in(status, TASK_STATUSES)
    if spelled in CLOSED and is_open(task):
        raise checks.UnknownStatus(
            f"an update does not close {task.id}",
            hint=f"`conversation-esaa task close {task.id} --evidence HOW` closes it.",
        )
    if not is_open(task) and spelled != task.status:
        raise checks.AlreadyClosed(
            f"{task.id} is closed ({task.status})",
            hint=f"`conversation-esaa task reopen {task.id}` takes it up again.",
        )
    return spelled


def _new_topics(state: State, task: Task, names: Iterable[str]) -> tuple[TopicId, ...]:
    found = checks.unique(existing_topic(state, name).id for name in names)
    return tuple(topic_id for topic_id in found if task.id not in state.topics[topic_id].task_ids)


def _changed(before: str | None, stated: str | None) -> str | None:
    """`stated`, unless it is what the log says already (masked there, so a masked text counts as new)."""
    return None if stated is None or stated == (before or "") else stated
