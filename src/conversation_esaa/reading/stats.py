"""Counts, and the economy of reading a handoff instead of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.events import ConversationTurn
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conversation_esaa.events import Entry
    from conversation_esaa.projections.catalogue import State


class AgentStats(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent's logs gave."""

    agent: str
    user_turns: int
    assistant_turns: int
    sessions: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What `stats` shows. Tokens are estimated, on the high side."""

    freshness: Freshness
    events: dict[str, int]  # by event name
    agents: list[AgentStats]
    first_turn: str
    last_turn: str
    characters: int  # of all turns
    conversation_tokens: int  # what reading every turn would take
    handoff_tokens: int
    log_bytes: int


class StatsCount:
    """Counts entries as they pass by on their way to the fold: one pass serves both."""

    def __init__(self) -> None:
        self.characters = 0
        self.tokens = 0
        self.first = self.last = ""

    def counted(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries."""
        for entry in entries:
            if isinstance(entry.event, ConversationTurn):
                self.characters += len(entry.event.text)
                self.tokens += tokens(entry.event.text)
                if ts := entry.event.ts:
                    self.first, self.last = min(self.first or ts, ts), max(self.last, ts)
            yield entry

    def stats(self, state: State, freshness: Freshness, *, handoff_tokens: int, log_bytes: int) -> Stats:
        """What was counted, with what the fold knows."""
        conversation = state.conversation
        return Stats(
            freshness=freshness,
            events=dict(conversation.counts),
            agents=[
                AgentStats(
                    agent=name,
                    user_turns=voice.user_turns,
                    assistant_turns=voice.assistant_turns,
                    sessions=len(voice.session_turns),
                )
                for name, voice in conversation.voices.items()
            ],
            first_turn=self.first,
            last_turn=self.last,
            characters=self.characters,
            conversation_tokens=self.tokens,
            handoff_tokens=handoff_tokens,
            log_bytes=log_bytes,
        )
