"""One pass, resumable anywhere, the same bytes everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.logs import LogBuilder, rich
from conversation_esaa import events
from conversation_esaa.errors import UnknownName
from conversation_esaa.projections import catalogue

SOURCE = Path(__file__).parents[2] / "src"

short = st.sampled_from(["", "a", "tide", "# x", "```", "ghp_" + "R4nd0mMadeUpTokenValue0123456789abcd"[:36]])
decision_ids = st.sampled_from(["", "DEC-0001", "DEC-0002", "DEC-0003"])
task_ids = st.sampled_from(["CONV-001", "CONV-002"])
topic_ids = st.sampled_from(["TOP-001", "TOP-002"])
some_topics = st.lists(topic_ids, max_size=2).map(tuple)
moments = st.sampled_from(
    ["", "2026-01-01T00:00:00.000Z", "2026-03-02T09:30:00.000Z", "2027-01-01T00:00:00.000Z"]
)
agents = st.sampled_from(["", "codex", "grok"])
sessions = st.sampled_from([f"s-{number}" for number in range(8)])

any_event = st.one_of(
    st.builds(
        events.ConversationTurn,
        ts=moments,
        actor=st.sampled_from(["user", "assistant", "system"]),
        text=short,
        source=agents,
        source_session_id=sessions,
        message_ref=st.sampled_from(["", "m"]),
        topic_ids=some_topics,
        model=short,
    ),
    st.builds(events.SessionStarted, ts=moments, source=agents, source_session_id=sessions, git_branch=short),
    st.builds(events.SessionEnded, ts=moments, source=agents, source_session_id=sessions),
    st.builds(events.SessionCompacted, ts=moments, source=agents, source_session_id=sessions),
    st.builds(events.GoalSet, goal=short),
    st.builds(
        events.DecisionRecorded,
        decision_id=decision_ids,
        decision=short,
        rationale=short,
        topic_ids=some_topics,
    ),
    st.builds(events.DecisionSuperseded, decision_id=decision_ids, superseded_by=decision_ids),
    st.builds(events.DecisionRetracted, decision_id=decision_ids, rationale=short),
    st.builds(events.TaskCreated, task_id=task_ids, title=short, status=short, topic_ids=some_topics),
    st.builds(events.TaskUpdated, task_id=task_ids, title=st.none() | short, status=st.none() | short),
    st.builds(events.TaskClosed, task_id=task_ids, evidence=short),
    st.builds(events.TaskReopened, task_id=task_ids, evidence=short),
    st.builds(
        events.TopicCreated, topic_id=topic_ids, title=short, event_ids=st.lists(short, max_size=3).map(tuple)
    ),
    st.builds(events.TopicUpdated, topic_id=topic_ids, summary=st.none() | short),
    st.builds(events.TopicEventLinked, topic_id=topic_ids, event_ids=st.lists(short, max_size=3).map(tuple)),
    st.builds(
        events.TopicEventUnlinked, topic_id=topic_ids, event_ids=st.lists(short, max_size=3).map(tuple)
    ),
    st.builds(events.TopicClosed, topic_id=topic_ids, evidence=short),
    st.builds(events.UnknownEvent, name=st.just("weather.changed")),
)


def entries_of(stated):
    log = LogBuilder()
    for event in stated:
        log.add(event)
    return log.entries


@settings(max_examples=200)
@given(st.lists(any_event, max_size=30), st.integers(0, 30))
def test_stopping_and_resuming_a_fold_changes_nothing(stated, at):
    """What makes a stored state safe to start from: after any line, through JSON and back."""
    entries = entries_of(stated)

    stored = msgspec.json.encode(catalogue.fold(entries[:at]))
    resumed = catalogue.fold(entries[at:], msgspec.json.decode(stored, type=catalogue.State))

    cold = catalogue.fold(entries)
    assert resumed == cold
    assert msgspec.json.encode(resumed) == msgspec.json.encode(cold)


@settings(max_examples=50)
@given(st.lists(any_event, max_size=20))
def test_line_by_line_is_the_same_as_all_at_once(stated):
    """A state is stored after each capture, and some captures bring one line."""
    entries = entries_of(stated)
    state = catalogue.State()

    for entry in entries:
        state = catalogue.fold([entry], state)

    assert state == catalogue.fold(entries)


@given(st.lists(any_event, max_size=15))
def test_a_fold_leaves_its_start_alone(stated):
    """Two readers may go on from one stored state."""
    entries = entries_of(stated)
    start = catalogue.fold(entries)
    before = msgspec.json.encode(start)

    catalogue.fold(entries, start)

    assert msgspec.json.encode(start) == before


@settings(max_examples=50)
@given(st.lists(any_event, max_size=20))
def test_no_log_can_stop_a_read_model_from_being_written(stated):
    """Old and foreign logs hold any string in any field."""
    log = LogBuilder()
    for event in stated:
        log.add(event)
    state = catalogue.fold(log.entries)

    for name in catalogue.RENDERERS:
        catalogue.render(name, state, log.head).encode()


def test_the_bytes_do_not_depend_on_hash_seed_locale_or_time_zone():
    """I3: two machines that project the same log must agree, or nobody can verify."""
    program = (
        "import hashlib\n"
        "from builders.logs import rich\n"
        "from conversation_esaa.projections import catalogue\n"
        "log = rich()\n"
        "state = catalogue.fold(log.entries)\n"
        "text = ''.join(catalogue.render(name, state, log.head) for name in catalogue.RENDERERS)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )

    def digest(**environment):
        path = os.pathsep.join([str(SOURCE), str(Path(__file__).parents[1])])
        environ = {**os.environ, "PYTHONPATH": path, **environment}
        return subprocess.run(
            [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
        ).stdout

    assert digest(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C") == digest(
        PYTHONHASHSEED="4711", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8"
    )


def test_an_unknown_read_model_is_refused_with_the_nearest_name():
    """A typing error in a call should not end in a KeyError."""
    with pytest.raises(UnknownName) as refused:
        catalogue.render("task.json", catalogue.State(), LogBuilder().head)

    assert refused.value.hint == "Did you mean 'tasks.json'?"


def test_the_state_holds_no_secret_that_was_said():
    """I6: it is cached on disk beside the index."""
    token = "ghp_" + "R4nd0mMadeUpTokenValue0123456789abcd"[:36]
    log = rich()
    log.add(events.GoalSet(goal=f"Rotate {token}"))
    log.add(events.DecisionRecorded(decision_id="DEC-0009", decision=token, rationale=token))
    log.add(events.DecisionRetracted(decision_id="DEC-0009", rationale=token))
    log.add(events.TaskCreated(task_id="CONV-009", title=token, description=token, next_step=token))
    log.add(events.TaskUpdated(task_id="CONV-009", title=token, next_step=token))
    log.add(events.TaskClosed(task_id="CONV-009", evidence=token))
    log.add(events.TaskReopened(task_id="CONV-009", evidence=token, next_step=token))
    log.add(events.TopicCreated(topic_id="TOP-009", title=token, summary=token, keywords=(token,)))
    log.add(events.TopicUpdated(topic_id="TOP-009", title=token, summary=token, keywords=(token,)))
    log.add(events.TopicClosed(topic_id="TOP-009", evidence=token))
    log.said("user", token, git_branch=token)
    state = catalogue.fold(log.entries)

    texts = [catalogue.render(name, state, log.head) for name in catalogue.RENDERERS]

    assert token not in msgspec.json.encode(state).decode()
    assert all(token not in text for text in texts)
