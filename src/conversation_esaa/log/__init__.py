"""The event log: one line an event, appended under a lock, chained by hashes, never rewritten.

    codec      bytes of one line ↔ an event          chain      what commits every line to those before
    v1_1       lines of the older tool               lock       one writer at a time
    reader     any place, both directions, no lock   writer     drafts → lines, in one piece
    recovery   what a crash left at the end          contract   what FileLog and InMemoryLog promise

The format, for whoever wants to read or verify a log without this code: docs/reference/log-format.md.
"""

from __future__ import annotations

from conversation_esaa.log.contract import EventLog, Stamp, Writer
from conversation_esaa.log.file_log import FileLog
from conversation_esaa.log.in_memory import InMemoryLog

__all__ = ["EventLog", "FileLog", "InMemoryLog", "Stamp", "Writer"]
