"""The store of OpenCode, which Kilo CLI has too, as a fork of it: one database, and before that a tree of files.

A session has messages, a message has parts. Rows are changed in place while an answer is being written, so a
message is read when it is settled: an answer that is finished, a prompt that has its text, or either when a
later answer was begun. Where reading goes on is a moment and an id, kept in the reader's state.

Format and how we know it: docs/reference/agents/opencode.md.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file, paths
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import Database, DatabaseUnreadable, database, json_object
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import MAX_INTEGER, storable
from conversation_esaa.timestamps import from_epoch_ms
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conversation_esaa.agents.tree import Tree
    from conversation_esaa.ids import AgentId

KNOWN_INVISIBLE = frozenset(
    {
        "agent",
        "file",
        "patch",
        "reasoning",
        "retry",
        "snapshot",
        "step-finish",
        "step-start",
        "subtask",
        "tool",
    }
)

_PAGE = 100  # messages in one read
# Sessions of persons, the oldest first: a fork comes after what it was copied from. Behind id and directory
# stands what tells whether something changed: each a look at the end of an index.
_SESSIONS = """
SELECT id, directory, {updated},
       (SELECT max(time_created) FROM message WHERE session_id = s.id),
       (SELECT total(changed) FROM (
            SELECT {changed} AS changed FROM message WHERE session_id = s.id
            ORDER BY time_created DESC, id DESC LIMIT 8
       )),
       (SELECT max(rowid) FROM part WHERE session_id = s.id)
FROM session AS s WHERE {parent} IS NULL OR {parent} = '' ORDER BY {created}, id
"""
_SESSION = "SELECT directory, {parent}, {version}, {created} FROM session WHERE id = ?"

# What is asked for of parts: the kind of each, and the content of those that may be conversation.
_PARTS = """
SELECT message_id,
       CASE WHEN json_valid(data) THEN json_extract(data, '$.type') END,
       CASE WHEN json_valid(data) THEN
           CASE WHEN json_extract(data, '$.type') IN ('text', 'compaction') THEN data END
       END
FROM part WHERE message_id IN ({marks}) ORDER BY message_id, id
"""
_MESSAGES = """
SELECT id, time_created, data FROM message
WHERE session_id = ? AND (time_created > ? OR (time_created = ? AND id > ?))
ORDER BY time_created, id LIMIT ?
"""


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    began_ms: int = 0
    read_ms: int = -1  # when the last message that was read was made
    read_id: str = ""


def session_files(home: Path, roots: Sequence[str], *, program: str) -> Iterator[SessionFile]:
    """The sessions in the databases and in the older tree that began in a root, below it or above it.

    home      the data directory, or a database.
    program   what the database is called after.

    Sub-agents' sessions are left out. A database that cannot be asked now is one source without a session:
    whoever reads it hears why.
    """
    wanted = [_comparable(root) for root in roots]
    for path in _databases(home, program):
        try:
            with database(path) as asked:
                sessions = list(_sessions(asked))
        except FileNotFoundError:
            continue
        except DatabaseUnreadable:
            yield SessionFile(path=path, kind=Kind.SQLITE)
            continue
        yield from (file for file in sessions if _is_wanted(file.cwd, wanted))
    yield from _trees(home / "storage", wanted)


def open_session(file: SessionFile) -> State:
    """The first record tells the rest."""
    return State(session_id=storable(file.session_id), cwd=storable(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The session, and its settled messages behind the one that was read last. Short reads, a page each."""
    if not isinstance(state, State):
        raise TypeError(state)
    known = database.columns("session")
    query = _SESSION.format(
        parent=_optional("parent_id", known),
        version=_optional("version", known),
        created=_optional("time_created", known),
    )
    for directory, parent, version, created in database.rows(query, file.session_id):
        time = {"created": created}
        yield {"session": {"directory": directory, "parentID": parent, "version": version, "time": time}}
    yield from _settled(_messages(database, file.session_id, state.read_ms, state.read_id))


def documents(tree: Tree, file: SessionFile) -> Iterator[Any]:
    """The same of a session in the older tree, whose names are in the order of time."""
    yield {"session": tree.document(file.path)}
    yield from _settled(_message_files(tree, file))


def read(records: Iterable[Any], state: State, name: AgentId) -> Iterator[Turn | SessionMark]:
    """A turn a message, in the order they were made. A sub-agent's session gives nothing."""
    for record in records:
        match record:
            case {"session": dict(session)}:
                _header(session, state)
            case {"message": dict(message), "parts": [*parts], "id": str(ref), "made_ms": int(made_ms)}:
                state.read_id, state.read_ms = storable(ref), int(min(max(made_ms, -1), MAX_INTEGER))
                if not state.sidechain:
                    yield from _message(message, parts, state, name)
            case _:
                state.met_unknown("a row of no known kind")


def _header(session: dict[str, Any], state: State) -> None:
    state.cwd = storable(session.get("directory")) or state.cwd
    state.agent_version = storable(session.get("version"))
    state.sidechain = bool(session.get("parentID"))
    state.began_ms = _created(session) or state.began_ms


def _message(
    message: dict[str, Any], parts: list[Any], state: State, name: AgentId
) -> Iterator[Turn | SessionMark]:
    texts: list[str] = []
    compacted: Any = None  # the part that says so
    for part in parts:
        match part:
            case {"type": "text", "text": str(text), **rest}:
                if text.strip() and not rest.get("synthetic") and not rest.get("ignored"):
                    texts.append(text)
            case {"type": "compaction"}:
                compacted = part
            case {"type": str(kind)} if kind in KNOWN_INVISIBLE:
                pass
            case {"type": str(kind)}:
                state.met_unknown(f"part/{kind}")
            case _:
                state.met_unknown("a part that is no JSON object with a type")
    text = "\n\n".join(texts)
    state.model = _model(message) or state.model
    match message.get("role"):
        case "user" if compacted:
            yield _mark(
                state,
                name,
                MarkKind.COMPACTED,
                at_ms=state.read_ms,
                source_ref=state.read_id,
                trigger="auto" if compacted.get("auto") else "manual",
            )
        case "user":
            yield from _said(Actor.USER, text, state, name)
        case "assistant":
            if not message.get("summary") and message.get("mode") != "compaction":
                yield from _said(Actor.ASSISTANT, text, state, name)
        case role:
            state.met_unknown(f"role/{role}" if isinstance(role, str) else "a message without a role")


def _model(message: dict[str, Any]) -> str:
    match message:
        case {"modelID": str(model)} | {"model": {"modelID": str(model)}}:
            return storable(model)
        case _:
            return ""


def _said(actor: Actor, text: str, state: State, name: AgentId) -> Iterator[Turn | SessionMark]:
    if not text:
        return
    if not state.started:
        state.started = True
        yield _mark(state, name, MarkKind.STARTED, at_ms=state.began_ms or state.read_ms)
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=name,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=state.read_id,
        copy_keys=(_copy_key(actor, text, state),),
        said_at=from_epoch_ms(state.read_ms),
        cwd=state.cwd,
        model=state.model,
        agent_version=state.agent_version,
    )


def _mark(
    state: State, name: AgentId, kind: MarkKind, *, at_ms: int, source_ref: str = "", trigger: str = ""
) -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=name,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=from_epoch_ms(at_ms),
        cwd=state.cwd,
        model=state.model,
        agent_version=state.agent_version,
        trigger=trigger,
    )


def _copy_key(actor: Actor, text: str, state: State) -> str:
    """A fork copies messages under new ids and keeps only when they were made."""
    parts = (state.cwd, str(actor), str(state.read_ms), text)
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return f"made:{hashlib.sha256(joined).hexdigest()[:32]}"


def _settled(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those up to the first that may still change; it holds back what stands behind it, too."""
    held: list[dict[str, Any]] = []
    for record in records:
        if held and record["message"].get("role") == "assistant":
            yield from held  # whatever they lack, they'll never get it: a later answer was begun
            held = []
        if held or not _is_settled(record):
            held.append(record)
        else:
            yield record


def _is_settled(record: dict[str, Any]) -> bool:
    message = record["message"]
    if message.get("role") == "assistant":
        time = message.get("time")
        return bool(message.get("finish") or (isinstance(time, dict) and time.get("completed")))
    return any(part.get("type") in ("text", "compaction") for part in record["parts"])  # written after it


# --- The database


def _databases(home: Path, program: str) -> list[Path]:
    """`<program>.db`, and `<program>-<channel>.db` of other channels of the program, sorted."""
    if is_file(home):
        return [home] if home.name.endswith(".db") else []
    pattern = re.compile(rf"{re.escape(program)}(-[\w.-]+)?\.db")
    return [path for path in paths(home) if pattern.fullmatch(path.name)]


def _sessions(asked: Database) -> Iterator[SessionFile]:
    """Every session of a person, whatever its directory."""
    known, of_messages = asked.columns("session"), asked.columns("message")
    if not known and not of_messages and _is_empty(asked.path):
        return
    query = _SESSIONS.format(
        parent=_optional("parent_id", known),
        updated=_optional("time_updated", known),
        created=_optional("time_created", known),
        changed=_optional("time_updated", of_messages),
    )
    for session_id, directory, *changes in asked.rows(query):
        if isinstance(session_id, str) and isinstance(directory, str):
            yield SessionFile(
                path=asked.path,
                session_id=session_id,
                cwd=directory,
                kind=Kind.SQLITE,
                revision=" ".join(map(str, changes)),
            )


def _messages(database: Database, session_id: str, after_ms: int, after_id: str) -> Iterator[dict[str, Any]]:
    while True:
        page = database.rows(_MESSAGES, session_id, after_ms, after_ms, after_id, _PAGE)
        marks = ", ".join("?" * len(page))
        parts: dict[str, list[Any]] = {ref: [] for ref, _, _ in page}
        for ref, kind, data in database.rows(_PARTS.format(marks=marks), *parts) if page else ():
            parts[ref].append({"type": kind, **json_object(data)})
        for ref, made_ms, data in page:
            yield {"id": ref, "made_ms": made_ms, "message": json_object(data), "parts": parts[ref]}
        if len(page) < _PAGE:
            return
        after_id, after_ms, _ = page[-1]


def _optional(column: str, known: set[str]) -> str:
    """A column's name, or the SQL for nothing where a version has no such column."""
    return column if column in known else "NULL"


def _is_empty(path: Path) -> bool:
    """Whether it is a file that a program has made and not written to."""
    return path.stat().st_size == 0


# --- The older tree


def _trees(storage: Path, wanted: Sequence[str]) -> Iterator[SessionFile]:
    for project in paths(storage / "session", folders=True):
        for path in paths(project):
            if path.suffix != ".json":
                continue
            depends_on(path)
            session = read_document(path)
            directory = storable(session.get("directory"))
            if session.get("parentID") or not _is_wanted(directory, wanted):
                continue
            session_id = storable(session.get("id")) or path.stem
            yield SessionFile(
                path=path,
                session_id=session_id,
                cwd=directory,
                kind=Kind.TREE,
                beside=tuple(_where_news_show(storage, session_id)),
            )


def _where_news_show(storage: Path, session_id: str) -> Iterator[str]:
    """Directories that change with a new message, and with a new part of the newest one.

    The session's own file changes with each prompt; to look at every part would cost too much.
    """
    messages = storage / "message" / session_id
    yield str(messages)
    for newest in paths(messages)[-1:]:
        yield str(newest)
        yield str(storage / "part" / newest.stem)


def _message_files(tree: Tree, file: SessionFile) -> Iterator[dict[str, Any]]:
    storage = file.path.parents[2]
    for path in paths(storage / "message" / file.session_id):
        if path.suffix != ".json" or not (message := tree.document(path)):
            continue
        ref = storable(message.get("id")) or path.stem
        parts = [tree.document(part) for part in paths(storage / "part" / ref) if part.suffix == ".json"]
        good = [part for part in parts if part]
        yield {"id": ref, "made_ms": _created(message), "message": message, "parts": good}


def _created(document: dict[str, Any]) -> int:
    match document.get("time"):
        case {"created": int(moment)} if not isinstance(moment, bool) and 0 <= moment <= MAX_INTEGER:
            return moment
        case _:
            return 0


# --- Both


def _is_wanted(cwd: str, wanted: Sequence[str]) -> bool:
    place = _comparable(cwd)
    return bool(cwd) and any(
        place == root or place.startswith(f"{root}/") or root.startswith(f"{place}/") for root in wanted
    )


def _comparable(path: str) -> str:
    """One spelling for comparing. It is a coarse one, for a gate judges each turn later: case and the form of
    Unicode do not count, nor the kind and the number of separators at the end.
    """
    return unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()
