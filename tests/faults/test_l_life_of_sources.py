"""Fault cases L: agents tidy up their logs while we look."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import World


def test_a_session_that_is_deleted_by_its_agent_stays_in_the_log(world: World):
    """What was captured is ours; the cursor goes with the file."""
    gone, kept = world.claude("gone").user("one"), world.claude("kept").user("two")
    world.sync()
    gone.path.unlink()
    kept.assistant("three")

    report = world.sync()

    assert not report.partial
    assert [text for _, text in world.said()] == ["one", "two", "three"]
    assert str(gone.path) not in (world.store / "sync-state.json").read_text()


@pytest.mark.parametrize("when", ["before the stat", "before it is opened"])
def test_a_file_that_vanishes_under_us_is_passed_over(world: World, monkeypatch, when):
    """FC-L02: no error, no warning, and every other file is read."""
    gone = world.claude("gone").user("one")
    world.claude("kept").user("two")
    world.workspace()
    name = "stat" if when == "before the stat" else "open"
    real = getattr(Path, name)

    def vanishing(path, *args, **options):
        if path == gone.path:
            gone.path.unlink(missing_ok=True)
        return real(path, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, name, vanishing)
        ran = world.run("sync")

    assert ran.code == 0
    assert str(gone.path) not in ran.out
    assert world.said() == [("user", "two")]


def test_a_file_that_is_cut_while_it_is_read_ends_there(world: World):
    """FC-L02: what was read is kept; what the file holds later is another look."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    whole = claude.path.read_bytes()
    claude.path.write_bytes(whole[:50])
    world.sync()
    claude.path.write_bytes(whole)
    claude.user("three")
    world.sync()

    assert [text for _, text in world.said()] == ["one", "two", "three"]


def test_side_folders_without_a_session_are_no_session(world: World):
    """FC-L02: tool results and sub-agents' folders outlive the file they belong to."""
    claude = world.claude()
    beside = claude.path.with_suffix("") / "tool-results"
    beside.mkdir(parents=True)
    (beside / "big.txt").write_text("CANARY")
    (beside.parent / "subagents").mkdir()
    (beside.parent / "subagents" / "agent-1.jsonl").write_text(
        '{"type":"user","message":{"content":"CANARY"}}\n'
    )

    ran = world.run("up")

    assert ran.code == 0
    assert world.said() == []
    assert not any(b"CANARY" in content for content in world.bytes_of_store().values())


def test_an_agents_home_that_goes_away_and_comes_back_costs_nothing(world: World, tmp_path):
    """A network home, an encrypted folder: absent is not empty."""
    claude = world.claude().user("one")
    world.sync()
    shutil.move(world.home / ".claude", tmp_path / "away")
    absent = world.sync()
    shutil.move(tmp_path / "away", world.home / ".claude")
    claude.assistant("two")
    back = world.sync()

    assert (absent.captured, back.captured) == (0, 1)
    assert [text for _, text in world.said()] == ["one", "two"]
