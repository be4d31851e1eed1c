"""conversation-esaa: the visible conversation with your coding agents as one append-only event log.

Start at `turn.py` and `events.py` for the words, at `workspace.py` for what can be done with them.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself costs milliseconds, and `--version` imports this
if TYPE_CHECKING:
    from typing import Any

    from conversation_esaa.workspace import Workspace

__version__ = "0.1.0"
__all__ = ["Workspace", "__version__"]


def __getattr__(name: str) -> Any:
    """`from conversation_esaa import Workspace`, without `--version` paying for the import."""
    if name == "Workspace":
        from conversation_esaa.workspace import Workspace

        return Workspace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
