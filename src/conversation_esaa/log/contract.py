"""What a log is, whoever keeps it: the door through which every other part reads and writes events.

Two implementations satisfy `EventLog`: `FileLog` on disk and `InMemoryLog` for tests and dry runs. One
suite of tests holds both to what is written here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from conversation_esaa.errors import ConversationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from conversation_esaa.events import Entry, Head, Recorded, Unreadable


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What the writer puts into every draft: where this log is, and on which machine."""

    workspace_root: str
    workspace_id: str
    replica_id: str


class Recovered(msgspec.Struct, frozen=True, kw_only=True):
    """What the writer found behind the last line feed when it took the lock, and did with it."""

    offset: int  # of the first byte behind the last line feed
    length: int  # bytes
    quarantined: str  # where they are now; "" when the line was whole and only got its line feed


class EventLog(Protocol):
    """An append-only sequence of events. Readers take no lock and never wait."""

    def head(self) -> Head:
        """How far the log goes. Reads the tail only, whatever the size; one pass while all is v1.1."""

    def entries(self, start: int = 0) -> Iterator[Entry | Unreadable]:
        """All lines from byte `start` on, oldest first; blank lines are passed over.

        start   where a line begins: 0, an entry's offset, or the `size` of an earlier head.

        What is read is a consistent prefix: up to the last line feed at the time of the call. One last
        line without a line feed counts when it is a whole v1.1 event and nothing is chained yet.
        Raises PositionLost when no line begins at `start`. Memory: one block and its longest line.
        """

    def entries_backward(self) -> Iterator[Entry | Unreadable]:
        """As `entries()`, newest first; stopping early costs only what was read."""

    def entry_at(self, offset: int) -> Entry | Unreadable:
        """The line that begins at byte `offset`. Raises PositionLost when none does."""

    def numbered(self) -> Iterator[tuple[int, Entry | Unreadable]]:
        """As `entries()`, each with its physical line number, from 1: what `chain.check` reads."""

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """The bytes of the same prefix, in pieces of some whole lines, each with its offset: unread.

        For whoever reads all of a large log; `reader.Apart` tells what a line is.
        """

    def unfinished(self) -> int:
        """Bytes behind the last line: a write going on, or one that was cut short. The next writer mends it."""

    def prefix_digest(self, size: int) -> bytes:
        """SHA-256 of the first `size` bytes: what the first chained line commits to. One pass."""

    def fingerprint(self, size: int) -> str:
        """What the first `size` bytes are, by their ends: for caches to know their log again.

        Equal for equal bytes; "" when there are fewer than `size`. Costs two small reads.
        """

    def writing(self, *, purpose: str, wait_s: float = 10.0) -> AbstractContextManager[Writer]:
        """Take the lock, set a torn tail aside, and append.

        purpose   in a word or two, for whoever waits: "sync", "decide".
        wait_s    how long to wait for another writer; 0 asks once.

        Raises LockTimeout, NoWorkspace when the store is not there, LogUnreadable, LogDamaged.
        """


class Writer(Protocol):
    """The right to append, for as long as the context of `writing` lasts."""

    @property
    def head(self) -> Head:
        """How far the log goes now, own appends included."""

    @property
    def recovered(self) -> Recovered | None:
        """What was found behind the last line feed; None when the log ended as it should."""

    def append(self, drafts: Sequence[Recorded], *, recorded_at: str) -> list[Entry]:
        """Write `drafts` behind the log in one piece, durably, and return them as they are now read.

        drafts        events without position and hash. An empty `ts` becomes `recorded_at`; a curated
                      event without `event_id` gets one; the stamp is put in; lone surrogates become
                      U+FFFD and the event is flagged `surrogates_replaced`.
        recorded_at   now, RFC 3339 UTC with milliseconds; it may be earlier than that of the last line.

        All or nothing: after an error the log is as it was. Raises AppendFailed, LogDamaged, BadDraft,
        WriterClosed.
        """


class PositionLost(ConversationError):
    """The log has no line where there was one: it is another log, or a shorter one, than it was."""

    code = "log.position_lost"
    exit_code = 3

    def __init__(self, offset: int) -> None:
        super().__init__(
            f"no line of the log begins at byte {offset}: the log is not the one that this position is from",
            hint="`conversation-esaa project` reads it anew; `conversation-esaa verify` says whether it is whole.",
        )
        self.offset = offset


class AppendFailed(ConversationError):
    """The disk took the events not at all or not whole; the log is as it was before."""

    code = "log.append_failed"


class BadDraft(ConversationError):
    """An event that cannot be written as it is. A mistake of the caller; nothing was written."""

    code = "log.bad_draft"


class WriterClosed(ConversationError):
    """The writer was used after its lock was given back."""

    code = "log.writer_closed"

    def __init__(self) -> None:
        super().__init__("this writer no longer holds the log's lock; nothing was written")
