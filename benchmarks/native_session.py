"""What the synthetic sessions of all agents share: a file that grows, a clock, a count of visible turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from prose import Names, Prose, skewed

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random
    from typing import BinaryIO

LARGEST_OUTPUT = 400_000  # characters of one tool result
MOST_ROUNDS = 30  # tool calls behind one prompt
COMPACTED_EVERY = 60  # exchanges


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What sessions are like."""

    workspace: str  # the directory they are said in
    tool_output: int = 600  # characters of the median tool result
    tools: float = 5.0  # mean number of tool calls behind a prompt
    sidechains: float = 0.05  # how often an exchange has a sub-agent


class Place(msgspec.Struct, kw_only=True):
    """One session as the manifest keeps it: enough to go on from."""

    agent: str
    session_id: str
    path: str  # below the home folder
    now: int  # milliseconds since 1970
    exchanges: int = 0
    visible: int = 0  # turns a reader should find
    parent: str = ""  # of the next line, where lines form a tree


class NativeSession(Protocol):
    """One session of one agent, being written."""

    place: Place

    def begin(self) -> None:
        """What stands before the first prompt."""

    def exchange(self, room: int) -> None:
        """A prompt and what follows it, `room` visible turns at most; at least one of them is the prompt."""

    def close(self) -> None:
        """All lines are in the file."""


class Sheet:
    """The file of a session; the agents' own shapes are in their classes."""

    def __init__(self, home: Path, place: Place, shape: Shape, rng: Random, prose: Prose) -> None:
        self.home, self.place, self.shape, self.rng, self.prose = home, place, shape, rng, prose
        self.names = Names(rng)
        self.path = home / place.path
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = self.path.open("ab", buffering=1 << 20)

    def write(self, record: dict[str, Any], file: BinaryIO | None = None) -> None:
        """One line."""
        (file or self._file).write(msgspec.json.encode(record) + b"\n")

    def pass_time(self, longest: int = 4_000) -> int:
        """Some milliseconds go by; the time it is then."""
        self.place.now += self.rng.randint(1, longest)
        return self.place.now

    def rounds(self) -> int:
        """How many tool calls follow this prompt: mostly few, sometimes many."""
        mean, count = self.shape.tools, 0
        while count < MOST_ROUNDS and self.rng.random() < mean / (mean + 1):
            count += 1
        return count

    def tool_output(self) -> str:
        """One tool result."""
        return self.prose.output(skewed(self.rng, self.shape.tool_output, spread=1.6, largest=LARGEST_OUTPUT))

    def close(self) -> None:
        """All lines are in the file."""
        self._file.close()
