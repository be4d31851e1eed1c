"""From the spool into the log: what a worker, or a watcher, does about the calls that hooks left."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents.registry import modules
from conversation_esaa.capture import heard, hooked, spool
from conversation_esaa.capture.drafts import mark_event, turn_event
from conversation_esaa.capture.gate import Verdict
from conversation_esaa.capture.roots import workspace_gate
from conversation_esaa.ids import AgentId, agent_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conversation_esaa.capture.spool import Hook
    from conversation_esaa.curated import Curated
    from conversation_esaa.events import FromSource, Recorded
    from conversation_esaa.projections.catalogue import State
    from conversation_esaa.projections.conversation import Session

LOOK_AGAIN_S = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Pauses before an agent's log is looked at again for an answer that its hook told of. Grok writes the answer
some hundred milliseconds after its `Stop`."""


class Drained(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    calls: int = 0
    captured: int = 0  # events added
    unanswered: int = 0  # sessions whose last answer did not come into the agent's log in time


def drain(workspace: Curated, *, pause: Callable[[float], None]) -> Drained:
    """Take every call in the spool into the log, until none is left, and renew the read models.

    pause   waits some seconds (`time.sleep`), while an agent's log lags behind its hook: 3.1 at most for the
            calls that came together. None of our locks is held meanwhile.

    The agents that called are captured from their own logs, each once for all its calls; one that did not
    say who it is makes us look at all of them. A call leaves the spool when all it stands for is durable, so
    dying at any moment, or two of us at once, costs a second look and no turn. Waits for the log's lock as
    the workspace does. Raises what `sync` raises, and then the calls stay where they are.
    """
    known: set[Path] = set()
    done = Drained()
    while paths := spool.waiting(workspace.layout, besides=known):
        calls = list(map(spool.read, paths))
        captured, unanswered = _Calls(workspace, calls).take(pause)
        heard.note(workspace.layout, calls)
        spool.done(paths)
        known.update(paths)
        done = Drained(
            calls=done.calls + len(paths),
            captured=done.captured + captured,
            unanswered=done.unanswered + unanswered,
        )
    return done


class _Calls:
    """The calls that are taken in together."""

    def __init__(self, workspace: Curated, hooks: Sequence[Hook]) -> None:
        self.workspace = workspace
        self.excluded = set(map(agent_id, workspace.settings.capture.exclude_agents))
        self.hooks = [hook for hook in hooks if self._callers(hook)]
        self.agents = sorted(
            {name for hook in self.hooks for name in self._callers(hook) if name in modules()}
        )
        if any(not hook.agent for hook in self.hooks):
            self.agents = [name for name in modules() if name not in self.excluded]

    def take(self, pause: Callable[[float], None]) -> tuple[int, int]:
        """How many events were added, and how many answers are still to come."""
        telling = [hook for hook in self.hooks if _tells(hook)]
        captured = self._capture(self.agents, project=not telling)
        promised = self._promised()
        late = self._late(promised)
        for seconds in LOOK_AGAIN_S:
            if not late:
                break
            pause(seconds)
            captured += self._capture(sorted({agent for agent, _ in late}), project=False)
            late = self._late(promised)
        if telling:
            captured += len(self.workspace.curate("hooks", partial(self._told, telling)))
        else:
            self.workspace.renew(self.workspace.log.head(), wait_s=self.workspace.lock_wait_s)
        return captured, len(late)

    def _callers(self, hook: Hook) -> list[AgentId]:
        return [name for name in hooked.callers(hook) if name not in self.excluded]

    def _capture(self, agents: Sequence[str], *, project: bool) -> int:
        return self.workspace.sync(agents=agents, project=project).captured if agents else 0

    def _promised(self) -> dict[tuple[AgentId, str], str]:
        """The last answer of each session that must be in its log by now, or soon."""
        promised: dict[tuple[AgentId, str], str] = {}
        for hook in self.hooks:
            session = hook.agent, hooked.session_id(hook)
            if not session[1] or hook.agent not in modules():
                continue
            if said := hooked.answer(hook):
                promised[session] = said
            elif hooked.goes_on(hook):  # the talk has gone on
                promised.pop(session, None)
        return promised

    def _late(self, promised: Mapping[tuple[AgentId, str], str]) -> list[tuple[AgentId, str]]:
        if not promised:
            return []
        state = self.workspace.state()
        return [key for key, said in promised.items() if not hooked.is_in(said, _session(state, *key))]

    def _told(self, telling: Sequence[Hook], state: State) -> list[Recorded]:
        """What the calls themselves tell and the log has not, as drafts."""
        drafts: dict[str, Recorded] = {}
        for draft in self._drafts(telling, state):
            if draft.event_id not in drafts and not self.workspace.knows(draft.event_id):
                drafts[draft.event_id] = draft
        return list(drafts.values())

    def _drafts(self, telling: Sequence[Hook], state: State) -> Iterator[FromSource]:
        settings = self.workspace.settings
        gate = workspace_gate(self.workspace.layout, settings)
        for hook in telling:
            told = hook.payload.get("cwd")
            cwd = told if isinstance(told, str) and told else str(self.workspace.root)
            if gate.judge(cwd) is not Verdict.ADMITTED:
                continue
            if hook.agent in hooked.ONLY_HOOKS:
                turn = hooked.turn(hook, cwd=cwd)
                limit = settings.capture.max_text_characters
                if turn and (event := turn_event(turn, source_path="", max_characters=limit)):
                    yield event
                continue
            for agent in self._callers(hook):
                if session := _session(state, agent, hooked.session_id(hook)):
                    mark = hooked.end(hook, agent, turns=session.turns, cwd=cwd)
                    yield mark_event(mark, source_path="")


def _tells(hook: Hook) -> bool:
    """Whether a call says something that no log of its agent does."""
    return hook.agent in hooked.ONLY_HOOKS or hooked.ends(hook)


def _session(state: State, agent: AgentId, session_id: str) -> Session | None:
    voice = state.conversation.voices.get(agent)
    return voice.sessions.get(session_id) if voice else None
