"""Qwen Code: one file a session, a record a line; sessions of a directory lie in a folder together.

A fork of Gemini CLI with a log of its own. Telemetry is in the same file and repeats every answer in full; it
is never read.

Format and how we know it: docs/reference/agents/qwen-code.md.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.listing import paths
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("qwen-code")
TITLE = "Qwen Code"
KNOWN_INVISIBLE = frozenset(
    {
        "system/at_command",
        "system/attribution_snapshot",
        "system/custom_title",
        "system/file_history_snapshot",
        "system/notification",
        "system/rewind",
        "system/session_model",
        "system/slash_command",
        "system/ui_telemetry",
        "tool_result",
    }
)

_SEPARATORS = "/\\"
_RECENT = 32  # records that one which is stated again is compared with


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    recent: list[str] = msgspec.field(default_factory=list)  # `uuid digest` of the last turns and marks


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$QWEN_RUNTIME_DIR`, else `$QWEN_HOME`, else `~/.qwen`. What its settings say is not asked."""
    return Path(environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME") or user_home / ".qwen")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that began in a root, below it or above it, as far as their folder's name tells it.

    Sorted by path. Different directories share a name; the records say which one it was.
    """
    exact = {encoded(path) for root in roots for path in _and_above(root)}
    below = tuple(encoded(root.rstrip(_SEPARATORS)) + "-" for root in roots)
    seen: set[str] = set()
    for folder in paths(home / "projects", folders=True):
        name = folder.name.lower()
        if name not in exact and not name.startswith(below):
            continue
        for path in paths(folder / "chats"):
            real = os.path.realpath(path)
            if path.suffix == ".jsonl" and real not in seen:
                seen.add(real)
                yield SessionFile(path=path, session_id=path.stem)


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs a listing a folder."""
    older = sum(
        path.name.startswith("session-")
        for folder in paths(home / "tmp", folders=True)
        for path in paths(folder / "chats")
    )
    return {"sessions in the form of an older version (tmp/)": older} if older else {}


def open_session(file: SessionFile) -> State:
    """The file's name tells the session; each record tells its directory."""
    return State(session_id=storable(file.session_id), cwd=storable(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and answers, in file order, which is the order they were said in.

    A step back makes the tree of records branch; what was said before it was said.
    """
    for given in records:
        record: dict[str, Any] = given if type(given) is dict else {}
        kind = _kind(record)
        if kind in KNOWN_INVISIBLE or record.get("isSidechain") is True:
            continue
        _envelope(record, state)
        if kind == "user":
            yield from _said(Actor.USER, _prompt(record), record, state)
        elif kind == "assistant":
            state.model = storable(record.get("model")) or state.model
            yield from _said(Actor.ASSISTANT, "".join(_texts(record)), record, state)
        elif kind == "system/chat_compression":
            yield from _compaction(record, state)
        else:
            state.met_unknown(kind or given)


def encoded(path: str) -> str:
    """The folder name of a directory: all but ASCII letters and digits is a dash; case does not count here.

    Counted in UTF-16 code units, so a character beyond the basic plane is two dashes.
    """
    dashed = (
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in path
    )
    return "".join(dashed).lower()


def _kind(record: dict[str, Any]) -> str:
    kind, subtype = record.get("type"), record.get("subtype")
    if not isinstance(kind, str):
        return ""
    return f"{kind}/{subtype}" if isinstance(subtype, str) and subtype else kind


def _envelope(record: dict[str, Any], state: State) -> None:
    state.session_id = storable(record.get("sessionId")) or state.session_id
    state.cwd = storable(record.get("cwd")) or state.cwd
    state.agent_version = storable(record.get("version")) or state.agent_version
    state.git_branch = storable(record.get("gitBranch"))


def _prompt(record: dict[str, Any]) -> str:
    """What was typed: the first text. Those behind it are hooks' context and files that an `@` brought in.

    Newer versions also say what they displayed.
    """
    match record.get("systemPayload"):
        case {"displayText": str(text)}:
            return text
    return next(_texts(record), "")


def _texts(record: dict[str, Any]) -> Iterator[str]:
    match record.get("message"):
        case {"parts": [*parts]}:
            for part in parts:
                match part:
                    case {"text": str(text), **rest} if not rest.get("thought"):
                        yield text


def _said(actor: Actor, text: str, record: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    ref = _native_ref(record, text, state)
    if ref is None:
        return
    said_at = parse_utc(record.get("timestamp"))
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=said_at)
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
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        model=state.model,
        agent_version=state.agent_version,
    )


def _compaction(record: dict[str, Any], state: State) -> Iterator[SessionMark]:
    ref = _native_ref(record, "", state)
    if ref is not None:
        said_at = parse_utc(record.get("timestamp"))
        yield _mark(state, MarkKind.COMPACTED, said_at=said_at, source_ref=ref)


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
        model=state.model,
        agent_version=state.agent_version,
    )


def _native_ref(record: dict[str, Any], text: str, state: State) -> str | None:
    """The record's `uuid`, or None for a record that is stated again.

    The agent takes records of one `uuid` for pieces of one: another text under it is another turn.
    """
    ref = storable(record.get("uuid"))
    if not ref:
        return ""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    pieces = [known for known in state.recent if known.startswith(f"{ref} ")]
    if f"{ref} {digest}" in pieces:
        return None
    state.recent = [*state.recent[1 - _RECENT :], f"{ref} {digest}"]
    return f"{ref}#{len(pieces) + 1}" if pieces else ref


def _and_above(root: str) -> Iterator[str]:
    """`root` and the directories it lies in, by its text alone: a path of either kind of system."""
    path = root.rstrip(_SEPARATORS)
    while path and not path.endswith(":"):
        yield path
        path = path[: max(path.rfind("/"), path.rfind("\\"), 0)]
    yield path + "/"  # the top, `/` or `C:\\`, is the one that ends with a separator
