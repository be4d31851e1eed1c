"""Whole documents of Amp and Continue, as other readers of them describe them. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z


class Thread:
    """A thread of Amp; only prompts state when they were sent."""

    def __init__(self, thread_id: str = "T-1", uri: str = "file:///home/dev/tea") -> None:
        self.thread_id, self.uri = thread_id, uri
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, *content: Any, **fields: Any) -> Thread:
        """A message with its blocks."""
        number = len(self.messages)
        self.messages.append({"role": role, "messageId": number, "content": list(content), **fields})
        return self

    def typed(self, text: str) -> Thread:
        """A prompt."""
        sent = {"sentAt": BEGIN_MS + 1000 * len(self.messages)}
        return self.message("user", {"type": "text", "text": text}, meta=sent)

    def answered(self, *texts: str, state: str = "complete") -> Thread:
        """An answer behind its reasoning, with a tool call."""
        blocks: list[Any] = [{"type": "thinking", "thinking": "CANARY"}]
        blocks += [{"type": "text", "text": text} for text in texts]
        blocks += [{"type": "tool_use", "input": "CANARY"}]
        return self.message("assistant", *blocks, state={"type": state}, usage={"model": "demo-model"})

    def tool(self) -> Thread:
        """A tool's result, in the user's name."""
        return self.message("user", {"type": "tool_result", "run": {"result": "CANARY"}})

    @property
    def document(self) -> dict[str, Any]:
        """What is written."""
        return {
            "v": len(self.messages),
            "id": self.thread_id,
            "created": BEGIN_MS - 1000,
            "title": "CANARY",
            "env": {"initial": {"trees": [{"uri": self.uri, "displayName": "tea"}]}},
            "messages": self.messages,
        }

    def save(self, home: Path) -> Path:
        """The document where Amp would keep it."""
        home.mkdir(parents=True, exist_ok=True)
        path = home / f"{self.thread_id}.json"
        path.write_text(json.dumps(self.document, indent=2))
        return path


class Session:
    """A session of Continue."""

    def __init__(self, session_id: str = "s-1", directory: str = "file:///home/dev/tea") -> None:
        self.session_id, self.directory = session_id, directory
        self.history: list[dict[str, Any]] = []

    def item(self, role: str, content: Any, **fields: Any) -> Session:
        """An entry of the history."""
        self.history.append({"message": {"role": role, "content": content}, "contextItems": [], **fields})
        return self

    def typed(self, text: str) -> Session:
        """A prompt, with what was attached to it."""
        parts = [{"type": "text", "text": text}, {"type": "imageUrl", "imageUrl": {"url": "CANARY"}}]
        return self.item("user", parts, contextItems=[{"content": "CANARY"}], editorState={"x": "CANARY"})

    def answered(self, text: str, *, done: bool = True) -> Session:
        """An answer; what the model got is noted when it is complete."""
        logs = [{"prompt": "CANARY", "completion": "CANARY"}]
        return self.item("assistant", text, **({"promptLogs": logs} if done else {}))

    @property
    def document(self) -> dict[str, Any]:
        """What is written."""
        return {
            "sessionId": self.session_id,
            "title": "CANARY",
            "workspaceDirectory": self.directory,
            "history": self.history,
        }

    def save(self, home: Path, *, indexed: bool = True) -> Path:
        """The document where Continue would keep it, and its line in the index."""
        folder = home / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        index = folder / "sessions.json"
        known = json.loads(index.read_text()) if index.is_file() else []
        if indexed:
            known.append(
                {"sessionId": self.session_id, "workspaceDirectory": self.directory, "title": "CANARY"}
            )
        index.write_text(json.dumps(known))
        path = folder / f"{self.session_id}.json"
        path.write_text(json.dumps(self.document))
        return path
