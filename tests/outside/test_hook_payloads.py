"""Hook calls with what the real programs sent: Claude Code, Codex, Grok, and Grok running Claude Code's hooks.

The payloads lie in a folder `shared` beside the repository.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders.hooks import Hooks, silent
from conversation_esaa.capture import hooked, spool
from conversation_esaa.drain import drain

if TYPE_CHECKING:
    from builders.world import World

PAYLOADS = Path(__file__).parents[2].parent / "shared" / "real-logs" / "hook-payloads"
RECORDED_IN = "/home/dev/projects/hook-demo"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(
        not PAYLOADS.is_dir(), reason="no folder `shared` with payloads beside the repository"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]

FILES = sorted(PAYLOADS.glob("*.jsonl"))


def recorded(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_recorded_call_is_understood(world: World, file):
    """Agent, session and end of session are found whatever the agent calls them, and nothing is printed."""
    workspace = world.workspace()
    hooks = Hooks(world)
    calls = recorded(file)
    registered = "claude-code" if file.stem == "grok-running-claude-hooks" else calls[0]["agent"]

    with hooks.somebody_there():
        for call in calls:
            raw = json.dumps(call["stdin"]).replace(RECORDED_IN, str(world.project)).encode()
            words = [] if call["event"] == "SessionStart" else ["--inject"]
            assert silent(hooks.call(registered, call["event"], *words, raw=raw, cwd=world.home))

    understood = list(map(spool.read, spool.waiting(workspace.layout)))
    assert [hook.agent for hook in understood] == [call["agent"] for call in calls]
    for hook, call in zip(understood, calls, strict=True):
        told = call["stdin"]
        of_a_child = told.get("agent_id") or told.get("subagentType") or "Subagent" in call["event"]
        assert of_a_child or hooked.session_id(hook) == (told.get("session_id") or told["sessionId"])
        assert hooked.ends(hook) == (call["event"] == "SessionEnd")
        if call["event"] == "Stop":
            assert bool(hooked.answer(hook)) == (told.get("reason") not in ("shutdown", "channel_closed"))
    assert hooks.noted() == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_without_the_agent_s_log_nothing_of_a_payload_becomes_a_turn(world: World, file):
    """The log is the source; here there is none."""
    workspace = world.workspace()
    workspace.layout.spool.mkdir(parents=True)
    for number, call in enumerate(recorded(file)):
        told = {"agent": call["agent"], "event": call["event"], "at": "", "payload": call["stdin"]}
        text = json.dumps(told).replace(RECORDED_IN, str(world.project))
        (workspace.layout.spool / f"{number:020d}-1.json").write_text(text)

    drain(workspace, pause=lambda _: None)

    assert world.said() == []
    assert list(workspace.layout.spool.iterdir()) == []
