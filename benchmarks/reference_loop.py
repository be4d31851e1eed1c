"""The least that capture and verification must do, as a yardstick: no state, no lock, no read models.

    reference_loop.py capture HOME WORKSPACE OUT   read, decode, keep visible turns, hash-chain, write
    reference_loop.py check LOG                    decode every line, SHA-256 of its bytes

Typed decoding with msgspec, words left raw until they are known to be visible. It knows the synthetic
files only: no forks, no queued prompts, nothing damaged.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

NO_BYTES = msgspec.Raw(b"")
BUFFER = 1 << 20
# Where in a Codex line stands whether it can show something; cheaper than decoding the line.
CODEX_HEAD = 160
CODEX_SHOWS = (b'_message"', b'"item_completed"', b'"session_meta"')


class Message(msgspec.Struct, gc=False):
    """The message of a Claude Code line."""

    content: msgspec.Raw = NO_BYTES


class ClaudeLine(msgspec.Struct, gc=False):
    """A line of Claude Code: what decides whether it is visible."""

    type: str = ""
    uuid: str = ""
    timestamp: str = ""
    cwd: str = ""
    isSidechain: bool = False  # noqa: N815 - the vendor's spelling
    isMeta: bool = False  # noqa: N815
    isCompactSummary: bool = False  # noqa: N815
    message: Message | None = None


class Block(msgspec.Struct, gc=False):
    """A content block of Claude Code, or a part of a Codex item."""

    type: str = ""
    text: str = ""


class Item(msgspec.Struct, gc=False):
    """A finished item of Codex."""

    type: str = ""
    id: str = ""
    content: msgspec.Raw = NO_BYTES


class Payload(msgspec.Struct, gc=False):
    """The payload of a Codex line."""

    type: str = ""
    message: str = ""
    cwd: str = ""
    item: Item | None = None


class CodexLine(msgspec.Struct, gc=False):
    """A line of Codex."""

    type: str = ""
    timestamp: str = ""
    payload: msgspec.Raw = NO_BYTES


Said = tuple[str, str, str, str]  # actor, time, native id, text

claude_line = msgspec.json.Decoder(ClaudeLine).decode
codex_line = msgspec.json.Decoder(CodexLine).decode
payload_of = msgspec.json.Decoder(Payload).decode
blocks_of = msgspec.json.Decoder(list[Block]).decode
text_of = msgspec.json.Decoder(str).decode


def claude_turns(file: BinaryIO, workspace: str) -> Iterator[Said]:
    """The visible turns of one Claude Code session."""
    for raw in file:
        line = claude_line(raw)
        if (
            line.type not in ("user", "assistant")
            or line.isSidechain
            or line.isMeta
            or line.isCompactSummary
            or line.cwd != workspace
            or line.message is None
        ):
            continue
        content = bytes(line.message.content)
        if content[:1] == b'"':
            text = text_of(content)
            if not text.startswith(("<command-name>", "<local-command-stdout>")):
                yield line.type, line.timestamp, line.uuid, text
        elif b'"type":"text"' in content and b"tool_result" not in content[:80]:
            for block in blocks_of(content):
                if block.type == "text":
                    yield line.type, line.timestamp, line.uuid, block.text


def codex_turns(file: BinaryIO, workspace: str) -> Iterator[Said]:
    """The visible turns of one Codex rollout."""
    for raw in file:
        head = raw[:CODEX_HEAD]
        if not any(mark in head for mark in CODEX_SHOWS):
            continue
        line = codex_line(raw)
        payload = payload_of(line.payload)
        if line.type == "session_meta" and payload.cwd != workspace:
            return
        if payload.type in ("user_message", "agent_message"):
            yield _actor(payload.type), line.timestamp, "", payload.message
        elif payload.item and payload.item.type in ("UserMessage", "AgentMessage"):
            text = "\n".join(part.text for part in blocks_of(payload.item.content))
            yield _actor(payload.item.type.lower()), line.timestamp, payload.item.id, text


def capture(home: Path, workspace: str, out: Path) -> int:
    """All visible turns of `home` into `out`, chained; how many."""
    folder = re.sub(r"[^A-Za-z0-9]", "-", workspace)
    count, link = 0, b""
    sources = (
        ((home / ".claude" / "projects" / folder).glob("*.jsonl"), claude_turns),
        ((home / ".codex" / "sessions").rglob("*.jsonl"), codex_turns),
    )
    with out.open("wb", buffering=BUFFER) as written:
        for paths, turns in sources:
            for path in sorted(paths):
                with path.open("rb", buffering=BUFFER) as file:
                    for actor, at, ref, text in turns(file, workspace):
                        fact = {"ts": at, "actor": actor, "session": path.stem, "ref": ref, "text": text}
                        line = msgspec.json.encode(fact)
                        link = hashlib.sha256(link + line).digest()
                        written.write(b'%b,"hash":"%b"}\n' % (line[:-1], link.hex().encode()))
                        count += 1
    return count


def check(log: Path) -> int:
    """Decode and hash every line of a log; how many."""
    decode, sha256, count = msgspec.json.Decoder().decode, hashlib.sha256, 0
    with log.open("rb", buffering=BUFFER) as file:
        for line in file:
            decode(line)
            sha256(line).digest()
            count += 1
    return count


def _actor(kind: str) -> str:
    return "user" if kind.startswith("user") else "assistant"


def main() -> None:
    """The command line."""
    match sys.argv[1:]:
        case ["capture", home, workspace, out]:
            count = capture(Path(home), workspace, Path(out))
        case ["check", log]:
            count = check(Path(log))
        case _:
            raise SystemExit(__doc__)
    sys.stdout.write(f"{count}\n")


if __name__ == "__main__":
    main()
