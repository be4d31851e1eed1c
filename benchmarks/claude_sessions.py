"""Synthetic Claude Code sessions: a line per content block, usage repeated, tool results twice.

What the lines look like: docs/reference/agents/claude-code.md. Only prompts and `text` blocks outside
sidechains are visible; everything else is there because real files are mostly that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from native_session import COMPACTED_EVERY, Place, Sheet
from prose import Names, skewed, stamp

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random
    from typing import BinaryIO

    from native_session import Shape
    from prose import Prose

VERSION = "2.1.119"


def new_place(shape: Shape, rng: Random, now: int) -> Place:
    """Where a session that begins now is kept."""
    session_id = Names(rng).uuid()
    folder = re.sub(r"[^A-Za-z0-9]", "-", shape.workspace)
    path = f".claude/projects/{folder}/{session_id}.jsonl"
    return Place(agent="claude-code", session_id=session_id, path=path, now=now)


class ClaudeSession(Sheet):
    """See `NativeSession`."""

    def __init__(self, home: Path, place: Place, shape: Shape, rng: Random, prose: Prose) -> None:
        super().__init__(home, place, shape, rng, prose)
        self._side = ""  # the sub-agent whose lines are being written
        self._side_file: BinaryIO | None = None

    def begin(self) -> None:
        """Bookkeeping, as every session starts with."""
        snapshot = {"messageId": self.names.uuid(), "trackedFileBackups": {}, "timestamp": self._tick()}
        self.write({"type": "file-history-snapshot", "snapshot": snapshot, "isSnapshotUpdate": False})
        self._line(
            "progress",
            {"data": {"type": "hook_progress", "hookName": "SessionStart:startup", "command": "true"}},
        )

    def exchange(self, room: int) -> None:
        """A prompt, tool rounds with a word now and then, an answer."""
        self.place.exchanges += 1
        self.pass_time(300_000)
        if self.rng.random() < 0.03:
            self._slash_command()
        self._prompt()
        room -= 1
        for _ in range(self.rounds()):
            says = room > 1 and self.rng.random() < 0.4
            room -= says
            self._tool_round(says=says)
        if self.rng.random() < self.shape.sidechains:
            self._sub_agent()
        if room > 0:
            self._message([_text(self.prose.said(400, longest=6_000))])
        if self.place.exchanges % COMPACTED_EVERY == 0:
            self._compaction()

    def _prompt(self) -> None:
        text = self.prose.said(90, longest=19_000)
        content: Any = [_text(text)] if self.rng.random() < 0.1 else text
        self._line("user", {"message": {"role": "user", "content": content}})
        self.place.visible += 1
        if self.rng.random() < 0.2:
            self._line("attachment", {"attachment": {"type": "todo_reminder", "content": [], "itemCount": 0}})

    def _message(self, blocks: list[dict[str, Any]]) -> None:
        """One streamed message: a line for each block, all with the message's id and usage."""
        message_id, request_id = self.names.tag("msg_01", 22), self.names.tag("req_01", 22)
        usage = {
            "input_tokens": self.rng.randint(3, 9_000),
            "cache_read_input_tokens": self.rng.randint(0, 150_000),
            "cache_creation_input_tokens": self.rng.randint(0, 9_000),
            "output_tokens": self.rng.randint(1, 1_500),
            "service_tier": "standard",
        }
        for block in blocks:
            message = {
                "model": "claude-demo-4",
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            }
            self._line("assistant", {"message": message, "requestId": request_id})
            if block["type"] == "text" and not self._side:
                self.place.visible += 1

    def _tool_round(self, *, says: bool = False) -> None:
        """Thinking, maybe a word, the call, progress, and the result, which the line holds twice."""
        call, output = self.names.tag("toolu_01", 22), self.tool_output()
        blocks: list[dict[str, Any]] = []
        if self.rng.random() < 0.5:
            thought = self.prose.text(skewed(self.rng, 160, spread=0.9, largest=4_000))
            blocks.append({"type": "thinking", "thinking": thought, "signature": self.prose.noise(400)})
        if says:
            blocks.append(_text(self.prose.said(90, longest=2_500)))
        name, given, result = self._tool(output)
        blocks.append({"type": "tool_use", "id": call, "name": name, "input": given})
        self._message(blocks)
        if name == "Bash" and not self._side:
            for seconds in range(self.rng.choice((0, 0, 1, 2))):
                data = {"type": "bash_progress", "output": output[:300], "elapsedTimeSeconds": seconds}
                self._line("progress", {"data": data, "toolUseID": call, "parentToolUseID": call})
        content = [{"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}]
        self._line("user", {"message": {"role": "user", "content": content}, "toolUseResult": result})

    def _tool(self, output: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        file = f"{self.shape.workspace}/src/{self.prose.word()}.py"
        match self.rng.randrange(3):
            case 0:
                given: dict[str, Any] = {"command": f"pytest -q -k {self.prose.word()}"}
                return "Bash", given, {"stdout": output, "stderr": "", "interrupted": False}
            case 1:
                about = {"filePath": file, "content": output, "startLine": 1}
                return "Read", {"file_path": file}, {"type": "text", "file": about}
            case _:
                given = {"file_path": file, "old_string": output[:300], "new_string": output[-300:]}
                return "Edit", given, {"filePath": file, "originalFile": output, "userModified": False}

    def _slash_command(self) -> None:
        for content in (
            "<command-name>/clear</command-name>",
            "<local-command-stdout></local-command-stdout>",
        ):
            self._line("user", {"message": {"role": "user", "content": content}})

    def _sub_agent(self) -> None:
        """A sidechain in a file of its own, as newer versions write them, or between the session's lines."""
        self._side, parent = self.names.tag("", 8), self.place.parent
        if self.rng.random() < 0.6:
            folder = self.path.with_suffix("") / "subagents"
            folder.mkdir(parents=True, exist_ok=True)
            self._side_file = (folder / f"agent-{self._side}.jsonl").open("ab")
        self._line("user", {"message": {"role": "user", "content": self.prose.text(300)}})
        for _ in range(self.rng.randint(1, 3)):
            self._tool_round()
        self._message([_text(self.prose.text(600))])
        if self._side_file:
            self._side_file.close()
        self._side, self._side_file, self.place.parent = "", None, parent

    def _compaction(self) -> None:
        about = {"trigger": "auto", "preTokens": 150_000}
        self._line(
            "system", {"subtype": "compact_boundary", "content": "compacted", "compactMetadata": about}
        )
        summary = {"role": "user", "content": f"This session is being continued. {self.prose.text(4_000)}"}
        self._line("user", {"message": summary, "isVisibleInTranscriptOnly": True, "isCompactSummary": True})

    def _line(self, kind: str, body: dict[str, Any]) -> None:
        own_id = self.names.uuid()
        side = {"agentId": self._side} if self._side else {}
        record = {
            "parentUuid": self.place.parent or None,
            "isSidechain": bool(self._side),
            **side,
            "type": kind,
            **body,
            "uuid": own_id,
            "timestamp": self._tick(),
            "userType": "external",
            "cwd": self.shape.workspace,
            "sessionId": self.place.session_id,
            "version": VERSION,
            "gitBranch": "main",
        }
        self.write(record, self._side_file)
        self.place.parent = own_id

    def _tick(self) -> str:
        return stamp(self.pass_time())


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
