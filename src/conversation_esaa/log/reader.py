"""Reading a log from any place, in either direction, without a lock.

All functions work on a `Source`: a size and bytes at a position. Only what ends with a line feed counts,
so a reader never sees half a line, with one exception: a v1.1 log whose very last event lacks it.

Lines are told apart by what they are and by what came before:

    v1.1 line, nothing chained before   an event; its seq is its physical line number
    v1.1 line behind a chained line     foreign: the older tool wrote on; reported, never chained
    chained line (v >= 2)               an event; its seq is its own
    blank line                          passed over, but counted as a line
    anything else                       Unreadable
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from conversation_esaa.digests import many, sha256
from conversation_esaa.events import Entry, Head, Recorded, Unreadable
from conversation_esaa.later import Later
from conversation_esaa.log.codec import Older, Problem, read_line
from conversation_esaa.log.contract import PositionLost

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.log import v1_1
else:  # most logs have no line of the older tool's
    v1_1 = Later("conversation_esaa.log.v1_1")

BLOCK = 1 << 18  # bytes read at once, forward: few calls, and they stay in the processor's cache
PIECE = 1 << 16  # bytes that are looked at together: with all that is made of them they stay in that cache
FIRST_BLOCK_BACKWARD = 1 << 13  # the last few lines are mostly what is wanted

SAMPLE = 1024  # bytes at either end that a fingerprint covers; the last line's hash is mostly in it

FOREIGN = "a v1.1 line after v2 lines"


class Source(Protocol):
    """Bytes that only grow."""

    def size(self) -> int:
        """How many there are now."""

    def read_at(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on, fewer only when there are no more."""


def head(source: Source) -> Head:
    """How far the log goes. Reads back to the last chained line, so one pass while all is v1.1."""
    return settled_head(source) or head_at(source, readable_end(source))


def settled_head(source: Source) -> Head | None:
    """How far a log goes that ends with a chained line and its line feed, as nearly all do; else None.

    Costs one read. None also where that line is longer than what is read at once.
    """
    size = source.size()
    start = max(0, size - FIRST_BLOCK_BACKWARD)
    block = _exactly(source, start, size - start)
    begin = block.rfind(b"\n", 0, -1) + 1
    if block[-1:] != b"\n" or (start and not begin):
        return None
    found = read_line(block[begin:-1])
    return Head(seq=found.seq, hash=found.hash, size=size) if isinstance(found, Recorded) else None


def head_at(source: Source, end: int) -> Head:
    """How far the log went when `end` was where reading ended."""
    for offset, line in _lines_backward(source, end):
        found = read_line(line)
        if isinstance(found, Recorded):
            return Head(seq=found.seq, hash=found.hash, size=end)
        if offset == 0:
            return Head(seq=count_lines(source, end), size=end)
    return Head()


def entries(source: Source, start: int = 0) -> Iterator[Entry | Unreadable]:
    """All lines from `start` on, oldest first; the end is settled at the call."""
    end = readable_end(source)
    _check_start(source, start, end)
    return (item for _, item in _forward(source, start, end))


def numbered(source: Source) -> Iterator[tuple[int, Entry | Unreadable]]:
    """As `entries` from the start, each with its physical line number."""
    return _forward(source, 0, readable_end(source))


def pieces(source: Source) -> Iterator[tuple[int, bytes]]:
    """All bytes in pieces of some whole lines, with their offset: unread, for `written` and `Apart`.

    A piece has about PIECE bytes or, where that is longer, one line.
    """
    return _pieces(source, readable_end(source))


def entries_backward(source: Source) -> Iterator[Entry | Unreadable]:
    """All lines, newest first; the end is settled at the call."""
    return _backward(source, readable_end(source))


def entry_at(source: Source, offset: int) -> Entry | Unreadable:
    """The line that begins at `offset`."""
    end = readable_end(source)
    _check_start(source, offset, end)
    for _, found in _forward(source, offset, end, block=FIRST_BLOCK_BACKWARD):
        if found.offset == offset:
            return found
        break
    raise PositionLost(offset)


def prefix_digest(source: Source, size: int) -> bytes:
    """SHA-256 of the first `size` bytes."""
    digest = many()()
    for block in _blocks(source, 0, size):
        digest.update(block)
    return digest.digest()


def fingerprint(source: Source, size: int) -> str:
    """A digest of the first and the last kilobyte of the first `size` bytes; "" when there are fewer."""
    if size > source.size():
        return ""
    digest = sha256(size.to_bytes(8, "big"))
    for start in (0, max(0, size - SAMPLE)):
        digest.update(_exactly(source, start, min(SAMPLE, size)))
    return digest.hexdigest()[:32]


def unfinished(source: Source) -> int:
    """How many bytes lie behind what readers read."""
    return max(0, source.size() - readable_end(source))


def last_line_end(source: Source, end: int) -> int:
    """Behind the last line feed before `end`; 0 when there is none."""
    if end and _exactly(source, end - 1, 1) == b"\n":  # nearly always
        return end
    at, length = end, FIRST_BLOCK_BACKWARD
    while at > 0:
        length = min(length, at)
        found = _exactly(source, at - length, length).rfind(b"\n")
        if found >= 0:
            return at - length + found + 1
        at, length = at - length, BLOCK
    return 0


def readable_end(source: Source) -> int:
    """Up to where readers read: behind the last line feed, or behind a v1.1 event that lacks it."""
    size = source.size()
    end = last_line_end(source, size)
    if end == size or not isinstance(read_line(_exactly(source, end, size - end)), Older):
        return end
    return end if first_chained(source, end) < end else size


def first_chained(source: Source, end: int) -> int:
    """Where the first chained line before `end` begins; `end` when there is none. One pass over v1.1."""
    for offset, line in _lines(source, 0, end):
        found = read_line(line)
        if isinstance(found, Recorded):
            return offset
    return end


def count_lines(source: Source, end: int) -> int:
    """Physical lines before `end`, one without a line feed included."""
    lines, last = 0, b"\n"
    for block in _blocks(source, 0, end):
        lines += block.count(b"\n")
        last = block[-1:]
    return lines + (last != b"\n")


class Apart:
    """Tells lines apart by what they are and by what came before them; fed in order, from `start` on.

    chained   whether a chained line came before; None: looked up when first asked for.
    """

    def __init__(self, source: Source | None = None, start: int = 0) -> None:
        self._source, self._start = source, start
        self._before = 0 if start == 0 else -1  # lines before `start`; counted when first asked for
        self.chained = False if start == 0 else None

    def tell(self, line_no: int, offset: int, line: bytes) -> Entry | Unreadable | None:
        """What the next line is; None for a blank one. `line_no` counts from `start`."""
        found = read_line(line)
        if isinstance(found, Recorded):
            self.chained = True
            return Entry(found, line, offset)
        if found is None:
            return None
        if self._source and self._before < 0:
            self._before = count_lines(self._source, self._start)
        line_no += self._before
        if isinstance(found, Problem):
            return Unreadable(line_no, offset, len(line), found.reason)
        if self._source and self.chained is None:
            self.chained = first_chained(self._source, self._start) < self._start
        if self.chained:
            return Unreadable(line_no, offset, len(line), FOREIGN)
        return Entry(v1_1.read_event(found.fields, seq=line_no), line, offset)


def _forward(
    source: Source, start: int, end: int, *, block: int = BLOCK
) -> Iterator[tuple[int, Entry | Unreadable]]:
    """Numbers are right from the start of the log; from elsewhere only inside what needs them."""
    tell = Apart(source, start).tell
    for line_no, (offset, line) in enumerate(_lines(source, start, end, block=block), 1):
        item = tell(line_no, offset, line)
        if item is not None:
            yield line_no, item


def _backward(source: Source, end: int) -> Iterator[Entry | Unreadable]:
    line_no = -1  # of the line above; -1: not counted yet, which v1.1 lines need
    chain_start = -1
    for offset, line in _lines_backward(source, end):
        if line_no > 0:
            line_no -= 1
        found = read_line(line)
        if found is None:
            continue
        if isinstance(found, Problem):
            yield Unreadable(0, offset, len(line), found.reason)
        elif isinstance(found, Recorded):
            yield Entry(found, line, offset)
        else:
            if chain_start < 0:
                chain_start = first_chained(source, end)
            if offset > chain_start:
                yield Unreadable(0, offset, len(line), FOREIGN)
                continue
            if line_no < 0:
                line_no = count_lines(source, offset) + 1
            yield Entry(v1_1.read_event(found.fields, seq=line_no), line, offset)


def _lines(source: Source, start: int, end: int, *, block: int = BLOCK) -> Iterator[tuple[int, bytes]]:
    offset = start
    begun: list[bytes] = []  # of a line whose end lies further on
    for piece in _blocks(source, start, end, block=block):
        find, at = piece.find, 0
        stop = find(b"\n")
        if begun and stop >= 0:
            line = b"".join((*begun, piece[:stop]))
            begun = []
            yield offset, line
            offset += len(line) + 1
            at = stop + 1
            stop = find(b"\n", at)
        # A line at a time: cut all at once, the first would have left the processor's cache before the last.
        while stop >= 0:
            yield offset, piece[at:stop]
            offset += stop + 1 - at
            at = stop + 1
            stop = find(b"\n", at)
        if at < len(piece):
            begun.append(piece[at:])
    if begun:
        yield offset, b"".join(begun)


def _pieces(source: Source, end: int) -> Iterator[tuple[int, bytes]]:
    offset = 0
    begun: list[bytes] = []  # of a line whose end lies further on
    for block in _blocks(source, 0, end, block=PIECE):
        stop = block.rfind(b"\n") + 1
        if not stop:
            begun.append(block)
            continue
        piece = b"".join((*begun, block[:stop]))
        begun = [block[stop:]]
        yield offset, piece
        offset += len(piece)
    if last := b"".join(begun):
        yield offset, last


def _lines_backward(source: Source, end: int) -> Iterator[tuple[int, bytes]]:
    if end == 0:
        return
    at, length = end, FIRST_BLOCK_BACKWARD
    if _exactly(source, end - 1, 1) == b"\n":
        at -= 1
    rest: list[bytes] = []  # the end of a line whose start lies further up, last piece first
    while at > 0:
        length = min(length, at)
        at -= length
        block, stop = _exactly(source, at, length), length
        while (feed := block.rfind(b"\n", 0, stop)) >= 0:  # a line at a time: mostly the last one is enough
            rest.append(block[feed + 1 : stop])
            yield at + feed + 1, b"".join(reversed(rest))
            rest, stop = [], feed
        rest.append(block[:stop])
        length = min(2 * length, BLOCK)
    yield 0, b"".join(reversed(rest))


def _blocks(source: Source, start: int, end: int, *, block: int = BLOCK) -> Iterator[bytes]:
    for at in range(start, end, block):
        yield _exactly(source, at, min(block, end - at))


def _exactly(source: Source, offset: int, length: int) -> bytes:
    data = source.read_at(offset, length)
    if len(data) < length:  # it became shorter while it was read
        raise PositionLost(offset + len(data))
    return data


def _check_start(source: Source, start: int, end: int) -> None:
    if start in {0, end}:
        return
    if not 0 < start < end:
        raise PositionLost(start)
    around = _exactly(source, start - 1, 2)
    if around[:1] != b"\n" and around[1:] != b"\n":  # the latter: an end that got its line feed later
        raise PositionLost(start)
