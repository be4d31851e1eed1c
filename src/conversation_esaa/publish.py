"""Read models to disk: rendered from the log, written only when their bytes differ.

They can be deleted at any time. No fsync: each names the log position it was built from, so one that a
power cut emptied is found out and rebuilt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.digests import sha256
from conversation_esaa.errors import ConversationError
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from conversation_esaa.layout import Layout


class NotPublished(ConversationError):
    """A read model could not be written; the log has everything."""

    code = "project.not_written"


def differing(layout: Layout, models: Mapping[str, bytes]) -> list[str]:
    """Names of the read models whose file is missing or has other bytes, in the order given."""
    return [name for name, content in models.items() if _current(layout.read_model(name)) != content]


def digests(models: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each, in hex."""
    return {name: sha256(content).hexdigest() for name, content in models.items()}


def untouched(layout: Layout, written: Mapping[str, str]) -> dict[str, bytes]:
    """The read models that are as they were written, with their content.

    written   name → SHA-256 of what was written.
    """
    found = {}
    for name, digest in written.items():
        content = _current(layout.read_model(name))
        if content is not None and sha256(content).hexdigest() == digest:
            found[name] = content
    return found


def publish(layout: Layout, models: Mapping[str, bytes], *, anew: Collection[str] = ()) -> list[str]:
    """Write the read models that differ, each in one step; returns their names.

    models   name → content, as the catalogue rendered them.
    anew     names of which it is known that they differ.

    Raises NotPublished; an old file stays whole when a new one cannot be written.
    """
    differ = differing(layout, {name: content for name, content in models.items() if name not in anew})
    written = [name for name in models if name in anew or name in differ]
    for name in written:
        path = layout.read_model(name)
        try:
            replace_file(path, models[name])
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
