"""The vocabulary of the log: what can have happened, as immutable facts.

One declaration is the type, the wire form and the JSON Schema (docs/reference/event.schema.json). Every
event is one flat JSON object; attribute names are the JSON keys. Keys and event names that this version
does not know are kept on read: the log's own bytes are never rewritten, and `UnknownEvent` stands for a
name from a newer version.

The words of an event are its CONTENT keys. They are committed to the hash chain through a salted digest,
so that a later purge can take them out and nothing else of the line ever changes.
"""

# Not `from __future__ import annotations`: msgspec would compile each type again, at every start.
from typing import Any, ClassVar

import msgspec

from conversation_esaa.ids import AgentId, DecisionId, EventId, TaskId, TopicId

VERSION = 2

TASK_STATUSES = ("open", "in_progress", "blocked", "completed", "cancelled")
TASK_OPEN = ("open", "in_progress", "blocked")
TOPIC_STATUSES = ("active", "paused", "completed", "archived")


class Recorded(msgspec.Struct, frozen=True, kw_only=True, tag_field="event", omit_defaults=True):
    """What every event has, whatever happened.

    A draft is an event that is not in the log yet: `seq`, `recorded_at`, `salt`, `content_digest` and
    `hash` still have their defaults, and the log's writer fills them in under its lock. A v1.1 line has
    `v` 1 (the key is absent there) and no chain keys.
    """

    CONTENT: ClassVar[frozenset[str]] = frozenset()

    v: int = 1
    seq: int = 0  # position in the log, from 1, without gaps
    event_id: EventId = EventId("")  # "" only in legacy lines and in drafts of curated events
    ts: str = ""  # RFC 3339 UTC, milliseconds: when it happened
    recorded_at: str = ""  # when it was appended
    actor: str = ""  # user, assistant or system
    agent_id: AgentId | None = None  # who spoke or was spoken to; for curated events, who curated
    workspace_root: str = ""
    workspace_id: str = ""
    replica_id: str = ""  # names the machine
    flags: tuple[str, ...] = ()  # what capture did to the words: private_removed, surrogates_replaced, …
    salt: str = ""  # 32 hex digits
    content_digest: str = ""  # SHA-256 over salt and the canonical JSON of the content keys
    hash: str = ""  # SHA-256 over the previous hash and this line without content, salt and hash


class FromSource(Recorded, frozen=True, kw_only=True):
    """What an event taken from an agent's own log also has."""

    source: AgentId = AgentId("")  # whose log
    source_session_id: str = ""
    source_path: str = ""  # home-relative, `~/…`
    source_ref: str = ""  # the native record id
    cwd: str = ""
    git_branch: str = ""
    git_commit: str = ""
    model: str = ""
    agent_version: str = ""


class ConversationTurn(FromSource, frozen=True, kw_only=True, tag="conversation_turn"):
    """Somebody said something that a person could see."""

    CONTENT = frozenset({"text", "summary", "copy_keys"})

    source_index: int = -1  # ordinal of the visible record in its session, from 0; -1 when not known
    message_ref: str = ""  # shared by the records of one message
    copy_keys: tuple[str, ...] = ()  # content, since digests of the text are in them: see `Turn`
    topic_ids: tuple[TopicId, ...] = ()  # v1.1 only
    text: str = ""
    summary: str = ""


class SessionStarted(FromSource, frozen=True, kw_only=True, tag="session.started"):
    """An agent's session began in this workspace."""

    forked_from: str = ""  # the session whose history this one continues


class SessionEnded(FromSource, frozen=True, kw_only=True, tag="session.ended"):
    """An agent's session ended."""

    trigger: str = ""


class SessionCompacted(FromSource, frozen=True, kw_only=True, tag="session.compacted"):
    """An agent shortened its own context; what was said before is still in this log."""

    trigger: str = ""  # manual, auto, …


class GoalSet(Recorded, frozen=True, kw_only=True, tag="goal.set"):
    """The current objective; an empty one clears it."""

    CONTENT = frozenset({"goal"})

    goal: str = ""


class DecisionRecorded(Recorded, frozen=True, kw_only=True, tag="decision.recorded"):
    """Something was decided. v1.1 lines have no `decision_id`: theirs is their position."""

    CONTENT = frozenset({"decision", "rationale", "summary", "text"})

    decision_id: DecisionId = DecisionId("")
    decision: str = ""
    rationale: str = ""
    related_turns: tuple[EventId, ...] = ()  # the evidence
    topic_ids: tuple[TopicId, ...] = ()
    summary: str = ""  # v1.1 only
    text: str = ""  # v1.1 only


class DecisionSuperseded(Recorded, frozen=True, kw_only=True, tag="decision.superseded"):
    """A later decision took the place of an earlier one."""

    decision_id: DecisionId = DecisionId("")
    superseded_by: DecisionId = DecisionId("")


class DecisionRetracted(Recorded, frozen=True, kw_only=True, tag="decision.retracted"):
    """A decision no longer holds, and nothing took its place."""

    CONTENT = frozenset({"rationale"})

    decision_id: DecisionId = DecisionId("")
    rationale: str = ""


class TaskEvent(Recorded, frozen=True, kw_only=True):
    """What all task events have."""

    CONTENT = frozenset({"title", "description", "next_step", "evidence", "summary", "text"})

    task_id: TaskId = TaskId("")
    topic_ids: tuple[TopicId, ...] = ()
    related_turns: tuple[EventId, ...] = ()
    summary: str = ""  # v1.1 only
    text: str = ""  # v1.1 only


class TaskCreated(TaskEvent, frozen=True, kw_only=True, tag="task.created"):
    """A promise was made."""

    title: str = ""
    description: str = ""
    status: str = ""  # one of TASK_STATUSES; "" in a v1.1 line means open
    next_step: str = ""


class TaskUpdated(TaskEvent, frozen=True, kw_only=True, tag="task.updated"):
    """Fields that are None stay as they were; an empty string clears."""

    title: str | None = None
    description: str | None = None
    status: str | None = None
    next_step: str | None = None


class TaskClosed(TaskEvent, frozen=True, kw_only=True, tag="task.closed"):
    """The promise was kept, or given up; `evidence` says how a reader can check."""

    status: str = ""  # completed or cancelled; "" in a v1.1 line means completed
    evidence: str = ""


class TaskReopened(TaskEvent, frozen=True, kw_only=True, tag="task.reopened"):
    """It was not done after all."""

    next_step: str = ""
    evidence: str = ""  # why


class TopicEvent(Recorded, frozen=True, kw_only=True):
    """What all topic events have."""

    CONTENT = frozenset({"title", "summary", "keywords", "evidence", "text"})

    topic_id: TopicId = TopicId("")
    text: str = ""  # v1.1 only


class TopicCreated(TopicEvent, frozen=True, kw_only=True, tag="topic.created"):
    """A subject got a name."""

    title: str = ""
    summary: str = ""
    status: str = ""  # one of TOPIC_STATUSES; "" means active
    keywords: tuple[str, ...] = ()
    event_ids: tuple[EventId, ...] = ()
    source: AgentId = AgentId("")  # v1.1 only: "curated"


class TopicUpdated(TopicEvent, frozen=True, kw_only=True, tag="topic.updated"):
    """Fields that are None stay as they were."""

    title: str | None = None
    summary: str | None = None
    status: str | None = None
    keywords: tuple[str, ...] | None = None


class TopicEventLinked(TopicEvent, frozen=True, kw_only=True, tag="topic.event.linked"):
    """Events, decisions or tasks belong to a topic."""

    event_ids: tuple[EventId, ...] = ()
    decision_ids: tuple[DecisionId, ...] = ()
    task_ids: tuple[TaskId, ...] = ()
    summary: str = ""  # v1.1 only


class TopicEventUnlinked(TopicEvent, frozen=True, kw_only=True, tag="topic.event.unlinked"):
    """A link was a mistake."""

    event_ids: tuple[EventId, ...] = ()
    decision_ids: tuple[DecisionId, ...] = ()
    task_ids: tuple[TaskId, ...] = ()


class TopicClosed(TopicEvent, frozen=True, kw_only=True, tag="topic.closed"):
    """The subject is done with."""

    status: str = ""  # completed or archived; "" means completed
    evidence: str = ""
    summary: str = ""  # v1.1 only


class WorkspaceInitialised(Recorded, frozen=True, kw_only=True, tag="workspace.initialised"):
    """This log began, or a v1.1 log was taken over; `v1_1_lines` counts what was there."""

    v1_1_lines: int = 0


class WorkspaceMoved(Recorded, frozen=True, kw_only=True, tag="workspace.moved"):
    """The directory has another path now; the id stays."""

    moved_from: str = ""


class UnknownEvent(Recorded, frozen=True, kw_only=True):
    """An event whose name this version does not know. `name` is not a JSON key: it is the line's `event`."""

    name: str = ""


Event = (
    ConversationTurn
    | SessionStarted
    | SessionEnded
    | SessionCompacted
    | GoalSet
    | DecisionRecorded
    | DecisionSuperseded
    | DecisionRetracted
    | TaskCreated
    | TaskUpdated
    | TaskClosed
    | TaskReopened
    | TopicCreated
    | TopicUpdated
    | TopicEventLinked
    | TopicEventUnlinked
    | TopicClosed
    | WorkspaceInitialised
    | WorkspaceMoved
)

TYPES: dict[str, type[Recorded]] = {str(kind.__struct_config__.tag): kind for kind in Event.__args__}


def event_name(event: Recorded) -> str:
    """The wire name: `conversation_turn`, `decision.recorded`, …"""
    if isinstance(event, UnknownEvent):
        return event.name
    return str(event.__struct_config__.tag)


class Entry(msgspec.Struct, frozen=True):
    """One line of the log: where it is, the fact as a type, and its bytes as they were written."""

    event: Recorded
    line: bytes  # without the line feed
    offset: int  # of the line's first byte

    @property
    def fields(self) -> dict[str, Any]:
        """All keys of the line, those too that the type does not know. Decodes the line at each call."""
        try:
            fields = msgspec.json.decode(self.line)
        except (msgspec.DecodeError, ValueError):
            import json

            fields = json.loads(self.line.decode("utf-8", "replace").lstrip("\ufeff"))
        return dict(fields)


class Unreadable(msgspec.Struct, frozen=True):
    """A line of the log that is no event of ours. It is reported and left where it is."""

    line_no: int  # from 1; 0 when the log was read backwards
    offset: int
    length: int
    reason: str  # what is wrong with it, never what it says


class Head(msgspec.Struct, frozen=True):
    """How far the log goes: what a read model was built from."""

    seq: int = 0
    hash: str = ""  # of the last chained line; "" while there is none
    size: int = 0  # bytes, up to and with the last line feed
