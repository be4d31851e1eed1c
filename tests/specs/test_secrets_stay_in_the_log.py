"""I6, FC-K02: nothing but the log holds an unmasked secret, whatever field somebody put it into."""

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


@pytest.mark.parametrize(
    "argv",
    [
        *(("up",), ("status",), ("stats",), ("agents",), ("sync",), ("verify", "--deep"), ("project",)),
        *(("handoff",), ("handoff", "--budget", "20000"), ("handoff", "--for", "codex"), ("goal",)),
        *(
            ("context", "--last", "100"),
            ("context", "--last", "100", "--full"),
            ("context", "--topic", "use"),
        ),
        *(("task", "list", "--status", "all"), ("task", "show", "CONV-002")),
        *(("topic", "list", "--status", "all"), ("topic", "show", "TOP-001")),
        *(("show", "DEC-0003"), ("show", "CONV-001"), ("show", "TOP-001")),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_answer_holds_it(leaky, argv, form):
    """Answers are read by the next vendor's model."""
    ran = leaky.run(*argv, *form)

    assert ran.code == 0, ran.err
    assert TOKEN not in ran.out + ran.err


def test_every_event_is_shown_without_it(leaky):
    """`show` is where a reader asks for everything there is about one event."""
    for entry in leaky.entries():
        for form in ((), ("--json",)):
            ran = leaky.run("show", entry.event.event_id, *form)
            assert ran.code == 0
            assert TOKEN not in ran.out


def test_the_log_still_has_the_words(leaky):
    """The evidence is verbatim; masking is for readers."""
    assert any(TOKEN in text for _, text in leaky.said())
