"""A directory of the older PowerShell tool is taken over, and the agents' logs that it was made from are still
there. What it captured is recognised, what it missed is added, and its bytes stay as they are.

The log is the one with every oddity (tests/golden/v1_1); the native logs are composed to match it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from builders.log import v1_1_log
from builders.world import World
from conversation_esaa.events import ConversationTurn

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = "Where should the workspace hooks live?"
ONE_FILE = "The workspace hooks live under the workspace root.\n\nOne file per agent."
IMPLEMENT = "Implement CONV-001 please."
REVIEW = "Review the installer for the workspace."
FINE = "The installer is fine; add a test for existing settings."


def taken_over(tmp_path: Path, extra: bytes = b"") -> tuple[World, bytes]:
    """A v1.1 directory with its log, not upgraded yet."""
    world = World(tmp_path)
    log = v1_1_log(str(world.project), str(tmp_path / "other")) + extra
    world.store.mkdir()
    (world.store / "activity.jsonl").write_bytes(log)
    return world, log


def plan() -> str:
    lines = (json.loads(line) for line in v1_1_log().splitlines())
    return next(line["text"] for line in lines if line["text"].startswith("Plan for the installer"))


def native_sessions(world: World) -> dict[str, Any]:
    """The sessions that the older tool read."""
    grok = world.grok(session="g-001").user(HOOKS).assistant(ONE_FILE)
    codex = world.codex(session="c-001").user(IMPLEMENT).assistant(plan())
    claude = world.claude(session="k-001").user(REVIEW).thinking("CANARY").assistant(FINE)
    return {"grok": grok, "codex": codex, "claude": claude}


def v1_1_turn(world: World, **more: Any) -> bytes:
    line = {
        "event_id": "e" * 64,
        "ts": "2026-07-13T09:00:00-03:00",
        "event": "conversation_turn",
        "actor": "user",
        "agent_id": None,
        "source": "claude",
        "source_session_id": "k-009",
        "source_path": "fixture/claude.jsonl",
        "source_index": 0,
        "workspace_root": str(world.project),
        "summary": "continue",
        "text": "continue",
    }
    return json.dumps({**line, **more}).encode() + b"\n"


def new_turns(world: World) -> list[str]:
    return [turn.text for turn in world.turns() if turn.v == 2]


def test_what_the_older_tool_captured_is_not_captured_again(tmp_path):
    """Its ids hash line numbers; the turns are recognised by source, session, actor and text."""
    world, log = taken_over(tmp_path)
    native_sessions(world)

    upgraded = world.run("upgrade")
    synced = world.run("sync", "--json")

    assert (upgraded.code, synced.code) == (0, 0)
    assert new_turns(world) == []
    assert sum(agent["known"] for agent in synced.json["agents"]) == 6
    assert (world.store / "activity.jsonl").read_bytes().startswith(log)
    assert b"CANARY" not in (world.store / "activity.jsonl").read_bytes()


def test_what_is_new_in_the_same_sessions_is_added(tmp_path):
    """Behind the old lines, in one log, readable as one conversation."""
    world, log = taken_over(tmp_path)
    sessions = native_sessions(world)
    world.run("up")

    sessions["claude"].user("And now document it.").assistant("Done.")
    world.codex("new").user("Go on.")
    world.sync()

    assert new_turns(world) == ["And now document it.", "Done.", "Go on."]
    assert (world.store / "activity.jsonl").read_bytes().startswith(log)
    assert world.run("verify", "--deep").code == 0


def test_upgrading_and_capturing_any_number_of_times_adds_nothing(tmp_path):
    """FC-I07: a takeover that stopped half-way is taken up again, and the old log is the old log."""
    world, _ = taken_over(tmp_path)
    native_sessions(world)
    world.run("up")
    before = world.bytes_of_store()

    for command in ("upgrade", "up", "sync", "upgrade"):
        world.run(command)
    (world.store / "sync-state.json").unlink()
    world.run("sync")
    world.run("sync", "--full")

    assert world.bytes_of_store() == before


def test_a_lost_config_of_a_half_taken_over_directory_is_made_again(tmp_path):
    """FC-I07: the log names the workspace, so it stays the same one."""
    world, log = taken_over(tmp_path)
    world.run("upgrade")
    first = world.workspace().settings.workspace_id

    (world.store / "config.toml").unlink()
    world.run("upgrade")

    assert world.workspace().settings.workspace_id == first
    assert (world.store / "activity.jsonl").read_bytes().startswith(log)


def test_a_text_said_more_often_than_the_older_tool_saw_is_added_once(tmp_path):
    """`continue` is a whole prompt: counted, so that the third one is new and stays one."""
    world, _ = taken_over(tmp_path)
    with (world.store / "activity.jsonl").open("ab") as file:
        file.write(v1_1_turn(world) + v1_1_turn(world, event_id="f" * 64, source_index=4))
    claude = world.claude(session="k-009").user("continue").assistant("Yes.").user("continue")
    world.run("up")
    assert new_turns(world) == ["Yes."]

    claude.user("continue")
    world.sync()
    world.sync(full=True)
    (world.store / "sync-state.json").unlink()
    world.sync()

    assert new_turns(world) == ["Yes.", "continue"]


def test_a_native_record_that_the_older_tool_wrote_twice_stands_for_one_turn(tmp_path):
    """Lines 20 and 21 of its log are one step. A second equal answer later is a turn of its own."""
    world, _ = taken_over(tmp_path)
    with (world.store / "activity.jsonl").open("ab") as file:
        file.write(v1_1_turn(world) + v1_1_turn(world, event_id="f" * 64))  # same session and index
    world.claude(session="k-009").user("continue").user("continue")

    world.run("up")

    assert new_turns(world) == ["continue"]


def test_a_line_of_another_workspace_hides_no_turn_of_this_one(tmp_path):
    """The older log holds foreign lines, which are never shown: they can't stand for a turn that is ours."""
    world, _ = taken_over(tmp_path)
    with (world.store / "activity.jsonl").open("ab") as file:
        file.write(v1_1_turn(world, workspace_root=str(tmp_path / "other")))
    world.claude(session="k-009").user("continue")

    world.run("up")

    assert new_turns(world) == ["continue"]


def test_a_fork_of_a_session_that_the_older_tool_captured_adds_only_its_own_turns(tmp_path):
    """Claude Code copies the history with its record ids into the fork's file; the parent is known by text."""
    world, _ = taken_over(tmp_path)
    parent = native_sessions(world)["claude"]
    world.run("up")

    fork = world.claude("fork")
    for line in parent.path.read_text("utf-8").splitlines():
        fork.write({**json.loads(line), "sessionId": fork.id})
    fork.user("In the fork, use amber.")
    world.sync()

    assert new_turns(world) == ["In the fork, use amber."]


def test_a_read_error_behind_a_recognised_turn_does_not_make_it_new(tmp_path, monkeypatch):
    """FC-B03: the file is tried again from where it was, and what was recognised once is recognised again."""
    from conversation_esaa.agents import jsonl

    world, _ = taken_over(tmp_path)
    with (world.store / "activity.jsonl").open("ab") as file:
        file.write(v1_1_turn(world))
    claude = world.claude(session="k-009").assistant("Before.")
    world.run("up")
    claude.user("continue").assistant("After.")
    with monkeypatch.context() as patched:

        def failing(handle, lines, read=jsonl.read_records):
            yield next(read(handle, lines))
            raise OSError(5, "Input/output error")

        patched.setattr(jsonl, "read_records", failing)
        failed = world.run("sync")
    world.sync()

    assert failed.code == 3
    assert new_turns(world) == ["Before.", "After."]


def test_the_older_conversation_is_read_together_with_the_new_one(tmp_path):
    """`claude` is `claude-code` now, and both are one agent in every answer."""
    world, _ = taken_over(tmp_path)
    native_sessions(world)["claude"].user("And now document it.")
    world.run("up")

    shown = world.run("context", "--agent", "claude", "--json", "--last", "50").json

    texts = [event.get("text", "") for event in shown["events"] if event["event"] != "session.started"]
    assert texts[:2] == [REVIEW, FINE]
    assert texts[-1] == "And now document it."
    assert all(isinstance(turn, ConversationTurn) for turn in world.turns())
