"""Task folders of Cline for VS Code, Roo Code and Kilo Code, as their sources describe them. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z
EXTENSIONS = {
    "cline-vscode": "saoudrizwan.claude-dev",
    "roo-code": "rooveterinaryinc.roo-cline",
    "kilo-code": "kilocode.kilo-code",
}


class Task:
    """One task; a second passes from message to message."""

    def __init__(self, task_id: str = "1767323045000") -> None:
        self.task_id = task_id
        self.messages: list[dict[str, Any]] = []

    def say(self, kind: str, text: str, **fields: Any) -> Task:
        """A message that asks for nothing."""
        return self._message("say", kind, text, fields)

    def ask(self, kind: str, text: str, **fields: Any) -> Task:
        """A message that waits for the person."""
        return self._message("ask", kind, text, fields)

    def _message(self, form: str, kind: str, text: str, fields: dict[str, Any]) -> Task:
        at = BEGIN_MS + 1000 * len(self.messages)
        self.messages.append({"ts": at, "type": form, form: kind, "text": text, **fields})
        return self

    def save(
        self,
        extension: Path,
        *,
        described: dict[str, Any] | None = None,
        told: str = "",
        prompt: str = "CANARY",
    ) -> Path:
        """The task's folder; `told` is the directory in what the model got. Returns the messages."""
        folder = extension / "tasks" / self.task_id
        folder.mkdir(parents=True, exist_ok=True)
        if described is not None:
            (folder / "history_item.json").write_text(json.dumps({"id": self.task_id, **described}))
        details = f"<environment_details>\n# VSCode Visible Files\nCANARY\n\n# Current Working Directory ({told}) Files\n"
        blocks = [{"type": "text", "text": f"<task>\n{prompt}\n</task>"}]
        blocks += [{"type": "text", "text": details}] if told else []
        history = [{"role": "user", "content": blocks}, {"role": "assistant", "content": "CANARY"}]
        (folder / "api_conversation_history.json").write_text(json.dumps(history))
        path = folder / "ui_messages.json"
        path.write_text(json.dumps(self.messages), "utf-8")
        return path


def extension_of(name: str, home: Path, editor: str = "Code") -> Path:
    """The folder of an agent's extension in an editor."""
    return home / editor / "User" / "globalStorage" / EXTENSIONS[name]


def indexed(extension: Path, *tasks: dict[str, Any]) -> None:
    """The index of tasks, as each of the extensions writes it."""
    is_cline = extension.name == EXTENSIONS["cline-vscode"]
    path = extension / ("state/taskHistory.json" if is_cline else "tasks/_index.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(tasks) if is_cline else {"version": 1, "entries": list(tasks)}))
