"""I6: a secret in the words of any curated event is masked too, in every field and in every state of it."""

from __future__ import annotations

import pytest

from builders.world import World

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2" + "mN5pQ8sT1vW4" + "yZ7cD0fG3hJ6"


@pytest.fixture
def leaky(tmp_path) -> World:
    """A project where somebody puts a token into everything that takes words."""
    world = World(tmp_path)
    said = f"Use {TOKEN} please."
    for agent in (world.claude(), world.codex(), world.grok()):
        agent.user(said)
        agent.assistant(f"I used {TOKEN}.")
        agent.user(f"And again {TOKEN}?")
    world.sync()
    for argv in (
        ("goal", said),
        ("topic", "create", said, "--summary", said, "--keyword", TOKEN, "--event", "last"),
        ("decide", said, "--rationale", said, "--source", "last", "--topic", "TOP-001"),
        ("decide", f"Not {TOKEN}", "--supersedes", "DEC-0001"),
        ("decide", "--retract", "DEC-0002", "--rationale", said),
        ("decide", f"Still {TOKEN}", "--rationale", said),
        ("task", "create", said, "--description", said, "--next-step", said),
        ("task", "create", f"Two {TOKEN}"),
        ("task", "close", "CONV-002", "--evidence", said),
        ("task", "reopen", "CONV-002", "--evidence", said, "--next-step", said),
        ("topic", "update", "TOP-001", "--summary", said),
    ):
        ran = world.run(*argv)
        assert ran.code == 0, ran.err
        assert TOKEN not in ran.out
    return world


def test_no_file_but_the_log_holds_it(leaky):
    """Read models and caches are what other tools open, copy and index."""
    holding = [name for name, content in leaky.bytes_of_store().items() if TOKEN.encode() in content]

    assert holding == ["activity.jsonl"]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(
    "argv", [("show", "DEC-0003"), ("show", "CONV-002"), ("show", "TOP-001")], ids=" ".join
)
def test_what_was_superseded_retracted_and_reopened_is_shown_without_it(leaky, argv, form):
    """What no longer holds is still shown."""
    ran = leaky.run(*argv, *form)

    assert ran.code == 0, ran.err
    assert TOKEN not in ran.out


def test_every_event_is_shown_without_it(leaky):
    """`show` is where a reader asks for everything there is about one event."""
    for entry in leaky.entries():
        for form in ((), ("--json",)):
            ran = leaky.run("show", entry.event.event_id, *form)
            assert ran.code == 0
            assert TOKEN not in ran.out
