"""The made-up conversation that `demo` runs on is a real one to everything that reads it."""

from __future__ import annotations

import json

import pytest

from builders.world import World
from conversation_esaa.demo import native_logs
from conversation_esaa.demo.script import commands


@pytest.fixture(params=["ferry", "my proj.v2 & é'quote"])
def demo(tmp_path, request) -> World:
    """The demo's logs in a home of their own; the name of the project must not matter."""
    world = World(tmp_path.resolve(), project=request.param)
    for path, text in native_logs(str(world.project)):
        file = world.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return world


def test_three_agents_are_read_and_another_project_stays_out(demo):
    """I4: the demo shows that only what was said here enters."""
    demo.sync()

    turns = demo.turns()

    assert {turn.source for turn in turns} == {"claude-code", "codex", "grok"}
    assert len(turns) == 15
    assert not any("sourdough" in turn.text for turn in turns)


def test_what_nobody_saw_and_what_is_private_is_not_captured(demo):
    """Reasoning, tool output, system text and `<private>` parts are in the logs on purpose."""
    demo.sync()

    said = json.dumps(demo.said())

    assert "555 0142" not in said
    assert "environment_context" not in said
    assert "passed in 0.21s" not in said
    assert "Look at what is there first" not in said


def test_every_command_of_the_script_succeeds_and_the_handoff_tells_what_is_open(demo):
    """What a newcomer sees in the first minute."""
    demo.sync()

    assert [demo.run(*argv).code for argv in commands()] == [0] * len(commands())
    handoff = demo.run("handoff").out

    for known in ("DEC-0001", "DEC-0002", "CONV-002", "CONV-003", "TOP-001", "[REDACTED:github]"):
        assert known in handoff
    assert "gh" + "p_" not in handoff
    assert demo.run("verify").code == 0


def test_no_placeholder_is_left(tmp_path):
    """Each was filled in."""
    for path, text in native_logs(str(tmp_path)):
        assert "__" not in path
        assert "__WORKSPACE" not in text
        assert "__SECRET" not in text
