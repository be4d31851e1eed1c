"""To say what the work is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.curation import checks
from conversation_esaa.events import GoalSet, Recorded
from conversation_esaa.projections.goal import current

if TYPE_CHECKING:
    from conversation_esaa.ids import AgentId
    from conversation_esaa.projections.catalogue import State


def set_goal(state: State, *, text: str, agent: AgentId) -> list[Recorded]:
    """The objective from now on; a blank `text` says that there is none any more.

    Raises NothingToDo when that is what the log says already, TextTooLong.
    """
    text = checks.optional("the objective", text)
    now = current(state.goals)
    if text == (now.goal if now else ""):
        raise checks.NothingToDo(
            "this is the objective already" if text else "no objective is set",
            hint="`conversation-esaa goal` shows it.",
        )
    return [GoalSet(goal=text, agent_id=agent, actor=checks.actor_of(agent))]
