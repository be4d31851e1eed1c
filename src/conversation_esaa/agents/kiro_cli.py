"""Kiro CLI: a file a session, an object a line, and a side file that says where it was.

Nothing here was verified against the real program: it follows what other readers of these files state, one
of which measured version 2.14.1.

Format and how far it is known: docs/reference/agents/kiro-cli.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, listed
from conversation_esaa.agents.places import Wanted
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.timestamps import from_epoch_s, parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("kiro-cli")
TITLE = "Kiro CLI"
KNOWN_INVISIBLE = frozenset({"Clear", "ToolResults"})

_ACTORS = {"Prompt": Actor.USER, "AssistantMessage": Actor.ASSISTANT}


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    moment: str = ""  # of the last prompt: answers state none


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$KIRO_HOME`, else `~/.kiro`."""
    return Path(environ.get("KIRO_HOME") or user_home / ".kiro")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that their side files place in a root or below it. Sorted by path."""
    wanted = Wanted(roots)
    for path, side_file in _sessions(home):
        place = _place(side_file)
        if wanted.holds(place) and not side_file.get("parent_session_id"):
            yield SessionFile(path=path, session_id=path.stem, cwd=place)


def unlisted(home: Path) -> dict[str, int]:
    """Sessions whose directory nothing states."""
    unknown = sum(not _place(side_file) for _, side_file in _sessions(home))
    return {"sessions of unknown directory": unknown} if unknown else {}


def open_session(file: SessionFile) -> State:
    """The side file has told all there is."""
    state = State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))
    match read_document(file.path.with_suffix(".json")):
        case {"session_state": {"rts_model_state": {"model_info": {"model_id": str(model)}}}, **rest}:
            state.model, state.moment = without_surrogates(model), parse_utc(rest.get("created_at"))
        case side_file:
            state.moment = parse_utc(side_file.get("created_at"))
    return state


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts, and each text of an answer."""
    for record in records:
        match record:
            case {"kind": "Prompt" | "AssistantMessage" as kind, "data": {"content": [*content], **data}}:
                match data.get("meta"):
                    case {"timestamp": moment}:
                        state.moment = from_epoch_s(moment) or state.moment
                yield from _said(_ACTORS[kind], content, data.get("message_id"), state)
            case {"kind": str(kind)} if kind in KNOWN_INVISIBLE:
                pass
            case {"kind": kind}:
                state.met_unknown(kind)
            case _:
                state.met_unknown("record")


def _said(actor: Actor, content: list[Any], name: object, state: State) -> Iterator[Turn | SessionMark]:
    texts = [part["data"] for part in content if _is_text(part)]
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
            )
        ordinal = state.source_index
        state.source_index += 1
        state.visible += 1
        ref = f"{state.session_id}/{without_surrogates(name)}" if isinstance(name, str) and name else ""
        yield Turn(
            source=NAME,
            source_session_id=state.session_id,
            source_index=ordinal,
            actor=actor,
            text=text,
            source_ref=f"{ref}.{place}" if ref and place else ref,
            message_ref=ref,
            said_at=state.moment,
            cwd=state.cwd,
            model=state.model if actor is Actor.ASSISTANT else "",
        )


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("kind") == "text" and isinstance(part.get("data"), str)


def _sessions(home: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each session's file, sorted, with what its side file holds."""
    try:
        paths = sorted(
            Path(entry.path) for entry in listed(home / "sessions" / "cli") if entry.name.endswith(".jsonl")
        )
    except OSError:
        return
    for path in paths:
        described_in = path.with_suffix(".json")
        depends_on(described_in)
        yield path, read_document(described_in)


def _place(side_file: Mapping[str, Any]) -> str:
    place = side_file.get("cwd")
    return without_surrogates(place) if isinstance(place, str) else ""
