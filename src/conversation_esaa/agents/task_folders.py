"""The format that Cline for VS Code began and its descendants kept: a folder a task, rewritten as a whole.

    <globalStorage>/<extension>/tasks/<task id>/ui_messages.json     what the panel showed: an array of messages
                                               /history_item.json    Roo: the task's directory, parent, …
                                               /api_conversation_history.json   what the model got

Three agents in the registry are this one format, with other names for their extension and their index of tasks.
Only `ui_messages.json` is read; the others are asked for the directory. A message keeps its moment, `ts`, while it
is streamed and rewritten, and so its identity.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents import editors, listing, places
from conversation_esaa.agents.jsonl import decode_line, read_document
from conversation_esaa.agents.listing import depends_on, is_directory, is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import MAX_INTEGER, without_surrogates
from conversation_esaa.timestamps import from_epoch_ms
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conversation_esaa.ids import AgentId

KNOWN_INVISIBLE = frozenset(
    {
        *(
            "api_req_deleted",
            "api_req_failed",
            "api_req_finished",
            "api_req_rate_limit_wait",
            "api_req_retried",
        ),
        *("api_req_retry_delayed", "api_req_started", "auto_approval_max_req_reached", "browser_action"),
        *("browser_action_launch", "browser_action_result", "browser_session_status", "checkpoint_created"),
        *("checkpoint_saved", "clineignore_error", "codebase_search_result", "command", "command_output"),
        *("condense", "condense_context_error", "context_pruned", "deleted_api_reqs", "diff_error", "error"),
        *(
            "error_retry",
            "generate_explanation",
            "hook",
            "hook_output",
            "hook_output_stream",
            "image",
            "info",
        ),
        *("load_mcp_documentation", "mcp_notification", "mcp_server_request_started", "mcp_server_response"),
        *(
            "mistake_limit_reached",
            "new_task",
            "new_task_started",
            "reasoning",
            "report_bug",
            "resume_completed_task",
        ),
        *(
            "resume_task",
            "rooignore_error",
            "shell_integration_warning",
            "sliding_window_truncation",
            "subagent",
        ),
        *(
            "subagent_usage",
            "subtask_result",
            "summarize_task",
            "task_progress",
            "tool",
            "too_many_tools_warning",
        ),
        *("use_mcp_server", "use_subagents", "user_edit_todos", "user_feedback_diff"),
    }
)

_COMPACTIONS = ("condense_context",)
_WHERE = ("workspace", "cwdOnTaskInitialization", "shadowGitConfigWorkTree")
_DETAILS = (
    rb'"text"\s*:\s*"<environment_details>(?:[^"\\]|\\.)*?'
    rb'# Current (?:Working|Workspace) Directory \(((?:[^"\\]|\\.)*?)\) Files'
)
_CHANGES = "HAS_CHANGES"  # Cline's own mark at the end of a result
_BEGINNING = 1 << 20  # bytes of what the model got that are looked through for a directory
_RECENT = 8  # refs that a new one is compared with


class State(ReaderState, kw_only=True):
    """What reading a task has to remember."""

    begun: bool = False  # the first message was met: it is the task
    recent: list[str] = msgspec.field(default_factory=list)  # native refs of the last turns


class TaskFolders:
    """The format as one extension has it.

    index   files, relative to the extension's folder, that list the tasks with their directories.
    others  further folders of such tasks, relative to the user's home directory.
    """

    def __init__(
        self, name: AgentId, extension: str, *, index: Sequence[str], others: Sequence[str] = ()
    ) -> None:
        self.name, self.extension, self.index, self.others = name, extension, index, others

    def is_there(self, home: Path) -> bool:
        """Whether the extension stored anything, in any editor."""
        return any(is_directory(folder) for folder in self._folders(home))

    def session_files(self, home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
        """The tasks that an index places in a root, below it or above it, and those that no index knows.

        Sorted by path. Costs a listing and an index for each editor, and a look at each task that is taken.
        """
        found: dict[str, SessionFile] = {}
        for folder in self._folders(home):
            known = self._indexed(folder)
            for entry in listing.entries(folder / "tasks"):
                cwd = known.get(entry.name, "")
                if (cwd and not places.related([cwd], roots)) or not listing.is_folder(entry):
                    continue
                messages = folder / "tasks" / entry.name / "ui_messages.json"
                if is_file(messages):
                    beside = () if cwd else (str(messages.with_name("history_item.json")),)
                    found.setdefault(
                        os.path.realpath(messages),
                        SessionFile(
                            path=messages, session_id=entry.name, cwd=cwd, kind=Kind.DOCUMENT, beside=beside
                        ),
                    )
        yield from sorted(found.values(), key=lambda file: str(file.path))

    def open_session(self, file: SessionFile) -> State:
        """The task's own description tells directory and parent; else what the model was told."""
        described = read_document(file.path.with_name("history_item.json"))
        return State(
            session_id=without_surrogates(file.session_id),
            cwd=_directory(described) or without_surrogates(file.cwd) or _told_to_the_model(file.path),
            sidechain=bool(described.get("parentTaskId")),
        )

    def read(self, records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
        """What the panel showed, in file order. A task that another one started gives nothing."""
        for record in records:
            message: dict[str, Any] = record if type(record) is dict else {}
            first, state.begun = not state.begun, state.begun or bool(message)
            if state.sidechain or message.get("partial") is True:
                continue  # what is still being written comes again, under the same moment
            form, text = message.get("type"), message.get("text")
            kind = message.get(form) if form in ("say", "ask") else None
            match kind:
                case "task" | "user_feedback":
                    yield from self._said(Actor.USER, text, message, kind, state)
                case "text" if form == "say":
                    yield from self._said(
                        Actor.USER if first else Actor.ASSISTANT, text, message, kind, state
                    )
                case "completion_result":
                    text = text.removesuffix(_CHANGES) if isinstance(text, str) else text
                    yield from self._said(Actor.ASSISTANT, text, message, kind, state)
                case "followup" | "plan_mode_respond" | "act_mode_respond":
                    yield from self._said(Actor.ASSISTANT, _spoken(text), message, kind, state)
                case str() if kind in _COMPACTIONS:
                    yield self._mark(MarkKind.COMPACTED, message, state, _native_ref(message, kind, state))
                case str() if kind in KNOWN_INVISIBLE:
                    pass
                case _:
                    state.met_unknown(kind if message else record)

    def _said(
        self, actor: Actor, text: object, message: dict[str, Any], kind: str, state: State
    ) -> Iterator[Turn | SessionMark]:
        if not isinstance(text, str) or not text or text.isspace():
            return
        if not state.started:
            state.started = True
            yield self._mark(MarkKind.STARTED, message, state)
        ordinal = state.source_index
        state.source_index += 1
        state.visible += 1
        yield Turn(
            source=self.name,
            source_session_id=state.session_id,
            source_index=ordinal,
            actor=actor,
            text=text,
            source_ref=_distinct(_native_ref(message, kind, state), state),
            said_at=from_epoch_ms(message.get("ts")),
            cwd=state.cwd,
        )

    def _mark(self, kind: MarkKind, message: dict[str, Any], state: State, ref: str = "") -> SessionMark:
        state.visible += 1
        return SessionMark(
            source=self.name,
            source_session_id=state.session_id,
            kind=kind,
            source_ref=ref,
            said_at=from_epoch_ms(message.get("ts")),
            cwd=state.cwd,
        )

    def _folders(self, home: Path) -> list[Path]:
        folders = [user / "globalStorage" / self.extension for user in editors.user_folders(home)]
        person = editors.person_of(home)
        return folders + ([person / other for other in self.others] if person else [])

    def _indexed(self, folder: Path) -> dict[str, str]:
        """Task → its directory, as far as an index knows."""
        known: dict[str, str] = {}
        for name in self.index:
            depends_on(folder / name)
            for task in _tasks_in(folder / name):
                match task:
                    case {"id": str(task_id)}:
                        known[task_id] = _directory(task)
        return known


def _tasks_in(path: Path) -> list[Any]:
    """The tasks of an index, which is an array or has one."""
    try:
        content = path.read_bytes()
    except OSError:
        return []
    records = decode_line(b'{"entries":' + content.removeprefix(b"\xef\xbb\xbf") + b"}") or [{}]
    found = records[0].get("entries")
    if isinstance(found, dict):
        found = found.get("entries")
    return found if isinstance(found, list) else []


def _directory(task: dict[str, Any]) -> str:
    named = (task.get(key) for key in _WHERE)
    return next((without_surrogates(place) for place in named if isinstance(place, str) and place), "")


def _told_to_the_model(messages: Path) -> str:
    """The directory in the environment that was told to the model; "" when none was.

    It stands in a block of its own, which no prompt can pose as: a prompt's block begins with its own tag.
    """
    try:
        with messages.with_name("api_conversation_history.json").open("rb") as file:
            found = re.search(_DETAILS, file.read(_BEGINNING))
        return without_surrogates(msgspec.json.decode(b'"%s"' % found[1], type=str)) if found else ""
    except (OSError, msgspec.DecodeError):
        return ""


def _spoken(text: object) -> object:
    """The words of a question or a plan, which come as JSON with the answers that it offers."""
    if isinstance(text, str) and text.lstrip().startswith("{"):
        for found in decode_line(text.encode("utf-8", "replace"))[:1]:
            return found.get("question") or found.get("response")
    return text


def _native_ref(message: dict[str, Any], kind: str, state: State) -> str:
    at = message.get("ts")
    if type(at) is not int or not 0 <= at <= MAX_INTEGER:
        return ""
    return f"{state.session_id}/{at}/{message['type']}:{kind}"


def _distinct(ref: str, state: State) -> str:
    """Two messages of one moment and kind are two turns."""
    if not ref:
        return ""
    count = state.recent.count(ref)
    state.recent = [*state.recent[1 - _RECENT :], ref]
    return f"{ref}#{count + 1}" if count else ref
