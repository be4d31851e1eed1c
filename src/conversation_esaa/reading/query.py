"""What to look for in the log: one query type for every surface.

The filters narrow in this order, whatever order they were given in: workspace → marks → agent → actor →
session → branch → time → topic id, decision, task → topic text. Then one of before, after, around or last takes a
window of what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.errors import UnknownName, UsageError
from conversation_esaa.events import (
    TYPES,
    ConversationTurn,
    DecisionRecorded,
    DecisionRetracted,
    DecisionSuperseded,
    Entry,
    FromSource,
    Recorded,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
    TaskEvent,
    WorkspaceInitialised,
    WorkspaceMoved,
)
from conversation_esaa.ids import AgentId, DecisionId, EventId, TaskId, TopicId, agent_id
from conversation_esaa.lookup import Keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.projections.catalogue import State

DEFAULT_LAST = 20
DEFAULT_WINDOW = 1
MARKS = (SessionStarted, SessionEnded, SessionCompacted, WorkspaceInitialised, WorkspaceMoved)
_MARK_NAMES = tuple(str(kind.__struct_config__.tag) for kind in MARKS)
_DECISIONS = tuple(name for name in TYPES if name.startswith("decision."))
_TASKS = tuple(name for name in TYPES if name.startswith("task."))
ACTORS = ("user", "assistant", "system")
CURATED = AgentId("curated")  # what v1.1 wrote as the source of its topics

# What a topic text is looked for in. A summary counts beside its text, as it did in v1.1: what somebody
# said first weighs more.
TOPIC_FIELDS = (
    "summary",
    "text",
    "decision",
    "rationale",
    "title",
    "next_step",
    "description",
    "evidence",
    "goal",
)


_HELP = "`conversation-esaa context --help` shows how they work together."


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of `context`. Empty means: not asked for."""

    agents: tuple[AgentId, ...] = ()  # who spoke, was spoken to, or curated
    actor: str = ""
    session: str = ""  # a native session id, or a prefix of one
    branch: str = ""  # of git, as the agent's log names it
    since: str = ""  # RFC 3339 UTC, inclusive
    until: str = ""  # exclusive
    topic: str = ""  # text; the answer is ranked by how often it occurs
    topic_id: str = ""
    decision: str = ""
    task: str = ""
    before: EventId | None = None
    after: EventId | None = None
    around: EventId | None = None
    window: int = DEFAULT_WINDOW  # events on each side of `around`
    last: int = DEFAULT_LAST
    marks: bool = False  # also starts and ends of sessions and the workspace's own events

    def __post_init__(self) -> None:
        """Refuse what does not fit together. Raises UsageError."""
        given = [name for name in ("before", "after", "around") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError(
                f"--{' and --'.join(given)} cannot be combined",
                hint="Each of them takes its own window: ask once with each.",
            )
        if self.topic and given:
            raise UsageError(
                f"--topic and --{given[0]} cannot be combined: an answer to --topic is ranked, not in time "
                "order",
                hint=f"Find the event with --topic, then ask again with --{given[0]} alone.",
            )
        if self.last < 1 or self.window < 0:
            raise UsageError("--last takes a number from 1, --window one from 0", hint=_HELP)
        if self.actor and self.actor not in ACTORS:
            raise UnknownName("actor", self.actor, known=ACTORS)

    def described(self) -> str:
        """The filters that are set, for the head of an answer."""
        filters = ("actor", "session", "branch", "since", "until", "topic_id", "decision", "task")
        windows = ("before", "after", "around")
        parts = [
            *(f"agent {name}" for name in self.agents),
            *(f"{name.replace('_', '-')} {value}" for name in filters if (value := getattr(self, name))),
            *(["topic text, best first"] if self.topic else []),
            *(f"{name} {value[:12]}" for name in windows if (value := getattr(self, name))),
        ]
        parts.append(f"window {self.window}" if self.around else f"last {self.last}")
        return " · ".join(parts)


def source_of(entry: Entry) -> str:
    """Whose log an event came from, as ids are spelled here; "" for what was curated here."""
    event = entry.event
    if isinstance(event, FromSource):
        return event.source
    if event.v == 1 and not isinstance(event, DecisionRecorded | TaskEvent):
        source = entry.fields.get("source")
        return agent_id(source) if isinstance(source, str) else ""
    return ""


def matcher(query: Query, state: State | None) -> Callable[[Entry], bool]:
    """Whether an entry passes every filter but the window and the topic text.

    state   the fold of the whole log; needed for topic_id, decision and task alone. Raises UnknownName
            when there is no such topic, decision or task.
    """
    tests: list[Callable[[Entry], bool]] = []
    if not query.marks:
        tests.append(lambda entry: not isinstance(entry.event, MARKS))
    if query.agents:
        agents = frozenset(query.agents)
        tests.append(lambda entry: entry.event.agent_id in agents or source_of(entry) in agents)
    if query.actor:
        tests.append(lambda entry: entry.event.actor == query.actor)
    if query.session:
        tests.append(lambda entry: _session_of(entry.event).startswith(query.session))
    if query.branch:
        tests.append(lambda entry: _branch_of(entry.event) == query.branch)
    if query.since:
        tests.append(lambda entry: entry.event.ts >= query.since)
    if query.until:
        tests.append(lambda entry: entry.event.ts < query.until)
    if state is not None:
        tests.extend(_references(query, state))
    return lambda entry: all(test(entry) for test in tests)


def keys_of(query: Query, state: State | None) -> Keys:
    """What to look up in the index. It may find too much, never too little: `matcher` has the last word."""
    ids: frozenset[str] | None = None
    kinds: tuple[str, ...] = ()
    if state is not None:
        if query.topic_id and (topic := state.topics.get(TopicId(query.topic_id))):
            ids = frozenset(filter(None, topic.key_event_ids))
        if query.decision and (decision := state.decisions.get(DecisionId(query.decision))):
            ids, kinds = frozenset(filter(None, decision.related_turns)), _DECISIONS
        if query.task and (task := state.tasks.get(TaskId(query.task))):
            ids, kinds = frozenset(filter(None, task.related_turns)), _TASKS
    return Keys(
        without_kinds=() if query.marks else _MARK_NAMES,
        agents=query.agents,
        actor=query.actor,
        session=query.session,
        branch=query.branch,
        since=query.since,
        until=query.until,
        ids=ids,
        kinds=kinds,
    )


def needs_state(query: Query) -> bool:
    """Whether `matcher` needs the fold of the log."""
    return bool(query.topic_id or query.decision or query.task)


def hits(entry: Entry, words: str) -> int:
    """How often `words` (case-folded) occurs in what an entry says, without overlap."""
    event: Any = entry.event
    texts = [value for name in TOPIC_FIELDS if isinstance(value := getattr(event, name, None), str)]
    return " ".join(filter(None, texts)).casefold().count(words)


def _references(query: Query, state: State) -> list[Callable[[Entry], bool]]:
    tests: list[Callable[[Entry], bool]] = []
    if query.topic_id:
        topic = state.topics.get(TopicId(query.topic_id))
        if topic is None:
            raise UnknownName("topic", query.topic_id, known=tuple(state.topics))
        linked = frozenset(filter(None, topic.key_event_ids))
        tests.append(lambda entry: entry.event.event_id in linked)
    if query.decision:
        decision = state.decisions.get(DecisionId(query.decision))
        if decision is None:
            raise UnknownName("decision", query.decision, known=tuple(state.decisions))
        evidence, seq = frozenset(filter(None, decision.related_turns)), decision.seq
        tests.append(
            lambda entry: (
                entry.event.seq == seq
                or entry.event.event_id in evidence
                or _about_decision(entry.event, query)
            )
        )
    if query.task:
        if TaskId(query.task) not in state.tasks:
            raise UnknownName("task", query.task, known=tuple(state.tasks))
        turns = frozenset(filter(None, state.tasks[TaskId(query.task)].related_turns))
        tests.append(lambda entry: entry.event.event_id in turns or _about_task(entry.event, query))
    return tests


def _about_decision(event: Recorded, query: Query) -> bool:
    match event:
        case DecisionRecorded() | DecisionRetracted():
            return event.decision_id == query.decision
        case DecisionSuperseded():
            return query.decision in (event.decision_id, event.superseded_by)
        case _:
            return False


def _about_task(event: Recorded, query: Query) -> bool:
    return isinstance(event, TaskEvent) and event.task_id == query.task


def _session_of(event: Recorded) -> str:
    return event.source_session_id if isinstance(event, FromSource) else ""


def _branch_of(event: Recorded) -> str:
    return event.git_branch if isinstance(event, FromSource) else ""


def is_turn(event: Recorded) -> bool:
    """Whether somebody said it, as against curated or noted."""
    return isinstance(event, ConversationTurn)
