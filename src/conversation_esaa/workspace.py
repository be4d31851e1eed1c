"""`Workspace`: one project's conversation, and everything that can be done with it.

The Python API, and what every surface calls. Nothing here prints, and nothing here knows of command lines.

    from conversation_esaa import Workspace

    workspace = Workspace.find()
    workspace.sync()
    print(workspace.handoff().text)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa import locate
from conversation_esaa.agents import registry
from conversation_esaa.capture.survey import AgentSurvey, survey
from conversation_esaa.capture.sync import Sources, SyncReport, sync
from conversation_esaa.curation import decisions, goal, tasks, topics
from conversation_esaa.errors import ConversationError, LockTimeout, UnknownName
from conversation_esaa.establish import (
    Established,
    establish,
    leftovers,
    old_hooks,
    open_log,
    read_settings,
    settle_move,
)
from conversation_esaa.events import Entry, Head
from conversation_esaa.ids import HUMAN, AgentId, DecisionId, EventId, agent_id
from conversation_esaa.layout import Layout
from conversation_esaa.log.v1_1 import Visibility, visible
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.projections import catalogue
from conversation_esaa.projections import conversation as conversations
from conversation_esaa.projections import goal as goals
from conversation_esaa.projections.decisions import active as active_decisions
from conversation_esaa.projections.tasks import open_tasks
from conversation_esaa.projections.topics import active as active_topics
from conversation_esaa.publish import differing, publish
from conversation_esaa.reading import budget as budgeting
from conversation_esaa.reading import handoff as handoffs
from conversation_esaa.reading import window as windows
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.reading.query import CURATED, Query, needs_state
from conversation_esaa.reading.shown import cost_of
from conversation_esaa.reading.stats import Stats, StatsCount
from conversation_esaa.reading.status import Status, files_of, notes
from conversation_esaa.reading.window import Window
from conversation_esaa.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from conversation_esaa.events import Recorded
    from conversation_esaa.forensic.verify import VerifyReport
    from conversation_esaa.log.file_log import FileLog
    from conversation_esaa.projections.catalogue import State

LAST = "last"  # as an event's name: the newest turn


class Shown(msgspec.Struct, kw_only=True):
    """A window of the log, and how fresh it is."""

    window: Window
    freshness: Freshness
    query: Query


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """The entry contract for the next agent."""

    text: str
    tokens: int  # estimated; never above the budget that was asked for, down to the documented minimum
    freshness: Freshness


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """What rebuilding the read models did, or would do."""

    head: Head
    changed: list[str]  # names of read models that were written, or that differ under `check`


class Upgraded(msgspec.Struct, frozen=True, kw_only=True):
    """What taking over a v1.1 directory found."""

    established: Established
    events: dict[str, int]  # readable here, by event name
    foreign: int  # lines of another workspace: kept, never shown
    shadowed: int  # lines that repeat a native record: kept, shown once
    unreadable: int
    leftovers: list[str]  # files of the older tool that nothing uses any more
    hooks: list[str]  # settings files that still call the older tool


def agents(path: Path | None = None, *, machine: Machine | None = None) -> list[AgentSurvey]:
    """Every agent we can read, as seen from the workspace at `path`, or from what would be one."""
    machine = machine or this_machine()
    root = locate.intended(machine.present, path)
    layout = Layout(root)
    settings = read_settings(layout) if layout.config.exists() else Settings.unset(str(root))
    sources = Sources(environ=machine.environ, user_home=machine.user_home)
    return survey(layout=layout, settings=settings, sources=sources)


class Workspace:
    """One workspace.

    root        the directory that holds `.conversation-esaa/`.
    machine     where this runs; the real machine unless a test says otherwise.
    lock_wait_s how long a command that writes waits for another one.
    catch_up    whether reading looks at the agents' logs first.
    """

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

    @classmethod
    def find(
        cls,
        path: Path | None = None,
        *,
        machine: Machine | None = None,
        lock_wait_s: float = 10.0,
        catch_up: bool = True,
    ) -> Workspace:
        """The workspace at `path`, or the one that the present directory is in. Raises NoWorkspace."""
        machine = machine or this_machine()
        root = locate.existing(machine.present, path)
        return cls(root, machine=machine, lock_wait_s=lock_wait_s, catch_up=catch_up)

    @classmethod
    def create(
        cls,
        path: Path | None = None,
        *,
        machine: Machine | None = None,
        lock_wait_s: float = 10.0,
        catch_up: bool = True,
    ) -> tuple[Workspace, Established]:
        """A workspace at `path`, or where one belongs: the git root, else the present directory.

        What is there stays; a v1.1 log is taken over as it is. Returns it with what was made.
        """
        machine = machine or this_machine()
        root = locate.intended(machine.present, path)
        workspace = cls(root, machine=machine, lock_wait_s=lock_wait_s, catch_up=catch_up)
        return workspace, establish(root, machine, wait_s=lock_wait_s)

    @classmethod
    def upgrade(
        cls,
        path: Path | None = None,
        *,
        machine: Machine | None = None,
        lock_wait_s: float = 10.0,
        catch_up: bool = True,
    ) -> Upgraded:
        """Take over a directory of the older tool: as `create`, and a report of what was found.

        Raises NoWorkspace when there is no `.conversation-esaa/`.
        """
        found = cls.find(path, machine=machine, lock_wait_s=lock_wait_s, catch_up=catch_up)
        workspace, established = cls.create(
            found.root, machine=found.machine, lock_wait_s=lock_wait_s, catch_up=catch_up
        )
        visibility = Visibility()
        state = catalogue.fold(visible(workspace.log.entries(), workspace.roots, visibility))
        workspace.project()
        return Upgraded(
            established=established,
            events=dict(state.conversation.counts),
            foreign=visibility.foreign,
            shadowed=visibility.shadowed,
            unreadable=visibility.unreadable,
            leftovers=leftovers(workspace.layout),
            hooks=old_hooks(workspace.root),
        )

    # --- what it stands on -----------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """What config.toml says now."""
        return read_settings(self.layout)

    @property
    def log(self) -> FileLog:
        """The event log."""
        return open_log(self.layout, self.settings)

    @property
    def roots(self) -> tuple[str, ...]:
        """Every path that is or was this workspace."""
        return tuple(dict.fromkeys((str(self.root), *self.settings.all_roots)))

    def entries(self) -> Iterator[Entry]:
        """Every event that belongs here, oldest first."""
        return visible(self.log.entries(), self.roots)

    def state(self) -> State:
        """The fold of the whole log: decisions, tasks, topics, goal, conversation. Costs one pass."""
        return catalogue.fold(self.entries())

    # --- capture ---------------------------------------------------------------------------------------

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
        if report.captured or not all(
            self.layout.read_model(name).exists() for name in catalogue.READ_MODELS
        ):
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

    def _rendered(self) -> tuple[Head, dict[str, str]]:
        head = self.log.head()
        return head, self._models(self.state(), head)

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
        caught_up, reason = self._catch_up()
        head = self.log.head()
        return Freshness(seq=head.seq, hash=head.hash, caught_up=caught_up, reason=reason)

    def _catch_up(self) -> tuple[bool, str]:
        if not self.catch_up:
            return False, "asked not to"
        try:
            report = self.sync(wait_s=0)
        except LockTimeout:
            return False, "another process is writing"
        except ConversationError as error:
            return False, error.message
        unread = [agent.agent for agent in report.agents if agent.failed or agent.problems]
        return True, f"parts of {', '.join(unread)} could not be read" if unread else ""

    # --- reading ---------------------------------------------------------------------------------------

    def context(self, query: Query | None = None, *, budget: int | None = None, full: bool = False) -> Shown:
        """A window of the log.

        query   the filters; ids in it may be prefixes of 8 characters or more. None: the last 20 events.
        budget  at most that many tokens, as `full` or brief entries are shown.
        """
        query = query or Query()
        freshness = self.freshness()
        log, roots = self.log, self.roots
        self._check_agents(query)
        for name in ("before", "after", "around"):
            if given := getattr(query, name):
                query = msgspec.structs.replace(query, **{name: self.event_id(given)})
        state = self.state() if needs_state(query) else None
        window = windows.window(log, query, roots=roots, state=state)
        if budget is not None:
            budgeting.fit(window, query, cost=cost_of(full=full), budget=budget)
        freshness = msgspec.structs.replace(freshness, unreadable_lines=window.unreadable_lines)
        return Shown(window=window, freshness=freshness, query=query)

    def _check_agents(self, query: Query) -> None:
        known = {*registry.MODULES, HUMAN, CURATED}
        strangers = [name for name in query.agents if name not in known]
        if strangers:
            seen = {entry.event.agent_id for entry in self.entries()}
            for name in strangers:
                if name not in seen:
                    raise UnknownName("agent", name, known=tuple(sorted(known)))

    def event_id(self, given: str) -> EventId:
        """The full id of an event: from a prefix of 8 characters or more, or `last` for the newest turn."""
        if given == LAST:
            turn = windows.newest_turn(self.log, roots=self.roots)
            if turn is None:
                raise UnknownName("event", given, hint="Nothing was captured yet: `conversation-esaa sync`.")
            return turn
        return windows.resolve(self.log, given, roots=self.roots)

    def show(self, given: str) -> Entry:
        """One event, whole: by its id, a prefix of 8 characters or more, `last`, or a decision's DEC-n."""
        self.freshness()
        wanted = self._decision_event(given) if given.upper().startswith("DEC-") else self.event_id(given)
        return next(entry for entry in self.entries() if entry.event.event_id == wanted)

    def _decision_event(self, given: str) -> EventId:
        decision = self.state().decisions.get(DecisionId(given.upper()))
        if decision is None:
            raise UnknownName("decision", given, hint="`.conversation-esaa/decisions.md` lists them.")
        return decision.event_id

    def handoff(self, *, budget: int = handoffs.DEFAULT_BUDGET, reader: str = "") -> Handoff:
        """What a cold agent needs, within `budget` tokens.

        reader   the agent that will read it.
        """
        freshness = self.freshness()
        return self.handoff_of(self.state(), freshness, budget=budget, reader=reader)

    def handoff_of(
        self,
        state: State,
        freshness: Freshness,
        *,
        budget: int = handoffs.DEFAULT_BUDGET,
        reader: str = "",
    ) -> Handoff:
        """The handoff of a state that is at hand."""
        text, tokens = handoffs.handoff(
            state,
            self.log.head(),
            budget=budget,
            resume=registry.resume_command,
            reader=agent_id(reader) if reader else None,
        )
        return Handoff(text=text, tokens=tokens, freshness=freshness)

    def status(self) -> Status:
        """The one-screen truth."""
        freshness = self.freshness()
        visibility = Visibility()
        state = catalogue.fold(visible(self.log.entries(), self.roots, visibility))
        stale = self.project(check=True).changed
        agents = survey(layout=self.layout, settings=self.settings, sources=self._sources)
        files = files_of(self.layout)
        quarantined = sum(file.name.startswith("quarantine/") for file in files)
        current = goals.current(state.goals)
        return Status(
            workspace=str(self.root),
            workspace_id=self.settings.workspace_id,
            freshness=msgspec.structs.replace(freshness, unreadable_lines=visibility.unreadable),
            events=dict(state.conversation.counts),
            goal=current.goal if current else "",
            decisions_active=len(active_decisions(state.decisions)),
            tasks_open=len(open_tasks(state.tasks)),
            topics_active=len(active_topics(state.topics)),
            last_turn=max(
                (session.last_ts for session in conversations.sessions(state.conversation)), default=""
            ),
            foreign_lines=visibility.foreign,
            stale_read_models=stale,
            agents=agents,
            files=files,
            notes=notes(agents, stale=stale, quarantined=quarantined, foreign_lines=visibility.foreign),
        )

    def verify(self, *, deep: bool = False) -> VerifyReport:
        """Check log and read models; changes nothing."""
        from conversation_esaa.forensic.verify import verify

        return verify(
            self.layout,
            self.settings,
            self.log,
            roots=self.roots,
            resume=registry.resume_command,
            deep=deep,
        )

    def stats(self) -> Stats:
        """Counts, and what reading a handoff saves against reading everything. Costs one pass."""
        freshness = self.freshness()
        counting = StatsCount()
        state = catalogue.fold(counting.counted(self.entries()))
        handoff = self.handoff_of(state, freshness)
        return counting.stats(state, freshness, handoff_tokens=handoff.tokens, log_bytes=self.log.head().size)

    # --- curation --------------------------------------------------------------------------------------

    def curator(self, given: str = "") -> AgentId:
        """Who curates: the one named, else the agent whose environment this runs in, else a human."""
        return agent_id(given) if given else registry.running(self.machine.environ) or HUMAN

    def curate(self, purpose: str, draft: Callable[[State], list[Recorded]]) -> list[Entry]:
        """Append what `draft` makes of the present state, under the log's lock, and renew the read models.

        purpose   in a word or two, for whoever waits meanwhile.
        draft     one of the functions in `curation/`, its request filled in; it validates before anything
                  is written, and ids are given while nobody else can write.
        """
        settle_move(self.layout, self.machine, wait_s=self.lock_wait_s)
        with self.log.writing(purpose=purpose, wait_s=self.lock_wait_s) as writer:
            before = self.state()
            written = writer.append(draft(before), recorded_at=self.machine.now())
            state = catalogue.fold(written, before)
            publish(self.layout, self._models(state, writer.head))
        return written

    def set_goal(self, text: str, *, by: str = "") -> Entry:
        """Set the current objective; "" clears it. Earlier ones stay in the log."""
        agent = self.curator(by)
        return self.curate("goal", lambda state: goal.set_goal(state, text=text, agent=agent))[0]

    def decide(
        self,
        text: str,
        *,
        rationale: str = "",
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        supersedes: Sequence[str] = (),
        by: str = "",
    ) -> list[Entry]:
        """Record a decision; each of `supersedes` stops being active by it.

        sources   the evidence: event ids, prefixes of 8 characters or more, or `last` for the newest turn.
        """
        agent = self.curator(by)
        return self.curate(
            "decide",
            lambda state: decisions.decide(
                state,
                text=text,
                rationale=rationale,
                sources=sources,
                topics=topics,
                supersedes=supersedes,
                agent=agent,
                known=self.event_id,
            ),
        )

    def retract(self, decision_id: str, *, rationale: str = "", by: str = "") -> Entry:
        """Say that a decision no longer holds."""
        agent = self.curator(by)
        return self.curate(
            "decide",
            lambda state: decisions.retract(state, decision_id=decision_id, rationale=rationale, agent=agent),
        )[0]

    def create_task(
        self,
        title: str,
        *,
        description: str = "",
        next_step: str = "",
        status: str = "open",
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Promise something."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.create(
                state,
                title=title,
                description=description,
                next_step=next_step,
                status=status,
                sources=sources,
                topics=topics,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def update_task(
        self,
        task_id: str,
        *,
        title: str | None = None,
        description: str | None = None,
        next_step: str | None = None,
        status: str | None = None,
        sources: Sequence[str] = (),
        topics: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Change what is stated of a task; None leaves it, "" clears it."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.update(
                state,
                task_id=task_id,
                title=title,
                description=description,
                next_step=next_step,
                status=status,
                sources=sources,
                topics=topics,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def close_task(
        self,
        task_id: str,
        *,
        evidence: str = "",
        status: str = "completed",
        sources: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """The promise was kept (`completed`) or given up (`cancelled`)."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.close(
                state,
                task_id=task_id,
                evidence=evidence,
                status=status,
                sources=sources,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def reopen_task(self, task_id: str, *, evidence: str = "", next_step: str = "", by: str = "") -> Entry:
        """It was not done after all; `evidence` says why."""
        agent = self.curator(by)
        return self.curate(
            "task",
            lambda state: tasks.reopen(
                state, task_id=task_id, evidence=evidence, next_step=next_step, agent=agent
            ),
        )[0]

    def create_topic(
        self,
        title: str,
        *,
        summary: str = "",
        keywords: Sequence[str] = (),
        events: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Give a subject a name."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.create(
                state,
                title=title,
                summary=summary,
                keywords=keywords,
                events=events,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def update_topic(
        self,
        topic_id: str,
        *,
        title: str | None = None,
        summary: str | None = None,
        status: str | None = None,
        keywords: Sequence[str] | None = None,
        by: str = "",
    ) -> Entry:
        """Change what is stated of a topic; None leaves it."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.update(
                state,
                topic_id=topic_id,
                title=title,
                summary=summary,
                status=status,
                keywords=keywords,
                agent=agent,
            ),
        )[0]

    def link(
        self,
        topic_id: str,
        *,
        events: Sequence[str] = (),
        decisions: Sequence[str] = (),
        tasks: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """Events, decisions and tasks belong to a topic."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.link(
                state,
                topic_id=topic_id,
                events=events,
                decisions=decisions,
                tasks=tasks,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def unlink(
        self,
        topic_id: str,
        *,
        events: Sequence[str] = (),
        decisions: Sequence[str] = (),
        tasks: Sequence[str] = (),
        by: str = "",
    ) -> Entry:
        """A link was a mistake."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.unlink(
                state,
                topic_id=topic_id,
                events=events,
                decisions=decisions,
                tasks=tasks,
                agent=agent,
                known=self.event_id,
            ),
        )[0]

    def close_topic(
        self, topic_id: str, *, evidence: str = "", status: str = "completed", by: str = ""
    ) -> Entry:
        """The subject is done with."""
        agent = self.curator(by)
        return self.curate(
            "topic",
            lambda state: topics.close(
                state, topic_id=topic_id, evidence=evidence, status=status, agent=agent
            ),
        )[0]
