"""Claude Code: one JSONL file per session, one line per content block.

Few kinds of line can hold something said: `user`, `assistant`, and for a prompt typed while the agent
worked the attachment `queued_command`, in some versions `queue-operation`. Everything else is
bookkeeping, or repeats such a line, or is a request to the model with injected text; it is left alone by
name, and a name that is new is counted. Of a `user` line the vendor's own marks decide first, an envelope
around the whole text second (`claude_code_words`). Where sessions are: `claude_code_files`.
Format, versions, and how we know: docs/reference/agents/claude-code.md.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.claude_code_words import said_by_person
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.digests import sha256
from conversation_esaa.ids import AgentId
from conversation_esaa.later import Later
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conversation_esaa.agents.claude_code_files import home, retention, session_files
else:  # of many sessions it is known where they are (`capture/listed.py`), so nobody looks for them
    home, retention, session_files = Later("conversation_esaa.agents.claude_code_files").functions(
        "home", "retention", "session_files"
    )

NAME = AgentId("claude-code")
TITLE = "Claude Code"

# fmt: off
KNOWN_INVISIBLE = frozenset({
    "agent-name", "ai-title", "api-request", "api-request-blob", "api-request-shape", "atis-latch",
    "bridge-session", "cost-state", "custom-title", "file-history-snapshot", "frame-link", "last-prompt",
    "mode", "permission-mode", "pr-link", "progress", "relocated", "result", "started", "summary",
    "tools-used", "worktree-state",
})
# fmt: on

MAX_WAITING = 64  # prompts that wait for something: an answer, or their turn in the queue

UNKNOWN_VERSION = (999_999,)  # taken for newer than any
STABLE_UUIDS = (1, 0, 93)  # from here on a copied line keeps its `uuid`
STABLE_TIMES = (2, 0, 0)  # from here on a copied line keeps its `timestamp`
QUEUED_COMMANDS = (2, 1, 101)  # from here on a prompt typed while busy is an attachment

_COPY_RULES = "claude-code/1:"  # a change of what a copy key is made of is a change of this number
_UUID = lazy(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class State(ReaderState, kw_only=True):
    """What is remembered between two lines."""

    file_name: str = ""  # names the session when no record does
    opened_at: str = ""  # of the first queue operation: in a fork later than the history copied into it
    attachments: bool = False  # the file has attachment lines, so a prompt typed while busy will be one
    queue: list[list[str]] = msgspec.field(default_factory=list)
    """Prompts typed while busy, for versions that keep them nowhere else: [when, digest, words]."""
    dequeued: int = 0  # how many of them became `user` lines that are still to come
    absorbed: list[str] = msgspec.field(default_factory=list)
    """Digests of prompts given as turns out of the queue since the last answer."""
    unanswered: list[str] = msgspec.field(default_factory=list)
    """Versions before STABLE_UUIDS: digests of the prompts since the last answer."""
    owed: list[str] = msgspec.field(default_factory=list)
    """Copy keys of prompts that were given before their answer was read."""

    def holds_words(self) -> bool:
        """Prompts typed while busy wait with their words."""
        return bool(self.queue)


def open_session(file: SessionFile) -> State:
    """A session's file is named after it. A file with another name (an export) says in its lines."""
    name = file.session_id or file.path.stem
    return State(
        session_id=name if _UUID.fullmatch(name) else "",
        file_name=name,
        sidechain=file.path.name.startswith("agent-") or "subagents" in file.path.parts,
    )


# --- From lines to turns


class _Block(msgspec.Struct, gc=False):
    type: str = ""


class _Message(msgspec.Struct, gc=False):
    content: list[_Block] | str | None = None


class _Head(msgspec.Struct, rename="camel", gc=False):
    """What tells whether something was said in a line; the rest is passed over without being built."""

    type: str = ""
    is_sidechain: Any = None
    agent_id: Any = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    message: _Message | None = None


_head = msgspec.json.Decoder(_Head).decode
_CONVERSATION = frozenset({"assistant", "user", "attachment", "queue-operation", "system"})


def glance(line: bytes, state: State) -> bool:
    """Whether nothing was said in a line, told without decoding all of it; `state` is moved on as `read` would.

    Most lines are tool calls and their results, the longest lines there are. False means: decode it whole.
    Raises DecodeError for what is no JSON.
    """
    try:
        head = _head(line)
    except msgspec.ValidationError:
        return False  # a value of an unexpected type: `read` is the one to judge it
    if state.sidechain:
        return True
    kind = head.type
    if not state.session_id:
        return False
    if kind not in ("assistant", "user"):
        return kind not in _CONVERSATION and kind in KNOWN_INVISIBLE
    content = head.message.content if head.message else None
    if type(content) is not list:
        return False
    blocks = [block.type for block in content]
    silent = "tool_result" in blocks if kind == "user" else not ("text" in blocks or state.unanswered)
    if silent and not (head.is_sidechain or head.agent_id):
        state.cwd = head.cwd or state.cwd
        state.agent_version = head.version or state.agent_version
        if head.git_branch:
            state.git_branch = head.git_branch if head.git_branch != "HEAD" else ""
    return silent


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """What the screen showed, in file order, moving `state` forward. Raises nothing of its own.

    The first turn or compaction is preceded by the session's start, once per session.

    Versions before STABLE_UUIDS copy a session into a new file with new ids and new times. There a
    prompt waits for the answer whose `message.id` makes it recognisable, at most until `records` end;
    then the answer of a later piece carries the prompt's copy key. That is the one thing that depends
    on how a file is cut into pieces: which of the two turns has the key. Order, text and ids do not.
    """
    waiting: list[tuple[Turn | SessionMark, str]] = []  # with the prompt's digest, "" for what only queues up
    for record in records:
        if state.sidechain:
            continue
        if not isinstance(record, dict):
            state.met_unknown(None)
            continue
        if not state.session_id:
            state.session_id = _text(record, "sessionId")
        kind = record.get("type")
        found: Turn | SessionMark | None = None
        if kind == "assistant":
            if _is_answer(record, state):
                if state.unanswered and (message_id := _text(record["message"], "id")):
                    yield from _answered(waiting, message_id, state)
                    waiting.clear()
                found = _answer(record, state)
        elif kind == "user":
            found = _prompt(record, state)
        elif kind == "attachment":
            found = _prompt_while_busy(record, state)
        elif kind == "queue-operation":
            found = _prompt_from_queue(record, state)
        elif kind == "system":
            found = _compaction(record, state)
        elif not (isinstance(kind, str) and kind in KNOWN_INVISIBLE):
            state.met_unknown(kind)
        if found is None:
            continue
        state.visible += 1
        start = None if state.started else _start(found, record, state)
        digest = ""
        if kind == "user" and isinstance(found, Turn) and _version(state.agent_version) < STABLE_UUIDS:
            digest = _digest(found.text)
            state.unanswered = [*state.unanswered[1 - MAX_WAITING :], digest]
        if digest or waiting:
            if len(waiting) >= MAX_WAITING:
                yield from (earlier for earlier, _ in waiting)
                waiting.clear()
            waiting += [(start, "")] if start else []
            waiting.append((found, digest))
        else:
            if start:
                yield start
            yield found
    yield from (earlier for earlier, _ in waiting)


def _start(first: Turn | SessionMark, record: dict[str, Any], state: State) -> SessionMark:
    state.started = True
    origin = _text(record, "requestSessionId") or _text(record, "sessionId")
    return SessionMark(
        source=NAME,
        source_session_id=first.source_session_id,
        kind=MarkKind.STARTED,
        said_at=state.opened_at or first.said_at,
        cwd=first.cwd,
        git_branch=first.git_branch,
        model=first.model,
        agent_version=first.agent_version,
        forked_from=origin if origin != first.source_session_id else "",
    )


def _is_sub_agent(record: dict[str, Any]) -> bool:
    return bool(record.get("isSidechain") or record.get("agentId"))


def _follow(record: dict[str, Any], state: State) -> None:
    """Where the session stands, which lines without an envelope do not say. `HEAD` is no branch."""
    cwd, version, branch = record.get("cwd"), record.get("version"), record.get("gitBranch")
    if cwd and isinstance(cwd, str):
        state.cwd = cwd
    if version and isinstance(version, str):
        state.agent_version = version
    if branch and isinstance(branch, str):
        state.git_branch = branch if branch != "HEAD" else ""


def _session(state: State) -> str:
    if not state.session_id:
        state.session_id = state.file_name
    return state.session_id


def _turn(
    record: dict[str, Any],
    state: State,
    actor: Actor,
    text: str,
    *,
    copy_keys: tuple[str, ...],
    message_id: str = "",
) -> Turn:
    state.source_index += 1
    return Turn(
        source=NAME,
        source_session_id=_session(state),
        source_index=state.source_index - 1,
        actor=actor,
        text=text,
        source_ref=_text(record, "uuid"),
        message_ref=message_id,
        copy_keys=copy_keys,
        said_at=parse_utc(record.get("timestamp")),
        cwd=state.cwd,
        git_branch=state.git_branch,
        model=state.model if actor is Actor.ASSISTANT else "",
        agent_version=state.agent_version,
    )


# --- What the agent said


def _is_answer(record: dict[str, Any], state: State) -> bool:
    """Whether the model made this line, for the person: no sub-agent, no error shown in its place."""
    if _is_sub_agent(record):
        return False
    _follow(record, state)
    message = record.get("message")
    if not isinstance(message, dict):
        state.met_unknown("assistant without a message")
        return False
    return not (
        message.get("role") != "assistant"
        or message.get("model") == "<synthetic>"
        or record.get("isApiErrorMessage")
        or record.get("apiError")
        or record.get("error")
        or record.get("isMeta")
        or record.get("isVisibleInTranscriptOnly")
    )


def _answer(record: dict[str, Any], state: State) -> Turn | None:
    """One line is one content block of a message; only a `text` block was said."""
    message = record["message"]
    blocks = _text_blocks(message.get("content"))
    text = "\n".join([block for block in blocks if block and not block.isspace()])
    if not text:
        return None
    state.model = _text(message, "model")
    keys = state.owed
    if message_id := _text(message, "id"):
        # Some gateways repeat message ids, so one is trusted across sessions only for the versions whose
        # copies keep nothing else.
        scope = _session(state) if _version(state.agent_version) >= STABLE_UUIDS else ""
        block = record.get("apiBlockIndex")
        place = str(block) if isinstance(block, int) else ""
        keys = [*keys, _copy_key("answer", scope, message_id, place, _digest(text))]
    state.owed, state.absorbed = [], []
    return _turn(record, state, Actor.ASSISTANT, text, copy_keys=tuple(keys), message_id=message_id)


def _answered(
    waiting: list[tuple[Turn | SessionMark, str]], message_id: str, state: State
) -> Iterator[Turn | SessionMark]:
    """What waited, with the copy keys that the answer's id makes possible.

    Equal prompts before one answer are told apart by their order, which copies keep. Prompts that were
    given already, at the end of an earlier piece, leave their keys to the answer.
    """
    digests, state.unanswered = state.unanswered, []
    keys = [
        _copy_key("prompt", message_id, digest, str(digests[:at].count(digest)))
        for at, digest in enumerate(digests)
    ]
    given = max(0, len(keys) - sum(1 for _, digest in waiting if digest))
    state.owed = (state.owed + keys[:given])[-MAX_WAITING:]
    remaining = iter(keys[given:])
    for found, digest in waiting:
        if digest and isinstance(found, Turn):
            yield msgspec.structs.replace(found, copy_keys=(next(remaining),))
        else:
            yield found


# --- What the person said


def _prompt(record: dict[str, Any], state: State) -> Turn | None:
    if _is_sub_agent(record):
        return None
    _follow(record, state)
    if record.get("toolUseResult") is not None:
        return None
    message = record.get("message")
    if not isinstance(message, dict):
        state.met_unknown("user without a message")
        return None
    content = message.get("content")
    if message.get("role") != "user" or _has_tool_result(content):
        return None
    if state.dequeued and not record.get("isMeta"):
        _leave_queue(content, state)
    if _is_machine_made(record):
        return None
    return _prompt_turn(record, state, content)


def _prompt_while_busy(record: dict[str, Any], state: State) -> Turn | None:
    state.attachments, state.queue, state.dequeued = True, [], 0
    attachment = record.get("attachment")
    if _is_sub_agent(record) or not isinstance(attachment, dict):
        return None
    _follow(record, state)
    if (
        attachment.get("type") != "queued_command"
        or attachment.get("commandMode") != "prompt"
        or _is_machine_made(record)
        or _is_machine_made(attachment)
    ):
        return None
    content = attachment.get("prompt")
    if state.absorbed and (digest := _digest_of_content(content)) in state.absorbed:
        state.absorbed.remove(digest)
        return None
    return _prompt_turn(record, state, content)


def _prompt_turn(record: dict[str, Any], state: State, content: Any) -> Turn | None:
    said = [words for block in _text_blocks(content) if (words := said_by_person(block))]
    if not said:
        return None
    text = "\n".join(said)
    keys: list[str] = []
    moment = _text(record, "timestamp")
    if moment and _version(state.agent_version) >= STABLE_TIMES:
        # Some resumes copy history inside one file, a line for each block: a block's key finds its copy.
        scope = _session(state)
        keys = [_copy_key("said", scope, moment, _digest(words)) for words in dict.fromkeys((text, *said))]
    return _turn(record, state, Actor.USER, text, copy_keys=tuple(keys))


def _is_machine_made(record: dict[str, Any]) -> bool:
    """The vendor's own marks. `rowSource` is `local` for typed and untyped lines alike, so it says little."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return bool(
        record.get("isMeta")
        or record.get("isCompactSummary")
        or record.get("isVisibleInTranscriptOnly")
        or kind not in (None, "human")
        or record.get("turnOrigin") == "task_notification"
        or record.get("promptSource") == "system"
        or record.get("rowSource") in ("harness", "hook")
    )


# --- Prompts that stand in no line of their own


def _prompt_from_queue(record: dict[str, Any], state: State) -> Turn | None:
    """A prompt typed while busy, in versions that record it only as taken out of the queue.

    `enqueue` brings the words; `dequeue` announces a `user` line with them; `popAll` took them back
    unsent; `remove` without an attachment to come means that the model got them in the middle of its work.
    """
    if not (state.opened_at or state.started):
        state.opened_at = parse_utc(record.get("timestamp"))
    if state.attachments or QUEUED_COMMANDS <= _version(state.agent_version) < UNKNOWN_VERSION:
        state.queue, state.dequeued = [], 0
        return None
    operation, content = record.get("operation"), record.get("content")
    if operation == "enqueue" and isinstance(content, str):
        entry = [_text(record, "timestamp"), _digest(content), said_by_person(content)]
        state.queue = [*state.queue[1 - MAX_WAITING :], entry]
    elif operation == "dequeue":
        state.dequeued += 1
        if state.dequeued >= len(state.queue):
            state.queue, state.dequeued = [], 0
    elif operation in ("remove", "popAll"):
        while state.dequeued:
            _leave_queue(None, state)
        if operation == "popAll" and not isinstance(content, str):
            state.queue = []
        taken = _taken(state.queue, content)
        if operation == "remove" and taken and taken[2]:
            return _absorbed(taken, state)
    return None


def _absorbed(entry: list[str], state: State) -> Turn:
    moment, digest, text = entry
    state.absorbed = [*state.absorbed[1 - MAX_WAITING :], digest]
    record = {"uuid": f"{_session(state)}/{moment}/{digest[:8]}", "timestamp": moment}
    return _turn(record, state, Actor.USER, text, copy_keys=())


def _leave_queue(content: Any, state: State) -> None:
    """A `user` line came out of the queue: the entry with its words, else the oldest.

    Notifications overtake prompts, so the oldest is not always the one.
    """
    state.dequeued -= 1
    digest = _digest_of_content(content)
    at = next((at for at, entry in enumerate(state.queue) if entry[1] == digest), 0)
    del state.queue[at : at + 1]


def _taken(queue: list[list[str]], content: Any) -> list[str] | None:
    if not isinstance(content, str):
        return queue.pop(0) if queue else None
    digest = _digest(content)
    at = next((at for at, entry in enumerate(queue) if entry[1] == digest), None)
    return None if at is None else queue.pop(at)


# --- What happened to the session


def _compaction(record: dict[str, Any], state: State) -> SessionMark | None:
    if _is_sub_agent(record):
        return None
    _follow(record, state)
    if record.get("subtype") != "compact_boundary":
        return None
    about = record.get("compactMetadata")
    return SessionMark(
        source=NAME,
        source_session_id=_session(state),
        kind=MarkKind.COMPACTED,
        source_ref=_text(record, "uuid"),
        said_at=parse_utc(record.get("timestamp")),
        cwd=state.cwd,
        git_branch=state.git_branch,
        agent_version=state.agent_version,
        trigger=_text(about, "trigger") if isinstance(about, dict) else "",
    )


# --- Values of any shape


def _text_blocks(content: Any) -> list[str]:
    """The text of a message's content: a string, or a list of blocks."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [
        text
        for block in content
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(text := block.get("text"), str)
    ]


def _has_tool_result(content: Any) -> bool:
    """Copies of old versions lack the line's `toolUseResult`, and keep the block."""
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "tool_result" for block in content
    )


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=64)
def _version(text: str) -> tuple[int, ...]:
    """`2.1.332` as numbers to compare; UNKNOWN_VERSION for anything else."""
    parts = text.split(".")
    if len(parts) == 3 and all(part.isdecimal() and len(part) <= 6 for part in parts):
        return tuple(map(int, parts))  # without a pattern, which would have to be compiled
    found = re.match(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})", text)
    return tuple(map(int, found.groups())) if found else UNKNOWN_VERSION


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of_content(content: Any) -> str:
    return _digest("\n".join(_text_blocks(content)))


def _copy_key(*parts: str) -> str:
    """No words, no ids: a digest that says nothing but "the same"."""
    return _COPY_RULES + _digest("\0".join(parts))[:32]
