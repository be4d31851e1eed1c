"""Qwen Code's session files, as its versions write them. All content is made up."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import qwen_code
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "57af0000-0000-4000-8000-000000000001"


class Session:
    """One session's records, a second apart, each behind the one before it."""

    def __init__(self, session_id: str = TEA, cwd: str = "/home/dev/tea") -> None:
        self.session_id, self.cwd = session_id, cwd
        self.records: list[dict[str, Any]] = []

    def record(self, kind: str, subtype: str = "", **more: Any) -> Session:
        """A line of the file."""
        index = len(self.records)
        parent = self.records[-1]["uuid"] if self.records else None
        envelope = {
            "uuid": f"{self.session_id[:8]}-u-{index}",
            "parentUuid": parent,
            "sessionId": self.session_id,
            "timestamp": f"2026-01-02T03:{index // 60:02}:{index % 60:02}.500Z",
            "type": kind,
            "cwd": self.cwd,
            "version": "0.15.10",
            "gitBranch": "main",
        }
        self.records.append({**envelope, **({"subtype": subtype} if subtype else {}), **more})
        return self

    def typed(self, text: str, *behind: str, **more: Any) -> Session:
        """A person's prompt, with the texts that the agent puts `behind` it."""
        parts = [{"text": part} for part in (text, *behind)]
        return self.record("user", message={"role": "user", "parts": parts}, **more)

    def injected(self, text: str, context: str) -> Session:
        """A prompt with a hook's context: escaped, and without a mark."""
        return self.typed(text, html.escape(context, quote=False))

    def answered(self, text: str) -> Session:
        """An answer, with the reasoning before it; and the telemetry that repeats it."""
        self.telemetry(text)
        parts = [{"text": "CANARY reasoning", "thought": True}, {"text": text}]
        return self.record("assistant", model="demo", message={"role": "model", "parts": parts})

    def tool_call(self, text: str = "") -> Session:
        """A step that calls a tool, and the tool's answer."""
        call = {"functionCall": {"id": "c1", "name": "sh", "args": {"command": "CANARY"}}}
        parts = [{"text": text}, call] if text else [call]
        self.record("assistant", model="demo", message={"role": "model", "parts": parts})
        response = {"functionResponse": {"id": "c1", "name": "sh", "response": {"output": "CANARY"}}}
        return self.record(
            "tool_result", message={"role": "user", "parts": [response]}, toolCallResult="CANARY"
        )

    def telemetry(self, text: str = "") -> Session:
        """A metric of a request, which holds the whole answer."""
        event = {"event.name": "qwen-code.api_response", "response_text": f"CANARY {text}"}
        return self.record("system", "ui_telemetry", systemPayload={"uiEvent": event})

    def compressed(self) -> Session:
        """A compression."""
        return self.record("system", "chat_compression", systemPayload={"compressedHistory": ["CANARY"]})

    def save(self, home: Path) -> Path:
        """The file where the agent would keep it."""
        folder = "".join(c if c.isascii() and c.isalnum() else "-" for c in self.cwd)
        path = home / "projects" / folder / "chats" / f"{self.session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened() -> qwen_code.State:
    """The state before the first record."""
    return qwen_code.open_session(SessionFile(path=Path("nowhere"), session_id=TEA))


def read(records: Iterable[Any], state: qwen_code.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(qwen_code.read(records, state or opened()))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
