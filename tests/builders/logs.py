"""A log under construction, and the two that the read models are shown with.

Everything said here is made up.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from conversation_esaa.events import (
    ConversationTurn,
    DecisionRecorded,
    DecisionRetracted,
    DecisionSuperseded,
    Entry,
    GoalSet,
    Head,
    Recorded,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
    TaskClosed,
    TaskCreated,
    TaskReopened,
    TaskUpdated,
    TopicClosed,
    TopicCreated,
    TopicEventLinked,
    TopicEventUnlinked,
    TopicUpdated,
)
from conversation_esaa.log import InMemoryLog, Stamp
from conversation_esaa.log.v1_1 import visible
from conversation_esaa.timestamps import to_utc

GOLDEN = Path(__file__).parent.parent / "golden"
V1_1_LOG = GOLDEN / "v1_1" / "activity.jsonl"
MORNING = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class LogBuilder:
    """Entries as the log would give them: positions without gaps, a minute apart, ids from positions."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    @property
    def head(self) -> Head:
        seq = len(self.entries)
        return Head(seq=seq, hash=hashlib.sha256(str(seq).encode()).hexdigest() if seq else "")

    def add(self, event: Recorded) -> Recorded:
        """`event` at the end; a ts and an event_id that it has are kept."""
        seq = len(self.entries) + 1
        ts = to_utc(MORNING + timedelta(minutes=seq))
        event = msgspec.structs.replace(
            event,
            v=2,
            seq=seq,
            ts=event.ts or ts,
            recorded_at=max(event.ts, ts),
            event_id=event.event_id or hashlib.sha256(f"event {seq}".encode()).hexdigest(),
        )
        self.entries.append(Entry(event=event, line=b"", offset=0))
        return event

    def said(
        self, actor: str, text: str, *, agent: str = "codex", session: str = "s-1", **more: object
    ) -> Recorded:
        return self.add(
            ConversationTurn(
                source=agent,
                source_session_id=session,
                actor=actor,
                text=text,
                agent_id=agent if actor == "assistant" else None,
                **more,
            )
        )


def reference() -> tuple[list[Entry], Head]:
    """The v1.1 log with every oddity, as the readers see it from inside its workspace."""
    text = V1_1_LOG.read_text(encoding="utf-8")
    text = text.replace("__WORKSPACE__", "/made/up").replace("__OTHER_WORKSPACE__", "/another")
    stamp = Stamp(workspace_root="/made/up", workspace_id="w", replica_id="r")
    log = InMemoryLog(stamp, data=text.encode())
    return list(visible(log.entries(), ["/made/up"])), log.head()


def rich() -> LogBuilder:
    """Three agents, every kind of event, and something in every state that it can be in."""
    log = LogBuilder()
    by = {"agent_id": "human", "actor": "user"}
    codex = {"agent_id": "codex", "actor": "assistant"}
    log.add(GoalSet(goal="Ship the tide table", **by))
    log.add(SessionStarted(source="claude-code", source_session_id="k-1", git_branch="main"))
    where = {"agent": "claude-code", "session": "k-1", "git_branch": "main", "model": "made-up-1"}
    asked = log.said("user", "Which source do we take the tides from?", **where)
    answered = log.said(
        "assistant", "Two harbours publish theirs.\n\n- North\n- South", message_ref="m-1", **where
    )
    log.said("assistant", "I would take both, and prefer the newer one.", message_ref="m-1", **where)
    log.add(
        DecisionRecorded(
            decision_id="DEC-0001",
            decision="Take the tides of the north harbour",
            related_turns=(asked.event_id,),
            **by,
        )
    )
    log.add(TopicCreated(topic_id="TOP-001", title="Tide sources", summary="Whose numbers we print", **codex))
    log.add(
        DecisionRecorded(
            decision_id="DEC-0002",
            decision="Take both harbours, the newer one wins",
            rationale="One alone was wrong for two days in a row",
            related_turns=(asked.event_id, answered.event_id),
            topic_ids=("TOP-001",),
            **codex,
        )
    )
    log.add(DecisionSuperseded(decision_id="DEC-0001", superseded_by="DEC-0002", **codex))
    log.add(DecisionRecorded(decision_id="DEC-0003", decision="Print in feet", **by))
    log.add(DecisionRetracted(decision_id="DEC-0003", rationale="Nobody here reads feet", **by))
    log.add(
        TaskCreated(
            task_id="CONV-001",
            title="Read the north harbour",
            description="Their page changes *every* hour",
            status="open",
            next_step="Find out their time zone",
            topic_ids=("TOP-001",),
            **codex,
        )
    )
    log.add(TaskCreated(task_id="CONV-002", title="Read the south harbour", status="open", **codex))
    log.add(TaskCreated(task_id="CONV-003", title="Draw a chart", status="blocked", **by))
    log.add(TaskCreated(task_id="CONV-004", title="Print in feet", status="open", **by))
    log.add(TaskUpdated(task_id="CONV-001", status="in_progress", **codex))
    log.add(
        TaskClosed(task_id="CONV-002", status="completed", evidence="seven days compared by hand", **codex)
    )
    log.add(TaskReopened(task_id="CONV-002", evidence="summer time was forgotten", next_step="Add it", **by))
    log.add(TaskClosed(task_id="CONV-004", status="cancelled", evidence="see DEC-0003", **by))
    log.add(TopicCreated(topic_id="TOP-002", title="Units", keywords=("feet", "metres"), **by))
    log.add(
        TopicEventLinked(
            topic_id="TOP-002", event_ids=(asked.event_id, answered.event_id), task_ids=("CONV-004",), **by
        )
    )
    log.add(TopicEventUnlinked(topic_id="TOP-002", event_ids=(asked.event_id,), **by))
    log.add(TopicUpdated(topic_id="TOP-001", summary="Whose numbers we print, and when", **codex))
    log.add(TopicClosed(topic_id="TOP-002", status="completed", evidence="metres it is", **by))
    log.add(SessionCompacted(source="claude-code", source_session_id="k-1", trigger="auto"))
    log.add(SessionEnded(source="claude-code", source_session_id="k-1"))
    where = {"agent": "codex", "session": "c-1", "git_branch": "tides/north", "model": "made-up-2"}
    log.said("user", "Go on with CONV-001.", **where)
    log.said(
        "assistant",
        "The north harbour prints local time; I convert it.\n\n```\nutc = local - 1\n```",
        **where,
    )
    log.said("user", "And in winter?", agent="grok", session="g-1")
    log.add(GoalSet(goal="Ship the tide table before the spring tide", **by))
    return log
