"""What the system is to start: the same for all of them."""

from __future__ import annotations

from pathlib import Path

import msgspec

NAME = "conversation-esaa"
DESCRIPTION = "conversation-esaa: captures what you and your coding agents say"
MARK = "Written by conversation-esaa; its watch command takes it away again."


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One process, with what it needs to know of the environment it was ordered in."""

    command: list[str]
    environ: dict[str, str] = {}
    user: str = ""  # as Windows names one


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """What a system needs: one file, and the commands that make it notice. Nothing here is done yet.

    start, stop   commands in their order; of `stop`, none must succeed.
    mend          what a person does when `start` fails.
    ask           the command that shows how the service fares.
    """

    kind: str
    file: Path
    content: bytes
    start: list[list[str]]
    stop: list[list[str]]
    forgotten: list[list[str]] = []  # after the file is gone
    mend: str
    ask: str
