"""The plug-in of OpenCode and the extension of pi, run by Node as their agents run them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conversation_esaa.hooks import registry
from conversation_esaa.hooks.command import Program

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="no Node here")

# Says on a side channel how it was called, and answers as an agent without a shape of its own is answered.
ENTRY = """\
import json, sys
with open({log!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps([sys.argv[1:], json.load(sys.stdin)]) + "\\n")
if "--inject" in sys.argv:
    print(json.dumps({{"additionalContext": "the handoff"}}))
"""
OPENCODE = """
const hooks = await (await import(process.argv[1])).ConversationEsaa({ directory: "/w" });
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } });
await hooks.event({ event: { type: "message.updated", properties: {} } });
await hooks.event({ event: { type: "server.connected" } });
await hooks["chat.message"]({ sessionID: "s" }, {});
for (const first of ["You are a title generator.", "You help.", "You help."]) {
  const output = { system: [first] };
  await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, output);
  console.log(JSON.stringify(output.system));
}
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
"""
PI = """
const handlers = {};
(await import(process.argv[1])).default({ on: (event, handler) => { handlers[event] = handler; } });
await handlers.session_start({}, { cwd: "/w" });
for (const _ of [1, 2]) {
  const changed = await handlers.before_agent_start({ systemPrompt: "You help." }, { cwd: "/w" });
  console.log(JSON.stringify(changed ?? null));
}
await handlers.agent_end({}, { cwd: "/w" });
"""


def run(tmp_path: Path, agent: str, host: str, *, inject: bool, there: bool = True) -> tuple[list, list]:
    """What the host printed, and the calls that reached the entry file."""
    entry = tmp_path / 'é\'q "x"' / "conversation_esaa" / "hooks" / "entry.py"
    entry.parent.mkdir(parents=True)
    entry.write_text(ENTRY.format(log=str(tmp_path / "calls")), "utf-8")
    interpreter = sys.executable if there else str(tmp_path / "gone")
    program = Program(interpreter=interpreter, entry=str(entry), windows=False)
    script = tmp_path / "conversation-esaa.mjs"
    script.write_bytes(registry.module(agent).FORM.put(b"", program, inject=inject))

    done = subprocess.run(
        ["node", "--input-type=module", "-e", host, script.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    log = tmp_path / "calls"
    calls = log.read_text("utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in done.stdout.splitlines()], [json.loads(line) for line in calls]


def test_opencode_tells_and_injects_once_a_session(tmp_path):
    """The same text in each request of a session; the request for a title does without."""
    printed, calls = run(tmp_path, "opencode", OPENCODE, inject=True)

    assert printed == [["You are a title generator."], *[["You help.", "the handoff"]] * 2]
    assert [words for words, _ in calls] == [
        ["opencode", "session.created"],
        ["opencode", "chat.message"],
        ["opencode", "experimental.chat.system.transform", "--inject"],
        ["opencode", "session.idle"],
    ]
    assert calls[0][1] == {"hook_event_name": "session.created", "session_id": "s", "cwd": "/w"}


def test_pi_tells_and_injects_once_a_session(tmp_path):
    """Into the system prompt, which pi does not log."""
    printed, calls = run(tmp_path, "pi", PI, inject=True)

    assert printed == [{"systemPrompt": "You help.\n\nthe handoff"}] * 2
    assert [words for words, _ in calls] == [
        ["pi", "session_start"],
        ["pi", "before_agent_start", "--inject"],
        ["pi", "agent_end"],
    ]
    assert calls[0][1] == {"hook_event_name": "session_start", "cwd": "/w"}


@pytest.mark.parametrize(("agent", "host"), [("opencode", OPENCODE), ("pi", PI)])
def test_nothing_is_injected_unasked(tmp_path, agent, host):
    """FC-B11."""
    printed, calls = run(tmp_path, agent, host, inject=False)

    assert "the handoff" not in json.dumps(printed)
    assert not any("--inject" in words for words, _ in calls)


@pytest.mark.parametrize(("agent", "host"), [("opencode", OPENCODE), ("pi", PI)])
def test_nothing_is_said_when_we_are_gone(tmp_path, agent, host):
    """No exception reaches the agent, and no call hangs."""
    printed, calls = run(tmp_path, agent, host, inject=True, there=False)

    assert calls == []
    assert "the handoff" not in json.dumps(printed)
