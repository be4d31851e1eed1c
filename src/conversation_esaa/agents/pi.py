"""pi: one file a session, one JSON object a line, a tree of entries in the order they were written.

`/tree` lets a session go on from an earlier entry. The entries of the branch that was left stay in the file,
and were said, so all of them are read, in file order.

Format and how we know it: docs/reference/agents/pi.md.
"""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.listing import entries, is_file, is_folder, logs
from conversation_esaa.agents.places import letters
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_ms, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("pi")
TITLE = "pi"
_INVISIBLE_ROLES = frozenset(
    {
        "toolResult",
        "bashExecution",
        "custom",
        "hookMessage",
        "branchSummary",
        "compactionSummary",
        "system",
    }
)
_INVISIBLE_ENTRIES = frozenset(
    {"branch_summary", "custom", "custom_message", "label", "session_info", "thinking_level_change"}
)
KNOWN_INVISIBLE = frozenset({*_INVISIBLE_ENTRIES, *(f"message/{role}" for role in _INVISIBLE_ROLES)})

_ANCESTORS = 32  # a fork of a fork of …
_SKILL = '<skill name="'
_SKILL_END = "\n</skill>"


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    header: bool = False  # the first `session` entry was met: it decides whose session this is
    began_at: str = ""
    forked_from: str = ""
    here_since: str = ""  # what a fork copied and is older was said in another directory


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$PI_CODING_AGENT_SESSION_DIR` (the sessions alone), `$PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    moved = environ.get("PI_CODING_AGENT_SESSION_DIR") or environ.get("PI_CODING_AGENT_DIR")
    if not moved:
        return user_home / ".pi" / "agent"
    if moved == "~" or moved.startswith("~/"):  # as pi reads it
        return user_home / moved[2:]
    return Path(moved)


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that began in a root or below it, sorted by path; those outside a folder of a directory all.

    Costs a listing of `home`, of its sessions and of each folder that may be a root's.
    """
    wanted = [letters(root) for root in roots]
    found: list[Path] = []
    seen: set[str] = set()
    for base in (home, home / "sessions"):
        found += logs(base, seen)
        for folder in _folders(base):
            if folder.name.startswith("--") and any(letters(folder.name).startswith(root) for root in wanted):
                found += logs(folder, seen)
    for path in sorted(found, key=str):
        yield SessionFile(path=path, session_id=_session_of(path.stem))


def open_session(file: SessionFile) -> State:
    """The header in the file knows better; the name is for files that lost it.

    Costs the first line of the file and, of a fork, of the files that it descends from.
    """
    return State(
        session_id=without_surrogates(file.session_id),
        cwd=without_surrogates(file.cwd),
        here_since=_here_since(file.path),
    )


def _here_since(path: Path) -> str:
    """Since when all that a session's file holds was said in its directory; "" when all was.

    A fork into another directory copies its parent's entries, which state none, below a header that states
    the new one. An ancestor whose file is gone may have been such a fork: then its part is not ours to tell.
    """
    header = _header(path)
    for _ in range(_ANCESTORS):
        parent = _parent(header)
        if not parent.name:
            return ""
        beside = path.parent / parent.name
        path = beside if is_file(beside) else path.parent.parent / parent.parent.name / parent.name
        above = _header(path)
        if not above or above.get("cwd") != header.get("cwd"):
            break
        header = above
    return parse_utc(header.get("timestamp"))


def _header(path: Path) -> dict[str, Any]:
    """The first record of a session's file; {} when there is none to read."""
    try:
        with path.open("rb") as file:
            return dict(next(read_records(file, Lines()), {}))
    except (OSError, ValueError):  # a name may hold what no file system takes
        return {}


def _parent(header: dict[str, Any]) -> PurePosixPath:
    """The file that a fork was made of, as its header states it."""
    return PurePosixPath(storable(header.get("parentSession")).replace("\\", "/"))


class _Message(msgspec.Struct):
    role: str = ""


class _Head(msgspec.Struct):
    """What tells whether a line may hold something said; the rest is passed over without being built."""

    type: str = ""
    message: _Message | None = None


_head = msgspec.json.Decoder(_Head).decode


def glance(line: bytes, state: State) -> bool:  # noqa: ARG001 - a line says it all
    """Whether nothing was said in a line, told without decoding all of it; `read` would pass it over.

    False means: decode it whole. Raises DecodeError for what is no JSON.
    """
    try:
        head = _head(line)
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it
    if head.type == "message":
        return head.message is not None and head.message.role in _INVISIBLE_ROLES
    return head.type in _INVISIBLE_ENTRIES


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a prompt, and one for each text block of an answer."""
    for record in records:
        entry: dict[str, Any] = record if type(record) is dict else {}
        match entry.get("type"):
            case "message":
                yield from _message(entry, state)
            case "session":
                _take_header(entry, state)
            case "compaction":
                yield from _compaction(entry, state)
            case "model_change":
                state.model = storable(entry.get("modelId")) or state.model
            case str(kind) if kind in _INVISIBLE_ENTRIES:
                pass
            case kind:
                state.met_unknown(kind if entry else record)


def _take_header(entry: dict[str, Any], state: State) -> None:
    if state.header:
        return
    state.header = True
    state.session_id = storable(entry.get("id")) or state.session_id
    state.cwd = storable(entry.get("cwd")) or state.cwd
    state.began_at = parse_utc(entry.get("timestamp"))
    state.forked_from = _session_of(_parent(entry).stem)


def _message(entry: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    message = entry.get("message")
    message = message if type(message) is dict else {}
    if state.here_since and parse_utc(entry.get("timestamp")) < state.here_since:
        return  # the file of an ancestor has it, with the directory it was said in
    match message.get("role"):
        case "user":
            typed = "\n".join(_texts(message.get("content")))
            yield from _said(Actor.USER, [_without_skill(typed)], entry, message, state)
        case "assistant":
            state.model = storable(message.get("model")) or state.model
            yield from _said(Actor.ASSISTANT, _texts(message.get("content")), entry, message, state)
        case str(role):
            if role not in _INVISIBLE_ROLES:
                state.met_unknown(f"message/{role}")
        case _:
            state.met_unknown("message without a role")


def _texts(content: object) -> list[str]:
    """The text of a message's content, a string or blocks; blank ones left out."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return [text for text in texts if isinstance(text, str) and text and not text.isspace()]


def _without_skill(text: str) -> str:
    """What a person typed behind `/skill:NAME`: pi stores the skill's own text before it, and hides it."""
    if not text.startswith(_SKILL):
        return text
    end = text.find(_SKILL_END)
    while end >= 0:
        behind = text[end + len(_SKILL_END) :]
        if not behind:
            return ""
        if behind.startswith("\n\n"):
            return behind.strip()
        end = text.find(_SKILL_END, end + 1)
    return text


def _said(
    actor: Actor, texts: Sequence[str], entry: dict[str, Any], message: dict[str, Any], state: State
) -> Iterator[Turn | SessionMark]:
    written = storable(entry.get("timestamp"))
    said_at = from_epoch_ms(message.get("timestamp")) or parse_utc(written)
    ref = _native_ref(entry, state)
    for number, text in enumerate(filter(None, texts), start=1):
        if not state.started:
            state.started = True
            at = state.began_at or said_at
            yield _mark(state, MarkKind.STARTED, said_at=at, forked_from=state.forked_from)
        ordinal = state.source_index
        state.source_index += 1
        state.visible += 1
        yield Turn(
            source=NAME,
            source_session_id=state.session_id,
            source_index=ordinal,
            actor=actor,
            text=text,
            source_ref=f"{ref}#{number}" if ref and number > 1 else ref,
            message_ref=ref if actor is Actor.ASSISTANT else "",
            copy_keys=(_copy_key(written, actor, number, text),) if written else (),
            said_at=said_at,
            cwd=state.cwd,
            model=state.model,
        )


def _compaction(entry: dict[str, Any], state: State) -> Iterator[SessionMark]:
    at = parse_utc(entry.get("timestamp"))
    if not state.forked_from or at >= state.began_at:  # else it was the parent's
        yield _mark(state, MarkKind.COMPACTED, said_at=at, source_ref=_native_ref(entry, state))


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


def _native_ref(entry: dict[str, Any], state: State) -> str:
    """`id@timestamp`: kept by a fork's copy, and unique, which the id's eight digits alone are not."""
    ref, written = storable(entry.get("id")), storable(entry.get("timestamp"))
    if not ref:
        return ""
    return f"{ref}@{written}" if written else f"{state.session_id}/{ref}"


def _copy_key(written: str, actor: Actor, number: int, text: str) -> str:
    """What an entry keeps when pi rewrites the file of an old version, where entries had no ids yet."""
    words = f"{written}\0{actor}\0{number}\0{text}".encode("utf-8", "surrogatepass")
    return f"pi/1:{hashlib.sha256(words).hexdigest()[:24]}"


def _session_of(stem: str) -> str:
    """The session's id, at the end of its file's name."""
    return stem.rpartition("_")[2]


def _folders(parent: Path) -> list[Path]:
    return [parent / entry.name for entry in entries(parent) if is_folder(entry)]
