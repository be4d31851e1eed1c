"""A machine to test on: a throw-away home with agents in it, a project, a clock that only we move.

    world = World(tmp_path)
    world.claude("s1").user("Which port?").assistant("8080.")
    world.sync()
    assert world.said() == [("user", "Which port?"), ("assistant", "8080.")]

Nothing here reads the real home, the real clock or the real environment. All content is made up.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.log import v1_1_log
from conversation_esaa.agents.claude_code_files import munge
from conversation_esaa.cli.main import main
from conversation_esaa.events import ConversationTurn, Entry
from conversation_esaa.machine import Machine
from conversation_esaa.timestamps import to_utc
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.capture.report import AgentReport, SyncReport

SOURCE = Path(__file__).resolve().parents[2] / "src"


class World:
    """One machine with one project on it."""

    def __init__(
        self, base: Path, *, project: str = "project", environ: dict[str, str] | None = None
    ) -> None:
        self.home = base / "home"
        self.project = base / project
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)
        self.environ = environ or {}
        self.time = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)

    def now(self) -> str:
        """The clock: a second passes at each look."""
        self.time += timedelta(seconds=1)
        return to_utc(self.time)

    def machine(self, present: Path | None = None) -> Machine:
        """The machine as a value."""
        return Machine(
            environ=self.environ, user_home=self.home, present=present or self.project, now=self.now
        )

    # --- what the product does with it -----------------------------------------------------------------

    def workspace(self, *, catch_up: bool = False) -> Workspace:
        """The project's workspace; made when there is none."""
        if not (self.project / ".conversation-esaa" / "config.toml").exists():
            Workspace.create(self.project, machine=self.machine())
        return Workspace(self.project, machine=self.machine(), catch_up=catch_up, lock_wait_s=5)

    def sync(self, **options: Any) -> SyncReport:
        """Capture."""
        return self.workspace().sync(**options)

    def taken_over(self) -> World:
        """This one, with the log of the older tool in its store and taken over; every oddity is in that."""
        project = json.dumps(str(self.project))[1:-1]
        self.store.mkdir(mode=0o700)
        (self.store / "activity.jsonl").write_bytes(v1_1_log(project, f"{project}2"))
        assert self.run("upgrade").code == 0
        return self

    def agent(self, name: str, report: SyncReport) -> AgentReport:
        """One agent's part of a report."""
        return next(agent for agent in report.agents if agent.agent == name)

    def add_roots(self, *paths: str) -> None:
        """Write further roots into config.toml, as a person would; they need not exist."""
        layout = self.workspace().layout
        lines = layout.config.read_text("utf-8").splitlines()
        line = f"roots = {json.dumps(list(paths), ensure_ascii=False)}"
        lines = [line if old.startswith("roots =") else old for old in lines]
        layout.config.write_text("\n".join(lines) + "\n", "utf-8")

    def install(self, agent: str, folder: Path) -> None:
        """Put what an agent keeps in `folder` below its home, as if it had been used here."""
        home = self.home / {"claude-code": ".claude", "codex": ".codex", "grok": ".grok"}[agent]
        shutil.copytree(folder, home, dirs_exist_ok=True)

    def process(self, *argv: str, **environ: str) -> subprocess.Popen[bytes]:
        """One command line in a process of its own, on this machine."""
        return subprocess.Popen(
            [sys.executable, "-m", "conversation_esaa", *argv],
            cwd=self.project,
            env={**self.process_environ(), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def process_environ(self) -> dict[str, str]:
        """The environment such a process needs, and nothing of the real one."""
        kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "SYSTEMROOT") if key in os.environ}
        return {**kept, "PYTHONPATH": str(SOURCE), "HOME": str(self.home), **self.environ}

    def wait(self, process: subprocess.Popen[bytes]) -> Ran:
        """How a process ended."""
        out, err = process.communicate(timeout=120)
        return Ran(process.returncode, out.decode(), err.decode())

    def entries(self) -> list[Entry]:
        """Everything that the log shows of this workspace."""
        return list(self.workspace().entries())

    def turns(self) -> list[ConversationTurn]:
        """The turns of the log, in log order."""
        return [entry.event for entry in self.entries() if isinstance(entry.event, ConversationTurn)]

    def said(self) -> list[tuple[str, str]]:
        """Who said what, in log order."""
        return [(turn.actor, turn.text) for turn in self.turns()]

    def run(self, *argv: str, present: Path | None = None) -> Ran:
        """One command line, in this process."""
        out, err = io.StringIO(), io.StringIO()
        code = main(list(argv), machine=self.machine(present), stdout=out, stderr=err)
        return Ran(code, out.getvalue(), err.getvalue())

    @property
    def store(self) -> Path:
        """The project's `.conversation-esaa/`."""
        return self.project / ".conversation-esaa"

    def bytes_of_store(self) -> dict[str, bytes]:
        """Every file of the store, to see what a command changed."""
        return dict(self._files())

    def _files(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.store.rglob("*")):
            if path.is_file():
                yield path.relative_to(self.store).as_posix(), path.read_bytes()

    # --- what the agents do ----------------------------------------------------------------------------

    def claude(self, name: str = "claude-1", *, cwd: Path | str | None = None, session: str = "") -> Claude:
        """A Claude Code session that was started in the project, or in `cwd`."""
        return Claude(self, name, str(cwd or self.project), session)

    def codex(self, name: str = "codex-1", *, cwd: Path | str | None = None, session: str = "") -> Codex:
        """A Codex thread that was started in the project, or in `cwd`."""
        return Codex(self, name, str(cwd or self.project), session)

    def grok(self, name: str = "grok-1", *, cwd: Path | str | None = None, session: str = "") -> Grok:
        """A Grok session that was started in the project, or in `cwd`."""
        return Grok(self, name, str(cwd or self.project), session)


class Ran:
    """What a command line printed, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        """Its answer under `--json`."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """Its error under `--json`."""
        return json.loads(self.err)["error"]


class _Agent:
    """A session file that grows; every record goes to disk at once, as the agents write."""

    def __init__(self, world: World, name: str, cwd: str, session: str = "") -> None:
        self.world, self.cwd = world, cwd
        self.id = session or str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        self.path = self._path()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = len(self.path.read_bytes().splitlines()) if self.path.exists() else 0

    def _path(self) -> Path:
        raise NotImplementedError

    def write(self, record: Any) -> None:
        """One line, complete."""
        try:
            line = json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half a character: agents write it as an escape
            line = json.dumps(record).encode()
        self.write_bytes(line + b"\n")

    def write_bytes(self, content: bytes) -> None:
        """Bytes exactly as given."""
        self.count += 1
        with self.path.open("ab") as file:
            file.write(content)

    def native_id(self) -> str:
        """A new record id."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.id}/{self.count}"))


class Claude(_Agent):
    """Claude Code 2.1.332."""

    def _path(self) -> Path:
        return self.world.home / ".claude" / "projects" / munge(self.cwd) / f"{self.id}.jsonl"

    def record(self, kind: str, **more: Any) -> dict[str, Any]:
        """A record with its envelope."""
        return {
            "type": kind,
            "uuid": self.native_id(),
            "isSidechain": False,
            "timestamp": self.world.now(),
            "sessionId": self.id,
            "cwd": self.cwd,
            "gitBranch": "main",
            "version": "2.1.332",
            **more,
        }

    def user(self, text: str, **more: Any) -> Claude:
        """A typed prompt."""
        self.write(self.record("user", message={"role": "user", "content": text}, **more))
        return self

    def assistant(self, text: str, *, message: str = "", **more: Any) -> Claude:
        """A text block of an answer."""
        block = {"type": "text", "text": text}
        self.write(self._answer([block], message=message, **more))
        return self

    def thinking(self, text: str) -> Claude:
        """Reasoning: never visible."""
        self.write(self._answer([{"type": "thinking", "thinking": text, "signature": "x"}]))
        return self

    def tool(self, output: str) -> Claude:
        """A tool's result: never visible."""
        content = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]
        message = {"role": "user", "content": content}
        self.write(self.record("user", message=message, toolUseResult={"stdout": output}))
        return self

    def _answer(self, content: list[dict[str, Any]], *, message: str = "", **more: Any) -> dict[str, Any]:
        body = {
            "id": message or f"msg_{self.id[:8]}_{self.count}",
            "type": "message",
            "role": "assistant",
            "model": "demo-model",
            "content": content,
        }
        return self.record("assistant", message=body, **more)


class Codex(_Agent):
    """Codex 0.171.0, paginated."""

    def _path(self) -> Path:
        folder = self.world.home / ".codex" / "sessions" / "2026" / "03" / "01"
        return folder / f"rollout-2026-03-01T10-00-00-{self.id}.jsonl"

    def record(self, kind: str, payload: dict[str, Any]) -> None:
        """A record with its envelope; the header goes before the first one."""
        if self.count == 0 and kind != "session_meta":
            self.record("session_meta", self.meta())
        self.write({"timestamp": self.world.now(), "ordinal": self.count, "type": kind, "payload": payload})

    def meta(self, **more: Any) -> dict[str, Any]:
        """The header's payload."""
        return {
            "id": self.id,
            "session_id": self.id,
            "timestamp": self.world.now(),
            "cwd": self.cwd,
            "originator": "codex_exec",
            "cli_version": "0.171.0",
            "source": "exec",
            "thread_source": "user",
            "history_mode": "paginated",
            "git": {"commit_hash": "0123abc", "branch": "main"},
            **more,
        }

    def user(self, text: str) -> Codex:
        """A typed prompt."""
        item = {"type": "UserMessage", "id": self.native_id(), "content": [{"type": "text", "text": text}]}
        self.record("event_msg", {"type": "item_completed", "item": item})
        return self

    def assistant(self, text: str) -> Codex:
        """A text of an answer."""
        item = {"type": "AgentMessage", "id": self.native_id(), "content": [{"type": "Text", "text": text}]}
        self.record("event_msg", {"type": "item_completed", "item": item})
        return self


class Grok(_Agent):
    """Grok 1.0.41."""

    def _path(self) -> Path:
        from urllib.parse import quote

        return (
            self.world.home / ".grok" / "sessions" / quote(self.cwd, safe="-._~") / self.id / "updates.jsonl"
        )

    def update(self, kind: str, text: str, *, meta: dict[str, Any] | None = None, **more: Any) -> None:
        """A line of the update stream; the summary beside it is written with the first one."""
        if self.count == 0:
            summary = {
                "info": {"id": self.id, "cwd": self.cwd},
                "current_model_id": "demo",
                "head_branch": "main",
            }
            (self.path.parent / "summary.json").write_text(json.dumps(summary))
        now = self.world.now()
        update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **more}
        if meta is not None:
            update["_meta"] = meta
        ms = int(datetime.fromisoformat(now).timestamp() * 1000)
        envelope = {"eventId": f"{self.id}-{self.count}", "agentTimestampMs": ms}
        params = {"sessionId": self.id, "update": update, "_meta": envelope}
        self.write({"timestamp": ms // 1000, "method": "session/update", "params": params})

    def user(self, text: str) -> Grok:
        """A typed prompt."""
        self.update("user_message_chunk", text, meta={"modelId": "demo", "promptIndex": self.count})
        return self

    def assistant(self, text: str) -> Grok:
        """A text of an answer."""
        self.update("agent_message_chunk", text)
        return self
