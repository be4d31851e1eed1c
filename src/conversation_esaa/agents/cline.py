"""Cline CLI from 3 on, and the versions for VS Code that share its store: a folder a session.

`<sid>.messages.json` is written anew with each message, `<sid>.json` beside it describes the session. An index in a
database knows the directories of all; without it the descriptions are asked one by one.

Format and how we know it: docs/reference/agents/cline-roo-kilo.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conversation_esaa.agents import listing, places, sqlite
from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import from_epoch_ms, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("cline")
TITLE = "Cline"
KNOWN_INVISIBLE = frozenset({"image", "redacted_thinking", "thinking", "tool_result", "tool_use"})

_OPEN, _CLOSE = lazy(r"<user_input(?:\s[^>]*)?>"), "</user_input>"


class _Place(NamedTuple):
    """Where a session belongs."""

    directories: list[str]  # none, when nothing tells
    child: bool  # a sub-agent's


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    began_at: str = ""
    ended: bool = False  # nothing is being written any more, so the last answer is whole


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CLINE_SESSION_DATA_DIR`, else `sessions` in `$CLINE_DATA_DIR`, else in `data` in `$CLINE_DIR` or `~/.cline`."""
    if sessions := environ.get("CLINE_SESSION_DATA_DIR"):
        return Path(sessions)
    root = Path(environ.get("CLINE_DIR") or user_home / ".cline")
    return Path(environ.get("CLINE_DATA_DIR") or root / "data") / "sessions"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that were started in a root, below it or above it, and those of which nothing tells that.

    Sorted by path; sub-agents' are left out. Costs a listing and a query, and two looks at each that is taken;
    for a session that the index does not know, also its description.
    """
    found: dict[str, SessionFile] = {}
    entries = listing.entries(home)
    known = _indexed(home.parent / "db" / "sessions.db") if entries else {}
    for entry in entries:
        name = entry.name
        messages, described = home / name / f"{name}.messages.json", home / name / f"{name}.json"
        place = known.get(name)
        if place is None:
            depends_on(described)
            place = _place(read_document(described))
        foreign = place.directories and not places.related(place.directories, roots)
        if place.child or foreign or not is_file(messages):
            continue
        found.setdefault(
            os.path.realpath(messages),
            SessionFile(
                path=messages,
                session_id=name,
                cwd=place.directories[0] if place.directories else "",
                kind=Kind.DOCUMENT,
                beside=(str(described),),
            ),
        )
    yield from sorted(found.values(), key=lambda file: str(file.path))


def open_session(file: SessionFile) -> State:
    """The description tells directory, branch, model, and whether the session is over."""
    described = read_document(file.path.with_name(f"{file.session_id}.json"))
    place, metadata = _place(described), described.get("metadata")
    git = metadata.get("git") if isinstance(metadata, dict) else None
    return State(
        session_id=without_surrogates(file.session_id),
        cwd=place.directories[0] if place.directories else without_surrogates(file.cwd),
        git_branch=storable(git.get("branch")) if isinstance(git, dict) else "",
        model=storable(described.get("model")),
        sidechain=place.child,
        began_at=parse_utc(described.get("started_at")),
        ended=bool(described.get("ended_at")),
    )


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What was said, in file order; a turn a block of text. A sub-agent's session gives nothing."""
    for record in records:
        match record:
            case {"messages": [*messages]}:
                if not state.sidechain and record.get("agent") in ("lead", None):
                    yield from _conversation(messages, record, state)
            case _:
                state.met_unknown("a document that is no conversation")


def _conversation(messages: list[Any], record: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    origin = record.get("origin")
    state.agent_version = storable(origin.get("version")) if isinstance(origin, dict) else ""
    for position, message in enumerate(messages):
        match message:
            case {"role": "user", "content": [*blocks]}:
                for ref, text in _texts(blocks, message, state):
                    begin = _OPEN.search(text)
                    end = text.rfind(_CLOSE)  # the last one: a prompt may quote the tag
                    if begin and end >= begin.end():
                        yield from _said(Actor.USER, text[begin.end() : end], ref, message, state)
                    else:
                        state.met_unknown("text of the user without a user_input")
            case {"role": "assistant", "content": [*blocks]}:
                last = position == len(messages) - 1
                if last and not state.ended and not isinstance(message.get("metrics"), dict):
                    continue  # it may still grow
                if isinstance(info := message.get("modelInfo"), dict):
                    state.model = storable(info.get("id")) or state.model
                for ref, text in _texts(blocks, message, state):
                    yield from _said(Actor.ASSISTANT, text, ref, message, state)
            case _:
                state.met_unknown("a message of another form")


def _texts(blocks: list[Any], message: dict[str, Any], state: State) -> Iterator[tuple[str, str]]:
    """The blocks of text of a message, each with its native ref."""
    name, count = storable(message.get("id")), 0
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                count += 1
                number = f"#{count}" if count > 1 else ""
                yield f"{state.session_id}/{name}{number}" if name else "", text
            case {"type": str(kind)} if kind in KNOWN_INVISIBLE:
                pass
            case _:
                state.met_unknown(block.get("type") if isinstance(block, dict) else block)


def _said(
    actor: Actor, text: str, ref: str, message: dict[str, Any], state: State
) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    said_at = from_epoch_ms(message.get("ts"))
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME,
            source_session_id=state.session_id,
            kind=MarkKind.STARTED,
            said_at=state.began_at or said_at,
            cwd=state.cwd,
            git_branch=state.git_branch,
            model=state.model,
            agent_version=state.agent_version,
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
        source_ref=ref,
        message_ref=storable(message.get("id")),
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        model=state.model,
        agent_version=state.agent_version,
    )


def _place(described: Mapping[str, Any]) -> _Place:
    """What a session's description, or its row in the index, says of it."""
    stated = (storable(described.get(key)) for key in ("cwd", "workspace_root"))
    child = bool(described.get("parent_session_id") or described.get("is_subagent"))
    return _Place([path for path in stated if path], child=child)


def _indexed(path: Path) -> dict[str, _Place]:
    """Session → its place, as the index knows; empty when it cannot be asked."""
    query = "SELECT session_id, cwd, workspace_root, parent_session_id, is_subagent FROM sessions"
    keys = ("cwd", "workspace_root", "parent_session_id", "is_subagent")
    with sqlite.database(path) as index:
        try:
            rows = index.rows(query)
        except OSError:  # none, locked, or of another version: the descriptions know as much
            return {}
    return {str(row[0]): _place(dict(zip(keys, row[1:], strict=True))) for row in rows}
