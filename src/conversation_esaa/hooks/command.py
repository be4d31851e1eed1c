"""The command that an agent runs, as text in the language of the shell that the agent hands it to.

It says nothing and succeeds when the interpreter or the package is gone, so that what was written into an agent's
settings never disturbs the agent. It names files that an upgrade leaves where they are.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import conversation_esaa.hooks as package
from conversation_esaa.errors import ConversationError

if TYPE_CHECKING:
    from collections.abc import Callable

SH, CMD, POWERSHELL = "sh", "cmd", "powershell"

# Found in a command whatever interpreter, environment or quoting it was written with.
_OURS = re.compile(r"conversation_esaa[\\/]+hooks[\\/]+entry\.py")
_HOLDABLE = re.compile("[^\ud800-\udfff\x00\r\n]+")
_EXPANDED_BY_CMD = re.compile(r"%[^%\\/:\"]+%")
_ENDS_QUOTE_IN_POWERSHELL = re.compile("(['\u2018\u2019\u201a\u201b])")


class NotQuotable(ConversationError):
    """A path that no quoting of the agent's shell keeps as it is."""

    code = "hooks.path"


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook calls, and where."""

    interpreter: str
    entry: str
    windows: bool


def this_program() -> Program:
    """The interpreter that runs now, and the entry file of the package that runs now."""
    return Program(
        interpreter=sys.executable,
        entry=str(Path(package.__file__).with_name("entry.py")),
        windows=sys.platform == "win32",
    )


def is_ours(text: object) -> bool:
    """Whether `text` is a command that calls our entry file, of whichever installation."""
    return isinstance(text, str) and bool(_OURS.search(text))


def words(program: Program, agent: str, event: str, *, inject: bool = False) -> list[str]:
    """The call as separate words, for what runs a program without a shell. Raises NotQuotable."""
    call = [program.interpreter, "-I", "-S", program.entry, agent, event]
    if not all(_HOLDABLE.fullmatch(path) for path in (program.interpreter, program.entry)):
        raise NotQuotable(
            "the path of the interpreter or of the package is not UTF-8, or is not known",
            hint="Install conversation-esaa in a directory with a name that settings files can hold.",
        )
    return [*call, "--inject"] if inject else call


def command(program: Program, shell: str, agent: str, event: str, *, inject: bool = False) -> str:
    """The call as one text for `shell`: `sh`, `cmd` or `powershell`. Raises NotQuotable."""
    call = words(program, agent, event, inject=inject)
    if shell == SH:
        return f"{_joined(call, sh_quoted)} 2>/dev/null || :"
    if shell == CMD:
        return f"{_joined(call, _cmd_quoted)} 2>nul || exit /b 0"
    return f"try {{ & {_joined(call, _powershell_quoted)} 2>$null }} catch {{}}; exit 0"


def sh_quoted(word: str) -> str:
    """`word` for a POSIX shell."""
    return "'" + word.replace("'", "'\\''") + "'"


def _joined(call: list[str], quoted: Callable[[str], str]) -> str:
    """The two paths quoted; the rest are words of ours, plain in every shell."""
    return " ".join(quoted(word) if at in (0, 3) else word for at, word in enumerate(call))


def _cmd_quoted(word: str) -> str:
    if _EXPANDED_BY_CMD.search(word) or '"' in word:
        raise NotQuotable(
            f"cmd.exe would change the path {word}",
            hint="Install conversation-esaa in a directory without `%…%` in its name.",
        )
    return f'"{word}"'


def _powershell_quoted(word: str) -> str:
    return "'" + _ENDS_QUOTE_IN_POWERSHELL.sub(r"\1\1", word) + "'"
