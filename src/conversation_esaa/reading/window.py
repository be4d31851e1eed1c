"""Which entries of the log an answer holds; memory for the answer alone."""

from __future__ import annotations

import heapq
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import AmbiguousName, ConversationError, UnknownName
from conversation_esaa.events import Entry
from conversation_esaa.ids import EventId
from conversation_esaa.reading.query import Query, hits, is_turn, keys_of, matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conversation_esaa.lookup import Keys
    from conversation_esaa.projections.catalogue import State
    from conversation_esaa.reading.prefix import Lines

SHORTEST_PREFIX = 8


class NotInSelection(ConversationError):
    """The event is in the log, but not among what the filters leave."""

    code = "event.not_in_selection"


class Window(msgspec.Struct, kw_only=True):
    """A part of the log, in log order, or best first when it was asked for by topic text."""

    entries: list[Entry]
    ranked: bool = False
    more_before: bool = False  # older entries match too
    more_after: bool = False
    left_out: int = 0  # matching entries of this window that the budget had no room for
    unreadable_lines: int = 0  # met on the way


def window(
    lines: Lines,
    query: Query,
    *,
    state: State | None,
    also: Callable[[Entry], bool] | None = None,
) -> Window:
    """The entries that `query` asks for.

    state   the fold of the whole log, when `needs_state(query)`.
    also    one more test that an entry has to pass.

    With an index this costs what it returns; without one, `last` is read backwards from the log's end and
    everything else costs one pass. A topic text is looked for in everything. `before` the first matching
    event is an empty window. Raises UnknownName for a topic, decision or task that is not there, and
    NotInSelection when the event of before, after or around does not pass the filters.
    """
    passes = matcher(query, state)
    if also:
        filters = passes
        passes = lambda entry: filters(entry) and also(entry)  # noqa: E731
    if query.topic:
        return _ranked(lines, query, passes)
    keys = keys_of(query, state)
    target = query.before or query.after or query.around
    if not target:
        newest = filter(passes, lines.newest_first(keys))
        older, more = _first(newest, query.last)
        result = Window(entries=older[::-1], more_before=more)
    else:
        result = _beside(lines, query, keys, passes, target)
    result.unreadable_lines = lines.seen.unreadable
    return result


def resolve(lines: Lines, prefix: str) -> EventId:
    """The event id that begins with `prefix`: a whole one, or 8 characters or more that fit one event only.

    Raises UnknownName or AmbiguousName.
    """
    if len(prefix) < SHORTEST_PREFIX:
        raise UnknownName(
            "event",
            prefix,
            hint=f"Give at least {SHORTEST_PREFIX} characters of the id, as `conversation-esaa context` "
            "prints it.",
        )
    found = lines.beginning(prefix)
    if not found:
        raise UnknownName(
            "event", prefix, hint="`conversation-esaa context` prints the ids of this workspace's events."
        )
    if len(found) > 1:
        raise AmbiguousName(
            f"{prefix!r} begins the ids of several events", hint="Give more characters of the id."
        )
    return found[0]


def newest_turn(lines: Lines) -> EventId | None:
    """The id of the turn that was appended last; None when there is none."""
    newest = window(lines, Query(last=1), state=None, also=lambda entry: is_turn(entry.event))
    return newest.entries[0].event.event_id if newest.entries else None


def _first(entries: Iterator[Entry], count: int) -> tuple[list[Entry], bool]:
    """The first `count` of them, and whether there are more."""
    taken = list(islice(entries, count + 1))
    return taken[:count], len(taken) > count


def _beside(
    lines: Lines, query: Query, keys: Keys, passes: Callable[[Entry], bool], target: EventId
) -> Window:
    at = lines.entry(target)
    if at is None or not passes(at):
        raise NotInSelection(
            f"event {target[:12]} is not among what the other filters leave",
            hint=f"`conversation-esaa show {target[:12]}` shows it; `conversation-esaa context --around "
            f"{target[:12]}` shows its surroundings.",
        )
    result = Window(entries=[], more_before=bool(query.after), more_after=bool(query.before))
    before: list[Entry] = []
    after: list[Entry] = []
    if not query.after:
        older = filter(passes, lines.newest_first(keys, below=at.offset))
        before, result.more_before = _first(older, query.window if query.around else query.last)
    if not query.before:
        newer = filter(passes, lines.oldest_first(keys, above=at.offset))
        after, result.more_after = _first(newer, query.window if query.around else query.last)
    result.entries = [*reversed(before), *([at] if query.around else []), *after]
    return result


def _ranked(lines: Lines, query: Query, passes: Callable[[Entry], bool]) -> Window:
    """Most hits first, then the newest, then by id: the best `last` of them."""
    words = query.topic.casefold()
    result = Window(entries=[], ranked=True)
    best: list[tuple[tuple[int, str, _Descending], int, Entry]] = []
    matched = 0
    for order, entry in enumerate(filter(passes, lines.entries())):
        if not (score := hits(entry, words)):
            continue
        matched += 1
        item = ((score, entry.event.ts, _Descending(entry.event.event_id)), -order, entry)
        if len(best) < query.last:
            heapq.heappush(best, item)
        else:
            heapq.heappushpop(best, item)
    result.entries = [entry for _, _, entry in sorted(best, key=lambda item: item[:2], reverse=True)]
    result.more_before = matched > len(best)
    result.unreadable_lines = lines.seen.unreadable
    return result


class _Descending(str):
    """A string that sorts backwards, so that one tuple compares ids upwards and all else downwards."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)
