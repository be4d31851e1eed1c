"""What people and agents record: goal, decisions, tasks, topics. Each is a request to the functions in
`curation/`, appended under the log's lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.establish import settle_move
from conversation_esaa.later import Later
from conversation_esaa.opened import LAST, Opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from conversation_esaa.curation import decisions, goal, tasks, topics
    from conversation_esaa.events import Entry, Recorded
    from conversation_esaa.projections.catalogue import State
else:  # reading and capture curate nothing
    decisions = Later("conversation_esaa.curation.decisions")
    goal = Later("conversation_esaa.curation.goal")
    tasks = Later("conversation_esaa.curation.tasks")
    topics = Later("conversation_esaa.curation.topics")


class Curated(Opened):
    """The curating half of `Workspace`.

    Event names in `sources` and `events` are ids, prefixes of 8 characters or more, or `last`. `by` names
    who curates. Everything is checked before it is written; a refusal is a ConversationError, and then
    nothing was written.
    """

    def curate(
        self, purpose: str, draft: Callable[[State], list[Recorded]], *, naming: Iterable[str] = ()
    ) -> list[Entry]:
        """Append what `draft` makes of the present state, under the log's lock, and renew the read models.

        purpose   in a word or two, for whoever waits meanwhile.
        draft     one of the functions in `curation/`, its request filled in; it validates before anything
                  is written, and ids are given while nobody else can write.
        naming    the events it names: with `last` among them, what was just said is captured first.

        Raises LockTimeout, LogUnreadable, and what `draft` raises.
        """
        if LAST in naming:
            self.freshness()
        settle_move(self.layout, self.machine, wait_s=self.lock_wait_s)
        with self.log.writing(purpose=purpose, wait_s=self.lock_wait_s) as writer:
            try:
                before = self._whole(self._folded(self._writable_index()))
                written = writer.append(draft(before), recorded_at=self.machine.now())
                self._publish(self._folded(self._writable_index()), writer.head)
            finally:
                self._close_index()
        return written

    def set_goal(self, text: str, *, by: str = "") -> Entry:
        """Set the current objective; "" clears it. Earlier ones stay in the log."""
        agent = self.curator(by)
        return self.curate("goal", lambda state: goal.set_goal(state, text=text, agent=agent))[0]

    def decide(
        self,
        text: str,
        *,
        rationale: str = "",
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        supersedes: Sequence[str] = (),
        by: str = "",
    ) -> list[Entry]:
        """Record a decision; each of `supersedes` stops being active by it.

        sources   the evidence: event ids, prefixes of 8 characters or more, or `last` for the newest turn.
        """
        agent = self.curator(by)
        return self.curate(
            "decide",
            lambda state: decisions.decide(
                state,
                text=text,
                rationale=rationale,
                sources=sources,
                topics=topics,
                supersedes=supersedes,
                agent=agent,
                known=self.event_id,
            ),
            naming=sources,
        )

    def retract(self, decision_id: str, *, rationale: str = "", by: str = "") -> Entry:
        """Say that a decision no longer holds."""
        agent = self.curator(by)
        return self.curate(
            "decide",
            lambda state: decisions.retract(state, decision_id=decision_id, rationale=rationale, agent=agent),
        )[0]

    def create_task(
        self,
        title: str,
        *,
        description: str = "",
        next_step: str = "",
        status: str = "open",
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Promise something."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.create(
                state,
                title=title,
                description=description,
                next_step=next_step,
                status=status,
                sources=sources,
                topics=topics,
                agent=agent,
                known=self.event_id,
            ),
            naming=sources,
        )[0]

    def update_task(
        self,
        task_id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        next_step: str | None = None,
        status: str | None = None,
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Change what is stated of a task; None leaves it, "" clears it."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.update(
                state,
                task_id=task_id,
                title=title,
                description=description,
                next_step=next_step,
                status=status,
                sources=sources,
                topics=topics,
                agent=agent,
                known=self.event_id,
            ),
            naming=sources,
        )[0]

    def close_task(
        self,
        task_id: str,
        *,
        evidence: str = "",
        status: str = "completed",
        sources: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """The promise was kept (`completed`) or given up (`cancelled`)."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.close(
                state,
                task_id=task_id,
                evidence=evidence,
                status=status,
                sources=sources,
                agent=agent,
                known=self.event_id,
            ),
            naming=sources,
        )[0]

    def reopen_task(self, task_id: str, *, evidence: str = "", next_step: str = "", by: str = "") -> Entry:
        """It was not done after all; `evidence` says why."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.reopen(
                state, task_id=task_id, evidence=evidence, next_step=next_step, agent=agent
            ),
        )[0]

    def create_topic(
        self,
        title: str,
        *,
        summary: str = "",
        keywords: Sequence[str] = (),
        events: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Give a subject a name."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.create(
                state,
                title=title,
                summary=summary,
                keywords=keywords,
                events=events,
                agent=agent,
                known=self.event_id,
            ),
            naming=events,
        )[0]

    def update_topic(
        self,
        topic_id: str,
        *,
        title: str | None = None,
        summary: str | None = None,
        status: str | None = None,
        keywords: Sequence[str] | None = None,
        by: str = "",
    ) -> Entry:
        """Change what is stated of a topic; None leaves it."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.update(
                state,
                topic_id=topic_id,
                title=title,
                summary=summary,
                status=status,
                keywords=keywords,
                agent=agent,
            ),
        )[0]

    def link(
        self,
        topic_id: str,
        *,
        events: Sequence[str] = (),
        decisions: Sequence[str] = (),
        tasks: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Events, decisions and tasks belong to a topic."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.link(
                state,
                topic_id=topic_id,
                events=events,
                decisions=decisions,
                tasks=tasks,
                agent=agent,
                known=self.event_id,
            ),
            naming=events,
        )[0]

    def unlink(
        self,
        topic_id: str,
        *,
        events: Sequence[str] = (),
        decisions: Sequence[str] = (),
        tasks: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """A link was a mistake."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.unlink(
                state,
                topic_id=topic_id,
                events=events,
                decisions=decisions,
                tasks=tasks,
                agent=agent,
                known=self.event_id,
            ),
            naming=events,
        )[0]

    def close_topic(
        self, topic_id: str, *, evidence: str = "", status: str = "completed", by: str = ""
    ) -> Entry:
        """The subject is done with."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.close(
                state, topic_id=topic_id, evidence=evidence, status=status, agent=agent
            ),
        )[0]
