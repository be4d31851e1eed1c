"""Claude Code's session files, as its versions write them. All content is made up.

`Session` grows line by line; every method adds one record and returns it. The native shape of a line is
here and nowhere else in the tests.
"""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import claude_code, claude_code_files
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

TEA = "22222222-bbbb-4bbb-8bbb-000000000002"
FORK = "33333333-cccc-4ccc-8ccc-000000000003"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, 6000, UTC)


class Session:
    """One session of one version. `records` is its file, a line each."""

    def __init__(
        self,
        session_id: str = TEA,
        *,
        version: str = "2.1.332",
        cwd: str = "/home/dev/tea",
        branch: str = "main",
    ) -> None:
        self.session_id, self.version, self.cwd, self.branch = session_id, version, cwd, branch
        self.records: list[dict[str, Any]] = []
        self.lines = 0

    def moment(self) -> str:
        """The time of the next line: a second after the last."""
        return (BEGIN + timedelta(seconds=self.lines)).isoformat(timespec="milliseconds")[:-6] + "Z"

    def line(self, kind: str, **more: Any) -> dict[str, Any]:
        """A line with the envelope of conversation lines."""
        record = {
            "parentUuid": None,
            "isSidechain": False,
            "type": kind,
            "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session_id}/{self.lines}")),
            "timestamp": self.moment(),
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
            **more,
        }
        return self.bare(record)

    def bare(self, record: dict[str, Any]) -> dict[str, Any]:
        """A line exactly as given."""
        self.lines += 1
        self.records.append(record)
        return record

    def said(self, content: Any, **more: Any) -> dict[str, Any]:
        """A `user` line: what was typed, or what looks like it."""
        return self.line("user", message={"role": "user", "content": content}, **more)

    def typed(self, text: str) -> dict[str, Any]:
        """A prompt in the terminal of 2.1.332."""
        origin = {"promptSource": "typed", "origin": {"kind": "human"}, "turnOrigin": "human"}
        return self.said(text, promptId="7d0c0000-0000-4000-8000-000000000000", **origin)

    def answered(self, text: str, message_id: str = "msg_1", **more: Any) -> dict[str, Any]:
        """A `text` block of an answer."""
        return self.block(message_id, {"type": "text", "text": text}, **more)

    def block(self, message_id: str, *blocks: Any, model: str = "claude-demo", **more: Any) -> dict[str, Any]:
        """Any blocks of an answer."""
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": list(blocks),
            "stop_reason": None,
        }
        return self.line("assistant", message=message, **more)

    def thought(self, text: str, message_id: str = "msg_1") -> dict[str, Any]:
        """Reasoning, which nobody sees."""
        return self.block(message_id, {"type": "thinking", "thinking": text, "signature": "x"})

    def used_tool(self, command: str, message_id: str = "msg_1") -> dict[str, Any]:
        """A call of a tool."""
        call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}
        return self.block(message_id, call)

    def tool_answered(self, output: str, **more: Any) -> dict[str, Any]:
        """What a tool gave back."""
        content = [{"tool_use_id": "toolu_1", "type": "tool_result", "content": output}]
        return self.said(content, **{"toolUseResult": {"stdout": output}, **more})

    def attached(self, attachment: dict[str, Any], **more: Any) -> dict[str, Any]:
        """An `attachment` line."""
        return self.line("attachment", attachment=attachment, **more)

    def typed_while_busy(self, prompt: Any, **more: Any) -> dict[str, Any]:
        """A prompt that the model got in the middle of its work, since attachments are stored."""
        command = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        return self.attached({**command, "origin": {"kind": "human"}, "humanTurn": True, **more})

    def queue(self, operation: str, content: str | None = None, **more: Any) -> dict[str, Any]:
        """A `queue-operation` line; it has no envelope."""
        record = {"operation": operation, "timestamp": self.moment(), "sessionId": self.session_id, **more}
        return self.bare(
            {"type": "queue-operation", **record, **({} if content is None else {"content": content})}
        )

    def compacted(self, trigger: str = "manual") -> dict[str, Any]:
        """The boundary that a compaction leaves, and the summary behind it."""
        about = {"trigger": trigger, "preTokens": 120}
        boundary = self.line("system", subtype="compact_boundary", content="Compacted", compactMetadata=about)
        self.said(
            "This session is being continued from a previous conversation. CANARY summary",
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )
        return boundary

    def copied_by(
        self, fork: Session, *, uuids: bool = True, times: bool = True, sessions: bool = True
    ) -> None:
        """Copy the history into `fork`, keeping or renewing ids, times and the session it names."""
        begun = fork.moment()
        for record in self.records:
            copy = dict(record)
            if not uuids:
                copy["uuid"] = str(uuid.uuid5(uuid.NAMESPACE_URL, f"copy/{fork.session_id}/{fork.lines}"))
            if not times:
                copy["timestamp"] = begun
                copy.pop("toolUseResult", None)
            if sessions:
                copy["sessionId"] = fork.session_id
            if isinstance(copy.get("message", {}).get("content"), str):
                content = [{"type": "text", "text": copy["message"]["content"]}]
                copy["message"] = {**copy["message"], "content": content}
            fork.bare(copy)

    def write(self, home: Path) -> Path:
        """Put the file where Claude Code would."""
        path = home / "projects" / claude_code_files.munge(self.cwd) / f"{self.session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(self.records))
        return path


def as_bytes(records: Iterable[Any]) -> bytes:
    """The bytes of a file of `records`."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def file_of(name: str = TEA) -> SessionFile:
    """A session file by name alone; no disk is touched."""
    return SessionFile(path=Path("/home/dev/.claude/projects/-home-dev-tea", f"{name}.jsonl"))


def read_all(session: Session | list[Any], name: str = "") -> list[Turn | SessionMark]:
    """Everything a file gives, read in one go."""
    records = session.records if isinstance(session, Session) else session
    file_name = name or (session.session_id if isinstance(session, Session) else TEA)
    return list(claude_code.read(records, claude_code.open_session(file_of(file_name))))


def turns_of(session: Session | list[Any], name: str = "") -> list[Turn]:
    """The turns of a file."""
    return [found for found in read_all(session, name) if isinstance(found, Turn)]


def said_in(session: Session | list[Any], name: str = "") -> list[tuple[str, str]]:
    """Who said what in a file."""
    return [(str(turn.actor), turn.text) for turn in turns_of(session, name)]
