"""Put a whole file in place of another in one step: a reader sees the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from conversation_esaa.layout import FILE_MODE

if TYPE_CHECKING:
    from pathlib import Path

_TRIES = 10  # Windows refuses to replace a file while a reader has it open


def replace_file(path: Path, content: bytes, *, mode: int = FILE_MODE) -> None:
    """`content` at `path`, whatever was there, readable by its owner alone.

    The name of the temporary file holds the process id, so two processes never share one. Not synced to
    disk: this is for what can be rebuilt. Raises OSError, and then `path` is as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        for attempt in range(_TRIES):
            try:
                os.replace(temporary, path)
                return
            except PermissionError:
                if os.name != "nt" or attempt == _TRIES - 1:
                    raise
                time.sleep(0.02)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
