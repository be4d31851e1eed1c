"""An opened workspace: where its parts are, what its log says, and how both log and read models keep up."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec

from conversation_esaa import __version__
from conversation_esaa.agents import registry
from conversation_esaa.agents.resume import resume_command
from conversation_esaa.capture import unchanged
from conversation_esaa.capture.roots import roots_ever
from conversation_esaa.capture.sync import Sources, sync
from conversation_esaa.capture.unchanged import Witness
from conversation_esaa.errors import ConversationError, LockTimeout, UnknownName, UsageError
from conversation_esaa.establish import open_log, read_settings, settle_move
from conversation_esaa.events import Head
from conversation_esaa.ids import HUMAN, AgentId, EventId, agent_id
from conversation_esaa.later import Later
from conversation_esaa.layout import READ_MODELS, Layout
from conversation_esaa.lookup import IndexUnusable, Published
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.patterns import lazy
from conversation_esaa.progress import unheard, watched
from conversation_esaa.projections import catalogue
from conversation_esaa.publish import differing, holds, is_as_written, moved, publish
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conversation_esaa.capture.report import SyncReport
    from conversation_esaa.events import Entry
    from conversation_esaa.index.store import Index
    from conversation_esaa.log import v1_1
    from conversation_esaa.log.file_log import FileLog
    from conversation_esaa.lookup import FileStat
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.catalogue import Fold, State
    from conversation_esaa.reading import prefix as prefixes
    from conversation_esaa.reading import window as windows
    from conversation_esaa.reading.prefix import Prefix
    from conversation_esaa.settings import Settings
else:  # capture reads nothing back
    v1_1 = Later("conversation_esaa.log.v1_1")
    prefixes = Later("conversation_esaa.reading.prefix")
    windows = Later("conversation_esaa.reading.window")


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """What rebuilding the read models did, or would do."""

    head: Head
    changed: list[str]  # names of read models that were written, or that differ under `check`


T = TypeVar("T")

LAST = "last"  # as an event's name: the newest turn

_AGENT_NAME = lazy(r"[\w.@+-]{1,64}")


def named_agent(name: str) -> AgentId:
    """`name` as an agent is called. Raises UsageError for what no agent could be called.

    Any plain name will do: a curator may be an agent whose logs we cannot read.
    """
    if not _AGENT_NAME.fullmatch(name.strip()):
        raise UsageError(
            f"{name[:80]!r} is no name of an agent",
            hint="Letters, digits and . _ - @ +, at most 64 of them: codex, claude-code, human.",
        )
    return agent_id(name)


class Opened:
    """What every part of `Workspace` stands on."""

    def __init__(
        self,
        root: Path,
        *,
        machine: Machine | None = None,
        lock_wait_s: float = 10.0,
        catch_up: bool = True,
    ) -> None:
        self.root = root
        self.layout = Layout(root)
        self.machine = machine or this_machine()
        self.lock_wait_s = lock_wait_s
        self.catch_up = catch_up
        self.progress: Progress = unheard  # told how far a capture, a rebuild or a check of the log is
        self._index: Index | None = None  # open for writing; used with the log's lock held only

    @property
    def settings(self) -> Settings:
        """What config.toml says now. Raises BadSettings, NoWorkspace, LogUnreadable."""
        return read_settings(self.layout)

    @property
    def log(self) -> FileLog:
        """The event log: `entries()`, `head()` and, under its lock, `writing()`."""
        return open_log(self.layout, self.settings)

    @property
    def roots(self) -> tuple[str, ...]:
        """Every path that is or was this workspace."""
        return roots_ever(self.layout, self.settings)

    def entries(self) -> Iterator[Entry]:
        """Every event that belongs here, oldest first. Lines that cannot be read are passed over."""
        return v1_1.visible(self.log.entries(), self.roots)

    def state(self) -> State:
        """The fold of the whole log: decisions, tasks, topics, goal, conversation.

        Costs what was appended since it was stored in the index; without one, a pass.
        """
        return self._answer(self._now(), lambda lines: lines.fold())

    def event_id(self, given: str) -> EventId:
        """The full id of an event: from a prefix of 8 characters or more, or `last` for the newest turn.

        Raises UnknownName, AmbiguousName.
        """
        return self._answer(self._now(), lambda lines: self._event_id(lines, given))

    def curator(self, given: str = "") -> AgentId:
        """Who curates: the one named, else the agent whose environment this runs in, else a human."""
        return named_agent(given) if given else registry.running(self.machine.environ) or HUMAN

    def _event_id(self, lines: Prefix, given: str) -> EventId:
        if given == LAST:
            turn = windows.newest_turn(lines)
            if turn is None:
                raise UnknownName("event", given, hint="Nothing was captured yet: `conversation-esaa sync`.")
            return turn
        return windows.resolve(lines, given)

    def sync(
        self,
        *,
        agents: Sequence[str] = (),
        session: Path | None = None,
        full: bool = False,
        wait_s: float | None = None,
        project: bool = True,
        answers: Callable[[SyncReport], tuple[str, str]] = lambda _: ("", ""),
    ) -> SyncReport:
        """Capture what the agents' logs have that this log has not, and renew the read models.

        agents    names, for example ("codex",); empty means all.
        session   one native log alone.
        full      look into every file again, whatever its stat says.
        project   False leaves the read models as they are, for a caller that will renew them.
        answers   how the caller says that nothing is new, as text and as JSON: kept, so that it can be said
                  again without another look.
        """
        wait = self.lock_wait_s if wait_s is None else wait_s
        witness = self._witness()
        settle_move(self.layout, self.machine, wait_s=wait)
        try:
            report = self._synced(agents, session, full=full, wait=wait, witness=witness)
            if project:
                self.renew(report.head, wait_s=wait)
        finally:
            self._close_index()
        everything = not (agents or session or full) and project
        if everything and report.nothing_new:
            root, home = str(self.root), str(self.machine.user_home)
            if record := witness.record(answers(report), root=root, home=home, version=__version__):
                with suppress(OSError):  # only a cache
                    replace_file(self.layout.unchanged, record)
        return report

    def _witness(self) -> Witness:
        """Takes down what a run depends on, beginning with our own files."""
        layout = self.layout
        began_ns = int(datetime.fromisoformat(self.machine.now()).timestamp() * 1e9)
        witness = Witness(began_ns=began_ns)
        for path in (layout.config, layout.log, layout.sync_state, *map(layout.read_model, READ_MODELS)):
            witness.content(str(path))
        witness.kind(str(layout.index))
        return witness

    def _synced(
        self,
        agents: Sequence[str],
        session: Path | None,
        *,
        full: bool,
        wait: float,
        witness: Witness,
    ) -> SyncReport:
        return sync(
            layout=self.layout,
            log=self.log,
            settings=self.settings,
            sources=self._sources,
            now=self.machine.now,
            agents=agents,
            session=session,
            full=full,
            wait_s=wait,
            index=self._writable_index,
            witness=witness,
            progress=self.progress,
        )

    def renew(self, head: Head, *, wait_s: float) -> None:
        """Bring the read models forward, if they are not at `head` or beyond."""
        if self._unpublished(head):
            self._renew(wait_s=wait_s)

    def knows(self, event_id: EventId) -> bool:
        """Whether the log has an event of this id. For whoever holds the log's lock and has folded."""
        if self._index is not None:
            with suppress(IndexUnusable):
                return self._index.has_id(event_id)
        return any(entry.event.event_id == event_id for entry in self.entries())

    def project(self, *, check: bool = False, wait_s: float | None = None) -> Projected:
        """Rebuild every read model, and the index, from the log alone; with `check`, only say which differ."""
        if check:
            log = self.log
            head = log.head()
            folded = prefixes.Prefix(log, head, self.roots, self.progress).folded()
            return Projected(
                head=head, changed=differing(self.layout, self._models(folded, head, READ_MODELS))
            )
        return self._renew(wait_s=self.lock_wait_s if wait_s is None else wait_s, anew=True)

    def _renew(self, *, wait_s: float, anew: bool = False) -> Projected:
        """Bring index and read models forward; `anew` takes nothing that is stored on trust."""
        # Under the lock, so that an older state never overwrites a newer one.
        with self.log.writing(purpose="project", wait_s=wait_s) as writer:
            try:
                if anew and not self._index_is_sound():
                    self._forget_index()
                folded = self._folded(self._writable_index())
                changed = self._publish(folded, writer.head, anew=anew)
            finally:
                self._close_index()
            return Projected(head=writer.head, changed=changed)

    def _publish(self, folded: Fold, head: Head, *, anew: bool = False) -> list[str]:
        """Write the read models that differ; the index remembers how they were left, for who comes next.

        anew   nothing that the index says of the files is taken on trust.
        """
        try:
            return self._published(folded, head, None if anew else self._published_before())
        except IndexUnusable:  # the rest of the fold could not be had
            self._forget_index()
            return self._published(self._folded_anew(), head, None)

    def _published_before(self) -> Published | None:
        with suppress(IndexUnusable):
            return self._index.published() if self._index is not None else None
        return None

    def _published(self, folded: Fold, head: Head, before: Published | None) -> list[str]:
        basis = f"{__version__}:{catalogue.basis(folded)}"
        changed: list[str] = []
        stats: dict[str, FileStat] = {}
        for name in READ_MODELS:  # in this order: that all were written is told by the last one
            stat = self._moved(name, before, head) if before and before.basis == basis else None
            if stat is None:
                ((_, content),) = self._models(folded, head, (name,)).items()
                if holds(self.layout, name, content):
                    if before and before.head.hash == head.hash and name in before.stats:
                        stats[name] = before.stats[name]
                    continue
                stat = publish(self.layout, name, content)
            changed.append(name)
            if stat is not None:
                stats[name] = stat
        if self._index is not None and changed:
            try:
                self._index.keep_published(Published(head=head, basis=basis, stats=stats))
                self._index.commit()
            except IndexUnusable:
                self._forget_index()
        return changed

    def _moved(self, name: str, before: Published, head: Head) -> FileStat | None:
        """A read model that says what it said, written anew at a new position; None when it has to be rendered."""
        stat = before.stats.get(name)
        if stat is None or name not in catalogue.SELDOM_CHANGED or before.head.hash == head.hash:
            return None
        return moved(
            self.layout,
            name,
            stat,
            lambda beginning: catalogue.moved(beginning, before.head, head),
            beginning=catalogue.HEAD_BYTES,
        )

    def _index_is_sound(self) -> bool:
        """Whether the index has the events that the log has, and its fold is what a fold of the log gives."""
        from conversation_esaa.index.comparison import Comparison

        index = self._writable_index()
        if index is None:
            return False
        log, roots = self.log, self.roots
        try:
            index.catch_up(log, roots)
            index.commit()
            sound = Comparison(index)
            state = catalogue.fold(sound.passing(self._watched(log)))
            return sound.ended_together() and index.has_folded(state)
        except IndexUnusable:
            return False

    def _folded(self, index: Index | None) -> Fold:
        """The fold of everything, kept in the index for the next time. Call with the log's lock held.

        While the index is open, what is not at hand of it can be had: see `_whole`.
        """
        log, roots = self.log, self.roots
        try:
            if index is not None:
                index.catch_up(log, roots)
                folded = index.folded or self._folded_anew()
                index.keep(folded)
                index.commit()
                return folded
        except IndexUnusable:
            self._forget_index()
        return self._folded_anew()

    def _whole(self, folded: Fold) -> State:
        """All of a fold, from the log itself where the index turns out to be no help."""
        try:
            return folded.whole()
        except IndexUnusable:
            self._forget_index()
            return self._folded_anew().whole()

    def _folded_anew(self) -> Fold:
        return catalogue.Fold.of(catalogue.fold(self._watched(self.log)))

    def _watched(self, log: FileLog) -> Iterator[Entry]:
        """Every event that belongs here, told by the way."""
        entries = v1_1.visible(log.entries(), self.roots)
        return watched(entries, "reading the log", self.progress, size=log.head().size)

    def _writable_index(self) -> Index | None:
        """The index, for whoever holds the log's lock; None where there cannot be one."""
        from conversation_esaa.index.store import open_for_writing

        if self._index is None:
            try:
                self._index = open_for_writing(self.layout.index)
                self._index.progress = self.progress
            except IndexUnusable:
                return None
        return self._index

    def _forget_index(self) -> None:
        """Throw the index away: it can be built anew."""
        from conversation_esaa.index.database import remove

        self._close_index()
        with suppress(OSError):
            remove(self.layout.index)

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _unpublished(self, head: Head) -> bool:
        """Whether a read model is missing or older than `head`: it was deleted, or a run ended in between."""
        *others, last = READ_MODELS
        try:
            with self.layout.read_model(last).open("rb") as file:  # written last, and names its position
                named = catalogue.json_position(head).encode() in file.read(catalogue.HEAD_BYTES)
        except OSError:
            return True
        return not (named and all(self.layout.read_model(name).exists() for name in others))

    def _models(self, folded: Fold, head: Head, names: Iterable[str]) -> dict[str, bytes]:
        """These read models."""
        return {name: catalogue.render(name, folded, head, resume=resume_command).encode() for name in names}

    def _stale(self, folded: Fold, head: Head, stats: Mapping[str, FileStat]) -> list[str]:
        """The read models that are not as the log says.

        stats   of those that are known to have been written at this position.
        """
        known = [name for name, stat in stats.items() if is_as_written(self.layout, name, stat)]
        others = [name for name in READ_MODELS if name not in known]
        return differing(self.layout, self._models(folded, head, others))

    @property
    def _sources(self) -> Sources:
        return Sources(environ=self.machine.environ, user_home=self.machine.user_home)

    def freshness(self) -> Freshness:
        """Look at the agents' logs, capture what is new if the lock is free at once, and say how it went."""
        caught_up, reason = self._catch_up()
        head = self.log.head()
        return Freshness(seq=head.seq, hash=head.hash, caught_up=caught_up, reason=reason)

    def _fresh(self) -> tuple[Freshness, Prefix]:
        """As `freshness`, and the part of the log that an answer so fresh is made from."""
        caught_up, reason = self._catch_up()
        lines = self._now()
        head = lines.head
        return Freshness(seq=head.seq, hash=head.hash, caught_up=caught_up, reason=reason), lines

    def _now(self) -> Prefix:
        """The log as it is at this moment, by way of the index where there is a fitting one."""
        log, roots = self.log, self.roots
        head = log.head()
        if self.layout.index.is_file():
            from conversation_esaa.index.store import open_for_reading

            try:
                index = open_for_reading(self.layout.index)
            except IndexUnusable:
                index = None
            if index is not None:
                if index.answers_for(log, head, roots):
                    return prefixes.IndexedPrefix(log, head, roots, index, self.progress)
                index.close()
        return prefixes.Prefix(log, head, roots, self.progress)

    def _answer(self, lines: Prefix, answer: Callable[[Prefix], T]) -> T:
        """What `answer` makes of `lines`; read from the log itself when the index turns out to be no help."""
        try:
            return answer(lines)
        except IndexUnusable:
            return answer(lines.without_index())
        finally:
            lines.close()

    def is_unchanged(self) -> bool:
        """Whether nothing that capture depends on changed since it last found nothing new."""
        return unchanged.holds(
            str(self.layout.unchanged),
            root=str(self.root),
            home=str(self.machine.user_home),
            version=__version__,
            environ=self.machine.environ,
        )

    def _catch_up(self) -> tuple[bool, str]:
        if not self.catch_up:
            return False, "asked not to"
        if self.is_unchanged():
            return True, ""
        try:
            report = self.sync(wait_s=0)
        except LockTimeout:
            return False, "another process is writing"
        except ConversationError as error:  # a read-only store, a full disk: what is there can be read
            return False, error.message
        except OSError as error:
            return False, f"{error.filename or self.layout.store}: {error.strerror or type(error).__name__}"
        unread = [agent.agent for agent in report.agents if agent.failed or agent.problems]
        return True, f"parts of {', '.join(unread)} could not be read" if unread else ""
