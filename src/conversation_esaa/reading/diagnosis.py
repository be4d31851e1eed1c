"""What `doctor` finds: each agent's way from its log into ours, and whatever is wrong on it, with its mend.

Pure: what was looked at comes in as values, so a rule here is a rule about facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.capture.survey import AgentSurvey
from conversation_esaa.projections import conversation
from conversation_esaa.projections.conversation import Conversation
from conversation_esaa.projections.markdown import counted
from conversation_esaa.reading.freshness import Freshness
from conversation_esaa.timestamps import to_utc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.projections.conversation import Session

WARN_DAYS = 7  # before an agent may delete what was not captured
LATE_S = 60  # that a hook's call may wait for a worker, before that is a problem


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is wrong, or deserves a look."""

    code: str  # stable, for programs
    agent: str = ""  # "" when it is about the workspace
    what: str
    mend: str  # the command or the step that mends it
    fixable: bool = False  # `doctor --fix` does it
    is_note: bool = False  # nothing is wrong yet


class HookFact(msgspec.Struct, frozen=True, kw_only=True):
    """One place where something of ours stands in an agent's settings."""

    file: str
    kind: str  # hooks, notify or instructions
    scope: str
    inject: bool = False
    stale: bool = False
    approval_required: bool = False
    problem: str = ""
    mend: str = ""


class AgentHealth(msgspec.Struct, kw_only=True):
    """One agent's way into the log, from its settings to its last turn."""

    agent: str
    title: str
    found: bool  # its data directory is there
    home: str
    version: str = ""  # that its newest session states
    sessions: int = 0
    captured: int = 0  # events that came from its files
    with_news: int = 0
    bytes_behind: int = 0
    last_turn: str = ""  # when its newest session was last active
    last_turn_age_s: int | None = None
    hooks: list[HookFact] = []
    last_hook: str = ""  # when a hook of it last called
    last_hook_event: str = ""
    proved: bool | None = None  # whether a made-up call came through; None: not tried
    unknown: dict[str, int] = {}  # record types not understood
    retention_days: int | None = None  # after which it deletes sessions; None: it does not
    deleted_from: str = ""  # when it may begin to delete what was not captured


class Diagnosis(msgspec.Struct, kw_only=True):
    """What `doctor` tells."""

    workspace: str
    freshness: Freshness | None  # None when the log cannot be read
    agents: list[AgentHealth] = []
    waiting_calls: int = 0  # of hooks, in the spool
    problems: list[Problem] = []
    notes: list[Problem] = []
    fixed: list[str] = []  # what `--fix` did


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What was looked at."""

    now: str
    surveys: Sequence[AgentSurvey]
    said: Conversation
    hooks: Mapping[str, Sequence[HookFact]]  # by agent; agents without hooks of ours may be left out
    with_hooks: frozenset[str] = frozenset()  # agents that have hooks at all
    heard: Mapping[str, tuple[str, str]] = {}  # agent → when it last called, and at which event
    proofs: Mapping[str, str] = {}  # agent → what became of a made-up call; "" when it came through
    waiting: Sequence[str] = ()  # when the calls in the spool were made
    hook_failures: Sequence[str] = ()  # the last lines of `run/hook.log`
    stale_read_models: Sequence[str] = ()
    too_open: Sequence[str] = ()  # files of ours that other users may read
    older_hooks: Sequence[str] = ()  # settings that still call the older tool


def health(facts: Facts) -> list[AgentHealth]:
    """Every agent that was surveyed, in that order, and then those that only have hooks of ours."""
    surveyed = [_health(survey, facts) for survey in facts.surveys]
    known = {each.agent for each in surveyed}
    return surveyed + [_by_hooks_alone(agent, facts) for agent in facts.hooks if agent not in known]


def _by_hooks_alone(agent: str, facts: Facts) -> AgentHealth:
    """An agent whose log nobody can read."""
    voice = next((voice for name, voice in facts.said.voices.items() if name == agent), None)
    turns = voice.session_turns if voice else {}
    told = AgentHealth(agent=agent, title="its hooks alone", found=True, home="")
    told.sessions, told.captured = len(turns), sum(turns.values())
    return _with_talk_and_hooks(told, facts)


def _health(survey: AgentSurvey, facts: Facts) -> AgentHealth:
    told = AgentHealth(
        agent=survey.agent,
        title=survey.title,
        found=survey.found,
        home=survey.home,
        sessions=survey.sessions,
        captured=survey.captured,
        with_news=survey.with_news,
        bytes_behind=survey.bytes_behind,
        unknown=dict(survey.unknown),
        retention_days=survey.retention.days if survey.retention else None,
        deleted_from=survey.deleted_from,
    )
    return _with_talk_and_hooks(told, facts)


def _with_talk_and_hooks(told: AgentHealth, facts: Facts) -> AgentHealth:
    """`told`, with what the log and the hooks say of the agent."""
    if newest := _newest(told.agent, facts.said):
        told.version, told.last_turn = newest.agent_version, newest.last_ts
        told.last_turn_age_s = _age_s(newest.last_ts, facts.now)
    told.hooks = list(facts.hooks.get(told.agent, ()))
    told.last_hook, told.last_hook_event = facts.heard.get(told.agent, ("", ""))
    if (failed := facts.proofs.get(told.agent)) is not None:
        told.proved = not failed
    return told


def _newest(agent: str, said: Conversation) -> Session | None:
    return next((each for each in conversation.newest_of_each(said) if each.agent_id == agent), None)


def _age_s(then: str, now: str) -> int | None:
    try:
        return max(0, int((datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds()))
    except ValueError:
        return None


def problems(facts: Facts, freshness: Freshness, *, looked: bool) -> Iterator[Problem]:
    """What is wrong and what deserves a look, the workspace's own first, then agent by agent.

    looked   whether the agents' logs were to be looked at; if not, being behind is no problem.
    """
    yield from _of_the_workspace(facts, freshness, looked=looked)
    for survey in facts.surveys:
        yield from _of_a_log(survey, facts.now)
        yield from _of_hooks(survey.agent, facts)
        if survey.found and not survey.excluded and not _has_hooks(survey.agent, facts):
            yield Problem(
                code="hooks.off",
                agent=survey.agent,
                what="it does not tell us when something was said; the next command looks",
                mend=f"`conversation-esaa enable-hooks --agent {survey.agent}`",
                is_note=True,
            )
    surveyed = {survey.agent for survey in facts.surveys}
    for agent in facts.hooks:
        if agent not in surveyed:
            yield from _of_hooks(agent, facts)


def _has_hooks(agent: str, facts: Facts) -> bool:
    """Whether there are any of ours, or it has none that could be."""
    ours = (fact.kind != "instructions" for fact in facts.hooks.get(agent, ()))
    return agent not in facts.with_hooks or any(ours)


def _of_the_workspace(facts: Facts, freshness: Freshness, *, looked: bool) -> Iterator[Problem]:
    if looked and not freshness.caught_up:
        yield Problem(
            code="capture.behind",
            what=f"what the agents said last could not be captured: {freshness.reason}",
            mend="`conversation-esaa sync` tries again and says what hinders",
            fixable=True,
        )
    if freshness.unreadable_lines:
        yield Problem(
            code="log.unreadable_lines",
            what=f"no event in {counted(freshness.unreadable_lines, 'line')} of the log",
            mend="`conversation-esaa verify` names them; all others stay readable",
        )
    if facts.too_open:
        yield Problem(
            code="store.too_open",
            what=f"other users may read {', '.join(facts.too_open[:5])}",
            mend="`conversation-esaa doctor --fix`",
            fixable=True,
        )
    if facts.stale_read_models:
        yield Problem(
            code="read_models.stale",
            what=f"not as the log says: {', '.join(facts.stale_read_models)}",
            mend="`conversation-esaa project`",
            fixable=True,
        )
    late = [at for at in facts.waiting if (_age_s(at, facts.now) or 0) > LATE_S]
    if late:
        yield Problem(
            code="spool.waiting",
            what=f"{counted(len(late), 'call')} of hooks, not taken in since {min(late)}",
            mend="`conversation-esaa doctor --fix`",
            fixable=True,
        )
    if facts.hook_failures:
        yield Problem(
            code="hooks.failures",
            what=f"hooks noted {counted(len(facts.hook_failures), 'failure')}, the last: {facts.hook_failures[-1]}",
            mend="`.conversation-esaa/run/hook.log` has them; delete it when they are of the past",
            is_note=True,
        )
    for file in facts.older_hooks:
        yield Problem(
            code="hooks.older_tool",
            what=f"{file} still calls the older tool's scripts",
            mend="take those entries out by hand; `conversation-esaa enable-hooks` puts ours in",
        )


def _of_a_log(survey: AgentSurvey, now: str) -> Iterator[Problem]:
    agent = survey.agent
    if survey.failed:
        yield Problem(
            code="agent.unreadable",
            agent=agent,
            what=f"its sessions in {survey.home} could not be looked at: {survey.failed}",
            mend="make them readable for your user, then `conversation-esaa sync`",
        )
    if survey.excluded:
        return
    for path, strange in survey.strange.items():
        yield Problem(
            code="agent.strange_format",
            agent=agent,
            what=f"{path}: {strange}; its format may have changed",
            mend="look for a newer conversation-esaa; if there is none, `conversation-esaa sample PATH` shows the "
            "structure of that file, without text, to report",
        )
    for path, numbers in survey.bad_lines.items():
        yield Problem(
            code="agent.bad_lines",
            agent=agent,
            what=f"{path}: no record could be read in {counted(len(numbers), 'line')}, the first {numbers[0]}",
            mend="nothing to do: all other lines were read",
            is_note=True,
        )
    if survey.unknown:
        kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(survey.unknown.items())[:5])
        yield Problem(
            code="agent.unknown_records",
            agent=agent,
            what=f"record types that this version does not know: {kinds}",
            mend="look for a newer conversation-esaa; if there is none, report the names of these types",
            is_note=True,
        )
    for reason, count in sorted(survey.unlisted.items()):
        yield Problem(
            code="agent.unlisted",
            agent=agent,
            what=f"{count} × {reason}",
            mend="nothing to do here; docs/reference/agents says more",
            is_note=True,
        )
    by = to_utc(datetime.fromisoformat(now) + timedelta(days=WARN_DAYS))
    if survey.retention and "" < survey.deleted_from <= by:
        yield Problem(
            code="agent.deletes_uncaptured",
            agent=agent,
            what=f"it deletes sessions {survey.retention.days} days after their last word, and "
            f"{survey.with_news} of them are not captured; the oldest may go from {survey.deleted_from[:10]} on",
            mend=f"`conversation-esaa sync`; or a larger {survey.retention.setting} in {survey.retention.file}",
            fixable=True,
        )


def _of_hooks(agent: str, facts: Facts) -> Iterator[Problem]:
    sound = False
    for fact in facts.hooks.get(agent, ()):
        if fact.problem:
            code = "stale" if fact.stale else "approval_required" if fact.approval_required else "broken"
            yield Problem(
                code=f"hooks.{code}", agent=agent, what=f"{fact.file}: {fact.problem}", mend=fact.mend
            )
        sound = sound or (not fact.problem and fact.kind != "instructions")
    if failed := facts.proofs.get(agent):
        yield Problem(
            code="hooks.no_way_through",
            agent=agent,
            what=f"a made-up call did not come through: {failed}",
            mend=f"`conversation-esaa enable-hooks --agent {agent}` writes the call anew; "
            "`.conversation-esaa/run/hook.log` may tell more",
        )
    elif sound and agent not in facts.heard:
        yield Problem(
            code="hooks.never_called",
            agent=agent,
            what="its hooks are set up and have not called yet",
            mend="say something to it; agents read their settings when a session starts",
            is_note=True,
        )
