"""Grok CLI: a folder a session; its `updates.jsonl` is the stream of what the screen showed.

`chat_history.jsonl` beside it is what the model got: rewritten by compaction, without times, with injected
texts. It is not read. Sub-agents have session folders of their own, beside their parent's.

Format and how we know it: docs/reference/agents/grok.md.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file, is_folder, listed
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import MAX_INTEGER, storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_ms, from_epoch_s, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("grok")
TITLE = "Grok CLI"
KNOWN_INVISIBLE = frozenset(
    {
        "agent_thought_chunk",
        "available_commands_update",
        "background_tasks",
        "compact_failed",
        "current_mode_update",
        "hook_annotation",
        "hook_execution",
        "image_dropped",
        "plan",
        "subagent_finished",
        "subagent_spawned",
        "tool_call",
        "tool_call_update",
        "turn_completed",
    }
)

_METHODS = ("session/update", "_x.ai/session/update")
_COMPACTIONS = ("compaction_checkpoint", "auto_compact_completed")
_RECENT = 8  # refs that a new one is compared with


class State(ReaderState, kw_only=True):
    """What reading an update stream has to remember."""

    began_at: str = ""
    forked_from: str = ""
    recent: list[str] = msgspec.field(default_factory=list)  # native refs of the last turns
    compacted_by: str = ""  # the record that told of the last compaction


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$GROK_HOME`, else `~/.grok`."""
    return Path(environ.get("GROK_HOME") or user_home / ".grok")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The update streams of sessions that began in a root, below it or above it, sorted by path.

    The folder's name, or the `.cwd` file in it, tells the directory; a folder of which neither does is
    taken. Costs a listing a folder, and two looks at the disk a session.
    """
    wanted = [_comparable(root) for root in roots]
    found: list[SessionFile] = []
    seen: set[Path] = set()
    for folder in _folders(home / "sessions"):
        cwd = _recorded_cwd(folder)
        if cwd and not any(_related(_comparable(cwd), root) for root in wanted):
            continue
        sessions = _folders(folder)
        children = {child.name for session in sessions for child in _folders(session / "subagents")}
        for session in sessions:
            real = Path(os.path.realpath(session))  # a link may have any name
            updates = session / "updates.jsonl"
            if real.name in children or real in seen or not is_file(updates):
                continue
            seen.add(real)
            found.append(SessionFile(path=updates, session_id=real.name, cwd=cwd))
    yield from sorted(found, key=lambda file: str(file.path))


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs a listing a folder."""
    without = sum(
        not is_file(session / "updates.jsonl") and is_file(session / "chat_history.jsonl")
        for folder in _folders(home / "sessions")
        for session in _folders(folder)
    )
    return {"sessions without an update stream (updates.jsonl)": without} if without else {}


def open_session(file: SessionFile) -> State:
    """`summary.json` tells directory, model, branch and parent. Without it the folder's name has to do."""
    summary = read_document(file.path.with_name("summary.json"))
    info = summary.get("info")
    info = info if isinstance(info, dict) else {}
    sidechain = storable(summary.get("session_kind")) == "subagent"
    return State(
        session_id=storable(file.session_id),
        cwd=storable(info.get("cwd")) or file.cwd,
        git_branch=storable(summary.get("head_branch")),
        git_commit=storable(summary.get("head_commit")),
        model=storable(summary.get("current_model_id")),
        sidechain=sidechain,
        began_at=parse_utc(summary.get("created_at")),
        forked_from="" if sidechain else storable(summary.get("parent_session_id")),
    )


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a text chunk. A sub-agent's stream gives nothing.

    Line order is kept: event ids and times run against it now and then.
    """
    for record in records:
        if state.sidechain:
            continue
        update, meta = _update_of(record)
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            yield from _said(Actor.ASSISTANT, update, meta, record, state)
        elif kind == "user_message_chunk":
            if _was_typed(update, state):
                yield from _said(Actor.USER, update, meta, record, state)
        elif kind in _COMPACTIONS:
            yield from _compaction(kind, meta, record, state)
        elif not isinstance(kind, str) or kind not in KNOWN_INVISIBLE:
            state.met_unknown(kind if update else "a line that is no session update")


def _update_of(record: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """A line's update and its `_meta`; empty for a line that is no session update."""
    if type(record) is dict and record.get("method") in _METHODS:
        params = record.get("params")
        if type(params) is dict and type(update := params.get("update")) is dict:
            meta = params.get("_meta")
            return update, meta if type(meta) is dict else {}
    return {}, {}


def _was_typed(update: dict[str, Any], state: State) -> bool:
    """Whether a user chunk is a person's prompt, by its marks and never by its text.

    A prompt has a `promptIndex`. Slash commands in print mode are `hostTurn`, wake-ups by a background agent
    `hideFromScrollback`, and `!commands` have a `bash_command`.
    """
    meta, content = update.get("_meta"), update.get("content")
    meta = meta if isinstance(meta, dict) else {}
    inner = content.get("_meta") if isinstance(content, dict) else None
    if meta.get("hostTurn") or meta.get("hideFromScrollback"):
        return False
    if isinstance(inner, dict) and inner.get("bash_command") is not None:
        return False
    state.model = storable(meta.get("modelId")) or state.model
    if meta.get("promptIndex") is None:
        state.met_unknown("user_message_chunk without a promptIndex")
        return False
    return True


def _said(
    actor: Actor, update: dict[str, Any], meta: dict[str, Any], record: dict[str, Any], state: State
) -> Iterator[Turn | SessionMark]:
    match update.get("content"):
        case {"type": "text", "text": str(text)} if text and not text.isspace():
            pass
        case _:
            return  # an image, or nothing
    said_at = _moment(meta, record)
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=state.began_at or said_at, forked_from=state.forked_from)
    if actor is Actor.USER:
        state.compacted_by = ""
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=_distinct(_native_ref(meta), state),
        message_ref=storable(meta.get("promptId")),
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        git_commit=state.git_commit,
        model=state.model,
    )


def _compaction(
    kind: str, meta: dict[str, Any], record: dict[str, Any], state: State
) -> Iterator[SessionMark]:
    """One mark a compaction, though two records tell of it; none for a copy in a fork."""
    if state.compacted_by and state.compacted_by != kind:
        state.compacted_by = ""
        return
    state.compacted_by = kind
    ref = _native_ref(meta)
    if state.forked_from and ref and not ref.startswith(f"{state.session_id}-"):
        return
    yield _mark(state, MarkKind.COMPACTED, said_at=_moment(meta, record), source_ref=ref)


def _mark(
    state: State, kind: MarkKind, *, said_at: str, source_ref: str = "", forked_from: str = ""
) -> SessionMark:
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
        forked_from=forked_from,
    )


def _native_ref(meta: dict[str, Any]) -> str:
    """`eventId@agentTimestampMs`: kept by a fork's copy, and unique, which `eventId` alone is not: its counter
    starts again with each process.
    """
    event, at = storable(meta.get("eventId")), meta.get("agentTimestampMs")
    if not event or type(at) is not int or not 0 <= at <= MAX_INTEGER:
        return ""
    return f"{event}@{at}"


def _distinct(ref: str, state: State) -> str:
    """Two chunks of one event, should a version write them apart, are two turns."""
    if not ref:
        return ""
    count = state.recent.count(ref)
    state.recent = [*state.recent[1 - _RECENT :], ref]
    return f"{ref}#{count + 1}" if count else ref


def _moment(meta: dict[str, Any], record: dict[str, Any]) -> str:
    """When it was said; else when the line was written, which in a fork is when it was copied."""
    return from_epoch_ms(meta.get("agentTimestampMs")) or from_epoch_s(record.get("timestamp"))


def _recorded_cwd(folder: Path) -> str:
    """The directory of the sessions in `folder`; "" when neither name nor `.cwd` file tells."""
    depends_on(folder / ".cwd")
    try:
        return without_surrogates((folder / ".cwd").read_text("utf-8").strip())
    except (OSError, ValueError):
        pass
    name = unquote(folder.name)
    is_path = name.startswith(("/", "\\")) or name[1:3] in (":\\", ":/")
    return without_surrogates(name) if is_path else ""


def _related(cwd: str, root: str) -> bool:
    return cwd == root or cwd.startswith(f"{root}/") or root.startswith(f"{cwd}/")


def _comparable(path: str) -> str:
    """One spelling for comparing. It is a coarse one, for a gate judges each turn later: case and the form of
    Unicode do not count, nor the kind and the number of separators at the end.
    """
    return unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, sorted; empty when it is none, or went meanwhile."""
    try:
        return sorted(parent / entry.name for entry in listed(parent) if is_folder(entry))
    except OSError:
        return []
