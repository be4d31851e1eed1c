"""Goose: one database for all sessions; before late 2025 a file for each, an object a line.

It follows the program's source; it was not run. When a conversation is compacted, edited or imported, all of
its rows are taken out and put in anew, so a row's number names nothing.

Format and how we know it: docs/reference/agents/goose.md.
"""

from __future__ import annotations

import hashlib
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.jsonl import decode_line
from conversation_esaa.agents.listing import is_file, listed
from conversation_esaa.agents.places import Wanted
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import DatabaseUnreadable, database, json_array, json_object, keys_of
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId, digest_of
from conversation_esaa.text import strip_private
from conversation_esaa.timestamps import from_epoch_ms, from_epoch_s, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("goose")
TITLE = "Goose"
KNOWN_INVISIBLE = frozenset(
    {
        "actionRequired",
        "image",
        "frontendToolRequest",
        "redactedThinking",
        "systemNotification",
        "thinking",
        "toolConfirmationRequest",
        "toolRequest",
        "toolResponse",
    }
)

_ACTORS = {"user": Actor.USER, "assistant": Actor.ASSISTANT}
_OF_PERSONS = frozenset({"", "user", "terminal", "gateway", "acp"})
_AT_ONCE = 16  # messages that are read in one go; one may hold megabytes of a tool's output
_MS = 10**11  # seconds below, milliseconds above
_FIRST_LINE = 1_000_000  # bytes of a file of the older kind that are looked at for its directory
_COPY_RULES = "goose/1:"  # a change of what a copy key is made of is a change of this number


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    read: int = 0  # messages that were read
    digest: str = ""  # of their numbers
    began: str = ""
    alike: dict[str, int] = msgspec.field(default_factory=dict)  # refs of the last moment → how often


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$GOOSE_PATH_ROOT/data`, else Goose's directory for data, on macOS too that of Linux."""
    if given := environ.get("GOOSE_PATH_ROOT"):
        return Path(given, "data")
    if sys.platform == "win32":
        base = Path(environ.get("APPDATA") or user_home / "AppData" / "Roaming")
        return base / "Block" / "goose" / "data"
    return Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share") / "goose"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions of persons in a root or below it: those of the database, then older files that it has not.

    Sorted by id. A database that cannot be asked now is one source without a session: whoever reads it hears
    why.
    """
    wanted = Wanted(roots)
    imported: set[str] = set()
    store = home / "sessions" / "sessions.db"
    if is_file(store):
        try:
            with database(store) as source:
                found = _sessions(source)
                ours = [
                    (name, place, _revision(source, name, updated))
                    for name, kind, place, updated in found
                    if kind in _OF_PERSONS and wanted.holds(place)
                ]
        except DatabaseUnreadable:
            yield SessionFile(path=store, kind=Kind.SQLITE)
        else:
            imported = {name for name, _, _, _ in found}
            for name, place, revision in ours:
                yield SessionFile(path=store, session_id=name, cwd=place, kind=Kind.SQLITE, revision=revision)
    for path in _files(home / "sessions"):
        if path.stem not in imported and wanted.holds(place := _directory_of(path)):
            yield SessionFile(path=path, session_id=path.stem, cwd=place)


def open_session(file: SessionFile) -> State:
    """Discovery has told where; the first record tells the rest."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The session, and its messages behind those that were read.

    When the session no longer begins with the rows that were read, all of it is given again.
    """
    assert isinstance(state, State)
    for session in database.records("SELECT * FROM sessions WHERE id = ?", file.session_id):
        yield {"session": session}
    query = "SELECT id FROM messages WHERE session_id = ? ORDER BY id"
    numbers = [str(number) for (number,) in database.rows(query, file.session_id)]
    begin = state.read if _digest(numbers[: state.read]) == state.digest else 0
    if not begin:
        state.alike = {}
    rest = iter(numbers[begin:])
    while batch := list(islice(rest, _AT_ONCE)):
        query = "SELECT * FROM messages WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        for message in database.records(query, keys_of(batch)):
            content, metadata = (
                json_array(message.get("content_json")),
                json_object(message.get("metadata_json")),
            )
            yield {
                "id": message.get("message_id"),
                "role": message.get("role"),
                "created": message.get("created_timestamp"),
                "content": content,
                "metadata": metadata,
            }
    state.read, state.digest = len(numbers), _digest(numbers)


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """A turn a message: its visible texts. A message of either kind of storage looks the same."""
    for record in records:
        match record:
            case {"session": dict(session)}:
                _describe(session, state)
            case {"role": _, "content": [*content]}:
                yield from _message(record, content, state)
            case {"working_dir": str(place)}:
                state.cwd = without_surrogates(place)
            case _:
                state.met_unknown("record")


def _describe(session: dict[str, Any], state: State) -> None:
    if isinstance(place := session.get("working_dir"), str) and place:
        state.cwd = without_surrogates(place)
    state.began = parse_utc(session.get("created_at"))
    match json_object(session.get("model_config_json")):
        case {"model_name": str(model)}:
            state.model = without_surrogates(model)


def _message(message: dict[str, Any], content: list[Any], state: State) -> Iterator[Turn | SessionMark]:
    role = message["role"]
    actor = _ACTORS.get(role) if isinstance(role, str) else None
    match message.get("metadata"):
        case {"userVisible": False}:
            return
    if actor is None:
        state.met_unknown(role)
        return
    text = "\n".join(_texts(content, state))
    if not text or text.isspace():
        return
    said_at = _moment(message.get("created"))
    if not state.started:
        state.started = True
        yield _mark(state, said_at)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    public = without_surrogates(strip_private(text)[0])  # nothing is kept of the rest, not even a digest
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=_ref(message.get("id"), said_at, actor, public, state),
        copy_keys=(f"{_COPY_RULES}{digest_of(said_at, actor, public)[:32]}",) if said_at else (),
        said_at=said_at,
        cwd=state.cwd,
        model=state.model if actor is Actor.ASSISTANT else "",
    )


def _mark(state: State, said_at: str) -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=MarkKind.STARTED,
        said_at=state.began or said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _ref(name: object, said_at: str, actor: Actor, text: str, state: State) -> str:
    """What survives that rows are replaced. Sessions are numbered by the day and a new database begins anew, so
    the moment is a part of it; of equal messages in one second the number is.
    """
    if not said_at:
        return ""  # the ordinal has to do
    if isinstance(name, str) and name:
        return f"{state.session_id}@{said_at}/{without_surrogates(name)}"
    ref = f"{state.session_id}@{said_at}/{actor}/{digest_of(text)[:16]}"
    if not all(other.startswith(f"{state.session_id}@{said_at}/") for other in state.alike):
        state.alike = {}
    count = state.alike.get(ref, 0)
    if len(state.alike) < 100:
        state.alike = {**state.alike, ref: count + 1}
    return f"{ref}/{count}" if count else ref


def _texts(content: list[Any], state: State) -> Iterator[str]:
    for part in content:
        match part:
            case {"type": "text", "text": str(text)}:
                if text:
                    yield text
            case {"type": str(kind)} if kind in KNOWN_INVISIBLE:
                pass
            case {"type": kind}:
                state.met_unknown(kind)
            case _:
                state.met_unknown("content")


def _moment(value: object) -> str:
    if isinstance(value, int | float) and value > _MS:
        return from_epoch_ms(value)
    return from_epoch_s(value)


def _sessions(source: Database) -> list[tuple[str, str, str, str]]:
    """Id, type, directory and the moment of the last change of every session, by id."""
    query = "SELECT id, session_type, working_dir, updated_at FROM sessions ORDER BY id"
    if "session_type" not in source.columns("sessions"):
        query = "SELECT id, '', working_dir, updated_at FROM sessions ORDER BY id"
    return [
        (name, kind or "", without_surrogates(place), str(updated))
        for name, kind, place, updated in source.rows(query)
        if isinstance(name, str) and isinstance(place, str)
    ]


def _revision(source: Database, session: str, updated: str) -> str:
    """Another one whenever a message came or all were put in anew. Costs the index alone."""
    query = "SELECT count(*), max(id) FROM messages WHERE session_id = ?"
    ((count, last),) = source.rows(query, session)
    return f"{updated}/{count}/{last}"


def _files(folder: Path) -> list[Path]:
    """Sessions of the older kind, sorted."""
    try:
        return sorted(Path(entry.path) for entry in listed(folder) if entry.name.endswith(".jsonl"))
    except OSError:
        return []


def _directory_of(path: Path) -> str:
    """What the first line of a file states."""
    try:
        with path.open("rb") as file:
            records = decode_line(file.readline(_FIRST_LINE))
    except OSError:
        return ""
    place = records[0].get("working_dir") if records else ""
    return without_surrogates(place) if isinstance(place, str) else ""


def _digest(numbers: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(numbers).encode()).hexdigest()[:32] if numbers else ""
