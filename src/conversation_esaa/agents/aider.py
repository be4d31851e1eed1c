"""Aider: one Markdown file in the project itself, to which every session is appended.

The text has no ids, no moments but that of a session's start, and no quoting: what is a prompt, a notice or
an answer is told by how lines begin and end. Where that leaves a doubt, text stays out rather than pose as
something said; what an answer contains must not become a prompt.

Format and how we know it: docs/reference/agents/aider.md.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.agents.listing import depends_on, is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import UNKNOWN, to_utc
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from conversation_esaa.agents.jsonl import Lines

NAME = AgentId("aider")
TITLE = "Aider"
KNOWN_INVISIBLE: frozenset[str] = frozenset()  # notices are left out when the text is divided

_HISTORY, _TYPED, _SETTINGS = ".aider.chat.history.md", ".aider.input.history", ".aider.conf.yml"
_MOVED = lazy(r"(?m)^chat-history-file:[ \t]*(['\"]?)([^\r\n]+?)\1[ \t]*(?:#[^\r\n]*)?\r?$")
_SESSION = lazy(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_TYPED_AT = lazy(r"# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)")
_COMMAND = lazy(r"!|/(?!(?:ask|code|architect|context)\s)[a-z-]+(?:\s|$)")
_MODEL = lazy(r"> (?:Main model|Model): (\S+) with ")
_VERSION = lazy(r"> Aider v(\S+)")
_THINKING, _ANSWER = "► **THINKING**", "► **ANSWER**"
_REASONING = lazy(r"(?ms)(?:^-{4,}\n+)?^► \*\*THINKING\*\*.*?(?:^(?:-{4,}\n+)?► \*\*ANSWER\*\*\n?|\Z)")
_PROMPT, _TOKENS, _END = "#### ", "> Tokens: ", "  "
_ONE_WRITE = 8192  # bytes: what Python gives to the system in one piece
_SESSIONS = 32  # whose pieces are counted on, when one of them comes again
_TWICE_S = 0.5  # within which a prompt that stands twice in the history of typed lines was typed once


class State(ReaderState, kw_only=True):
    """What reading a chat history has to remember."""

    counts: dict[str, int] = msgspec.field(default_factory=dict)  # session → its pieces so far, the last few
    typed_at: str = ""  # the local moment of the last prompt that is in the history of typed lines
    said_at: str = ""  # the same, or the session's start, in our form


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`~/.aider`, where Aider keeps caches. What was said is in the projects."""
    del environ
    return user_home / ".aider"


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The chat histories that lie in a root itself: Aider writes to the root of a repository, else to where it
    was started. `.aider.conf.yml` there, or in the home directory, may give the file another name; one that
    leads out of the root is shared by projects and tells none of them, so it is left out.
    """
    usual = _name_in(home.parent / _SETTINGS) or _HISTORY
    found: dict[str, SessionFile] = {}
    for root in roots:
        path = Path(root, _name_in(Path(root, _SETTINGS)) or usual)
        if not is_file(path):
            continue
        real = os.path.realpath(path)
        if real.startswith(os.path.realpath(root).rstrip(os.sep) + os.sep):
            found.setdefault(real, SessionFile(path=path, cwd=root, kind=Kind.TEXT))
    yield from sorted(found.values(), key=lambda file: str(file.path))


def open_session(file: SessionFile) -> State:
    """The folder is the workspace; everything else is in the text."""
    return State(cwd=without_surrogates(file.cwd))


def read(records: Iterable[Any], state: State) -> Iterator[Turn | SessionMark]:
    """Prompts and answers, in file order."""
    for record in records:
        match record:
            case {"piece": "session", "at": str(stamp)}:
                _begin(stamp, record, state)
            case {"piece": "prompt", "text": str(text), "at": str(at)}:
                if at:
                    state.typed_at, state.said_at = without_surrogates(at), _utc(at)
                hidden = text == "<blank>" or bool(_COMMAND.match(text))
                yield from _said(Actor.USER, "" if hidden else text, state)
            case {"piece": "answer", "text": str(text)}:
                yield from _said(Actor.ASSISTANT, _REASONING.sub("", text).strip(), state)
            case _:
                state.met_unknown("a piece of another kind")


def _begin(stamp: str, record: dict[str, Any], state: State) -> None:
    stamp = without_surrogates(stamp)
    if stamp != state.session_id:
        state.session_id, state.started = stamp, False
    counts = {stamp: state.counts.get(stamp, 0), **state.counts}
    state.counts = dict(list(counts.items())[:_SESSIONS])
    state.typed_at, state.said_at = "", _utc(stamp)
    state.model, state.agent_version = (
        without_surrogates(value) if isinstance(value := record.get(key), str) else ""
        for key in ("model", "version")
    )


def _said(actor: Actor, text: str, state: State) -> Iterator[Turn | SessionMark]:
    ref = ""
    if state.session_id in state.counts:
        # Every piece counts, so that what is shown of them can change without moving the others.
        ref = f"{state.session_id}/{state.counts[state.session_id]}"
        state.counts[state.session_id] += 1
    if not text or text.isspace():
        return
    if not state.started:
        state.started = True
        state.visible += 1
        yield SessionMark(
            source=NAME,
            source_session_id=state.session_id,
            kind=MarkKind.STARTED,
            said_at=_utc(state.session_id),
            cwd=state.cwd,
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
        said_at=state.said_at,
        cwd=state.cwd,
        model=state.model,
        agent_version=state.agent_version,
    )


class _Line(msgspec.Struct, frozen=True):
    """A line that was written to its end."""

    text: str
    begin: tuple[int, int]  # offset, and the number of lines before it
    end: tuple[int, int]

    @property
    def ends(self) -> bool:
        """Whether Aider's own words end here: two blanks, which its answers' lines mostly have not."""
        return self.text.endswith(_END)


class _Piece(msgspec.Struct):
    """A piece that is being put together."""

    kind: str  # session, prompt, answer, notice
    texts: list[str]
    begin: int  # offset
    open: bool = False  # of a notice: its last line is still to come; of an answer: reasoning is


def pieces(text: BinaryIO, file: SessionFile, lines: Lines, state: ReaderState) -> Iterator[dict[str, Any]]:
    """Sessions, prompts and answers that are finished; notices are passed over.

    A piece is finished by the beginning of the next one. A prompt at the very end counts when it is so short
    that it was written at once: its answer may take long, or never come.
    """
    typed = _Typed(file.path.with_name(_TYPED))
    known = bool(state.session_id)  # what stands before the first session is nobody's
    piece: _Piece | None = None
    here = (lines.offset, lines.line_no)
    blanks = None if lines.offset else here  # where the blank lines begin that were read last
    for line in _lines(text, lines):
        if not line.text.strip():
            blanks = blanks or line.begin
            if piece and piece.kind == "answer":
                piece.texts.append(line.text)
            continue
        kind = _begins(line, piece, typed, after_blank=blanks is not None, known=known)
        if not kind and piece:
            if piece.kind != "notice":
                piece.texts.append(line.text)
            _close(piece, line)
        else:
            lines.offset, lines.line_no = blanks or line.begin
            if piece and piece.kind != "notice":
                yield from _record(piece, typed, state)
            piece = _Piece(kind or "notice", [line.text], line.begin[0])
            _close(piece, line)
            known = known or kind == "session"
        blanks = None
        here = line.end
    if piece and piece.kind == "prompt":
        if blanks or (here[0] - piece.begin < _ONE_WRITE and not text.read(1)):
            lines.offset, lines.line_no = here
            yield from _record(piece, typed, state)
    elif piece and piece.kind == "notice" and blanks and not piece.open:
        lines.offset, lines.line_no = blanks


def _lines(text: BinaryIO, lines: Lines) -> Iterator[_Line]:
    """The whole lines from here on. One that is not ended yet is left to be read."""
    here = (lines.offset, lines.line_no)
    while True:
        raw = text.readline()
        if not raw.endswith(b"\n"):
            text.seek(here[0])
            return
        begin, here = here, (here[0] + len(raw), here[1] + 1)
        yield _Line(raw.decode("utf-8", "replace").rstrip("\r\n"), begin, here)


def _begins(line: _Line, piece: _Piece | None, typed: _Typed, *, after_blank: bool, known: bool) -> str:
    """The kind of the piece that begins with a line; "" when it continues the one before."""
    kind, more = (piece.kind, piece.open) if piece else ("", False)
    if after_blank and _SESSION.fullmatch(line.text):
        return "session"
    # Behind an answer that no notice has ended, the answer itself may state a line that looks like a prompt.
    if after_blank and known and _is_prompt(line) and (kind != "answer" or typed.may_have(line.text)):
        return "prompt"
    is_notice = line.text.startswith(">")
    match kind:
        case "session":  # the banner quotes the command line, and so maybe a whole prompt
            continues = True
        case "prompt":
            continues = not after_blank and _is_prompt(line)
        case "notice":
            continues = more or not after_blank
        case "answer":
            ends = line.text.startswith(_TOKENS) or (is_notice and line.ends and not more)
            continues = not (ends and after_blank)
        case _:
            continues = False
    if continues or not known:
        return ""
    if kind == "prompt" and after_blank:
        return "answer"  # Aider's own words would follow without a blank line
    return "notice" if is_notice or not after_blank else "answer"


def _is_prompt(line: _Line) -> bool:
    return line.text.startswith(_PROMPT) and line.ends


def _close(piece: _Piece, line: _Line) -> None:
    """Take note of whether a piece has more to come, whatever its lines look like."""
    if piece.kind == "notice":
        piece.open = not line.ends and (piece.open or line.text.startswith(">"))
    elif piece.kind == "answer" and line.text.startswith((_THINKING, _ANSWER)):
        piece.open = line.text.startswith(_THINKING)


def _record(piece: _Piece, typed: _Typed, state: ReaderState) -> Iterator[dict[str, Any]]:
    match piece.kind:
        case "session":
            told = "\n".join(piece.texts)
            found = _SESSION.match(told)
            model, version = _MODEL.findall(told), _VERSION.findall(told)
            yield {
                "piece": "session",
                "at": found[1] if found else "",
                "model": model[-1] if model else "",
                "version": version[-1] if version else "",
            }
        case "prompt":
            words = "\n".join(text.removeprefix(_PROMPT).removesuffix(_END) for text in piece.texts)
            after = (state.typed_at if isinstance(state, State) else "") or state.session_id
            yield {"piece": "prompt", "text": words, "at": typed.moment(words, after=after)}
        case _:
            yield {"piece": "answer", "text": "\n".join(piece.texts).strip()}


class _Typed:
    """The history of typed lines beside a chat history: read when it is asked, and maybe not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._moments: dict[str, list[str]] | None = None  # prompt → local moments, in order

    def may_have(self, line: str) -> bool:
        """Whether a prompt may begin with this line; True when there is no such history."""
        first = line.removeprefix(_PROMPT).removesuffix(_END)
        told = self._told()
        return not told or any(words == first or words.startswith(f"{first}\n") for words in told)

    def moment(self, words: str, *, after: str) -> str:
        """When these words were first typed after a local moment; "" when nobody noted it."""
        return next((at for at in self._told().get(words.strip(), []) if at > after), "")

    def _told(self) -> dict[str, list[str]]:
        if self._moments is None:
            self._moments = {}
            try:
                content = self._path.read_bytes().decode("utf-8", "replace")
            except OSError:
                content = ""
            for at, words in _typed(content):
                moments = self._moments.setdefault(words, [])
                if not moments or _seconds(moments[-1], at) > _TWICE_S:
                    moments.append(at)
        return self._moments


def _typed(content: str) -> Iterator[tuple[str, str]]:
    at, words = "", []
    for line in [*content.splitlines(), "# "]:
        if line.startswith("+"):
            words.append(line[1:])
        elif line.startswith("# "):
            if at and words:
                yield at, "\n".join(words).strip()
            found = _TYPED_AT.fullmatch(line)
            at, words = found[1] if found else "", []


def _seconds(first: str, second: str) -> float:
    try:
        return (datetime.fromisoformat(second) - datetime.fromisoformat(first)).total_seconds()
    except ValueError:
        return 0.0


def _utc(stamp: str) -> str:
    """Aider notes what the clock on the wall showed: it is taken for this machine's own."""
    try:
        return to_utc(datetime.fromisoformat(stamp).astimezone())
    except (ValueError, OverflowError, OSError):
        return UNKNOWN


def _name_in(settings: Path) -> str:
    """The name that a settings file gives to the chat history; "" when it does not."""
    depends_on(settings)
    try:
        text = settings.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
    found = _MOVED.search(text)
    return found[2] if found else ""
