"""Gemini CLI: a journal a session, or in older versions one JSON document that was written anew each time.

A line of the journal is a header, a message, a change of metadata, or a step back. A change may carry the whole
history again (a checkpoint: on resume, after compression), with other times and with reasoning inside; messages
that were met already keep what was read first.

Format and how we know it: docs/reference/agents/gemini-cli.md.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, paths
from conversation_esaa.agents.registry import ReaderState, Retention, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import storable
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("gemini-cli")
TITLE = "Gemini CLI"
KNOWN_INVISIBLE = frozenset({"error", "info", "warning"})

_KINDS = {".json": Kind.DOCUMENT, ".jsonl": Kind.JSONL}
_AGE, _HOURS = lazy(r"([0-9]{1,6})([hdwm])"), {"h": 1, "d": 24, "w": 168, "m": 720}
DEFAULT_RETENTION_DAYS = 30
_HASH = lazy(r"[0-9a-f]{64}")
_HOOK_CONTEXT = lazy(r"(?s)\s*<hook_context>.*?</hook_context>\s*")
_SESSION_CONTEXT, _SNAPSHOT = "<session_context>", "<state_snapshot>"
_REFERENCED = "--- Content from referenced files ---"  # what an @file brought in, up to the message's end
_NOT_TYPED = "System: Please continue."  # put in by the client after an empty answer
_RECENT = 64  # messages that one which is stated again is compared with


class State(ReaderState, kw_only=True):
    """What reading a journal has to remember."""

    began_at: str = ""
    recent: list[str] = msgspec.field(default_factory=list)  # native refs of the last turns and marks


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`.gemini` in `$GEMINI_CLI_HOME`, which takes the place of the home directory, else in that."""
    return Path(environ.get("GEMINI_CLI_HOME") or user_home) / ".gemini"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions of projects that are in a root, below it or above it, sorted by path.

    The project of a folder is stated by the file `.project_root` in it, else by `projects.json`; the name of
    an older folder is a hash, which is compared with those of all directories that are known.
    """
    wanted = [_comparable(root) for root in roots]
    known = _Projects(home, roots)
    for folder in _folders(home / "tmp"):
        cwd = known.directory(folder)
        if cwd and any(_related(_comparable(cwd), root) for root in wanted):
            for path in _session_paths(folder / "chats"):
                yield SessionFile(path=path, session_id=path.stem, cwd=cwd, kind=_KINDS[path.suffix])


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs a listing a folder."""
    known = _Projects(home, ())
    unknown = strange = 0
    for folder in _folders(home / "tmp"):
        chats = paths(folder / "chats")
        sessions = [path for path in chats if path.name.startswith("session-")]
        strange += sum(path.suffix not in _KINDS for path in sessions)
        if not known.directory(folder) and not _HASH.fullmatch(folder.name):
            unknown += sum(path.suffix in _KINDS for path in sessions)
    counts = {
        "sessions of unknown workspace": unknown,
        "session files that are neither .jsonl nor .json": strange,
    }
    return {reason: count for reason, count in counts.items() if count}


def open_session(file: SessionFile) -> State:
    """The folder has told the directory; all else is in the header."""
    return State(session_id=storable(file.session_id), cwd=storable(file.cwd))


def retention(home: Path) -> Retention | None:
    """`general.sessionRetention` of the user's settings: 30 days where nothing is set; None where it is off.

    At its start, Gemini CLI deletes sessions that are older. A number of sessions, which may be set as well, is not told.
    """
    file = home / "settings.json"
    said: Any = read_document(file).get("general")
    set_to: Any = said.get("sessionRetention") if isinstance(said, dict) else None
    set_to = set_to if isinstance(set_to, dict) else {}
    if set_to.get("enabled") is False:
        return None
    age = _AGE.fullmatch(set_to["maxAge"]) if isinstance(set_to.get("maxAge"), str) else None
    hours = int(age[1]) * _HOURS[age[2]] if age else DEFAULT_RETENTION_DAYS * 24
    return Retention(
        days=hours // 24,
        setting="general.sessionRetention.maxAge",
        file=str(file),
        by_default=age is None,
    )


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and answers, in file order. A sub-agent's session gives nothing.

    What was said before a step back (`$rewindTo`) was said; nothing is taken back.
    """
    for record in records:
        match record:
            case {"$rewindTo": _}:
                pass
            case {"id": _, "type": _}:
                yield from _message(record, state)
            case {"$set": dict(changes)}:
                _header(changes, state)
                yield from _checkpoint(changes.get("messages"), state)
            case {"sessionId": str()}:
                _header(record, state)
                yield from _checkpoint(record.get("messages"), state)
            case _:
                state.met_unknown("a line of no known kind")


def _header(record: dict[str, Any], state: State) -> None:
    if session_id := storable(record.get("sessionId")):
        state.session_id = session_id
    if kind := record.get("kind"):
        state.sidechain = kind == "subagent"
    state.began_at = state.began_at or parse_utc(record.get("startTime"))


def _checkpoint(messages: object, state: State) -> Iterator[Turn | SessionMark]:
    """A whole history: what stands behind the last message that was met is new.

    What stands before it was met long ago, or was put there by a compression.
    """
    if not isinstance(messages, list):
        return
    refs = [_native_ref(message, state) if isinstance(message, dict) else "" for message in messages]
    met = max((at for at, ref in enumerate(refs) if ref and ref in state.recent), default=-1)
    after_snapshot = False
    for message in messages[met + 1 :]:
        if not isinstance(message, dict):
            continue
        if after_snapshot and message.get("type") == "gemini":
            after_snapshot = False  # the model's thanks for its own summary, which no screen showed
            continue
        after_snapshot = _is_snapshot(message)
        yield from _message(message, state)


def _message(message: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    kind = message.get("type")
    if state.sidechain:
        return
    if kind == "user":
        if _is_snapshot(message):
            yield from _compaction(message, state)
        elif text := _prompt(message):
            yield from _said(Actor.USER, text, message, state)
    elif kind == "gemini":
        state.model = storable(message.get("model")) or state.model
        text = "".join(_texts(message.get("content")))
        yield from _said(Actor.ASSISTANT, text, message, state)
    elif not isinstance(kind, str) or kind not in KNOWN_INVISIBLE:
        state.met_unknown(kind)


def _prompt(message: dict[str, Any]) -> str:
    """What was typed; "" when nothing was.

    `displayContent` leaves out what was added for the model alone. Hooks' context stands in its own tags, its
    text escaped, so that it cannot close them.
    """
    content = message.get("content")
    if isinstance(content, list) and any(
        isinstance(part, dict) and "functionResponse" in part for part in content
    ):
        return ""
    kept: list[str] = []
    for text in _texts(message.get("displayContent") or content):
        if text.strip() == _REFERENCED:
            break
        begin = 0
        while found := _HOOK_CONTEXT.match(text, begin):
            begin = found.end()
        kept.append(text[begin:])
    typed = "".join(kept)
    not_typed = typed.lstrip().startswith(_SESSION_CONTEXT) or typed.strip() == _NOT_TYPED
    return "" if not_typed else typed


def _texts(content: object) -> Iterator[str]:
    """The visible texts of a message: a string, or the parts that are text and no reasoning."""
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str(text):
                yield text
            case {"text": str(text), **rest} if not rest.get("thought") and "functionCall" not in rest:
                yield text


def _is_snapshot(message: dict[str, Any]) -> bool:
    """Whether it is the summary that a compression put in place of what was said."""
    first = next(_texts(message.get("content")), "")
    return message.get("type") == "user" and first.lstrip().startswith(_SNAPSHOT)


def _said(actor: Actor, text: str, message: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    ref = _native_ref(message, state)
    if not text or text.isspace() or _seen(ref, state):
        return
    said_at = parse_utc(message.get("timestamp"))
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
        source_ref=ref,
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _compaction(message: dict[str, Any], state: State) -> Iterator[SessionMark]:
    ref = _native_ref(message, state)
    if not _seen(ref, state):
        yield _mark(state, MarkKind.COMPACTED, said_at=parse_utc(message.get("timestamp")), source_ref=ref)


def _mark(state: State, kind: MarkKind, *, said_at: str, source_ref: str = "") -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _native_ref(message: dict[str, Any], state: State) -> str:
    """`session/message`: an id is only said to be unique within its session."""
    ref = storable(message.get("id"))
    return f"{state.session_id}/{ref}" if ref else ""


def _seen(ref: str, state: State) -> bool:
    if not ref:
        return False
    if ref in state.recent:
        return True
    state.recent = [*state.recent[1 - _RECENT :], ref]
    return False


class _Projects:
    """Which directory the sessions of a folder were said in."""

    def __init__(self, home: Path, roots: Sequence[str]) -> None:
        path = home / "projects.json"
        depends_on(path)
        stated = read_document(path).get("projects")
        projects = stated if isinstance(stated, dict) else {}
        self._by_slug = {slug: place for place, slug in projects.items() if isinstance(slug, str)}
        self._by_hash = {_hash(place): place for place in (*projects, *roots)}

    def directory(self, folder: Path) -> str:
        """A path as text; "" when nothing tells it."""
        stated = folder / ".project_root"
        depends_on(stated)
        try:
            place = stated.read_text("utf-8").strip()
        except (OSError, ValueError):
            place = ""
        return storable(place or self._by_slug.get(folder.name) or self._by_hash.get(folder.name))


def _hash(place: str) -> str:
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()


def _session_paths(chats: Path) -> Iterator[Path]:
    """Session files, each real one once. Folders beside them hold the sessions of sub-agents."""
    seen: set[str] = set()
    for path in paths(chats):
        real = os.path.realpath(path)
        if path.name.startswith("session-") and path.suffix in _KINDS and real not in seen:
            seen.add(real)
            yield path


def _related(cwd: str, root: str) -> bool:
    return cwd == root or cwd.startswith(f"{root}/") or root.startswith(f"{cwd}/")


def _comparable(path: str) -> str:
    """One spelling for comparing. It is a coarse one, for a gate judges each turn later: case and the form of
    Unicode do not count, nor the kind and the number of separators at the end.
    """
    return unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, sorted, each real one once; empty when it is none, or went meanwhile."""
    found: dict[str, Path] = {}
    for path in paths(parent, folders=True):
        found.setdefault(os.path.realpath(path), path)
    return list(found.values())
