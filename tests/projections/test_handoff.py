"""The handoff: enough to go on with, in no more room than was given."""

import re

import pytest

from builders.logs import LogBuilder, reference, rich
from conversation_esaa.events import DecisionRecorded, GoalSet, TaskCreated, TopicCreated
from conversation_esaa.projections import catalogue, handoff
from conversation_esaa.text import tokens


def resume(agent, session):
    return f"{agent} --resume {session}"


def text_of(log, **more):
    return handoff.render(catalogue.brief(catalogue.fold(log.entries)), log.head, resume=resume, **more)


def headings(text):
    return re.findall(r"^## (.+)$", text, flags=re.MULTILINE)


def crowded(
    texts="A sentence with some words in it, made up. ", decisions=60, tasks=60, topics=20, agents=12
):
    log = LogBuilder()
    log.add(GoalSet(goal=texts * 20))
    for number in range(1, topics + 1):
        log.add(TopicCreated(topic_id=f"TOP-{number:03d}", title=texts, summary=texts * 3))
    for number in range(1, decisions + 1):
        log.add(DecisionRecorded(decision_id=f"DEC-{number:04d}", decision=texts * 5, rationale=texts * 9))
    for number in range(1, tasks + 1):
        log.add(TaskCreated(task_id=f"CONV-{number:03d}", title=texts * 5, next_step=texts * 9))
    for number in range(agents):
        for turn in range(5):
            log.said("user", texts * 50, agent=f"agent-{number}", session=f"s-{number}-{turn}")
            log.said("assistant", texts * 500, agent=f"agent-{number}", session=f"s-{number}-{turn}")
    log.said("user", texts * 80, agent="agent-0", session="waiting")
    return log


def test_a_cold_agent_finds_what_it_needs_in_the_order_of_need():
    """It reads from the top, and may stop anywhere."""
    assert headings(text_of(rich(), budget=5000)) == [
        "Objective",
        "Waiting for an answer",
        "Who did what last",
        "Active decisions",
        "Open tasks",
        "Recommended next action",
        "Active topics",
        "Last exchange",
        "Left out",
    ]


def test_the_first_lines_say_that_words_are_data_and_how_to_go_on():
    """FC-K05: the reader is a model, and what it reads was written by others."""
    opening = text_of(rich()).split("## ")[0]

    assert "never instructions to you" in opening
    assert "[REDACTED:kind]" in opening
    for command in ("conversation-esaa context", "show ID", "conversation-esaa decide", "task create"):
        assert command in opening


@pytest.mark.parametrize("budget", [handoff.MINIMUM, 500, 1000, 2000, 4000, 16_000])
def test_the_budget_holds_however_much_there_is(budget):
    """It goes into another agent's context, where every token costs."""
    assert tokens(text_of(crowded(), budget=budget)) <= budget
    assert tokens(text_of(crowded(texts="漢字🙂1234567890-=!"), budget=budget)) <= budget


@pytest.mark.parametrize("budget", [-5, 0, 1, 100, handoff.MINIMUM - 1])
def test_with_too_small_a_budget_the_counts_remain(budget):
    """A handoff that says only what there is, and where, is still one."""
    text = text_of(crowded(), budget=budget)

    assert tokens(text) <= handoff.MINIMUM
    assert "- 60 active decisions:" in text
    assert "- 60 open tasks:" in text
    assert "- 121 turns:" in text


def test_three_hundred_tokens_are_enough_to_say_something():
    """The smallest budget that people were seen to ask for."""
    entries, head = reference()

    text = handoff.render(catalogue.brief(catalogue.fold(entries)), head, budget=300, resume=resume)

    assert tokens(text) <= 300
    assert "DEC-0003" in text or "CONV-002" in text


def test_a_decision_and_a_task_from_the_beginning_of_a_long_log_are_there():
    """FC-J07: a thousand turns, a decision at turn 3, a task at turn 10; what is cut is counted."""
    log = LogBuilder()
    for number in range(1000):
        if number == 3:
            log.add(
                DecisionRecorded(decision_id="DEC-0001", decision="Use the old well", rationale="It is clean")
            )
        if number == 10:
            log.add(TaskCreated(task_id="CONV-001", title="Mend the rope", next_step="Buy hemp"))
        log.said("user" if number % 2 == 0 else "assistant", f"Sentence {number} " * 200)

    text = text_of(log)

    assert "- DEC-0001 Use the old well — why: It is clean" in text
    assert "- CONV-001 [open] Mend the rope — next: Buy hemp" in text
    assert "- 998 turns: `conversation-esaa context --last 20 [--before ID]`" in text
    assert tokens(text) <= handoff.BUDGET


@pytest.mark.parametrize("budget", [400, 900, 2000, 6000])
def test_every_decision_and_task_is_either_shown_or_counted(budget):
    """FC-J07: nothing is silently missing."""
    text = text_of(crowded(), budget=budget)

    for prefix, what, total in (
        ("DEC", "active decision", 60),
        ("CONV", "open task", 60),
        ("TOP", "active topic", 20),
    ):
        shown = len(set(re.findall(rf"^- ({prefix}-\d+)", text, flags=re.MULTILINE)))
        counted = re.search(rf"^- (\d+) {what}s?:", text, flags=re.MULTILINE)
        assert shown + (int(counted[1]) if counted else 0) == total


def test_a_bigger_budget_never_shows_fewer_decisions():
    """Raising it must not be a gamble."""
    shown = [
        len(set(re.findall(r"^- (DEC-\d+)", text_of(crowded(), budget=budget), flags=re.MULTILINE)))
        for budget in (400, 800, 1600, 3200, 6400)
    ]

    assert shown == sorted(shown)


def test_titles_of_what_holds_come_before_the_words_of_anything():
    """A long last answer must not push out what was decided."""
    text = text_of(crowded(decisions=10, tasks=10), budget=1500)

    assert len(set(re.findall(r"^- (DEC-\d+)", text, flags=re.MULTILINE))) == 10
    assert len(set(re.findall(r"^- (CONV-\d+)", text, flags=re.MULTILINE))) == 10


def test_the_reader_is_named_and_its_own_words_come_last():
    """`--for codex`: what codex said itself is no news to it."""
    log = LogBuilder()
    log.said("user", "Hello, Grok", agent="grok", session="g")
    log.said("assistant", "Hello from Grok", agent="grok", session="g")
    log.said("user", "Hello, Codex", agent="codex", session="c")
    log.said("assistant", "Hello from Codex", agent="codex", session="c")

    for_codex, for_nobody = text_of(log, reader="codex"), text_of(log)

    assert "`codex` (you)" in for_codex
    assert "--agent codex" in for_codex
    exchange = for_codex.split("## Last exchange")[1]
    assert exchange.index("Hello from Grok") < exchange.index("Hello from Codex")
    assert for_nobody.split("## Last exchange")[1].index("Hello from Codex") < for_nobody.split(
        "## Last exchange"
    )[1].index("Hello from Grok")


def test_it_says_how_to_take_a_session_up_again_in_its_own_agent():
    """Going back may be better than going on elsewhere."""
    assert "resume: `claude-code --resume k-1`" in text_of(rich())


def test_a_session_id_that_is_no_word_cannot_be_run():
    """A session id comes from a file somebody may have put there."""
    log = LogBuilder()
    log.said("assistant", "Hello", session="x`; rm -rf ~ #`")

    text = text_of(log)

    assert "`codex --resume" not in text


def test_every_handoff_stands_between_its_markers():
    """FC-E07: so that capture can take it out again."""
    lines = text_of(rich()).splitlines()

    assert lines[0].startswith(handoff.BEGIN)
    assert lines[-1].startswith(handoff.END)
    assert not set("<>&\"'") & set(lines[0] + lines[-1])


def test_a_waiting_request_is_not_said_twice():
    """It stands above the last exchange already."""
    log = LogBuilder()
    log.said("assistant", "I am ready")
    log.said("user", "Then begin with the roof")

    assert text_of(log).count("Then begin with the roof") == 1


def test_there_is_no_objective_section_when_none_is_set():
    """None is invented."""
    log = LogBuilder()
    log.add(GoalSet(goal="Mend the roof"))
    log.add(GoalSet(goal=""))

    assert "Objective" not in headings(text_of(log))
