"""I5: hooks never block, never break and never slow the agent; and what they stand for is never lost.

What a call loads, and what it costs, is held by `tests/hooks/test_call.py` and by `benchmarks/run.py --only hooks`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from builders.hooks import Hooks

if TYPE_CHECKING:
    from builders.world import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

# An agent: says something, calls its hook, and so on; and would say so if a hook said or broke anything.
AGENT = """
import json, subprocess, sys
log, command, project, session, calls, record = sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]
for number in range(int(calls)):
    words = f"{session} says {number}"
    line = json.loads(record)
    line.update(uuid=f"{session}-{number}", message={"role": "user", "content": words})
    with open(log, "a") as file:
        file.write(json.dumps(line) + "\\n")
    payload = json.dumps({"cwd": project, "session_id": session, "prompt": words}).encode()
    done = subprocess.run(command, input=payload, capture_output=True)
    if done.returncode or done.stdout or done.stderr:
        sys.exit(f"{done}")
"""


@pytest.mark.parametrize("calls", [8, pytest.param(63, marks=pytest.mark.slow)])
def test_hundreds_of_calls_at_once_and_killed_workers_lose_and_double_nothing(world: World, calls):
    """Eight agents in one workspace, and somebody who kills -9 whatever worker there is."""
    world.workspace()
    hooks, chance, agents, said = Hooks(world), random.Random(calls), [], set()
    killed = 0
    for number in range(8):
        session = world.claude(f"agent-{number}")
        session.user("begins")
        record = session.path.read_text("utf-8")
        session.path.write_text("", "utf-8")
        said |= {f"{session.id} says {turn}" for turn in range(calls)}
        words = [session.path, json.dumps(hooks.command("claude-code", "Stop")), world.project, session.id]
        agents.append(
            subprocess.Popen(
                [sys.executable, "-c", AGENT, *map(str, words), str(calls), record],
                env=hooks.environ(),
                stderr=subprocess.PIPE,
            )
        )
    while any(agent.poll() is None for agent in agents):
        for pid in hooks.workers():
            if chance.random() < 0.1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
    for agent in agents:
        assert agent.communicate()[1] == b""
        assert agent.returncode == 0
    hooks.settle()

    hooks.call("claude-code", "Stop")  # the next one, whoever makes it
    hooks.settle()

    assert killed > 0
    texts = [text for _, text in world.said()]
    assert len(texts) == len(set(texts))
    assert set(texts) == said
    assert hooks.spooled() == hooks.workers() == []
    assert "chain intact" in world.run("verify", "--deep").out
    assert world.run("project", "--check").code == 0
