"""The chat of VS Code: Copilot Chat, and whoever else takes part in it. A file a session.

Older versions write a session anew as one document, newer ones append to a journal of operations; both come to
the same object: requests, each with the parts of its response. Nothing here was verified against the real program.

Format and how far it is known: docs/reference/agents/vscode-copilot-chat.md.
"""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import editors, listing, places
from conversation_esaa.agents.listing import is_directory, is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import from_epoch_ms
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

NAME = AgentId("copilot-chat")
TITLE = "VS Code Chat"
KNOWN_INVISIBLE = frozenset(
    {
        *("clearToPreviousToolInvocation", "codeCitation", "codeblockUri", "command", "confirmation"),
        *(
            "disabledClaudeHooks",
            "elicitation",
            "elicitationSerialized",
            "extensions",
            "hook",
            "mcpServersStarting",
        ),
        *("multiDiffData", "notebookEditGroup", "prepareToolInvocation", "progressMessage", "progressTask"),
        *(
            "progressTaskSerialized",
            "pullRequest",
            "questionCarousel",
            "reference",
            "textEdit",
            "textEditGroup",
        ),
        *("thinking", "toolInvocation", "toolInvocationSerialized", "treeData", "undoStop", "usedContext"),
        *("warning", "workspaceEdit"),
    }
)

_KINDS = {".json": Kind.DOCUMENT, ".jsonl": Kind.JOURNAL}
_WITHIN = ("codeblockUri", "undoStop", "clearToPreviousToolInvocation")  # parts that part no sentences
_FENCE = lazy(r"\s*`{3,}[\w+#.-]*\s*")
_DONE = (1, 2, 3)  # complete, cancelled, failed; 0 and 4 wait, for the model or for the person

home = editors.home


class State(ReaderState, kw_only=True):
    """What reading a session has to remember."""


def is_there(home: Path) -> bool:
    """Whether Copilot Chat stored anything in any editor. Chats with others show when they are found."""
    return any(
        is_directory(folder / "globalStorage" / "github.copilot-chat")
        for folder in editors.user_folders(home)
    )


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The chats of windows that were open on a root, a directory below it or one above it, sorted by path.

    Of a project of several folders any one counts. Chats without a project, and those of remote windows, are left
    out: `unlisted` counts them. Costs a listing for each editor, a small file a window, a listing for each that is
    related.
    """
    found: dict[str, SessionFile] = {}
    for window in _windows(home):
        asked_for = places.related(editors.folders_of_window(window), roots)
        for path in _chats(window / "chatSessions") if asked_for else []:
            file = SessionFile(path=path, session_id=path.stem, cwd=asked_for[0], kind=_KINDS[path.suffix])
            found.setdefault(os.path.realpath(path), file)
    yield from sorted(found.values(), key=lambda file: str(file.path))


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count."""
    empty = sum(
        len(_chats(folder / "globalStorage" / "emptyWindowChatSessions"))
        for folder in editors.user_folders(home)
    )
    remote = sum(
        len(_chats(window / "chatSessions"))
        for window in _windows(home)
        if not editors.folders_of_window(window)
    )
    counts = {"chats of a window without a folder": empty, "chats of a remote window": remote}
    return {reason: count for reason, count in counts.items() if count}


def open_session(file: SessionFile) -> State:
    """The window tells the directory, the document all the rest."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and finished answers, in the order of the requests."""
    for record in records:
        match record:
            case {"requests": [*requests]}:
                state.session_id = storable(record.get("sessionId")) or state.session_id
                began = from_epoch_ms(record.get("creationDate"))
                for request in requests:
                    if type(request) is dict:
                        yield from _exchange(request, began, state)
                    else:
                        state.met_unknown(request)
            case _:
                state.met_unknown("a document that is no chat")


def _exchange(request: dict[str, Any], began: str, state: State) -> Iterator[Turn | SessionMark]:
    if request.get("isHidden") is True or request.get("isSystemInitiated") is True:
        return
    state.model = storable(request.get("modelId")) or state.model
    at, message = request.get("timestamp"), request.get("message")
    text = message.get("text") if isinstance(message, dict) else message
    if isinstance(text, str) and not isinstance(
        request.get("confirmation"), str
    ):  # a button that was pressed
        yield from _said(Actor.USER, text, request, from_epoch_ms(at), began, state)
    if _is_done(request) and isinstance(parts := request.get("response"), list):
        moment = from_epoch_ms(_ended(request, at)) or from_epoch_ms(at)
        yield from _said(Actor.ASSISTANT, _shown(parts, state), request, moment, began, state)


def _is_done(request: dict[str, Any]) -> bool:
    """Whether nothing will be added to the response."""
    match request.get("modelState"):
        case {"value": int(value)}:
            return value in _DONE
    return isinstance(request.get("result"), dict) or request.get("isCanceled") is True


def _ended(request: dict[str, Any], began: object) -> object:
    """Milliseconds since 1970 at which a response was complete, when something tells."""
    match request:
        case {"modelState": {"completedAt": int(at)}}:
            return at
        case {"result": {"timings": {"totalElapsed": int(elapsed) | float(elapsed)}}} if isinstance(
            began, int
        ):
            return began + elapsed
    return None


def _shown(parts: list[Any], state: State) -> str:
    """The words of a response: runs of Markdown, and the names of what is linked within them.

    A tool or an edit between two runs parts them. The fences around an edit, of which the code is not shown,
    are no words.
    """
    told: list[str] = []
    parted = False
    for part in parts:
        match part:
            case {"kind": "inlineReference"}:
                words, within = _name(part), True
            case {"kind": "markdownContent" | "markdownVuln", "content": {"value": str(words)}}:
                within = False
            case {"value": str(words)} if part.get("kind") is None:
                within = False
            case str(words):
                within = False
            case {"kind": str(kind)} if kind in KNOWN_INVISIBLE:
                parted = parted or kind not in _WITHIN
                continue
            case _:
                state.met_unknown(part.get("kind") if isinstance(part, dict) else part)
                continue
        if not words or (not within and _FENCE.fullmatch(words)):
            continue
        if parted and told and not told[-1].endswith("\n") and not words.startswith("\n"):
            told.append("\n\n")
        told.append(words)
        parted = False
    return "".join(told).strip()


def _name(part: dict[str, Any]) -> str:
    """What a link to a file or a symbol is called."""
    if isinstance(name := part.get("name"), str) and name:
        return name
    match part.get("inlineReference"):
        case {"name": str(name)}:
            return name
        case {"uri": {"path": str(path)}} | {"path": str(path)}:
            return PurePosixPath(path).name
    return ""


def _said(
    actor: Actor, text: str, request: dict[str, Any], said_at: str, began: str, state: State
) -> Iterator[Turn | SessionMark]:
    if not text or text.isspace():
        return
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME,
            source_session_id=state.session_id,
            kind=MarkKind.STARTED,
            said_at=began or said_at,
            cwd=state.cwd,
            model=state.model,
        )
    name = storable(request.get("requestId"))
    if name and not name.startswith("request_"):  # older ids are counted in their session
        name = f"{state.session_id}/{name}"
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    yield Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=f"{name}/{actor}" if name else "",
        message_ref=storable(request.get("responseId")) if actor is Actor.ASSISTANT else "",
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _windows(home: Path) -> list[Path]:
    """The storage of every window of every editor."""
    return [
        folder / "workspaceStorage" / entry.name
        for folder in editors.user_folders(home)
        for entry in listing.entries(folder / "workspaceStorage")
        if listing.is_folder(entry)
    ]


def _chats(folder: Path) -> list[Path]:
    paths = [folder / entry.name for entry in listing.entries(folder)]
    return [path for path in paths if path.suffix in _KINDS and is_file(path)]
