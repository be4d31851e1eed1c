"""What the log already has, so that capturing twice adds nothing.

A turn is known by its event id; by a copy key, where a session was copied with new record ids; or as one
that a v1.1 tool captured, whose ids hash line numbers and cannot be relied on: those are recognised by
source, session, actor and text, each as often as the old tool wrote it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conversation_esaa.events import ConversationTurn, Entry, FromSource
from conversation_esaa.log.v1_1 import TurnKey, turn_key, v1_1_turn_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.capture.cursors import Cursor
    from conversation_esaa.events import Unreadable


class Known:
    """The identities of everything in the log, and of what this run adds.

    Memory: about 100 bytes an event.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._copy_keys: set[str] = set()
        self._v1_1: Counter[TurnKey] = Counter()

    def learn(self, entries: Iterable[Entry | Unreadable]) -> None:
        """Take in lines of the log, in any order, each once."""
        for entry in entries:
            if isinstance(entry, Entry):
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

    def has(self, draft: FromSource, cursor: Cursor) -> bool:
        """Whether the log has this already. Notes in `cursor` which v1.1 turns of its file were met."""
        if draft.event_id in self._ids:
            return True
        if not isinstance(draft, ConversationTurn):
            return False
        if not self._copy_keys.isdisjoint(draft.copy_keys):
            return True
        return bool(self._v1_1) and self._captured_by_v1_1(draft, cursor)

    def _captured_by_v1_1(self, draft: ConversationTurn, cursor: Cursor) -> bool:
        key = turn_key(draft.source, draft.source_session_id, draft.actor, draft.text)
        if key not in self._v1_1:
            return False
        short = f"{key.actor}/{key.text_digest[:16]}"
        met = cursor.v1_1_met.get(short, 0)
        if met >= self._v1_1[key]:
            return False
        cursor.v1_1_met[short] = met + 1
        return True
