"""A format that changed is loud: in `sync`, in `status`, and as a problem for `doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conversation_esaa.agents.registry import ReaderState
from conversation_esaa.capture.strange import FEW, MANY, strangeness

if TYPE_CHECKING:
    from builders.world import World


@pytest.mark.parametrize(
    ("state", "records", "said"),
    [
        (ReaderState(), 0, ""),
        (ReaderState(visible=10), 100, ""),
        (ReaderState(visible=10, unknown={"new": 3}), 100, ""),  # a new kind of bookkeeping
        (ReaderState(unknown={"new": FEW - 1}), FEW - 1, ""),
        (ReaderState(unknown={"new": FEW}), FEW, "4 records of types that this version does not know"),
        (ReaderState(visible=2, unknown={"a": 30, "b": 31}), 100, "61 records of types"),
        (ReaderState(), MANY - 1, ""),
        (ReaderState(), MANY, "40 records, and nothing in them that was said"),
        (ReaderState(sidechain=True), MANY, ""),  # a sub-agent's talk is left out on purpose
        (ReaderState(agent_version="9.0"), MANY, "(written by version 9.0)"),
    ],
)
def test_most_unknown_or_long_and_silent_is_strange(state, records, said):
    found = strangeness(state, records=records)

    assert said in found
    assert bool(found) == bool(said)


@pytest.fixture
def changed(world: World) -> World:
    """Claude Code 9 calls its records otherwise."""
    claude = world.claude().user("Which port?")
    for _ in range(20):
        claude.write(claude.record("spoken", words="It is 8080.", version="9.0.0"))
    world.workspace()
    return world


def test_it_is_named_where_people_look(changed):
    told = changed.run("sync").out

    assert "20 records of types that this version does not know" in told
    assert "conversation-esaa sample PATH" in told
    assert "8080" not in told
    assert "its format may have changed" in changed.run("status").out
    doctor = changed.run("doctor", "--no-proof", "--json")
    assert doctor.code == 3
    [problem] = doctor.json["problems"]
    assert problem["code"] == "agent.strange_format"
    assert "conversation-esaa sample" in problem["mend"]
    assert changed.said() == [("user", "Which port?")]
