"""Kiro CLI's session files, as other readers of them describe them. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import kiro_cli
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "ffffffff-0000-4000-8000-000000000001"
BEGAN_S = 1_767_323_100  # 2026-01-02T03:05:00Z


class Session:
    """One session: its lines, and its side file."""

    def __init__(self, name: str = TEA, *, folder: str = "/home/dev/tea") -> None:
        self.name, self.folder = name, folder
        self.records: list[dict[str, Any]] = []

    def line(self, kind: str, *content: tuple[str, Any], **data: Any) -> Session:
        """A line of any kind."""
        parts = [{"kind": name, "data": value} for name, value in content]
        message = {"message_id": f"m-{len(self.records)}", "content": parts, **data}
        self.records.append({"version": "v1", "kind": kind, "data": message})
        return self

    def typed(self, text: str) -> Session:
        """A person's prompt."""
        picture = ("image", {"format": "png", "source": "CANARY"})
        moment = BEGAN_S + len(self.records) + 0.25
        return self.line("Prompt", ("text", text), picture, meta={"timestamp": moment})

    def answered(self, *texts: str) -> Session:
        """An answer, behind its reasoning."""
        said = [("text", text) for text in texts]
        return self.line("AssistantMessage", ("thinking", {"text": "CANARY thinking"}), *said)

    def tool(self) -> Session:
        """A tool's call and its result."""
        self.line("AssistantMessage", ("text", ""), ("toolUse", {"name": "shell", "input": "CANARY"}))
        return self.line("ToolResults", ("toolResult", {"content": [{"kind": "text", "data": "CANARY"}]}))

    def save(self, home: Path, **side_file: Any) -> Path:
        """Both files."""
        path = home / "sessions" / "cli" / f"{self.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records))
        state = {"rts_model_state": {"model_info": {"model_id": "demo-model"}}}
        held = {"session_id": self.name, "cwd": self.folder, "title": "CANARY", "session_state": state}
        path.with_suffix(".json").write_text(
            json.dumps({**held, "created_at": "2026-01-02T03:04:00Z", **side_file})
        )
        return path


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> kiro_cli.State:
    """The state before the first record."""
    return kiro_cli.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
