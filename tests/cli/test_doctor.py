"""`doctor`: each agent's way into the log, and what mends what is wrong on it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from builders.hooks import Hooks
from builders.world import World

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="calls go through sh")

SECRET = "ghp_" + "R4nd0mMadeUpTokenValue0123456789abcd"[:36]


@pytest.fixture
def talk(world: World) -> World:
    """A project with one captured session of Claude Code, whose user trusts the folder."""
    world.environ["PATH"] = os.environ["PATH"]  # for sh
    world.claude().user("Which port?").assistant(f"8080, with {SECRET}.")
    trusted = {"projects": {str(world.project): {"hasTrustDialogAccepted": True}}}
    (world.home / ".claude.json").write_text(json.dumps(trusted))
    world.run("up")
    return world


def doctor(world: World, *words: str) -> tuple[int, Any]:
    ran = world.run("doctor", "--json", *words)
    return ran.code, ran.json


def of(found: Any, agent: str) -> Any:
    return next(each for each in found["agents"] if each["agent"] == agent)


def codes(found: Any) -> list[str]:
    return [each["code"] for each in found["problems"]]


def test_a_sound_workspace_has_no_problem(talk):
    code, found = doctor(talk)

    claude = of(found, "claude-code")
    assert (code, found["problems"]) == (0, [])
    assert (claude["found"], claude["version"], claude["captured"]) == (True, "2.1.332", 3)
    assert (claude["with_news"], claude["bytes_behind"], claude["retention_days"]) == (0, 0, 30)
    assert 0 <= claude["last_turn_age_s"] < 600
    assert [note["code"] for note in found["notes"]] == ["hooks.off"]
    assert "enable-hooks --agent claude-code" in found["notes"][0]["mend"]


def test_the_screen_says_it_in_words_and_quotes_nothing_that_was_said(talk):
    screen = talk.run("doctor").out

    assert "claude-code  Claude Code 2.1.332: 3 events from 1 session; last said " in screen
    assert "no problem found" in screen
    assert "not found    " in screen
    assert "8080" not in screen
    assert SECRET not in screen


@posix
def test_hooks_are_proved_by_a_made_up_call_that_leaves_no_trace_in_the_log(talk):
    talk.run("enable-hooks", "--agent", "claude-code")
    log = talk.bytes_of_store()["activity.jsonl"]

    code, found = doctor(talk)

    assert (code, of(found, "claude-code")["proved"]) == (0, True)
    assert [note["code"] for note in found["notes"]] == ["hooks.never_called"]
    assert talk.bytes_of_store()["activity.jsonl"] == log
    assert Hooks(talk).spooled() == Hooks(talk).workers() == []


@posix
def test_a_hook_that_called_is_told_with_its_event(talk):
    talk.run("enable-hooks", "--agent", "claude-code")
    hooks = Hooks(talk)
    hooks.call("claude-code", "Stop")
    hooks.settle()

    _, found = doctor(talk, "--no-proof")

    claude = of(found, "claude-code")
    assert (claude["last_hook_event"], claude["proved"]) == ("Stop", None)
    assert claude["last_hook"]
    assert found["notes"] == []


@posix
def test_a_hook_whose_call_cannot_come_through_is_a_problem(talk):
    """The spool is where a call has to arrive; a file in its place keeps it out."""
    talk.run("enable-hooks", "--agent", "claude-code")
    (talk.store / "run" / "spool").touch(0o600)

    code, found = doctor(talk)

    assert code == 3
    assert codes(found) == ["hooks.no_way_through"]
    assert of(found, "claude-code")["proved"] is False


def test_hooks_of_another_installation_are_told_as_stale(talk):
    talk.run("enable-hooks", "--agent", "claude-code")
    settings = talk.project / ".claude" / "settings.local.json"
    settings.write_text(settings.read_text("utf-8").replace(sys.executable, "/elsewhere/python"), "utf-8")

    code, found = doctor(talk)

    assert (code, codes(found)) == (3, ["hooks.stale"])
    assert "enable-hooks --agent claude-code" in found["problems"][0]["mend"]
    assert of(found, "claude-code")["proved"] is None


def test_a_folder_that_is_not_trusted_is_told_with_the_step(talk):
    (talk.home / ".claude.json").unlink()
    talk.run("enable-hooks", "--agent", "claude-code")

    code, found = doctor(talk, "--no-proof")

    assert (code, codes(found)) == (3, ["hooks.approval_required"])
    assert "trust" in found["problems"][0]["mend"]


def test_calls_that_nobody_took_in_are_told_and_mended(talk):
    """A worker that is killed leaves them; the next one takes them, or `--fix`."""
    spool = talk.store / "run" / "spool"
    spool.mkdir(0o700)
    call = {"agent": "claude-code", "event": "Stop", "at": "2026-02-01T00:00:00.000Z", "payload": {}}
    (spool / f"{1:020d}-1.json").write_text(json.dumps(call))
    (spool / f"{1:020d}-1.json").chmod(0o600)
    talk.claude().user("And the host?")

    code, found = doctor(talk, "--no-proof")
    assert (code, codes(found), found["waiting_calls"]) == (3, ["spool.waiting"], 1)

    code, found = doctor(talk, "--no-proof", "--fix")
    assert (code, found["problems"], found["waiting_calls"]) == (0, [], 0)
    assert found["fixed"] == ["took in 1 call of hooks, left behind"]


@posix
def test_what_others_may_read_and_what_was_edited_is_mended(talk):
    log, tasks = talk.store / "activity.jsonl", talk.store / "tasks.json"
    log.chmod(0o644)
    tasks.write_text("mine")

    code, found = doctor(talk)
    assert (code, codes(found)) == (3, ["store.too_open", "read_models.stale"])

    code, found = doctor(talk, "--fix")
    assert (code, found["problems"]) == (0, [])
    assert log.stat().st_mode & 0o777 == 0o600
    assert tasks.read_text() != "mine"


def test_what_an_agent_may_delete_before_it_was_captured_is_a_problem(talk, monkeypatch):
    """FC-L01, with the log's lock held elsewhere, so that nothing can be captured."""
    from conversation_esaa.log.lock import held

    talk.claude().user("Unheard.")
    (talk.home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 1}')

    with held(talk.store / "run" / "write.lock", purpose="test", wait_s=0):
        code, found = doctor(talk, "--no-proof")

    claude = of(found, "claude-code")
    assert code == 3
    assert "capture.behind" in codes(found)
    assert claude["with_news"] == 1
    assert claude["bytes_behind"] > 0
    assert claude["deleted_from"]


def test_a_broken_config_is_a_problem_and_no_traceback(talk):
    (talk.store / "config.toml").write_text("root = [")

    code, found = doctor(talk)

    assert (code, codes(found), found["freshness"]) == (3, ["config.invalid"], None)


def test_without_a_workspace_it_says_so(world):
    ran = world.run("doctor")

    assert ran.code == 4
    assert "conversation-esaa up" in ran.err


def test_status_shows_its_word_in_one_line(talk):
    assert "health     no problem found; no hooks" in talk.run("status").out

    (talk.store / "tasks.json").write_text("mine")

    assert "health     1 problem: `conversation-esaa doctor`" in talk.run("status").out


def test_a_path_cannot_smuggle_a_terminal_escape(tmp_path: Path):
    world = World(tmp_path, project="pro\x1b[31mject")
    world.run("up")

    assert "\x1b" not in world.run("doctor").out


@posix
def test_an_agent_that_has_hooks_and_no_log_is_told_too(talk):
    """Windsurf."""
    talk.run("enable-hooks", "--agent", "windsurf")
    hooks = Hooks(talk)
    hooks.call(
        "windsurf", "pre_user_prompt", trajectory_id="c", execution_id="1", tool_info={"user_prompt": "Hi."}
    )
    hooks.settle()

    code, found = doctor(talk)

    windsurf = of(found, "windsurf")
    assert (code, windsurf["captured"], windsurf["proved"]) == (0, 1, True)
    assert windsurf["last_hook_event"] == "pre_user_prompt"
    assert ("user", "Hi.") in talk.said()
