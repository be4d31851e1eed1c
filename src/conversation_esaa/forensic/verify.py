"""One run over log and read models: everything that is wrong with them, in one answer.

Reads only, takes no lock, and changes nothing, so it works on a read-only mount. One pass over the log
feeds all checks and the fold that the read models are compared with. Nothing stops it early.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError, LogUnreadable, NoWorkspace
from conversation_esaa.events import VERSION, Head, Unreadable
from conversation_esaa.forensic.findings import Findings, VerifyReport, report
from conversation_esaa.forensic.lines import LineCheck
from conversation_esaa.forensic.met import MetIds
from conversation_esaa.forensic.read_models import ReadModels
from conversation_esaa.forensic.references import ReferenceCheck
from conversation_esaa.forensic.store import check_cache, check_store
from conversation_esaa.log.chain import Checker
from conversation_esaa.log.contract import PositionLost
from conversation_esaa.log.reader import FOREIGN, Apart
from conversation_esaa.log.v1_1 import Sight
from conversation_esaa.log.written import runs
from conversation_esaa.progress import unheard
from conversation_esaa.projections.catalogue import Folding

if TYPE_CHECKING:
    from collections.abc import Collection

    from conversation_esaa.events import ConversationTurn, Entry, Recorded
    from conversation_esaa.ids import EventId
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.catalogue import Resume
    from conversation_esaa.settings import Settings

__all__ = ["VerifyReport", "verify"]

TELL_EVERY = 4_000_000  # bytes of the log between two words on progress: some hundredths of a second


def verify(
    layout: Layout,
    settings: Settings,
    log: EventLog,
    *,
    roots: Collection[str],
    resume: Resume,
    deep: bool = False,
    config_problem: ConversationError | None = None,
    progress: Progress = unheard,
) -> VerifyReport:
    """Everything that is wrong with the workspace of `layout`.

    roots            every path that is or was this workspace, as `Workspace.roots` gives them.
    resume           the shell command that takes a session up again, as the read models print it.
    deep             also write each line anew from its values and compare the bytes.
    config_problem   why config.toml could not be read; `settings` is then `Settings.unset`.
    progress         told how many bytes of the log were read.

    Raises nothing for what it finds. Costs one pass over the log, and a second one where ids are there
    twice; memory grows by about eight bytes an event, for the ids.
    """
    findings = Findings()
    if config_problem is not None:
        missing = isinstance(config_problem, NoWorkspace)
        code = "config.missing" if missing else "config.invalid"
        findings.tell(code, config_problem.message, file=layout.config.name)
    check_store(findings, layout, settings)
    run = _Run(findings, log, settings, ReadModels(layout), roots=roots, deep=deep, progress=progress)
    if not os.path.lexists(layout.log):
        findings.tell("log.missing", "is not there")
    try:
        run.read(resume)
    except PositionLost:
        findings.tell("log.changed", "became shorter while it was read")
    except LogUnreadable as error:
        findings.tell("log.unreadable", error.message)
    else:
        check_cache(findings, layout, log, run.head)
        if run.empty and os.path.lexists(layout.log):
            findings.tell("log.empty", "holds no event, not even that the workspace was set up")
    return report(
        findings,
        events=run.events,
        v1_1_lines=run.older,
        chained=run.chain.chained,
        head=run.head,
        deep=deep,
    )


class _Run:
    """The pass over the log."""

    def __init__(
        self,
        findings: Findings,
        log: EventLog,
        settings: Settings,
        read_models: ReadModels,
        *,
        roots: Collection[str],
        deep: bool,
        progress: Progress,
    ) -> None:
        self.findings, self.log, self.read_models, self.deep = findings, log, read_models, deep
        self.chain = Checker(log.prefix_digest)
        self.lines = LineCheck(findings, workspace_id=settings.workspace_id)
        self.apart = Apart()
        self.sight = Sight(roots)
        self.folding = Folding()
        self.progress = progress
        self.head = Head()
        self.events = self.older = 0
        self.empty = True  # no line at all
        self.hashes: dict[int, str] = {}  # of the lines that read models name
        self._met = MetIds()
        self._hidden: set[EventId] = set()
        self._references = ReferenceCheck(findings, known=self._met, hidden=self._hidden, before=self.folding)
        self._last: Recorded | None = None  # of the chained lines
        self._end = 0  # behind the last line read

    def read(self, resume: Resume) -> None:
        """All checks that need the log. Raises LogUnreadable and PositionLost."""
        before = self.log.head()
        torn = self.log.unfinished()
        self._check(before.size)
        self._met.tell_doubles(self.findings, self.log, end=self._end)
        if self._last is not None:
            self.head = Head(seq=self._last.seq, hash=self._last.hash, size=self._end)
        else:
            self.head = before
            if self.older:
                self.findings.tell(
                    "log.not_chained", f"{self.older} lines of the older tool, not chained yet"
                )
        if torn and self.log.unfinished():  # looked at twice: the first may have been a write going on
            self.findings.tell(
                "log.torn_tail",
                f"{torn} bytes behind the last line feed: a write that was cut short, as by a crash; no damage",
                offset=before.size,
            )
            self.empty = False
        self.read_models.check(
            self.findings, self.folding.state(), self.head, hashes=self.hashes, resume=resume
        )

    def _check(self, size: int) -> None:
        """Look at every line, and fold those that readers show."""
        line_no, told_at = 1, 0
        for begin, piece in self.log.pieces():
            offset = begin
            for lines, turns in runs(piece):
                if not (turns and self._go_by(offset, lines, turns)):
                    self._look_closely(line_no, offset, lines)
                line_no += len(lines)
                offset += sum(map(len, lines))
            if self._end >= told_at:
                self.progress("checking the log", self._end, size)
                told_at = self._end + TELL_EVERY
        self.empty = not self._end

    def _go_by(self, offset: int, lines: list[bytes], turns: list[ConversationTurn]) -> bool:
        """Take in lines that are turns as they were written, when there is nothing to say of any; else none."""
        if not (self.lines.are_plain(turns) and self.chain.see_written(lines, turns)):
            return False
        first, last = turns[0], turns[-1]
        self.lines.recorded_at, self.apart.chained = last.recorded_at, True
        self._met.take_in([turn.event_id for turn in turns])
        self.events += len(turns)
        self.folding.take_turns(turns)
        self._last, self._end = last, offset + sum(map(len, lines))
        for seq in self.read_models.stated:
            if first.seq <= seq <= last.seq:
                self.hashes[seq] = turns[seq - first.seq].hash
        return True

    def _look_closely(self, line_no: int, offset: int, lines: list[bytes]) -> None:
        end = offset
        for number, line in enumerate((line.removesuffix(b"\n") for line in lines), line_no):
            offset, end = end, end + len(line) + 1
            item = self.apart.tell(number, offset, line)
            if item is None:
                continue
            if isinstance(item, Unreadable):
                self._unreadable(number, item)
                continue
            self.events += 1
            self._end = offset + len(line) + 1
            if item.event.v >= VERSION:
                self._of_this_version(number, item)
            elif not self._of_the_older_tool(number, item):
                continue
            self._references.see(number, item)
            self.folding.take(item.event)

    def _unreadable(self, line_no: int, item: Unreadable) -> None:
        self.chain.see(line_no, item)
        self._end = item.offset + item.length + 1
        code = "log.older_tool_line" if item.reason == FOREIGN else "log.unreadable_line"
        self.findings.tell(code, item.reason, line_no=line_no, offset=item.offset)

    def _of_this_version(self, line_no: int, entry: Entry) -> None:
        event, previous = entry.event, self.chain.previous
        damaged = self.lines.chained(line_no, entry, self.chain.see(line_no, entry))
        if self.deep and not damaged:
            self.lines.rewriting(line_no, entry, lambda: previous or self.log.prefix_digest(entry.offset))
        self._last = event
        if event.seq in self.read_models.stated:
            self.hashes[event.seq] = event.hash
        if event.event_id:
            self._met.take_in([event.event_id])

    def _of_the_older_tool(self, line_no: int, entry: Entry) -> bool:
        """Whether readers show it."""
        event = entry.event
        self.older += 1
        self.lines.of_the_older_tool(line_no, entry)
        is_first = bool(event.event_id) and self._met.is_new(event.event_id)
        foreign = self.sight.counted.foreign
        if self.sight.shows(event):
            return True
        if self.sight.counted.foreign > foreign:
            self.findings.tell(
                "workspace.foreign_root",
                "a line of another workspace; it is kept and never shown",
                line_no=line_no,
                offset=entry.offset,
            )
        else:
            self.findings.tell(
                "event.repeated",
                "repeats a native record that an earlier line has; it is kept and shown once",
                line_no=line_no,
                offset=entry.offset,
            )
        if is_first:
            self._hidden.add(event.event_id)
        return False
