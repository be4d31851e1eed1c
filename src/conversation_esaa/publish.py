"""Read models to disk: rendered from the log, written only when their bytes differ.

They can be deleted at any time. No fsync: each names the log position it was built from, so one that a
power cut emptied is found out and rebuilt.

Whether a file is as it was written is told by its stat (`FileStat`), as git does it. A stat alone does not show what
was written to a file within one tick of the clock behind us, so a file of ours is dated two seconds back: whoever
writes to it gives it another time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError
from conversation_esaa.lookup import FileStat
from conversation_esaa.replace import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from io import FileIO
    from pathlib import Path

    from conversation_esaa.layout import Layout

DATED_BACK_NS = 2_000_000_000  # more than the coarsest clock of a file system
_PIECE = 65_536  # bytes


class NotPublished(ConversationError):
    """A read model could not be written; the log has everything."""

    code = "project.not_written"


class _Changed(Exception):
    """Somebody wrote to a file while it was copied."""


def differing(layout: Layout, models: Mapping[str, bytes]) -> list[str]:
    """Names of the read models whose file is missing or has other bytes, in the order given."""
    return [name for name, content in models.items() if not holds(layout, name, content)]


def holds(layout: Layout, name: str, content: bytes) -> bool:
    """Whether a read model's file has these bytes."""
    try:
        return layout.read_model(name).read_bytes() == content
    except OSError:
        return False


def is_as_written(layout: Layout, name: str, was: FileStat) -> bool:
    """Whether nobody touched a read model since it was so. Costs a stat."""
    try:
        return _file_stat(layout.read_model(name).lstat()) == was
    except OSError:
        return False


def publish(layout: Layout, name: str, content: bytes) -> FileStat | None:
    """Write one read model, in one step; what it can be told by, None when that is not certain.

    Raises NotPublished; an old file stays whole when a new one cannot be written.
    """
    path = layout.read_model(name)
    try:
        return _written(path, (content,))
    except OSError as error:
        raise NotPublished(
            f"{path}: {error.strerror}",
            hint="The log is safe. Free space or mend the permissions, then run `conversation-esaa project`.",
        ) from None


def moved(
    layout: Layout, name: str, was: FileStat, forward: Callable[[bytes], bytes | None], *, beginning: int
) -> FileStat | None:
    """Write a read model anew that differs in its beginning only; as `publish`.

    was        what a stat told of it when it was written.
    forward    its first bytes → what takes their place; None when that cannot be told.
    beginning  how many bytes those are.

    None also when nothing was written, for it is not as it was, or it could not be read or written.
    """
    path = layout.read_model(name)
    try:
        with path.open("rb", buffering=0) as source:
            first = forward(source.read(beginning)) if _stat_of(source) == was else None
            return _written(path, _copied(first, source, was)) if first else None
    except (OSError, _Changed):
        return None


def _copied(first: bytes, source: FileIO, was: FileStat) -> Iterator[bytes]:
    yield first
    while piece := source.read(_PIECE):
        yield piece
    if _stat_of(source) != was:
        raise _Changed


def _written(path: Path, pieces: Iterable[bytes]) -> FileStat | None:
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)
        file.flush()
        now = os.fstat(file.fileno())
        os.utime(file.name, ns=(now.st_atime_ns, now.st_mtime_ns - DATED_BACK_NS))
        written = _file_stat(os.fstat(file.fileno()))
    found = _file_stat(path.lstat())  # the rename is a change of the inode, so the time of that is another
    is_ours = (found.inode, found.size, found.mtime_ns) == (written.inode, written.size, written.mtime_ns)
    return found if is_ours and written.mtime_ns < now.st_mtime_ns else None


def _stat_of(file: FileIO) -> FileStat:
    return _file_stat(os.fstat(file.fileno()))


def _file_stat(result: os.stat_result) -> FileStat:
    return FileStat(result.st_ino, result.st_size, result.st_mtime_ns, result.st_ctime_ns)
