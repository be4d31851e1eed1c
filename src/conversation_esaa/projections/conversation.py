"""What was said: per agent the last sessions, what was asked there and what was answered.

The value does not grow with the turns. It holds counts, and of each agent's newest sessions the last
request and the last answer, cut. Its size is bounded by agents × SESSIONS_KEPT × the cut, plus one
number for each session there ever was. Folding costs about a microsecond a turn, because what is kept is
only copied, masked and cut at the end of a fold.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import starmap
from operator import attrgetter, le
from typing import Self

import msgspec

from conversation_esaa.events import (
    TYPES,
    ConversationTurn,
    FromSource,
    Recorded,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
    event_name,
)
from conversation_esaa.ids import AgentId, EventId
from conversation_esaa.projections.injected import BEGIN, without_injected
from conversation_esaa.text import excerpt, masked

SESSIONS_KEPT = 5  # per agent, the most recently active
PARTS_KEPT = 8  # records of one message
PART_CHARACTERS = 4000  # of one record

_NAMES: dict[type[Recorded], str] = {kind: name for name, kind in TYPES.items()}
_TURN = _NAMES[ConversationTurn]

_cwd, _git_branch, _git_commit = map(attrgetter, ("cwd", "git_branch", "git_commit"))
_model, _agent_version = map(attrgetter, ("model", "agent_version"))

UNNAMED = AgentId("unknown")
"""Legacy lines that do not say whose log they come from: their turns are counted, and that is all."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said at once: the records of one message_ref, or a single record. Masked and cut."""

    seq: int  # of its first record
    event_id: EventId  # of its first record
    ts: str
    message_ref: str = ""
    parts: tuple[str, ...] = ()
    characters: int = 0  # of the whole message, as the log has it

    @property
    def text(self) -> str:
        """The parts as one text."""
        return "\n\n".join(part for part in self.parts if part)


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One session of an agent. What a log states for some records only is what it stated last, masked."""

    session_id: str
    agent_id: AgentId
    last_seq: int
    last_ts: str  # never later than when the line was appended: a clock that ran ahead wins nothing
    first_ts: str = ""
    turns: int = 0
    cwd: str = ""
    git_branch: str = ""
    git_commit: str = ""
    model: str = ""
    agent_version: str = ""
    forked_from: str = ""
    compacted: int = 0  # how often its agent shortened its context
    ended: bool = False
    request: Message | None = None  # the last thing that a person said
    answer: Message | None = None  # the last thing that the agent said, maybe before `request`

    @property
    def unanswered(self) -> Message | None:
        """The request that nothing was said after."""
        if self.request and (self.answer is None or self.answer.seq < self.request.seq):
            return self.request
        return None


class Voice(msgspec.Struct, frozen=True, kw_only=True):
    """All that one agent's logs gave."""

    user_turns: int = 0
    assistant_turns: int = 0
    session_turns: Mapping[str, int] = {}  # every session there ever was, with its turns
    sessions: Mapping[str, Session] = {}  # the SESSIONS_KEPT most recently active, in order of arrival


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What was said in this workspace."""

    counts: Mapping[str, int] = {}  # lines by event name, in order of first appearance
    voices: Mapping[AgentId, Voice] = {}  # by whose log it was, in order of first appearance
    first_ts: str = ""
    last_ts: str = ""

    @property
    def events(self) -> int:
        """All visible lines."""
        return sum(self.counts.values())

    @property
    def turns(self) -> int:
        """All visible turns."""
        return self.counts.get("conversation_turn", 0)


EMPTY = Conversation()


def step(conversation: Conversation, event: Recorded) -> Conversation:
    """One event forward."""
    return fold((event,), conversation)


def fold(events: Iterable[Recorded], start: Conversation = EMPTY) -> Conversation:
    """All events forward, in log order."""
    listener = Listener(start)
    for event in events:
        listener.hear(event)
    return listener.conversation()


def sessions(conversation: Conversation) -> list[Session]:
    """The sessions that are kept, of all agents, the most recently active first."""
    kept = [session for voice in conversation.voices.values() for session in voice.sessions.values()]
    return sorted(kept, key=_recency, reverse=True)


def last_unanswered(conversation: Conversation) -> Session | None:
    """The session with the newest request that nothing was said after; None when all were answered."""
    waiting = [session for session in sessions(conversation) if session.unanswered]
    return max(
        waiting,
        key=lambda s: (s.unanswered.ts, s.unanswered.seq) if s.unanswered else ("", 0),
        default=None,
    )


def newest_of_each(conversation: Conversation) -> list[Session]:
    """Each agent's most recently active session, the most recent agent first."""
    voices = conversation.voices.values()
    newest = [max(voice.sessions.values(), key=_recency) for voice in voices if voice.sessions]
    return sorted(newest, key=_recency, reverse=True)


def in_order(session: Session) -> list[tuple[str, Message]]:
    """The last request and the last answer with their roles, in the order they were said."""
    said = [("user", session.request), ("assistant", session.answer)]
    return sorted(
        [(role, message) for role, message in said if message], key=lambda pair: (pair[1].seq, pair[0])
    )


class Listener:
    """A fold under way: values that change in place, for one pass. `conversation()` ends it."""

    def __init__(self, start: Conversation) -> None:
        self._counts = dict(start.counts)
        self._voices = {agent: _Voice(agent, voice) for agent, voice in start.voices.items()}
        self._first_ts = start.first_ts
        self._last_ts = start.last_ts

    def hear(self, event: Recorded) -> None:
        """One event forward."""
        if isinstance(event, ConversationTurn):
            self.hear_turn(event)
            return
        self._count(_NAMES.get(type(event)) or event_name(event))
        ts = self._noted(event)
        if isinstance(event, FromSource):
            self._voice(event).hear(event, ts)

    def hear_turn(self, turn: ConversationTurn) -> None:
        """One turn forward: nearly every event is one. Whatever has a turn's attributes will do."""
        self._count(_TURN)
        ts = self._noted(turn)
        voice = self._voices.get(turn.source) or self._voice(turn)
        voice.hear_turn(turn, ts)

    def hear_turns(self, turns: Sequence[ConversationTurn]) -> None:
        """Some turns forward, with the outcome of `hear_turn` for each: of a session, the last ones tell nearly all.

        A tenth of that price where the turns are of few sessions, all of them known.
        """
        said = [turn.ts for turn in turns]
        of = self._parted(turns)
        if not (of and all(said) and all(map(le, said, [turn.recorded_at for turn in turns]))):
            for turn in turns:
                self.hear_turn(turn)
            return
        self._counts[_TURN] = self._counts.get(_TURN, 0) + len(turns)
        self._last_ts = max(self._last_ts, *said)
        self._first_ts = min(self._first_ts or said[0], *said)
        for (agent, session_id), own in of.items():
            self._voices[agent].hear_turns(session_id, own)

    def _parted(
        self, turns: Sequence[ConversationTurn]
    ) -> dict[tuple[AgentId, str], Sequence[ConversationTurn]]:
        """Turns by agent and session. Nothing where the order of sessions matters: for a new one an old one goes."""
        of: dict[tuple[AgentId, str], Sequence[ConversationTurn]] = {}
        if len({turn.source_session_id for turn in turns}) == len({turn.source for turn in turns}) == 1:
            of[turns[0].source, turns[0].source_session_id] = turns
        else:
            own: dict[tuple[AgentId, str], list[ConversationTurn]] = {}
            for turn in turns:
                own.setdefault((turn.source, turn.source_session_id), []).append(turn)
            of.update(own)
        return of if all(starmap(self._keeps, of)) else {}

    def _keeps(self, agent: AgentId, session_id: str) -> bool:
        voice = self._voices.get(agent)
        return voice is not None and agent != UNNAMED and session_id in voice.sessions

    def _count(self, name: str) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1

    def _noted(self, event: Recorded) -> str:
        """When it happened; never later than when it was appended."""
        ts, recorded_at = event.ts, event.recorded_at
        if recorded_at and recorded_at < ts:
            ts = recorded_at
        self._last_ts = max(self._last_ts, ts)
        if ts < self._first_ts or not self._first_ts:
            self._first_ts = ts or self._first_ts
        return ts

    def _voice(self, event: FromSource) -> "_Voice":
        agent = event.source or event.agent_id or UNNAMED
        voice = self._voices.get(agent)
        if voice is None:
            voice = self._voices[agent] = _Voice(agent, Voice())
        return voice

    def conversation(self) -> Conversation:
        """The value; the listener is spent."""
        return Conversation(
            counts=self._counts,
            voices={agent: voice.frozen() for agent, voice in self._voices.items()},
            first_ts=self._first_ts,
            last_ts=self._last_ts,
        )


def _recency(session: "Session | _Session") -> tuple[str, int]:
    return session.last_ts, session.last_seq


class _Voice:
    __slots__ = ("agent", "assistant_turns", "session_turns", "sessions", "user_turns")

    def __init__(self, agent: AgentId, start: Voice) -> None:
        self.agent = agent
        self.user_turns = start.user_turns
        self.assistant_turns = start.assistant_turns
        self.session_turns = dict(start.session_turns)
        self.sessions = {known: _Session.thawed(session) for known, session in start.sessions.items()}

    def hear(self, event: FromSource, ts: str) -> None:
        """What is no turn."""
        if self.agent != UNNAMED:
            session = self.sessions.get(event.source_session_id) or self.opened(event.source_session_id)
            session.hear(event, ts)
            self.forget_one_too_many()

    def hear_turn(self, turn: ConversationTurn, ts: str) -> None:
        if turn.actor == "assistant":
            self.assistant_turns += 1
        elif turn.actor == "user":
            self.user_turns += 1
        if self.agent == UNNAMED:
            return  # whether anything was answered cannot be told without a session
        session = self.sessions.get(turn.source_session_id)
        if session is None:
            session = self.opened(turn.source_session_id)
            session.hear_turn(turn, ts)
            self.forget_one_too_many()
        else:
            session.hear_turn(turn, ts)

    def hear_turns(self, session_id: str, turns: Sequence[ConversationTurn]) -> None:
        """Turns of one session that is kept, none of them without its time or recorded before it."""
        asked = [turn for turn in turns if turn.actor == "user"]
        answered = [turn for turn in turns if turn.actor == "assistant"]
        self.user_turns += len(asked)
        self.assistant_turns += len(answered)
        self.sessions[session_id].hear_turns(turns, asked=asked, answered=answered)

    def forget_one_too_many(self) -> None:
        if len(self.sessions) > SESSIONS_KEPT:
            oldest = min(self.sessions.values(), key=_recency)
            self.session_turns[oldest.session_id] = oldest.turns
            del self.sessions[oldest.session_id]

    def opened(self, session_id: str) -> "_Session":
        session = self.sessions[session_id] = _Session(session_id)
        session.turns = self.session_turns.setdefault(session_id, 0)
        return session

    def frozen(self) -> Voice:
        for session in self.sessions.values():
            self.session_turns[session.session_id] = session.turns
        return Voice(
            user_turns=self.user_turns,
            assistant_turns=self.assistant_turns,
            session_turns=self.session_turns,
            sessions={known: session.frozen(self.agent) for known, session in self.sessions.items()},
        )


class _Session:
    __slots__ = (
        "agent_version",
        "answer",
        "compacted",
        "cwd",
        "ended",
        "first_ts",
        "forked_from",
        "git_branch",
        "git_commit",
        "last_seq",
        "last_ts",
        "model",
        "request",
        "session_id",
        "turns",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.first_ts = self.last_ts = ""
        self.last_seq = self.turns = self.compacted = 0
        self.cwd = self.git_branch = self.git_commit = self.model = self.agent_version = ""
        self.forked_from = ""
        self.ended = False
        self.request: _Message | None = None
        self.answer: _Message | None = None

    @classmethod
    def thawed(cls, session: Session) -> Self:
        thawed = cls(session.session_id)
        for name in cls.__slots__:
            setattr(thawed, name, getattr(session, name))
        thawed.request = _Message.thawed(session.request) if session.request else None
        thawed.answer = _Message.thawed(session.answer) if session.answer else None
        return thawed

    def hear(self, event: FromSource, ts: str) -> None:
        """What is no turn."""
        self.note(event, ts)
        if isinstance(event, SessionStarted):
            self.forked_from = event.forked_from or self.forked_from
        elif isinstance(event, SessionEnded):
            self.ended = True
        elif isinstance(event, SessionCompacted):
            self.compacted += 1

    def hear_turn(self, turn: ConversationTurn, ts: str) -> None:
        self.note(turn, ts)
        self.turns += 1
        self.ended = False
        if turn.actor == "assistant":
            self.answer = _said(self.answer, turn, ts)
        elif turn.actor == "user":
            self.request = _said(self.request, turn, ts)

    def hear_turns(
        self,
        turns: Sequence[ConversationTurn],
        *,
        asked: Sequence[ConversationTurn],
        answered: Sequence[ConversationTurn],
    ) -> None:
        self.last_seq = turns[-1].seq
        self.last_ts = max(self.last_ts, *[turn.ts for turn in turns])
        self.first_ts = self.first_ts or turns[0].ts
        self.cwd = _last_stated(turns, _cwd) or self.cwd
        self.git_branch = _last_stated(turns, _git_branch) or self.git_branch
        self.git_commit = _last_stated(turns, _git_commit) or self.git_commit
        self.model = _last_stated(turns, _model) or self.model
        self.agent_version = _last_stated(turns, _agent_version) or self.agent_version
        self.turns += len(turns)
        self.ended = False
        self.answer = _last_said(self.answer, answered)
        self.request = _last_said(self.request, asked)

    def note(self, event: FromSource, ts: str) -> None:
        """When, and what the log states with some records only."""
        self.last_seq = event.seq
        self.last_ts = max(self.last_ts, ts)
        if not self.first_ts:
            self.first_ts = ts
        if event.cwd:
            self.cwd = event.cwd
        if event.git_branch:
            self.git_branch = event.git_branch
        if event.git_commit:
            self.git_commit = event.git_commit
        if event.model:
            self.model = event.model
        if event.agent_version:
            self.agent_version = event.agent_version

    def frozen(self, agent: AgentId) -> Session:
        return Session(
            session_id=self.session_id,
            agent_id=agent,
            last_seq=self.last_seq,
            last_ts=self.last_ts,
            first_ts=self.first_ts,
            turns=self.turns,
            cwd=masked(self.cwd),
            git_branch=masked(self.git_branch),
            git_commit=masked(self.git_commit),
            model=masked(self.model),
            agent_version=masked(self.agent_version),
            forked_from=self.forked_from,
            compacted=self.compacted,
            ended=self.ended,
            request=self.request.frozen() if self.request else None,
            answer=self.answer.frozen() if self.answer else None,
        )


class _Message(msgspec.Struct):
    """A Struct, for one is made for nearly every turn, and that is the cheapest way to make one."""

    seq: int
    event_id: EventId
    ts: str
    message_ref: str
    parts: list[str]  # of an earlier fold, masked and cut
    fresh: list[str]  # of this fold, verbatim
    characters: int

    @classmethod
    def thawed(cls, message: Message) -> Self:
        return cls(
            message.seq,
            message.event_id,
            message.ts,
            message.message_ref,
            list(message.parts),
            [],
            message.characters,
        )

    def add(self, text: str) -> None:
        self.characters += len(text)
        if len(self.parts) + len(self.fresh) < PARTS_KEPT:
            self.fresh.append(text)

    def frozen(self) -> Message:
        # Masked before it is cut: half a secret would not be recognised.
        parts = [excerpt(masked(text), PART_CHARACTERS) for text in self.fresh]
        return Message(
            seq=self.seq,
            event_id=self.event_id,
            ts=self.ts,
            message_ref=self.message_ref,
            parts=(*self.parts, *parts),
            characters=self.characters,
        )


def _said(before: _Message | None, event: ConversationTurn, ts: str) -> _Message | None:
    text = without_injected(event.text)  # normally capture did this; here it would feed on itself
    if not text and event.text:
        return before  # our own handoff and nothing else
    if before is not None and event.message_ref and before.message_ref == event.message_ref:
        before.add(text)
        return before
    return _Message(event.seq, event.event_id, ts, event.message_ref, [], [text], len(text))


def _last_said(before: _Message | None, turns: Sequence[ConversationTurn]) -> _Message | None:
    """What `_said` makes of `turns`, one after the other, from as near their end as the last message allows."""
    at = len(turns) - 1
    while at > 0 and not _begins_a_message(turns[at - 1], turns[at]):
        at -= 1
    for turn in turns[max(at, 0) :]:
        before = _said(before, turn, turn.ts)
    return before


def _begins_a_message(before: ConversationTurn, turn: ConversationTurn) -> bool:
    """Whether `turn` surely begins one, whatever was said before the two."""
    if BEGIN in turn.text:
        return False
    return not turn.message_ref or (turn.message_ref != before.message_ref and BEGIN not in before.text)


def _last_stated(turns: Sequence[ConversationTurn], key: Callable[[ConversationTurn], str]) -> str:
    return next(filter(None, map(key, reversed(turns))), "")
