"""Synthetic Codex rollouts: every message twice, as the model's history and as what the terminal showed.

What the lines look like: docs/reference/agents/codex.md. Every other session is in paginated mode
(0.150 and newer), the rest in legacy mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from native_session import COMPACTED_EVERY, Place, Sheet
from prose import Names, stamp

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from native_session import Shape
    from prose import Prose


def new_place(shape: Shape, rng: Random, now: int) -> Place:  # noqa: ARG001 - paths tell no workspace
    """Where a session that begins now is kept."""
    session_id, at = Names(rng).uuid_of(now), stamp(now)
    day, clock = at[:10], at[11:19].replace(":", "-")
    path = f".codex/sessions/{day.replace('-', '/')}/rollout-{day}T{clock}-{session_id}.jsonl"
    return Place(agent="codex", session_id=session_id, path=path, now=now)


class CodexSession(Sheet):
    """See `NativeSession`."""

    def __init__(self, home: Path, place: Place, shape: Shape, rng: Random, prose: Prose) -> None:
        super().__init__(home, place, shape, rng, prose)
        self._paginated = int(place.session_id[-1], 16) % 2 == 0

    def begin(self) -> None:
        """The header, and the instructions that no person typed."""
        header = {
            "id": self.place.session_id,
            "timestamp": stamp(self.place.now),
            "cwd": self.shape.workspace,
            "originator": "codex_cli_rs",
            "cli_version": "0.171.0" if self._paginated else "0.130.0",
            "source": "cli",
            "base_instructions": {"text": self.prose.text(8_000)},
            "git": {"commit_hash": self.names.tag("", 40), "branch": "main"},
        }
        if self._paginated:
            header |= {"thread_source": "user", "history_mode": "paginated"}
        self._row("session_meta", header)
        instructions = (
            f"# AGENTS.md instructions\n\n<INSTRUCTIONS>\n{self.prose.text(2_500)}\n</INSTRUCTIONS>"
        )
        environment = f"<environment_context>\n  <cwd>{self.shape.workspace}</cwd>\n</environment_context>"
        self._item("user", instructions)
        self._item("user", environment)

    def exchange(self, room: int) -> None:
        """A prompt, tool rounds with a comment now and then, an answer."""
        self.place.exchanges += 1
        self.pass_time(300_000)
        turn = self.names.uuid_of(self.place.now)
        self._event("task_started", turn_id=turn, model_context_window=250_000)
        context = {"turn_id": turn, "cwd": self.shape.workspace, "model": "demo-5", "effort": "medium"}
        self._row("turn_context", {**context, "developer_instructions": self.prose.text(700)})
        prompt = self.prose.said(90, longest=19_000)
        self._item("user", prompt)
        self._shown("user", prompt, self.names.uuid_of(self.place.now))
        room -= 1
        for _ in range(self.rounds()):
            if room > 1 and self.rng.random() < 0.4:
                self._say(self.prose.said(140, longest=2_500))
                room -= 1
            self._tool_round()
        answer = ""
        if room > 0:
            answer = self.prose.said(400, longest=6_000)
            self._say(answer)
        self._event("task_complete", turn_id=turn, last_agent_message=answer)
        if self.place.exchanges % COMPACTED_EVERY == 0:
            old = {"type": "message", "role": "user", "content": self.prose.text(4_000)}
            self._row("compacted", {"message": "", "replacement_history": [old]})

    def _say(self, text: str) -> None:
        ref = self.names.tag("msg_", 32)
        self._shown("assistant", text, ref)
        self._item("assistant", text, ref)

    def _shown(self, role: str, text: str, ref: str) -> None:
        self.place.visible += 1
        if self._paginated:
            kind, part = ("UserMessage", "text") if role == "user" else ("AgentMessage", "Text")
            item = {"type": kind, "id": ref, "content": [{"type": part, "text": text}]}
            self._event("item_completed", thread_id=self.place.session_id, turn_id="t", item=item)
        elif role == "user":
            self._event("user_message", message=text, images=[], local_images=[])
        else:
            self._event("agent_message", message=text)

    def _tool_round(self) -> None:
        call, output = self.names.tag("call_"), self.tool_output()
        if self.rng.random() < 0.5:
            self._row("response_item", {"type": "reasoning", "encrypted_content": self.prose.noise(700)})
        command = f"rg -n {self.prose.word()} src"
        arguments = f'{{"cmd":"{command}","workdir":"{self.shape.workspace}"}}'
        named = {"name": "exec_command", "call_id": call}
        self._row("response_item", {"type": "function_call", **named, "arguments": arguments})
        if self._paginated:
            item = {"type": "CommandExecution", "id": call, "aggregated_output": output, "exit_code": 0}
            self._event("item_completed", thread_id=self.place.session_id, turn_id="t", item=item)
        else:
            self._event("exec_command_end", call_id=call, aggregated_output=output, exit_code=0)
        self._row("response_item", {"type": "function_call_output", "call_id": call, "output": output})
        usage = {"input_tokens": self.rng.randint(9_000, 200_000), "output_tokens": self.rng.randint(5, 900)}
        info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 250_000}
        self._event("token_count", info=info, rate_limits={"primary": {"used_percent": 8.0}})

    def _item(self, role: str, text: str, ref: str = "") -> None:
        part = "output_text" if role == "assistant" else "input_text"
        known = {"id": ref} if ref else {}
        content = [{"type": part, "text": text}]
        self._row("response_item", {"type": "message", **known, "role": role, "content": content})

    def _event(self, kind: str, /, **payload: Any) -> None:
        self._row("event_msg", {"type": kind, **payload})

    def _row(self, kind: str, payload: dict[str, Any]) -> None:
        self.write({"timestamp": stamp(self.pass_time(2_000)), "type": kind, "payload": payload})
