"""Fault cases G: paths, workspaces and homes, from end to end."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import World


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def test_directories_whose_folder_names_collide_are_kept_apart(world: World):
    """FC-G01: `data-analysis` and `data/analysis` share a folder of Claude Code's; the records know better."""
    (world.project / "data" / "analysis" / ".conversation-esaa").mkdir(parents=True)
    world.claude("one", cwd=world.project / "data-analysis").user("ours")
    world.claude("two", cwd=world.project / "data" / "analysis").user("of the inner workspace")

    world.sync()

    assert texts(world) == ["ours"]


def test_one_session_under_two_spellings_of_a_mounted_drive_is_one(world: World):
    """FC-G02: `/mnt/c` knows no case; what is elsewhere does."""
    world.add_roots("/mnt/c/Work/Harness", "/home/dev/Tea")
    codex = world.codex(cwd="/mnt/c/Work/Harness").user("one")
    codex.record("turn_context", {"turn_id": "t", "cwd": "/mnt/c/work/harness", "model": "demo"})
    codex.user("two")
    world.codex("windows", cwd="C:\\Work\\Harness\\pkg").user("elsewhere: no Windows path was named")
    world.codex("case", cwd="/home/dev/tea").user("another directory")

    world.sync()

    assert texts(world) == ["one", "two"]


def test_spellings_of_a_wsl_share_are_one_directory(world: World):
    """FC-G03: and stay apart from a bare Linux path, which does not say its distribution."""
    world.add_roots("\\\\wsl$\\Ubuntu\\home\\dev\\tea")
    world.codex("new", cwd="\\\\wsl.localhost\\Ubuntu\\home\\dev\\tea").user("one")
    world.codex("slash", cwd="//wsl$/ubuntu/home/dev/tea/src").user("two")
    world.codex("other", cwd="\\\\wsl$\\Debian\\home\\dev\\tea").user("of another distribution")
    world.codex("bare", cwd="/home/dev/tea").user("of nobody knows which")

    world.sync()

    assert texts(world) == ["one", "two"]


def test_dots_and_slashes_in_a_recorded_path_change_nothing(world: World):
    """FC-G04: a directory has one name here, and ids do not hang on it."""
    codex = world.codex(cwd=f"{world.project}/src/../").user("one")
    codex.record("turn_context", {"turn_id": "t", "cwd": f"{world.project}//./src/", "model": "demo"})
    codex.user("two")

    world.sync()

    assert texts(world) == ["one", "two"]


def test_a_session_file_that_moves_keeps_its_turns(world: World):
    """FC-G05: an agent that changes directory may take its file along; one new turn is one new event."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    moved = world.claude(cwd=world.project / "src")
    shutil.move(claude.path, moved.path)
    moved.count = claude.count
    moved.user("three")

    report = world.sync()

    assert report.captured == 1
    assert texts(world) == ["one", "two", "three"]
    assert str(claude.path) not in world.workspace().layout.sync_state.read_text()


def test_an_agents_home_behind_a_link_is_read_once(world: World, tmp_path):
    """FC-G06: dotfile managers do that; a loop ends, a file with two names is one file."""
    world.claude().user("one")
    kept = tmp_path / "dotfiles" / "claude"
    kept.parent.mkdir()
    shutil.move(world.home / ".claude", kept)
    (world.home / ".claude").symlink_to(kept, target_is_directory=True)
    projects = kept / "projects"
    folder = next(projects.iterdir())
    (projects / f"{folder.name}-again").symlink_to(folder, target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)

    report = world.sync()

    assert texts(world) == ["one"]
    assert world.agent("claude-code", report).sessions == 1


@pytest.mark.parametrize(
    ("variable", "agent", "default"),
    [
        ("CLAUDE_CONFIG_DIR", "claude", ".claude"),
        ("CODEX_HOME", "codex", ".codex"),
        ("GROK_HOME", "grok", ".grok"),
    ],
)
def test_a_home_named_in_the_environment_counts_when_it_is_not_empty(
    world: World, tmp_path, variable, agent, default
):
    """FC-G07: empty means the default; one that leads nowhere is said, not passed over."""
    name = {"claude": "claude-code"}.get(agent, agent)
    getattr(world, agent)().user("one")

    world.environ[variable] = ""
    assert world.sync().captured == 2
    world.environ[variable] = str(tmp_path / "nowhere")
    nowhere = world.sync()
    status = world.run("status").out
    shutil.move(world.home / default, tmp_path / "nowhere")
    getattr(world, agent)  # the builder's own home is gone now
    moved = world.sync()

    assert not world.agent(name, nowhere).found
    assert f"not found ({tmp_path / 'nowhere'})" in status
    assert world.agent(name, moved).found
    assert moved.captured == 0


def test_xdg_variables_move_no_agent_that_does_not_follow_them(world: World, tmp_path):
    """FC-G08: the default home is still read."""
    (tmp_path / "xdg").mkdir()
    world.environ["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    world.claude().user("one")

    world.sync()

    assert texts(world) == ["one"]


def test_a_command_in_a_sub_directory_means_the_workspace_above(world: World):
    """FC-G09: and so does a relative path to the workspace."""
    world.claude().user("one")
    world.sync()
    inner = world.project / "pkg" / "inner"
    inner.mkdir(parents=True)

    below = world.run("context", "--json", present=inner)
    relative = world.run("context", "--json", "--workspace", "../..", present=inner)

    assert below.json["events"] == relative.json["events"]
    assert below.json["events"][-1]["text"] == "one"


@pytest.mark.parametrize("path", ["~/tea", "$HOME/tea", "%USERPROFILE%\\tea", "tea"])
def test_a_path_in_the_settings_that_is_not_written_out_is_refused_with_a_word(world: World, path):
    """FC-G10: never a directory that is really called `~`, and never a root that silently counts for nothing."""
    world.add_roots(path)

    ran = world.run("sync")

    assert ran.code == 1
    assert "absolute" in ran.err
    assert not list(world.project.rglob("~*"))


def test_a_neighbour_with_a_longer_name_stays_out(world: World, tmp_path):
    """FC-G11: `/w/app2` is not in `/w/app`, in the log, in a context or in a handoff."""
    neighbour = tmp_path / "project2"
    for builder, name in ((world.claude, "c"), (world.codex, "x"), (world.grok, "g")):
        builder(f"{name}-1").user(f"ours {name}")
        builder(f"{name}-2", cwd=neighbour).user(f"CANARY {name}")

    world.sync()

    assert sorted(texts(world)) == ["ours c", "ours g", "ours x"]
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())


def test_hostile_directories_stop_nothing(world: World):
    """A NUL, half a character, ten thousand levels, a megabyte: refused and counted like any other."""
    codex = world.codex().user("one")
    for cwd in ("/a\0b", "/a\ud800", "/x" * 10_000, "/" + "y" * 1_000_000, "\\\\", "C:", "\n\x1b[2J"):
        codex.record("turn_context", {"turn_id": "t", "cwd": cwd, "model": "demo"})
        codex.user("CANARY")
    codex.record("turn_context", {"turn_id": "t", "cwd": str(world.project), "model": "demo"})
    codex.user("two")
    world.workspace()

    ran = world.run("sync")
    again = world.sync()

    assert ran.code == 0, ran.out
    assert texts(world) == ["one", "two"]
    assert not set(ran.out + world.run("status").out) & set("\x1b\0")
    assert again.captured == 0
    assert world.workspace().layout.sync_state.stat().st_size < 100_000
