"""Decisions: what was settled, why, on what evidence, and what took its place.

`decisions.md` is for people and agents; the value is for curation and for the other read models.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from conversation_esaa.events import DecisionRecorded, DecisionRetracted, DecisionSuperseded, Head, Recorded
from conversation_esaa.ids import DECISION_WIDTH, AgentId, DecisionId, EventId, TopicId, next_id
from conversation_esaa.projections.markdown import code, label, moment, more, notice, who, words
from conversation_esaa.text import masked

SCHEMA = "conversation-esaa.decisions/2"

ACTIVE = "active"
SUPERSEDED = "superseded"
RETRACTED = "retracted"

SOURCES_SHOWN = 10
TEXT_SHOWN = 2000  # characters of a decision or a reason in decisions.md; `show` has all of it


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """One decision, as the log has it now. Words are masked."""

    id: DecisionId
    decision: str
    rationale: str = ""
    status: str = ACTIVE  # active, superseded or retracted
    ts: str = ""  # when it was recorded
    actor: str = ""
    agent_id: AgentId | None = None  # who recorded it
    event_id: EventId = EventId("")
    seq: int = 0
    related_turns: tuple[EventId, ...] = ()  # the evidence
    supersedes: tuple[DecisionId, ...] = ()
    superseded_by: DecisionId = DecisionId("")
    ended_ts: str = ""  # when it was superseded or retracted
    ended_because: str = ""  # the reason of a retraction


Decisions = Mapping[DecisionId, Decision]  # in the order they were recorded
EMPTY: Decisions = MappingProxyType({})


def named(event: DecisionRecorded, known: Decisions) -> DecisionRecorded:
    """`event` with its decision_id. A v1.1 line has none: its id is its position among the decisions."""
    if event.decision_id:
        return event
    by_position = DecisionId(f"DEC-{len(known) + 1:0{DECISION_WIDTH}d}")
    if by_position in known:
        by_position = DecisionId(next_id("DEC", DECISION_WIDTH, known))
    return msgspec.structs.replace(event, decision_id=by_position)


def apply(decisions: dict[DecisionId, Decision], event: Recorded) -> None:
    """Move `decisions`, which the caller owns, one event forward. Unknown ids change nothing.

    An id that is recorded twice (only a foreign tool writes that) is what the last event says. A
    retraction does not bring back what the retracted decision had superseded.
    """
    match event:
        case DecisionRecorded():
            event = named(event, decisions)
            decisions[event.decision_id] = Decision(
                id=event.decision_id,
                decision=masked(event.decision or event.text),
                rationale=masked(event.rationale),
                ts=event.ts,
                actor=event.actor,
                agent_id=event.agent_id,
                event_id=event.event_id,
                seq=event.seq,
                related_turns=event.related_turns,
            )
        case DecisionSuperseded(decision_id=old, superseded_by=new) if old in decisions and old != new:
            decisions[old] = msgspec.structs.replace(
                decisions[old], status=SUPERSEDED, superseded_by=new, ended_ts=event.ts, ended_because=""
            )
            if new in decisions and old not in decisions[new].supersedes:
                later = decisions[new]
                decisions[new] = msgspec.structs.replace(later, supersedes=(*later.supersedes, old))
        case DecisionRetracted(decision_id=old) if old in decisions:
            decisions[old] = msgspec.structs.replace(
                decisions[old], status=RETRACTED, ended_ts=event.ts, ended_because=masked(event.rationale)
            )
        case _:
            return


def step(decisions: Decisions, event: Recorded) -> Decisions:
    """One event forward."""
    return fold((event,), decisions)


def fold(events: Iterable[Recorded], start: Decisions = EMPTY) -> Decisions:
    """All events forward, in log order."""
    decisions = dict(start)
    for event in events:
        apply(decisions, event)
    return decisions


def active(decisions: Decisions) -> list[Decision]:
    """What holds, newest first."""
    return [decision for decision in decisions.values() if decision.status == ACTIVE][::-1]


def render(decisions: Decisions, head: Head, topics: Mapping[DecisionId, tuple[TopicId, ...]]) -> str:
    """decisions.md: what holds first, newest first; then what was superseded, then what was retracted.

    topics   for each decision the topics it belongs to, see `topics.of_decisions`.
    """
    held = active(decisions)
    ended = [decision for decision in decisions.values() if decision.status != ACTIVE]
    lines = [notice(SCHEMA, head), "", "# Decisions", "", "## Active", ""]
    for decision in held:
        lines += _told(decision, topics.get(decision.id, ()))
    if not held:
        lines += ["None.", ""]
    for title, status in (("Superseded", SUPERSEDED), ("Retracted", RETRACTED)):
        those = [decision for decision in ended if decision.status == status]
        if those:
            lines += [f"## {title}", ""]
            for decision in those:
                lines += _told(decision, topics.get(decision.id, ()))
    return "\n".join(lines)


def _told(decision: Decision, topic_ids: tuple[TopicId, ...]) -> list[str]:
    lines = [f"### {label(decision.id)}", "", words(decision.decision, limit=TEXT_SHOWN), ""]
    if decision.status == SUPERSEDED:
        lines.append(f"- superseded by {label(decision.superseded_by)}, {moment(decision.ended_ts)}")
    if decision.status == RETRACTED:
        because = f": {words(decision.ended_because, limit=TEXT_SHOWN)}" if decision.ended_because else ""
        lines.append(f"- retracted {moment(decision.ended_ts)}{because}")
    if decision.rationale:
        lines.append(f"- why: {words(decision.rationale, limit=TEXT_SHOWN)}")
    lines.append(f"- recorded by {who(decision.agent_id, decision.actor)}, {moment(decision.ts)}")
    if decision.related_turns:
        shown = ", ".join(code(source[:12]) for source in decision.related_turns[:SOURCES_SHOWN])
        lines.append(f"- sources: {shown}")
        if len(decision.related_turns) > SOURCES_SHOWN:
            rest = len(decision.related_turns) - SOURCES_SHOWN
            lines.append(more(rest, "source", f"`conversation-esaa show {label(decision.id)}`"))
    if topic_ids:
        lines.append(f"- topics: {', '.join(map(label, topic_ids))}")
    if decision.supersedes:
        lines.append(f"- supersedes {', '.join(map(label, decision.supersedes))}")
    lines.append("")
    return lines
