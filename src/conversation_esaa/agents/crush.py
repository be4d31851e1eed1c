"""Crush: a database in each project, a row for each session and each message.

It follows the program's source; it was not run. A message's row is written anew while an answer streams. No
row states a directory: the project's is that of the database, by Crush's own list of projects.

Format and how we know it: docs/reference/agents/crush.md.
"""

from __future__ import annotations

import hashlib
import os
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file
from conversation_esaa.agents.places import Wanted
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import DatabaseUnreadable, database, json_array, keys_of
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_ms, from_epoch_s
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("crush")
TITLE = "Crush"
KNOWN_INVISIBLE = frozenset({"tool", "system"})

_ACTORS = {"user": Actor.USER, "assistant": Actor.ASSISTANT}
_AT_ONCE = 16  # messages that are read in one go; one may hold megabytes of a tool's output
_MS = 10**11  # columns are seconds, though some are said to be milliseconds: above this they are


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    read: int = 0  # messages that were read to their end
    digest: str = ""  # of their ids
    began: str = ""


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CRUSH_GLOBAL_DATA`, else `crush` in the directory for data: the list of projects lies there."""
    if given := environ.get("CRUSH_GLOBAL_DATA"):
        return Path(given)
    if shared := environ.get("XDG_DATA_HOME"):
        return Path(shared, "crush")
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or user_home / "AppData" / "Local") / "crush"
    return user_home / ".local" / "share" / "crush"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions of persons in projects that are a root or lie below one, and in a root's own `.crush`.

    Sorted by path and id. A database that cannot be asked now is one source without a session: whoever reads
    it hears why.
    """
    wanted = Wanted(roots)
    stores: dict[Path, str] = {}
    for project, store in [*_projects(home), *((root, Path(root, ".crush", "crush.db")) for root in roots)]:
        if wanted.holds(project) and is_file(store):
            stores.setdefault(Path(os.path.realpath(store)), project)
    for store, project in sorted(stores.items()):
        try:
            with database(store) as source:
                found = [(name, _revision(source, name)) for name in _sessions(source)]
        except FileNotFoundError:
            continue
        except DatabaseUnreadable:
            found = [("", "")]
        for name, revision in found:
            yield SessionFile(path=store, session_id=name, cwd=project, kind=Kind.SQLITE, revision=revision)


def open_session(file: SessionFile) -> State:
    """The list of projects has told where; the first record tells the rest."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The session, and its messages behind those that were read, in the order in which they were made.

    An answer is given when it is finished or something follows it; until then it may still grow. When the
    session no longer begins with what was read, all of it is given again.
    """
    assert isinstance(state, State)
    for session in database.records("SELECT * FROM sessions WHERE id = ?", file.session_id):
        yield {"session": session}
    names = _messages(database, file.session_id)
    begin = state.read if _digest(names[: state.read]) == state.digest else 0
    done = begin
    rest = iter(enumerate(names[begin:], begin + 1))
    while batch := list(islice(rest, _AT_ONCE)):
        query = "SELECT * FROM messages WHERE id IN (SELECT value FROM json_each(?))"
        stored = {found["id"]: found for found in database.records(query, keys_of(name for _, name in batch))}
        for count, name in batch:
            message = stored.get(name)
            if message is None:
                continue  # deleted meanwhile
            parts = json_array(message.get("parts"))
            if (
                count == len(names)
                and message.get("role") == "assistant"
                and not _is_finished(message, parts)
            ):
                break
            done = count
            yield {"message": {**message, "parts": parts}}
    state.read, state.digest = done, _digest(names[:done])


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """A turn a message: its visible texts. A summary is a mark; its words are for the model."""
    for record in records:
        match record:
            case {"session": dict(session)}:
                state.began = _moment(session.get("created_at"))
                state.sidechain = bool(session.get("parent_session_id"))
            case {"message": dict(message)}:
                if not state.sidechain:
                    yield from _message(message, state)
            case _:
                state.met_unknown("record")


def _message(message: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    said_at = _moment(message.get("created_at"))
    name = message.get("id")
    ref = f"{state.session_id}/{without_surrogates(name)}" if isinstance(name, str) and name else ""
    if message.get("is_summary_message"):
        yield _mark(state, MarkKind.COMPACTED, said_at=said_at, source_ref=ref)
        return
    role = message.get("role")
    actor = _ACTORS.get(role) if isinstance(role, str) else None
    if actor is None:
        if role not in ("tool", "system"):
            state.met_unknown(role)
        return
    text = "\n".join(_texts(message.get("parts")))
    if not text or text.isspace():
        return
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=state.began or said_at)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    model = message.get("model")
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=ref,
        said_at=said_at,
        cwd=state.cwd,
        model=without_surrogates(model) if isinstance(model, str) else "",
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


def _texts(parts: object) -> Iterator[str]:
    for part in parts if isinstance(parts, list) else ():
        match part:
            case {"type": "text", "data": {"hidden": True}}:
                pass  # the program goes on in somebody's name
            case {"type": "text", "data": {"text": str(text)}} if text:
                yield text


def _is_finished(message: Mapping[str, Any], parts: Sequence[Any]) -> bool:
    return bool(message.get("finished_at")) or any(
        isinstance(part, dict) and part.get("type") == "finish" for part in parts
    )


def _moment(value: object) -> str:
    if isinstance(value, int | float) and value > _MS:
        return from_epoch_ms(value)
    return from_epoch_s(value)


def _projects(home: Path) -> Iterator[tuple[str, Path]]:
    """Each project that Crush was run in, with its database."""
    list_of_them = home / "projects.json"
    depends_on(list_of_them)
    match read_document(list_of_them):
        case {"projects": [*projects]}:
            for project in projects:
                match project:
                    case {"path": str(path), "data_dir": str(data)} if "\0" not in path + data:
                        yield without_surrogates(path), Path(path, data or ".crush", "crush.db")


def _sessions(source: Database) -> list[str]:
    """Ids of the sessions that are no other session's child: sub-agents, the making of titles."""
    query = "SELECT id FROM sessions WHERE parent_session_id IS NULL OR parent_session_id = '' ORDER BY id"
    return [name for (name,) in source.rows(query) if isinstance(name, str)]


def _messages(source: Database, session: str) -> list[str]:
    """The ids of a session's messages: by the row, for several share a second."""
    query = "SELECT id FROM messages WHERE session_id = ? ORDER BY rowid"
    return [name for (name,) in source.rows(query, session) if isinstance(name, str)]


def _revision(source: Database, session: str) -> str:
    """Another one whenever a message came or went, or the last one changed: earlier ones are finished."""
    ((count, last),) = source.rows("SELECT count(*), max(rowid) FROM messages WHERE session_id = ?", session)
    changed = source.rows("SELECT updated_at, length(parts) FROM messages WHERE rowid = ?", last)
    return "/".join(map(str, (count, last, *(changed[0] if changed else ()))))


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode("utf-8", "replace")).hexdigest()[:32] if names else ""
