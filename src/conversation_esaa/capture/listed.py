"""What discovery found of one agent, kept for as long as nothing that it depended on has changed.

Some keep thousands of session files, and their paths do not tell whose they are. Listing them all again because
of one new turn costs more than everything else about that turn. So a run that had to list them writes down what
it found (`run/listed-codex`, a cache that can only cost time): what that depended on, and each session file as it
was when it was read to its end. While the first holds, the next run looks at the second alone, a stat for each.

What was read to its end is known by its cursor: of a session file without one, it says nothing.

A file is bytes between NULs: format, what was found, how many pairs follow, those pairs as in `run/unchanged`, then
path, stat, session id and directory of each session file, and an end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents.registry import MODULES, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.capture import unchanged

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from conversation_esaa.capture.cursors import Stat
    from conversation_esaa.capture.unchanged import Witness

WORTH_IT = 50
"""Session files; fewer are listed as quickly as they are compared."""
MOST_CHANGED = 0.1
"""Of the session files. Where more are not as they were, it is time for a new listing."""

_FORMAT = b"conversation-esaa listed/1"
_END = b"end"
_NOT_SETTLED = b""  # as the stat of a session file: to be looked at each time


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks what."""

    agent: str
    version: str  # of the program
    user_home: str
    roots: tuple[str, ...]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, but for the session files."""

    home: str
    found: bool
    moved: bool
    unlisted: dict[str, int]


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and what there is to look at."""

    found: Found
    paths: list[str]  # all session files
    to_look_at: list[SessionFile]  # those that are not as they were when they were read, in order of path


class _Head(msgspec.Struct, frozen=True):
    asked: Asked
    found: Found


def recall(
    path: Path, asked: Asked, known: Container[str], *, environ: Mapping[str, str], witness: Witness
) -> Listing | None:
    """What is kept in the file `path`, when it is an answer to `asked`, and a listing would still find that.

    known   the session files that have a cursor: only they can have been read to their end.

    Else None. Costs a stat for each directory and each session file; `witness` is told of them, but not of those
    to be looked at. Raises nothing.
    """
    try:
        fields = path.read_bytes().split(b"\0")
        if fields[0] != _FORMAT or fields[-1] != _END:
            return None
        head = msgspec.json.decode(fields[1], type=_Head)
        begin = 3 + 2 * int(fields[2])
        sessions = fields[begin:-1]
        if head.asked != asked or len(sessions) % 4:
            return None
        pairs = list(zip(fields[3:begin:2], fields[4:begin:2], strict=True))
        if not all(unchanged.is_same(key, value, environ) for key, value in pairs):
            return None
        names, stats = sessions[::4], sessions[1::4]
        now = unchanged.contents_now(names)
        paths = list(map(os.fsdecode, names))
        news = [
            at
            for at, (before, present) in enumerate(zip(stats, now, strict=True))
            if before != present or paths[at] not in known
        ]
        if len(news) > MOST_CHANGED * len(names):
            return None
        witness.take_over(pairs)
        for at in news:
            now[at] = _NOT_SETTLED
        witness.take_over_content(names, now)
        to_look_at = [
            SessionFile(
                path=Path(paths[at]),
                session_id=os.fsdecode(sessions[4 * at + 2]),
                cwd=os.fsdecode(sessions[4 * at + 3]),
            )
            for at in news
        ]
        return Listing(found=head.found, paths=paths, to_look_at=to_look_at)
    except (OSError, ValueError, IndexError, msgspec.DecodeError):
        return None


def is_worth_it(agent: str, files: Sequence[SessionFile]) -> bool:
    """Whether these are so many, and all of the kind, that a later run gains by being told.

    Agents of other packages are left out: a new version of theirs may list otherwise.
    """
    return (
        len(files) >= WORTH_IT
        and agent in MODULES
        and all(file.kind is Kind.JSONL and not file.revision and not file.beside for file in files)
    )


def record(
    asked: Asked,
    found: Found,
    files: Sequence[SessionFile],
    settled: Mapping[str, Stat],
    witness: Witness,
) -> bytes | None:
    """What to keep for `recall`; None when it would not be safe.

    settled   by key: the session files that were read to their end, as they were then.
    witness   that took down what the listing depended on.
    """
    if not witness.trusted:
        return None
    pairs = [part for pair in witness.pairs() for part in pair]
    fields = [_FORMAT, msgspec.json.encode(_Head(asked, found)), b"%d" % (len(pairs) // 2), *pairs]
    try:
        for file in files:
            stat = settled.get(file.key)
            seen = _NOT_SETTLED
            if stat is not None and not witness.is_racy(stat.mtime_ns, stat.ctime_ns):
                seen = unchanged.content(stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode)
            fields += (
                os.fsencode(file.path),
                seen,
                os.fsencode(file.session_id),
                os.fsencode(file.cwd),
            )
    except ValueError:  # half a character
        return None
    fields.append(_END)
    kept = b"\0".join(fields)
    return kept if kept.count(b"\0") == len(fields) - 1 else None
