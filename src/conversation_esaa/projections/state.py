"""state.md: where things stand, on one page: objective, counts, tasks, decisions, topics, who was here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.projections import conversation
from conversation_esaa.projections.markdown import (
    code,
    counted,
    label,
    moment,
    more,
    notice,
    status,
    who,
    words,
)

if TYPE_CHECKING:
    from conversation_esaa.events import Head
    from conversation_esaa.projections.conversation import Conversation
    from conversation_esaa.projections.standing import Brief, Standing

SCHEMA = "conversation-esaa.state/2"

SHOWN = 20  # decisions, tasks and topics on this page; their own read models have all
SENTENCE = 200  # characters


def render(brief: Brief, head: Head) -> str:
    """Markdown. Lists are newest first, and say how many more there are. Raises NotKept."""
    now, talk = brief.standing, brief.conversation
    lines = [notice(SCHEMA, head), "", "# State", ""]
    lines += ["## Objective", "", *_objective(now), ""]
    lines += ["## Counts", "", *_counts(now, talk), ""]
    lines += ["## Open tasks", "", *_tasks(now), ""]
    lines += ["## Active decisions", "", *_decisions(now), ""]
    lines += ["## Topics", "", *_topics(now), ""]
    lines += ["## Last said, by agent", "", *_agents(talk)]
    return "\n".join(lines) + "\n"


def _objective(now: Standing) -> list[str]:
    goal = now.goal
    if goal is None:
        return ["None is set. `conversation-esaa goal TEXT` sets one."]
    return [words(goal.goal, limit=2000), "", f"- set by {who(goal.agent_id, goal.actor)}, {moment(goal.ts)}"]


def _counts(now: Standing, talk: Conversation) -> list[str]:
    still, held = now.tasks_open, now.decisions_active
    lines = [f"- {counted(talk.events, 'event')}, {counted(talk.turns, 'turn')} among them"]
    if talk.events:
        lines.append(f"- from {moment(talk.first_ts)} to {moment(talk.last_ts)}")
    lines += [
        f"- {code(agent)}: {counted(voice.user_turns, 'turn')} of a person, {voice.assistant_turns} of the agent, "
        f"in {counted(len(voice.session_turns), 'session')}"
        for agent, voice in talk.voices.items()
    ]
    lines += [
        f"- tasks: {still} open, {now.tasks_ever - still} closed",
        f"- decisions: {held} active, {now.decisions_ever - held} superseded or retracted",
        f"- topics: {now.topics_active} active, {now.topics_ever} in all",
    ]
    return lines


def _tasks(now: Standing) -> list[str]:
    still = now.open_tasks
    lines = [
        f"- {label(task.id)} [{status(task.status)}] {words(task.title, limit=SENTENCE)}"
        + (f" — next: {words(task.next_step, limit=SENTENCE)}" if task.next_step else "")
        for task in still[:SHOWN]
    ]
    if len(still) > SHOWN:
        lines.append(more(len(still) - SHOWN, "open task", "`conversation-esaa task list`"))
    return lines or ["None."]


def _decisions(now: Standing) -> list[str]:
    held = now.active_decisions
    lines = [
        f"- {label(decision.id)} {words(decision.decision, limit=SENTENCE)}"
        + (f" — why: {words(decision.rationale, limit=SENTENCE)}" if decision.rationale else "")
        for decision in held[:SHOWN]
    ]
    if len(held) > SHOWN:
        lines.append(more(len(held) - SHOWN, "active decision", "`.conversation-esaa/decisions.md`"))
    return lines or ["None."]


def _topics(now: Standing) -> list[str]:
    ordered = now.all_topics
    lines = [
        f"- {label(topic.id)} [{status(topic.status)}] {words(topic.title, limit=SENTENCE)}"
        for topic in ordered[:SHOWN]
    ]
    if len(ordered) > SHOWN:
        lines.append(more(len(ordered) - SHOWN, "topic", "`conversation-esaa topic list`"))
    return lines or ["None."]


def _agents(talk: Conversation) -> list[str]:
    lines = []
    for session in conversation.newest_of_each(talk):
        branch = f", branch {code(session.git_branch)}" if session.git_branch else ""
        lines.append(
            f"- {code(session.agent_id)}, session {code(session.session_id)}{branch}, {moment(session.last_ts)}"
        )
        for role, message in conversation.in_order(session):
            lines.append(f"  - {role}, {moment(message.ts)}: {words(message.text, limit=SENTENCE)}")
    return lines or ["Nobody yet."]
