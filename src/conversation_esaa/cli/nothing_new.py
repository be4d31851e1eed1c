"""`sync` when nothing is new: said again without importing what capture needs."""
# `pathlib` alone would cost more than the answer:
# ruff: noqa: PTH109, PTH110, PTH111, PTH113, PTH120

from __future__ import annotations

import os

from conversation_esaa import __version__
from conversation_esaa.capture import unchanged

TYPE_CHECKING = False  # `typing` itself costs milliseconds
if TYPE_CHECKING:
    from typing import TextIO

    from conversation_esaa.machine import Machine


def told(machine: Machine | None, stdout: TextIO, *, as_json: bool) -> bool:
    """Whether the answer was given, because everything is as it was when nothing was new.

    False means that nothing was printed, and that the command has to find out. Raises BrokenPipeError.
    """
    answer = _answer(machine, as_json=as_json)
    if not answer:
        return False
    if reconfigure := getattr(stdout, "reconfigure", None):
        reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        stdout.write(answer)
        stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:  # the long way has the words for it
        return False
    return True


def _answer(machine: Machine | None, *, as_json: bool) -> str:
    try:
        present = str(machine.present) if machine else os.getcwd()
    except OSError:  # deleted under us
        return ""
    root = _root(present)
    if not root:
        return ""
    found = unchanged.answers(
        os.path.join(root, ".conversation-esaa", "run", "unchanged"),
        root=root,
        home=str(machine.user_home) if machine else os.path.expanduser("~"),
        version=__version__,
        environ=machine.environ if machine else os.environ,
    )
    return found[as_json] if found else ""


def _root(present: str) -> str:
    """The nearest directory above with a store; "" where a linked git worktree would decide first."""
    directory = present
    while True:
        if os.path.exists(os.path.join(directory, ".conversation-esaa")):
            return directory
        above = os.path.dirname(directory)
        if above == directory or os.path.isfile(os.path.join(directory, ".git")):
            return ""
        directory = above
