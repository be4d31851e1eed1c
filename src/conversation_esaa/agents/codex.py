"""Codex CLI: one rollout file a thread, one JSON object a line.

Three logs share the file: `response_item` is what the model got; `event_msg` is what the terminal showed,
as `user_message`/`agent_message` (legacy mode) or as `item_completed` (paginated mode, 0.150 and newer).
The conversation is what the terminal showed. `response_item` stands in only where a file has no such event,
because it also holds instructions, environment and compaction summaries in the same roles.

Format and how we know it: docs/reference/agents/codex.md.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.canonical import storable, without_surrogates
from conversation_esaa.digests import sha256
from conversation_esaa.ids import AgentId
from conversation_esaa.later import Later
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from conversation_esaa.agents.codex_files import home, session_files, unlisted
else:  # of many sessions it is known where they are (`capture/listed.py`), so nobody looks for them
    home, session_files, unlisted = Later("conversation_esaa.agents.codex_files").functions(
        "home", "session_files", "unlisted"
    )

NAME = AgentId("codex")
TITLE = "Codex CLI"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INVISIBLE_RECORDS = _names("response_item world_state token_usage_record inter_agent_communication_metadata")
_INVISIBLE_EVENTS = _names(
    """
    task_started task_complete turn_started turn_complete turn_aborted token_count error stream_error warning
    agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break thread_name_updated
    thread_goal_updated entered_review_mode exited_review_mode sub_agent_activity guardian_assessment
    exec_command_begin exec_command_end patch_apply_begin patch_apply_end mcp_tool_call_begin
    mcp_tool_call_end web_search_begin web_search_end view_image_tool_call image_generation_begin
    image_generation_end dynamic_tool_call_request dynamic_tool_call_response collab_agent_spawn_begin
    collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin
    collab_waiting_end collab_close_begin collab_close_end undo_started undo_completed plan_update
    """
)
_INVISIBLE_ITEMS = _names(
    "Reasoning CommandExecution FileChange McpToolCall WebSearch HookPrompt CollabAgentToolCall Plan Extension"
)
KNOWN_INVISIBLE = frozenset(
    {
        *_INVISIBLE_RECORDS,
        *(f"event_msg/{kind}" for kind in _INVISIBLE_EVENTS),
        *(f"item_completed/{kind}" for kind in _INVISIBLE_ITEMS),
    }
)

_ACTORS = {
    "user_message": Actor.USER,
    "agent_message": Actor.ASSISTANT,
    "UserMessage": Actor.USER,
    "AgentMessage": Actor.ASSISTANT,
}
# Whose thread it is, by the first header. All others (exec, cli, vscode, a custom client) are a person's.
_INTERNAL = _names("subagent sub_agent subAgent internal review guardian memory_consolidation")

# What Codex puts into the model's history in the user's name: instructions, and what happened.
_INSTRUCTIONS = _names("environment_context user_instructions INSTRUCTIONS permissions AGENTS.md")
_WRAPPERS = _INSTRUCTIONS | _names(
    "turn_aborted user_shell_command skill subagent_notification hook_prompt image"
)
_TAG = lazy(r"<(/?)(\w+)[\s>]")

_HELD = 16  # items kept while it is open whether the file has events
_MIRRORED = 8  # turns taken from items that the first events are compared with
_COPIED_HEADERS = 8  # a fork of a fork of …
_ONE_WRITE = timedelta(seconds=1)  # between two lines of a history that was copied in one go


class State(ReaderState, kw_only=True):
    """What reading a rollout has to remember."""

    header: bool = False  # the first session_meta was met: it decides whose thread this is
    began_at: str = ""
    forked_from: str = ""
    by_events: bool = False  # a user or agent event was met: items are mirrors of events
    by_items: bool = False  # an answer came without any event: items are all there is
    held: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    """ Actor, text and time of items met before either was known."""
    mirrored: list[str] = msgspec.field(default_factory=list)  # digests of the last turns, taken from items
    last_event: str = ""  # "log:digest" of the last turn, taken from an event
    copied: dict[str, int] = msgspec.field(default_factory=dict)
    """Threads whose history is being copied in → our ordinal of their first record."""
    copied_at: str = ""  # when the last line of that copy was written
    compactions: int = 0
    compacted_by: str = ""  # the record type that told of the last compaction

    def holds_words(self) -> bool:
        """Items of which it is not known yet whether they mirror events wait with their words."""
        return bool(self.held)


def open_session(file: SessionFile) -> State:
    """The header in the file knows better; the name is for files that lost it."""
    return State(session_id=without_surrogates(file.session_id), cwd=file.cwd)


class _Item(msgspec.Struct):
    type: str = ""


class _Payload(msgspec.Struct):
    type: str = ""
    item: _Item | None = None


class _Head(msgspec.Struct):
    """What tells whether a line may hold something said; the rest is passed over without being built."""

    type: str = ""
    payload: _Payload | None = None


_head = msgspec.json.Decoder(_Head).decode


def glance(line: bytes, state: State) -> bool:
    """Whether nothing was said in a line, told without decoding all of it; `read` would pass it over.

    False means: decode it whole. Raises DecodeError for what is no JSON.
    """
    try:
        head = _head(line)
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it
    kind, payload = head.type, head.payload
    if kind == "session_meta":
        return False
    if state.sidechain:
        return True
    if payload is None or state.copied:
        return False
    if kind == "response_item":
        return state.by_events or payload.type != "message"
    if kind != "event_msg":
        return False
    if payload.type == "item_completed":
        return payload.item is not None and payload.item.type in _INVISIBLE_ITEMS
    return payload.type in _INVISIBLE_EVENTS


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the terminal showed, in file order. The whole file of a sub-agent gives nothing.

    Ordinals count visible records; a text that is in two of the three logs is one.
    """
    for record in records:
        kind = record.get("type") if type(record) is dict else None
        if kind == "response_item" and (state.by_events or state.sidechain):
            continue  # half of all lines, and the longest
        if kind == "session_meta":
            _take_header(record, state)
        elif state.sidechain:
            continue
        elif not isinstance(kind, str):
            state.met_unknown(kind if type(record) is dict else record)
        elif isinstance(payload := record.get("payload"), dict):
            if state.copied:
                _watch_copy(record, state)
            yield from _read_payload(kind, payload, record, state)
        elif kind not in _INVISIBLE_RECORDS:
            state.met_unknown(f"{kind} without a payload")


_Found = tuple[Turn | SessionMark, ...]  # of one record: nothing, a turn, the session's start and a turn


def _read_payload(kind: str, payload: dict[str, Any], record: dict[str, Any], state: State) -> _Found:
    if kind == "event_msg":
        return _event(payload, record, state)
    if kind == "response_item":
        return _item(payload, record, state)
    if kind == "turn_context":
        state.cwd = storable(payload.get("cwd")) or state.cwd
        state.model = storable(payload.get("model")) or state.model
    elif kind == "compacted":
        # What was said by the model until here, and had no event, was the summary.
        state.held = [held for held in state.held if held[0] == Actor.USER]
        return _compaction(kind, record, state)
    elif kind not in _INVISIBLE_RECORDS:
        state.met_unknown(kind)
    return ()


def _event(payload: dict[str, Any], record: dict[str, Any], state: State) -> _Found:
    kind = payload.get("type")
    if not isinstance(kind, str):
        state.met_unknown("event_msg without a type")
    elif kind in ("user_message", "agent_message"):
        _stay_with_events(state)
        # Some versions before 0.50 show instructions and environment too, and say so.
        if payload.get("kind") in (None, "plain"):
            text = payload.get("message")
            if isinstance(text, str):
                return _shown(_ACTORS[kind], text, record, state, log="legacy")
    elif kind == "item_completed":
        item = payload.get("item")
        item = item if isinstance(item, dict) else {}
        kind = item.get("type")
        if not isinstance(kind, str):
            state.met_unknown("item_completed without an item")
        elif kind in ("UserMessage", "AgentMessage"):
            _stay_with_events(state)
            text = _joined(item.get("content"), ("text", "Text"))
            ref = storable(item.get("id"))
            return _shown(_ACTORS[kind], text, record, state, log="paginated", ref=ref)
        elif kind == "ContextCompaction":
            return _compaction(kind, record, state)
        elif kind not in _INVISIBLE_ITEMS:
            state.met_unknown(f"item_completed/{kind}")
    elif kind == "context_compacted":
        return _compaction(kind, record, state)
    elif kind == "thread_settings_applied":
        settings = payload.get("thread_settings")
        if isinstance(settings, dict):
            state.model = storable(settings.get("model")) or state.model
    elif kind not in _INVISIBLE_EVENTS:
        state.met_unknown(f"event_msg/{kind}")
    return ()


def _shown(
    actor: Actor, text: str, record: dict[str, Any], state: State, *, log: str, ref: str = ""
) -> _Found:
    if actor is Actor.USER and _wrapper(text) in _INSTRUCTIONS:
        return ()
    return _said(actor, text, record, state, log=log, ref=ref)


def _stay_with_events(state: State) -> None:
    state.by_events = True
    state.by_items = False
    state.held = []


def _item(payload: dict[str, Any], record: dict[str, Any], state: State) -> _Found:
    """A message of the model's history, in a file where no event was met so far.

    An event follows its user item at once and precedes its answer's item. So an answer's item that comes
    after a user item, and still no event, settles it: this file has none. Until then items are held.
    """
    if payload.get("type") != "message":
        return ()
    match payload.get("role"):
        case "user":
            actor, text = Actor.USER, _typed(payload)
        case "assistant":
            actor, text = Actor.ASSISTANT, _joined(payload.get("content"), ("output_text", "text"))
        case _:
            return ()
    if not text or text.isspace():
        return ()
    if not state.by_items and actor is Actor.ASSISTANT:
        state.by_items = any(held[0] == Actor.USER for held in state.held)
    if not state.by_items:
        if len(state.held) >= _HELD:
            del state.held[0]
            state.met_unknown("response_item that no event and no answer followed")
        state.held.append((str(actor), without_surrogates(text), storable(record.get("timestamp"))))
        return ()
    held, state.held = state.held, []
    found: list[Turn | SessionMark] = []
    for held_actor, held_text, at in held:
        found += _said(Actor(held_actor), held_text, {"timestamp": at}, state, log="items")
    return (*found, *_said(actor, text, record, state, log="items"))


def _said(
    actor: Actor, text: str, record: Mapping[str, Any], state: State, *, log: str, ref: str = ""
) -> _Found:
    if not text or text.isspace():
        return ()
    digest = _digest(actor, text)
    if _is_mirror(digest, state, log=log):
        return ()
    said_at = parse_utc(record.get("timestamp"))
    start = None
    if not state.started:
        state.started = True
        start = _mark(
            state, MarkKind.STARTED, said_at=state.began_at or said_at, forked_from=state.forked_from
        )
    ordinal = state.source_index
    state.source_index += 1
    state.visible += 1
    if actor is Actor.USER:
        state.compacted_by = ""
    copy_keys = [_copy_key(state.session_id, ordinal, digest)]
    for thread, first in state.copied.items():
        copy_keys.append(_copy_key(thread, ordinal - first, digest))
    turn = Turn(
        source=NAME,
        source_session_id=state.session_id,
        source_index=ordinal,
        actor=actor,
        text=text,
        source_ref=ref,
        copy_keys=tuple(copy_keys),
        said_at=said_at,
        cwd=state.cwd,
        git_branch=state.git_branch,
        git_commit=state.git_commit,
        model=state.model,
        agent_version=state.agent_version,
    )
    return (start, turn) if start else (turn,)


def _is_mirror(digest: str, state: State, *, log: str) -> bool:
    """Whether the turn with this digest was taken from another log of the file just before."""
    if log == "items":
        state.mirrored = [*state.mirrored[1 - _MIRRORED :], digest]
        return False
    if digest in state.mirrored:
        newest = len(state.mirrored) - state.mirrored[::-1].index(digest)
        state.mirrored = state.mirrored[newest:]
        return True
    state.mirrored = []
    other = "legacy" if log == "paginated" else "paginated"
    is_mirror = state.last_event == f"{other}:{digest}"
    state.last_event = "" if is_mirror else f"{log}:{digest}"
    return is_mirror


def _compaction(kind: str, record: dict[str, Any], state: State) -> _Found:
    """One mark a compaction, though `compacted` and an event both tell of it."""
    if state.compacted_by and state.compacted_by != kind:
        state.compacted_by = ""
        return ()
    state.compacted_by = kind
    if state.copied:
        return ()  # it was the parent's
    state.compactions += 1
    mark = _mark(
        state,
        MarkKind.COMPACTED,
        said_at=parse_utc(record.get("timestamp")),
        source_ref=f"compaction {state.compactions}",
    )
    return (mark,)


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
        git_branch=state.git_branch,
        git_commit=state.git_commit,
        model=state.model,
        agent_version=state.agent_version,
        forked_from=forked_from,
    )


def _take_header(record: dict[str, Any], state: State) -> None:
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return
    thread = storable(payload.get("id")) or storable(payload.get("session_id"))
    if state.header and thread != state.session_id:
        if not state.sidechain and thread and len(state.copied) < _COPIED_HEADERS:
            state.copied[thread] = state.source_index
            state.copied_at = parse_utc(record.get("timestamp"))
            state.forked_from = state.forked_from or thread
        return
    if not state.header:
        state.header = True
        state.session_id = thread or state.session_id
        state.began_at = parse_utc(payload.get("timestamp")) or parse_utc(record.get("timestamp"))
        state.forked_from = storable(payload.get("forked_from_id"))
        state.sidechain = _is_internal(payload)
    state.cwd = storable(payload.get("cwd")) or state.cwd
    state.agent_version = storable(payload.get("cli_version")) or state.agent_version
    if isinstance(git := payload.get("git"), dict):
        state.git_branch = storable(git.get("branch"))
        state.git_commit = storable(git.get("commit_hash"))


def _is_internal(header: dict[str, Any]) -> bool:
    """Whether the thread is a sub-agent's, a reviewer's, or Codex's own housekeeping."""
    source = header.get("source")
    names = list(source) if isinstance(source, dict) else [source]
    names.append(header.get("thread_source"))
    return bool(storable(header.get("parent_thread_id"))) or any(
        isinstance(name, str) and name in _INTERNAL for name in names
    )


def _watch_copy(record: dict[str, Any], state: State) -> None:
    """End the copy of another thread's history where its lines end.

    Older versions copy in one go: the lines bear the parent's times, or the moment of copying. While a copy
    lasts, turns only get one more copy key, so a wrong guess here loses nothing by itself.
    """
    at = parse_utc(record.get("timestamp"))
    if not at or at <= state.began_at:
        return
    if state.copied_at > state.began_at:
        since = datetime.fromisoformat(at) - datetime.fromisoformat(state.copied_at)
        if since <= _ONE_WRITE:
            state.copied_at = at
            return
    state.copied = {}


def _typed(payload: dict[str, Any]) -> str:
    """What a person typed of a user message of the model's history; "" when it is none of theirs."""
    parts = payload.get("content")
    if isinstance(parts, str):
        return "" if _wrapper(parts) else parts
    if not isinstance(parts, list):
        return ""
    kinds = payload.get("internal_chat_message_metadata_passthrough")
    kinds = kinds.get("content_item_kinds") if isinstance(kinds, dict) else None
    if isinstance(kinds, list) and len(kinds) == len(parts):
        parts = [part for part, kind in zip(parts, kinds, strict=True) if kind == "user.text"]
    return _joined(
        [
            part
            for part in parts
            if isinstance(part, dict) and isinstance(part.get("text"), str) and not _wrapper(part["text"])
        ],
        ("input_text", "text"),
    )


def _wrapper(text: str) -> str:
    """The name of the wrapper that the whole text is, "" when it is none.

    A prompt that merely mentions a wrapper, or goes on after one, is somebody's. One whose end was cut is
    told by its tag having a line of its own.
    """
    start = text.lstrip()
    if start.startswith("# AGENTS.md instructions for ") and "<INSTRUCTIONS>" in start:
        name, closing, is_cut = "AGENTS.md", "</INSTRUCTIONS>", True
    elif start.startswith("<") and (tag := _TAG.match(start)) and tag[2] in _WRAPPERS:
        name, closing = tag[2], f"</{tag[2]}>"
        tag_end = start.find(">") + 1
        if name == "image":  # a part before and a part after each picture
            return name if tag_end and not start[tag_end:].strip() else ""
        if name == "permissions":
            closing = "</permissions instructions>"
        is_cut = start.startswith("\n", tag_end)
    else:
        return ""
    _, closed, rest = start.rpartition(closing)
    if not closed:
        return name if is_cut else ""
    return name if not rest.strip() or _wrapper(rest) else ""


def _joined(parts: object, kinds: tuple[str, ...]) -> str:
    """The texts of the parts of one message, by a line feed; blank ones left out."""
    if isinstance(parts, str):
        return parts
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") in kinds)
    return "\n".join(text for text in texts if isinstance(text, str) and text and not text.isspace())


def _digest(actor: Actor, text: str) -> str:
    words = sha256(text.encode("utf-8", "surrogatepass"))
    return f"{actor[0]}{words.hexdigest()[:32]}"


def _copy_key(thread: str, ordinal: int, digest: str) -> str:
    """The same record of the same thread, in whichever file and mode: a fork's copy, a migrated rollout."""
    words = f"{thread}\0{ordinal}\0{digest}".encode("utf-8", "surrogatepass")
    return f"codex/1:{sha256(words).hexdigest()[:24]}"
