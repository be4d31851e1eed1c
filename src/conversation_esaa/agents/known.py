"""How well each agent's format is known: what people are told before they rely on it.

A value of data, so that `agents`, the README and the pages of the agents say the same. An agent of another package
may state `KNOWN` in its module, of the same form.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from conversation_esaa.ids import AgentId


class How(StrEnum):
    """What the reader was tried against."""

    RUN = "real program"  # it was driven, and what it wrote was read
    LOGS = "real logs"  # files that it had written somewhere
    SOURCE = "its source"  # public source; the program was not run
    NOTES = "notes of others"  # parsers and notes of other tools; the program was not run
    HOOKS = "documentation"  # its log cannot be read; its documented hooks tell


class Known(msgspec.Struct, frozen=True):
    """What is known of one agent's format, and from where."""

    storage: str
    how: How | None = None
    version: str = ""  # the newest that was tried

    def words(self) -> str:
        """For a column: `2.1.332, real program`."""
        return ", ".join(filter(None, (self.version, self.how or "not stated")))


_JSONL, _JSON, _SQLITE = "JSONL", "JSON", "SQLite"

KNOWN: dict[AgentId, Known] = {
    AgentId("claude-code"): Known(_JSONL, How.RUN, "2.1.332"),
    AgentId("codex"): Known(_JSONL, How.RUN, "0.171.0"),
    AgentId("grok"): Known(_JSONL, How.RUN, "1.0.41"),
    AgentId("antigravity"): Known(_JSONL, How.NOTES),
    AgentId("gemini-cli"): Known("JSONL journal, JSON", How.RUN, "0.61.0"),
    AgentId("qwen-code"): Known(_JSONL, How.RUN, "0.24.4"),
    AgentId("opencode"): Known("SQLite, JSON tree", How.RUN, "1.18.33"),
    AgentId("kilo"): Known(_SQLITE, How.RUN, "7.7.9"),
    AgentId("pi"): Known(_JSONL, How.RUN, "1.6.0"),
    AgentId("copilot-cli"): Known(_JSONL, How.RUN, "1.0.102"),
    AgentId("droid"): Known(_JSONL, How.RUN, "0.215.0"),
    AgentId("kimi"): Known(_JSONL, How.RUN, "1.47.0"),
    AgentId("kimi-code"): Known(_JSONL, How.RUN, "2.1.0"),
    AgentId("cursor"): Known(_SQLITE, How.NOTES),
    AgentId("cursor-cli"): Known(_SQLITE, How.NOTES),
    AgentId("crush"): Known(_SQLITE, How.SOURCE),
    AgentId("goose"): Known("SQLite, JSONL", How.SOURCE),
    AgentId("kiro-cli"): Known(_JSONL, How.NOTES, "2.14.1"),
    AgentId("zed"): Known(_SQLITE, How.SOURCE),
    AgentId("warp"): Known(_SQLITE, How.NOTES),
    AgentId("aider"): Known("Markdown", How.LOGS, "0.86.2"),
    AgentId("cline"): Known(_JSON, How.LOGS, "3.0.65"),
    AgentId("cline-vscode"): Known(_JSON, How.SOURCE),
    AgentId("roo-code"): Known(_JSON, How.SOURCE),
    AgentId("kilo-code"): Known(_JSON, How.SOURCE),
    AgentId("copilot-chat"): Known("JSON, JSONL journal", How.SOURCE),
    AgentId("amp"): Known(_JSON, How.NOTES),
    AgentId("continue"): Known(_JSON, How.SOURCE),
}

NOT_STATED = Known("not stated")


def known(name: AgentId, module: object) -> Known:
    """What is known of an agent; of one from another package, what its module states."""
    stated = KNOWN.get(name) or getattr(module, "KNOWN", None)
    return stated if isinstance(stated, Known) else NOT_STATED


def table(titles: dict[AgentId, str]) -> str:
    """All agents of ours in Markdown, as the README has them.

    titles   name → title, in the order of the rows.
    """
    rows = [
        f"| {titles[name]} | `{name}` | {KNOWN[name].storage} | {KNOWN[name].words()} |" for name in titles
    ]
    return "\n".join(["| agent | name | keeps sessions as | tried against |", "|---|---|---|---|", *rows, ""])
