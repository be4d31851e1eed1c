"""OpenCode: a plug-in file. It is loaded without a question, and what it injects is not stored in the log.

The whole handoff goes into the system prompt of each request of a session, as it was when the session began: a
text that changed between two requests would cost the provider's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.hooks.script import Script
from conversation_esaa.hooks.surface import NOT_NEEDED, PROJECT, USER, Approval, Event, home_of
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.surface import Trust
    from conversation_esaa.machine import Machine

NAME = AgentId("opencode")
DEFAULT_SCOPE = USER
EVENTS = (
    Event(name="session.created"),
    Event(name="chat.message"),
    Event(name="session.idle"),
    Event(name="session.compacted"),
    Event(name="experimental.chat.system.transform", injects=True),
)


def home(machine: Machine) -> Path:
    """`opencode` in the user's configuration directory, on every system."""
    return home_of(machine, "XDG_CONFIG_HOME", ".config") / "opencode"


def places(machine: Machine, root: Path) -> dict[str, Path]:
    """A file of its own in either scope."""
    name = "conversation-esaa.js"
    return {PROJECT: root / ".opencode" / "plugin" / name, USER: home(machine) / "plugin" / name}


def approval(machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
    """None."""
    del machine, root, scope, changed
    return NOT_NEEDED


def trust(machine: Machine, root: Path) -> Trust | None:
    """Nothing to trust."""
    del machine, root
    return None


BODY = """\
export const ConversationEsaa = async ({ directory }) => {
  const handoffs = new Map();
  const said = (session) => ({ session_id: session, cwd: directory });
  const told = {
    "session.created": (properties) => properties.info?.id,
    "session.idle": (properties) => properties.sessionID,
    "session.compacted": (properties) => properties.sessionID,
  };
  return {
    event: async ({ event }) => {
      const session = told[event.type]?.(event.properties ?? {});
      if (!session) return;
      if (event.type === "session.compacted") handoffs.delete(session);
      await tell(event.type, said(session));
    },
    "chat.message": async ({ sessionID }) => {
      await tell("chat.message", said(sessionID));
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!INJECT || /^You are a title generator/.test(output.system[0] ?? "")) return;
      if (!handoffs.has(sessionID)) {
        handoffs.set(sessionID, await handoff("experimental.chat.system.transform", said(sessionID)));
      }
      const text = handoffs.get(sessionID);
      if (text) output.system.push(text);
    },
  };
};
"""

FORM = Script(agent=NAME, events=EVENTS, body=BODY)
