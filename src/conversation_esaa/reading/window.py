"""Which entries of the log an answer holds: one pass, and memory for the answer alone."""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import AmbiguousName, ConversationError, UnknownName
from conversation_esaa.events import Entry, Unreadable
from conversation_esaa.ids import EventId
from conversation_esaa.log.v1_1 import Visibility, visible
from conversation_esaa.reading.query import Query, hits, is_turn, matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

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
    log: Lines,
    query: Query,
    *,
    roots: Collection[str],
    state: State | None,
    also: Callable[[Entry], bool] | None = None,
) -> Window:
    """The entries that `query` asks for.

    roots   the paths that were this workspace: v1.1 lines of other ones are not shown.
    state   the fold of the log, when `needs_state(query)`.
    also    one more test that an entry has to pass.

    `last` alone is read backwards from the log's end and costs what it returns; everything else costs one
    pass over the log. `before` the first matching event is an empty window. Raises UnknownName for a topic,
    decision or task that is not there, and NotInSelection when the event of before, after or around does
    not pass the filters.
    """
    passes = matcher(query, state)
    if also:
        filters = passes
        passes = lambda entry: filters(entry) and also(entry)  # noqa: E731
    if query.topic:
        return _ranked(log, query, roots, passes)
    target = query.before or query.after or query.around
    if target:
        return _beside(log, query, roots, passes, target)
    found = _last_backwards(log, query, passes)
    return found or _last_forwards(log, query, roots, passes)


def resolve(log: Lines, prefix: str, *, roots: Collection[str]) -> EventId:
    """The event id that begins with `prefix`: a whole one, or 8 characters or more that fit one event only.

    Raises UnknownName or AmbiguousName. Costs one pass over the log.
    """
    if len(prefix) < SHORTEST_PREFIX:
        raise UnknownName(
            "event",
            prefix,
            hint=f"Give at least {SHORTEST_PREFIX} characters of the id, as `conversation-esaa context` "
            "prints it.",
        )
    wanted = prefix.lower()
    found: set[EventId] = set()
    for entry in visible(log.entries(), roots):
        event_id = entry.event.event_id
        if event_id == prefix:
            return event_id
        if event_id.startswith(wanted):
            found.add(event_id)
    if not found:
        raise UnknownName(
            "event", prefix, hint="`conversation-esaa context` prints the ids of this workspace's events."
        )
    if len(found) > 1:
        raise AmbiguousName(
            f"{prefix!r} begins the ids of {len(found)} events", hint="Give more characters of the id."
        )
    return found.pop()


def newest_turn(log: Lines, *, roots: Collection[str]) -> EventId | None:
    """The id of the turn that was appended last; None when there is none."""
    query = Query(last=1)
    newest = window(log, query, roots=roots, state=None, also=lambda entry: is_turn(entry.event))
    return newest.entries[0].event.event_id if newest.entries else None


def _last_backwards(log: Lines, query: Query, passes: Callable[[Entry], bool]) -> Window | None:
    """None when v1.1 lines were reached: which of those are visible is known only from the front."""
    newest: list[Entry] = []
    result = Window(entries=newest)
    for entry in log.entries_backward():
        if isinstance(entry, Unreadable):
            result.unreadable_lines += 1
        elif entry.event.v == 1:
            return None
        elif passes(entry):
            if len(newest) == query.last:
                result.more_before = True
                break
            newest.append(entry)
    newest.reverse()
    return result


def _matching(
    log: Lines, roots: Collection[str], passes: Callable[[Entry], bool], result: Window
) -> Iterator[Entry]:
    visibility = Visibility()
    for entry in visible(log.entries(), roots, visibility):
        if passes(entry):
            yield entry
    result.unreadable_lines = visibility.unreadable


def _last_forwards(
    log: Lines, query: Query, roots: Collection[str], passes: Callable[[Entry], bool]
) -> Window:
    result = Window(entries=[])
    newest: deque[Entry] = deque(maxlen=query.last)
    count = 0
    for entry in _matching(log, roots, passes, result):
        newest.append(entry)
        count += 1
    result.entries = list(newest)
    result.more_before = count > len(newest)
    return result


def _beside(
    log: Lines,
    query: Query,
    roots: Collection[str],
    passes: Callable[[Entry], bool],
    target: EventId,
) -> Window:
    older = query.window if query.around else query.last if query.before else 0
    newer = query.window if query.around else query.last if query.after else 0
    result = Window(entries=[])
    before: deque[Entry] = deque(maxlen=older)
    after: list[Entry] = []
    seen = 0
    at: Entry | None = None
    for entry in _matching(log, roots, passes, result):
        if at is None and entry.event.event_id == target:
            at = entry
        elif at is None:
            before.append(entry)
            seen += 1
        elif len(after) < newer:
            after.append(entry)
        else:
            result.more_after = True
    if at is None:
        raise NotInSelection(
            f"event {target[:12]} is not among what the other filters leave",
            hint=f"`conversation-esaa show {target[:12]}` shows it; `conversation-esaa context --around "
            f"{target[:12]}` shows its surroundings.",
        )
    result.more_before = seen > len(before) or bool(query.after)
    result.more_after = result.more_after or bool(query.before)
    result.entries = [*before, *([at] if query.around else []), *after]
    return result


def _ranked(log: Lines, query: Query, roots: Collection[str], passes: Callable[[Entry], bool]) -> Window:
    """Most hits first, then the newest, then by id: the best `last` of them."""
    words = query.topic.casefold()
    result = Window(entries=[], ranked=True)
    best: list[tuple[tuple[int, str, _Descending], int, Entry]] = []
    matched = 0
    for order, entry in enumerate(_matching(log, roots, passes, result)):
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
    return result


class _Descending(str):
    """A string that sorts backwards, so that one tuple compares ids upwards and all else downwards."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)
