"""The settings of one workspace: what `config.toml` says, as values. No I/O.

The file is a person's to edit. Ours is to change single lines of it (`with_roots`), so comments and order
stay as they are.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec

from conversation_esaa.errors import ConversationError
from conversation_esaa.patterns import lazy

MAX_TEXT_CHARACTERS = 2_000_000
SCHEMA = 1

# Of any system: /…, \\\\share, C:\\…; a `~` or a variable would be taken by nobody for what was meant.
_ABSOLUTE = lazy(r"\\\\|[A-Za-z]:[\\/]|file://")

_TEMPLATE = """\
# Settings of this conversation-esaa workspace. The log beside it is the source of truth; this file and the
# log are all that cannot be rebuilt.
schema = {schema}
workspace_id = {workspace_id}
replica_id = {replica_id}

# Where the workspace is. Updated by `conversation-esaa init` when the directory was moved.
root = {root}
# Other directories that belong to it: git worktrees of the same repository, another name of the same path.
roots = []
# Where it was before.
former_roots = []

[capture]
# Agents whose logs are not read, for example ["grok"].
exclude_agents = []
# A longer text is cut there, with a marker and its original length.
max_text_characters = {max_text}
"""


class BadSettings(ConversationError):
    """config.toml cannot be read."""

    code = "config.invalid"

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(
            f"{where}: {problem}",
            hint="Mend the file by hand; the log is untouched. `conversation-esaa init` in a new directory "
            "shows what a good one looks like.",
        )


class CaptureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The `[capture]` table."""

    exclude_agents: tuple[str, ...] = ()
    max_text_characters: int = MAX_TEXT_CHARACTERS


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What `config.toml` says. Paths are text, as written."""

    workspace_id: str
    replica_id: str  # names this copy of the workspace on this machine
    root: str
    schema: int = SCHEMA
    roots: tuple[str, ...] = ()
    former_roots: tuple[str, ...] = ()
    capture: CaptureSettings = CaptureSettings()

    @classmethod
    def unset(cls, root: str) -> "Settings":
        """For a directory that is no workspace yet: its path and no identity."""
        return cls(workspace_id="", replica_id="", root=root)

    @property
    def all_roots(self) -> tuple[str, ...]:
        """Every path that is or was this workspace, the present one first."""
        return (self.root, *self.roots, *self.former_roots)


def new_config(*, workspace_id: str, replica_id: str, root: str) -> str:
    """The text of a fresh config.toml."""
    return _TEMPLATE.format(
        schema=SCHEMA,
        workspace_id=_toml(workspace_id),
        replica_id=_toml(replica_id),
        root=_toml(root),
        max_text=MAX_TEXT_CHARACTERS,
    )


@lru_cache(maxsize=8)  # a command asks for them at each step
def parse(content: bytes, *, where: str) -> Settings:
    """The settings in `content`, the bytes of a config.toml; a byte order mark is allowed.

    where   the file's name, for the error. Raises BadSettings with what is wrong, line and column included
            when the file is no TOML.
    """
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        raise BadSettings(where, f"not UTF-8 at byte {error.start}") from None
    try:
        settings = msgspec.convert(_plain_table(text) or _toml_table(text, where), Settings)
    except msgspec.ValidationError as error:
        raise BadSettings(where, str(error)) from None
    for path in settings.all_roots:
        if not path.startswith("/") and not _ABSOLUTE.match(path):
            raise BadSettings(where, f"root and roots take absolute paths, written out: {path!r} is none")
    if settings.schema > SCHEMA:
        raise BadSettings(
            where, f"schema {settings.schema} is newer than this program knows ({SCHEMA}); upgrade it"
        )
    return settings


def _plain_table(text: str) -> dict[str, Any] | None:
    """What TOML makes of `text`, where that is plain to see; None where it is not.

    A file as we write it has a key a line and values that JSON spells alike. Every command reads it, and
    importing the TOML parser costs as much as all the rest of that.
    """
    table: dict[str, Any] = {}
    part = table
    text = text.replace("\r\n", "\n")
    if "\r" in text:  # alone it is no end of a line, and TOML refuses it
        return None
    for line in text.split("\n"):
        words = line.strip(" \t")
        if not words or (words[0] == "#" and words.isprintable()):
            continue
        if words == "[capture]" and "capture" not in table:
            part = table["capture"] = {}
            continue
        key, _, value = (side.strip(" \t") for side in words.partition("="))
        if key not in Settings.__struct_fields__ + CaptureSettings.__struct_fields__ or key in part:
            return None
        try:  # a backslash means other things in the two languages
            found = msgspec.json.decode(value) if value.isprintable() and "\\" not in value else None
        except msgspec.DecodeError:
            return None
        if not isinstance(found, str | list) and type(found) is not int:
            return None
        if isinstance(found, list) and not all(isinstance(item, str) for item in found):
            return None
        part[key] = found
    return table


def _toml_table(text: str, where: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(where, f"not TOML: {error}") from None


def with_roots(
    content: str,
    *,
    root: str,
    roots: tuple[str, ...],
    former_roots: tuple[str, ...],
    replica_id: str,
    where: str,
) -> str:
    """`content` with its root lines and its replica changed, and nothing else.

    Raises BadSettings when one of the keys does not stand on a line of its own, as we write them.
    """
    values = {
        "replica_id": _toml(replica_id),
        "root": _toml(root),
        "roots": f"[{', '.join(map(_toml, roots))}]",
        "former_roots": f"[{', '.join(map(_toml, former_roots))}]",
    }
    changed = content
    for key, value in values.items():
        line = f"{key} = {value}"
        pattern = rf"^{key}[ \t]*=[ \t]*[^\r\n]*$"
        # A backslash of a Windows path is no group reference.
        changed, count = re.subn(pattern, line.replace("\\", r"\\"), changed, count=1, flags=re.MULTILINE)
        if not count:
            first_table = re.search(r"^\[", changed, flags=re.MULTILINE)
            at = first_table.start() if first_table else len(changed)
            changed = f"{changed[:at]}{line}\n{changed[at:]}"
    settings = parse(changed.encode(), where=where)
    if (settings.root, settings.roots, settings.former_roots, settings.replica_id) != (
        root,
        roots,
        former_roots,
        replica_id,
    ):
        raise BadSettings(
            where,
            "replica_id, root, roots and former_roots must each stand on one line to be updated",
        )
    return changed


def _toml(text: str) -> str:
    """A TOML basic string. JSON's escapes are a subset of TOML's, DEL apart."""
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")
