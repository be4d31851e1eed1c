"""A home with every agent in it at once, from the logs that the real programs wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from builders.world import World
from conversation_esaa.events import ConversationTurn

LOGS = Path(__file__).resolve().parents[3] / "shared" / "real-logs"
ROOT = "/home/devb/work/alpha-shop"
NAMES = ("aider", "cline", "copilot", "droid", "gemini", "kilo", "kimi", "opencode", "pi", "qwen")
SETS = [folder for folder in sorted(LOGS.glob("*/home")) if folder.parent.name.startswith(NAMES)]

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not SETS, reason="no folder `shared` with real logs beside the repository"),
]


def world_of(base: Path, *homes: Path) -> World:
    world = World(base)
    for home in homes:
        shutil.copytree(home, world.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for path in (world.home, *world.home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    world.add_roots(ROOT)
    return world


def ids(world: World) -> list[str]:
    return [entry.event.event_id for entry in world.entries() if isinstance(entry.event, ConversationTurn)]


def test_together_they_give_what_each_gives_alone_and_nothing_twice(tmp_path):
    alone: set[str] = set()
    for home in SETS:
        world = world_of(tmp_path / home.parent.name, home)
        world.sync()
        alone |= set(ids(world))
    world = world_of(tmp_path / "all", *SETS)

    first, again, anew = world.sync(), world.sync(), world.sync(full=True)

    together = ids(world)
    assert len(alone) > 80
    assert set(together) == alone
    assert len(together) == len(alone)
    assert (again.captured, anew.captured) == (0, 0)
    assert not first.partial
    assert not any(report.strange for report in first.agents)
    assert world.run("verify", "--deep").code == 0
    assert len({turn.source for turn in world.turns()}) >= 9
