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
from conversation_esaa.agents.resume import resume_command
from conversation_esaa.appended import Appended
from conversation_esaa.capture.roots import roots_ever
from conversation_esaa.capture.sync import Sources
from conversation_esaa.errors import ConversationError, UnknownName
from conversation_esaa.establish import Established, establish, leftovers, old_hooks, open_log, read_settings
from conversation_esaa.events import DecisionRecorded, Entry, Head
from conversation_esaa.hooked import Hooked
from conversation_esaa.ids import HUMAN
from conversation_esaa.later import Later
from conversation_esaa.layout import Layout
from conversation_esaa.lookup import Keys
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.opened import named_agent
from conversation_esaa.progress import unheard, watched
from conversation_esaa.projections import catalogue
from conversation_esaa.projections import conversation as conversations
from conversation_esaa.projections.catalogue import Fold, State
from conversation_esaa.reading import handoff as handoffs
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.settings import Settings

if TYPE_CHECKING:
    from conversation_esaa.capture import survey as surveys
    from conversation_esaa.capture.survey import AgentSurvey
    from conversation_esaa.curation import decisions as curated_decisions
    from conversation_esaa.forensic.verify import VerifyReport
    from conversation_esaa.ids import AgentId
    from conversation_esaa.log import v1_1
    from conversation_esaa.progress import Progress
    from conversation_esaa.projections.standing import Brief
    from conversation_esaa.reading import budget as budgeting
    from conversation_esaa.reading import page as pages
    from conversation_esaa.reading import query as queries
    from conversation_esaa.reading import shown as showing
    from conversation_esaa.reading import stats as counting
    from conversation_esaa.reading import status as statuses
    from conversation_esaa.reading import window as windows
    from conversation_esaa.reading.diagnosis import Diagnosis
    from conversation_esaa.reading.page import Shown
    from conversation_esaa.reading.prefix import Prefix
    from conversation_esaa.reading.query import Query
    from conversation_esaa.reading.stats import Stats
    from conversation_esaa.reading.status import Status
else:  # each of them serves one or two commands
    v1_1 = Later("conversation_esaa.log.v1_1")
    surveys = Later("conversation_esaa.capture.survey")
    curated_decisions = Later("conversation_esaa.curation.decisions")
    budgeting = Later("conversation_esaa.reading.budget")
    pages = Later("conversation_esaa.reading.page")
    queries = Later("conversation_esaa.reading.query")
    showing = Later("conversation_esaa.reading.shown")
    counting = Later("conversation_esaa.reading.stats")
    statuses = Later("conversation_esaa.reading.status")
    windows = Later("conversation_esaa.reading.window")


class ShownEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and how fresh that is."""

    entry: Entry
    standing: str = ""  # of a decision: `active`, `superseded by DEC-0002` or `retracted`
    freshness: Freshness


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What the log adds up to, and how fresh that is."""

    state: State
    freshness: Freshness


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """The entry contract for the next agent."""

    text: str
    tokens: int  # estimated; never above the budget that was asked for, down to the documented minimum
    freshness: Freshness


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
    return surveys.survey(layout=layout, settings=settings, sources=sources)


class Workspace(Appended, Hooked):
    """One workspace.

    root        the directory that holds `.conversation-esaa/`.
    machine     where this runs; the real machine unless a test says otherwise.
    lock_wait_s how long a command that writes waits for another one.
    catch_up    whether reading looks at the agents' logs first.
    """

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
        progress: Progress = unheard,
    ) -> Upgraded:
        """Take over a directory of the older tool: as `create`, and a report of what was found.

        Raises NoWorkspace when there is no `.conversation-esaa/`.
        """
        found = cls.find(path, machine=machine, lock_wait_s=lock_wait_s, catch_up=catch_up)
        workspace, established = cls.create(
            found.root, machine=found.machine, lock_wait_s=lock_wait_s, catch_up=catch_up
        )
        visibility = v1_1.Visibility()
        workspace.progress = progress
        log = workspace.log
        entries = v1_1.visible(log.entries(), workspace.roots, visibility)
        state = catalogue.fold(watched(entries, "reading the log", progress, size=log.head().size))
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

    @classmethod
    def anywhere(cls, path: Path | None = None, *, machine: Machine | None = None) -> Workspace:
        """The workspace at `path`, or what would be one: for what is about agents' settings and no log."""
        machine = machine or this_machine()
        return cls(locate.intended(machine.present, path), machine=machine)

    # --- reading ---------------------------------------------------------------------------------------

    def context(self, query: Query | None = None, *, budget: int | None = None, full: bool = False) -> Shown:
        """A window of the log.

        query    the filters; ids in it may be prefixes of 8 characters or more. None: the last 20 events.
        budget   at most that many tokens for the whole page, with `full` texts or brief ones; what does not
                 fit is counted. One entry is always shown.

        Raises UnknownName, AmbiguousName, NotInSelection. Costs one pass over the log, or what it returns
        when only `last` and filters on the entry itself are asked for.
        """
        query = query or queries.Query()
        freshness, lines = self._fresh()
        shown = self._answer(lines, lambda lines: self._window(query, lines, freshness))
        if budget is not None:
            room = budget - pages.frame_tokens(shown)
            budgeting.fit(shown.window, shown.query, cost=showing.cost_of(full=full), budget=room)
        return shown

    def _window(self, query: Query, lines: Prefix, freshness: Freshness) -> Shown:
        self._check_agents(query, lines)
        for name in ("before", "after", "around"):
            if given := getattr(query, name):
                query = msgspec.structs.replace(query, **{name: self._event_id(lines, given)})
        state = lines.fold() if queries.needs_state(query) else None
        window = windows.window(lines, query, state=state)
        freshness = msgspec.structs.replace(freshness, unreadable_lines=window.unreadable_lines)
        return pages.Shown(window=window, freshness=freshness, query=query)

    def _check_agents(self, query: Query, lines: Prefix) -> None:
        known = {*registry.modules(), HUMAN, queries.CURATED}
        strangers = [name for name in query.agents if name not in known]
        if strangers:
            for name in strangers:
                met = (entry.event.agent_id for entry in lines.newest_first(Keys(agents=(name,))))
                if name not in met:
                    raise UnknownName("agent", name, known=tuple(sorted(known)))

    def show(self, given: str) -> ShownEntry:
        """One event, whole: by its id, a prefix of 8 characters or more, `last`, or a decision's DEC-n.

        Raises UnknownName, AmbiguousName. Costs a pass over the log.
        """
        freshness, lines = self._fresh()
        return self._answer(lines, lambda lines: self._entry(given, lines, freshness))

    def _entry(self, given: str, lines: Prefix, freshness: Freshness) -> ShownEntry:
        if given.upper().startswith("DEC-"):
            seq = curated_decisions.existing(lines.fold(), given).seq  # the oldest ones have no event id
            entries = lines.newest_first(Keys(kinds=("decision.recorded",)))
            entry = next(entry for entry in entries if entry.event.seq == seq)
        else:
            found = lines.entry(self._event_id(lines, given))
            if found is None:
                raise UnknownName("event", given)
            entry = found
        standing = ""
        if isinstance(entry.event, DecisionRecorded):
            standing = _standing(lines.fold(), seq=entry.event.seq)
        return ShownEntry(entry=entry, standing=standing, freshness=freshness)

    def overview(self) -> Overview:
        """Decisions, tasks, topics, goal and conversation, after catching up."""
        freshness, lines = self._fresh()
        state, seen = self._answer(lines, _fold_and_seen)
        freshness = msgspec.structs.replace(freshness, unreadable_lines=seen.unreadable)
        return Overview(state=state, freshness=freshness)

    def handoff(self, *, budget: int = handoffs.DEFAULT_BUDGET, reader: str = "") -> Handoff:
        """What a cold agent needs, within `budget` tokens.

        budget   at least 1; below a documented minimum the first lines alone are longer.
        reader   the agent that will read it: what the others said comes first.
        """
        reading = named_agent(reader) if reader else None
        freshness, lines = self._fresh()
        return self._answer(
            lines,
            lambda lines: self._handoff(lines.folded(), lines.head, freshness, budget=budget, reader=reading),
        )

    def _handoff(
        self,
        folded: Fold,
        head: Head,
        freshness: Freshness,
        *,
        budget: int = handoffs.DEFAULT_BUDGET,
        reader: AgentId | None = None,
    ) -> Handoff:
        text, tokens = handoffs.handoff(folded, head, budget=budget, resume=resume_command, reader=reader)
        return Handoff(text=text, tokens=tokens, freshness=freshness)

    def status(self) -> Status:
        """The one-screen truth."""
        freshness, lines = self._fresh()
        brief, visibility, stale = self._answer(lines, self._told_and_stale)
        if self.log.head() != lines.head:
            stale = []  # somebody wrote meanwhile: the files are of another position, and rightly so
        settings = self.settings
        agents = surveys.survey(layout=self.layout, settings=settings, sources=self._sources)
        files = statuses.files_of(self.layout)
        quarantined = sum(file.name.startswith("quarantine/") for file in files)
        standing, talk = brief.standing, brief.conversation
        return statuses.Status(
            workspace=str(self.root),
            workspace_id=settings.workspace_id,
            freshness=msgspec.structs.replace(freshness, unreadable_lines=visibility.unreadable),
            events=dict(talk.counts),
            goal=standing.goal.goal if standing.goal else "",
            decisions_active=standing.decisions_active,
            tasks_open=standing.tasks_open,
            topics_active=standing.topics_active,
            last_turn=max((session.last_ts for session in conversations.sessions(talk)), default=""),
            foreign_lines=visibility.foreign,
            stale_read_models=stale,
            agents=agents,
            files=files,
            notes=statuses.notes(
                agents, stale=stale, quarantined=quarantined, foreign_lines=visibility.foreign
            ),
        )

    def _told_and_stale(self, lines: Prefix) -> tuple[Brief, v1_1.Visibility, list[str]]:
        folded = lines.folded()
        return folded.brief, lines.seen, self._stale(folded, lines.head, lines.published())

    def doctor(self, *, prove: bool = True, fix: bool = False, status: Status | None = None) -> Diagnosis:
        """What is wrong between the agents and the log, each with what mends it.

        prove   also try the hooks that are set up, each with a made-up call that stands for nothing said.
        fix     first mend what is safe: modes of our files, calls that nobody took in, read models.
        status  taken just now, where the caller has it.
        """
        from conversation_esaa.diagnosed import doctor

        return doctor(self, prove=prove, fix=fix, status=status)

    def verify(self, *, deep: bool = False) -> VerifyReport:
        """Check the log and everything made from it; changes nothing, and raises nothing for what it finds.

        deep   also write each line anew from its values, and compare the bytes.
        """
        from conversation_esaa.forensic.verify import verify

        settings, problem = Settings.unset(str(self.root)), None
        try:
            settings = self.settings
        except ConversationError as error:  # a finding like any other
            problem = error
        return verify(
            self.layout,
            settings,
            open_log(self.layout, settings),
            roots=roots_ever(self.layout, settings),
            resume=resume_command,
            deep=deep,
            config_problem=problem,
            progress=self.progress,
        )

    def stats(self) -> Stats:
        """Counts, and what reading a handoff saves against reading everything. Costs one pass."""
        freshness, lines = self._fresh()
        counted = counting.StatsCount()
        lines.close()
        lines = lines.without_index()  # every text is counted, so everything is read
        state = catalogue.fold(counted.counted(lines.entries()))
        handoff = self._handoff(catalogue.Fold.of(state), lines.head, freshness)
        return counted.stats(state, freshness, handoff_tokens=handoff.tokens, log_bytes=lines.head.size)


def _fold_and_seen(lines: Prefix) -> tuple[State, v1_1.Visibility]:
    return lines.fold(), lines.seen


def _standing(state: State, *, seq: int) -> str:
    """Whether the decision that was recorded at `seq` holds; "" when a later event took its id."""
    decision = next((each for each in state.decisions.values() if each.seq == seq), None)
    if decision is None:
        return ""
    return f"superseded by {decision.superseded_by}" if decision.superseded_by else decision.status
