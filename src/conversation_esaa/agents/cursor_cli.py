"""Cursor's program for the terminal (`cursor-agent`): a folder a chat, in it a store of blobs named by their hash.

Nothing here was verified against the real program: it follows what other readers of these files state. A
blob is a message as JSON, or a node in protobuf; the newest root names the messages in their order.

Format and how far it is known: docs/reference/agents/cursor-cli.md.
"""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file, is_folder, listed
from conversation_esaa.agents.places import Wanted, directory_of
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import DatabaseUnreadable, database, json_object, keys_of
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_ms
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("cursor-cli")
TITLE = "Cursor CLI"
KNOWN_INVISIBLE = frozenset({"system", "tool"})

_OPEN, _CLOSE = "<user_query>", "</user_query>"
_AT_ONCE = 16  # blobs that are read in one go; one may hold megabytes of a tool's output
_HASH = 32  # bytes
_MESSAGES, _WORKSPACES = 1, 9  # fields of a root


class State(ReaderState, kw_only=True):
    """What reading a chat has to remember."""

    read: int = 0  # messages of the newest root that were read
    digest: str = ""  # of their names
    moment: str = ""  # the latest that was stated


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CURSOR_DATA_DIR`, which some readers name, else `~/.cursor`."""
    return Path(environ.get("CURSOR_DATA_DIR") or user_home / ".cursor")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The chats of folders that are a root, or lie in one by what a chat in them states. Sorted by path.

    A folder is named by the MD5 of its directory, so those of the roots are known. Of any other, one chat is
    asked, which speaks for all of them.
    """
    known = {_named(spelling): root for root in roots for spelling in _spellings(root)}
    wanted = Wanted(roots)
    for folder in _folders(home / "chats"):
        chats = _chats(folder)
        place = known.get(folder.name) or _stated(folder.name, chats)
        if not place or not wanted.holds(place):
            continue
        for chat in chats:
            if not _side_file(chat).get("isSubagent") and (revision := _revision(chat / "store.db")):
                yield SessionFile(
                    path=chat / "store.db",
                    session_id=chat.name,
                    cwd=place,
                    kind=Kind.SQLITE,
                    revision=revision,
                )


def open_session(file: SessionFile) -> State:
    """The folder has told all there is."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """What the store says of the chat, then the messages that the newest root has and `state` has not read.

    A message becomes a blob when it is complete. When the root no longer begins with what was read (the chat
    was summarised, or a prompt edited), all its messages are given again.
    """
    del file
    assert isinstance(state, State)
    chat = _described(database)
    if chat.get("subagentInfo"):
        return
    yield {"chat": chat}
    names = _messages(database, chat)
    begin = state.read if _digest(names[: state.read]) == state.digest else 0
    met: dict[str, int] = {}
    for name in names[:begin]:
        met[name] = met.get(name, 0) + 1
    rest = iter(enumerate(names[begin:], begin + 1))
    while batch := list(islice(rest, _AT_ONCE)):
        query = "SELECT id, data FROM blobs WHERE id IN (SELECT value FROM json_each(?))"
        stored: dict[str, Any] = dict(database.rows(query, keys_of(name for _, name in batch)))
        for count, name in batch:
            again = met.get(name, 0)
            met[name] = again + 1
            if name in stored:  # else it may be about to be written
                state.read, state.digest = count, ""
            if message := json_object(stored.get(name)):
                yield {"message": message, "name": f"{name}/{again}" if again else name}
    state.digest = _digest(names[: state.read])


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts as they were typed, and the texts of answers."""
    for record in records:
        match record:
            case {"chat": dict(chat)}:
                _describe(chat, state)
            case {"message": dict(message), "name": str(name)}:
                yield from _said(message, without_surrogates(name), state)
            case _:
                state.met_unknown("record")


def _describe(chat: dict[str, Any], state: State) -> None:
    state.moment = state.moment or from_epoch_ms(chat.get("createdAt"))
    if isinstance(model := chat.get("lastUsedModel"), str):
        state.model = without_surrogates(model)


def _said(message: dict[str, Any], name: str, state: State) -> Iterator[Turn | SessionMark]:
    state.moment = from_epoch_ms(message.get("createdAt")) or state.moment
    match message.get("role"):
        case "user":
            typed = [_typed(text) for text in _texts(message)]
            if not any(typed):
                return  # what the program adds: the machine, open files, rules, a summary
            yield from _turns(Actor.USER, typed, name, state)
        case "assistant":
            match message.get("providerOptions"):
                case {"cursor": {"modelName": str(model)}}:
                    state.model = without_surrogates(model)
            yield from _turns(Actor.ASSISTANT, list(_texts(message)), name, state)
        case str(role) if role in KNOWN_INVISIBLE:
            pass
        case role:
            state.met_unknown(role)


def _turns(actor: Actor, texts: Sequence[str], name: str, state: State) -> Iterator[Turn | SessionMark]:
    for place, text in enumerate(texts):
        if not text or text.isspace():
            continue
        if not state.started:
            state.started = True
            state.visible += 1
            yield SessionMark(
                source=NAME,
                source_session_id=state.session_id,
                kind=MarkKind.STARTED,
                said_at=state.moment,
                cwd=state.cwd,
                model=state.model,
            )
        ordinal = state.source_index
        state.source_index += 1
        state.visible += 1
        message = f"{state.session_id}/{name}"
        yield Turn(
            source=NAME,
            source_session_id=state.session_id,
            source_index=ordinal,
            actor=actor,
            text=text,
            source_ref=f"{message}.{place}" if place else message,
            message_ref=message,
            said_at=state.moment,
            cwd=state.cwd,
            model=state.model if actor is Actor.ASSISTANT else "",
        )


def _texts(message: dict[str, Any]) -> Iterator[str]:
    match message.get("content"):
        case str(text):
            yield text
        case [*parts]:
            for part in parts:
                match part:
                    case {"type": "text", "text": str(text)}:
                        yield text


def _typed(text: str) -> str:
    """What stands in `<user_query>`; "" when nothing does. The last end counts: a prompt may quote the tag."""
    begin = text.find(_OPEN)
    if begin < 0:
        return ""
    begin += len(_OPEN)
    end = text.rfind(_CLOSE, begin)
    return text[begin : end if end >= 0 else len(text)].removeprefix("\n").removesuffix("\n")


def _described(source: Database) -> dict[str, Any]:
    """The `meta` of a store: JSON in hexadecimal digits."""
    found = source.rows("SELECT value FROM meta WHERE key = '0'")
    value = found[0][0] if found else ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    try:
        return json_object(bytes.fromhex(text)) if isinstance(text, str) else {}
    except ValueError:
        return json_object(text)


def _messages(source: Database, chat: Mapping[str, Any]) -> list[str]:
    """The names of the messages in order, as the newest root has them."""
    return [value.hex() for field, value in _root(source, chat) if field == _MESSAGES and len(value) == _HASH]


def _root(source: Database, chat: Mapping[str, Any]) -> Iterator[tuple[int, bytes]]:
    name = chat.get("latestRootBlobId")
    if isinstance(name, str):
        for (node,) in source.rows("SELECT data FROM blobs WHERE id = ?", without_surrogates(name)):
            yield from _fields(node if isinstance(node, bytes) else b"")


def _fields(node: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protobuf message that have a length, in order, as far as it can be read."""
    at = 0
    while at < len(node):
        tag, at = _varint(node, at)
        kind = tag & 7
        if kind == 0:
            _, at = _varint(node, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        elif kind == 2:
            length, at = _varint(node, at)
            if at + length <= len(node):
                yield tag >> 3, node[at : at + length]
            at += length
        else:
            return


def _varint(node: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(node) and shift < 64:
        byte = node[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    return value, len(node)  # cut off: nothing of it can be read


def _digest(names: Sequence[str]) -> str:
    return hashlib.sha256("".join(names).encode()).hexdigest()[:32] if names else ""


def _stated(named: str, chats: Sequence[Path]) -> str:
    """The directory of a folder, as a chat in it states it: in the side file, else in the first one's store."""
    for chat in chats:
        place = _side_file(chat).get("cwd")
        if isinstance(place, str) and _named(place) == named:
            return without_surrogates(place)
    for chat in chats[:1]:
        with database(chat / "store.db") as source:
            try:
                for place in _places(source):
                    if _named(place) == named:
                        return place
            except (DatabaseUnreadable, FileNotFoundError):
                pass
            finally:
                source.close()  # there are as many as directories were ever worked in
    return ""


def _places(source: Database) -> Iterator[str]:
    described = _described(source)
    if isinstance(place := described.get("workspacePath"), str):
        yield without_surrogates(place)
    for field, value in _root(source, described):
        if field == _WORKSPACES:
            yield directory_of(value.decode("utf-8", "replace"))


def _named(directory: str) -> str:
    """The name of a directory's folder."""
    return hashlib.md5(directory.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _spellings(root: str) -> tuple[str, ...]:
    """How the program may have spelled a root: a drive's letter has two cases."""
    return (root, root[0].swapcase() + root[1:]) if root[1:2] == ":" else (root,)


def _side_file(chat: Path) -> dict[str, Any]:
    depends_on(chat / "meta.json")
    return read_document(chat / "meta.json")


def _revision(store: Path) -> str:
    """Another one whenever the store was written: it is the chat's own."""
    words = []
    for path in (store, store.with_name(f"{store.name}-wal")):
        depends_on(path)
        try:
            found = path.stat()
        except OSError:
            words.append("-")
        else:
            words.append(f"{found.st_size}.{found.st_mtime_ns}.{found.st_ino}")
    return "" if words[0] == "-" else "/".join(words)


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, sorted; empty when it is none, or went meanwhile."""
    try:
        return sorted(Path(entry.path) for entry in listed(parent) if is_folder(entry))
    except OSError:
        return []


def _chats(folder: Path) -> list[Path]:
    return [chat for chat in _folders(folder) if is_file(chat / "store.db")]
