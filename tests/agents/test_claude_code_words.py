"""Claude Code: which words of a prompt are the person's, and which the harness put there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.claude_code import Session, said_in
from conversation_esaa.agents.claude_code_words import ENVELOPES, HARNESS, said_by_person

REMINDER = "<system-reminder>\nCANARY\n</system-reminder>"
PERSISTED = "<persisted-output>CANARY</persisted-output>"
NOTIFICATION = "<task-notification>\n<task-id>a5</task-id>\n<result>CANARY</result>\n</task-notification>"


@pytest.mark.parametrize(
    "body",
    [
        "<command-name>/compact</command-name>\n  <command-message>compact</command-message>\n  <command-args></command-args>",
        "<command-message>brew</command-message>\n<command-name>/brew</command-name>",
        "<local-command-stdout>\x1b[2mCANARY\x1b[22m</local-command-stdout>",
        "<local-command-stderr>CANARY</local-command-stderr>",
        "<local-command-caveat>CANARY</local-command-caveat>",
        "<bash-input>echo CANARY</bash-input>",
        "<bash-stdout>CANARY</bash-stdout><bash-stderr></bash-stderr>",
        "<bash-stdout>CANARY </bash-stdout> CANARY</bash-stdout>",
        "<ide_opened_file>CANARY</ide_opened_file>",
        "<ide_selection>CANARY</ide_selection>",
        REMINDER,
        f"  {REMINDER}\n\n{PERSISTED}\n",
        f"{REMINDER}<command-name>/brew</command-name>",
        "<system-reminder>quotes <system-reminder> itself, CANARY</system-reminder>",
        NOTIFICATION,
        f"{NOTIFICATION}\nFull transcript available at: /tmp/CANARY.output",
        "[Request interrupted by user]",
        "[Request interrupted by user for tool use]",
        "Stop hook feedback:\nCANARY",
    ],
)
def test_fc_n03_a_body_that_is_all_envelope_was_not_said(body):
    """FC-N03: these lines carry no mark in some versions; the envelope around the whole text tells."""
    assert said_by_person(body) == ""


@pytest.mark.parametrize(
    "prompt",
    [
        "<div>Why does this not render?</div>",
        "[Request interrupted by user] is what I see. Why?",
        "[x] done\n[ ] open",
        "Stop hook feedback: why do I get it?",
        "Why is <command-name>/brew</command-name> in my log?",
        "<command-name>/brew</command-name> is in my log. Why?",
        f"Look: {REMINDER} What is that?",
        f"My log says:\n```\n{REMINDER}\n```",
        f"```\n{REMINDER}",
        f"I saw `{PERSISTED}`",
        "Unclosed: <system-reminder>",
        "</system-reminder>",
        "<task-notifications> are what?",
        "a <b",
        "b >",
    ],
)
def test_fc_n03_a_prompt_that_quotes_an_envelope_is_kept_verbatim(prompt):
    """FC-N03, FC-E02: never by a bare first character, never for a tag in the middle."""
    assert prompt == said_by_person(prompt)


@pytest.mark.parametrize(
    "body",
    [
        f"Brew?\n\n{REMINDER}\n{PERSISTED}",
        f"Brew? {REMINDER}",
        f"{REMINDER}\nBrew?",
        f"{PERSISTED}{REMINDER}Brew?{REMINDER}",
        f"Brew?\n<system-reminder>a {REMINDER} b</system-reminder>",
    ],
)
def test_fc_e02_blocks_that_the_harness_puts_beside_a_prompt_are_taken_off(body):
    """FC-E02: the question is the person's, the reminder around it is not."""
    assert said_by_person(body) == "Brew?"


def test_fc_e02_a_quotation_stays_when_the_harness_adds_a_real_block():
    """FC-E02: only the block at the end goes, however the prompt quotes the same tag."""
    quoting = f"What is this?\n```\n{REMINDER}\n```"

    assert quoting == said_by_person(f"{quoting}\n\n{REMINDER}")
    assert said_by_person(f"Why <system-reminder> here?\n{REMINDER}") == "Why <system-reminder> here?"


def test_of_a_list_each_block_is_judged_alone():
    """The IDE puts its note in a block of its own, before the typed one."""
    session = Session(version="2.1.22")
    session.said(
        [
            {"type": "text", "text": "<ide_opened_file>CANARY</ide_opened_file>"},
            {"type": "text", "text": "Brew?"},
            {"type": "text", "text": REMINDER},
        ]
    )

    assert said_in(session) == [("user", "Brew?")]


def test_the_harness_is_never_looked_for_in_an_answer():
    """A model may write such tags in good faith; its words are its own."""
    session = Session()
    session.answered(f"It looks so:\n{REMINDER}")

    assert [("assistant", f"It looks so:\n{REMINDER}")] == said_in(session)


tags = st.sampled_from([f"<{sign}{kind}>" for kind in sorted(ENVELOPES) for sign in ("", "/")])
pieces = st.one_of(
    tags, st.sampled_from(["\n", " ", "```", "word", "<", ">", "<task-notification>"]), st.text(max_size=5)
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_words_are_kept_or_dropped_and_never_changed(text):
    """Whatever stands in a prompt, the answer is a part of it, never blank, and judging again changes nothing."""
    kept = said_by_person(text)

    assert kept in text
    assert kept == "" or kept.strip()
    assert said_by_person(kept) == kept


words = st.lists(st.sampled_from(["Brew", "the", "tea?", "\n", "\t", "[x]", "#", "ü", "🚀"]), min_size=1)


@given(words.map(" ".join).filter(lambda text: text.strip()))
def test_fc_e02_any_prompt_survives_the_blocks_around_it(prompt):
    """FC-E02: taking blocks off costs no word of the prompt."""
    around = "".join(f"<{kind}>CANARY</{kind}>" for kind in sorted(HARNESS))

    assert said_by_person(f"{around}\n{prompt}\n{around}") == prompt.strip()
