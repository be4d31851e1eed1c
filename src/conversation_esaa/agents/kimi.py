"""Kimi CLI: a folder a session; its `wire.jsonl` is the stream of what the screen showed.

`context.jsonl` beside it is what the model gets: renamed and rewritten by a compaction, without times. It is
not read. No file of a session says in which directory it was held: the folder above it is named by a digest
of that directory, and a table of the directories tells which is whose.

Format and how we know it: docs/reference/agents/kimi.md.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file, is_folder, listed
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import from_epoch_s
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("kimi")
TITLE = "Kimi CLI"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INVISIBLE_MESSAGES = _names(
    """
    ApprovalRequest ApprovalRequestResolved ApprovalResponse BtwBegin BtwEnd CompactionBegin HookRequest
    HookResolved HookTriggered MCPLoadingBegin MCPLoadingEnd Notification PlanDisplay QuestionRequest
    StatusUpdate StepRetry SubagentEvent ToolCall ToolCallPart ToolCallRequest ToolResult
    """
)
_INVISIBLE_PARTS = _names("audio_url image_url think video_url")
KNOWN_INVISIBLE = frozenset({*_INVISIBLE_MESSAGES, *(f"ContentPart/{kind}" for kind in _INVISIBLE_PARTS)})

_LOCAL = "local"  # directories of this machine, in the table
_FOLDER = lazy(r"[0-9a-f]{32}")
_TURNS_END = (1, 2)  # the protocol's version since which a turn's end is stated
_AT_ONCE_S = 1.0  # between a command and the prompt that it makes
_MEDIA_TAG = lazy(r"</?(?:image|audio|video)(?:\s[^<>]*)?>")
_NOTICE = lazy(r"\s*(?:<system-reminder>.*</system-reminder>|\[Imported context from [^\n]*\])\s*", re.DOTALL)


class State(ReaderState, kw_only=True):
    """What reading a stream has to remember."""

    turns_end: bool = False  # a turn's end is stated in this file
    open_turns: int = 0  # begun and not ended: more than one when a command makes prompts of its own
    at_s: float = 0.0  # when the last record was written
    turn_at: str = ""  # when the turn began, as written: names what is said in it
    said: int = 0  # visible records since then
    step: int = 0


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$KIMI_SHARE_DIR`, else `~/.kimi`."""
    return Path(environ.get("KIMI_SHARE_DIR") or user_home / ".kimi")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The streams of all sessions whose directory is known, sorted by path.

    A directory is known from the table, or because it is a root. Costs a listing of each such folder, and a
    look at the disk a session.
    """
    known = _directories(home, roots)
    found: list[SessionFile] = []
    seen: set[str] = set()
    for folder in _folders(home / "sessions"):
        if (cwd := known.get(folder.name)) is None:
            continue
        for session in _folders(folder):
            real = os.path.realpath(session)  # a link may have any name
            if real not in seen and is_file(session / "wire.jsonl"):
                seen.add(real)
                path = session / "wire.jsonl"
                found.append(SessionFile(path=path, session_id=os.path.basename(real), cwd=cwd))
    yield from sorted(found, key=lambda file: str(file.path))


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs a listing a folder."""
    known = _directories(home, ())
    counts: dict[str, int] = {}
    for folder in _folders(home / "sessions"):
        if not _FOLDER.fullmatch(folder.name):
            reason = "sessions on other machines"
        elif folder.name not in known:
            reason = "sessions of unknown directory (not in kimi.json)"
        else:
            reason = "sessions without a stream (wire.jsonl)"
        sessions = _folders(folder)
        if folder.name in known:
            sessions = [session for session in sessions if not is_file(session / "wire.jsonl")]
        if sessions:
            counts[reason] = counts.get(reason, 0) + len(sessions)
    return counts


def open_session(file: SessionFile) -> State:
    """The folder's name and the table have told all there is."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


class _Message(msgspec.Struct):
    type: str = ""


class _Head(msgspec.Struct):
    """What tells whether a line may hold something said; the rest is passed over without being built."""

    timestamp: float = 0.0
    message: _Message | None = None


_head = msgspec.json.Decoder(_Head).decode


def glance(line: bytes, state: State) -> bool:
    """Whether nothing was said in a line, told without decoding all of it; `read` would pass it over.

    False means: decode it whole. Raises DecodeError for what is no JSON.
    """
    try:
        head = _head(line)
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it
    if head.message is None or head.message.type not in _INVISIBLE_MESSAGES:
        return False
    state.at_s = _seconds(head.timestamp) or state.at_s
    return True


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a prompt, and one for each run of text of an answer."""
    for record in records:
        line: dict[str, Any] = record if type(record) is dict else {}
        message = line.get("message")
        message = message if type(message) is dict else {}
        payload = message.get("payload")
        payload = payload if type(payload) is dict else {}
        match message.get("type"):
            case "TurnBegin":
                yield from _turn_begins(payload, line, state)
            case "SteerInput":
                yield from _said(Actor.USER, _typed(payload), line, state)
            case "ContentPart":
                yield from _part(payload, line, state)
            case "StepBegin":
                state.step += 1
            case "StepInterrupted":
                state.open_turns = 0
            case "TurnEnd":
                state.turns_end = True
                state.open_turns = max(0, state.open_turns - 1)
            case "CompactionEnd":
                at = line.get("timestamp")
                ref = f"compaction@{at!r}" if _seconds(at) else ""
                yield _mark(state, MarkKind.COMPACTED, said_at=from_epoch_s(at), source_ref=ref)
            case str(kind):
                if kind not in _INVISIBLE_MESSAGES:
                    state.met_unknown(kind)
            case _ if line.get("type") == "metadata":
                state.turns_end = _version(line.get("protocol_version")) >= _TURNS_END
            case _:
                state.met_unknown("a line that is no message" if line else record)
        state.at_s = _seconds(line.get("timestamp")) or state.at_s


def _turn_begins(payload: dict[str, Any], line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    """A person's prompt; or one that a command like `/init` makes at once, within the turn that called it."""
    at = line.get("timestamp")
    if state.turns_end and state.open_turns and 0 <= _seconds(at) - state.at_s <= _AT_ONCE_S:
        state.open_turns += 1
        return
    state.open_turns = 1
    began = repr(at) if _seconds(at) else ""
    if began != state.turn_at:
        state.turn_at = began
        state.said = 0
    yield from _said(Actor.USER, _typed(payload), line, state)


def _typed(payload: dict[str, Any]) -> str:
    """What a person typed; "" for a notice of the program, which comes by the same way."""
    content = payload.get("user_input")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    text = "\n".join(text for text in texts if isinstance(text, str) and not _MEDIA_TAG.fullmatch(text))
    return "" if _NOTICE.fullmatch(text) else text


def _part(payload: dict[str, Any], line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    kind, text = payload.get("type"), payload.get("text")
    if kind == "text":
        if isinstance(text, str):
            yield from _said(Actor.ASSISTANT, text, line, state)
    elif not isinstance(kind, str) or kind not in _INVISIBLE_PARTS:
        state.met_unknown(f"ContentPart/{kind}" if isinstance(kind, str) else "ContentPart without a type")


def _said(actor: Actor, text: str, line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    said_at = from_epoch_s(line.get("timestamp"))
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=said_at)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    state.said += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        # Kept by a copy in another session, which no number of the line or the session is.
        source_ref=f"{state.turn_at}/{state.said}" if state.turn_at else "",
        message_ref=f"{state.session_id}/{state.step}" if actor is Actor.ASSISTANT else "",
        said_at=said_at,
        cwd=state.cwd,
    )


def _mark(state: State, kind: MarkKind, *, said_at: str, source_ref: str = "") -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=said_at,
        cwd=state.cwd,
    )


def _seconds(value: object) -> float:
    """A moment of a record; 0 when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
        return 0.0
    return float(value)


def _version(value: object) -> tuple[int, ...]:
    """`1.10` as numbers to compare; nothing when it is no version."""
    numbers = value.split(".") if isinstance(value, str) else []
    return tuple(
        int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 9
    )


def _directories(home: Path, roots: Sequence[str]) -> dict[str, str]:
    """Name of a folder of sessions → the directory they were held in, on this machine."""
    table = home / "kimi.json"
    depends_on(table)
    places = [root.rstrip("/\\") or root for root in roots]
    match read_document(table):
        case {"work_dirs": [*entries]}:
            for entry in entries:
                match entry:
                    case {"path": str(path)} if entry.get("kaos", _LOCAL) == _LOCAL:
                        places.append(path)
    return {
        hashlib.md5(place.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(): place
        for place in places
    }


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, links last; empty when it is none, or went meanwhile."""
    try:
        entries = sorted(listed(parent), key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError:
        return []
    return [parent / entry.name for entry in entries if is_folder(entry)]
