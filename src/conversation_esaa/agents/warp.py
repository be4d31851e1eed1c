"""Warp: the prompts that were typed to its agent. Its answers do not lie on the disk in a form that is known.

Nothing here was verified against the real program: it follows what other readers of its database state. A
prompt's row states its own directory.

Format and how far it is known: docs/reference/agents/warp.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.listing import is_file
from conversation_esaa.agents.places import Wanted
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.sqlite import database, json_array, json_object
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.agents.sqlite import Database

NAME = AgentId("warp")
TITLE = "Warp"
KNOWN_INVISIBLE = frozenset({"ActionResult", "ResumeConversation"})

_CONTAINER = Path("Library", "Group Containers", "2BBY89MBSN.dev.warp")
_PAGE = 100  # prompts in one read


class State(ReaderState, kw_only=True):
    """What reading a conversation has to remember."""

    last: int = 0  # the number of the last row that was read


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """The stable channel's directory."""
    if sys.platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or user_home / "AppData" / "Local")
        return base / "warp" / "Warp" / "data"
    if sys.platform == "darwin":
        return user_home / _CONTAINER / "Library" / "Application Support" / "dev.warp.Warp-Stable"
    return Path(environ.get("XDG_STATE_HOME") or user_home / ".local" / "state") / "warp-terminal"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The conversations with a prompt that was typed in a root or below it. Sorted by id."""
    store = home / "warp.sqlite"
    if not is_file(store):
        return
    wanted = Wanted(roots)
    query = (
        "SELECT conversation_id, working_directory, count(*), max(id) FROM ai_queries"
        " GROUP BY conversation_id, working_directory ORDER BY conversation_id, working_directory"
    )
    found: dict[str, list[tuple[str, int, int]]] = {}
    with database(store) as source:
        for name, place, count, last in source.rows(query):
            if isinstance(name, str) and isinstance(place, str):
                found.setdefault(name, []).append((without_surrogates(place), count, last))
    for name, places in found.items():
        if any(wanted.holds(place) for place, _, _ in places):
            revision = f"{sum(count for _, count, _ in places)}/{max(last for _, _, last in places)}"
            yield SessionFile(path=store, session_id=name, kind=Kind.SQLITE, revision=revision)


def open_session(file: SessionFile) -> State:
    """Each row tells the rest."""
    return State(session_id=without_surrogates(file.session_id))


def rows(database: Database, file: SessionFile, state: ReaderState) -> Iterator[Any]:
    """The prompts behind the last one that was read."""
    assert isinstance(state, State)
    last = state.last
    query = "SELECT * FROM ai_queries WHERE conversation_id = ? AND id > ? ORDER BY id LIMIT ?"  # by their numbers
    while page := database.records(query, file.session_id, last, _PAGE):
        for row in page:
            text = row.get("input")
            given = json_array(text) or [json_object(text)]
            yield {**row, "input": [part for part in given if part]}
        last = page[-1]["id"]


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """A turn a prompt. What the program itself sends, tools' results among it, has other names."""
    for record in records:
        match record:
            case {"exchange_id": str(name), "input": [*given]}:
                if type(number := record.get("id")) is int:
                    state.last = max(state.last, number)
                for part in given:
                    match part:
                        case {"Query": {"text": str(text)}}:
                            yield from _said(text, without_surrogates(name), record, state)
                        case dict():
                            for kind in part.keys() - KNOWN_INVISIBLE:
                                state.met_unknown(kind)
                        case _:
                            state.met_unknown("input")
            case _:
                state.met_unknown("record")


def _said(text: str, name: str, row: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    said_at, place = parse_utc(row.get("start_ts")), row.get("working_directory")
    state.cwd = without_surrogates(place) if isinstance(place, str) else ""
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME,
            source_session_id=state.session_id,
            kind=MarkKind.STARTED,
            said_at=said_at,
            cwd=state.cwd,
        )
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=Actor.USER,
        text=text,
        source_ref=f"{state.session_id}/{name}" if name else "",
        said_at=said_at,
        cwd=state.cwd,
    )
