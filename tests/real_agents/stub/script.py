"""What is said in a test: prompts that are typed, and what the model answers to each.

The stub knows nothing but these prompts. It finds the one that a request is about, and gives the answer that
stands beside it; so a run can be repeated, and a test can say word for word what must be captured. Whatever
else an agent asks a model for (a title, a summary, notes to itself) gets the same meaningless words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# A handoff that a hook put into the request quotes earlier prompts; what it quotes is not asked again.
HANDED_OVER = re.compile(
    r"\[conversation-esaa handoff begin.*?\[conversation-esaa handoff end[^\]]*\]", re.DOTALL
)
ASIDE = "Nothing that anybody sees"
REASONING = "The model's own reasoning, which is nobody's business"

SHELL_TOOLS = (
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "run_terminal_command",
    "run_shell_command",
    "Execute",
    "Shell",
)


@dataclass(frozen=True)
class Line:
    """One prompt and its answer. With `command`, the model says `first`, calls a shell, and answers then."""

    prompt: str
    answer: str
    first: str = ""
    command: str = ""
    reasoning: bool = False

    @property
    def visible(self) -> list[str]:
        """The answer's texts, in the order in which they appear on the screen."""
        return [text for text in (self.first, self.answer) if text]


@dataclass(frozen=True)
class Asked:
    """A request, whatever its protocol.

    said        what the user's side said since the model last spoke, or before the tools ran; last one last
    after_tool  a tool has run since
    tools       the JSON Schema of the arguments of each tool on offer
    wants_json  the answer must be a JSON object
    """

    said: list[str]
    after_tool: bool
    tools: Mapping[str, Mapping[str, Any]]
    wants_json: bool = False


@dataclass(frozen=True)
class Answer:
    """What the model gives back: reasoning, text, and a call of a tool; each may be missing."""

    text: str
    reasoning: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None


class Script:
    """The lines said so far in a test. Prompts must not contain each other."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def line(self, said: list[str]) -> Line | None:
        """The line whose prompt was said last; None when this request is about none of them."""
        for text in reversed(said):
            heard = HANDED_OVER.sub("", text)
            found = [(heard.rfind(line.prompt), line) for line in self.lines if line.prompt in heard]
            if found:
                return max(found, key=lambda place: place[0])[1]
        return None

    def answer(self, asked: Asked) -> Answer:
        """What the model says."""
        if asked.wants_json:
            return Answer(json.dumps({"title": ASIDE}))
        line = self.line(asked.said)
        if line is None:
            return Answer(ASIDE)
        reasoning = REASONING if line.reasoning else ""
        tool = next((name for name in SHELL_TOOLS if name in asked.tools), "")
        if line.command and tool and not asked.after_tool:
            return Answer(line.first, reasoning, tool, arguments(asked.tools[tool], line.command))
        return Answer(line.answer, reasoning)


def arguments(schema: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Arguments for a shell tool, as its schema wants them."""
    properties = schema.get("properties") or {}
    name = next(key for key in ("command", "cmd") if key in properties)
    as_list = properties[name].get("type") == "array"
    given: dict[str, Any] = {name: ["sh", "-c", command] if as_list else command}
    empty: dict[str, Any] = {"boolean": False, "number": 1, "integer": 1, "array": [], "object": {}}
    for key in schema.get("required") or []:
        given.setdefault(key, empty.get(properties.get(key, {}).get("type"), "as asked"))
    return given


def texts(content: Any) -> list[str]:
    """The plain texts of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [
        part["text"] for part in content or [] if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]


def pieces(text: str, size: int = 24) -> list[str]:
    """A text in the pieces in which it is streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]
