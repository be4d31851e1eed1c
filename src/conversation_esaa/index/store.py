"""`index.db`: one SQLite file beside the log, built from it and disposable.

Written only by whoever holds the log's lock, in a transaction of its own after the log is durable; read by
anybody. Rows are there for visible events alone: what belongs to another workspace is not in it.
"""

from __future__ import annotations

import sqlite3
import struct
from typing import TYPE_CHECKING, Any, Self

import msgspec

from conversation_esaa.events import ConversationTurn, Entry, FromSource, Head, TopicCreated, event_name
from conversation_esaa.index import database
from conversation_esaa.later import Later
from conversation_esaa.lookup import IndexUnusable, Published
from conversation_esaa.masking import MARKER
from conversation_esaa.progress import unheard
from conversation_esaa.projections import catalogue
from conversation_esaa.projections.standing import Brief
from conversation_esaa.text import masked, masked_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from conversation_esaa.events import Recorded
    from conversation_esaa.log import v1_1
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.lookup import Keys
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.catalogue import Fold, State
else:  # most logs have no line of the older tool's
    v1_1 = Later("conversation_esaa.log.v1_1")

_BATCH = 2000  # events in one transaction
_BATCH_BYTES = 4_000_000  # of their lines
_FOLD_EVERY = 100_000  # events, at most, that a build folds again when it goes on after an interruption
_PAGE = 64
_MOVING, _TOLD, _CURATED = 0, 1, 2  # the parts of a stored fold
_MARKS = 1 << 20  # places, one byte each, where identities of a first capture are ticked off


def open_for_writing(path: Path) -> Index:
    """The index at `path`, for whoever holds the log's lock; made when missing. Raises IndexUnusable."""
    return database.for_writing(path, Index)


def open_for_reading(path: Path) -> Index | None:
    """The index at `path` as it is; None when there is none that can be used."""
    return database.for_reading(path, Index)


class _Numbers(dict[str, int]):
    """The number of each name that was asked for; `given` finds it, or makes one."""

    def __init__(self, given: Callable[[str], int]) -> None:
        super().__init__()
        self._given = given

    def __missing__(self, name: str) -> int:
        number = self[name] = self._given(name)
        return number


class Index:
    """An open index. What is added is there after `commit`; every method may raise IndexUnusable."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.progress: Progress = unheard
        self._load()

    def _load(self) -> None:
        """What is in the file, as it is now."""
        ask = self._database.execute
        self._version = ask("PRAGMA data_version").fetchone()[0]
        self._names = _Numbers(self._given_number)
        meta = dict(ask("SELECT key, value FROM meta"))
        self.position = Head(
            seq=int(meta.get("seq", 0)), hash=str(meta.get("hash", "")), size=int(meta.get("size", 0))
        )
        self._folded: Fold | None = None
        self._folding: catalogue.Folding | None = None  # in place of it, while it moves on
        self._kept: Fold | None = None  # what is stored
        self._marks: bytearray | None = None  # of all identities, when this process put all of them in
        self._v1_1: bool | None = None  # whether there are turns of a v1.1 tool; None: not looked yet
        self._fingerprint = str(meta.get("fingerprint", ""))
        self._roots = str(meta.get("roots", ""))
        self.unreadable = int(meta.get("unreadable", 0))  # lines that are no event
        self.foreign = int(meta.get("foreign", 0))  # v1.1 lines of another workspace
        self.shadowed = int(meta.get("shadowed", 0))  # v1.1 lines that repeat a native record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back."""
        self._database.close()

    @property
    def folded(self) -> Fold | None:
        """The fold of everything up to `position`, there after `catch_up` and moved on by `add`."""
        if self._folding is not None:
            self._folded, self._folding = catalogue.Fold.of(self._folding.state()), None
        return self._folded

    # --- does it belong to this log? -------------------------------------------------------------------

    def is_of(self, log: EventLog, roots: Collection[str]) -> bool:
        """Whether this was built from the beginning of `log`, for the same workspace. Costs two reads."""
        return self._roots == _roots_text(roots) and log.fingerprint(self.position.size) == self._fingerprint

    def answers_for(self, log: EventLog, head: Head, roots: Collection[str]) -> bool:
        """Whether what this says, and the lines of `log` behind it, are all of it up to `head`."""
        size = self.position.size
        whole = size == head.size or bool(self.position.hash)  # v1.1 lines depend on those before
        return size <= head.size and whole and self.is_of(log, roots)

    def catch_up(self, log: EventLog, roots: Collection[str]) -> None:
        """Take in what the log has beyond this index; begin anew when it is not of this log.

        Call with the log's lock held, and `commit` before it is given back. What takes long is kept by the
        portion, each with the position that it goes to: stopped half-way, it is an index that lags behind,
        and the next call goes on there. Memory, and what waits to be brought into the file: one portion.
        """
        self._begin()
        if self._one("PRAGMA data_version") != (self._version,):
            try:
                self._load()  # another process brought it forward since we looked
            except sqlite3.Error as error:
                raise IndexUnusable(str(error)) from None
        if not self.is_of(log, roots) or (self.position.size and not self.position.hash):
            self._clear(roots)  # while all is v1.1, what is visible depends on all of it
        elif self.folded is None:
            self._folded = self.fold(log, roots, end=self.position.size)
            stored = self._one("SELECT size FROM fold WHERE part = ?", _MOVING)
            self._kept = self._folded if stored == (self.position.size,) else None
        head = log.head()
        if head.size == self.position.size:
            return
        counted = v1_1.Visibility()
        batch: list[Entry] = []
        size = unfolded = 0
        for entry in v1_1.visible(log.entries(self.position.size), roots, counted):
            batch.append(entry)
            size += len(entry.line)
            if len(batch) < _BATCH and size < _BATCH_BYTES:
                continue
            self._insert(batch)
            unfolded += len(batch)
            batch, size = [], 0
            if entry.event.hash:  # nothing behind it depends on what stands before
                self._count(counted)
                end = entry.offset + len(entry.line) + 1
                self._moved(Head(seq=entry.event.seq, hash=entry.event.hash, size=end), log)
                if unfolded >= _FOLD_EVERY and self.folded is not None:
                    self.keep(self.folded)
                    unfolded = 0
                self.commit()
                self._begin()
            self.progress("indexing", entry.offset, head.size)
        self._insert(batch)
        self._count(counted)
        self._moved(head, log)

    def add(self, entries: Sequence[Entry], head: Head, log: EventLog) -> None:
        """Take in what was appended just now, right behind this index's position. Then `commit`."""
        self._insert(entries)
        self._moved(head, log)

    def _begin(self) -> None:
        if not self._database.in_transaction:
            self._do("BEGIN IMMEDIATE")

    def _count(self, counted: v1_1.Visibility) -> None:
        self.unreadable += counted.unreadable
        self.foreign += counted.foreign
        self.shadowed += counted.shadowed
        counted.unreadable = counted.foreign = counted.shadowed = 0

    def commit(self) -> None:
        """Keep what was taken in: after a crash it is there, or not there, never in part."""
        if self._database.in_transaction:
            self._do("COMMIT")

    def keep(self, folded: Fold) -> None:
        """Store the fold of everything up to `position`, for the next command to go on from. Then `commit`."""
        if folded is self._kept:
            return
        self._begin()
        moving, curated = catalogue.parts(folded)
        if self._kept is None or self._kept.curated_seq != folded.curated_seq:
            told, whole = curated()
            self._keep_part(_TOLD, told)
            self._keep_part(_CURATED, whole)
        self._keep_part(_MOVING, moving)
        self._folded = self._kept = folded

    def has_folded(self, state: State) -> bool:
        """Whether the stored fold is `state`, in all its parts; True when there is none. After `catch_up`."""
        if self.folded is None:
            return True
        moving, curated = catalogue.parts(catalogue.Fold.of(state))
        told = catalogue.joined(moving, curated()[0])
        return self.folded.whole() == state and self.folded.brief == told

    def _keep_part(self, part: int, state: Brief | State) -> None:
        row = (part, self.position.size, msgspec.json.encode(state))
        self._do("INSERT OR REPLACE INTO fold VALUES (?, ?, ?)", *row)

    def _clear(self, roots: Collection[str]) -> None:
        for table in ("meta", "name", "fold", "published", "event", "copy_key", "v1_1_turn"):
            self._do(f"DELETE FROM {table}")  # noqa: S608 - names of our own
        self._do("INSERT INTO words (words) VALUES ('delete-all')")
        self._names.clear()
        self._v1_1 = None
        self._marks = bytearray(_MARKS)
        empty = catalogue.Fold.of(catalogue.State())
        self._folded, self._folding, self._kept = empty, None, None
        self.position = Head()
        self.keep(empty)  # where a build goes on that was stopped early
        self.unreadable = self.foreign = self.shadowed = 0
        self._roots = _roots_text(roots)

    def _moved(self, head: Head, log: EventLog) -> None:
        self.position = head
        self._fingerprint = log.fingerprint(head.size)
        values = {
            "seq": head.seq,
            "hash": head.hash,
            "size": head.size,
            "fingerprint": self._fingerprint,
            "roots": self._roots,
            "unreadable": self.unreadable,
            "foreign": self.foreign,
            "shadowed": self.shadowed,
        }
        self._do_all("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    # --- what goes in ----------------------------------------------------------------------------------

    def _insert(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        events = [entry.event for entry in entries]
        ids = [event.event_id for event in events]
        copies = [key for event in events if isinstance(event, ConversationTurn) for key in event.copy_keys]
        if self._marks is not None:
            for identity in (*ids, *copies):
                self._marks[hash(identity) % _MARKS] = 1
        self._fold_forward(entries)
        for entry in entries:
            if entry.event.v == 1 and (key := v1_1.v1_1_turn_keys(entry)):
                self._v1_1 = True
                self._do(
                    "INSERT INTO v1_1_turn VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1",
                    "\0".join(key),
                )
        said = [(entry.offset, words) for entry in entries if (words := _words(entry.event))]
        shown = masked_all([words for _, words in said])
        insert = self._do_all
        insert("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._rows(entries, ids))
        insert(
            "INSERT INTO words (rowid, body) VALUES (?, ?)",
            [(offset, words) for (offset, _), words in zip(said, shown, strict=True)],
        )
        insert("INSERT OR IGNORE INTO copy_key VALUES (?)", [(key,) for key in copies])

    def _fold_forward(self, entries: Sequence[Entry]) -> None:
        if self._folding is None and self._folded is not None:
            if not self._folded.is_whole:
                self._folded = self._folded.forward(entries)
                return
            self._folding = catalogue.Folding(self._folded.whole())
        if self._folding is not None:
            for entry in entries:
                self._folding.take(entry.event)

    def _rows(self, entries: Sequence[Entry], ids: Sequence[str]) -> list[tuple[object, ...]]:
        number = self._names
        rows: list[tuple[object, ...]] = []
        for entry, stored in zip(entries, _stored_ids(ids), strict=True):
            event = entry.event
            source = session = branch = ""
            if isinstance(event, FromSource):
                source, session, branch = event.source, event.source_session_id, event.git_branch
            elif isinstance(event, TopicCreated):
                source = event.source
            keys = (
                number[event_name(event)],
                number[event.agent_id or ""],
                number[source],
                number[event.actor],
                number[session],
                number[branch],
            )
            rows.append((entry.offset, *stored, *keys, event.ts))
        return rows

    def _given_number(self, value: str) -> int:
        stored = masked(value)
        if stored != value:
            return self._names[stored]
        known = self._one("SELECT id FROM name WHERE value = ?", value)
        return int(
            known[0] if known else self._do("INSERT INTO name (value) VALUES (?)", value).lastrowid or 0
        )

    # --- what is known already (capture asks) -----------------------------------------------------------

    def has_id(self, event_id: str) -> bool:
        """Whether an event of this id is in the log."""
        return self._may_have(event_id) and self.offset_of(event_id) is not None

    def has_copy_of(self, copy_keys: Sequence[str]) -> bool:
        """Whether one of these copy keys is a known turn's."""
        return any(
            self._one("SELECT 1 FROM copy_key WHERE key = ?", key) is not None
            for key in copy_keys
            if self._may_have(key)
        )

    def _may_have(self, identity: str) -> bool:
        """False for nearly all that a first capture asks for, at no look into the file."""
        return self._marks is None or bool(self._marks[hash(identity) % _MARKS])

    def has_v1_1(self) -> bool:
        """Whether the log has turns that a v1.1 tool captured."""
        if self._v1_1 is None:
            self._v1_1 = self._one("SELECT 1 FROM v1_1_turn LIMIT 1") is not None
        return self._v1_1

    def v1_1_count(self, key: v1_1.TurnKey) -> int:
        """How often a v1.1 tool captured this turn."""
        found = self._one("SELECT count FROM v1_1_turn WHERE key = ?", "\0".join(key))
        return int(found[0]) if found else 0

    # --- the stored fold -------------------------------------------------------------------------------

    def fold(self, log: EventLog, roots: Collection[str], *, end: int) -> Fold | None:
        """The fold of the log's first `end` bytes, resumed from the one that is stored here.

        None when none is stored that fits. What only curation moves is read when it is asked for, and then
        IndexUnusable may be raised.
        """
        stored = self._all(
            "SELECT size, state FROM fold WHERE part IN (?, ?) AND size <= ? ORDER BY part",
            _MOVING,
            _TOLD,
            min(end, self.position.size),
        )
        if len(stored) != 2:
            return None
        try:
            moving, told = (msgspec.json.decode(blob, type=Brief) for _, blob in stored)
        except (msgspec.DecodeError, ValueError):
            return None
        brief = catalogue.joined(moving, told)
        if brief is None:
            return None
        folded, size = catalogue.Fold(brief, self._completed), int(stored[_MOVING][0])
        if size == end:
            return folded
        tail = (entry for entry in log.entries(size) if entry.offset < end)
        return folded.forward(list(v1_1.visible(tail, roots)))

    def _completed(self, brief: Brief) -> State:
        """The whole value that a brief from here is of."""
        row = self._one("SELECT state FROM fold WHERE part = ?", _CURATED)
        try:
            curated = msgspec.json.decode(row[0], type=catalogue.State) if row else None
        except (msgspec.DecodeError, ValueError) as error:
            raise IndexUnusable(type(error).__name__) from None
        state = catalogue.completed(brief, curated) if curated else None
        if state is None:
            raise IndexUnusable("a part of the fold that is of another one")
        return state

    def published(self) -> Published | None:
        """The read models as they were written last; None when that is not known."""
        row = self._one("SELECT state FROM published")
        try:
            return msgspec.json.decode(row[0], type=Published) if row else None
        except (msgspec.DecodeError, ValueError):
            return None

    def keep_published(self, written: Published) -> None:
        """Remember how they were left, in place of what was before. Then `commit`."""
        self._begin()
        self._do("DELETE FROM published")
        self._do("INSERT INTO published VALUES (?)", msgspec.json.encode(written))

    # --- looking up ------------------------------------------------------------------------------------

    def ids_beginning(self, prefix: str) -> list[str]:
        """At most two event ids that begin with `prefix`, to tell one from several."""
        columns = "SELECT id, id_2, id_3, id_4 FROM event"
        found: list[str] = []
        if bounds := _id_range(prefix.lower()):
            for row in self._do(f"{columns} WHERE id BETWEEN ? AND ?", *bounds):
                if (event_id := _shown_id(row)).startswith(prefix.lower()):
                    found.append(event_id)
                    if len(found) == 2:
                        break
        rows = self._all(
            f"{columns} WHERE typeof(id) = 'text' AND id >= ? AND id < ? LIMIT 2",
            prefix,
            prefix + "\U0010ffff",
        )
        return found + [_shown_id(row) for row in rows]

    def offset_of(self, event_id: str) -> int | None:
        """The byte offset of an event; None when it is not here."""
        found = self._one(
            "SELECT offset FROM event WHERE id = ? AND id_2 IS ? AND id_3 IS ? AND id_4 IS ?",
            *_stored_id(event_id),
        )
        return int(found[0]) if found else None

    def offsets(
        self, keys: Keys, *, newest_first: bool, below: int | None = None, above: int | None = None
    ) -> Iterator[int]:
        """Byte offsets of the events with these keys, and maybe of some more, in log order or against it.

        below, above   only events before, or behind, this offset.

        Costs what is taken: rows are fetched by the page.
        """
        where, parameters = self._condition(keys)
        order, beyond = ("DESC", "<") if newest_first else ("ASC", ">")
        if above is not None:
            where, parameters = f"{where} AND offset > ?", [*parameters, above]
        if below is not None:
            where, parameters = f"{where} AND offset < ?", [*parameters, below]
        page, last = _PAGE, -1
        while True:
            further, more = (f" AND offset {beyond} ?", (last,)) if last >= 0 else ("", ())
            select = f"SELECT offset FROM event WHERE {where}{further}"  # noqa: S608
            rows = self._page(select, [*parameters, *more], keys.agents, f"ORDER BY offset {order}", page)
            yield from (int(row[0]) for row in rows)
            if len(rows) < page:
                return
            last, page = int(rows[-1][0]), min(page * 4, 4096)

    def _page(
        self, select: str, parameters: list[object], agents: Sequence[str], order: str, limit: int
    ) -> list[tuple[Any, ...]]:
        """The first rows of `select`, of these agents where there are any.

        Each way to be of one is asked on its own: that way its index gives the order too, and no more is
        read than the page. Asked at once, all that an agent ever said would be sorted.
        """
        if not agents:
            return self._all(f"{select} {order} LIMIT ?", *parameters, limit)
        ways: list[str] = []
        given: list[object] = []
        for number in self._numbers(agents):
            for way in ("agent = ?", "source = ? AND source <> agent"):
                ways.append(f"SELECT offset FROM ({select} AND {way} {order} LIMIT ?)")  # noqa: S608
                given += [*parameters, number, limit]
        if not ways:
            return []
        return self._all(f"{' UNION '.join(ways)} {order} LIMIT ?", *given, limit)

    def _condition(self, keys: Keys) -> tuple[str, list[object]]:
        """Conditions of our own, but for the agents; every value that a caller gave is a parameter."""
        where: list[str] = ["1"]
        parameters: list[object] = []

        def among(column: str, numbers: Sequence[int]) -> str:
            parameters.extend(numbers)
            return f"{column} IN ({', '.join('?' * len(numbers))})"

        if keys.without_kinds:
            where.append("NOT " + among("kind", self._numbers(keys.without_kinds)))
        if keys.actor:
            where.append(among("actor", self._numbers((keys.actor,))))
        if keys.session:
            where.append(among("session", self._numbers_beginning(keys.session)))
        if keys.branch:
            where.append(among("branch", self._numbers((keys.branch,))))
        if keys.since:
            where.append("ts >= ?")
            parameters.append(keys.since)
        if keys.until:
            where.append("ts < ?")
            parameters.append(keys.until)
        if keys.ids is not None or keys.kinds:
            ids = [_stored_id(event_id)[0] for event_id in sorted(keys.ids or ())]
            parameters.extend(ids)
            named = f"id IN ({', '.join('?' * len(ids))})"
            where.append(f"({named} OR {among('kind', self._numbers(keys.kinds))})")
        return " AND ".join(where), parameters

    def _numbers(self, values: Collection[str]) -> list[int]:
        """Of names that may be there as they are or, where they look like a secret, masked."""
        among = {*values, *map(masked, values)}
        known = self._do(f"SELECT id FROM name WHERE value IN ({', '.join('?' * len(among))})", *among)  # noqa: S608 - marks
        return [int(number) for (number,) in known]

    def _numbers_beginning(self, prefix: str) -> list[int]:
        known = self._do("SELECT value, id FROM name")
        return [int(number) for value, number in known if value.startswith(prefix) or MARKER in value]

    def positions(self) -> Iterator[tuple[int, str]]:
        """Offset and id of every event here, in log order."""
        for offset, *stored in self._do("SELECT offset, id, id_2, id_3, id_4 FROM event ORDER BY offset"):
            yield int(offset), _shown_id(stored)

    def _one(self, statement: str, *parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._do(statement, *parameters).fetchone()
        return row

    def _all(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        return self._do(statement, *parameters).fetchall()

    def _do(self, statement: str, *parameters: object) -> sqlite3.Cursor:
        try:
            return self._database.execute(statement, parameters)
        except sqlite3.Error as error:
            raise IndexUnusable(str(error)) from None

    def _do_all(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        try:
            self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            raise IndexUnusable(str(error)) from None


def _words(event: Recorded) -> str:
    if isinstance(event, ConversationTurn):
        return event.text
    values = (getattr(event, name, "") for name in sorted(event.CONTENT))
    return "\n".join(value for value in values if isinstance(value, str) and value)


_StoredId = tuple[object, object, object, object]


def _stored_id(event_id: str) -> _StoredId:
    """Four numbers for an id of ours; the ids of old lines, which may be anything, as they are."""
    return _stored_ids([event_id])[0]


def _stored_ids(ids: Sequence[str]) -> list[_StoredId]:
    if set(map(len, ids)) == {64}:
        joined = "".join(ids)
        try:
            raw = bytes.fromhex(joined)
        except ValueError:
            raw = b""
        if raw.hex() == joined:
            return list(struct.iter_unpack(">4q", raw))
    if len(ids) == 1:
        return [(ids[0], None, None, None)]
    return [_stored_id(event_id) for event_id in ids]


def _shown_id(stored: Sequence[Any]) -> str:
    return struct.pack(">4q", *stored).hex() if isinstance(stored[0], int) else str(stored[0])


def _id_range(prefix: str) -> tuple[int, int] | None:
    """The least and the greatest first number of an id that begins with this; None for no hexadecimal."""
    try:
        ends = bytes.fromhex(prefix[:16].ljust(16, "0")) + bytes.fromhex(prefix[:16].ljust(16, "f"))
        low, high = struct.unpack(">2q", ends)
    except (ValueError, struct.error):
        return None
    return low, high


def _roots_text(roots: Collection[str]) -> str:
    return "\0".join(sorted(set(roots)))
