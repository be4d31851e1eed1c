"""The older tool's log, read with today's `context`: the same windows, and its two defects mended.

The log is tests/golden/v1_1/activity.jsonl: every kind of event, legacy lines, a line of another workspace
(10), and one native record twice (20 and 21). Windows are told by line number.
"""

import json

import pytest

from builders.logs import V1_1_LOG
from builders.world import World

VISIBLE = [*range(1, 10), *range(11, 21), *range(22, 30)]


@pytest.fixture(scope="module")
def older(tmp_path_factory) -> World:
    """FC-G11: the other workspace's path begins with ours; it is another one all the same."""
    return World(tmp_path_factory.mktemp("v1_1")).taken_over()


@pytest.fixture(scope="module")
def event_ids() -> dict[str, str]:
    lines = V1_1_LOG.read_text(encoding="utf-8").splitlines()
    return {f"L{n}": json.loads(line).get("event_id", "") for n, line in enumerate(lines, start=1)}


def asked(event_ids: dict[str, str], call: str) -> list[str]:
    """`--before L8` with the id of line 8."""
    return [event_ids.get(word, word) for word in call.split()]


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("--last 100", VISIBLE),
        ("", VISIBLE[-20:]),
        ("--last 3", [27, 28, 29]),
        ("--agent grok", [3, 4, 5, 13, 14, 15, 22, 23, 24, 25]),
        ("--agent grok --last 2", [24, 25]),
        ("--agent codex --last 4", [18, 26, 27, 29]),
        ("--agent claude", [11, 12, 16, 28]),
        ("--agent claude-code", [11, 12, 16, 28]),
        ("--agent Claude", [11, 12, 16, 28]),
        ("--agent antigravity", [19, 20]),
        ("--agent curated", [13, 22]),
        ("--topic workspace", [29, 4, 26, 28, 11, 3, 1]),
        ("--topic workspace --last 2", [29, 4]),  # the older tool gave the two worst
        ("--topic OVERWRIT", [16, 24, 9, 8]),
        ("--agent claude --topic workspace", [28, 11]),
        ("--topic-id TOP-001", [4, 8, 12, 16]),
        ("--topic-id top-001", [4, 8, 12, 16]),
        ("--topic-id TOP-001 --last 2", [12, 16]),
        ("--topic-id TOP-002", [19, 28]),
        ("--before L8 --last 2", [6, 7]),
        ("--before L3 --last 5", [1, 2]),
        ("--around L8", [7, 8, 9]),
        ("--around L12 --window 2", [9, 11, 12, 13, 14]),
        ("--around L29 --window 2", [27, 28, 29]),
        ("--around L8 --window 0", [8]),
        ("--agent claude --before L11", []),  # the older tool gave the event itself, and the last one
        ("--after L27", [28, 29]),
        ("--agent grok --agent antigravity --last 3", [23, 24, 25]),
        ("--actor user", [1, 3, 7, 11, 19]),
        ("--decision DEC-0003", [19, 28, 29]),
        ("--task CONV-001", [6, 9, 18, 27]),
    ],
)
def test_the_window_is_the_one_that_was_asked_for(older, event_ids, call, lines):
    """What a script over a v1.1 log relied on still holds; where the older tool was wrong, we are right."""
    ran = older.run("context", "--no-sync", "--json", *asked(event_ids, call))

    assert ran.code == 0
    assert [event["seq"] for event in ran.json["events"]] == lines


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("--topic-id TOP-404", "unknown_name"),
        ("--agent grok --before L8", "event.not_in_selection"),
        ("--around L10", "unknown_name"),  # another workspace's
        ("--around L21", "unknown_name"),  # the same native record as line 20
        ("--before 1234567", "unknown_name"),  # seven characters
        ("--agent clade", "unknown_name"),
        ("--decision DEC-0404", "unknown_name"),
        ("--task CONV-404", "unknown_name"),
    ],
)
def test_what_is_not_there_is_refused_and_not_answered_with_an_empty_page(older, event_ids, call, code):
    """An empty page would look like the start of the conversation."""
    ran = older.run("context", "--no-sync", "--json", *asked(event_ids, call))

    assert (ran.code, ran.out, ran.error["code"]) == (1, "", code)
    assert ran.error["hint"]


def test_a_decision_of_the_older_tool_is_shown_by_its_position(older):
    """Its lines have no decision id; the id is the place among the decisions."""
    shown = older.run("show", "dec-0002", "--json").json

    assert shown["event"]["decision"] == "Never overwrite an existing settings file"
    assert shown["standing"] == "active"
