"""How much of an answer fits into a number of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.events import Entry
    from conversation_esaa.reading.query import Query
    from conversation_esaa.reading.window import Window


def fit(window: Window, query: Query, *, cost: Callable[[Entry], int], budget: int) -> None:
    """Leave out of `window` what does not fit into `budget`, and count it in `left_out`.

    cost    the tokens that showing one entry takes.

    What is dropped first is what matters least: the worst matches of a ranked answer, the entries farthest
    from `around`, the newest after `after`, else the oldest. At least one entry stays, so that an answer
    never looks empty for want of room.
    """
    entries = window.entries
    order = _importance(window, query)
    room = budget
    kept: set[int] = set()
    for position in order:
        room -= cost(entries[position])
        if room < 0 and kept:
            break
        kept.add(position)
    window.left_out = len(entries) - len(kept)
    if window.left_out:
        window.more_before = window.more_before or 0 not in kept
        window.more_after = window.more_after or (not window.ranked and len(entries) - 1 not in kept)
        window.entries = [entry for position, entry in enumerate(entries) if position in kept]


def _importance(window: Window, query: Query) -> list[int]:
    """Positions in `window.entries`, the most important first."""
    positions = range(len(window.entries))
    if window.ranked or query.after:
        return list(positions)
    if query.around:
        centre = next(i for i in positions if window.entries[i].event.event_id == query.around)
        return sorted(positions, key=lambda position: (abs(position - centre), -position))
    return list(reversed(positions))
