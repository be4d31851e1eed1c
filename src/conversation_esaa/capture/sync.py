"""The capture run: what is new in the agents' logs goes into the event log, each turn once.

    find session files → those with news → records → turns → gate → drafts, merged by time
      → under the log's lock: drop what is known, append, sync to disk → then remember the cursors

Cursors are saved after the events are durable, so a crash costs a second look and never a turn. One file
that cannot be read is reported and never hides another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from conversation_esaa import __version__
from conversation_esaa.agents import listing, plugins
from conversation_esaa.agents.registry import SessionFile, absent, agent, is_there, modules, unlisted
from conversation_esaa.agents.storage import kept_open
from conversation_esaa.capture import cursors, listed
from conversation_esaa.capture.cursors import Cursor, SyncState, look
from conversation_esaa.capture.dedupe import Identities, Known, Remembered
from conversation_esaa.capture.gate import Verdict
from conversation_esaa.capture.listed import Asked, Found
from conversation_esaa.capture.report import AgentReport, FileProblem, SyncReport, os_words
from conversation_esaa.capture.roots import roots_ever, roots_now, workspace_gate
from conversation_esaa.capture.session import MORE, Draft, Rules, Session
from conversation_esaa.capture.unchanged import Witness
from conversation_esaa.errors import ConversationError, LogUnreadable, UnknownName
from conversation_esaa.events import ConversationTurn, Entry, Head
from conversation_esaa.ids import AgentId, agent_id
from conversation_esaa.lookup import IndexUnusable
from conversation_esaa.progress import unheard
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from conversation_esaa.agents.registry import AgentModule
    from conversation_esaa.capture.cursors import Stat
    from conversation_esaa.capture.listed import Listing
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog, Recovered, Writer
    from conversation_esaa.progress import Progress
    from conversation_esaa.settings import Settings

BATCH = 1000  # drafts in one append: one write, one fdatasync
BATCH_CHARACTERS = 4_000_000
TELL_EVERY = 250  # drafts between two words on progress
OPEN_FILES = 100  # sessions merged by time at once; far below any limit on descriptors


class Indexing(Identities, Protocol):
    """An index of the log that capture asks and brings forward. Any method may raise IndexUnusable; then it is given up."""

    def catch_up(self, log: EventLog, roots: Collection[str]) -> None:
        """Take in what the log has and the index has not."""

    def add(self, entries: Sequence[Entry], head: Head, log: EventLog) -> None:
        """Take in what was appended just now."""

    def commit(self) -> None:
        """Keep what was taken in."""


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where the agents' logs are: the two things of the machine that capture depends on."""

    environ: Mapping[str, str]
    user_home: Path


def sync(
    *,
    layout: Layout,
    log: EventLog,
    settings: Settings,
    sources: Sources,
    now: Callable[[], str],
    agents: Sequence[str] = (),
    session: Path | None = None,
    full: bool = False,
    wait_s: float = 10.0,
    index: Callable[[], Indexing | None] = lambda: None,
    witness: Witness | None = None,
    progress: Progress = unheard,
) -> SyncReport:
    """Capture what is new for the workspace of `layout`.

    agents    names; empty means every agent there is, but the excluded ones.
    session   read this native log alone, whatever its stat says.
    full      read every file again from its beginning, for a change that a stat cannot show.
    wait_s    how long to wait for the log's lock, each time it is needed.
    index     opens the log's index; asked only when something may be appended, with the lock held.
    witness   takes down what finding nothing new depends on.
    progress  told how many bytes of the agents' logs were read.

    Raises LockTimeout, and LogUnreadable when the log cannot be written; what was appended before stays
    appended, and the cursors of unfinished files are not moved. So it is when it is interrupted: the next
    run goes on with the files that were not finished. Costs a stat per session file when nothing
    is new, else the new bytes; without an index also one pass over the log to know what it has.
    """
    run = _Run(layout, log, settings, sources, now, wait_s, index, witness)
    chosen = [agent_id(name) for name in agents] or [
        name for name in modules() if name not in set(map(agent_id, settings.capture.exclude_agents))
    ]
    with kept_open():
        streams: list[Session] = []
        for name in chosen:
            streams += run.sessions_with_news(name, only=session, full=full)
        if session and not streams:
            raise ConversationError(
                f"{session} is no session file that {' or '.join(chosen)} would have written for this workspace",
                hint="`conversation-esaa agents` shows where each agent keeps its sessions.",
            )
        # A copy is younger than what it was copied from: of equal moments, the older file's turn comes first.
        streams.sort(key=lambda stream: (stream.stat.mtime_ns, str(stream.file.path)))
        try:
            run.capture(streams, progress)
        except BaseException:
            with suppress(ConversationError):  # what stopped the run is what must be told
                run.save(finished=False)
            raise
        run.save()
        run.keep_listings()
        return run.report()


class _Run:
    """One capture run over one workspace."""

    def __init__(
        self,
        layout: Layout,
        log: EventLog,
        settings: Settings,
        sources: Sources,
        now: Callable[[], str],
        wait_s: float,
        index: Callable[[], Indexing | None],
        witness: Witness | None,
    ) -> None:
        self.layout, self.log, self.settings, self.sources = layout, log, settings, sources
        self.now, self.wait_s, self.open_index, self.witness = now, wait_s, index, witness
        if witness:
            for path in (str(layout.root), *settings.all_roots):  # what `roots_now` looks at
                witness.kind(path)
                witness.real(path)
            for path in plugins.places():  # what `modules` looks at
                witness.content(path)
        self.gate = workspace_gate(layout, settings)
        self.rules = Rules(self.gate, sources.user_home, settings.capture.max_text_characters)
        self.roots = roots_now(layout, settings)
        self.head = log.head()
        self.state = self._trusted_state()
        self.roots_changed = self.state.roots != list(self.roots)
        self.reports: dict[AgentId, AgentReport] = {}
        self.recovered = ""
        self._known: Known | None = None
        self._index: Indexing | None = None
        self._remembered: Remembered | None = None  # in place of an index
        self._remembered_size = 0
        self._changed = False
        self._listed: set[AgentId] = set()
        self._found: set[str] = set()
        self._settled: dict[str, Stat] = {}  # session files that were read to their end, as they were
        self._to_keep: list[_Listed] = []
        self._kept: set[str] = set()  # names in run/, listings among them: of most agents there is none
        with suppress(OSError):
            self._kept.update(os.listdir(layout.run))

    def _trusted_state(self) -> SyncState:
        state = cursors.load(self.layout.sync_state)
        if state is None:
            return SyncState()
        if self.log.fingerprint(state.log_size) != state.log_fingerprint:
            # The log is another one, or went back to an older state: what the cursors say was captured may
            # be gone from it.
            return SyncState()
        return state

    def sessions_with_news(self, name: AgentId, *, only: Path | None, full: bool) -> list[Session]:
        """The sessions of one agent that are to be read."""
        report = self.reports.setdefault(name, AgentReport(agent=name, home=""))
        if name not in modules():
            raise UnknownName("agent", name, known=tuple(modules()))
        if not (only or full or self.roots_changed) and (recalled := self._recalled(name)):
            return self._with_news_of(name, recalled, report)
        part = self.witness.apart() if self.witness else None
        try:
            with listing.witnessed_by(part):
                return self._with_news(name, report, part, only=only, full=full)
        finally:
            if self.witness and part:
                self.witness.include(part)

    def _recalled(self, name: AgentId) -> Listing | None:
        path = self.layout.listed(name)
        if self.witness is None or path.name not in self._kept:
            return None
        return listed.recall(
            path, self._asked(name), self.state.sources, environ=self.sources.environ, witness=self.witness
        )

    def _asked(self, name: AgentId) -> Asked:
        return Asked(
            agent=name,
            version=__version__,
            user_home=str(self.sources.user_home),
            roots=self.roots,
        )

    def _with_news_of(self, name: AgentId, recalled: Listing, report: AgentReport) -> list[Session]:
        """By what was found before: for an agent that did nothing, its module is not even imported."""
        found = recalled.found
        report.home, report.found, report.moved = found.home, found.found, found.moved
        report.sessions = len(recalled.paths)
        self._found.update(recalled.paths)
        streams = [
            stream
            for file in recalled.to_look_at
            if (stream := self._session(agent(name), file, report, again=False))
        ]
        report.unlisted = found.unlisted if streams else {}
        return streams

    def _with_news(
        self, name: AgentId, report: AgentReport, part: Witness | None, *, only: Path | None, full: bool
    ) -> list[Session]:
        environ = _Environment(self.sources.environ, part) if part else self.sources.environ
        if missing := absent(name, environ, self.sources.user_home, self.roots):
            report.home = str(missing)
            self._listed.add(name)
            return []
        try:
            module = agent(name)
            home = module.home(environ, self.sources.user_home)
            report.home, report.found = str(home), is_there(module, home)
            report.moved = home != module.home({}, self.sources.user_home)
            found = list(module.session_files(home, self.roots))
            report.found |= bool(found)
        except OSError as error:
            report.failed = os_words(error)
            return []
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken agent module breaks itself alone
            report.failed = f"{type(error).__name__} while looking for sessions"
            return []
        report.sessions = len(found)
        self._listed.add(name)
        self._found.update(file.key for file in found)
        wanted = only.resolve() if only else None
        streams = []
        for file in found:
            if wanted and file.path.resolve() != wanted:
                continue
            if stream := self._session(module, file, report, again=full or bool(wanted)):
                streams.append(stream)
        # `status` tells what can't be read at any time; a run with nothing new stays cheap.
        tell = bool(streams or not self.state.sources)
        keep = part if not only and listed.is_worth_it(name, found) else None
        if tell or keep:
            try:
                around = unlisted(module, home)
            except Exception as error:  # noqa: BLE001 - what is only told must not stop what is captured
                report.problems.append(FileProblem(str(home), f"{type(error).__name__} while looking around"))
                return streams
            report.unlisted = around if tell else {}
            if keep:
                what = Found(home=str(home), found=report.found, moved=report.moved, unlisted=around)
                self._to_keep.append(_Listed(name, what, found, keep))
        return streams

    def _session(
        self, module: AgentModule, file: SessionFile, report: AgentReport, *, again: bool
    ) -> Session | None:
        try:
            stat = look(file, self.witness)
        except FileNotFoundError:
            return None  # the agent tidied up meanwhile
        except OSError as error:
            report.problems.append(FileProblem(str(file.path), os_words(error)))
            return None
        cursor = self.state.cursor(file.key)
        again = again or (cursor is not None and self._belongs_here_now(cursor))
        if cursor and cursor.is_current(stat, file.revision) and not again:
            self._settled[file.key] = stat
            return None
        report.read += 1
        return Session(module, file, report, self.rules, stat=stat, cursor=None if again else cursor)

    def _belongs_here_now(self, cursor: Cursor) -> bool:
        """Whether something that was refused would be admitted: a worktree joined, the directory moved."""
        return self.roots_changed and any(
            cwd == MORE or self.gate.judge(cwd) is Verdict.ADMITTED for cwd in cursor.refused
        )

    def capture(self, streams: Sequence[Session], progress: Progress) -> None:
        """Append what is new in all of them, and remember how far each was read."""
        done, total = 0, sum(stream.to_read for stream in streams)
        for start in range(0, len(streams), OPEN_FILES):
            if start:
                self.save(finished=False)  # a run that is killed has not read so many files for nothing
            group = streams[start : start + OPEN_FILES]
            drafts = [stream.drafts(rank) for rank, stream in enumerate(group)]
            try:
                self.append_all(_merged(drafts), partial(_tell, progress, group, done, total))
            finally:
                for stream in group:
                    self.remember(stream)
            done += sum(stream.to_read for stream in group)

    def append_all(self, drafts: Iterable[Draft], tell: Callable[[], None]) -> None:
        batch: list[Draft] = []
        characters = 0
        for draft in drafts:
            if len(batch) % TELL_EVERY == 0:
                tell()
            batch.append(draft)
            characters += len(draft.event.text) if isinstance(draft.event, ConversationTurn) else 0
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                self._append(batch)
                batch, characters = [], 0
        self._append(batch)

    def _append(self, batch: list[Draft]) -> None:
        if not batch:
            return
        with self.log.writing(purpose="sync", wait_s=self.wait_s) as writer:
            self.recovered = self.recovered or _recovery_words(writer.recovered)
            known = self._known_now()
            try:
                fresh = self._unknown(batch, known, self._identities())
            except IndexUnusable:
                self._index = None
                known.appended()  # nothing was, so what it noted of this batch is void
                fresh = self._unknown(batch, known, self._identities())
            written = writer.append([draft.event for draft in fresh], recorded_at=self.now())
            known.appended()
            self._take_in(written, writer)
            for draft in fresh:
                draft.session.report.captured += 1
            for draft in batch:
                draft.session.met += 1
            self.head = writer.head

    def _known_now(self) -> Known:
        if self._known is None:
            self._known = Known(self.state.recognised)
            self._index = self.open_index()
        return self._known

    def _unknown(self, batch: list[Draft], known: Known, log: Identities) -> list[Draft]:
        """The drafts that the log has not, each once."""
        fresh: list[Draft] = []
        repeated: list[Draft] = []
        for draft in batch:
            if known.has(draft.event, log, draft.session.cursor.recognised):
                repeated.append(draft)
            else:
                known.add(draft.event)
                fresh.append(draft)
        for draft in repeated:
            draft.session.report.known += isinstance(draft.event, ConversationTurn)
        return fresh

    def _identities(self) -> Identities:
        """What the log has now, other processes' appends included: by its index, else read from it."""
        if self._index is not None:
            try:
                self._index.catch_up(self.log, roots_ever(self.layout, self.settings))
            except IndexUnusable:
                self._index = None
            else:
                return self._index
        if self._remembered is None:
            self._remembered = Remembered()
        self._remembered.learn(
            self.log.entries(self._remembered_size), roots=roots_ever(self.layout, self.settings)
        )
        self._remembered_size = self.log.head().size
        return self._remembered

    def _take_in(self, written: list[Entry], writer: Writer) -> None:
        if self._index is not None:
            try:
                if written:
                    self._index.add(written, writer.head, self.log)
                self._index.commit()
            except IndexUnusable:
                self._index = None

    def save(self, *, finished: bool = True) -> None:
        """Remember the cursors, and forget those of files that are gone. Nothing changed: nothing written.

        finished   False when files are still to be read: then it stays to be done what other roots ask for.
        """
        if finished:
            gone = [key for key in self.state.sources if key not in self._found and self._is_gone(key)]
            for key in gone:
                del self.state.sources[key]
            self._changed |= bool(gone or (self.roots_changed and self.state.sources))
            self.state.roots = list(self.roots)
        if not self._changed:
            return
        self.state.log_size = self.head.size
        self.state.log_fingerprint = self.log.fingerprint(self.head.size)
        try:
            cursors.save(self.layout.sync_state, self.state)
        except OSError as error:
            raise LogUnreadable(
                f"{self.layout.sync_state}: {os_words(error)}",
                hint="Everything captured is safe in the log; the next sync will look at the same files "
                "again. Free space or mend the permissions, then run `conversation-esaa sync`.",
            ) from None

    def keep_listings(self) -> None:
        """Write down what was listed of agents with many sessions. Call after `save`: it stands on the cursors."""
        for each in self._to_keep:
            asked = self._asked(each.agent)
            record = listed.record(asked, each.found, each.files, self._settled, each.witness)
            if record:
                with suppress(OSError):  # only a cache
                    replace_file(self.layout.listed(each.agent), record)

    def _is_gone(self, key: str) -> bool:
        cursor = self.state.cursor(key)
        if cursor is None:
            return True
        if not cursor.revision:
            return not os.path.lexists(key)
        # A session in a database has no path of its own: its agent has to have been asked, and the database.
        return cursor.agent in self._listed and f"{key.rpartition('#')[0]}#" not in self._found

    def remember(self, session: Session) -> None:
        """Move the cursor, when all that it stands for is durable."""
        if session.finished:
            session.cursor.captured += session.met
            self.state.keep(session.file.key, session.cursor)
            self._settled[session.file.key] = session.stat
            self._changed = True

    def report(self) -> SyncReport:
        reports = list(self.reports.values())
        return SyncReport(
            agents=reports,
            captured=sum(report.captured for report in reports),
            head=self.head,
            recovered=self.recovered,
        )


class _Listed(msgspec.Struct, frozen=True):
    """What was listed of one agent in this run."""

    agent: AgentId
    found: Found
    files: list[SessionFile]
    witness: Witness  # of the listing


class _Environment(Mapping[str, str]):
    """The environment, and what was asked of it."""

    def __init__(self, environ: Mapping[str, str], witness: Witness) -> None:
        self._environ, self._witness = environ, witness

    def __getitem__(self, name: str) -> str:
        value = self._environ.get(name)
        self._witness.variable(name, value)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        self._witness.trusted = False  # who walks through all of it may depend on any
        return iter(self._environ)

    def __len__(self) -> int:
        return len(self._environ)


def _merged(drafts: Sequence[Iterator[Draft]]) -> Iterator[Draft]:
    """The drafts of all, in the order of time."""
    if len(drafts) == 1:  # one session has news: what happens most often
        return drafts[0]
    from heapq import merge

    return merge(*drafts, key=lambda draft: draft.sort_key)


def _tell(progress: Progress, group: Sequence[Session], before: int, total: int) -> None:
    progress("capturing", before + sum(stream.was_read for stream in group), total)


def _recovery_words(recovered: Recovered | None) -> str:
    if recovered is None:
        return ""
    if not recovered.quarantined:
        return "the last line was whole and only got its line feed"
    return f"{recovered.length} bytes behind byte {recovered.offset} are kept in {recovered.quarantined}"
