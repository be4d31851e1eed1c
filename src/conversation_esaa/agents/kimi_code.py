"""Kimi Code CLI: a folder a session, in it one for each agent; the main agent's `wire.jsonl` is read.

One stream tells everything: what was typed (`turn.prompt`), what the model got (`context.append_message`, with
reminders in the user's name), and what it answered, part by part. Only the first and the last are read.

Format and how we know it: docs/reference/agents/kimi-code.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import is_file, is_folder, listed
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import from_epoch_ms
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("kimi-code")
TITLE = "Kimi Code CLI"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INVISIBLE_RECORDS = _names(
    """
    agent.message.appended agent.turn.ended agent.turn.started context.append_message context.apply_compaction
    full_compaction.begin llm.request llm.tools_snapshot permission.record_approval_result permission.set_mode
    plan_mode.enter plan_mode.exit plugin.session_start prompt.completed runtime.set_binding
    subagent.completed subagent.failed subagent.spawned subagent.started token_counting.measured
    token_counting.turn_recorded tools.set_active_tools turn.cancel turn.ended usage.record
    """
)
_INVISIBLE_EVENTS = _names("step.begin step.end tool.call tool.result")
_INVISIBLE_PARTS = _names("audio_url image_url think video_url")
KNOWN_INVISIBLE = frozenset(
    {
        *_INVISIBLE_RECORDS,
        *(f"event/{kind}" for kind in _INVISIBLE_EVENTS),
        *(f"part/{kind}" for kind in _INVISIBLE_PARTS),
    }
)

_MAIN = "main"
_NOBODYS = _names(
    "compaction compaction_summary cron hook injection other plugin_command retry side skill_activation"
    " system_trigger task"
)
"""Whose prompts come by the way of a person's, by the kind of their origin."""
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MEDIA_TAG = lazy(r"</?(?:image|audio|video|file)(?:\s[^<>]*)?>")


class State(ReaderState, kw_only=True):
    """What reading a stream has to remember."""

    created_at: int = -1  # when the stream began, in milliseconds as written
    forked_from: str = ""
    copying: bool = False  # the history that a fork copied is not over


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$KIMI_CODE_HOME`, else `~/.kimi-code`."""
    return Path(environ.get("KIMI_CODE_HOME") or user_home / ".kimi-code")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:  # noqa: ARG001 - names tell a part
    """The main agents' streams of all sessions, sorted by path.

    Costs a listing a folder, and a look at the disk a session.
    """
    found: list[SessionFile] = []
    seen: set[str] = set()
    for folder in _folders(home / "sessions"):
        for session in _folders(folder):
            real = os.path.realpath(session)  # a link may have any name
            path = session / "agents" / _MAIN / "wire.jsonl"
            if real not in seen and is_file(path):
                seen.add(real)
                found.append(SessionFile(path=path, session_id=os.path.basename(real)))
    yield from sorted(found, key=lambda file: str(file.path))


def open_session(file: SessionFile) -> State:
    """`state.json` tells directory and parent. Without it the session has no directory, and is refused."""
    described = read_document(file.path.parent.parent.parent / "state.json")
    parent = storable(described.get("forkedFrom"))
    return State(
        session_id=without_surrogates(file.session_id),
        cwd=storable(described.get("cwd")) or storable(described.get("workDir")) or file.cwd,
        forked_from=parent,
        copying=bool(parent),
    )


class _Event(msgspec.Struct):
    type: str = ""


class _Head(msgspec.Struct):
    """What tells whether a line may hold something said; the rest is passed over without being built."""

    type: str = ""
    event: _Event | None = None


_head = msgspec.json.Decoder(_Head).decode


def glance(line: bytes, state: State) -> bool:  # noqa: ARG001 - a line says it all
    """Whether nothing was said in a line, told without decoding all of it; `read` would pass it over.

    False means: decode it whole. Raises DecodeError for what is no JSON.
    """
    try:
        head = _head(line)
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it
    if head.type == "context.append_loop_event":
        return head.event is not None and head.event.type in _INVISIBLE_EVENTS
    return head.type in _INVISIBLE_RECORDS


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a prompt, and one for each text part of an answer."""
    for record in records:
        line: dict[str, Any] = record if type(record) is dict else {}
        kind = line.get("type")
        if line.get("agentId", _MAIN) != _MAIN and isinstance(kind, str):
            continue  # a sub-agent's; its stream is its own
        match kind:
            case "turn.prompt" | "turn.steer":
                yield from _prompt(line, state)
            case "context.append_loop_event":
                yield from _event(line, state)
            case "profile.bind" | "config.update":
                state.model = storable(line.get("modelAlias")) or state.model
            case "full_compaction.complete":
                yield from _compaction(line, state)
            case "metadata":
                state.created_at = _milliseconds(line.get("created_at"))
            case "forked":
                state.copying = False
            case str() if kind in _INVISIBLE_RECORDS:
                pass
            case _:
                state.met_unknown(kind if line else record)


def _prompt(line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    """What a person typed, by its origin and never by its text."""
    origin = line.get("origin")
    origin = origin if isinstance(origin, dict) else {}
    if (kind := origin.get("kind")) != "user":
        if not isinstance(kind, str) or kind not in _NOBODYS:
            state.met_unknown(f"a prompt of origin {storable(kind)}")
        return
    at = _milliseconds(line.get("time"))
    if at >= 0 and at == state.created_at:
        return  # taken over from Kimi CLI, in whose own log it is
    parts = line.get("input")
    texts = [
        text
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(text := part.get("text"), str)
    ]
    skills = origin.get("skillActivations")  # their texts come first
    typed = "".join(
        text
        for text in texts[len(skills) if isinstance(skills, list) else 0 :]
        if not _MEDIA_TAG.fullmatch(text)
    )
    ref = storable(line.get("promptId")) or storable(line.get("messageId"))
    if not ref and at >= 0:
        ref = f"{line['type']}@{at}"
    yield from _said(Actor.USER, typed, line, state, ref=ref)


def _event(line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    event = line.get("event")
    event = event if isinstance(event, dict) else {}
    kind, part = event.get("type"), event.get("part")
    if kind == "content.part" and isinstance(part, dict):
        if part.get("type") == "text":
            ref = storable(event.get("uuid"))
            ref = ref if not ref or _UUID.fullmatch(ref) else f"{state.session_id}/{ref}"
            step = storable(event.get("stepUuid"))
            yield from _said(Actor.ASSISTANT, part.get("text"), line, state, ref=ref, message_ref=step)
            return
        name = f"part/{storable(part.get('type'))}"
    else:
        name = f"event/{storable(kind)}"
    if name not in KNOWN_INVISIBLE:
        state.met_unknown(name)


def _said(
    actor: Actor, text: object, line: dict[str, Any], state: State, *, ref: str, message_ref: str = ""
) -> Iterator[Turn | SessionMark]:
    if not isinstance(text, str) or not text or text.isspace():
        return
    said_at = from_epoch_ms(line.get("time"))
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=said_at, forked_from=state.forked_from)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=ref,
        message_ref=message_ref,
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _compaction(line: dict[str, Any], state: State) -> Iterator[SessionMark]:
    if not state.copying:  # else it was the parent's
        at = _milliseconds(line.get("time"))
        ref = f"compaction@{at}" if at >= 0 else ""
        yield _mark(state, MarkKind.COMPACTED, said_at=from_epoch_ms(line.get("time")), source_ref=ref)


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
        model=state.model,
        forked_from=forked_from,
    )


def _milliseconds(value: object) -> int:
    """A moment of a record; -1 when it is none."""
    return value if type(value) is int and 0 <= value < 1 << 50 else -1


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, links last; empty when it is none, or went meanwhile."""
    try:
        entries = sorted(listed(parent), key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError:
        return []
    return [parent / entry.name for entry in entries if is_folder(entry)]
