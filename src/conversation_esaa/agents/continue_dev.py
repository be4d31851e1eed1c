"""Continue: a document a session, written anew each time, without ids and moments of what was said in it.

Nothing here was verified against the real program.

Format and how far it is known: docs/reference/agents/continue.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import listing, places
from conversation_esaa.agents.jsonl import Lines, read_document_bytes
from conversation_esaa.agents.listing import depends_on, is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("continue")
TITLE = "Continue"
KNOWN_INVISIBLE = frozenset({"system", "thinking", "tool"})  # roles

_INDEX = "sessions.json"


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CONTINUE_GLOBAL_DIR`, else `~/.continue`."""
    return Path(environ.get("CONTINUE_GLOBAL_DIR") or user_home / ".continue")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that the index places in a root, below it or above it, and those that it does not know.

    Sorted by path. Costs a listing, the index, and a look at each that is taken.
    """
    folder = home / "sessions"
    found: dict[str, SessionFile] = {}
    entries = listing.entries(folder)
    known = _indexed(folder / _INDEX) if entries else {}
    for entry in entries:
        path = folder / entry.name
        cwd = known.get(path.stem, "")
        foreign = cwd and not places.related([cwd], roots)
        if path.suffix == ".json" and path.name != _INDEX and not foreign and is_file(path):
            file = SessionFile(path=path, session_id=path.stem, cwd=cwd, kind=Kind.DOCUMENT)
            found.setdefault(os.path.realpath(path), file)
    yield from found.values()


def open_session(file: SessionFile) -> State:
    """The document tells everything else."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What was said, in file order."""
    for record in records:
        match record:
            case {"history": [*history]}:
                if isinstance(place := record.get("workspaceDirectory"), str):
                    state.cwd = places.path_of(place) or state.cwd
                for position, item in enumerate(history):
                    yield from _said(item, state, last=position == len(history) - 1)
            case _:
                state.met_unknown("a document that is no session")


def _said(item: object, state: State, *, last: bool) -> Iterator[Turn | SessionMark]:
    match item:
        case {"message": {"role": "user", "content": content}}:
            actor = Actor.USER
        case {"message": {"role": "assistant", "content": content}, **more}:
            if last and not more.get("promptLogs"):
                return  # it may still grow: what the model got is noted when the answer is complete
            actor = Actor.ASSISTANT
        case {"message": {"role": str(role)}} if role in KNOWN_INVISIBLE:
            return
        case _:
            state.met_unknown("an item of another form")
            return
    text = _text(content)
    if not text or text.isspace():
        return
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME, source_session_id=state.session_id, kind=MarkKind.STARTED, cwd=state.cwd
        )
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        cwd=state.cwd,
    )


def _text(content: object) -> str:
    """The words of a message, which is a text or has parts; an image among them says nothing."""
    if isinstance(content, str):
        return content
    told: list[str] = []
    for part in content if isinstance(content, list) else []:
        match part:
            case {"type": "text", "text": str(text)}:
                told.append(text)
    return "\n".join(told)


def _indexed(path: Path) -> dict[str, str]:
    """Session → its directory, as far as the index knows."""
    depends_on(path)
    known: dict[str, str] = {}
    try:
        content = path.read_bytes()
    except OSError:
        return known
    for session in read_document_bytes(content, Lines()):
        match session:
            case {"sessionId": str(name), "workspaceDirectory": str(place)}:
                known[name] = places.path_of(place)
    return known
