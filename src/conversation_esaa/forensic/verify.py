"""One run over log and read models: everything that is wrong with them, in one answer.

Reads only, takes no lock, and changes nothing, so it works on a read-only mount. One pass over the log
feeds all checks and the fold that the read models are compared with. Nothing stops it early.
"""

from __future__ import annotations

import os
from itertools import groupby, islice
from typing import TYPE_CHECKING, cast

from conversation_esaa.errors import ConversationError, LogUnreadable, NoWorkspace
from conversation_esaa.events import VERSION, ConversationTurn, Entry, Head, Recorded, Unreadable
from conversation_esaa.forensic.findings import Findings, VerifyReport, report
from conversation_esaa.forensic.lines import LineCheck
from conversation_esaa.forensic.met import MetIds
from conversation_esaa.forensic.read_models import ReadModels
from conversation_esaa.forensic.references import ReferenceCheck
from conversation_esaa.forensic.store import check_cache, check_store
from conversation_esaa.log.chain import Checker, spelled
from conversation_esaa.log.contract import PositionLost
from conversation_esaa.log.reader import FOREIGN
from conversation_esaa.log.v1_1 import Sight
from conversation_esaa.progress import unheard
from conversation_esaa.projections import catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from conversation_esaa.ids import EventId
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.catalogue import Resume
    from conversation_esaa.settings import Settings

__all__ = ["VerifyReport", "verify"]

BATCH = 64  # lines checked at once: enough to spare steps, few enough to stay in the processor's cache
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
    twice; memory grows by about 70 bytes an event, for the ids.
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
        self.sight = Sight(roots)
        self.progress = progress
        self.head = Head()
        self.events = self.older = 0
        self.empty = True  # no line at all
        self.hashes: dict[int, str] = {}  # of the lines that read models name
        self._met = MetIds()
        self._hidden: set[EventId] = set()
        self._references = ReferenceCheck(findings, known=self._met, hidden=self._hidden)
        self._last: Recorded | None = None  # of the chained lines
        self._end = 0  # behind the last line read

    def read(self, resume: Resume) -> None:
        """All checks that need the log. Raises LogUnreadable and PositionLost."""
        before = self.log.head()
        torn = self.log.unfinished()
        state = catalogue.fold(self._checked(before.size))
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
        self.read_models.check(self.findings, state, self.head, hashes=self.hashes, resume=resume)

    def _checked(self, size: int) -> Iterator[Entry]:
        """The lines that readers show, in order. Every line is looked at before it is handed on."""
        lines = self.log.numbered()
        told_at = 0
        while batch := list(islice(lines, BATCH)):
            for are_turns, run in groupby(batch, _is_turn):
                some = list(run)
                yield from self._turns(some) if are_turns else self._one_by_one(some)
            if self._end >= told_at:
                self.progress("checking the log", self._end, size)
                told_at = self._end + TELL_EVERY
        self.empty = not self._end

    def _turns(self, run: list[tuple[int, Entry | Unreadable]]) -> Iterable[Entry]:
        """Turns that follow each other: checked as a whole, and closely where that says nothing."""
        entries = cast("list[Entry]", [item for _, item in run])
        turns = cast("list[ConversationTurn]", [entry.event for entry in entries])
        as_written = not self.deep or [entry.line for entry in entries] == [spelled(turn) for turn in turns]
        if not (as_written and self.lines.are_plain(turns) and self.chain.see_sealed(entries)):
            return self._one_by_one(run)
        self.lines.recorded_at = turns[-1].recorded_at
        self._met.take_in([turn.event_id for turn in turns])
        self._last, self._end = turns[-1], entries[-1].offset + len(entries[-1].line) + 1
        self.events += len(turns)
        for seq in self.read_models.stated & {*range(turns[0].seq, turns[-1].seq + 1)}:
            self.hashes[seq] = turns[seq - turns[0].seq].hash
        return entries

    def _one_by_one(self, run: list[tuple[int, Entry | Unreadable]]) -> Iterator[Entry]:
        for line_no, item in run:
            if isinstance(item, Unreadable):
                self._unreadable(line_no, item)
                continue
            self.events += 1
            self._end = item.offset + len(item.line) + 1
            if item.event.v >= VERSION:
                self._of_this_version(line_no, item)
            elif not self._of_the_older_tool(line_no, item):
                continue
            self._references.see(line_no, item)
            yield item

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
            self._met.is_new(event.event_id)

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


def _is_turn(numbered: tuple[int, Entry | Unreadable]) -> bool:
    return isinstance(item := numbered[1], Entry) and type(item.event) is ConversationTurn
