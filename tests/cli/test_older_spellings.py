"""Command lines of the older PowerShell tool that people have in scripts and in their fingers."""

import pytest

from builders.world import World


@pytest.fixture
def talk(world: World) -> World:
    claude = world.claude()
    for number in range(5):
        claude.user(f"Question {number}?").assistant(f"Answer {number}.")
    world.run("up")
    return world


@pytest.mark.parametrize("spelled", ["-Last 3", "-last 3", "-LAST 3", "--last 3", "--last=3"])
def test_options_in_one_dash_and_any_case(talk, spelled):
    """PowerShell takes a parameter in any case."""
    assert talk.run("context", *spelled.split(), "-Json").json["count"] == 3


def test_a_window_around_an_event(talk):
    """`context -Around ID -Window 2`, and with two dashes."""
    turn = talk.turns()[4].event_id

    for spelled in (["-Around", turn, "-Window", "2"], ["--around", turn, "--window", "2"]):
        shown = talk.run("context", *spelled, "--json").json
        assert [event["text"] for event in shown["events"]][2] == "Question 2?"
        assert shown["count"] == 5


def test_topics_as_they_were_made(talk):
    """`topics create -TopicTitle`, `topics link --event-id`, `--events` with commas."""
    first, second, third, *_ = (turn.event_id for turn in talk.turns())

    assert talk.run("topics", "create", "-TopicTitle", "Questions of all kinds", "-Summary", "All").code == 0
    assert talk.run("topics", "link", "TOP-001", "--event-id", first).code == 0
    assert talk.run("topics", "link", "TOP-001", "-EventId", second[:12]).code == 0
    assert talk.run("topic", "link", "TOP-001", "--events", f"{second},{third}").code == 0

    topic = talk.run("topics", "show", "TOP-001", "--json").json["topic"]
    assert topic["title"] == "Questions of all kinds"
    assert topic["key_event_ids"] == [first, second, third]


def test_decisions_and_tasks_as_they_were_recorded(talk):
    """Named options where we take words."""
    assert (
        talk.run("decide", "-Decision", "Use 8080", "-Rationale", "It is free", "-Agent", "claude").code == 0
    )
    assert talk.run("task", "create", "-Title", "Write docs").code == 0
    assert talk.run("task", "update", "CONV-001", "-Status", "in_progress", "-NextStep", "Begin").code == 0
    assert talk.run("task", "close", "CONV-001", "-Evidence", "seen").code == 0

    decision = talk.run("show", "DEC-0001", "--json").json["event"]
    assert (decision["decision"], decision["agent_id"]) == ("Use 8080", "claude-code")
    assert talk.run("task", "show", "CONV-001", "--json").json["task"]["next_step"] == "Begin"


def test_the_workspace_by_name(talk, tmp_path):
    """`-Workspace DIR` before the command and behind it."""
    assert talk.run("-Workspace", str(talk.project), "status", present=tmp_path).code == 0
    assert talk.run("status", "-Workspace", str(talk.project), present=tmp_path).code == 0


def test_sync_with_a_mode_and_a_native_file(talk):
    """`sync --agent claude --mode compact` is in old hooks; the mode means nothing any more."""
    claude = talk.claude("claude-2")
    claude.user("One more?")

    assert talk.run("sync", "--agent", "claude", "--mode", "compact").code == 0
    claude.user("And another?")
    assert talk.run("sync", "-Agent", "claude", "-ClaudeSessionPath", str(claude.path)).code == 0

    assert [turn.text for turn in talk.turns()][-2:] == ["One more?", "And another?"]


def test_what_follows_two_dashes_is_text_as_it_stands(talk):
    """A decision may be about an option."""
    assert talk.run("decide", "--", "-Last", "is kept").code == 0

    assert talk.run("show", "DEC-0001", "--json").json["event"]["decision"] == "-Last is kept"


@pytest.mark.parametrize(
    "call",
    [
        "context --last 3 --around 12345678",
        "context --window 2",
        "context --before 12345678 --after 12345678",
        "context --topic x --around 12345678",
        "goal --clear Ship it",
        "decide --retract DEC-0001 Use it",
        "watch --once --status",
        "task create",
        "decide",
        "topic create",
        "topic link TOP-001",
        "show",
        "show CONV-001 --original",
        "task create x --status completed",
        "topic list --status open",
        "sync --since yesterday",
        "context --since yesterday",
        "context --until 2026-02-30",
        "context --budget 0",
        "context --last 0",
        "handoff --budget 0",
        "handoff --budget -5",
        "task",
        "task nosuch",
        "decide x --agent no/such\nagent",
        "handoff --for no\x1b[2Jagent",
    ],
)
def test_words_that_do_not_fit_together_are_refused_with_a_way_out(talk, call):
    """Exit code 2, nothing written, and no option is silently ignored."""
    before = talk.bytes_of_store()

    ran = talk.run(*call.split(" "))

    assert (ran.code, ran.out) == (2, "") or call == "topic link TOP-001"
    assert "\nhint:  " in ran.err
    assert "\x1b" not in ran.err
    assert talk.bytes_of_store() == before


def test_no_option_is_taken_for_another_one_by_its_beginning(talk):
    """`--desc` would be `--description` today, and something else with the next version."""
    assert talk.run("task", "create", "x", "--desc", "y").code == 2
    assert talk.run("context", "--las", "3").code == 2
