"""What an answer says about itself is true: which part of the log it is from, how fresh, what is missing."""

import json
from contextlib import contextmanager

import pytest

from builders.world import World
from conversation_esaa.log.file_log import FileLog
from conversation_esaa.reading.query import Query
from conversation_esaa.reading.shown import grouped
from conversation_esaa.text import tokens


@contextmanager
def another_process_appends(monkeypatch, world: World):
    """Whatever looks at the log's head sees it just before somebody else writes."""
    head, busy = FileLog.head, []

    def looked(log):
        found = head(log)
        if not busy:
            busy.append(True)
            world.workspace().create_task("Written meanwhile", by="human")
            busy.clear()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(FileLog, "head", looked)
        yield


@pytest.fixture
def talk(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    world.sync()
    return world


@pytest.mark.parametrize("command", ["context --last 100", "handoff", "stats", "task list", "status"])
def test_an_answer_holds_exactly_what_its_position_says(talk, monkeypatch, command):
    """An answer that claims position 4 and shows position 5 cannot be checked, or continued from."""
    with another_process_appends(monkeypatch, talk):
        ran = talk.run(*command.split(), "--no-sync", "--json")

    seq = ran.json["freshness"]["seq"]
    entries = {entry.event.seq: entry for entry in talk.entries()}
    assert seq < max(entries)  # somebody did write
    newer = [entry.event.task_id for at, entry in entries.items() if at > seq]
    assert not any(f'"{task_id}' in ran.out or f"- {task_id} [" in ran.out for task_id in newer)


def test_an_answer_names_the_position_and_the_head_it_is_from(talk):
    """I8: a reader can tell whether two answers are of the same log."""
    head = talk.workspace().log.head()

    for command in ("context", "handoff", "status", "stats", "goal", "task list", "topic list", "show last"):
        freshness = talk.run(*command.split(), "--json").json["freshness"]
        text = talk.run(*command.split()).out

        assert (freshness["seq"], freshness["hash"]) == (head.seq, head.hash)
        assert head.hash[:12] in text, command


def test_the_answer_is_caught_up_with_what_was_said_a_moment_ago(talk):
    """The agent that asks is often the one that was just spoken to."""
    talk.codex().user("And in tests?")

    shown = talk.run("context", "--json").json

    assert shown["freshness"]["caught_up"] is True
    assert shown["events"][-1]["text"] == "And in tests?"


def test_an_answer_says_when_it_was_asked_not_to_look(talk):
    """`--no-sync` is quicker, and must not look like the newest truth."""
    talk.codex().user("And in tests?")

    ran = talk.run("context", "--no-sync")

    assert "not caught up: asked not to" in ran.out
    assert "And in tests?" not in ran.out


def test_last_means_what_was_just_said(talk):
    """`decide … --source last` in a running session: the newest turn may not be captured yet."""
    talk.codex().user("Take 9090.").assistant("Done.")

    talk.run("decide", "The port is 9090", "--source", "last")

    decided = talk.entries()[-1].event
    newest = next(turn for turn in talk.turns() if turn.text == "Done.")
    assert decided.related_turns == (newest.event_id,)


def test_the_blocks_of_one_message_are_shown_together(world):
    """FC-N04: an answer in three blocks is one message, whatever another agent said in between."""
    claude = world.claude()
    claude.user("Explain.").assistant("First.", message="m1")
    world.codex().user("Meanwhile.")
    claude.thinking("hm").assistant("Second.", message="m1").tool("ls").assistant("Third.", message="m2")
    world.sync()

    groups = [
        [entry.event.text for entry in group]
        for group in grouped(world.workspace().context(Query()).window.entries)
    ]

    assert groups == [["Explain."], ["First.", "Second."], ["Meanwhile."], ["Third."]]
    assert [event["text"] for event in world.run("context", "--json").json["events"]] == [
        "Explain.",
        "First.",
        "Meanwhile.",
        "Second.",
        "Third.",
    ]


def test_a_whole_text_is_shown_as_it_was_said(world):
    """FC-J02: blank lines and trailing blanks inside of code matter to whoever copies it."""
    said = "Here:\n```\na = 1  \n\n\n\nb = 2\n```\n  done  "
    world.claude().user(said)
    world.sync()

    for command in ("show last", "context --full", "show last --original"):
        assert said in world.run(*command.split()).out, command


@pytest.mark.parametrize("budget", [1, 10, 100])
def test_a_budget_too_small_for_anything_gives_the_beginning_and_what_was_left_out(talk, budget):
    """The smallest handoff there is, rather than an error or nothing."""
    talk.run("decide", "Use 8080")

    ran = talk.run("handoff", "--budget", str(budget))

    assert ran.code == 0
    assert "# Handoff" in ran.out
    assert "- 1 active decision: " in ran.out


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("budget", [1, 150, 200, 300, 500, 1000, 5000])
def test_a_page_stays_inside_its_budget(world, budget, full):
    """FC-N06: what is promised to the next agent's context window, heading and hints included."""
    claude = world.claude()
    for number in range(30):
        claude.user(f"Question {number}: " + "why? " * number).assistant("Because. " * (7 * number % 50))
    world.sync()

    ran = world.run("context", "--last", "40", "--budget", str(budget), *["--full"] * full, "--json")

    shown = ran.json
    assert shown["tokens"] <= budget or shown["count"] == 1
    assert shown["count"] + shown["left_out"] == 40
    text = world.run("context", "--last", "40", "--budget", str(budget), *["--full"] * full).out
    assert tokens(text) == shown["tokens"]
    assert (f"{shown['left_out']} more did not fit" in text) == bool(shown["left_out"])


def test_a_pasted_log_of_megabytes_does_not_fill_the_page(world):
    """FC-N06: the brief form shows a beginning; the event itself is there whole."""
    pasted = "2026-03-01 INFO all is well\n" * 50_000
    world.claude().user(pasted)
    world.sync()

    assert tokens(world.run("context", "--budget", "1000").out) <= 1000
    assert world.run("show", "last", "--original", "--json").json["event"]["text"] == pasted


def test_a_brief_line_shows_that_it_was_cut(world):
    """Else a reader takes half a sentence for the whole."""
    world.claude().user("why " * 60).assistant("Because " * 25).user("short")
    world.sync()

    words = [line.strip() for line in world.run("context").out.splitlines() if line.startswith("  ")]

    assert [line[-1] for line in words] == ["…", "e", "t"]


def test_stats_are_of_what_was_said_and_not_of_when_it_was_captured(talk):
    """The first and last turn, not the log's own events."""
    talk.run("goal", "Ship it")

    stats = talk.run("stats", "--json").json

    turns = talk.turns()
    assert (stats["first_turn"], stats["last_turn"]) == (turns[0].ts, turns[-1].ts)


def test_lines_that_cannot_be_read_are_counted_in_the_answer(talk):
    """A log with a foreign line in it still answers, and says that something is wrong with it."""
    with (talk.store / "activity.jsonl").open("ab") as log:
        log.write(b"not an event\n")

    ran = talk.run("context", "--no-sync")

    assert ran.code == 0
    assert "It is 8080." in ran.out
    assert "1 unreadable line, see `conversation-esaa verify`" in ran.out


def test_a_retracted_decision_says_so_when_it_is_shown(talk):
    """An agent that follows a decision of yesterday has to learn that it no longer holds."""
    talk.run("decide", "Use 8080")
    talk.run("decide", "Use 9090", "--supersedes", "DEC-0001")
    talk.run("decide", "Use IPv6 only")
    talk.run("decide", "--retract", "DEC-0003")

    standing = [talk.run("show", f"DEC-000{n}", "--json").json["standing"] for n in (1, 2, 3)]

    assert standing == ["superseded by DEC-0002", "active", "retracted"]
    assert "this decision is superseded by DEC-0002" in talk.run("show", "DEC-0001").out


def test_read_models_that_a_killed_run_left_behind_are_renewed_by_the_next_one(talk):
    """Events are durable before the read models are written; a kill in between must heal by itself."""
    before = talk.bytes_of_store()
    talk.codex().user("And in tests?")
    talk.sync()
    after = talk.bytes_of_store()
    for name in ("handoff.md", "state.md", "topics.json"):  # as the kill left them
        (talk.store / name).write_bytes(before[name])

    report = talk.sync()

    again = talk.bytes_of_store()
    del after["index.db"], again["index.db"]  # it remembers which files were written, and when
    assert report.captured == 0
    assert again == after


def test_every_answer_in_json_is_one_object_with_arrays_that_are_arrays(talk):
    """The older tool gave an object for one event, nothing for none."""
    for last, events in ((1, 1), (2, 2)):
        shown = talk.run("context", "--last", str(last), "--json").json
        assert len(shown["events"]) == events
    none = talk.run("context", "--actor", "system", "--json").json
    assert none["events"] == []
    assert json.dumps(none["page"], sort_keys=True) == (
        '{"after": null, "before": null, "more_after": false, "more_before": false}'
    )


def test_a_branch_shows_what_was_said_while_it_was_checked_out(world):
    claude = world.claude()
    claude.user("Try it there", gitBranch="tides/north").assistant("Done.", gitBranch="tides/north")
    claude.user("Back again", gitBranch="main")
    world.sync()

    found = world.run("context", "--branch", "tides/north", "--json").json

    assert [event["text"] for event in found["events"]] == ["Try it there", "Done."]
    assert found["query"]["branch"] == "tides/north"
    assert world.run("context", "--branch", "tides", "--json").json["count"] == 0
    assert "branch tides/north" in world.run("context", "--branch", "tides/north").out
