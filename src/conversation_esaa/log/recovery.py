"""What to do with bytes behind the last line feed: a write that a crash or a full disk cut short.

Runs under the lock, before the first append, so that no event is ever glued onto them. Nothing is thrown
away: a line that is whole gets its line feed, everything else is kept in quarantine first and cut second.
Lines that end with a line feed are left alone, whatever they are: the chain goes on from the last chained
line, and `verify` reports them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.log import chain, reader
from conversation_esaa.log.codec import Older, Problem, read_line
from conversation_esaa.log.contract import Recovered

if TYPE_CHECKING:
    from conversation_esaa.log.writer import Medium


def recover(medium: Medium) -> Recovered | None:
    """Mend the end of the log. None when it ends with a line feed or is empty."""
    size = medium.size()
    end = reader.last_line_end(medium, size)
    if end == size:
        return None
    tail = medium.read_at(end, size - end)
    if _is_whole(medium, end, tail):
        medium.extend(b"\n", size=size)
        return Recovered(offset=end, length=len(tail), quarantined="")
    place = medium.set_aside(end, tail)
    medium.cut(end)
    return Recovered(offset=end, length=len(tail), quarantined=place)


def _is_whole(medium: Medium, end: int, tail: bytes) -> bool:
    found = read_line(tail)
    if isinstance(found, Older):
        return True
    if found is None or isinstance(found, Problem):
        return False
    before = reader.head_at(medium, end)
    previous = bytes.fromhex(before.hash) if before.hash else reader.prefix_digest(medium, end)
    return found.seq == before.seq + 1 and chain.continues(tail, found, previous)
