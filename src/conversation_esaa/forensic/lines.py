"""What can be said of one line alone: its form, its words, its identity, its times, whose it is.

Lines of the older tool are history that nobody can mend and that every reader is built for, so what is odd
about them informs and nothing more.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from hashlib import sha256
from operator import attrgetter, le
from typing import TYPE_CHECKING, Any, cast

import msgspec

from conversation_esaa.events import (
    TASK_STATUSES,
    TOPIC_STATUSES,
    VERSION,
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
    TaskClosed,
    TaskCreated,
    TaskReopened,
    TaskUpdated,
    TopicClosed,
    TopicCreated,
    TopicEventLinked,
    TopicEventUnlinked,
    TopicUpdated,
    UnknownEvent,
    WorkspaceMoved,
    event_name,
)
from conversation_esaa.forensic.findings import Findings, Severity, named
from conversation_esaa.ids import digest_of, turn_event_id
from conversation_esaa.log import chain
from conversation_esaa.log.written import spelled
from conversation_esaa.projections.tasks import CLOSED
from conversation_esaa.timestamps import UNKNOWN, parse_utc
from conversation_esaa.turn import Actor, MarkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conversation_esaa.turn import Turn

FAR_AHEAD = timedelta(days=1)
"""An agent's clock may differ from ours, and a log may come from another machine; not by a day."""

CUT = "cut"  # the flag of a text that capture shortened

_LEGACY_KEYS = ("event_id", "agent_id", "workspace_root", "source")

_ALWAYS = ("event_id", "actor")
_FROM_SOURCE = (*_ALWAYS, "agent_id", "source")
_KEYS: dict[type[Recorded], tuple[str, ...]] = {
    ConversationTurn: (*_FROM_SOURCE, "text"),
    SessionStarted: _FROM_SOURCE,
    SessionEnded: _FROM_SOURCE,
    SessionCompacted: _FROM_SOURCE,
    DecisionRecorded: (*_ALWAYS, "decision_id", "decision"),
    DecisionSuperseded: (*_ALWAYS, "decision_id", "superseded_by"),
    DecisionRetracted: (*_ALWAYS, "decision_id"),
    TaskCreated: (*_ALWAYS, "task_id", "title"),
    TaskUpdated: (*_ALWAYS, "task_id"),
    TaskClosed: (*_ALWAYS, "task_id"),
    TaskReopened: (*_ALWAYS, "task_id"),
    TopicCreated: (*_ALWAYS, "topic_id", "title"),
    TopicUpdated: (*_ALWAYS, "topic_id"),
    TopicEventLinked: (*_ALWAYS, "topic_id"),
    TopicEventUnlinked: (*_ALWAYS, "topic_id"),
    TopicClosed: (*_ALWAYS, "topic_id"),
    WorkspaceMoved: (*_ALWAYS, "moved_from"),
}
# The keys, and what fetches all of them from an event at once: this is asked of every line.
_NEEDS_ONLY = (_ALWAYS, attrgetter(*_ALWAYS))
_REQUIRED = {kind: (keys, attrgetter(*keys)) for kind, keys in _KEYS.items()}

_STATUSES: dict[type[Recorded], tuple[str, ...]] = {
    TaskCreated: TASK_STATUSES,
    TaskUpdated: TASK_STATUSES,
    TaskClosed: CLOSED,
    TopicCreated: TOPIC_STATUSES,
    TopicUpdated: TOPIC_STATUSES,
    TopicClosed: TOPIC_STATUSES,
}
_ACTORS = frozenset(map(str, Actor))

_MOMENT = len("2026-01-01T07:00:00.000Z")
# Moments in the log's form, one behind the other, each of a day that every month has.
_ALL_IN_OUR_FORM = re.compile(
    r"(?:(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z)*",
    re.ASCII,
).fullmatch
_encode = msgspec.json.Encoder().encode

_CODE_OF_CHAIN = {
    "broken_hash": "chain.broken",
    "wrong_content": "chain.words",
    "seq_gap": "chain.gap",
    "unlinked": "chain.unlinked",
    "purged": "chain.purged",
}


class LineCheck:
    """Checks one line after the other, and remembers only the last time of recording.

    workspace_id   that of config.toml; "" when it is not known, then it is not compared.
    """

    def __init__(self, findings: Findings, *, workspace_id: str) -> None:
        self._findings = findings
        self._workspace_id = workspace_id
        self.recorded_at = ""  # of the last line
        self._line_no = self._offset = 0  # of the line that is looked at

    def are_plain(self, turns: Sequence[ConversationTurn]) -> bool:
        """Whether there is nothing to say of a run of turns; asked in the cheapest way, column by column.

        What is not plain is for `chained` to look at, and may turn out to be right all the same.
        """
        said, recorded = [turn.ts for turn in turns], [turn.recorded_at for turn in turns]
        if (
            {turn.v for turn in turns} != {VERSION}
            or {turn.workspace_id for turn in turns} != {self._workspace_id}
            or not {turn.actor for turn in turns} <= _ACTORS
            or {turn.topic_ids for turn in turns} != {()}
            or not all([turn.source and turn.agent_id and turn.text for turn in turns])  # noqa: C419 - half as dear
            or recorded != sorted(recorded)
            or recorded[0] < self.recorded_at
            or not all(map(le, said, recorded))
            or {*map(len, said), *map(len, recorded)} != {_MOMENT}
            or not _ALL_IN_OUR_FORM("".join((*said, *set(recorded))))
        ):
            return False
        digests, fresh = [], sha256().copy
        for turn in turns:  # as ids.turn_event_id hashes it
            identity = fresh()
            identity.update(
                _encode(("turn", turn.source, turn.source_ref) if turn.source_ref else _by_words(turn))
            )
            digests.append(identity.hexdigest())
        return digests == [turn.event_id for turn in turns]

    def chained(self, line_no: int, entry: Entry, found: list[chain.Finding]) -> bool:
        """All about a line of the chain; whether it is damaged.

        found   what the chain says of it. Of a damaged line the identity is not looked at.
        """
        event, damaged = entry.event, False
        self._line_no, self._offset = line_no, entry.offset
        for one in found:
            damaged |= one.is_damage
            if code := _CODE_OF_CHAIN.get(one.kind):
                self._tell(code, one.message.replace(event_name(event), named(event_name(event))))
        if event.v > VERSION:
            unchecked = any(one.kind == "not_checked" for one in found)
            self._tell(
                "event.newer_version",
                f"is of version {event.v}, this program knows {VERSION}"
                + ("; its hash is taken as given" if unchecked else ""),
            )
            return damaged
        self._form(event)
        self._times(event)
        if not damaged and isinstance(event, FromSource) and not _identity_holds(event):
            self._tell("identity.mismatch", f"{_what(event)} whose event_id is not the one its record gives")
        return damaged

    def _form(self, event: Recorded) -> None:
        tell = self._tell
        kind = type(event)
        if kind is UnknownEvent:
            tell("event.unknown_name", f"an event name that is not known ({named(event_name(event))}); kept")
        required, values = _REQUIRED.get(kind, _NEEDS_ONLY)
        missing = [] if all(values(event)) else [key for key in required if not getattr(event, key)]
        if missing and event.content_digest and not event.salt:  # purged: its words are meant to be missing
            missing = [key for key in missing if key not in event.CONTENT]
        if isinstance(event, TopicEventLinked | TopicEventUnlinked) and not (
            event.event_ids or event.decision_ids or event.task_ids
        ):
            missing.append("event_ids")
        if missing:
            tell("event.missing_field", f"{_what(event)} without {', '.join(missing)}")
        if event.actor not in _ACTORS and event.actor:
            tell("event.odd_value", f"{_what(event)} whose actor is none of {', '.join(sorted(_ACTORS))}")
        known = _STATUSES.get(kind)
        if known and (status := getattr(event, "status", "")) and status not in known:
            tell("event.odd_value", f"{_what(event)} whose status is none of {', '.join(known)}")
        if self._workspace_id and event.workspace_id != self._workspace_id:
            theirs = f"of workspace {named(event.workspace_id)}" if event.workspace_id else "of no workspace"
            tell("workspace.foreign_id", f"{_what(event)} {theirs}; config.toml says {self._workspace_id}")

    def of_the_older_tool(self, line_no: int, entry: Entry) -> None:
        """What is odd about a v1.1 line. Its id is not recomputed: the older tool's can't be relied on."""
        event, tell = entry.event, self._tell
        self._line_no, self._offset = line_no, entry.offset
        if not event.event_id or not event.workspace_root:
            missing = [key for key in _LEGACY_KEYS if key not in entry.fields]
            tell("event.legacy", f"a line of the older tool without {', '.join(missing) or 'an event_id'}")
        if isinstance(event, TopicEventLinked) and "linked_event_id" in entry.fields:
            tell("event.old_link", "a link in the older tool's first shape; it is read as one")
        if isinstance(event, UnknownEvent):
            tell(
                "event.unknown_name",
                f"an event name that is not known ({named(event.name)}); kept",
            )
        if not event.ts:
            tell("event.time_form", "a line of the older tool without a time that can be read", info=True)

    def rewriting(self, line_no: int, entry: Entry, previous: Callable[[], bytes]) -> None:
        """Whether a line that the chain found intact is, byte for byte, what the writer makes of its values.

        previous   gives the hash before it; rarely asked.
        """
        event = entry.event
        if event.v > VERSION or isinstance(event, UnknownEvent):
            return
        if spelled(event) == entry.line or _rewritten(entry, previous()) == entry.line:
            return
        self._line_no, self._offset = line_no, entry.offset
        if _is_strict(entry.line):
            self._tell("chain.respelled", "has the values that were written, in other bytes")
        else:
            self._tell(
                "chain.two_meanings", "can be read in two ways: a key is there twice, or it is no strict JSON"
            )

    def _times(self, event: Recorded) -> None:
        ts, recorded_at = event.ts, event.recorded_at
        odd = [] if _is_ours(ts) else ["ts"]
        seen = recorded_at != UNKNOWN and recorded_at == self.recorded_at  # lines of one append share it
        if not seen and not _is_ours(recorded_at):
            odd.append("recorded_at")
        if odd:
            self._tell(
                "event.time_form", f"{_what(event)} whose {' and '.join(odd)} is not UTC with milliseconds"
            )
            return
        if ts > recorded_at and _moment(ts) - _moment(recorded_at) > FAR_AHEAD:
            self._tell(
                "event.time_ahead",
                f"{_what(event)} said to have happened more than a day after it was recorded",
            )
        if recorded_at < self.recorded_at:
            self._tell(
                "event.recorded_back",
                "recorded earlier than the line before it: the machine's clock went back",
            )
        self.recorded_at = recorded_at

    def _tell(self, code: str, message: str, *, info: bool = False) -> None:
        self._findings.tell(
            code,
            message,
            line_no=self._line_no,
            offset=self._offset,
            severity=Severity.INFO if info else None,
        )


_MARK_KINDS: dict[type[FromSource], MarkKind] = {
    SessionStarted: MarkKind.STARTED,
    SessionEnded: MarkKind.ENDED,
    SessionCompacted: MarkKind.COMPACTED,
}


def _by_words(turn: ConversationTurn) -> tuple[str, ...]:
    return "turn", turn.source, turn.source_session_id, str(turn.source_index), turn.actor, turn.text


def _identity_holds(event: FromSource) -> bool:
    """Whether the event_id is what the native record gives; true where that can't be told any more."""
    if isinstance(event, ConversationTurn):
        if not event.source_ref and (not event.text or CUT in event.flags):
            return True  # the whole text was part of the identity, and is not here any more
        return event.event_id == turn_event_id(cast("Turn", event))  # it has all that identity is made of
    kind = _MARK_KINDS.get(type(event))
    if kind is None:
        return True
    return event.event_id == digest_of(
        "session", event.source, event.source_session_id, kind, event.source_ref
    )


def _rewritten(entry: Entry, previous: bytes) -> bytes:
    """The line as the writer would write its values; b"" where it could not."""
    fields = entry.fields
    fields.pop("hash", None)
    try:
        salt = bytes.fromhex(str(fields.pop("salt", "")))
        return chain.seal(fields, entry.event.CONTENT, salt=salt, previous=previous)[0]
    except (ValueError, TypeError):
        return b""


def _is_strict(line: bytes) -> bool:
    """Whether every JSON reader takes the same values from the line."""
    try:
        json.loads(line.decode("utf-8-sig"), object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return False
    return True


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


def _what(event: Recorded) -> str:
    return f"a {named(event_name(event))} event"


def _is_ours(moment: str) -> bool:
    """Whether a moment has the one form of the log."""
    return moment != UNKNOWN and parse_utc(moment) == moment


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
