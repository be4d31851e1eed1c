"""Which paths mean this workspace today: the one place where the gate's table touches the real disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conversation_esaa.capture.gate import Gate

if TYPE_CHECKING:
    from conversation_esaa.layout import Layout
    from conversation_esaa.settings import Settings


def workspace_gate(layout: Layout, settings: Settings) -> Gate:
    """The gate of this workspace, asking the real disk about nested workspaces and symbolic links."""
    store = layout.store.name
    return Gate(
        roots_now(layout, settings),
        has_store=lambda path: os.path.isdir(os.path.join(path, store)),
        resolve=_real,
    )


def roots_now(layout: Layout, settings: Settings) -> tuple[str, ...]:
    """The paths that mean this workspace today, as text, each once.

    Where it used to be counts only while nothing is there: what took its place is another project, and a
    copied directory is not the original.
    """
    present = (str(layout.root), *settings.roots)
    earlier = (path for path in (settings.root, *settings.former_roots) if not os.path.isdir(path))
    return tuple(dict.fromkeys((*present, *map(_real, present), *earlier)))


def roots_ever(layout: Layout, settings: Settings) -> tuple[str, ...]:
    """Every path that is or was this workspace, as text, each once, the present one first."""
    return tuple(dict.fromkeys((str(layout.root), *settings.all_roots)))


def _real(path: str) -> str:
    """`path` with links followed, as far as this machine has it; a path of another system stays as it is."""
    try:
        return os.path.realpath(path) if os.path.isabs(path) else path
    except (OSError, ValueError):  # a NUL or half a character in it
        return path
