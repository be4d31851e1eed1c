"""What real agents say is captured: every visible turn once, in order, and nothing else.

Here nothing is installed into an agent: the developer runs our command, as he would without hooks.
"""

from __future__ import annotations

import pytest

from conversation_esaa.agents.registry import MODULES
from real_agents.programs.catalogue import AGENTS
from real_agents.stub.script import ASIDE, REASONING, Line

pytestmark = [pytest.mark.real_agents, pytest.mark.slow]

READ = sorted(set(AGENTS) & set(MODULES))

SHADE = Line("Which herbs grow in the shade?", "Mint and chervil.", reasoning=True)
BEDS = Line("Count the beds for me.", "Twelve beds.", first="I will count them.", command="echo twelve")
WATER = Line("How much water do they need? naïve café, 日本語, 🚀", "Ten litres → every second day.")
ELSEWHERE = Line("What is the alarm code of the house?", "Nobody has told me.")


@pytest.mark.parametrize("name", READ)
def test_a_session_and_its_resume_are_captured_word_for_word(agent, world, cesaa, name):
    """New, then gone on with: both texts around a tool, no reasoning, no output of a tool, no title. And nothing
    in the log that its reader does not know.
    """
    it = agent(name)
    it.say(SHADE)
    cesaa("init")
    first = cesaa("sync", "--json").json
    it.say(BEDS, goes_on=True)
    second = cesaa("sync", "--json").json

    assert world.said() == it.said(SHADE, BEDS)
    assert [each["unknown"] for ran in (first, second) for each in ran["agents"] if each["unknown"]] == []

    before = world.bytes_of_store()["activity.jsonl"]
    cesaa("sync")
    assert world.bytes_of_store()["activity.jsonl"] == before
    assert not [words for words in (REASONING, ASIDE) if words.encode() in before]


@pytest.mark.parametrize("name", READ)
def test_what_was_said_in_another_directory_stays_there(agent, world, cesaa, name):
    """I4, with folder names that agents shorten to the same one."""
    it = agent(name)
    other = world.project.with_name("tea-shop-v1-2")
    other.mkdir()
    it.say(ELSEWHERE, cwd=other)
    it.say(WATER)
    cesaa("up")

    assert world.said() == it.said(WATER)


@pytest.mark.parametrize("captured", ["after each agent", "once at the end"])
def test_agents_that_take_turns_become_one_conversation(agent, world, cesaa, captured):
    """The main use: one after the other, and back to the first, whose session goes on."""
    cesaa("init")
    expected = []
    for number, name in enumerate([*READ, READ[0]]):
        line = Line(f"Step {number}: what now?", f"Plant row {number}.", reasoning=True)
        it = agent(name)
        it.say(line, goes_on=number == len(READ))
        expected += it.said(line)
        if captured == "after each agent":
            cesaa("sync")
    cesaa("sync")

    assert world.said() == expected
