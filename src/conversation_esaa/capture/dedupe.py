"""What the log already has, so that capturing twice adds nothing.

A turn is known by its event id; by a copy key, where a session was copied with new record ids; or as one
that a v1.1 tool captured, whose ids hash line numbers and cannot be relied on: those are recognised by
source, session, actor and text, each as often as the old tool wrote it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conversation_esaa.events import ConversationTurn, Entry, FromSource
from conversation_esaa.log.v1_1 import TurnKey, turn_key, v1_1_turn_keys, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from conversation_esaa.events import Unreadable


class Known:
    """The identities of everything in the log, and of what this run adds.

    recognised   native turns that earlier runs recognised as v1.1's: event id → digest of the v1.1 turn.

    Memory: about 100 bytes an event.
    """

    def __init__(self, recognised: Iterable[Mapping[str, str]] = ()) -> None:
        self._ids: set[str] = set()
        self._copy_keys: set[str] = set()
        self._v1_1: Counter[TurnKey] = Counter()
        self._recognised: dict[str, str] = {}
        self._met: Counter[str] = Counter()
        for found in recognised:
            for event_id, digest in found.items():
                self._recognise(event_id, digest)

    def learn(self, entries: Iterable[Entry | Unreadable], *, roots: Collection[str]) -> None:
        """Take in lines of the log, in log order, each once.

        roots   as for `visible`: of v1.1 lines only those that are shown count. One of another workspace,
                or one that repeats a native record, says nothing about what was captured here.
        """
        for entry in visible(entries, roots):
            self.add(entry.event)
            if key := v1_1_turn_keys(entry):
                self._v1_1[key] += 1

    def add(self, event: object) -> None:
        """Take in one event of the log, or one that is about to be."""
        if isinstance(event, FromSource):
            if event.event_id:
                self._ids.add(event.event_id)
            if isinstance(event, ConversationTurn):
                self._copy_keys.update(event.copy_keys)

    def has(self, draft: FromSource, recognised: dict[str, str]) -> bool:
        """Whether the log has this already.

        recognised   of the draft's file: a v1.1 turn that the draft is the same as is noted there, so that
                     every native turn stands for one v1.1 turn and a further equal one is new.
        """
        if draft.event_id in self._ids:
            return True
        if not isinstance(draft, ConversationTurn):
            return False
        if not self._copy_keys.isdisjoint(draft.copy_keys):
            return True
        return bool(self._v1_1) and self._captured_by_v1_1(draft, recognised)

    def _captured_by_v1_1(self, draft: ConversationTurn, recognised: dict[str, str]) -> bool:
        digest = self._recognised.get(draft.event_id)
        if digest is None:
            key = turn_key(draft.source, draft.source_session_id, draft.actor, draft.text)
            digest = f"{key.session}/{key.actor}/{key.text_digest[:16]}"
            if self._met[digest] >= self._v1_1[key]:
                return False
            self._recognise(draft.event_id, digest)
        recognised[draft.event_id] = digest
        self._copy_keys.update(draft.copy_keys)
        return True

    def _recognise(self, event_id: str, digest: str) -> None:
        if event_id not in self._recognised:
            self._recognised[event_id] = digest
            self._met[digest] += 1
