"""pi: an extension file. It changes the system prompt, which leaves no trace in pi's log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.hooks.script import Script
from conversation_esaa.hooks.surface import NOT_NEEDED, PROJECT, USER, Approval, Event, home_of
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("pi")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="session_start"),
    Event(name="before_agent_start", injects=True),
    Event(name="agent_end"),
    Event(name="session_compact"),
    Event(name="session_shutdown"),
)


def home(machine: Machine) -> Path:
    """`~/.pi/agent`, or what PI_CODING_AGENT_DIR names."""
    return home_of(machine, "PI_CODING_AGENT_DIR", ".pi", "agent")


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    name = "conversation-esaa.js"
    return {PROJECT: root / ".pi" / "extensions" / name, USER: home(machine) / "extensions" / name}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """None."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """Nothing to trust."""
    del machine, root
    return None


BODY = """\
export default function (pi) {
  let text;
  const said = (context) => ({ cwd: context?.cwd ?? process.cwd() });
  for (const event of ["session_start", "agent_end", "session_compact", "session_shutdown"]) {
    pi.on(event, async (_, context) => {
      if (event === "session_start" || event === "session_compact") text = undefined;
      await tell(event, said(context));
    });
  }
  pi.on("before_agent_start", async (event, context) => {
    if (!INJECT) {
      await tell("before_agent_start", said(context));
      return;
    }
    text ??= await handoff("before_agent_start", said(context));
    if (text) return { systemPrompt: `${event.systemPrompt}\\n\\n${text}` };
  });
}
"""

FORM = Script(agent=NAME, events=EVENTS, body=BODY)
