"""Capture: what is new in the agents' logs goes into the event log, each turn once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builders.world import World


def test_what_was_visibly_said_is_captured_once_and_nothing_else(world: World) -> None:
    """The main promise: a second run adds nothing and changes no byte."""
    claude = world.claude().user("Which port does the tea server use?")
    claude.thinking("CANARY reasoning").tool("CANARY tool output").assistant("8080.")

    first = world.sync()
    before = world.bytes_of_store()
    second = world.sync()

    assert first.captured == 3  # the start of the session is an event too
    assert second.captured == 0
    assert world.bytes_of_store() == before
    assert world.said() == [("user", "Which port does the tea server use?"), ("assistant", "8080.")]
    assert not any(b"CANARY" in content for content in before.values())


def test_agents_that_take_turns_are_captured_in_the_order_things_were_said(world: World) -> None:
    """A first capture of many sessions still reads like the day did."""
    claude, codex, grok = world.claude(), world.codex(), world.grok()
    claude.user("one").assistant("two")
    codex.user("three").assistant("four")
    grok.user("five")
    claude.user("six")
    grok.assistant("seven")

    world.sync()

    assert [text for _, text in world.said()] == ["one", "two", "three", "four", "five", "six", "seven"]


def test_a_turn_said_elsewhere_is_refused_and_named(world: World, tmp_path) -> None:
    """I4: nothing of another project ever enters, and the refusal is not silent."""
    other = tmp_path / "other"
    other.mkdir()
    world.codex().user("mine").assistant("yours")
    world.codex("codex-2", cwd=other).user("CANARY of another project")

    report = world.sync()

    codex = next(agent for agent in report.agents if agent.agent == "codex")
    assert codex.refused_cwds == {str(other): 1}
    assert len(codex.refused) == 1
    assert world.said() == [("user", "mine"), ("assistant", "yours")]
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())
