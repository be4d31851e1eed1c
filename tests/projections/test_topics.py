"""Topics: links made by hand, all of them kept."""

import msgspec

from builders.logs import LogBuilder, reference
from conversation_esaa.events import (
    DecisionRecorded,
    TaskCreated,
    TopicClosed,
    TopicCreated,
    TopicEventLinked,
    TopicEventUnlinked,
    TopicUpdated,
)
from conversation_esaa.projections import catalogue, topics


def created(**more):
    return TopicCreated(
        topic_id="TOP-001", title="Paint", summary="Which colour", ts="2026-01-01T00:00:00.000Z", **more
    )


def test_the_reference_log_gives_the_topics_it_is_known_to_hold():
    """Field names and links are those of the older tool, for whatever reads its file."""
    entries, head = reference()
    by_line = {entry.event.seq: entry.event.event_id for entry in entries}
    state = catalogue.fold(entries)

    found = msgspec.json.decode(topics.render_json(state.topics, head, state.decisions))["topics"]

    first = {
        "id": "TOP-001",
        "title": "Hook installation",
        "summary": "Hooks: merge, never overwrite",
        "status": "paused",
        "created_ts": "2026-06-21T15:10:00.000Z",
        "last_ts": "2026-07-12T11:05:00.000Z",
        "keywords": [],
        "key_event_ids": [by_line[4], by_line[8], by_line[12], by_line[16]],
        "event_count": 4,
        "first_event_id": by_line[4],
        "last_event_id": by_line[16],
        "related_decisions": [by_line[16]],
        "related_tasks": ["CONV-002"],
        "source": "curated",
    }
    second = {
        "id": "TOP-002",
        "title": "Status reports",
        "summary": "Status reports",
        "status": "completed",
        "created_ts": "2026-07-12T11:00:00.000Z",
        "last_ts": "2026-07-12T12:30:00.000Z",
        "keywords": [],
        "key_event_ids": [by_line[19], by_line[28]],
        "event_count": 2,
        "first_event_id": by_line[19],
        "last_event_id": by_line[28],
        "related_decisions": [],
        "related_tasks": [],
        "source": "curated",
    }
    assert [{key: topic[key] for key in first} for topic in found] == [first, second]
    assert [topic["decision_ids"] for topic in found] == [["DEC-0002"], []]


def test_every_link_is_kept_and_the_page_shows_the_newest():
    """The older tool kept the first twenty, and forgot what a long topic was about now."""
    log = LogBuilder()
    log.add(created())
    ids = [f"{number:064x}" for number in range(1, 26)]
    for event_id in ids:
        log.add(TopicEventLinked(topic_id="TOP-001", event_ids=(event_id,)))
    state = catalogue.fold(log.entries)

    page = topics.render(state.topics, log.head)

    assert list(state.topics["TOP-001"].key_event_ids) == ids
    shown = next(line for line in page.splitlines() if line.startswith("- events (25): "))
    assert shown.count("`") == 2 * 20
    assert ids[-1][:12] in shown
    assert "and 5 older events more: `conversation-esaa context --topic-id TOP-001`" in page


def test_linking_twice_links_once():
    """Two agents may find the same turn."""
    board = topics.fold(
        [created(event_ids=("a", "b")), TopicEventLinked(topic_id="TOP-001", event_ids=("b", "c", "c"))]
    )

    assert board["TOP-001"].key_event_ids == ("a", "b", "c")


def test_unlinking_takes_exactly_that_link_away():
    """A link that was a mistake leads every later reader astray."""
    board = topics.fold(
        [
            created(event_ids=("a", "b")),
            TopicEventLinked(
                topic_id="TOP-001", decision_ids=("DEC-0001",), task_ids=("CONV-001", "CONV-002")
            ),
            TopicEventUnlinked(topic_id="TOP-001", event_ids=("a",), task_ids=("CONV-001",)),
        ]
    )

    topic = board["TOP-001"]
    assert (topic.key_event_ids, topic.decision_ids, topic.task_ids) == (("b",), ("DEC-0001",), ("CONV-002",))


def test_decisions_and_tasks_that_name_a_topic_are_linked_in_both_directions():
    """From a task one finds its subject, from the subject its tasks."""
    log = LogBuilder()
    log.add(created())
    log.add(DecisionRecorded(decision_id="DEC-0001", decision="Green", topic_ids=("TOP-001", "TOP-404")))
    log.add(TaskCreated(task_id="CONV-001", title="Buy paint", topic_ids=("TOP-001",)))
    state = catalogue.fold(log.entries)

    assert topics.of_decisions(state.topics) == {"DEC-0001": ("TOP-001",)}
    assert topics.of_tasks(state.topics) == {"CONV-001": ("TOP-001",)}
    assert state.topics["TOP-001"].key_event_ids == (log.entries[1].event.event_id,)


def test_an_update_of_the_older_tool_without_a_summary_keeps_the_summary():
    """It wrote its own command into the field."""
    board = topics.fold(
        [created(), TopicUpdated(v=1, topic_id="TOP-001", summary="topic.updated TOP-001", status="paused")]
    )

    assert (board["TOP-001"].summary, board["TOP-001"].status) == ("Which colour", "paused")


def test_events_about_unknown_topics_change_nothing():
    """They are in old logs."""
    board = topics.fold([created()])

    for event in (
        TopicUpdated(topic_id="TOP-404", title="x"),
        TopicClosed(topic_id="TOP-404"),
        TopicEventLinked(topic_id="TOP-404", event_ids=("a",)),
        TopicEventUnlinked(topic_id="TOP-404", event_ids=("a",)),
    ):
        assert topics.step(board, event) == board


def test_the_most_recently_touched_topic_comes_first():
    """That is what is being talked about."""
    board = topics.fold(
        [
            created(),
            TopicCreated(topic_id="TOP-002", title="Brushes", ts="2026-01-02T00:00:00.000Z"),
            TopicEventLinked(topic_id="TOP-001", event_ids=("a",), ts="2026-01-03T00:00:00.000Z"),
        ]
    )

    assert [topic.id for topic in topics.active(board)] == ["TOP-001", "TOP-002"]
