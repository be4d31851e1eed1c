"""The log in memory, for tests and dry runs: same reader, same writer, same recovery, no disk."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from conversation_esaa.errors import LockTimeout
from conversation_esaa.log import reader
from conversation_esaa.log.writer import LogWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from conversation_esaa.events import Entry, Head, Unreadable
    from conversation_esaa.log.contract import Stamp


class InMemoryLog:
    """See `contract.EventLog`. `data` is the log's bytes, `quarantined` what recovery set aside."""

    def __init__(
        self, stamp: Stamp, *, data: bytes = b"", entropy: Callable[[int], bytes] = os.urandom
    ) -> None:
        self.data = bytearray(data)
        self.quarantined: dict[str, bytes] = {}
        self._stamp = stamp
        self._entropy = entropy
        self._lock = threading.Lock()
        self._holder = ""

    def head(self) -> Head:
        """How far the log goes."""
        return reader.head(self)

    def entries(self, start: int = 0) -> Iterator[Entry | Unreadable]:
        """All lines from byte `start` on, oldest first."""
        return reader.entries(self, start)

    def entries_backward(self) -> Iterator[Entry | Unreadable]:
        """All lines, newest first."""
        return reader.entries_backward(self)

    def entry_at(self, offset: int) -> Entry | Unreadable:
        """The line that begins at byte `offset`."""
        return reader.entry_at(self, offset)

    def numbered(self) -> Iterator[tuple[int, Entry | Unreadable]]:
        """All lines with their numbers."""
        return reader.numbered(self)

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """All bytes, some whole lines at a time, with where they begin."""
        return reader.pieces(self)

    def unfinished(self) -> int:
        """Bytes behind the last line."""
        return reader.unfinished(self)

    def prefix_digest(self, size: int) -> bytes:
        """SHA-256 of the first `size` bytes."""
        return reader.prefix_digest(self, size)

    def fingerprint(self, size: int) -> str:
        """What the first `size` bytes are, by their ends; "" when there are fewer."""
        return reader.fingerprint(self, size)

    def writing(self, *, purpose: str, wait_s: float = 10.0) -> AbstractContextManager[LogWriter]:
        """Take the lock, set a torn tail aside, and append."""
        return self._writing(purpose, wait_s)

    @contextlib.contextmanager
    def _writing(self, purpose: str, wait_s: float) -> Iterator[LogWriter]:
        if not self._lock.acquire(timeout=max(wait_s, 0)):
            raise LockTimeout(f"{self._holder} is writing to the log and did not finish within {wait_s:g} s")
        self._holder = f"pid {os.getpid()} ({purpose})"
        writer = None
        try:
            writer = LogWriter(self, self._stamp, entropy=self._entropy)
            yield writer
        finally:
            if writer is not None:
                writer.close()
            self._lock.release()

    def size(self) -> int:
        """Bytes in the log."""
        return len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Some of them."""
        return bytes(self.data[offset : offset + length])

    def extend(self, data: bytes, *, size: int) -> None:
        """Put `data` behind the first `size` bytes."""
        self.data[size:] = data

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes."""
        del self.data[size:]

    def set_aside(self, offset: int, data: bytes) -> str:
        """Keep bytes out of the log."""
        place = f"activity-{offset}"
        self.quarantined[place] = data
        return place
