"""A workspace that moves, is copied, has git worktrees or several names, and what capture makes of it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.errors import NoWorkspace
from conversation_esaa.locate import existing, intended, main_work_tree
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def moved(world: World, name: str) -> Path:
    """The project at another path; what the agents recorded stays as it was."""
    target = world.project.parent / name
    world.project.rename(target)
    world.project = target
    return target


def worktree(world: World, name: str = "feature") -> Path:
    """A linked git worktree of the project, as git lays it out."""
    place = world.project.parent / name
    git_dir = world.project / ".git" / "worktrees" / name
    git_dir.mkdir(parents=True)
    place.mkdir()
    (place / ".git").write_text(f"gitdir: {git_dir}\n")
    return place


def test_a_directory_that_moved_keeps_its_id_and_its_conversation(world: World):
    """What was said at the old path belongs here while nothing else is there."""
    claude = world.claude().user("one")
    world.sync()
    first = world.workspace().settings
    old = str(world.project)

    moved(world, "renamed")
    claude.assistant("two")  # the agent still ran at the old path
    world.claude("new").user("three")
    world.sync()
    again = world.sync()

    settings = world.workspace().settings
    assert texts(world) == ["one", "two", "three"]
    assert (settings.workspace_id, settings.replica_id) == (first.workspace_id, first.replica_id)
    assert (settings.root, settings.former_roots) == (str(world.project), (old,))
    assert world.workspace().state().conversation.counts["workspace.moved"] == 1
    assert again.captured == 0


def test_moving_back_and_forth_leaves_one_list_of_places(world: World):
    """And one event for each move."""
    first = str(world.project)
    world.sync()
    for name in ("b", "project", "b"):
        moved(world, name)
        world.sync()

    settings = world.workspace().settings
    assert settings.root == str(world.project)
    assert settings.former_roots == (first,)
    assert world.workspace().state().conversation.counts["workspace.moved"] == 3


def test_what_took_the_place_of_a_moved_directory_is_another_project(world: World):
    """A new checkout at the old path has nothing to say here."""
    world.claude().user("one")
    world.sync()
    old = world.project
    moved(world, "renamed")
    old.mkdir()
    world.claude("stranger", cwd=old).user("CANARY of the new project")

    world.sync()

    assert texts(world) == ["one"]


def test_a_link_left_at_the_old_path_leads_to_the_same_workspace(world: World):
    """Both names mean it, for commands and for what agents record."""
    world.claude().user("one")
    world.sync()
    old = world.project
    new = moved(world, "renamed")
    old.symlink_to(new, target_is_directory=True)
    world.claude("by the old name", cwd=old).user("two")

    world.sync()
    by_link = world.run("context", "--json", present=old)

    assert texts(world) == ["one", "two"]
    assert by_link.json["events"][-1]["text"] == "two"
    assert "workspace.moved" not in world.workspace().state().conversation.counts  # it has not: see the link


def test_a_copy_is_a_replica_of_its_own_and_listens_to_its_own_directory(world: World):
    """`cp -r`: both go on, and neither takes the other's turns."""
    world.claude().user("one")
    world.sync()
    original, copy = world.project, world.project.parent / "copy"
    shutil.copytree(original, copy)
    ids = world.workspace().settings

    world.claude("in the original", cwd=original).user("two")
    world.claude("in the copy", cwd=copy).user("three")
    world.sync()
    in_original = texts(world)
    world.project = copy
    world.sync()

    assert in_original == ["one", "two"]
    assert texts(world) == ["one", "three"]
    settings = world.workspace().settings
    assert settings.workspace_id == ids.workspace_id
    assert settings.replica_id != ids.replica_id
    assert {entry.event.replica_id for entry in world.entries()} == {ids.replica_id, settings.replica_id}
    assert world.run("verify", "--deep").code == 0


def test_two_processes_that_notice_a_move_note_it_once(world: World):
    """Whoever is second finds it settled."""
    world.sync()
    moved(world, "renamed")

    ran = [world.wait(process) for process in [world.process("sync") for _ in range(4)]]

    assert [one.code for one in ran] == [0] * 4, [one.err for one in ran]
    assert world.workspace().state().conversation.counts["workspace.moved"] == 1


def test_a_move_that_cannot_be_written_down_is_said_and_noted_once_it_can(world: World, monkeypatch):
    """Not once per try."""
    import os

    world.claude().user("one")
    world.sync()
    moved(world, "renamed")
    real = os.replace

    def full(source, target):
        if str(target).endswith("config.toml"):
            raise OSError(28, "No space left on device")
        real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        failed = [world.run("sync") for _ in range(3)]
    world.sync()

    assert [one.code for one in failed] == [1, 1, 1]
    assert "config.toml: No space left on device" in failed[0].err
    assert world.workspace().state().conversation.counts["workspace.moved"] == 1


def test_a_worktree_joins_by_init_and_what_was_said_there_before_is_fetched(world: World):
    """The files were read already and their turns refused: now they are looked at again."""
    place = worktree(world)
    world.workspace()
    world.claude(cwd=place).user("one")
    world.codex(cwd=place / "src").user("two")
    before = world.sync()

    ran = world.run("init", present=place)
    after = world.sync()
    again = world.sync()

    assert world.agent("codex", before).refused_cwds == {str(place / "src"): 1}
    assert f"The git worktree {place} belongs to this workspace now" in ran.out
    assert world.workspace().settings.roots == (str(place),)
    assert sorted(texts(world)) == ["one", "two"]
    assert (after.captured, again.captured) == (4, 0)


def test_a_worktree_that_did_not_join_reads_the_workspace_and_adds_nothing(world: World):
    """Reading is for everybody who works on the project; belonging is somebody's decision."""
    place = worktree(world)
    world.claude().user("one")
    world.codex(cwd=place).user("two")
    world.sync()

    ran = world.run("context", "--json", present=place)

    assert ran.code == 0
    assert ran.json["events"][-1]["text"] == "one"
    assert texts(world) == ["one"]


def test_the_worktree_of_a_real_repository_is_found_by_gits_own_files(world: World, tmp_path):
    """Git is not run by us; here it is, to see that we read it right."""
    git = ["git", "-C", str(world.project), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    try:
        subprocess.run([*git, "init", "-q"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True, capture_output=True)
    place = tmp_path / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(place)], check=True, capture_output=True)
    world.workspace()

    assert main_work_tree(place) == world.project
    assert intended(place) == world.project
    assert existing(place) == world.project
    status = subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True)
    assert status.stdout == b""  # the store ignores itself


def test_a_root_added_by_hand_counts_from_the_next_run(world: World):
    """Files that were read and refused are looked at again; a root taken out takes nothing away."""
    world.codex(cwd="/home/dev/other name").user("one")
    world.sync()
    world.add_roots("/home/dev/other name")
    added = world.sync()
    world.add_roots()
    taken_out = world.sync()

    assert (added.captured, taken_out.captured) == (2, 0)
    assert texts(world) == ["one"]


def test_a_workspace_reached_by_a_link_is_the_real_one(world: World, tmp_path):
    """Agents that record the real path and those that record the typed one are both ours."""
    link = tmp_path / "link"
    link.symlink_to(world.project, target_is_directory=True)
    world.claude("real").user("one")
    world.claude("typed", cwd=link).user("two")
    workspace, _ = Workspace.create(link, machine=world.machine(link))

    workspace.sync()

    found = [entry.event.text for entry in workspace.entries() if hasattr(entry.event, "source_index")]
    assert sorted(found) == ["one", "two"]


def test_without_a_workspace_the_way_to_one_is_named(world: World):
    """The nearest thing to an error that a newcomer should see."""
    with pytest.raises(NoWorkspace) as refused:
        existing(world.project)

    assert "conversation-esaa up" in refused.value.hint


def test_a_second_setup_changes_nothing(world: World):
    """`up` and `init` are safe at any time; a config that a person wrote stays theirs."""
    world.claude().user("one")
    world.run("up")
    config = world.workspace().layout.config
    config.write_text(config.read_text() + "\n# mine\n")
    before = world.bytes_of_store()

    for words in (["init"], ["up"], ["init"]):
        assert world.run(*words).code == 0

    assert world.bytes_of_store() == before
    assert world.store.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in world.store.iterdir() if path.is_file()} == {0o600}
