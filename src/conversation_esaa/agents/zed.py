"""Zed's own agent: a database of threads, each one compressed document that is written anew each time.

It follows the program's source; it was not run. Threads are compressed with zstd, which Python can read from
3.14 on, or with the package `backports.zstd`. A document states no moments but that of the last change.

Format and how we know it: docs/reference/agents/zed.md.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.listing import is_file
from conversation_esaa.agents.places import Wanted
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import DatabaseUnreadable, database, json_object
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId, digest_of
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("zed")
TITLE = "Zed"
KNOWN_INVISIBLE = frozenset({"Resume", "system"})

_DECODERS = ("compression.zstd", "backports.zstd")
_LARGEST = 256 << 20  # bytes of a thread, decompressed
_ROLES = {"user": Actor.USER, "assistant": Actor.ASSISTANT}
_COPY_RULES = "zed/1:"  # a change of what a copy key is made of is a change of this number


class State(ReaderState, kw_only=True):
    """What reading a thread has to remember."""

    read: int = 0  # messages that were read
    digest: str = ""  # of them
    prompt: str = ""  # the id of the last prompt
    texts: int = 0  # of its answer, so far
    moment: str = ""


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """Zed's directory for data."""
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or user_home / "AppData" / "Local") / "Zed"
    if sys.platform == "darwin":
        return user_home / "Library" / "Application Support" / "Zed"
    return Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share") / "zed"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The threads of projects that have a folder in a root or below it. Sorted by id; without sub-agents'."""
    wanted, readable = Wanted(roots), _decoder() is not None
    store = _store(home)
    if not is_file(store):
        return
    with database(store) as source:
        for name, places, kind, revision in _threads(source):
            place = next(filter(wanted.holds, places), "")
            if place and (readable or kind != "zstd"):
                yield SessionFile(path=store, session_id=name, cwd=place, kind=Kind.SQLITE, revision=revision)


def unlisted(home: Path) -> dict[str, int]:
    """Threads of unknown folder, and those that this Python cannot decompress."""
    store = _store(home)
    if not is_file(store):
        return {}
    try:
        with database(store) as source:
            threads = _threads(source)
    except DatabaseUnreadable:
        return {}  # `session_files` says it
    counts = {
        "threads of unknown folder": sum(not places for _, places, _, _ in threads),
        "threads that Python 3.14, or the package backports.zstd, could read": sum(
            kind == "zstd" for _, _, kind, _ in threads if _decoder() is None
        ),
    }
    return {reason: count for reason, count in counts.items() if count}


def open_session(file: SessionFile) -> State:
    """The thread's row has told where; the first record tells the rest."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The thread without its messages, then those behind the ones that were read.

    When the thread no longer begins with what was read, all of it is given again. Only complete messages are
    in it.
    """
    assert isinstance(state, State)
    for kind, data in database.rows("SELECT data_type, data FROM threads WHERE id = ?", file.session_id):
        thread = json_object(_decompressed(data) if kind == "zstd" else data)
        messages = thread.pop("messages", None)
        yield {"thread": thread}
        if not isinstance(messages, list):
            return
        digests = [hashlib.sha256(_bytes(message)).hexdigest() for message in messages]
        if _digest(digests[: state.read]) != state.digest:
            state.read = state.source_index = state.texts = 0
            state.prompt = ""
        yield from ({"message": message} for message in messages[state.read :])
        state.read, state.digest = len(messages), _digest(digests)


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts, and each text of an answer; of older documents a turn a message."""
    for record in records:
        match record:
            case {"thread": dict(thread)}:
                state.moment = parse_utc(thread.get("updated_at")) or state.moment
                match thread.get("model"):
                    case {"model": str(model)}:
                        state.model = without_surrogates(model)
            case {"message": {"User": {"id": str(name), "content": [*content]}}}:
                state.prompt, state.texts = without_surrogates(name), 0
                yield from _said(
                    Actor.USER, "".join(_typed(content)), f"{state.session_id}/{state.prompt}", state
                )
            case {"message": {"Agent": {"content": [*content]}}}:
                for part in content:
                    match part:
                        case {"Text": str(text)}:
                            state.texts += 1
                            ref = f"{state.session_id}/{state.prompt}/{state.texts}"
                            yield from _said(Actor.ASSISTANT, text, ref, state)
            case {"message": {"role": str(role), "segments": [*segments], **rest}} if role in _ROLES:
                text = "\n".join(_segments(segments))
                number = rest.get("id")
                ref = f"{state.session_id}/{number}/{role}" if type(number) is int else ""
                yield from _said(_ROLES[role], text, ref, state)
            case {"message": "Resume" | {"role": "system"}}:
                pass
            case {"message": message}:
                state.met_unknown(next(iter(message), "message") if isinstance(message, dict) else message)
            case _:
                state.met_unknown("record")


def _said(actor: Actor, text: str, ref: str, state: State) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME,
            source_session_id=state.session_id,
            kind=MarkKind.STARTED,
            said_at=state.moment,
            cwd=state.cwd,
        )
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    # When Zed takes over an older document, its messages get new ids and keep their places.
    place = digest_of(state.session_id, str(ordinal), actor, without_surrogates(text))
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=ref,
        copy_keys=(f"{_COPY_RULES}{place[:32]}",),
        said_at=state.moment,
        cwd=state.cwd,
        model=state.model if actor is Actor.ASSISTANT else "",
    )


def _typed(content: list[Any]) -> Iterator[str]:
    """A prompt as it was typed: of a mention the name of its file, never the content."""
    for part in content:
        match part:
            case {"Text": str(text)}:
                yield text
            case {"Mention": {"uri": {"File": {"abs_path": str(path)}}}}:
                yield f"@{path.replace(chr(92), '/').rpartition('/')[2]}"


def _segments(segments: list[Any]) -> Iterator[str]:
    for segment in segments:
        match segment:
            case {"type": "text", "text": str(text)} if text:
                yield text


def _store(home: Path) -> Path:
    return home / "threads" / "threads.db"


def _threads(source: Database) -> list[tuple[str, list[str], str, str]]:
    """Id, folders, kind and revision of every thread that is no sub-agent's. Reads none of them."""
    there = source.columns("threads")
    query = "SELECT id, NULL, NULL, data_type, updated_at, length(data) FROM threads ORDER BY id"
    if {"parent_id", "folder_paths"} <= there:
        query = (
            "SELECT id, parent_id, folder_paths, data_type, updated_at, length(data) FROM threads ORDER BY id"
        )
    return [
        (name, without_surrogates(folders or "").split("\n") if folders else [], kind, f"{updated}/{length}")
        for name, parent, folders, kind, updated, length in source.rows(query)
        if isinstance(name, str) and not parent and isinstance(folders, str | None)
    ]


def _decoder() -> ModuleType | None:
    for name in _DECODERS:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _decompressed(data: object) -> bytes:
    """What `data` holds; nothing when it is damaged, or larger than a thread can be."""
    zstd = _decoder()
    if zstd is None or not isinstance(data, bytes):
        return b""
    try:
        found: bytes = zstd.ZstdDecompressor().decompress(data, max_length=_LARGEST)
    except (zstd.ZstdError, EOFError, ValueError):
        return b""
    return found


def _bytes(message: object) -> bytes:
    try:
        return msgspec.json.encode(message)
    except (UnicodeEncodeError, RecursionError):  # half a character
        return repr(message).encode("utf-8", "backslashreplace")


def _digest(digests: Sequence[str]) -> str:
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32] if digests else ""
