"""Antigravity CLI (`agy`): a folder a conversation, its steps one JSON object a line.

Nothing here was verified against the real program: it follows what other readers of these files state. A
step says neither its conversation (the folder's name) nor its workspace (side files, or nobody).

Format and how far it is known: docs/reference/agents/antigravity.md.
"""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from conversation_esaa.agents.jsonl import Lines, decode_line, read_document, read_records
from conversation_esaa.agents.listing import depends_on, is_file, is_folder, listed
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import MAX_INTEGER, without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

NAME = AgentId("antigravity")
TITLE = "Antigravity CLI"
KNOWN_INVISIBLE = frozenset(
    {
        "ASK_QUESTION",
        "CODE_ACTION",
        "CONVERSATION_HISTORY",
        "GENERATE_IMAGE",
        "GENERIC",
        "GREP_SEARCH",
        "INVOKE_SUBAGENT",
        "LIST_DIRECTORY",
        "READ_URL_CONTENT",
        "RUN_COMMAND",
        "SEARCH_WEB",
        "SYSTEM_MESSAGE",
        "VIEW_FILE",
    }
)

_LOGS = Path(".system_generated", "logs")
_TRANSCRIPTS = ("transcript_full.jsonl", "transcript.jsonl")
_OPEN, _CLOSE = "<USER_REQUEST>", "</USER_REQUEST>"
_ENVELOPE = lazy(r"\n<(?:ADDITIONAL_METADATA|USER_SETTINGS_CHANGE|SYSTEM_MESSAGE)>")
_MODEL = lazy(r"`Model Selection` from [^\n]* to ([^\n]+?)\.?(?:\n|<|$)")
_ID = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LOG_LINE = lazy(rf"Created conversation ({_ID.pattern})|using project .*\(id=({_ID.pattern})\)")
_CHILD = lazy(rf"(?:conversationId\W{{1,8}}|brain/)({_ID.pattern})")
_LOG_BYTES = 1_000_000  # of one diagnostics file: both lines come when a conversation begins
_RECENT = 64  # steps that a repeated one is compared with


class State(ReaderState, kw_only=True):
    """What reading a transcript has to remember."""

    recent: list[str] = msgspec.field(default_factory=list)  # native refs of the last turns and marks


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$ANTIGRAVITY_HOME`, which some readers honour, else `~/.gemini/antigravity-cli`."""
    return Path(environ.get("ANTIGRAVITY_HOME") or user_home / ".gemini" / "antigravity-cli")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The transcripts of conversations that the side files place in a root, below it or above it.

    Sorted by path. A conversation of unknown workspace is left out: `unlisted` counts it. One that some
    conversation started as a sub-agent is left out too; to find those, the transcripts are looked through
    when a conversation is not in the history of typed prompts.
    """
    wanted = [_comparable(root) for root in roots]
    conversations = _conversations(home)
    typed, linked = _workspaces(home, conversations)
    untyped = any(name in linked and name not in typed for name in conversations)
    children = _children(conversations) if untyped else set()
    for name, transcript in conversations.items():
        places = typed.get(name) or ([] if name in children else linked.get(name, []))
        related = [cwd for cwd in places if any(_related(_comparable(cwd), root) for root in wanted)]
        if related:
            yield SessionFile(path=transcript, session_id=name, cwd=related[0])


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs as much as `session_files`."""
    conversations = _conversations(home)
    typed, linked = _workspaces(home, conversations)
    unknown = [name for name in conversations if not typed.get(name) and not linked.get(name)]
    children = _children(conversations) if unknown else set()
    stored = {Path(os.path.realpath(folder)).name for folder in _folders(home / "brain")}
    stored |= {path.stem for path in _files(home / "conversations", "*") if path.suffix in (".db", ".pb")}
    counts = {
        "conversations of unknown workspace": len(set(unknown) - children),
        "conversations without a transcript": len(stored - set(conversations)),
    }
    return {reason: count for reason, count in counts.items() if count}


def open_session(file: SessionFile) -> State:
    """The side files have told all there is."""
    return State(session_id=without_surrogates(file.session_id), cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and finished answers, in file order.

    A tool's result may be written before the call that asked for it, but both are invisible; between a
    prompt and its answers file order is the order of steps, and stays so when a file is read in pieces. A
    step that is stated again is the same turn: what was seen first counts.
    """
    for record in records:
        step: dict[str, Any] = record if type(record) is dict else {}
        match step.get("type"):
            case "USER_INPUT":
                yield from _prompt(step, state)
            case "PLANNER_RESPONSE":
                yield from _answer(step, state)
            case "CHECKPOINT":
                yield from _compaction(step, state)
            case str(kind) if kind in KNOWN_INVISIBLE:
                pass
            case kind:
                state.met_unknown(kind if step else record)


def _prompt(step: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    content = step.get("content")
    if step.get("source") not in ("USER_EXPLICIT", None) or not isinstance(content, str):
        return
    begin = content.find(_OPEN)
    if begin < 0:
        state.met_unknown("USER_INPUT without a USER_REQUEST")
        return
    begin += len(_OPEN)
    end = content.rfind(_CLOSE, begin)  # the last one: a prompt may quote the tag
    if end < 0:  # the content was cut by the agent
        envelope = _ENVELOPE.search(content, begin)
        end = envelope.start() if envelope else len(content)
    if chosen := _MODEL.search(content, end):
        state.model = without_surrogates(chosen[1].strip())
    text = content[begin:end].removeprefix("\n").removesuffix("\n")
    yield from _said(Actor.USER, text, step, state)


def _answer(step: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    content = step.get("content")
    # An answer that is not done may still grow, and comes again when it is.
    if step.get("source") not in ("MODEL", None) or step.get("status") not in ("DONE", None):
        return
    if isinstance(content, str):
        yield from _said(Actor.ASSISTANT, content, step, state)


def _said(actor: Actor, text: str, step: dict[str, Any], state: State) -> Iterator[Turn | SessionMark]:
    ref = _native_ref(step, state)
    if not text or text.isspace() or _seen(ref, state):
        return
    said_at = parse_utc(step.get("created_at"))
    if not state.started:
        state.started = True
        yield _mark(state, MarkKind.STARTED, said_at=said_at)
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
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _compaction(step: dict[str, Any], state: State) -> Iterator[SessionMark]:
    ref = _native_ref(step, state)
    if not _seen(ref, state):
        yield _mark(state, MarkKind.COMPACTED, said_at=parse_utc(step.get("created_at")), source_ref=ref)


def _mark(state: State, kind: MarkKind, *, said_at: str, source_ref: str = "") -> SessionMark:
    state.visible += 1
    return SessionMark(
        source=NAME,
        source_session_id=state.session_id,
        kind=kind,
        source_ref=source_ref,
        said_at=said_at,
        cwd=state.cwd,
        model=state.model,
    )


def _native_ref(step: dict[str, Any], state: State) -> str:
    index = step.get("step_index")
    if type(index) is not int or not 0 <= index <= MAX_INTEGER:
        return ""
    return f"{state.session_id}/{index}/{step['type']}"


def _seen(ref: str, state: State) -> bool:
    if not ref:
        return False
    if ref in state.recent:
        return True
    state.recent = [*state.recent[1 - _RECENT :], ref]
    return False


def _conversations(home: Path) -> dict[str, Path]:
    """Conversation id → its transcript, sorted by path; each real folder once."""
    found: dict[str, Path] = {}
    seen: set[Path] = set()
    for folder in _folders(home / "brain"):
        real = Path(os.path.realpath(folder))  # a link may have any name
        for name in _TRANSCRIPTS:
            transcript = folder / _LOGS / name
            if real not in seen and is_file(transcript):
                seen.add(real)
                found[real.name] = transcript
    return found


def _workspaces(
    home: Path, conversations: Mapping[str, Path]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Conversation id → directories: as the history of typed prompts states it, and as other files link it.

    The order is one of trust; the diagnostics are read only when it takes them. Paths in tools' arguments
    prove nothing and are not looked at.
    """
    typed: dict[str, list[str]] = {}
    for record in _records(home / "history.jsonl"):
        match record:
            case {"conversationId": str(name), "workspace": str(place)} if name and place:
                typed.setdefault(name, [_as_path(place)])
    linked: dict[str, list[str]] = {}
    described_in = home / "cache" / "conversation_metadata.json"
    depends_on(described_in)
    match read_document(described_in):
        case {"conversations": dict(described)}:
            for name, metadata in described.items():
                match metadata:
                    case {"summary": {"WorkspaceURIs": [*uris]}}:
                        linked[name] = [_as_path(uri) for uri in uris if isinstance(uri, str) and uri]
    if any(not typed.get(name) and not linked.get(name) for name in conversations):
        for name, project in _projects(home / "log").items():
            if not linked.get(name):
                linked[name] = _folders_of_project(home.parent / "config" / "projects" / f"{project}.json")
    return typed, {name: places for name, places in linked.items() if places}


def _projects(logs: Path) -> dict[str, str]:
    """Conversation id → project id, as the diagnostics tell: the project named last before it began."""
    links: dict[str, str] = {}
    for path in _files(logs, "cli-*.log"):
        depends_on(path)
        try:
            with path.open("rb") as file:
                text = file.read(_LOG_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        project = ""
        for conversation, named in _LOG_LINE.findall(text):
            project = named or project
            if conversation and project:
                links.setdefault(conversation, project)
    return links


def _folders_of_project(path: Path) -> list[str]:
    depends_on(path)
    match read_document(path):
        case {"projectResources": {"resources": [*resources]}}:
            uris = [
                uri
                for resource in resources
                if isinstance(resource, dict)
                and isinstance(git := resource.get("gitFolder"), dict)
                and isinstance(uri := git.get("folderUri"), str)
            ]
            return [_as_path(uri) for uri in uris if uri]
    return []


def _children(conversations: Mapping[str, Path]) -> set[str]:
    """Conversations that another one started as its sub-agent: its INVOKE_SUBAGENT result names them."""
    children: set[str] = set()
    for name, transcript in conversations.items():
        for step in _records(transcript, only=b"INVOKE_SUBAGENT"):
            if step.get("type") == "INVOKE_SUBAGENT" and isinstance(content := step.get("content"), str):
                children.update(other for other in _CHILD.findall(content) if other != name)
    return children


def _records(path: Path, *, only: bytes = b"") -> Iterator[dict[str, Any]]:
    """The records of a side file; none when it cannot be read. `only` names bytes that their line has."""
    depends_on(path)
    try:
        with path.open("rb") as file:
            if not only:
                yield from read_records(file, Lines())
                return
            for line in file:
                if only in line:
                    yield from decode_line(line)
    except OSError:
        return


def _as_path(place: str) -> str:
    """A directory as text, whether it is stated as a path or as a `file:` URL."""
    if place.startswith("file://"):
        place = unquote(place.removeprefix("file://"))
        if place[2:3] == ":":  # /C:/Users/…
            place = place[1:]
    return without_surrogates(place)


def _related(cwd: str, root: str) -> bool:
    return cwd == root or cwd.startswith(f"{root}/") or root.startswith(f"{cwd}/")


def _comparable(path: str) -> str:
    """One spelling for comparing. It is a coarse one, for a gate judges each turn later: case and the form of
    Unicode do not count, nor the kind and the number of separators at the end.
    """
    return unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()


def _folders(parent: Path) -> list[Path]:
    """The directories in `parent`, sorted; empty when it is none, or went meanwhile."""
    try:
        return sorted(parent / entry.name for entry in listed(parent) if is_folder(entry))
    except OSError:
        return []


def _files(parent: Path, pattern: str) -> list[Path]:
    """What is in `parent` under such a name, sorted."""
    depends_on(parent)
    return sorted(parent.glob(pattern))
