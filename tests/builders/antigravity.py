"""Antigravity's conversation folders, as other readers of them describe them. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import antigravity
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "aaaaaaaa-0000-4000-8000-000000000001"
CHILD = "aaaaaaaa-0000-4000-8000-000000000002"
PROJECT = "bbbbbbbb-0000-4000-8000-000000000009"


class Conversation:
    """One conversation's steps, a second apart."""

    def __init__(self, conversation: str = TEA) -> None:
        self.conversation = conversation
        self.records: list[dict[str, Any]] = []

    def step(self, kind: str, source: str = "MODEL", **fields: Any) -> Conversation:
        """A line of the transcript."""
        index = len(self.records)
        self.records.append(
            {
                "step_index": index,
                "source": source,
                "type": kind,
                "status": "DONE",
                "created_at": f"2026-01-02T03:{index // 60:02}:{index % 60:02}Z",
                **fields,
            }
        )
        return self

    def typed(self, text: str, behind: str = "") -> Conversation:
        """A person's prompt, in its envelope, with what the agent adds `behind` it."""
        added = behind or "<ADDITIONAL_METADATA>\nCANARY local time\n</ADDITIONAL_METADATA>"
        content = f"<USER_REQUEST>\n{text}\n</USER_REQUEST>\n{added}"
        return self.step("USER_INPUT", "USER_EXPLICIT", content=content)

    def answered(self, text: str, **fields: Any) -> Conversation:
        """A text of the answer."""
        return self.step("PLANNER_RESPONSE", content=text, thinking="CANARY thinking", **fields)

    def save(self, home: Path, name: str = "transcript_full.jsonl") -> Path:
        """The transcript where the agent would keep it."""
        path = home / "brain" / self.conversation / ".system_generated" / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def typed_in(home: Path, conversation: str, workspace: str) -> None:
    """A line in the history of typed prompts."""
    line = {"display": "CANARY", "timestamp": 1, "workspace": workspace, "conversationId": conversation}
    home.mkdir(parents=True, exist_ok=True)
    with (home / "history.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def described_in(home: Path, conversation: str, *uris: str) -> None:
    """The cache of what conversations are about."""
    (home / "cache").mkdir(parents=True, exist_ok=True)
    described = {"conversations": {conversation: {"summary": {"WorkspaceURIs": list(uris)}}}}
    (home / "cache" / "conversation_metadata.json").write_text(json.dumps(described))


def logged_in(home: Path, conversation: str, uri: str) -> None:
    """The diagnostics of one run, and the project that they name."""
    (home / "log").mkdir(parents=True, exist_ok=True)
    (home / "log" / "cli-1.log").write_text(
        f'I0102 using project "tea" (id={PROJECT})\nI0102 Created conversation {conversation}\n'
    )
    project = {"projectResources": {"resources": [{"gitFolder": {"folderUri": uri}}]}}
    config = home.parent / "config" / "projects"
    config.mkdir(parents=True, exist_ok=True)
    (config / f"{PROJECT}.json").write_text(json.dumps(project))


def opened(conversation: str = TEA, cwd: str = "/home/dev/tea") -> antigravity.State:
    """The state before the first record."""
    return antigravity.open_session(SessionFile(path=Path("nowhere"), session_id=conversation, cwd=cwd))


def read(records: Iterable[Any], state: antigravity.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(antigravity.read(records, state or opened()))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
