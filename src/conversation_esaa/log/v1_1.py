"""Lines of the older tool (v1.1, v1.2): read as they are, never rewritten.

A v1.1 line has no `v`, no position and no hash; its `seq` is its physical line number. What it says is
brought to today's words (agent `claude` is `claude-code`, a moment is UTC, `pre_compact_sync` is a turn);
its bytes stay in `Entry.line`. Everything may be missing: the oldest lines have no id, agent or root.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

import msgspec

from conversation_esaa.canonical import without_surrogates
from conversation_esaa.digests import sha256
from conversation_esaa.events import TYPES, ConversationTurn, Entry, Recorded, UnknownEvent, Unreadable
from conversation_esaa.ids import agent_id
from conversation_esaa.timestamps import parse_utc

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_NAMES = {"pre_compact_sync": "conversation_turn"}
_NOT_IN_V1_1 = {"v", "seq", "recorded_at", "flags", "salt", "content_digest", "hash", "agent_id", "name"}


class TurnKey(NamedTuple):
    """By what capture recognises a turn that a v1.1 tool captured: its ids can't be relied on."""

    source: str
    session: str
    actor: str
    text_digest: str  # SHA-256 of the stripped text, hex


class Visibility(msgspec.Struct):
    """How many lines `visible` left out, and why."""

    foreign: int = 0  # of another workspace
    shadowed: int = 0  # a native record that an earlier line has
    unreadable: int = 0


def read_event(fields: dict[str, Any], *, seq: int) -> Recorded:
    """The event of a v1.1 line. Values of the wrong type count as missing.

    fields   the line's JSON object; its `event` is a name.
    seq      the line's number, from 1; blank and unreadable lines count.
    """
    name = _NAMES.get(fields["event"], fields["event"])
    kind = TYPES.get(name, UnknownEvent)
    readers = _readers(kind)
    known = {key: value for key, read in readers.items() if (value := read(fields.get(key))) is not None}
    known["ts"] = parse_utc(fields.get("ts"))
    if agent := _text(fields.get("agent_id")):
        known["agent_id"] = agent_id(agent)
    if "source" in known:
        known["source"] = agent_id(known["source"])
    if "event_ids" in readers and not known.get("event_ids"):
        known["event_ids"] = _texts(fields.get("linked_event_id")) or ()
    if "topic_ids" in readers:
        known["topic_ids"] = tuple(
            dict.fromkeys([*(known.get("topic_ids") or ()), *(_texts(fields.get("topic_id")) or ())])
        )
    if kind is UnknownEvent:
        known["name"] = without_surrogates(name)
    return kind(v=1, seq=seq, **known)


def visible(
    entries: Iterable[Entry | Unreadable], roots: Collection[str], visibility: Visibility | None = None
) -> Iterator[Entry]:
    """The entries that readers show, in the order given (log order: the first of two equals wins).

    roots        the workspace's paths, now and before, as text. Compared without regard to case, kind
                 of slash and a slash at the end. A v1.1 line without a root is taken for ours.
    visibility   counts what was left out.

    Left out: v1.1 lines of another workspace; v1.1 lines whose source, session, index and actor an
    earlier one has; unreadable lines. Lines of this version pass: capture let only ours in.
    Memory: one tuple per v1.1 turn.
    """
    sight = Sight(roots, visibility)
    for entry in entries:
        if isinstance(entry, Unreadable):
            sight.counted.unreadable += 1
        elif entry.event.v > 1 or sight.shows(entry.event):
            yield entry


class Sight:
    """The rule of `visible`, for whoever asks line by line: every v1.1 line in log order, each once."""

    def __init__(self, roots: Collection[str], visibility: Visibility | None = None) -> None:
        self.counted = visibility if visibility is not None else Visibility()
        self._ours = {_comparable(root) for root in roots}
        self._seen: set[tuple[str, str, int, str]] = set()

    def shows(self, event: Recorded) -> bool:
        """Whether readers show this v1.1 event; what they don't is counted."""
        if event.workspace_root and _comparable(event.workspace_root) not in self._ours:
            self.counted.foreign += 1
            return False
        identity = _native_identity(event)
        if identity in self._seen:
            self.counted.shadowed += 1
            return False
        if identity:
            self._seen.add(identity)
        return True


def v1_1_turn_keys(entry: Entry) -> TurnKey | None:
    """The key of a turn that a v1.1 tool captured; None for every other entry."""
    event = entry.event
    if event.v != 1 or not isinstance(event, ConversationTurn) or not event.source:
        return None
    return turn_key(event.source, event.source_session_id, event.actor, event.text)


def turn_key(source: str, session: str, actor: str, text: str) -> TurnKey:
    """The key that a v1.1 line of this turn would have."""
    stripped = without_surrogates(text).strip()
    return TurnKey(source, session, actor, sha256(stripped.encode()).hexdigest())


def _native_identity(event: Recorded) -> tuple[str, str, int, str] | None:
    if not isinstance(event, ConversationTurn):
        return None
    identity = (event.source, event.source_session_id, event.source_index, event.actor)
    known = event.source and event.source_session_id and event.source_index >= 0 and event.actor
    return identity if known else None


def _comparable(root: str) -> str:
    return root.replace("\\", "/").rstrip("/").casefold()


def _text(value: object) -> str | None:
    return without_surrogates(value) if isinstance(value, str) else None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...] | None:
    """PowerShell writes a list of one as its only item now and then."""
    if isinstance(value, str):
        return (without_surrogates(value),) if value else ()
    if isinstance(value, list):
        return tuple(without_surrogates(item) for item in value if isinstance(item, str))
    return None


def _reader(annotation: Any) -> Any:
    annotation = getattr(annotation, "__supertype__", annotation)
    if annotation is int:
        return _number
    if get_origin(annotation) is tuple or any(get_origin(part) is tuple for part in get_args(annotation)):
        return _texts
    return _text


@cache
def _readers(kind: type[Recorded]) -> dict[str, Any]:
    """How each key of an event is read. Made when the first v1.1 line comes: most logs have none."""
    fields = msgspec.structs.fields(kind)
    return {field.name: _reader(field.type) for field in fields if field.name not in _NOT_IN_V1_1}
