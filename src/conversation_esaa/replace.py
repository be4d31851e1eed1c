"""Put a whole file in place of another in one step: a reader sees the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import time
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from conversation_esaa.layout import FILE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TRIES = 10  # Windows refuses to replace a file while a reader has it open


def replace_file(path: Path, content: bytes, *, mode: int = FILE_MODE) -> None:
    """`content` at `path`, whatever was there, readable by its owner alone. As `replacing`."""
    with replacing(path, mode=mode) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = FILE_MODE) -> Iterator[BinaryIO]:
    """A file to write to, which is at `path` when the block ends. Whatever is raised, `path` is as it was.

    The name of the temporary file holds the process id, so two processes never share one. Not synced to
    disk: this is for what can be rebuilt. Raises OSError.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb", opener=partial(os.open, mode=mode)) as file:
            yield file
        for attempt in range(_TRIES):
            try:
                os.replace(temporary, path)
                return
            except PermissionError:
                if os.name != "nt" or attempt == _TRIES - 1:
                    raise
                time.sleep(0.02)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
