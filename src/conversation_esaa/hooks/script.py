"""A plug-in of ours for agents that load programs instead of starting commands: a whole file, made and removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.hooks import command
from conversation_esaa.hooks.surface import Event, Found, Kept, NotEditable, text_of

if TYPE_CHECKING:
    from conversation_esaa.hooks.command import Program

CALL = """\
// conversation-esaa: made by `conversation-esaa enable-hooks --agent @AGENT@`, removed by `disable-hooks`.
// It tells conversation-esaa that something was said, and keeps quiet when conversation-esaa is gone.
import { spawn } from "node:child_process";

const CALL = @CALL@;
const INJECT = @INJECT@;

function tell(event, payload, ...more) {
  return new Promise((resolve) => {
    let text = "";
    try {
      const child = spawn(CALL[0], [...CALL.slice(1), event, ...more], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: @TIMEOUT_MS@,
        windowsHide: true,
      });
      child.on("error", () => resolve(""));
      child.on("close", () => resolve(text));
      child.stdin.on("error", () => {});
      child.stdout.on("data", (part) => { text += part; });
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }));
    } catch {
      resolve("");
    }
  });
}

async function handoff(event, payload) {
  try {
    return JSON.parse(await tell(event, payload, "--inject")).additionalContext || "";
  } catch {
    return "";
  }
}
"""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """A `Form`: a JavaScript or TypeScript file that is ours as a whole.

    body   what stands behind `tell(event, payload)` and `handoff(event, payload)`.
    """

    agent: str
    events: Sequence[Event]
    body: str

    def _text(self, program: Program, *, inject: bool) -> str:
        *call, _event = command.words(program, self.agent, "")
        parts = {
            "@AGENT@": self.agent,
            "@CALL@": json.dumps(call, ensure_ascii=False),
            "@INJECT@": json.dumps(inject),
            "@TIMEOUT_MS@": str(max(event.timeout_s for event in self.events) * 1000),
        }
        text = CALL
        for name, value in parts.items():
            text = text.replace(name, value)
        return f"{text}\n{self.body}"

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:
        """As `Form` has it."""
        if old and not self.found(old):
            raise NotEditable(
                "a file of that name is there, and it is not ours",
                hint="Move it away, then run the command again.",
            )
        return self._text(program, inject=inject).encode()

    def take(self, old: bytes, kept: Kept) -> bytes:
        """As `Form` has it."""
        del kept
        return b"" if self.found(old) else old

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        return Kept(existed=bool(old))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it."""
        _, text = text_of(content)
        first = text.partition("\n")[0]
        if not first.startswith("// conversation-esaa: made by "):
            return []
        return self._as_found(text)

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:
        """As `Form` has it."""
        return self._as_found(self._text(program, inject=inject))

    def _as_found(self, text: str) -> list[Found]:
        inject = "\nconst INJECT = true;\n" in text
        return [Found(event=event.name, entry=text, inject=inject) for event in self.events]
