"""GitHub Copilot CLI: a folder a session; its `events.jsonl` is the stream of everything that happened.

A prompt's event holds what was typed and, beside it, what the model got: with the time, reminders and what
hooks added. Only the first is read. Sub-agents speak in the same stream, and each of their events says so.

Format and how we know it: docs/reference/agents/copilot-cli.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.listing import depends_on, entries, is_file, is_folder
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("copilot-cli")
TITLE = "GitHub Copilot CLI"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


KNOWN_INVISIBLE = _names(
    """
    abort assistant.intent assistant.reasoning assistant.turn_end assistant.turn_start assistant.usage
    command.completed command.execute command.queued elicitation.completed elicitation.requested
    exit_plan_mode.completed exit_plan_mode.requested external_tool.completed external_tool.requested
    hook.end hook.start model.call_start model.message model.messages_snapshot model.model_call_failure
    model.model_call_started model.model_call_success model.response model.turn_ended model.turn_started
    permission.completed permission.requested session.auto_mode_resolved
    session.autopilot_objective_changed session.background_tasks_changed session.binary_asset
    session.compaction_start session.context_cleared session.custom_agents_updated session.error
    session.extensions_loaded session.handoff session.idle session.info session.mcp_server_status_changed
    session.mcp_servers_loaded session.mode_changed session.mode_notice_delivered
    session.permissions_changed session.plan_changed session.remote_steerable_changed
    session.schedule_cancelled session.schedule_created session.shutdown session.skills_loaded
    session.snapshot_rewind session.task_complete session.title_changed session.tools_updated
    session.truncation session.usage_checkpoint session.usage_info session.usage_record session.warning
    session.workspace_file_changed skill.invoked subagent.completed subagent.configured
    subagent.deselected subagent.failed subagent.selected subagent.started system.message
    system.notification tool.execution_complete tool.execution_partial_result tool.execution_progress
    tool.execution_start tool.user_requested user_input.completed user_input.requested
    """
)

_READ = _names(
    "assistant.message session.compaction_complete session.context_changed session.model_change session.resume"
    " session.start user.message"
)
_NOBODYS = frozenset({"agent", "autopilot", "command", "skill", "system"})
"""Who writes prompts in the user's name, by the first part of `source`."""
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class State(ReaderState, kw_only=True):
    """What reading an event stream has to remember."""

    header: bool = False  # the first session.start was met
    began_at: str = ""


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$COPILOT_HOME`, else `~/.copilot`."""
    return Path(environ.get("COPILOT_HOME") or user_home / ".copilot")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:  # noqa: ARG001 - paths tell nothing
    """All event streams, sorted by path: names tell no workspace, and a session may be resumed in another one.

    Costs one listing, and a look at the disk a session.
    """
    found: list[SessionFile] = []
    seen: set[str] = set()
    for entry in entries(home / "session-state"):
        path = Path(entry.path)
        real = os.path.realpath(path)  # a link may have any name
        events = path / "events.jsonl" if is_folder(entry) else path
        if real in seen or events.suffix != ".jsonl" or not is_file(events):
            continue
        seen.add(real)
        name = Path(real).name
        found.append(SessionFile(path=events, session_id=name.removesuffix(".jsonl")))
    yield from sorted(found, key=lambda file: str(file.path))


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs one listing."""
    depends_on(home / "history-session-state")
    older = sum(1 for _ in (home / "history-session-state").glob("*.json"))
    return {"sessions of 2025 in one JSON document (history-session-state)": older} if older else {}


def open_session(file: SessionFile) -> State:
    """The header in the file knows better; the folder's name is for files that lost it."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


class _Head(msgspec.Struct):
    """What tells whether a line may hold something said; the rest is passed over without being built."""

    type: str = ""


_head = msgspec.json.Decoder(_Head).decode


def glance(line: bytes, state: State) -> bool:  # noqa: ARG001 - a line says it all
    """Whether nothing was said in a line, told without decoding all of it; `read` would pass it over.

    False means: decode it whole. Raises DecodeError for what is no JSON.
    """
    try:
        return _head(line).type in KNOWN_INVISIBLE
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a message. Events of sub-agents give nothing."""
    for record in records:
        event: dict[str, Any] = record if type(record) is dict else {}
        kind, data = event.get("type"), event.get("data")
        data = data if type(data) is dict else {}
        match kind:
            case str() if event.get("agentId"):  # a sub-agent's, the model that it is given included
                if kind not in _READ and kind not in KNOWN_INVISIBLE:
                    state.met_unknown(kind)
            case "user.message":
                yield from _prompt(data, event, state)
            case "assistant.message":
                yield from _answer(data, event, state)
            case "session.start" | "session.resume":
                _take_header(data, event, state)
            case "session.context_changed":
                _take_place(data, state)
            case "session.model_change":
                state.model = storable(data.get("newModel")) or state.model
            case "session.compaction_complete":
                yield from _compaction(data, event, state)
            case str() if kind in KNOWN_INVISIBLE:
                pass
            case _:
                state.met_unknown(kind if event else record)


def _take_header(data: dict[str, Any], event: dict[str, Any], state: State) -> None:
    if event.get("type") == "session.start" and not state.header:
        state.header = True
        state.session_id = storable(data.get("sessionId")) or state.session_id
        state.began_at = parse_utc(data.get("startTime")) or parse_utc(event.get("timestamp"))
    state.agent_version = storable(data.get("copilotVersion")) or state.agent_version
    state.model = storable(data.get("selectedModel")) or state.model
    if isinstance(context := data.get("context"), dict):
        _take_place(context, state)


def _take_place(context: dict[str, Any], state: State) -> None:
    """Where the session is from here on."""
    if cwd := storable(context.get("cwd")):
        state.cwd = cwd
        state.git_branch = storable(context.get("branch"))
        state.git_commit = storable(context.get("headCommit"))


def _prompt(data: dict[str, Any], event: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    """A person's prompt, by its marks and never by its text."""
    source = data.get("source")
    if data.get("isAutopilotContinuation"):
        return
    if source is not None and source != "user":
        kind = storable(source).partition("-")[0]
        if kind not in _NOBODYS:
            state.met_unknown(f"user.message of source {kind}")
        return
    yield from _said(Actor.USER, data, event, state)


def _answer(data: dict[str, Any], event: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    if data.get("parentToolCallId"):
        return
    state.model = storable(data.get("model")) or state.model
    yield from _said(Actor.ASSISTANT, data, event, state)


def _said(
    actor: Actor, data: dict[str, Any], event: dict[str, Any], state: State
) -> Iterator[Turn | SessionMark]:
    text = data.get("content")
    if not isinstance(text, str) or not text or text.isspace():
        return
    said_at = parse_utc(event.get("timestamp"))
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=state.began_at or said_at)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=_native_ref(event, state),
        message_ref=storable(data.get("messageId")),
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        git_commit=state.git_commit,
        model=state.model,
        agent_version=state.agent_version,
    )


def _compaction(data: dict[str, Any], event: dict[str, Any], state: State) -> Iterator[SessionMark]:
    if data.get("success") is not False:
        ref = _native_ref(event, state)
        yield _mark(state, MarkKind.COMPACTED, said_at=parse_utc(event.get("timestamp")), source_ref=ref)


def _mark(state: State, kind: MarkKind, *, said_at: str, source_ref: str = "") -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        git_commit=state.git_commit,
        model=state.model,
        agent_version=state.agent_version,
    )


def _native_ref(event: dict[str, Any], state: State) -> str:
    """The event's id: a UUID, so a copy in another file is the same event."""
    ref = storable(event.get("id"))
    return ref if not ref or _UUID.fullmatch(ref) else f"{state.session_id}/{ref}"
