"""I4: a turn that belongs to another workspace never enters, and no answer ever shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.world import World
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

ANSWERS = (
    ["context", "--last", "100"],
    ["context", "--last", "100", "--full"],
    ["handoff"],
    ["status"],
    ["stats"],
    ["show", "last"],
)


def said_at(world: World, root: Path) -> set[str]:
    workspace = Workspace(root, machine=world.machine(root))
    workspace.sync()
    return {entry.event.text for entry in workspace.entries() if hasattr(entry.event, "source_index")}


DIRECTORIES = ["app", "app2", "app-old", "app/pkg", "app/pkg/inner", "app/pkg2", "other", "other/app"]


@settings(max_examples=15)
@given(
    stores=st.sets(st.sampled_from(DIRECTORIES), min_size=1),
    agents=st.lists(st.sampled_from(["claude", "codex", "grok"]), min_size=8, max_size=8),
)
def test_every_turn_is_in_the_nearest_workspace_above_it_and_in_no_other(tmp_path_factory, stores, agents):
    """However workspaces lie in and beside each other: nothing is lost between them, nothing is in two."""
    base = tmp_path_factory.mktemp("w")
    world = World(base, project="elsewhere")
    for name in DIRECTORIES:
        (base / name).mkdir(parents=True, exist_ok=True)
    for name in stores:
        Workspace.create(base / name, machine=world.machine(base))
    for name, agent in zip(DIRECTORIES, agents, strict=True):
        getattr(world, agent)(name, cwd=base / name).user(f"said in {name}")

    found = {store: said_at(world, base / store) for store in stores}

    expected: dict[str, set[str]] = {store: set() for store in stores}
    for name in DIRECTORIES:
        above = [store for store in stores if name == store or name.startswith(f"{store}/")]
        if above:
            expected[max(above, key=len)].add(f"said in {name}")
    assert found == expected


@pytest.mark.parametrize("agent", ["claude", "codex", "grok"])
def test_no_answer_shows_a_word_of_another_workspace(world: World, tmp_path, agent):
    """Neighbours with a longer name, workspaces inside, directories above: all have something to say."""
    inner = world.project / "vendor" / "lib"
    (inner / ".conversation-esaa").mkdir(parents=True)
    for name, cwd in {
        "neighbour": f"{world.project}2",
        "dashed": f"{world.project}-old",
        "inner": inner,
        "above": world.project.parent,
        "home": world.home,
        "root": "/",
        "relative": "project",
    }.items():
        getattr(world, agent)(name, cwd=str(cwd)).user(f"CANARY of {name}")
    getattr(world, agent)("mine").user("ours").assistant("yours")

    world.sync()

    assert world.said() == [("user", "ours"), ("assistant", "yours")]
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())
    for words in ANSWERS:
        ran = world.run(*words)
        assert ran.code == 0, ran.err
        assert "CANARY" not in ran.out + ran.err


def test_a_session_that_changes_directory_is_split_by_record(world: World, tmp_path):
    """The record's own directory decides, not the one that the session began in."""
    claude = world.claude().user("here")
    claude.user("CANARY there", cwd=str(tmp_path / "other")).assistant("CANARY", cwd=str(tmp_path / "other"))
    claude.user("here again", cwd=str(world.project / "pkg"))

    report = world.sync()

    assert [text for _, text in world.said()] == ["here", "here again"]
    assert world.agent("claude-code", report).refused == {claude.id: 2}
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())


def test_a_record_that_says_no_directory_is_refused_and_counted(world: World):
    """In doubt it stays out."""
    world.claude().user("one", cwd="").assistant("two", cwd=None)

    report = world.sync()

    assert world.said() == [] or [text for _, text in world.said()] == []
    assert sum(world.agent("claude-code", report).refused_cwds.values()) == 2
