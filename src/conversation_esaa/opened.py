"""An opened workspace: where its parts are, what its log says, and how both log and read models keep up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents import registry
from conversation_esaa.capture.sync import Sources, SyncReport, sync
from conversation_esaa.errors import ConversationError, LockTimeout, UnknownName, UsageError
from conversation_esaa.establish import open_log, read_settings, settle_move
from conversation_esaa.events import Head
from conversation_esaa.ids import HUMAN, AgentId, EventId, agent_id
from conversation_esaa.layout import Layout
from conversation_esaa.log.v1_1 import visible
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.projections import catalogue
from conversation_esaa.publish import differing, publish
from conversation_esaa.reading import window as windows
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.reading.prefix import Prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conversation_esaa.events import Entry
    from conversation_esaa.log.file_log import FileLog
    from conversation_esaa.projections.catalogue import State
    from conversation_esaa.reading.prefix import Lines
    from conversation_esaa.settings import Settings


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """What rebuilding the read models did, or would do."""

    head: Head
    changed: list[str]  # names of read models that were written, or that differ under `check`


LAST = "last"  # as an event's name: the newest turn

_AGENT_NAME = re.compile(r"[\w.@+-]{1,64}")


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
        return tuple(dict.fromkeys((str(self.root), *self.settings.all_roots)))

    def entries(self) -> Iterator[Entry]:
        """Every event that belongs here, oldest first. Lines that cannot be read are passed over."""
        return visible(self.log.entries(), self.roots)

    def state(self) -> State:
        """The fold of the whole log: decisions, tasks, topics, goal, conversation. Costs one pass."""
        return catalogue.fold(self.entries())

    def event_id(self, given: str) -> EventId:
        """The full id of an event: from a prefix of 8 characters or more, or `last` for the newest turn.

        Raises UnknownName, AmbiguousName. Costs one pass.
        """
        return self._event_id(self.log, given)

    def curator(self, given: str = "") -> AgentId:
        """Who curates: the one named, else the agent whose environment this runs in, else a human."""
        return named_agent(given) if given else registry.running(self.machine.environ) or HUMAN

    def _event_id(self, lines: Lines, given: str) -> EventId:
        if given == LAST:
            turn = windows.newest_turn(lines, roots=self.roots)
            if turn is None:
                raise UnknownName("event", given, hint="Nothing was captured yet: `conversation-esaa sync`.")
            return turn
        return windows.resolve(lines, given, roots=self.roots)

    def sync(
        self,
        *,
        agents: Sequence[str] = (),
        session: Path | None = None,
        full: bool = False,
        wait_s: float | None = None,
    ) -> SyncReport:
        """Capture what the agents' logs have that this log has not, and renew the read models.

        agents    names, for example ("codex",); empty means all.
        session   one native log alone.
        full      look into every file again, whatever its stat says.
        """
        wait = self.lock_wait_s if wait_s is None else wait_s
        settle_move(self.layout, self.machine, wait_s=wait)
        report = sync(
            layout=self.layout,
            log=self.log,
            settings=self.settings,
            sources=self._sources,
            now=self.machine.now,
            agents=agents,
            session=session,
            full=full,
            wait_s=wait,
        )
        if self._unpublished(report.head):
            self.project(wait_s=wait)
        return report

    def project(self, *, check: bool = False, wait_s: float | None = None) -> Projected:
        """Rebuild every read model from the log; with `check`, only say which ones differ."""
        if check:
            head, models = self._rendered()
            return Projected(head=head, changed=differing(self.layout, models))
        wait = self.lock_wait_s if wait_s is None else wait_s
        # Under the lock, so that an older state never overwrites a newer one.
        with self.log.writing(purpose="project", wait_s=wait):
            head, models = self._rendered()
            return Projected(head=head, changed=publish(self.layout, models))

    def _unpublished(self, head: Head) -> bool:
        """Whether a read model is missing or older than `head`: it was deleted, or a run ended in between."""
        *others, last = catalogue.READ_MODELS
        try:
            with self.layout.read_model(last).open("rb") as file:  # written last, and names its position
                begin = b"".join(file.read(4096).split())
            named = f'"seq":{head.seq},"hash":"{head.hash}"'.encode() in begin
        except OSError:
            return True
        return not (named and all(self.layout.read_model(name).exists() for name in others))

    def _rendered(self) -> tuple[Head, dict[str, str]]:
        log = self.log
        head = log.head()
        state = catalogue.fold(visible(Prefix(log, head).entries(), self.roots))
        return head, self._models(state, head)

    def _models(self, state: State, head: Head) -> dict[str, str]:
        return {
            name: catalogue.render(name, state, head, resume=registry.resume_command)
            for name in catalogue.READ_MODELS
        }

    @property
    def _sources(self) -> Sources:
        return Sources(environ=self.machine.environ, user_home=self.machine.user_home)

    def freshness(self) -> Freshness:
        """Look at the agents' logs, capture what is new if the lock is free at once, and say how it went."""
        return self._fresh()[0]

    def _fresh(self) -> tuple[Freshness, Prefix]:
        """Catch up; how fresh an answer is that is made from the returned part of the log."""
        caught_up, reason = self._catch_up()
        log = self.log
        head = log.head()
        return Freshness(seq=head.seq, hash=head.hash, caught_up=caught_up, reason=reason), Prefix(log, head)

    def _catch_up(self) -> tuple[bool, str]:
        if not self.catch_up:
            return False, "asked not to"
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
