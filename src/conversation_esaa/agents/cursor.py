"""Cursor, the editor: one database for all chats of all folders, a row for each chat and each bubble of it.

Nothing here was verified against the real program: it follows what other readers of these files state. The
database grows to gigabytes, so it is only asked by key: the order of a chat, then its bubbles.

Format and how far it is known: docs/reference/agents/cursor.md.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents import editors
from conversation_esaa.agents.listing import is_file
from conversation_esaa.agents.places import Wanted, directory_of
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import DatabaseUnreadable, database, json_object, keys_of
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId, digest_of
from conversation_esaa.timestamps import from_epoch_ms, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("cursor")
TITLE = "Cursor"
KNOWN_INVISIBLE = frozenset({"capability 15", "capability 30"})  # a tool; a thought

_USER, _ASSISTANT = 1, 2
_ACTORS = {_USER: Actor.USER, _ASSISTANT: Actor.ASSISTANT}
_BUSY = frozenset({"generating", "active"})
_RECENT = (
    32  # bubbles that a chat is taken up again behind: of a chat that was set back, the last that is left
)
_AT_ONCE = 16  # rows that are read in one go; a bubble may hold megabytes of a tool's output
_EPOCH_MS = 10**11  # less is no moment of this century, but some clock that began with the program
_CHILD = object()  # a sub-agent's chat
_PANE, _VIEW = "workbench.panel.composerChatViewPane", "workbench.panel.aichat.view."
_BY_KEY = "SELECT key, value FROM cursorDiskKV WHERE key IN (SELECT value FROM json_each(?))"
_COPY_RULES = "cursor/1:"  # a change of what a copy key is made of is a change of this number
_TOLD = ("composerId", "createdAt", "modelConfig", "workspaceIdentifier", "subagentInfo", "isSubagent")


class State(ReaderState, kw_only=True):
    """What reading a chat has to remember."""

    recent: list[str] = msgspec.field(default_factory=list)  # ids of the last bubbles, read to their end
    moment: str = ""  # the latest that was stated


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """The editor's directory of the user."""
    return editors.home(environ, user_home) / "Cursor" / "User"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The chats that a list of the editor, or the chat itself, places in a root or below it.

    Sorted by id. Sub-agents are left out. Reads no bubble; a chat itself only when no list knows it.
    """
    store = _store(home)
    if not is_file(store):
        return
    wanted = Wanted(roots)
    with database(store) as source:
        found = _placed(source, home, wanted)
        for composer, place in sorted(found.items()):
            if wanted.holds(place) and (revision := _revision(source, composer)):
                yield SessionFile(
                    path=store, session_id=composer, cwd=place, kind=Kind.SQLITE, revision=revision
                )


def unlisted(home: Path) -> dict[str, int]:
    """Chats that nothing places anywhere."""
    store = _store(home)
    if not is_file(store):
        return {}
    try:
        with database(store) as source:
            lost = [name for name, place in _placed(source, home, None).items() if not place]
            unknown = sum(_rows_of(source, name)[2] > 0 for name in lost)  # a draft has no bubble
    except DatabaseUnreadable:
        return {}  # `session_files` says it
    return {"chats of unknown workspace": unknown} if unknown else {}


def open_session(file: SessionFile) -> State:
    """The lists have told where; the chat may know better."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The chat without its contents, then each bubble behind the last one read, in the chat's own order.

    An answer is given when something follows it or the chat is at rest: until then it may still grow. What
    is empty at the end may be about to be filled, and is looked at again.
    """
    assert isinstance(state, State)
    key = f"composerData:{file.session_id}"
    found = database.rows("SELECT value FROM cursorDiskKV WHERE key = ?", key)
    chat = json_object(found[0][0]) if found else {}
    if not chat or _is_child(chat):
        return
    yield {"chat": {name: chat[name] for name in _TOLD if name in chat}}
    growing = chat.get("generatingBubbleIds")
    growing = {name for name in growing if isinstance(name, str)} if isinstance(growing, list) else set()
    held: list[dict[str, Any]] = []  # complete when something follows
    for bubble in _bubbles(database, file.session_id, chat, state.recent):
        yield from ({"bubble": earlier} for earlier in held)
        held = []
        if bubble["bubbleId"] in growing:
            return
        if bubble.get("type") == _USER and not _is_blank(bubble):
            yield {"bubble": bubble}
        else:
            held = [bubble]
    at_rest = not growing and chat.get("status") not in _BUSY
    if at_rest and not any(map(_is_blank, held)):
        yield from ({"bubble": last} for last in held)


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and finished answers. A bubble of a kind that is not known is counted, not read."""
    for record in records:
        match record:
            case {"chat": dict(chat)}:
                _describe(chat, state)
            case {"bubble": dict(bubble)}:
                if isinstance(ref := bubble.get("bubbleId"), str):
                    state.recent = [*state.recent[1 - _RECENT :], without_surrogates(ref)]
                yield from _said(bubble, state)
            case _:
                state.met_unknown("record")


def _describe(chat: dict[str, Any], state: State) -> None:
    if place := _place(chat.get("workspaceIdentifier")):
        state.cwd = place
    match chat.get("modelConfig"):
        case {"modelName": str(model)}:
            state.model = without_surrogates(model)
    state.moment = state.moment or from_epoch_ms(chat.get("createdAt"))


def _said(bubble: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    text, ref = bubble.get("text"), bubble.get("bubbleId")
    if not isinstance(text, str) or not text or text.isspace() or not _is_conversation(bubble, state):
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
            model=state.model,
        )
    stated = _moment(bubble)
    state.moment = stated or state.moment
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    actor = _ACTORS[bubble["type"]]
    name = without_surrogates(ref) if isinstance(ref, str) else ""
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=f"{state.session_id}/{name}" if name else "",
        copy_keys=_copy_keys(name, stated, actor, text),
        said_at=state.moment,
        cwd=state.cwd,
        model=_model(bubble) or state.model,
    )


def _is_conversation(bubble: dict[str, Any], state: State) -> bool:
    """Whether it was typed, or said in answer. Reasoning and tools have bubbles of their own."""
    kind, capability = bubble.get("type"), bubble.get("capabilityType")
    if type(kind) is not int or kind not in _ACTORS:
        state.met_unknown(f"bubble {kind}" if type(kind) is int else "bubble")
        return False
    if capability:
        name = f"capability {capability}" if type(capability) is int else "capability"
        if name not in KNOWN_INVISIBLE:
            state.met_unknown(name)
        return False
    hidden = ("toolFormerData", "isThought", "isSimulatedMsg", "skipRendering")
    return not any(bubble.get(mark) for mark in hidden)


def _moment(bubble: dict[str, Any]) -> str:
    stated = bubble.get("createdAt")
    if moment := parse_utc(stated) or _from_clock(stated):
        return moment
    match bubble.get("timingInfo"):
        case {"clientStartTime": began}:
            return _from_clock(began)
    return ""


def _from_clock(value: object) -> str:
    return from_epoch_ms(value) if isinstance(value, int | float) and value > _EPOCH_MS else ""


def _model(bubble: dict[str, Any]) -> str:
    match bubble.get("modelInfo"):
        case {"modelName": str(model)}:
            return without_surrogates(model)
    return ""


def _copy_keys(name: str, stated: str, actor: Actor, text: str) -> tuple[str, ...]:
    """What a copy of a chat keeps: ids of bubbles that are unique in the world, or else their moments."""
    keys = [f"{_COPY_RULES}bubble:{name}"] if len(name) >= 32 else []  # a UUID
    if stated:
        keys.append(f"{_COPY_RULES}said:{digest_of(stated, actor, without_surrogates(text))[:32]}")
    return tuple(keys)


def _is_blank(bubble: dict[str, Any]) -> bool:
    text = bubble.get("text")
    silent = not isinstance(text, str) or not text or text.isspace()
    return silent and not any(bubble.get(mark) for mark in ("toolFormerData", "thinking", "capabilityType"))


def _is_child(chat: Mapping[str, Any]) -> bool:
    """Whether it is a sub-agent's."""
    name = chat.get("composerId")
    called = isinstance(name, str) and name.startswith("task-")
    return called or bool(chat.get("isSubagent")) or bool(chat.get("subagentInfo"))


def _bubbles(
    source: Database, composer: str, chat: dict[str, Any], recent: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The bubbles that are there, behind the last of `recent` that the chat still has."""
    order = _order(chat)
    places = {name: index for index, name in enumerate(order)}
    start = next((places[name] + 1 for name in reversed(recent) if name in places), 0)
    names = iter([*order][start:])
    while batch := list(islice(names, _AT_ONCE)):
        stored: dict[str, Any] = dict(
            source.rows(_BY_KEY, keys_of(f"bubbleId:{composer}:{name}" for name in batch))
        )
        for name in batch:
            if bubble := {**order[name], **json_object(stored.get(f"bubbleId:{composer}:{name}"))}:
                yield {**bubble, "bubbleId": name}


def _order(chat: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Ids of the bubbles as the screen shows them, with what an old chat holds of each in itself."""
    order: dict[str, dict[str, Any]] = {}
    for kept_in in ("fullConversationHeadersOnly", "conversation"):
        bubbles = chat.get(kept_in)
        for entry in bubbles if isinstance(bubbles, list) else ():
            match entry:
                case {"grouping": {"isRenderable": False}}:
                    pass
                case {"bubbleId": str(name)}:
                    order[name] = entry if kept_in == "conversation" else {}
        if order:
            break
    return order


def _store(home: Path) -> Path:
    return home / "globalStorage" / "state.vscdb"


def _place(identifier: object) -> str:
    """The folder of a `workspaceIdentifier`; that of another machine as the URL that it has."""
    match identifier:
        case {"uri": {"scheme": str(scheme), "external": str(uri)}} if scheme != "file":
            return directory_of(uri)
        case {"uri": {"scheme": str(scheme)}} if scheme != "file":
            return f"{without_surrogates(scheme)}:"
        case {"uri": {"fsPath": str(path)}}:
            return without_surrogates(path)
    return ""


def _placed(source: Database, home: Path, wanted: Wanted | None) -> dict[str, str]:
    """Id of a chat → where it belongs, "" when nothing says it. Without sub-agents.

    wanted   chats that certainly belong elsewhere may be left out; None for no such thing.
    Raises DatabaseUnreadable when neither the present layout is there nor one without chats.
    """
    if not source.columns("cursorDiskKV"):
        source.rows("SELECT 1 FROM ItemTable LIMIT 1")
        return {}
    opened = [(window.storage, folder) for window in editors.windows(home) for folder in window.folders]
    ours = [(storage, folder) for storage, folder in opened if wanted is None or wanted.holds(folder)]
    folders = {storage.name: folder for storage, folder in reversed(ours)}
    listed = _listed(source)
    in_windows = {name: folder for storage, folder in reversed(ours) for name in _listed_in_window(storage)}
    rest = [
        name
        for name in _chats(source)
        if not (name in listed or name in in_windows or name.startswith("task-"))
    ]
    if rest and len(ours) < len(opened):  # to ask the lists of the others is cheaper than to read their chats
        others = dict.fromkeys(storage for storage, _ in opened if storage.name not in folders)
        elsewhere = {name for storage in others for name in _listed_in_window(storage)}
        rest = [name for name in rest if name not in elsewhere]
    places: dict[str, str] = {}
    for name, identifier in [*listed.items(), *_identifiers(source, rest)]:
        window = _window(identifier)
        place = _place(identifier) or folders.get(window, "") or in_windows.get(name, "")
        if identifier is not _CHILD and (place or not window):
            places[name] = place
    return {name: folder for name, folder in in_windows.items() if name not in listed} | places


def _listed(source: Database) -> dict[str, object]:
    """What the lists in the database itself say of a chat: its `workspaceIdentifier`, or _CHILD.

    Newer versions have a table for it, older ones a JSON list that is written now and then.
    """
    found: dict[str, object] = {}
    value = source.rows("SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'")
    match json_object(value[0][0]) if value else {}:
        case {"allComposers": [*chats]}:
            for chat in chats:
                if isinstance(chat, dict) and isinstance(name := chat.get("composerId"), str):
                    found[name] = _CHILD if _is_child(chat) else chat.get("workspaceIdentifier")
    if not {"composerId", "workspaceId", "isSubagent", "value"} <= source.columns("composerHeaders"):
        return found
    for name, is_child, window, header in source.rows(
        "SELECT composerId, isSubagent, workspaceId, value FROM composerHeaders"
    ):
        if isinstance(name, str):
            identifier = json_object(header).get("workspaceIdentifier") or {"id": window}
            found[name] = _CHILD if is_child else identifier
    return found


def _listed_in_window(storage: Path) -> list[str]:
    """The chats that the database of one folder's window lists; none when it cannot be read."""
    path = storage / "state.vscdb"
    if not is_file(path):
        return []
    found: list[str] = []
    with database(path) as source:
        try:
            for (value,) in source.rows(
                "SELECT value FROM ItemTable WHERE key = 'composer.composerData'"
                " OR key >= ? AND key < ? AND key NOT LIKE '%.hidden'",
                _PANE,
                f"{_PANE}/",
            ):
                held = json_object(value)
                match held:
                    case {"allComposers": [*chats]}:
                        found += [chat["composerId"] for chat in chats if _is_named(chat)]
                match held:
                    case {"selectedComposerIds": [*names]}:
                        found += [name for name in names if isinstance(name, str)]
                found += [key.removeprefix(_VIEW) for key in held if key.startswith(_VIEW)]
        except (DatabaseUnreadable, FileNotFoundError):
            return []
        finally:
            source.close()  # there are as many as folders were ever opened
    return found


def _is_named(chat: object) -> bool:
    return isinstance(chat, dict) and isinstance(chat.get("composerId"), str) and not _is_child(chat)


def _chats(source: Database) -> list[str]:
    """The ids of all chats: by the index, without a look at any."""
    keys = source.rows("SELECT key FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'")
    return [key.removeprefix("composerData:") for (key,) in keys if isinstance(key, str)]


def _identifiers(source: Database, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    """What each chat itself says of its workspace."""
    rest = iter(names)
    while some := list(islice(rest, _AT_ONCE)):
        for key, value in source.rows(_BY_KEY, keys_of(f"composerData:{name}" for name in some)):
            chat = json_object(value)
            yield (
                key.removeprefix("composerData:"),
                _CHILD if _is_child(chat) else chat.get("workspaceIdentifier"),
            )


def _window(identifier: object) -> str:
    """The name of the window's storage."""
    return name if isinstance(identifier, dict) and isinstance(name := identifier.get("id"), str) else ""


def _revision(source: Database, name: str) -> str:
    """Another one whenever a row of the chat was written: then it gets a new rowid."""
    chat, newest, count = _rows_of(source, name)
    return f"{chat}/{newest}/{count}" if chat else ""


def _rows_of(source: Database, name: str) -> tuple[int, int, int]:
    """The rowid of a chat, the highest of its bubbles' and their number; 0 where there is none. Costs the index
    alone.
    """
    query = (
        "SELECT (SELECT rowid FROM cursorDiskKV WHERE key = ?), max(rowid), count(*)"
        " FROM cursorDiskKV WHERE key >= ? AND key < ?"
    )
    ((chat, newest, count),) = source.rows(
        query, f"composerData:{name}", f"bubbleId:{name}:", f"bubbleId:{name};"
    )
    return chat or 0, newest or 0, count
