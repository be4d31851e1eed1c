"""The event log: one line an event, appended under a lock, chained by hashes, never rewritten.

    codec      bytes of one line ↔ an event          chain      what commits every line to those before
    v1_1       lines of the older tool               lock       one writer at a time
    reader     any place, both directions, no lock   writer     drafts → lines, in one piece
    recovery   what a crash left at the end          contract   what FileLog and InMemoryLog promise

The format, for whoever wants to read or verify a log without this code: docs/reference/log-format.md.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from conversation_esaa.log.contract import EventLog, Stamp, Writer
    from conversation_esaa.log.file_log import FileLog
    from conversation_esaa.log.in_memory import InMemoryLog

__all__ = ["EventLog", "FileLog", "InMemoryLog", "Stamp", "Writer"]

_MODULES = {"FileLog": "file_log", "InMemoryLog": "in_memory"}


def __getattr__(name: str) -> object:
    """The names of this package when they are asked for: who reads one line needs neither lock nor threads."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES.get(name, 'contract')}"), name)
