"""The log on disk: `.conversation-esaa/activity.jsonl`."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from conversation_esaa.digests import sha256
from conversation_esaa.errors import LogDamaged, NoWorkspace
from conversation_esaa.log import reader
from conversation_esaa.log.contract import AppendFailed
from conversation_esaa.log.files import (
    make_private_directory,
    open_file,
    read_at,
    sync,
    sync_directory,
    unreadable,
    write_all,
)
from conversation_esaa.log.lock import held
from conversation_esaa.log.writer import LogWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from conversation_esaa.events import Entry, Head, Unreadable
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import Stamp


class FileLog:
    """See `contract.EventLog`. A log that is not there reads as an empty one."""

    def __init__(self, layout: Layout, stamp: Stamp, *, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._layout = layout
        self._path, self._lock = layout.log, layout.write_lock  # made once: putting paths together is dear
        self._stamp = stamp
        self._entropy = entropy

    def head(self) -> Head:
        """How far the log goes."""
        return reader.head(self._source())

    def entries(self, start: int = 0) -> Iterator[Entry | Unreadable]:
        """All lines from byte `start` on, oldest first."""
        return reader.entries(self._source(), start)

    def entries_backward(self) -> Iterator[Entry | Unreadable]:
        """All lines, newest first."""
        return reader.entries_backward(self._source())

    def entry_at(self, offset: int) -> Entry | Unreadable:
        """The line that begins at byte `offset`."""
        return reader.entry_at(self._source(), offset)

    def numbered(self) -> Iterator[tuple[int, Entry | Unreadable]]:
        """All lines with their numbers."""
        return reader.numbered(self._source())

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """All bytes, some whole lines at a time, with where they begin."""
        return reader.pieces(self._source())

    def unfinished(self) -> int:
        """Bytes behind the last line."""
        return reader.unfinished(self._source())

    def prefix_digest(self, size: int) -> bytes:
        """SHA-256 of the first `size` bytes."""
        return reader.prefix_digest(self._source(), size)

    def fingerprint(self, size: int) -> str:
        """What the first `size` bytes are, by their ends; "" when there are fewer. Costs two reads."""
        return reader.fingerprint(self._source(), size)

    def writing(self, *, purpose: str, wait_s: float = 10.0) -> AbstractContextManager[LogWriter]:
        """Take the lock, set a torn tail aside, and append."""
        return self._writing(purpose, wait_s)

    @contextlib.contextmanager
    def _writing(self, purpose: str, wait_s: float) -> Iterator[LogWriter]:
        layout = self._layout
        if not layout.store.is_dir():  # a store that somebody removed does not come back by itself
            raise NoWorkspace(
                f"there is no {layout.store}", hint=f"`conversation-esaa init` in {layout.root} makes one."
            )
        with held(self._lock, purpose=purpose, wait_s=wait_s):
            file = _LogFile(self._path, quarantine=layout.quarantine)
            writer = None
            try:
                writer = LogWriter(file, self._stamp, entropy=self._entropy)
                yield writer
            finally:
                if writer is not None:
                    writer.close()
                file.close()

    def _source(self) -> reader.Source:
        try:
            return _OpenFile(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return _Nothing()
        except OSError as error:
            raise unreadable(self._path, error) from error


class _Nothing:
    """A log that is not there yet."""

    def size(self) -> int:
        return 0

    def read_at(self, offset: int, length: int) -> bytes:  # noqa: ARG002  # the shape of a Source
        return b""


class _OpenFile:
    """A descriptor that is closed with the object, however far an iteration over it went."""

    def __init__(self, path: Path, flags: int) -> None:
        self._path = path
        self._descriptor = -1
        self._descriptor, self._opened = open_file(path, flags)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back; once is enough, twice is fine."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read_at(self, offset: int, length: int) -> bytes:
        try:
            return read_at(self._descriptor, offset, length)
        except OSError as error:
            raise unreadable(self._path, error) from error


class _LogFile(_OpenFile):
    """`writer.Medium` on disk, for whoever holds the lock."""

    def __init__(self, path: Path, *, quarantine: Path) -> None:
        self._quarantine = quarantine
        try:
            super().__init__(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            raise unreadable(path, error) from error

    def extend(self, data: bytes, *, size: int) -> None:
        """One write and one fdatasync; on failure the file is cut back to `size` bytes."""
        self._check_size(size, "Nothing was added.")
        self._check_name()
        try:
            write_all(self._descriptor, data)
            sync(self._descriptor)
        except OSError as error:
            self._undo(size, size + len(data))
            raise AppendFailed(
                f"{self._path}: {error.strerror or type(error).__name__}; the events were not added",
                hint="What was in the log is untouched. `conversation-esaa verify` checks it; free space or mend the modes, then run the command again.",
            ) from error
        except BaseException:  # interrupted: as if it had not begun
            self._undo(size, size + len(data))
            raise
        self._check_size(
            size + len(data), "The events may have been added: look before you repeat the command."
        )
        self._check_name()

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes."""
        try:
            os.ftruncate(self._descriptor, size)
            sync(self._descriptor)
        except OSError as error:
            raise unreadable(self._path, error) from error

    def set_aside(self, offset: int, data: bytes) -> str:
        """A file in quarantine/, named by where the bytes were and what they are; never overwritten."""
        place = self._quarantine / f"activity-{offset}-{sha256(data).hexdigest()[:16]}.torn"
        unfinished = place.with_suffix(".part")
        try:
            make_private_directory(place.parent)
            descriptor, _ = open_file(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                write_all(descriptor, data)
                sync(descriptor)
            finally:
                os.close(descriptor)
            unfinished.replace(place)
            sync_directory(place.parent)
        except OSError as error:
            raise unreadable(place, error) from error
        return str(place)

    def _check_name(self) -> None:
        """What is written here is in the log only if this file is."""
        try:
            named = self._path.stat()
        except OSError:
            named = None
        if named is None or not os.path.samestat(named, self._opened):
            raise LogDamaged(
                f"{self._path} was removed or replaced while it was written to",
                hint="Nothing was added to the log that is there now. Run the command again.",
            )

    def _check_size(self, size: int, outcome: str) -> None:
        """Only the holder of the lock writes. Where that is not so, going on could destroy what is there."""
        there = self.size()
        if there != size:
            raise LogDamaged(
                f"{self._path} has {there} bytes where {size} should be: another program, one that "
                "does not take our lock, writes to it",
                hint=f"{outcome} Stop that program (hooks of an older tool?), then `conversation-esaa verify`.",
            )

    def _undo(self, size: int, attempted: int) -> None:
        with contextlib.suppress(OSError):  # what stays is torn, and the next writer sets it aside
            if size < os.fstat(self._descriptor).st_size <= attempted:
                os.ftruncate(self._descriptor, size)
                sync(self._descriptor)
