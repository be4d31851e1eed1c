"""Factory droid: one file a session, one JSON object a line; the first line is a header that may be rewritten.

Much in it comes in the user's name: tools' results, context for the model, reports of hooks. Marks on the
message tell what was shown, and what stands in `<system-reminder>` was not.

Format and how we know it: docs/reference/agents/droid.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.listing import entries, is_folder, logs
from conversation_esaa.agents.places import letters
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("droid")
TITLE = "Factory droid"
_INVISIBLE_RECORDS = frozenset({"agent_turn_outcome", "todo_state"})
_INVISIBLE_ROLES = frozenset({"system", "tool"})
KNOWN_INVISIBLE = frozenset({*_INVISIBLE_RECORDS, *(f"message/{role}" for role in _INVISIBLE_ROLES)})

_HIDDEN = ("llm_only", "user_only")  # the model's context; reports of hooks
_UUID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OPEN = ("<system-reminder>", "<system-notification>")
_TAG_OR_FENCE = lazy(r"<(/?)system-(?:reminder|notification)>|^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""

    header: bool = False  # the first session_start was met: it decides whose session this is
    forked_from: str = ""
    copied_to: str = ""  # the last message that a fork copied, while it was not met


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$FACTORY_HOME_OVERRIDE/.factory`, else `~/.factory`."""
    return Path(environ.get("FACTORY_HOME_OVERRIDE") or user_home) / ".factory"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that began in a root or below it, and those outside a folder of a directory, sorted by path.

    Costs a listing of the sessions' folder and of each folder in it that may be a root's.
    """
    wanted = [letters(root) for root in roots]
    base = home / "sessions"
    seen: set[str] = set()
    found = logs(base, seen)
    for folder in _folders(base):
        if any(letters(folder.name).startswith(root) for root in wanted):
            found += logs(folder, seen)
    for path in sorted(found, key=str):
        yield SessionFile(path=path, session_id=path.stem)


def open_session(file: SessionFile) -> State:
    """The header in the file knows better; the name is for files that lost it."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order; a turn a prompt, and one for each text block of an answer.

    The whole file of a sub-agent gives nothing.
    """
    for record in records:
        line: dict[str, Any] = record if type(record) is dict else {}
        kind = line.get("type")
        if kind == "session_start":
            _take_header(line, state)
        elif state.sidechain:
            continue
        elif kind == "message":
            yield from _message(line, state)
        elif kind == "compaction_state":
            yield from _compaction(line, state)
        elif not isinstance(kind, str) or kind not in _INVISIBLE_RECORDS:
            state.met_unknown(kind if line else record)


def _take_header(line: dict[str, Any], state: State) -> None:
    if state.header:
        return
    state.header = True
    state.session_id = storable(line.get("id")) or state.session_id
    state.cwd = storable(line.get("cwd")) or state.cwd
    state.forked_from = storable(line.get("parent"))
    state.copied_to = storable(line.get("forkedAtMessageId"))
    state.sidechain = bool(line.get("callingSessionId")) or line.get("decompSessionType") == "worker"


def _message(line: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    message = line.get("message")
    message = message if type(message) is dict else {}
    ref = storable(line.get("id"))
    if ref and ref == state.copied_to:
        state.copied_to = ""
    role = message.get("role")
    if role == "user":
        if _was_shown(message, state) and not ref.startswith("context-"):
            typed = "\n".join(filter(None, map(_without_reminders, _texts(message.get("content")))))
            yield from _said(Actor.USER, [typed], line, state)
    elif role == "assistant":
        state.model = storable(message.get("modelId")) or state.model
        if _was_shown(message, state):
            yield from _said(Actor.ASSISTANT, _texts(message.get("content")), line, state)
    elif not isinstance(role, str) or role not in _INVISIBLE_ROLES:
        state.met_unknown(f"message/{role}" if isinstance(role, str) else "message without a role")


def _was_shown(message: dict[str, Any], state: State) -> bool:
    """By the marks that decide it in droid's own views, too."""
    visibility = message.get("visibility")
    if visibility is not None and visibility != "both":
        if visibility not in _HIDDEN:
            state.met_unknown(f"message with visibility {storable(visibility)}")
        return False
    return not (
        message.get("hookEventName")
        or message.get("hiddenFromUserViews")
        or message.get("isUserVisible") is False
    )


def _texts(content: object) -> list[str]:
    """The text of a message's content, a string or blocks; blank ones left out."""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return [text for text in texts if isinstance(text, str) and text and not text.isspace()]


def _without_reminders(text: str) -> str:
    """`text` without what droid itself puts into prompts, and shows nobody; one pass.

    A reminder in a code fence is a quotation and stays, and so does a tag that is opened and never closed,
    unless the text begins with it.
    """
    if "<system-" not in text:
        return text
    begun: list[int] = []
    hidden: list[tuple[int, int]] = []  # outermost elements, in order
    in_fence = False
    for found in _TAG_OR_FENCE.finditer(text):
        if found[1] is None:
            in_fence ^= not begun
        elif in_fence:
            continue
        elif not found[1]:
            begun.append(found.start())
        elif begun:
            start = begun.pop()
            while hidden and hidden[-1][0] > start:
                hidden.pop()
            hidden.append((start, found.end()))
    ends = [0, *(end for _, end in hidden)]
    starts = [*(start for start, _ in hidden), len(text)]
    kept = [text[end:start].strip() for end, start in zip(ends, starts, strict=True)]
    shown = "\n".join(filter(None, kept)) if hidden else text
    return "" if begun and shown.lstrip().startswith(_OPEN) else shown


def _said(
    actor: Actor, texts: Iterable[str], line: dict[str, Any], state: State
) -> Iterator[Turn | SessionMark]:
    said_at = parse_utc(line.get("timestamp"))
    ref = _native_ref(line, state)
    for number, text in enumerate(filter(None, texts), start=1):
        if not state.started:
            state.started = True
            yield _mark(state, MarkKind.STARTED, said_at=said_at, forked_from=state.forked_from)
        ordinal = state.source_index
        state.source_index += 1
        state.visible += 1
        yield Turn(
            source=NAME,
            source_session_id=state.session_id,
            source_index=ordinal,
            actor=actor,
            text=text,
            source_ref=f"{ref}#{number}" if ref and number > 1 else ref,
            message_ref=ref if actor is Actor.ASSISTANT else "",
            said_at=said_at,
            cwd=state.cwd,
            model=state.model,
        )


def _compaction(line: dict[str, Any], state: State) -> Iterator[SessionMark]:
    if not state.copied_to:  # else it was the parent's
        at = parse_utc(line.get("timestamp"))
        yield _mark(state, MarkKind.COMPACTED, said_at=at, source_ref=_native_ref(line, state))


def _mark(
    state: State, kind: MarkKind, *, said_at: str, source_ref: str = "", forked_from: str = ""
) -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
        forked_from=forked_from,
    )


def _native_ref(line: dict[str, Any], state: State) -> str:
    """The message's id: a UUID, which a fork's copy keeps."""
    ref = storable(line.get("id"))
    return ref if not ref or _UUID.fullmatch(ref) else f"{state.session_id}/{ref}"


def _folders(parent: Path) -> list[Path]:
    return [parent / entry.name for entry in entries(parent) if is_folder(entry)]
