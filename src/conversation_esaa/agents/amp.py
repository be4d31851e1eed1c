"""Amp, as it kept threads until it moved them to its servers: a document a thread, written anew each time.

Current versions leave nothing to read on this machine. Nothing here was verified against the real program.

Format and how far it is known: docs/reference/agents/amp.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import listing, places
from conversation_esaa.agents.listing import is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import MAX_INTEGER, storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_ms, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("amp")
TITLE = "Amp"
KNOWN_INVISIBLE = frozenset({"image", "redacted_thinking", "thinking", "tool_result", "tool_use"})


class State(ReaderState, kw_only=True):
    """What reading a thread has to remember."""

    said_at: str = ""  # the last moment that a message stated
    sent_at: str = ""  # the same of the last prompt, as it states it


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$AMP_THREADS_DIR`, else `amp/threads` in `$XDG_DATA_HOME` or `~/.local/share`."""
    if threads := environ.get("AMP_THREADS_DIR"):
        return Path(threads)
    return Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share") / "amp" / "threads"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """Every thread, sorted by path: only the document itself tells its directory, and the gate judges."""
    del roots
    found: dict[str, SessionFile] = {}
    for entry in listing.entries(home):
        path = home / entry.name
        if path.suffix == ".json" and path.name.startswith("T-") and is_file(path):
            file = SessionFile(path=path, session_id=path.stem, kind=Kind.DOCUMENT)
            found.setdefault(os.path.realpath(path), file)
    yield from found.values()


def open_session(file: SessionFile) -> State:
    """The document tells everything else."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What was said, in file order; a turn a block of text."""
    for record in records:
        match record:
            case {"messages": [*messages]}:
                yield from _thread(record, messages, state)
            case _:
                state.met_unknown("a document that is no thread")


def _thread(record: dict[str, Any], messages: list[Any], state: State) -> Iterator[Turn | SessionMark]:
    state.session_id = storable(record.get("id")) or state.session_id
    began = from_epoch_ms(record.get("created"))
    state.said_at = began or state.said_at
    match record:
        case {"env": {"initial": {"trees": [*trees]}}}:
            trees_here = [
                places.path_of(uri)
                for tree in trees
                if isinstance(tree, dict) and isinstance(uri := tree.get("uri"), str)
            ]
            state.cwd = next(filter(None, trees_here), state.cwd)
    for message in messages:
        match message:
            case {"role": "user", "content": [*blocks]}:
                yield from _said(Actor.USER, blocks, message, began, state)
            case {"role": "assistant", "content": [*blocks]}:
                if isinstance(usage := message.get("usage"), dict):
                    state.model = storable(usage.get("model")) or state.model
                done = message.get("state")
                if not (isinstance(done, dict) and done.get("type") == "streaming"):
                    yield from _said(Actor.ASSISTANT, blocks, message, began, state)
            case _:
                state.met_unknown("a message of another form")


def _said(
    actor: Actor, blocks: list[Any], message: dict[str, Any], began: str, state: State
) -> Iterator[Turn | SessionMark]:
    state.said_at = _moment(message) or state.said_at
    match message:
        case {"role": "user", "meta": {"sentAt": int(sent)}}:
            state.sent_at = str(sent)
    count = 0
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                count += 1
                if not text or text.isspace():
                    continue
            case {"type": str(kind)} if kind in KNOWN_INVISIBLE:
                continue
            case _:
                state.met_unknown(block.get("type") if isinstance(block, dict) else block)
                continue
        if not state.started:
            state.started = True
            state.visible += 1
            yield SessionMark(
                source=NAME,
                source_session_id=state.session_id,
                kind=MarkKind.STARTED,
                said_at=began or state.said_at,
                cwd=state.cwd,
                model=state.model,
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
            source_ref=_native_ref(message, count, state),
            said_at=state.said_at,
            cwd=state.cwd,
            model=state.model if actor is Actor.ASSISTANT else "",
        )


def _moment(message: dict[str, Any]) -> str:
    """When a message was said, as far as it tells: a prompt does, an answer sometimes."""
    match message:
        case {"meta": {"sentAt": at}}:
            return from_epoch_ms(at)
        case {"usage": {"timestamp": at}}:
            return parse_utc(at) or from_epoch_ms(at)
    return ""


def _native_ref(message: dict[str, Any], count: int, state: State) -> str:
    """Thread, number, speaker, and when the prompt was sent that it is, or answers: editing a thread cuts it, and
    what is said then gets the old numbers again.
    """
    number = message.get("messageId")
    if type(number) is not int or not 0 <= number <= MAX_INTEGER:
        return ""
    sent = f"@{state.sent_at}" if state.sent_at else ""
    return f"{state.session_id}/{number}/{message['role']}{sent}" + (f"#{count}" if count > 1 else "")
