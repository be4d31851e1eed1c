"""I8: every read surface states how fresh it is: the log position and the head that it was built from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conversation_esaa.layout import READ_MODELS

if TYPE_CHECKING:
    from builders.world import World

READING = (
    ["context"],
    ["handoff"],
    ["status"],
    ["stats"],
    ["goal"],
    ["show", "last"],
    ["show", "DEC-0001"],
    ["task", "list"],
    ["task", "show", "CONV-001"],
    ["topic", "list"],
    ["topic", "show", "TOP-001"],
    ["verify"],
)


def lived_in(world: World) -> None:
    world.claude().user("Which port?").assistant("8080.")
    world.sync()
    workspace = world.workspace()
    workspace.set_goal("Ship it")
    workspace.decide("Take 8080", sources=["last"])
    workspace.create_task("Write it down")
    workspace.create_topic("Ports", events=["last"])


def strings_and_numbers(value: Any) -> set[object]:
    if isinstance(value, dict):
        return set().union(*map(strings_and_numbers, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(strings_and_numbers, value), set())
    return {value}


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_an_answer_states_position_and_head(world: World, words):
    """So that two agents can see whether they were told the same."""
    lived_in(world)
    head = world.workspace().log.head()

    text = world.run(*words)
    data = world.run(*words, "--json")

    assert (text.code, data.code) == (0, 0), text.err + data.err
    assert head.hash[:12] in text.out
    assert str(head.seq) in text.out
    assert {head.hash, head.seq} <= strings_and_numbers(data.json) or head.hash[:12] in data.out


@pytest.mark.parametrize("name", READ_MODELS)
def test_a_read_model_states_position_and_head(world: World, name):
    """A file that was left behind can be told from one that is up to date."""
    lived_in(world)
    head = world.workspace().log.head()

    content = (world.store / name).read_text("utf-8")

    assert head.hash[:12] in content[:600]
    assert str(head.seq) in content[:600]
    if name.endswith(".json"):
        assert json.loads(content)["log"] == {"seq": head.seq, "hash": head.hash}


@pytest.mark.parametrize("words", READING[:6], ids=" ".join)
def test_an_answer_says_when_it_could_not_catch_up(world: World, words):
    """Asked not to, or because somebody else is writing: an old answer never passes for a new one. The handoff
    is a text of its own, with its position in it; its JSON says the rest.
    """
    lived_in(world)
    world.claude("later").user("Something new")

    options = ["--json"] if words == ["handoff"] else []
    stale = world.run(*words, *options, "--no-sync")
    fresh = world.run(*words, *options)

    assert "asked not to" in stale.out + stale.err
    assert "asked not to" not in fresh.out + fresh.err
