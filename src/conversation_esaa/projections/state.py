"""state.md: where things stand, on one page: objective, counts, tasks, decisions, topics, who was here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.projections import conversation, decisions, goal, tasks, topics
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
    from conversation_esaa.projections.catalogue import State

SCHEMA = "conversation-esaa.state/2"

SHOWN = 20  # decisions, tasks and topics on this page; their own read models have all
SENTENCE = 200  # characters


def render(state: State, head: Head) -> str:
    """Markdown. Lists are newest first, and say how many more there are."""
    lines = [notice(SCHEMA, head), "", "# State", ""]
    lines += ["## Objective", "", *_objective(state), ""]
    lines += ["## Counts", "", *_counts(state), ""]
    lines += ["## Open tasks", "", *_tasks(state), ""]
    lines += ["## Active decisions", "", *_decisions(state), ""]
    lines += ["## Topics", "", *_topics(state), ""]
    lines += ["## Last said, by agent", "", *_agents(state)]
    return "\n".join(lines) + "\n"


def _objective(state: State) -> list[str]:
    now = goal.current(state.goals)
    if now is None:
        return ["None is set. `conversation-esaa goal TEXT` sets one."]
    return [words(now.goal, limit=2000), "", f"- set by {who(now.agent_id, now.actor)}, {moment(now.ts)}"]


def _counts(state: State) -> list[str]:
    talk = state.conversation
    still = len(tasks.open_tasks(state.tasks))
    held = len(decisions.active(state.decisions))
    lines = [f"- {counted(talk.events, 'event')}, {counted(talk.turns, 'turn')} among them"]
    if talk.events:
        lines.append(f"- from {moment(talk.first_ts)} to {moment(talk.last_ts)}")
    lines += [
        f"- {code(agent)}: {counted(voice.user_turns, 'turn')} of a person, {voice.assistant_turns} of the agent, "
        f"in {counted(len(voice.session_turns), 'session')}"
        for agent, voice in talk.voices.items()
    ]
    lines += [
        f"- tasks: {still} open, {len(state.tasks) - still} closed",
        f"- decisions: {held} active, {len(state.decisions) - held} superseded or retracted",
        f"- topics: {len(topics.active(state.topics))} active, {len(state.topics)} in all",
    ]
    return lines


def _tasks(state: State) -> list[str]:
    still = tasks.open_tasks(state.tasks)
    lines = [
        f"- {label(task.id)} [{status(task.status)}] {words(task.title, limit=SENTENCE)}"
        + (f" — next: {words(task.next_step, limit=SENTENCE)}" if task.next_step else "")
        for task in still[:SHOWN]
    ]
    if len(still) > SHOWN:
        lines.append(more(len(still) - SHOWN, "open task", "`conversation-esaa task list`"))
    return lines or ["None."]


def _decisions(state: State) -> list[str]:
    held = decisions.active(state.decisions)
    lines = [
        f"- {label(decision.id)} {words(decision.decision, limit=SENTENCE)}"
        + (f" — why: {words(decision.rationale, limit=SENTENCE)}" if decision.rationale else "")
        for decision in held[:SHOWN]
    ]
    if len(held) > SHOWN:
        lines.append(more(len(held) - SHOWN, "active decision", "`.conversation-esaa/decisions.md`"))
    return lines or ["None."]


def _topics(state: State) -> list[str]:
    current = topics.active(state.topics)
    ordered = [*current, *(topic for topic in state.topics.values() if topic.status != topics.ACTIVE)]
    lines = [
        f"- {label(topic.id)} [{status(topic.status)}] {words(topic.title, limit=SENTENCE)}"
        for topic in ordered[:SHOWN]
    ]
    if len(ordered) > SHOWN:
        lines.append(more(len(ordered) - SHOWN, "topic", "`conversation-esaa topic list`"))
    return lines or ["None."]


def _agents(state: State) -> list[str]:
    lines = []
    for session in conversation.newest_of_each(state.conversation):
        branch = f", branch {code(session.git_branch)}" if session.git_branch else ""
        lines.append(
            f"- {code(session.agent_id)}, session {code(session.session_id)}{branch}, {moment(session.last_ts)}"
        )
        for role, message in conversation.in_order(session):
            lines.append(f"  - {role}, {moment(message.ts)}: {words(message.text, limit=SENTENCE)}")
    return lines or ["Nobody yet."]
