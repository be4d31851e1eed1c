"""What the log already has, so that capturing twice adds nothing.

A turn is known by its event id; by a copy key, where a session was copied with new record ids; or as one
that a v1.1 tool captured, whose ids hash line numbers and cannot be relied on: those are recognised by
source, session, actor and text, each as often as the old tool wrote it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from conversation_esaa.events import ConversationTurn, Entry, FromSource
from conversation_esaa.later import Later

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from conversation_esaa.events import Unreadable
    from conversation_esaa.log import v1_1
else:  # most logs have no line of the older tool's
    v1_1 = Later("conversation_esaa.log.v1_1")


class Identities(Protocol):
    """The identities of everything in the log, wherever they are kept."""

    def has_id(self, event_id: str) -> bool:
        """Whether an event of this id is in the log."""

    def has_copy_of(self, copy_keys: Sequence[str]) -> bool:
        """Whether one of these copy keys is a known turn's."""

    def has_v1_1(self) -> bool:
        """Whether there are turns that a v1.1 tool captured."""

    def v1_1_count(self, key: v1_1.TurnKey) -> int:
        """How often a v1.1 tool captured this turn."""


class Remembered:
    """The identities of a log, read from it into memory: about 100 bytes an event."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._copy_keys: set[str] = set()
        self._v1_1: Counter[v1_1.TurnKey] = Counter()

    def learn(self, entries: Iterable[Entry | Unreadable], *, roots: Collection[str]) -> None:
        """Take in lines of the log, in log order, each once.

        roots   as for `visible`: of v1.1 lines only those that are shown count. One of another workspace,
                or one that repeats a native record, says nothing about what was captured here.
        """
        for entry in v1_1.visible(entries, roots):
            event = entry.event
            if isinstance(event, FromSource):
                if event.event_id:
                    self._ids.add(event.event_id)
                if isinstance(event, ConversationTurn):
                    self._copy_keys.update(event.copy_keys)
            if key := v1_1.v1_1_turn_keys(entry):
                self._v1_1[key] += 1

    def has_id(self, event_id: str) -> bool:
        """Whether an event of this id is in the log."""
        return event_id in self._ids

    def has_copy_of(self, copy_keys: Sequence[str]) -> bool:
        """Whether one of these copy keys is a known turn's."""
        return not self._copy_keys.isdisjoint(copy_keys)

    def has_v1_1(self) -> bool:
        """Whether there are turns that a v1.1 tool captured."""
        return bool(self._v1_1)

    def v1_1_count(self, key: v1_1.TurnKey) -> int:
        """How often a v1.1 tool captured this turn."""
        return self._v1_1[key]


class Known:
    """Whether the log has a draft already, or the batch that is being put together.

    recognised   native turns that earlier runs recognised as v1.1's: event id → digest of the v1.1 turn.
                 Asked for when the log turns out to have such turns.
    """

    def __init__(self, recognised: Callable[[], Iterable[Mapping[str, str]]] = tuple) -> None:
        self._ids: set[str] = set()
        self._copy_keys: set[str] = set()
        self._recognised_copies: set[str] = set()  # copy keys of turns that only a v1.1 line stands for
        self._recognised: dict[str, str] = {}
        self._met: Counter[str] = Counter()
        self._earlier: Callable[[], Iterable[Mapping[str, str]]] | None = recognised

    def add(self, event: FromSource) -> None:
        """Take in a draft that will be appended."""
        self._ids.add(event.event_id)
        if isinstance(event, ConversationTurn):
            self._copy_keys.update(event.copy_keys)

    def appended(self) -> None:
        """What was added is in the log now, and its identities are there."""
        self._ids.clear()
        self._copy_keys.clear()

    def has(self, draft: FromSource, log: Identities, recognised: dict[str, str]) -> bool:
        """Whether the log has this already.

        recognised   of the draft's file: a v1.1 turn that the draft is the same as is noted there, so that
                     every native turn stands for one v1.1 turn and a further equal one is new.
        """
        if draft.event_id in self._ids or log.has_id(draft.event_id):
            return True
        if not isinstance(draft, ConversationTurn):
            return False
        if draft.copy_keys and (
            not self._copy_keys.isdisjoint(draft.copy_keys)
            or not self._recognised_copies.isdisjoint(draft.copy_keys)
            or log.has_copy_of(draft.copy_keys)
        ):
            return True
        return log.has_v1_1() and self._captured_by_v1_1(draft, log, recognised)

    def _captured_by_v1_1(self, draft: ConversationTurn, log: Identities, recognised: dict[str, str]) -> bool:
        if self._earlier is not None:
            for found in self._earlier():
                for event_id, earlier in found.items():
                    self._recognise(event_id, earlier)
            self._earlier = None
        digest = self._recognised.get(draft.event_id)
        if digest is None:
            key = v1_1.turn_key(draft.source, draft.source_session_id, draft.actor, draft.text)
            digest = f"{key.session}/{key.actor}/{key.text_digest[:16]}"
            if self._met[digest] >= log.v1_1_count(key):
                return False
            self._recognise(draft.event_id, digest)
        recognised[draft.event_id] = digest
        self._recognised_copies.update(draft.copy_keys)
        return True

    def _recognise(self, event_id: str, digest: str) -> None:
        if event_id not in self._recognised:
            self._recognised[event_id] = digest
            self._met[digest] += 1
