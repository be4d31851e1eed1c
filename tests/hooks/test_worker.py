"""The worker as a process: started by a hook, alone, gone when the spool is empty."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from builders.hooks import Hooks, silent
from conversation_esaa.hooks import worker
from conversation_esaa.log.lock import held

if TYPE_CHECKING:
    from builders.world import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


@pytest.fixture
def hooks(world: World) -> Hooks:
    world.workspace()
    return Hooks(world)


def test_a_hook_brings_the_turn_into_log_and_handoff(hooks):
    """The whole way, once: nobody ran a command."""
    claude = hooks.world.claude().user("Which port?").assistant("8080.")

    assert silent(hooks.call("claude-code", "Stop", session_id=claude.id, last_assistant_message="8080."))
    hooks.settle()

    assert hooks.world.said() == [("user", "Which port?"), ("assistant", "8080.")]
    assert "8080" in (hooks.world.store / "handoff.md").read_text("utf-8")
    assert hooks.spooled() == hooks.noted() == hooks.workers() == []
    assert hooks.world.run("verify", "--deep").code == 0


def test_the_hook_does_not_wait_for_the_log_and_the_worker_does(hooks):
    """FC-H02, FC-I11: another process writes for long. The hook has all its pipes closed behind it, too: else
    the agent would wait for the worker, which waits for the log.
    """
    claude = hooks.world.claude().user("Which port?")
    with held(hooks.world.workspace().layout.write_lock, purpose="test", wait_s=5):
        assert silent(hooks.call("claude-code", "UserPromptSubmit", session_id=claude.id))
        assert len(hooks.workers()) == 1
        assert len(hooks.spooled()) == 1

    hooks.settle()

    assert hooks.world.said() == [("user", "Which port?")]
    assert hooks.spooled() == []


def test_there_is_one_worker_however_many_hooks(hooks):
    """FC-B09: the lock goes over from hook to worker, so that not even two hooks at once start two."""
    claude = hooks.world.claude().user("Which port?")
    with held(hooks.world.workspace().layout.write_lock, purpose="test", wait_s=5):
        for _ in range(5):
            hooks.call("claude-code", "Stop", session_id=claude.id)

        assert len(hooks.workers()) == 1

    hooks.settle()
    assert hooks.workers() == hooks.spooled() == []


def test_no_worker_is_started_where_a_watcher_looks(hooks):
    """It holds `run/watcher.lock`, and watches the spool."""
    with hooks.somebody_there():
        assert silent(hooks.call("claude-code", "Stop", session_id="s1"))

    assert hooks.workers() == []
    assert len(hooks.spooled()) == 1


def test_a_worker_that_is_killed_leaves_its_work_to_the_next(hooks):
    """FC-I05: `kill -9`. Its lock is gone with it, and the calls are still there."""
    claude = hooks.world.claude().user("Which port?")
    with held(hooks.world.workspace().layout.write_lock, purpose="test", wait_s=5):
        hooks.call("claude-code", "Stop", session_id=claude.id)
        for pid in hooks.workers():
            os.kill(pid, signal.SIGKILL)
        hooks.settle()
        assert len(hooks.spooled()) == 1

        claude.assistant("8080.")
        hooks.call("claude-code", "SessionEnd", session_id=claude.id)
        assert len(hooks.workers()) == 1

    hooks.settle()
    assert hooks.world.said() == [("user", "Which port?"), ("assistant", "8080.")]
    assert hooks.spooled() == []


def test_it_does_not_live_on_the_agent_s_time(hooks):
    """A session of its own, a step behind in the queue for the processor, with nothing of the agent's open."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    with held(hooks.world.workspace().layout.write_lock, purpose="test", wait_s=5):
        command = hooks.command("claude-code", "Stop")
        agent = os.posix_spawn(command[0], command, hooks.environ(PWD=str(hooks.world.project)), setsid=True)
        os.waitpid(agent, 0)
        os.close(write)
        os.read(read, 1)  # returns when nobody holds the other end
        for pid in hooks.workers():
            assert os.getsid(pid) == pid != os.getsid(0)
    hooks.settle()
    os.close(read)


def test_what_a_worker_starts_is_nested(hooks):
    """FC-H11: a hook that is called from within it does nothing."""
    with held(hooks.world.workspace().layout.write_lock, purpose="test", wait_s=5):
        hooks.call("claude-code", "Stop")
        (pid,) = hooks.workers()
        with open(f"/proc/{pid}/environ", "rb") as file:
            assert b"CONVERSATION_ESAA_NESTED=1" in file.read()
    hooks.settle()


def test_two_agents_that_finish_at_once_are_both_captured(hooks):
    """FC-N09."""
    world = hooks.world
    claude, codex = world.claude().user("One"), world.codex().user("Two")

    hooks.call("claude-code", "Stop", session_id=claude.id)
    hooks.call("codex", "Stop", session_id=codex.id)
    hooks.settle()

    assert sorted(text for _, text in world.said()) == ["One", "Two"]
    assert world.run("verify", "--deep").code == 0


def test_a_workspace_that_refuses_keeps_the_calls(hooks):
    """Fail-open here, fail-closed there: settings that cannot be read stop the worker, which says so in a line."""
    config = hooks.world.workspace().layout.config
    good = config.read_bytes()
    config.write_bytes(b"schema = ")
    codex = hooks.world.codex().user("One")
    hooks.call("codex", "Stop", session_id=codex.id)
    hooks.settle()
    assert len(hooks.spooled()) == 1
    assert hooks.noted() == ["worker config.invalid BadSettings"]

    config.write_bytes(good)
    hooks.call("codex", "Stop", session_id=codex.id)
    hooks.settle()

    assert hooks.world.said() == [("user", "One")]
    assert hooks.spooled() == []


def test_a_call_that_comes_while_the_worker_ends_is_not_left_behind(hooks, monkeypatch):
    """A hook writes, then looks at the lock. A worker gives the lock back, then looks at the spool."""
    codex = hooks.world.codex().user("One")
    rounds = []

    def draining(workspace, **options):
        result = real(workspace, **options)
        if not rounds:  # the spool is empty, the lock still held: now a hook comes, and starts nobody
            rounds.append(1)
            codex.user("Two")
            hooks.call("codex", "Stop", session_id=codex.id)
            assert hooks.workers() == []
        return result

    real = worker.drain
    monkeypatch.setattr(worker, "drain", draining)
    monkeypatch.setenv("HOME", str(hooks.world.home))
    with hooks.somebody_there():
        hooks.call("codex", "Stop", session_id=codex.id)

    worker.work(hooks.world.project)

    assert [text for _, text in hooks.world.said()] == ["One", "Two"]
    assert hooks.spooled() == []


def test_a_second_worker_leaves_the_first_alone(hooks, monkeypatch):
    """Where a lock cannot be handed over, two may be started; one of them goes."""
    monkeypatch.setattr(worker, "drain", lambda *_, **__: pytest.fail("the first one does it"))
    with hooks.somebody_there():
        hooks.call("codex", "Stop")

    with held(hooks.run / "worker.lock", purpose="first", wait_s=5):
        worker.work(hooks.world.project)

    assert json.dumps(hooks.spooled())
