"""FC-L01: how long an agent keeps its sessions is shown, and what it is about to delete; nothing is edited."""

import json
import os
from datetime import timedelta

import pytest

from builders.watching import watching
from builders.world import World
from conversation_esaa.agents import claude_code
from conversation_esaa.watch.retention import warnings


def aged(world: World, *, days: float) -> World:
    """A session whose last word is that old, and a file that capture can't finish with."""
    claude = world.claude().user("old")
    then = (world.time - timedelta(days=days)).timestamp()
    os.utime(claude.path, (then, then))
    return world


def settings(world: World, **keys: object) -> None:
    (world.home / ".claude" / "settings.json").write_text(json.dumps(keys))


def survey(world: World) -> dict[str, object]:
    agents = world.run("status", "--no-sync", "--json").json["agents"]
    return next(agent for agent in agents if agent["agent"] == "claude-code")


@pytest.mark.parametrize(
    ("given", "days"),
    [
        (None, 30),
        (7, 7),
        (99_999, 99_999),
        (0, 0),
        (12.5, 12),
        (10**30, 1_000_000),
        ("7", 30),
        (True, 30),
        (-1, 30),
    ],
)
def test_the_value_in_force_is_shown(world: World, given, days):
    aged(world, days=1).workspace()
    if given is not None:
        settings(world, cleanupPeriodDays=given)

    found = survey(world)["retention"]

    assert found == {
        "days": days,
        "setting": "cleanupPeriodDays",
        "file": str(world.home / ".claude" / "settings.json"),
        "by_default": days == 30,
    }


@pytest.mark.parametrize("content", ["", "{", "[]", "\0", '{"cleanupPeriodDays": NaN}'])
def test_settings_that_cannot_be_read_mean_the_default(world: World, content):
    (world.home / ".claude").mkdir()
    (world.home / ".claude" / "settings.json").write_text(content)

    assert claude_code.retention(world.home / ".claude").days == 30


def test_status_shows_the_oldest_session_that_is_not_captured(world: World):
    aged(world, days=29).workspace()
    before = survey(world)
    shown = world.run("status", "--no-sync").out
    after_capture = (world.run("sync"), survey(world))[1]

    assert str(before["oldest_with_news"]).startswith("2026-01-31")
    assert str(before["deleted_from"]).startswith("2026-03-02")
    assert "1 session files are not captured; it deletes such files 30 days after" in shown
    assert (after_capture["oldest_with_news"], after_capture["deleted_from"]) == ("", "")


def test_an_agent_that_deletes_nothing_has_no_retention(world: World):
    world.codex().user("one")
    world.workspace()
    agents = world.run("status", "--no-sync", "--json").json["agents"]

    codex = next(agent for agent in agents if agent["agent"] == "codex")

    assert (codex["retention"], codex["deleted_from"]) == (None, "")
    assert codex["oldest_with_news"]


@pytest.mark.parametrize(("days", "count"), [(1, 0), (22, 0), (24, 1), (40, 1)])
def test_the_watcher_warns_a_week_before(world: World, days, count):
    workspace = aged(world, days=days).workspace()

    found = warnings(workspace)

    assert len(found) == count
    assert all("Claude Code deletes sessions 30 days after their last word" in each for each in found)


def test_what_was_excluded_on_purpose_is_no_loss(world: World):
    workspace = aged(world, days=29).workspace()
    config = workspace.layout.config.read_text()
    workspace.layout.config.write_text(config.replace("exclude_agents = []", 'exclude_agents = ["claude"]'))

    assert warnings(workspace) == []
    assert "deletes" not in world.run("status", "--no-sync").out


@pytest.mark.skipif(os.name == "nt", reason="signals and pipes are told the POSIX way")
def test_a_running_watcher_says_it_and_edits_nothing(world: World):
    """A session that was not captured, because the log was locked for as long as the watcher looked."""
    from conversation_esaa.log.lock import held

    aged(world, days=20_000).workspace()
    settings(world, cleanupPeriodDays=5)
    files = {path: path.read_bytes() for path in (world.home / ".claude").rglob("*") if path.is_file()}
    locked = held(world.workspace().layout.write_lock, purpose="stall", wait_s=0)
    with locked, watching(world, "--poll") as watcher:
        line = watcher.until("deletes sessions 5 days after")
        watcher.until("is writing to the log")
        status = world.run("watch", "--status").out

    assert "1 of them are not captured" in line
    assert "deletes sessions 5 days after" in status
    assert {path: path.read_bytes() for path in files} == files
