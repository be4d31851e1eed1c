"""pi: an extension file. It changes the system prompt, which leaves no trace in pi's log.

Extensions of a project are loaded in a trusted folder only, since some version between 0.73.1 and 1.6.0. Without a
terminal pi passes them over and does not say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.hooks.script import Script
from conversation_esaa.hooks.surface import (
    NOT_NEEDED,
    PROJECT,
    USER,
    Approval,
    Event,
    Trust,
    home_of,
    json_value,
)
from conversation_esaa.hooks.trusted import TrustedMember
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from pathlib import Path

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
    """The folder must be trusted for the extensions of a project."""
    del changed
    if scope == USER or _is_trusted(machine, root):
        return NOT_NEEDED
    return Approval(required=True, step=f"start `pi` in {root} and trust the folder, or give --trust here")


def trust(machine: Machine, root: Path) -> Trust | None:
    """`{"/path": true}`."""
    form = TrustedMember(folder=str(root), says=True)
    return Trust(path=home(machine) / "trust.json", form=form)


def _is_trusted(machine: Machine, root: Path) -> bool:
    """What pi decides: as it was told of the folder or the nearest one above it, else as its settings say."""
    told = json_value(home(machine) / "trust.json")
    decided = [told[str(folder)] for folder in (root, *root.parents) if type(told.get(str(folder))) is bool]
    usual = json_value(home(machine) / "settings.json").get("defaultProjectTrust") == "always"
    return decided[0] if decided else usual


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
