"""One native session with news: its turns as drafts of events, and its cursor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.agents.storage import storage
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.capture import cursors
from conversation_esaa.capture.cursors import Cursor, Stat
from conversation_esaa.capture.drafts import home_relative, mark_event, turn_event
from conversation_esaa.capture.gate import Gate, Verdict
from conversation_esaa.capture.report import FileProblem, os_words
from conversation_esaa.capture.strange import strangeness
from conversation_esaa.events import FromSource
from conversation_esaa.turn import SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile
    from conversation_esaa.agents.storage import Opened
    from conversation_esaa.capture.report import AgentReport

NAMED = 100  # directories and bad lines that are named per file; of more, the rest are counted
MORE = "(more)"
LONGEST_NAMED = 4_096  # characters of a directory that is named


class Draft(msgspec.Struct, frozen=True):
    """An event that is to be appended, unless the log has it."""

    sort_key: tuple[str, int, int]  # time, file, position in the file: file order holds within a session
    event: FromSource
    session: Session


class Rules(msgspec.Struct, frozen=True):
    """What a run asks of every session."""

    gate: Gate
    user_home: Path
    max_text_characters: int


class Session:
    """A session that is being read. `cursor` is where it was read to, once `finished`."""

    def __init__(
        self,
        module: AgentModule,
        file: SessionFile,
        report: AgentReport,
        rules: Rules,
        *,
        stat: Stat,
        cursor: Cursor | None,
    ) -> None:
        self.module, self.file, self.report, self.rules, self.stat = module, file, report, rules, stat
        self.given = 0  # events of this file that were to be captured
        self.met = 0  # of these, the ones that the log has by now
        self.to_read = cursors.bytes_behind(file, stat, cursor)
        self.cursor = self._fresh_cursor()
        self._source_path = home_relative(file.path, rules.user_home)
        self._previous = cursor
        self._complete = False
        self._lines: Lines | None = None  # while it is read

    @property
    def was_read(self) -> int:
        """Bytes, of `to_read`."""
        if self._complete:
            return self.to_read
        return min(self.to_read, self._lines.offset - self.cursor.offset) if self._lines else 0

    @property
    def finished(self) -> bool:
        """Whether it was read to its end, and all that its cursor stands for is durable."""
        return self._complete and self.met == self.given

    def _fresh_cursor(self) -> Cursor:
        return Cursor(
            agent=self.module.NAME,
            session_id=self.file.session_id,
            stat=self.stat,
            revision=self.file.revision,
        )

    def drafts(self, rank: int) -> Iterator[Draft]:
        """The admitted turns after the cursor, in file order. Raises nothing; problems are reported.

        rank   of this file among those it is merged with.
        """
        try:
            with storage(self.file.kind).opened(self.file) as source:
                yield from self._drafts(source, rank)
        except FileNotFoundError:
            return  # removed between listing and opening: nothing to read, nothing to report
        except OSError as error:
            self.report.problems.append(FileProblem(str(self.file.path), os_words(error)))
        except Exception as error:  # noqa: BLE001 - a record that some reader trips over must not stop the others
            problem = f"{type(error).__name__} while reading it; a defect of this program, please report it"
            self.report.problems.append(FileProblem(str(self.file.path), problem))

    def _drafts(self, source: Opened, rank: int) -> Iterator[Draft]:
        state = self._resumed(source) or self.module.open_session(self.file)
        cursor = self.cursor
        lines = self._lines = Lines(offset=cursor.offset, line_no=cursor.line_no)
        unknown_before = dict(state.unknown)
        latest = ""
        records = source.records(lines, self.module, state)
        for position, item in enumerate(self.module.read(records, state)):
            latest = max(latest, item.said_at)
            if event := self._admitted(item):
                self.given += 1
                yield Draft((latest, rank, position), event, self)
        cursor.session_id = state.session_id or cursor.session_id
        if state.holds_words():  # words are the log's alone: such a file is read again as a whole
            cursor.offset, cursor.line_no, cursor.fingerprint = 0, 0, ""
            cursor.state = msgspec.Raw(b"{}")
        else:
            cursor.offset, cursor.line_no = lines.offset, lines.line_no
            if source.grows:
                cursor.fingerprint = cursors.fingerprint(source.grows, lines.offset)
            cursor.state = msgspec.Raw(cursors.encoded(state))
        self._report_what_was_met(lines, state, unknown_before)
        self._complete = True

    def _report_what_was_met(self, lines: Lines, state: ReaderState, unknown_before: dict[str, int]) -> None:
        self.cursor.bad_lines = [
            *{**dict(self.cursor.bad_lines), **{bad.line_no: bad.reason for bad in lines.bad}}.items()
        ][:NAMED]
        for bad in lines.bad:
            self.report.problems.append(FileProblem(str(self.file.path), bad.reason, bad.line_no))
        for kind, count in state.unknown.items():
            if new := count - unknown_before.get(kind, 0):
                self.report.unknown[kind] = self.report.unknown.get(kind, 0) + new
        if strange := strangeness(state, records=lines.line_no):
            self.report.strange[self.file.key] = strange

    def _resumed(self, source: Opened) -> ReaderState | None:
        """The reader's state at the saved cursor, when what was read then is still what comes before it.

        Works on a copy of the cursor: when reading fails half-way, the saved one is as it was.
        """
        saved = self._previous
        if saved is None or not saved.offset:
            return None
        if source.grows and not _begins_as(source.grows, saved):
            return None
        try:
            state = msgspec.json.decode(saved.state, type=self.module.State)
        except msgspec.DecodeError:  # written by another version of the reader
            return None
        self.cursor = msgspec.structs.replace(
            saved,
            refused=dict(saved.refused),
            recognised=dict(saved.recognised),
            stat=self.stat,
            revision=self.file.revision,
        )
        return state

    def _admitted(self, item: Turn | SessionMark) -> FromSource | None:
        verdict = self.rules.gate.judge(item.cwd)
        if verdict is not Verdict.ADMITTED:
            if isinstance(item, Turn):
                session = item.source_session_id or self.file.path.name
                where = item.cwd or "(no directory recorded)"
                _count(self.report.refused, session)
                _count(self.report.refused_cwds, where)
                _count(self.cursor.refused, where)
            return None
        if isinstance(item, SessionMark):
            return mark_event(item, source_path=self._source_path)
        event = turn_event(item, source_path=self._source_path, max_characters=self.rules.max_text_characters)
        if event is None:
            self.report.private += 1
            self.cursor.private += 1
        return event


def _begins_as(file: BinaryIO, saved: Cursor) -> bool:
    """Whether a file that only grows still begins with what was read of it."""
    if saved.offset > os.fstat(file.fileno()).st_size:
        return False
    return cursors.fingerprint(file, saved.offset) == saved.fingerprint


def _count(counts: dict[str, int], key: str) -> None:
    key = without_surrogates(key)
    if len(key) > LONGEST_NAMED or (key not in counts and len(counts) >= NAMED):
        key = MORE
    counts[key] = counts.get(key, 0) + 1
