"""To decide, and to take a decision back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.curation import checks
from conversation_esaa.curation.topics import existing as existing_topic
from conversation_esaa.events import DecisionRecorded, DecisionRetracted, DecisionSuperseded, Recorded
from conversation_esaa.ids import DECISION_WIDTH, AgentId, DecisionId, next_id
from conversation_esaa.projections.decisions import ACTIVE, SUPERSEDED, Decision

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.projections.catalogue import State


def decide(
    state: State,
    *,
    text: str,
    rationale: str = "",
    sources: Iterable[str] = (),
    topics: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    agent: AgentId,
    known: checks.Known,
) -> list[Recorded]:
    """A decision, and for each decision it takes the place of, that it does.

    sources      event ids, or unique prefixes: the evidence.
    supersedes   ids of active decisions. Chains cannot close into a circle, since a new decision can only
                 follow older ones.

    Raises BlankText, TextTooLong, UnknownName, AmbiguousName, NotActive.
    """
    decision_id = DecisionId(next_id("DEC", DECISION_WIDTH, state.decisions))
    replaced = checks.unique(_active(state, name, "superseded").id for name in supersedes)
    actor = checks.actor_of(agent)
    recorded = DecisionRecorded(
        decision_id=decision_id,
        decision=checks.stated(
            "the decision", text, hint="`conversation-esaa decide TEXT --rationale WHY` records one."
        ),
        rationale=checks.optional("the rationale", rationale),
        related_turns=checks.events(sources, known),
        topic_ids=checks.unique(existing_topic(state, name).id for name in topics),
        agent_id=agent,
        actor=actor,
    )
    return [
        recorded,
        *(
            DecisionSuperseded(decision_id=old, superseded_by=decision_id, agent_id=agent, actor=actor)
            for old in replaced
        ),
    ]


def retract(state: State, *, decision_id: str, rationale: str = "", agent: AgentId) -> list[Recorded]:
    """That a decision no longer holds, and nothing takes its place.

    What it had superseded stays superseded: decide anew what should hold again.
    Raises UnknownName, NotActive, TextTooLong.
    """
    return [
        DecisionRetracted(
            decision_id=_active(state, decision_id, "retracted").id,
            rationale=checks.optional("the rationale", rationale),
            agent_id=agent,
            actor=checks.actor_of(agent),
        )
    ]


def existing(state: State, name: str) -> Decision:
    """The decision called `name`. Raises UnknownName."""
    found = checks.existing("decision", name, state.decisions, listing="`.conversation-esaa/decisions.md`")
    return state.decisions[found]


def _active(state: State, name: str, wanted: str) -> Decision:
    decision = existing(state, name)
    if decision.status == ACTIVE:
        return decision
    if decision.status == SUPERSEDED:
        raise checks.NotActive(
            f"{decision.id} is superseded by {decision.superseded_by}, it cannot be {wanted}",
            hint=f"`conversation-esaa show {decision.superseded_by}` shows what took its place.",
        )
    raise checks.NotActive(
        f"{decision.id} is retracted, it cannot be {wanted}",
        hint="`conversation-esaa decide TEXT` records a new decision.",
    )
