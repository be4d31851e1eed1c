"""Read models to disk: rendered from the log, written only when their bytes differ.

They can be deleted at any time. No fsync: each names the log position it was built from, so one that a
power cut emptied is found out and rebuilt.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conversation_esaa.layout import Layout


class NotPublished(ConversationError):
    """A read model could not be written; the log has everything."""

    code = "project.not_written"


def differing(layout: Layout, models: Mapping[str, str]) -> list[str]:
    """Names of the read models whose file is missing or has other bytes, in the order given."""
    return [name for name, text in models.items() if _current(layout.read_model(name)) != text.encode()]


def digests(models: Mapping[str, str]) -> dict[str, str]:
    """SHA-256 of each text, in hex."""
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in models.items()}


def untouched(layout: Layout, written: Mapping[str, str]) -> dict[str, str]:
    """The read models that are as they were written, with their text.

    written   name → SHA-256 of what was written.
    """
    texts = {}
    for name, digest in written.items():
        content = _current(layout.read_model(name))
        if content is not None and hashlib.sha256(content).hexdigest() == digest:
            texts[name] = content.decode()
    return texts


def publish(layout: Layout, models: Mapping[str, str]) -> list[str]:
    """Write the read models that differ, each in one step; returns their names.

    models   name → text, as the catalogue rendered them.

    Raises NotPublished; an old file stays whole when a new one cannot be written.
    """
    written = differing(layout, models)
    for name in written:
        path = layout.read_model(name)
        try:
            replace_file(path, models[name].encode())
        except OSError as error:
            raise NotPublished(
                f"{path}: {error.strerror}",
                hint="The log is safe. Free space or mend the permissions, then run "
                "`conversation-esaa project`.",
            ) from None
    return written


def _current(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
