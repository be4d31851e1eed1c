"""Names that events use: each must have been given before, and may be used as its state allows.

Runs over the lines that readers show, in log order, each before the fold of the read models takes it in, and
looks at what that fold knows of decisions, tasks and topics. Curation refuses all of this under the log's lock, so a finding about a line of this
version says that another program wrote it, or that a line before it is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.events import (
    VERSION,
    ConversationTurn,
    DecisionRecorded,
    DecisionRetracted,
    DecisionSuperseded,
    Entry,
    FromSource,
    TaskClosed,
    TaskCreated,
    TaskEvent,
    TaskReopened,
    TaskUpdated,
    TopicCreated,
    TopicEvent,
    TopicEventLinked,
    TopicEventUnlinked,
)
from conversation_esaa.forensic.findings import Findings, Severity, named
from conversation_esaa.projections import decisions
from conversation_esaa.projections.tasks import is_open

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable

    from conversation_esaa.ids import DecisionId, EventId, TaskId, TopicId
    from conversation_esaa.projections.catalogue import Folding


class ReferenceCheck:
    """Checks one visible line after the other.

    known    ids of all lines so far, this one included; filled by the caller.
    hidden   of these, the ids of lines that no reader shows.
    before   the fold of all visible lines before; fed by the caller.
    """

    def __init__(
        self,
        findings: Findings,
        *,
        known: Container[EventId],
        hidden: Container[EventId],
        before: Folding,
    ) -> None:
        self._findings, self._known, self._hidden = findings, known, hidden
        self._decisions, self._tasks, self._topics = before.decisions, before.tasks, before.topics
        self._line_no = self._offset = 0  # of the line that is looked at
        self._severity: Severity | None = None

    def see(self, line_no: int, entry: Entry) -> None:
        """The next visible line."""
        event = entry.event
        if isinstance(event, FromSource) and not (isinstance(event, ConversationTurn) and event.topic_ids):
            return  # nearly every line
        self._line_no, self._offset = line_no, entry.offset
        self._severity = Severity.INFO if event.v < VERSION else None  # the older tool checked little
        if isinstance(event, DecisionRecorded):
            event = decisions.named(event, self._decisions)
        match event:
            case ConversationTurn():
                self._need_topics(event.topic_ids)
            case DecisionRecorded():
                self._reused("decision", event.decision_id, self._decisions)
                self._need_events(event.related_turns)
                self._need_topics(event.topic_ids)
            case DecisionSuperseded() | DecisionRetracted():
                self._ended(event)
            case TaskEvent():
                self._task(event)
            case TopicEvent():
                self._topic(event)
            case _:
                return

    def _ended(self, event: DecisionSuperseded | DecisionRetracted) -> None:
        wanted = [event.decision_id]
        if isinstance(event, DecisionSuperseded):
            wanted.append(event.superseded_by)
            if event.decision_id == event.superseded_by:
                self._tell("reference.transition", f"{named(event.decision_id)} takes its own place")
                return
        self._need_decisions(wanted)
        decision = self._decisions.get(event.decision_id)
        if decision and decision.status != decisions.ACTIVE:
            self._tell("reference.transition", f"{named(event.decision_id)} is {decision.status} already")

    def _task(self, event: TaskEvent) -> None:
        self._need_events(event.related_turns)
        self._need_topics(event.topic_ids)
        if isinstance(event, TaskCreated):
            self._reused("task", event.task_id, self._tasks)
            return
        task = self._tasks.get(event.task_id)
        if task is None:
            self._need_tasks([event.task_id])
            return
        name = named(event.task_id)
        match event:
            case TaskUpdated() if not is_open(task) and (event.v < VERSION or event.status):
                self._tell("reference.transition", f"{name} is updated after it was closed")
            case TaskClosed() if not is_open(task):
                self._tell("reference.transition", f"{name} is closed a second time")
            case TaskReopened() if is_open(task):
                self._tell("reference.transition", f"{name} is reopened while it is open")
            case _:
                return

    def _topic(self, event: TopicEvent) -> None:
        if isinstance(event, TopicCreated):
            self._reused("topic", event.topic_id, self._topics)
            self._need_events(event.event_ids)
            return
        self._need_topics([event.topic_id])
        if isinstance(event, TopicEventLinked | TopicEventUnlinked):
            self._need_events(event.event_ids)
            self._need_decisions(event.decision_ids)
            self._need_tasks(event.task_ids)

    def _need_events(self, event_ids: Iterable[EventId]) -> None:
        for event_id in event_ids:
            if event_id in self._hidden:
                self._tell(
                    "reference.hidden", f"refers to event {named(event_id, length=12)}, which no reader shows"
                )
            elif event_id not in self._known:
                self._tell(
                    "reference.event",
                    f"refers to event {named(event_id, length=12)}, which no line before it has",
                )

    def _need_decisions(self, names: Iterable[DecisionId]) -> None:
        self._need("decision", names, self._decisions)

    def _need_tasks(self, names: Iterable[TaskId]) -> None:
        self._need("task", names, self._tasks)

    def _need_topics(self, names: Iterable[TopicId]) -> None:
        self._need("topic", names, self._topics)

    def _need(self, kind: str, names: Iterable[str], there: Collection[str]) -> None:
        for name in names:
            if name and name not in there:  # a blank one is a missing field
                self._tell(
                    f"reference.{kind}", f"refers to {kind} {named(name)}, which no line before it has"
                )

    def _reused(self, kind: str, name: str, there: Collection[str]) -> None:
        if name in there:
            self._tell("reference.reused", f"gives the id {named(name)} to a second {kind}")

    def _tell(self, code: str, message: str) -> None:
        self._findings.tell(
            code, message, line_no=self._line_no, offset=self._offset, severity=self._severity
        )
