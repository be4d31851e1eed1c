"""What the hook surface of one agent consists of: the words that its module is written in."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from conversation_esaa.errors import ConversationError
from conversation_esaa.hooks import json_edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.ids import AgentId
    from conversation_esaa.machine import Machine

PROJECT, USER = "project", "user"
SCOPES = (PROJECT, USER)

TIMEOUT_S = 10  # the longest that a hook of ours may take; it takes some hundredths of that


class NotEditable(ConversationError):
    """An agent's file that we do not touch: broken, or not laid out as its vendor says."""

    code = "hooks.not_editable"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event of an agent, under the agent's own name for it."""

    name: str
    timeout_s: int = TIMEOUT_S
    injects: bool = False  # what we print there reaches the model, by a contract that we keep


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of ours in a file, as it stands there."""

    event: str
    entry: str  # all that identifies it, as text: equal means that nothing is to be renewed
    inject: bool = False  # whether it asks for text to put into the model's context


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What taking out has to leave, though it looks empty: it was like that before us."""

    containers: tuple[tuple[str | int, ...], ...] = ()
    existed: bool = False  # the file itself


class Form(Protocol):
    """How entries of ours get into a file and out again. Bytes in, bytes out; `b""` stands for no file.

    All three raise NotEditable, naming line and column, and then nothing is to be written.
    """

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:
        """`old` with our entries as they should be: added, renewed, or untouched when they are right."""

    def take(self, old: bytes, kept: Kept) -> bytes:
        """`old` without any entry of ours; `b""` when there is nothing else."""

    def kept(self, old: bytes) -> Kept:
        """What `take` needs to know of the file before us."""

    def found(self, content: bytes) -> list[Found]:
        """Our entries in a file, in its order."""

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:
        """Our entries as `put` writes them."""


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the agent runs what stands in its file, or waits for its user to allow it."""

    required: bool = False  # it will not run yet, as far as can be told
    step: str = ""  # what the user has to do, exactly; "" when nothing


NOT_NEEDED = Approval()


class Trust(msgspec.Struct, frozen=True, kw_only=True):
    """A documented file in which the agent's user says which folders he trusts."""

    path: Path
    form: Form


class HookModule(Protocol):
    """What the module of one agent offers."""

    NAME: AgentId
    DEFAULT_SCOPE: str
    EVENTS: Sequence[Event]
    FORM: Form

    def home(self, machine: Machine) -> Path:
        """The agent's own directory of settings; the agent counts as present when it exists."""

    def places(self, machine: Machine, root: Path) -> dict[str, Path]:
        """Scope → the file that our entries go into. A scope that the agent does not have is left out."""

    def approval(self, machine: Machine, root: Path, *, scope: str, changed: bool) -> Approval:
        """What stands between the file and its entries being run.

        changed   whether they were written just now.
        """

    def trust(self, machine: Machine, root: Path) -> Trust | None:
        """What `--trust` may write for `root`; None where its vendor documents no such file."""


def home_of(machine: Machine, variable: str, *below: str) -> Path:
    """The directory that an environment variable names when it is not empty, else one below the home."""
    if given := machine.environ.get(variable, ""):
        return Path(given)
    return machine.user_home.joinpath(*below)


def read(path: Path) -> bytes:
    """A file's bytes; none for one that cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def json_value(path: Path, *keys: str) -> dict[str, Any]:
    """The object at `keys` in an agent's own JSON file; empty when there is none. Raises nothing.

    Some agents write comments into such files.
    """
    content = read(path)
    try:
        return _below(json.loads(content), keys)
    except (ValueError, RecursionError):
        pass
    try:
        return _below(json_edit.parse(content.decode("utf-8-sig")).value, keys)
    except (ValueError, RecursionError):
        return {}


def toml_value(path: Path, *keys: str) -> dict[str, Any]:
    """The table at `keys` in an agent's own TOML file; empty when there is none. Raises nothing."""
    try:
        return _below(tomllib.loads(read(path).decode("utf-8-sig")), keys)
    except (ValueError, RecursionError):
        return {}


def _below(value: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text_of(content: bytes, path: str = "") -> tuple[str, str]:
    """A byte order mark, and the text behind it. Raises NotEditable for what is no UTF-8."""
    mark = "\ufeff" if content.startswith(b"\xef\xbb\xbf") else ""
    try:
        return mark, content.decode("utf-8").removeprefix(mark)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise broken("it is not UTF-8", line, column, path=path) from None


def broken(what: str, line: int, column: int, *, path: str = "") -> NotEditable:
    """The refusal to write behind something that we do not understand."""
    return NotEditable(
        f"{path or 'the file'}, line {line}, column {column}: {what}",
        hint="Nothing was changed. Mend that place, then run the command again.",
    )


def unforeseen() -> NotEditable:
    """The refusal of a change that would change more than our entries."""
    return NotEditable(
        "the file is laid out in a way in which our entries cannot be put in or taken out without others changing",
        hint="Nothing was changed. Edit the file by hand; docs/reference/hooks.md shows the entries.",
    )
