"""The capture run: what is new in the agents' logs goes into the event log, each turn once.

    find session files → those with news → records → turns → gate → drafts, merged by time
      → under the log's lock: drop what is known, append, sync to disk → then remember the cursors

Cursors are saved after the events are durable, so a crash costs a second look and never a turn. One file
that cannot be read is reported and never hides another.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents import jsonl
from conversation_esaa.agents.registry import MODULES, agent, unlisted
from conversation_esaa.capture import cursors
from conversation_esaa.capture.cursors import Cursor, Stat, SyncState
from conversation_esaa.capture.dedupe import Known
from conversation_esaa.capture.gate import Gate, Verdict
from conversation_esaa.errors import ConversationError, LogUnreadable
from conversation_esaa.events import (
    ConversationTurn,
    FromSource,
    Head,
    SessionCompacted,
    SessionEnded,
    SessionStarted,
)
from conversation_esaa.ids import AgentId, agent_id, mark_event_id, turn_event_id
from conversation_esaa.projections.injected import without_injected
from conversation_esaa.text import strip_private, summary
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from conversation_esaa.agents.registry import AgentModule, SessionFile
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.settings import Settings

BATCH = 1000  # drafts in one append: one write, one fdatasync
BATCH_CHARACTERS = 4_000_000
OPEN_FILES = 100  # sessions merged by time at once; far below any limit on descriptors


class FileProblem(msgspec.Struct, frozen=True):
    """A native log, or a part of one, that could not be read."""

    path: str
    problem: str  # what happened; never what the file says
    line_no: int = 0  # from 1; 0 for the whole file


class AgentReport(msgspec.Struct, kw_only=True):
    """One agent's part of a run."""

    agent: str
    home: str
    found: bool = False  # its data directory is there
    sessions: int = 0  # session files that may hold turns of this workspace
    read: int = 0  # of these, the ones with news
    captured: int = 0  # events added
    known: int = 0  # turns that the log had already
    private: int = 0  # turns that were nothing but <private> text
    refused: dict[str, int] = {}  # session id → turns of it that belong to another workspace
    refused_cwds: dict[str, int] = {}
    unknown: dict[str, int] = {}  # record types met now and not understood
    unlisted: dict[str, int] = {}  # what is there and cannot be read: reason → count
    problems: list[FileProblem] = []
    failed: str = ""  # why nothing of this agent was read


class SyncReport(msgspec.Struct, kw_only=True):
    """What a run did."""

    agents: list[AgentReport]
    captured: int = 0
    head: Head = Head()
    recovered: str = ""  # what the log's recovery set aside

    @property
    def partial(self) -> bool:
        """Whether something could not be read."""
        return any(report.failed or report.problems for report in self.agents)


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
) -> SyncReport:
    """Capture what is new for the workspace of `layout`.

    agents    names; empty means every agent there is, but the excluded ones.
    session   read this native log alone, whatever its stat says.
    full      look into every file again, for a change that a stat cannot show.
    wait_s    how long to wait for the log's lock, each time it is needed.

    Raises LockTimeout, and LogUnreadable when the log cannot be written; what was appended before stays
    appended, and the cursors of unfinished files are not moved. Costs a stat per session file when nothing
    is new, else the new bytes, and one pass over the log to know what it has.
    """
    run = _Run(layout, log, settings, sources, now, wait_s)
    chosen = [agent_id(name) for name in agents] or [
        name for name in MODULES if name not in set(map(agent_id, settings.capture.exclude_agents))
    ]
    streams: list[_Session] = []
    for name in chosen:
        streams += run.sessions_with_news(name, only=session, full=full)
    if session and not streams:
        raise ConversationError(
            f"{session} is no session file that {' or '.join(chosen)} would have written for this workspace",
            hint="`conversation-esaa agents` shows where each agent keeps its sessions.",
        )
    streams.sort(key=lambda stream: (stream.stat.mtime_ns, str(stream.file.path)))
    for start in range(0, len(streams), OPEN_FILES):
        group = streams[start : start + OPEN_FILES]
        run.append_all(heapq.merge(*(stream.drafts() for stream in group), key=lambda draft: draft.sort_key))
        for stream in group:
            stream.remember()
    run.save()
    return run.report()


class _Draft(msgspec.Struct, frozen=True):
    sort_key: tuple[str, str, int]  # time, path, position in the file: file order holds within a session
    event: FromSource
    session: _Session


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
    ) -> None:
        self.layout, self.log, self.settings, self.sources = layout, log, settings, sources
        self.now, self.wait_s = now, wait_s
        self.gate = workspace_gate(layout, settings)
        self.state = self._trusted_state()
        self.reports: dict[AgentId, AgentReport] = {}
        self.head = log.head()
        self.recovered = ""
        self._known: Known | None = None
        self._known_size = 0
        self._changed = False

    def _trusted_state(self) -> SyncState:
        state = cursors.load(self.layout.sync_state)
        if state is None:
            return SyncState()
        if cursors.log_fingerprint(self.layout.log, state.log_size) != state.log_fingerprint:
            # The log is another one, or went back to an older state: what the cursors say was captured may
            # be gone from it.
            return SyncState()
        return state

    def sessions_with_news(self, name: AgentId, *, only: Path | None, full: bool) -> list[_Session]:
        report = self.reports.setdefault(name, AgentReport(agent=name, home=""))
        try:
            module = agent(name)
            home = module.home(self.sources.environ, self.sources.user_home)
            report.home, report.found = str(home), home.is_dir()
            found = list(module.session_files(home, roots_now(self.layout, self.settings)))
            report.unlisted = unlisted(module, home)
        except ConversationError:
            raise
        except Exception as error:  # noqa: BLE001 - one broken agent module must not stop the others
            report.failed = f"{type(error).__name__} while looking for sessions"
            return []
        report.sessions = len(found)
        wanted = only.resolve() if only else None
        streams = []
        for file in found:
            if wanted and file.path.resolve() != wanted:
                continue
            if stream := self._session(module, file, report, again=full or bool(wanted)):
                streams.append(stream)
        return streams

    def _session(
        self, module: AgentModule, file: SessionFile, report: AgentReport, *, again: bool
    ) -> _Session | None:
        try:
            stat = Stat.of(file.path.stat())
        except FileNotFoundError:
            return None  # the agent tidied up meanwhile
        except OSError as error:
            report.problems.append(FileProblem(str(file.path), _os_words(error)))
            return None
        cursor = self.state.sources.get(str(file.path))
        if cursor and cursor.stat == stat and not again:
            return None
        report.read += 1
        return _Session(self, module, file, report, stat, None if again else cursor)

    def append_all(self, drafts: Iterable[_Draft]) -> None:
        batch: list[_Draft] = []
        characters = 0
        for draft in drafts:
            batch.append(draft)
            characters += len(draft.event.text) if isinstance(draft.event, ConversationTurn) else 0
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                self._append(batch)
                batch, characters = [], 0
        self._append(batch)

    def _append(self, batch: list[_Draft]) -> None:
        if not batch:
            return
        with self.log.writing(purpose="sync", wait_s=self.wait_s) as writer:
            self.recovered = self.recovered or str(writer.recovered or "")
            known = self._catch_up_with_log()
            fresh = []
            for draft in batch:
                if known.has(draft.event, draft.session.cursor):
                    draft.session.report.known += isinstance(draft.event, ConversationTurn)
                else:
                    known.add(draft.event)
                    fresh.append(draft)
                    draft.session.captured += 1
            written = writer.append([draft.event for draft in fresh], recorded_at=self.now())
            for draft in fresh:
                draft.session.report.captured += 1
            self.head = writer.head
            self._known_size = writer.head.size if written else self._known_size
            self._changed = True

    def _catch_up_with_log(self) -> Known:
        """Other processes may have appended since the last batch."""
        if self._known is None:
            self._known = Known()
        self._known.learn(self.log.entries(self._known_size))
        self._known_size = self.log.head().size
        return self._known

    def save(self) -> None:
        """Remember the cursors, and forget those of files that are gone. Nothing changed: nothing written."""
        gone = [path for path in self.state.sources if not os.path.lexists(path)]
        for path in gone:
            del self.state.sources[path]
        if not (self._changed or gone):
            return
        self.state.log_size = self.head.size
        self.state.log_fingerprint = cursors.log_fingerprint(self.layout.log, self.head.size)
        try:
            cursors.save(self.layout.sync_state, self.state)
        except OSError as error:
            raise LogUnreadable(
                f"{self.layout.sync_state}: {_os_words(error)}",
                hint="Everything captured is safe in the log; the next sync will look at the same files "
                "again. Free space or mend the permissions, then run `conversation-esaa sync`.",
            ) from None

    def remember(self, path: Path, cursor: Cursor) -> None:
        self.state.sources[str(path)] = cursor
        self._changed = True

    def report(self) -> SyncReport:
        reports = list(self.reports.values())
        return SyncReport(
            agents=reports,
            captured=sum(report.captured for report in reports),
            head=self.head,
            recovered=self.recovered,
        )


class _Session:
    """One native log with news: its turns as drafts, and its cursor."""

    def __init__(
        self,
        run: _Run,
        module: AgentModule,
        file: SessionFile,
        report: AgentReport,
        stat: Stat,
        cursor: Cursor | None,
    ) -> None:
        self.run, self.module, self.file, self.report, self.stat = run, module, file, report, stat
        self.previous = cursor
        self.cursor = cursor or self._fresh_cursor()
        self.captured = 0
        self._complete = False

    def _fresh_cursor(self) -> Cursor:
        return Cursor(agent=self.module.NAME, session_id=self.file.session_id, stat=self.stat)

    def drafts(self) -> Iterator[_Draft]:
        """The admitted turns after the cursor, in file order. Raises nothing; problems are reported."""
        try:
            with self.file.path.open("rb") as handle:
                yield from self._drafts(handle)
        except FileNotFoundError:
            return  # removed between listing and opening: nothing to read, nothing to report
        except OSError as error:
            self.report.problems.append(FileProblem(str(self.file.path), _os_words(error)))

    def _drafts(self, handle: Any) -> Iterator[_Draft]:
        self._continue_or_start_again(handle)
        cursor = self.cursor
        lines = jsonl.Lines(offset=cursor.offset, line_no=cursor.line_no)
        try:
            state = msgspec.convert(cursor.state, self.module.State) if cursor.state else None
        except msgspec.ValidationError:  # written by another version of the reader
            self.cursor = cursor = self._fresh_cursor()
            lines, state = jsonl.Lines(), None
        if state is None:
            state = self.module.open_session(self.file)
        unknown_before = dict(state.unknown)
        latest = ""
        for position, item in enumerate(self.module.read(jsonl.read_records(handle, lines), state)):
            latest = max(latest, item.said_at)
            if event := self._admitted(item):
                yield _Draft((latest, str(self.file.path), position), event, self)
        cursor.offset, cursor.line_no = lines.offset, lines.line_no
        cursor.fingerprint = cursors.fingerprint(handle, lines.offset)
        cursor.state = msgspec.to_builtins(state)
        cursor.session_id = state.session_id or cursor.session_id
        cursor.bad_lines = (cursor.bad_lines + [(bad.line_no, bad.reason) for bad in lines.bad])[:100]
        for bad in lines.bad:
            self.report.problems.append(FileProblem(str(self.file.path), bad.reason, bad.line_no))
        for kind, count in state.unknown.items():
            if new := count - unknown_before.get(kind, 0):
                self.report.unknown[kind] = self.report.unknown.get(kind, 0) + new
        self._complete = True

    def _continue_or_start_again(self, handle: Any) -> None:
        cursor = self.cursor
        if cursor.offset > self.stat.size or (
            cursor.offset and cursors.fingerprint(handle, cursor.offset) != cursor.fingerprint
        ):
            self.cursor = self._fresh_cursor()
            self.cursor.captured = cursor.captured

    def _admitted(self, item: Turn | SessionMark) -> FromSource | None:
        verdict = self.run.gate.judge(item.cwd)
        if verdict is not Verdict.ADMITTED:
            if isinstance(item, Turn):
                session = item.source_session_id or self.file.path.name
                where = item.cwd or "(no directory recorded)"
                for counts, key in (
                    (self.report.refused, session),
                    (self.report.refused_cwds, where),
                    (self.cursor.refused, where),
                ):
                    counts[key] = counts.get(key, 0) + 1
            return None
        path = home_relative(self.file.path, self.run.sources.user_home)
        if isinstance(item, SessionMark):
            return mark_event(item, source_path=path)
        event = turn_event(
            item, source_path=path, max_characters=self.run.settings.capture.max_text_characters
        )
        if event is None:
            self.report.private += 1
            self.cursor.private += 1
        return event

    def remember(self) -> None:
        """Move the cursor: what it stands for is durable now."""
        if self._complete:
            self.cursor.stat = self.stat
            self.cursor.captured += self.captured
            self.run.remember(self.file.path, self.cursor)


def turn_event(turn: Turn, *, source_path: str, max_characters: int) -> ConversationTurn | None:
    """The draft of a turn; None when nothing of it may be stored.

    What stands in `<private>` tags, and what we ourselves put into the conversation, is taken out first, so
    that neither words nor identity keep a trace of it.
    """
    flags = []
    text, had_private = strip_private(turn.text)
    if had_private:
        flags.append("private_removed")
    if (cleaned := without_injected(text)) != text:
        text = cleaned
        flags.append("injection_removed")
    if flags:
        text = text.strip()
    if not text.strip():
        return None
    if len(text) > max_characters:
        left_out = len(text) - max_characters
        text = f"{text[:max_characters]}\n[… {left_out} characters left out at capture]"
        flags.append("cut")
    if text is not turn.text:
        turn = msgspec.structs.replace(turn, text=text, copy_keys=() if had_private else turn.copy_keys)
    return ConversationTurn(
        event_id=turn_event_id(turn),
        ts=turn.said_at,
        actor=str(turn.actor),
        agent_id=turn.source,
        flags=tuple(flags if turn.said_at else [*flags, "time_of_capture"]),
        source=turn.source,
        source_session_id=turn.source_session_id,
        source_path=source_path,
        source_ref=turn.source_ref,
        source_index=turn.source_index,
        message_ref=turn.message_ref,
        cwd=turn.cwd,
        git_branch=turn.git_branch,
        git_commit=turn.git_commit,
        model=turn.model,
        agent_version=turn.agent_version,
        copy_keys=turn.copy_keys,
        text=text,
        summary=summary(text),
    )


def mark_event(mark: SessionMark, *, source_path: str) -> FromSource:
    """The draft of a session's start, end or compaction."""
    common = FromSource(
        event_id=mark_event_id(mark),
        ts=mark.said_at,
        actor=str(Actor.SYSTEM),
        agent_id=mark.source,
        source=mark.source,
        source_session_id=mark.source_session_id,
        source_path=source_path,
        source_ref=mark.source_ref,
        cwd=mark.cwd,
        git_branch=mark.git_branch,
        git_commit=mark.git_commit,
        model=mark.model,
        agent_version=mark.agent_version,
    )
    fields = msgspec.structs.asdict(common)
    if mark.kind is MarkKind.STARTED:
        return SessionStarted(**fields, forked_from=mark.forked_from)
    if mark.kind is MarkKind.ENDED:
        return SessionEnded(**fields, trigger=mark.trigger)
    return SessionCompacted(**fields, trigger=mark.trigger)


def workspace_gate(layout: Layout, settings: Settings) -> Gate:
    """The gate of this workspace, asking the real disk about nested workspaces and symbolic links."""
    store = layout.store.name
    return Gate(
        roots_now(layout, settings),
        has_store=lambda path: os.path.isdir(os.path.join(path, store)),
        resolve=lambda path: os.path.realpath(path) if os.path.isabs(path) else path,
    )


def roots_now(layout: Layout, settings: Settings) -> tuple[str, ...]:
    """The paths that mean this workspace today, as text, each once.

    Where it used to be counts only while nothing is there: what took its place is another project, and a
    copied directory is not the original.
    """
    present = (str(layout.root), os.path.realpath(layout.root), *settings.roots)
    earlier = (path for path in (settings.root, *settings.former_roots) if not os.path.isdir(path))
    return tuple(dict.fromkeys((*present, *earlier)))


def home_relative(path: Path, user_home: Path) -> str:
    """`~/…` with forward slashes for what lies below the home directory: no user name in the log."""
    try:
        return "~/" + path.relative_to(user_home).as_posix()
    except ValueError:
        return path.as_posix()


def _os_words(error: OSError) -> str:
    return error.strerror or type(error).__name__
