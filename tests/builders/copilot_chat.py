"""Chats of VS Code, as document and as journal, after its sources. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import copilot_chat
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "aaaaaaaa-0000-4000-8000-000000000001"
BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z


def words(text: str) -> dict[str, Any]:
    """A run of Markdown."""
    return {"value": text, "supportThemeIcons": False}


def hidden(kind: str) -> dict[str, Any]:
    """A part that is no words of the answer."""
    return {"kind": kind, "value": "CANARY", "content": {"value": "CANARY"}, "invocationMessage": "CANARY"}


class Chat:
    """One session; ten seconds pass from request to request."""

    def __init__(self, session_id: str = TEA) -> None:
        self.session_id = session_id
        self.requests: list[dict[str, Any]] = []

    def typed(self, text: str, **fields: Any) -> Chat:
        """A request that waits for its response."""
        number = len(self.requests)
        self.requests.append(
            {
                "requestId": f"request_{self.session_id[:4]}-{number}",
                "timestamp": BEGIN_MS + 10_000 * number,
                "message": {"text": text, "parts": [{"text": text, "kind": "text"}]},
                "variableData": {"variables": [{"value": "CANARY"}]},
                "response": [],
                "modelId": "copilot/demo-model",
                "agent": {"id": "github.copilot.default"},
                **fields,
            }
        )
        return self

    def responds(self, *parts: Any) -> Chat:
        """Parts of the response, while it is being written."""
        self.requests[-1]["response"] += parts
        return self

    def done(self) -> Chat:
        """The response is complete."""
        self.requests[-1] |= {
            "responseId": f"response_{len(self.requests)}",
            "result": {
                "timings": {"firstProgress": 5, "totalElapsed": 2000},
                "metadata": {"toolCallRounds": [{"response": "CANARY", "thinking": "CANARY"}]},
            },
        }
        return self

    @property
    def document(self) -> dict[str, Any]:
        """The session as older versions write it."""
        return {
            "version": 3,
            "sessionId": self.session_id,
            "creationDate": BEGIN_MS - 1000,
            "customTitle": "CANARY",
            "requests": self.requests,
        }

    def save(self, folder: Path) -> Path:
        """The document, in a folder of chats."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.session_id}.json"
        path.write_text(json.dumps(self.document, indent=2), "utf-8")
        return path


def window(home: Path, described: dict[str, str] | None, *, name: str = "0a1b", editor: str = "Code") -> Path:
    """The storage of a window; returns its folder of chats."""
    storage = home / editor / "User" / "workspaceStorage" / name
    storage.mkdir(parents=True, exist_ok=True)
    if described is not None:
        (storage / "workspace.json").write_text(json.dumps(described))
    return storage / "chatSessions"


def lines(*operations: dict[str, Any]) -> str:
    """A journal."""
    return "".join(json.dumps(operation) + "\n" for operation in operations)


def opened(cwd: str = "/home/dev/tea") -> copilot_chat.State:
    """The state before the first record."""
    return copilot_chat.open_session(SessionFile(path=Path("nowhere"), session_id=TEA, cwd=cwd))


def read(document: object, state: copilot_chat.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives."""
    return list(copilot_chat.read([document], state or opened()))


def said(items: Iterable[Turn | SessionMark]) -> list[tuple[str, str]]:
    """Who said what."""
    return [(str(item.actor), item.text) for item in items if isinstance(item, Turn)]
