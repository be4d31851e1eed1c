"""Aider's chat history, byte for byte as its own functions append to it. All content is made up."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import aider
from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

BEGAN = "2026-01-02 03:04:05"


class History:
    """A chat history, and the history of typed lines beside it."""

    def __init__(self) -> None:
        self.text = ""
        self.input = ""

    def session(self, at: str = BEGAN, command: str = "aider --model demo") -> History:
        """A start, with its banner; a command line may hold a prompt of several lines."""
        self.text += f"\n# aider chat started at {at}\n\n"
        return self.notice(command).notice("Aider v0.86.2").notice("Model: demo-model with diff edit format")

    def notice(self, text: str) -> History:
        """What the program says: one quoted block, of which only the first line is marked."""
        self.text += f"> {text}  \n"
        return self

    def tokens(self) -> History:
        """What it says when an answer is complete."""
        return self.notice("Tokens: 700 sent, 20 received.")

    def typed(self, text: str, at: str = "") -> History:
        """A prompt; with a moment, it is in the history of typed lines too, and twice."""
        self.text += "\n#### " + "  \n#### ".join(text.splitlines()) + "  \n"
        if at:
            lines = "".join(f"+{line}\n" for line in text.splitlines())
            self.input += f"\n# {at}.266214\n{lines}\n# {at}.266270\n{lines}"
        return self

    def answered(self, text: str) -> History:
        """An answer, as it is written when it is complete."""
        self.text += f"\n{text}\n\n"
        return self

    def save(self, folder: Path, name: str = ".aider.chat.history.md") -> Path:
        """The files where Aider would keep them."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        path.write_bytes(self.text.encode())
        if self.input:
            (folder / ".aider.input.history").write_bytes(self.input.encode())
        return path


def opened(cwd: str = "/home/dev/tea") -> aider.State:
    """The state before the first piece."""
    return aider.open_session(SessionFile(path=Path("nowhere", "history.md"), cwd=cwd, kind=Kind.TEXT))


def pieces(history: History, folder: Path = Path("nowhere")) -> list[dict[str, Any]]:
    """The finished pieces of a history, all at once."""
    file = SessionFile(path=folder / ".aider.chat.history.md", kind=Kind.TEXT)
    return list(aider.pieces(io.BytesIO(history.text.encode()), file, Lines(), opened()))


def read(history: History | bytes, folder: Path = Path("nowhere")) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning."""
    return read_on(history, Lines(), opened(), folder)


def read_on(
    history: History | bytes, lines: Lines, state: aider.State, folder: Path = Path("nowhere")
) -> list[Turn | SessionMark]:
    """What a reader gives from `lines` on; bytes may end anywhere."""
    file = SessionFile(path=folder / ".aider.chat.history.md", kind=Kind.TEXT)
    text = io.BytesIO(history if isinstance(history, bytes) else history.text.encode())
    text.seek(lines.offset)
    return list(aider.read(aider.pieces(text, file, lines, state), state))


def said(items: Iterable[Turn | SessionMark]) -> list[tuple[str, str]]:
    """Who said what."""
    return [(str(item.actor), item.text) for item in items if isinstance(item, Turn)]
