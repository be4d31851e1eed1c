"""One run over log and read models: everything that is wrong with them, in one answer.

Reads only, takes no lock, and changes nothing, so it works on a read-only mount. One pass over the log
feeds all checks and the fold that the read models are compared with. Nothing stops it early.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError, LogUnreadable, NoWorkspace
from conversation_esaa.events import VERSION, Entry, Head, Recorded, Unreadable
from conversation_esaa.forensic.findings import Findings, Severity, VerifyReport, named, report
from conversation_esaa.forensic.lines import LineCheck
from conversation_esaa.forensic.read_models import ReadModels
from conversation_esaa.forensic.references import ReferenceCheck
from conversation_esaa.forensic.store import check_cache, check_store
from conversation_esaa.log.chain import Checker
from conversation_esaa.log.contract import PositionLost
from conversation_esaa.log.reader import FOREIGN
from conversation_esaa.log.v1_1 import Visibility, visible
from conversation_esaa.projections import catalogue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from conversation_esaa.ids import EventId
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.projections.catalogue import Resume
    from conversation_esaa.settings import Settings

__all__ = ["VerifyReport", "verify"]


def verify(
    layout: Layout,
    settings: Settings,
    log: EventLog,
    *,
    roots: Collection[str],
    resume: Resume,
    deep: bool = False,
    config_problem: ConversationError | None = None,
) -> VerifyReport:
    """Everything that is wrong with the workspace of `layout`.

    roots            every path that is or was this workspace, as `Workspace.roots` gives them.
    resume           the shell command that takes a session up again, as the read models print it.
    deep             also write each line anew from its values and compare the bytes.
    config_problem   why config.toml could not be read; `settings` is then `Settings.unset`.

    Raises nothing for what it finds. Costs one pass over the log; memory grows by about 200 bytes an event,
    for the ids.
    """
    findings = Findings()
    if config_problem is not None:
        missing = isinstance(config_problem, NoWorkspace)
        code = "config.missing" if missing else "config.invalid"
        findings.tell(code, config_problem.message, file=layout.config.name)
    check_store(findings, layout, settings)
    run = _Run(findings, log, settings, ReadModels(layout), deep=deep)
    if not os.path.lexists(layout.log):
        findings.tell("log.missing", "is not there")
    try:
        run.read(roots, resume)
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
        self, findings: Findings, log: EventLog, settings: Settings, read_models: ReadModels, *, deep: bool
    ) -> None:
        self.findings, self.log, self.read_models, self.deep = findings, log, read_models, deep
        self.chain = Checker(log.prefix_digest)
        self.lines = LineCheck(findings, workspace_id=settings.workspace_id)
        self.visibility = Visibility()
        self.head = Head()
        self.events = self.older = 0
        self.empty = True  # no line at all
        self.hashes: dict[int, str] = {}  # of the lines that read models name
        self._last: Recorded | None = None  # of the chained lines
        self._end = 0  # behind the last line read
        self._line_no = 0
        self._ids: dict[EventId, int] = {}  # with the number of the line that has it first
        self._hidden: set[EventId] = set()

    def read(self, roots: Collection[str], resume: Resume) -> None:
        """All checks that need the log. Raises LogUnreadable and PositionLost."""
        before = self.log.head()
        torn = self.log.unfinished()
        state = catalogue.fold(self._referring(visible(self._checked(), roots, self.visibility)))
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

    def _checked(self) -> Iterator[Entry | Unreadable]:
        """Every line in order, looked at before it is handed on."""
        for line_no, item in self.log.numbered():
            self._line_no, self.empty = line_no, False
            if isinstance(item, Unreadable):
                self.chain.see(line_no, item)
                self._end = item.offset + item.length + 1
                code = "log.older_tool_line" if item.reason == FOREIGN else "log.unreadable_line"
                self.findings.tell(code, item.reason, line_no=line_no, offset=item.offset)
                yield item
                continue
            self.events += 1
            self._end = item.offset + len(item.line) + 1
            if item.event.v < VERSION:
                yield from self._of_the_older_tool(line_no, item)
            else:
                self._of_this_version(line_no, item)
                yield item

    def _of_this_version(self, line_no: int, entry: Entry) -> None:
        event, previous = entry.event, self.chain.previous
        found = self.chain.see(line_no, entry)
        self._last = event
        damaged = self.lines.chained(line_no, entry, found)
        if self.deep and not damaged:
            self.lines.rewriting(line_no, entry, previous or self.log.prefix_digest(entry.offset))
        if event.seq in self.read_models.stated:
            self.hashes[event.seq] = event.hash
        self._known(line_no, entry)

    def _of_the_older_tool(self, line_no: int, entry: Entry) -> Iterator[Entry]:
        self.older += 1
        self.lines.of_the_older_tool(line_no, entry)
        self._known(line_no, entry)
        foreign, shadowed = self.visibility.foreign, self.visibility.shadowed
        yield entry
        # By now `visible` has judged it, by the rule that all readers go by.
        if self.visibility.foreign > foreign:
            self.findings.tell(
                "workspace.foreign_root",
                "a line of another workspace; it is kept and never shown",
                line_no=line_no,
                offset=entry.offset,
            )
        elif self.visibility.shadowed > shadowed:
            self.findings.tell(
                "event.repeated",
                "repeats a native record that an earlier line has; it is kept and shown once",
                line_no=line_no,
                offset=entry.offset,
            )
        else:
            return
        if self._ids.get(entry.event.event_id) == line_no:
            self._hidden.add(entry.event.event_id)

    def _known(self, line_no: int, entry: Entry) -> None:
        event = entry.event
        if not event.event_id:
            return
        first = self._ids.setdefault(event.event_id, line_no)
        if first != line_no:
            self.findings.tell(
                "identity.duplicate",
                f"has the event_id {named(event.event_id, length=12)} of line {first}",
                line_no=line_no,
                offset=entry.offset,
                severity=None if event.v >= VERSION else Severity.INFO,
            )

    def _referring(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The visible lines, the names in them checked."""
        references = ReferenceCheck(self.findings, known=self._ids, hidden=self._hidden)
        for entry in entries:
            references.see(self._line_no, entry)
            yield entry
