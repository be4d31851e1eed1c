"""The machine a command runs on: environment, home directory, clock and present directory, as values.

Everything that differs between two runs of the same command comes from here, so that a test can hand in
another machine and the library never asks for itself.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from conversation_esaa.timestamps import to_utc


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command runs."""

    environ: Mapping[str, str]
    user_home: Path
    present: Path  # the current directory
    now: Callable[[], str]  # RFC 3339 UTC, milliseconds


STATE_DIRECTORY = "CONVERSATION_ESAA_STATE_DIR"


def state_directory(machine: Machine, *, system: str = sys.platform) -> Path:
    """Where we keep what belongs to the user and to no workspace. Not made here.

    `$CONVERSATION_ESAA_STATE_DIR`, else what each system has for such a thing; why no library is asked:
    docs/adr/0011.
    """
    environ = machine.environ
    if given := environ.get(STATE_DIRECTORY):
        return machine.present / given
    if system == "win32":
        base = Path(environ.get("LOCALAPPDATA") or machine.user_home / "AppData" / "Local")
    elif system == "darwin":
        base = machine.user_home / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_STATE_HOME") or machine.user_home / ".local" / "state")
        if not base.is_absolute():  # the specification: a relative one does not count
            base = machine.user_home / ".local" / "state"
    return base / "conversation-esaa"


def this_machine() -> Machine:
    """The real one. A missing home directory is no error: then no agent is found in it."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path("/nonexistent")
    try:
        present = Path.cwd()
    except OSError:  # deleted under us
        present = Path(os.environ.get("PWD") or "/")
    return Machine(environ=os.environ, user_home=home, present=present, now=lambda: to_utc(datetime.now(UTC)))
