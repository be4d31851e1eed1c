"""Capture: what is new in the agents' logs goes into the event log, each turn once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.agents import jsonl
from conversation_esaa.workspace import agents

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


def test_a_read_that_fails_leaves_every_count_as_it_was(world: World, tmp_path, monkeypatch):
    """The cursor of a file is moved as a whole or not at all: a second try must not count twice."""
    other = str(tmp_path / "other")
    claude = world.claude().user("one").user("elsewhere", cwd=other)
    world.sync()
    claude.user("elsewhere again", cwd=other).user("<private>x</private>").user("two")
    world.codex().user("something else has news, so the cursors are saved")
    real = jsonl.read_records

    def failing(handle, lines):
        records = real(handle, lines)
        if handle.name != str(claude.path):
            yield from records
            return
        yield next(records)
        yield next(records)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(jsonl, "read_records", failing)
        failed = world.sync()
    mended = world.sync()

    assert failed.partial
    assert not mended.partial
    survey = next(agent for agent in agents(world.project, machine=world.machine()) if agent.found)
    assert (survey.refused, survey.private, survey.captured) == ({other: 2}, 1, 3)


def test_status_counts_what_the_log_has_of_each_agent_however_it_was_looked_at(world: World):
    """Deleting the cursors, or reading everything anew, changes no number that a person sees."""
    world.claude().user("one").assistant("two")
    world.codex().user("three")
    world.sync()

    def counts() -> dict[str, int]:
        surveys = agents(world.project, machine=world.machine())
        return {agent.agent: agent.captured for agent in surveys if agent.captured}

    before = counts()
    world.sync(full=True)
    full = counts()
    (world.store / "sync-state.json").unlink()
    world.sync()

    assert before == full == counts() == {"claude-code": 3, "codex": 2}


def test_a_session_named_by_path_is_read_alone(world: World, tmp_path):
    """What a hook hands over; a file that no agent would have written is refused with a word."""
    claude = world.claude().user("one")
    world.codex().user("two")

    world.sync(session=claude.path)
    refused = world.run("sync", "--session", str(tmp_path / "nowhere.jsonl"))

    assert world.said() == [("user", "one")]
    assert refused.code == 1
    assert "is no session file" in refused.err
