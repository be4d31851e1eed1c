"""Gemini CLI's journals, as its versions write them. All content is made up."""

from __future__ import annotations

import hashlib
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import gemini_cli
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "5d0c0000-0000-4000-8000-000000000001"
CONTEXT_ID = "00aa00aa00aa00aa00aa00aa00aa00aa"


class Session:
    """One session's journal; a second passes from message to message."""

    def __init__(self, session_id: str = TEA, cwd: str = "/home/dev/tea") -> None:
        self.session_id, self.cwd = session_id, cwd
        self.records: list[dict[str, Any]] = []
        self.history: list[dict[str, Any]] = []
        self.seconds = self.messages = 0
        self.begun()

    def now(self) -> str:
        """A second later."""
        self.seconds += 1
        return f"2026-01-02T03:{self.seconds // 60:02}:{self.seconds % 60:02}.500Z"

    def begun(self, **more: Any) -> Session:
        """The header, and the context that opens every session: at its start and at each resume."""
        now = self.now()
        header = {"sessionId": self.session_id, "projectHash": hashed(self.cwd), "startTime": now}
        self.records.append({**header, "lastUpdated": now, "kind": "main", **more})
        context = [{"text": f"<session_context>\nCANARY {self.cwd}\n</session_context>"}]
        message = {"id": CONTEXT_ID, "timestamp": now, "type": "user", "content": context}
        self.history = self.history or [message]
        return self.set(messages=[message], lastUpdated=now)

    def set(self, **changes: Any) -> Session:
        """A change of metadata."""
        self.records.append({"$set": changes})
        return self

    def message(self, kind: str, content: Any, **more: Any) -> Session:
        """A message, and the change of time behind it."""
        now = self.now()
        self.messages += 1
        record = {"id": f"m-{self.messages}", "timestamp": now, "type": kind, "content": content, **more}
        self.records.append(record)
        self.history.append(record)
        return self.set(lastUpdated=now)

    def typed(self, text: str, **more: Any) -> Session:
        """A person's prompt."""
        return self.message("user", [{"text": text}], **more)

    def answered(self, text: str, **more: Any) -> Session:
        """An answer, with the reasoning before it."""
        thoughts = [{"subject": "CANARY", "description": "CANARY reasoning", "timestamp": "x"}]
        return self.message("gemini", text, thoughts=thoughts, tokens={"total": 1}, model="demo", **more)

    def tool_call(self, text: str = "") -> Session:
        """A step of the model that calls a tool, stated again with its result; then the tool's answer."""
        self.answered(text)
        call = {"id": "c1", "name": "sh", "args": {"command": "CANARY"}, "result": ["CANARY"]}
        again = {**self.history[-1], "toolCalls": [call]}
        self.history[-1] = again
        self.records.append(again)
        response = {"functionResponse": {"id": "c1", "name": "sh", "response": {"output": "CANARY"}}}
        return self.message("user", [response])

    def injected(self, text: str, context: str) -> Session:
        """A prompt into which hooks have put `context`: before it, and as a part of its own."""
        block = f"<hook_context>{html.escape(context, quote=False)}</hook_context>"
        shown = [{"text": f"{block}\n\n{text}"}]
        return self.message("user", [*shown, {"text": block}], displayContent=shown)

    def resumed(self) -> Session:
        """Taken up again: the whole history once more, at another time and with reasoning in it."""
        self.seconds += 3600
        self.begun().set(sessionId=self.session_id)
        now = self.now()
        return self.set(messages=[_as_parts({**message, "timestamp": now}) for message in self.history])

    def compressed(self) -> Session:
        """The history gives way to a summary."""
        now = self.now()
        self.messages += 2
        summary = "<state_snapshot>\nCANARY summary\n</state_snapshot>"
        thanks = "CANARY Got it. Thanks for the additional context!"
        said = [("user", [{"text": summary}]), ("gemini", [{"text": thanks}])]
        self.history = [
            {"id": f"s-{self.messages}-{at}", "timestamp": now, "type": kind, "content": content}
            for at, (kind, content) in enumerate(said)
        ]
        return self.set(messages=self.history)

    def save(self, home: Path, slug: str = "tea", name: str = "session-2026-01-02T03-04-5d0c0000") -> Path:
        """The journal where the agent would keep it."""
        return self._save(home, slug, f"{name}.jsonl", "".join(f"{json.dumps(r)}\n" for r in self.records))

    def save_as_document(
        self, home: Path, slug: str = "tea", name: str = "session-2026-01-02T03-04-5d0c0000"
    ) -> Path:
        """The one JSON document of older versions, with texts as strings."""
        messages = [
            {**message, "content": message["content"][0].get("text", "")}
            if isinstance(message["content"], list)
            else message
            for message in self.history
        ]
        header = {"sessionId": self.session_id, "projectHash": hashed(self.cwd), "startTime": "x"}
        return self._save(home, slug, f"{name}.json", json.dumps({**header, "messages": messages}, indent=2))

    def _save(self, home: Path, slug: str, name: str, content: str) -> Path:
        folder = home / "tmp" / slug
        path = folder / "chats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if slug != hashed(self.cwd):
            (folder / ".project_root").write_text(self.cwd, "utf-8")
        path.write_text(content, "utf-8")
        return path


def hashed(cwd: str) -> str:
    """What older versions call the folder of a project."""
    return hashlib.sha256(cwd.encode()).hexdigest()


def _as_parts(message: dict[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        thought = {"text": "CANARY reasoning", "thought": True}
        return {**message, "content": [thought, {"text": message["content"]}]}
    return message


def opened(cwd: str = "/home/dev/tea") -> gemini_cli.State:
    """The state before the first record."""
    return gemini_cli.open_session(SessionFile(path=Path("nowhere"), session_id="session-x", cwd=cwd))


def read(records: Iterable[Any], state: gemini_cli.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(gemini_cli.read(records, state or opened()))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
