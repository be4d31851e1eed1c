"""I1: the log is the single source of truth. Everything else but the settings can be deleted at any time."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from builders.log import v1_1_log
from conversation_esaa.layout import READ_MODELS

if TYPE_CHECKING:
    from builders.world import World

KEPT = {"activity.jsonl", "config.toml"}


def lived_in(world: World) -> None:
    """A workspace with a bit of everything."""
    world.claude().user("Which port?").assistant("8080.").user("And the other one?")
    world.codex().user("Go on.").assistant("Done.")
    world.sync()
    workspace = world.workspace()
    workspace.set_goal("Ship the tide table")
    workspace.decide("Take the north harbour", rationale="It is up to date", sources=["last"])
    workspace.create_task("Read the tides", next_step="Find out their zone")
    workspace.create_topic("Tides", events=["last"])


def delete_all_but_the_truth(world: World) -> None:
    for path in world.store.iterdir():
        if path.name not in KEPT:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def derived(world: World) -> dict[str, bytes]:
    return {name: data for name, data in world.bytes_of_store().items() if name in READ_MODELS}


def test_every_read_model_comes_back_byte_for_byte(world: World):
    """What a person deleted, a backup left out or a disk lost costs one command."""
    lived_in(world)
    before = derived(world)
    assert set(before) == set(READ_MODELS)

    delete_all_but_the_truth(world)
    ran = world.run("project")

    assert ran.code == 0
    assert derived(world) == before


def test_the_cursors_come_back_as_they_were(world: World):
    """A cache may only cost time: the next capture adds nothing and knows as much as before."""
    lived_in(world)
    world.sync()
    before = world.bytes_of_store()

    delete_all_but_the_truth(world)
    report = world.sync()

    assert report.captured == 0
    after = world.bytes_of_store()
    cursors = [json.loads(store["sync-state.json"])["sources"] for store in (before, after)]
    assert cursors[0] == cursors[1] != {}
    assert {name: after[name] for name in READ_MODELS} == {name: before[name] for name in READ_MODELS}
    assert after["activity.jsonl"] == before["activity.jsonl"]


def test_a_log_of_the_older_tool_is_as_much_a_source(world: World, tmp_path):
    """Its read models are rebuilt from lines that nobody rewrote."""
    world.store.mkdir()
    (world.store / "activity.jsonl").write_bytes(v1_1_log(str(world.project), str(tmp_path / "other")))
    world.run("up")
    before = derived(world)

    delete_all_but_the_truth(world)
    world.run("project")

    assert derived(world) == before


def test_every_command_works_when_only_the_truth_is_left(world: World):
    """Also without running `project` first."""
    lived_in(world)
    for words in (["context"], ["handoff"], ["status"], ["verify"], ["decide", "x"], ["sync"]):
        delete_all_but_the_truth(world)

        assert world.run(*words).code in (0, 3), words
