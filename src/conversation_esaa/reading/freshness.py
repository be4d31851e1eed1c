"""How fresh an answer is: which log position it was built from, and whether capture had caught up."""

from __future__ import annotations

import msgspec

from conversation_esaa.text import inline


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """Stated by every read surface."""

    seq: int  # the last event the answer knows of
    hash: str  # the chain's head there; "" while no chained line exists
    caught_up: bool  # whether the agents' logs were looked at for this answer
    reason: str = ""  # why not, or what could not be read all the same
    unreadable_lines: int = 0  # lines of the log that are no event

    def words(self) -> str:
        """One line for people and agents."""
        head = f", head {self.hash[:12]}" if self.hash else ""
        reason = inline(self.reason, limit=300)  # it may name a path, and a path may hold anything
        caught = "caught up with the agents' logs" if self.caught_up else f"not caught up: {reason}"
        if self.caught_up and reason:
            caught += f", but {reason}"
        unreadable = ""
        if count := self.unreadable_lines:
            lines = "1 unreadable line" if count == 1 else f"{count} unreadable lines"
            unreadable = f" · {lines}, see `conversation-esaa verify`"
        return f"log position {self.seq}{head} · {caught}{unreadable}"
