"""The agents we can read, and what a module of one has to offer.

A table of strings: `agent("codex")` imports one module, and one broken module breaks one agent.
"""

from __future__ import annotations

import importlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from conversation_esaa.agents.listing import is_anything, is_directory
from conversation_esaa.agents.plugins import installed
from conversation_esaa.agents.storage import Kind
from conversation_esaa.errors import UnknownName
from conversation_esaa.ids import AgentId, agent_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.turn import SessionMark, Turn

MODULES = {
    AgentId("claude-code"): "conversation_esaa.agents.claude_code",
    AgentId("codex"): "conversation_esaa.agents.codex",
    AgentId("grok"): "conversation_esaa.agents.grok",
    AgentId("antigravity"): "conversation_esaa.agents.antigravity",
    AgentId("gemini-cli"): "conversation_esaa.agents.gemini_cli",
    AgentId("qwen-code"): "conversation_esaa.agents.qwen_code",
    AgentId("opencode"): "conversation_esaa.agents.opencode",
    AgentId("kilo"): "conversation_esaa.agents.kilo",
    AgentId("pi"): "conversation_esaa.agents.pi",
    AgentId("copilot-cli"): "conversation_esaa.agents.copilot_cli",
    AgentId("droid"): "conversation_esaa.agents.droid",
    AgentId("kimi"): "conversation_esaa.agents.kimi",
    AgentId("kimi-code"): "conversation_esaa.agents.kimi_code",
    AgentId("cursor"): "conversation_esaa.agents.cursor",
    AgentId("cursor-cli"): "conversation_esaa.agents.cursor_cli",
    AgentId("crush"): "conversation_esaa.agents.crush",
    AgentId("goose"): "conversation_esaa.agents.goose",
    AgentId("kiro-cli"): "conversation_esaa.agents.kiro_cli",
    AgentId("zed"): "conversation_esaa.agents.zed",
    AgentId("warp"): "conversation_esaa.agents.warp",
    AgentId("aider"): "conversation_esaa.agents.aider",
    AgentId("cline"): "conversation_esaa.agents.cline",
    AgentId("cline-vscode"): "conversation_esaa.agents.cline_vscode",
    AgentId("roo-code"): "conversation_esaa.agents.roo_code",
    AgentId("kilo-code"): "conversation_esaa.agents.kilo_code",
    AgentId("copilot-chat"): "conversation_esaa.agents.copilot_chat",
    AgentId("amp"): "conversation_esaa.agents.amp",
    AgentId("continue"): "conversation_esaa.agents.continue_dev",
}


# VS Code and the editors made from it, by their directories where programs keep their settings, and the servers of
# their remote windows, below the user's home.
EDITORS = (
    *("Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders"),
    *("Cursor", "Windsurf", "Windsurf - Next", "Antigravity", "Kiro", "Positron", "Trae"),
)
SERVERS = (
    *(".vscode-server", ".vscode-server-insiders", ".vscodium-server"),
    *(".cursor-server", ".windsurf-server"),
)


class Usual(msgspec.Struct, frozen=True):
    """Where an agent keeps everything while none of `variables` is set. Paths are relative."""

    home: str  # below the user's home
    variables: tuple[str, ...] = ()
    places: tuple[str, ...] = ()  # below the user's home, when it is not `home` that tells
    in_roots: tuple[str, ...] = ()  # further ones, in a root of the workspace


# Where nothing is there, no module is imported to say so. An agent that is not in this table keeps sessions at
# places that only its module knows.
USUAL_HOMES: dict[AgentId, Usual] = {
    AgentId("claude-code"): Usual(".claude", ("CLAUDE_CONFIG_DIR",)),
    AgentId("codex"): Usual(".codex", ("CODEX_HOME",)),
    AgentId("grok"): Usual(".grok", ("GROK_HOME",)),
    AgentId("antigravity"): Usual(".gemini/antigravity-cli", ("ANTIGRAVITY_HOME",)),
    AgentId("gemini-cli"): Usual(".gemini", ("GEMINI_CLI_HOME",)),
    AgentId("qwen-code"): Usual(".qwen", ("QWEN_RUNTIME_DIR", "QWEN_HOME")),
    AgentId("opencode"): Usual(".local/share/opencode", ("XDG_DATA_HOME", "OPENCODE_DB")),
    AgentId("kilo"): Usual(".local/share/kilo", ("XDG_DATA_HOME",)),
    AgentId("pi"): Usual(".pi/agent", ("PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR")),
    AgentId("copilot-cli"): Usual(".copilot", ("COPILOT_HOME",)),
    AgentId("droid"): Usual(".factory", ("FACTORY_HOME_OVERRIDE",)),
    AgentId("kimi"): Usual(".kimi", ("KIMI_SHARE_DIR",)),
    AgentId("kimi-code"): Usual(".kimi-code", ("KIMI_CODE_HOME",)),
    AgentId("cursor-cli"): Usual(".cursor", ("CURSOR_DATA_DIR",)),
    AgentId("kiro-cli"): Usual(".kiro", ("KIRO_HOME",)),
    AgentId("aider"): Usual(
        ".aider",
        places=(".aider", ".aider.conf.yml"),
        in_roots=(".aider.chat.history.md", ".aider.conf.yml"),
    ),
    AgentId("cline"): Usual(
        ".cline/data/sessions", ("CLINE_SESSION_DATA_DIR", "CLINE_DIR", "CLINE_DATA_DIR")
    ),
    AgentId("amp"): Usual(".local/share/amp/threads", ("AMP_THREADS_DIR", "XDG_DATA_HOME")),
    AgentId("continue"): Usual(".continue", ("CONTINUE_GLOBAL_DIR",)),
}
if sys.platform not in ("win32", "darwin"):
    _EDITED = Usual(
        ".config",
        ("VSCODE_APPDATA", "XDG_CONFIG_HOME"),
        places=(
            *(f".config/{editor}/User" for editor in EDITORS),
            *(f"{server}/data/User" for server in SERVERS),
        ),
    )
    USUAL_HOMES |= {
        AgentId("goose"): Usual(".local/share/goose", ("XDG_DATA_HOME", "GOOSE_PATH_ROOT")),
        AgentId("zed"): Usual(".local/share/zed", ("XDG_DATA_HOME",)),
        AgentId("warp"): Usual(".local/state/warp-terminal", ("XDG_STATE_HOME",)),
        AgentId("crush"): Usual(
            ".local/share/crush", ("CRUSH_GLOBAL_DATA", "XDG_DATA_HOME"), in_roots=(".crush",)
        ),
        AgentId("cursor"): Usual(".config/Cursor/User", _EDITED.variables),
        AgentId("copilot-chat"): _EDITED,
        AgentId("roo-code"): _EDITED,
        AgentId("kilo-code"): _EDITED,
        AgentId("cline-vscode"): Usual(
            _EDITED.home, _EDITED.variables, places=(*_EDITED.places, ".cline/data")
        ),
    }


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A native log that may hold turns of the workspace: a file, or one session of a database."""

    path: Path
    session_id: str = ""  # as file or folder name tell it; the records may know better
    cwd: str = ""  # as side files tell it; "" when only the records do
    kind: Kind = Kind.JSONL
    revision: str = ""
    """For a session that shares its file with others: another one whenever something in it changed. With it
    the neighbours' news are not taken for news of this session."""
    beside: tuple[str, ...] = ()
    """For a document and a tree of files: further paths that are asked, and may change without `path`."""

    @property
    def key(self) -> str:
        """What its cursor is kept under."""
        return f"{self.path}#{self.session_id}" if self.kind is Kind.SQLITE else str(self.path)


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """For how long an agent keeps its sessions before it deletes them by itself."""

    days: int  # since a session was last written to
    setting: str  # the key that says so
    file: str  # where it is set, or would be
    by_default: bool  # nothing is set there


class ReaderState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a reader has to remember between two records, and so between two syncs.

    It is stored in the cursor of its file: builtin types only, and small whatever the session's size.
    A module subclasses it for its own needs.
    """

    session_id: str = ""
    source_index: int = 0  # visible records so far: the ordinal of the next one
    cwd: str = ""
    git_branch: str = ""
    git_commit: str = ""
    model: str = ""
    agent_version: str = ""
    sidechain: bool = False  # the whole file is a sub-agent's talk
    started: bool = False  # the session's start was yielded
    visible: int = 0  # records that became a turn or a mark
    unknown: dict[str, int] = {}
    """Record types that are neither read nor in KNOWN_INVISIBLE, with how often each was met."""

    def holds_words(self) -> bool:
        """Whether something said waits in this state. Such a state is not stored: words are the log's alone."""
        return False

    def met_unknown(self, kind: object) -> None:
        """Count a record type that nothing here understands; the name is shortened, never its content."""
        name = kind[:60] if isinstance(kind, str) else f"<{type(kind).__name__}>"
        if name in self.unknown or len(self.unknown) < 100:
            self.unknown[name] = self.unknown.get(name, 0) + 1


class AgentModule(Protocol):
    """What the module of one agent offers. `State` is its ReaderState."""

    NAME: AgentId
    TITLE: str  # as its vendor writes it
    KNOWN_INVISIBLE: frozenset[str]  # record types that are known, and known not to be conversation
    State: type[ReaderState]

    def home(self, environ: Mapping[str, str], user_home: Path) -> Path:
        """The agent's data directory. An override in the environment counts when it is not empty."""

    def session_files(self, home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
        """Native logs that may hold turns said in one of `roots` or below, sorted by path.

        roots   absolute paths as text, resolved; the gate decides later by each record's own cwd, so too
                many files cost time and too few lose turns. Sub-agents' files are left out where a name
                tells. Each real file once, however many names lead to it; loops end; a directory that
                vanishes meanwhile is skipped. A missing `home` yields nothing.
        """

    def open_session(self, file: SessionFile) -> ReaderState:
        """The state before the first record: what file name and side files tell."""

    def read(self, records: Iterable[Any], state: ReaderState) -> Iterator[Turn | SessionMark]:
        """What the screen showed, in file order, moving `state` forward.

        records   decoded JSON values of any shape, from where `state` left off (for a kind of storage that
                  knows no such place: all of them, and a new state). Whatever they are,
                  nothing is raised: an allow-list of patterns, and a count of what was not understood.
        Reading a file in one go or in any number of pieces gives the same turns.
        """


# What the processes that an agent starts find in their environment, and nobody else's do; the first match
# counts. Grok sets Claude's project variable too, and Kilo OpenCode's, so they are asked about first.
RUNNING_MARKS = {
    "GROK_SESSION_ID": AgentId("grok"),
    "CLAUDECODE": AgentId("claude-code"),
    "CLAUDE_CODE_SESSION_ID": AgentId("claude-code"),
    "CODEX_THREAD_ID": AgentId("codex"),
    "CODEX_SANDBOX": AgentId("codex"),
    "CODEX_MANAGED_BY_NPM": AgentId("codex"),
    "ANTIGRAVITY_AGENT": AgentId("antigravity"),
    "GEMINI_CLI": AgentId("gemini-cli"),
    "QWEN_CODE": AgentId("qwen-code"),
    "KILO": AgentId("kilo"),
    "OPENCODE": AgentId("opencode"),
    "CURSOR_AGENT": AgentId("cursor"),
    "PI_CODING_AGENT": AgentId("pi"),
    "COPILOT_CLI": AgentId("copilot-cli"),
    "FACTORY_PROJECT_DIR": AgentId("droid"),
    "CRUSH": AgentId("crush"),
    "GOOSE_TERMINAL": AgentId("goose"),
    "CLINE_ACTIVE": AgentId("cline-vscode"),
    "ROO_ACTIVE": AgentId("roo-code"),
    "AMP_CURRENT_THREAD_ID": AgentId("amp"),
}


@cache
def modules() -> dict[AgentId, str]:
    """Agent → module: ours, and what other packages add. None of those takes the place of one of ours."""
    return {**MODULES, **{name: module for name, module in installed().items() if name not in MODULES}}


def absent(name: AgentId, environ: Mapping[str, str], user_home: Path, roots: Iterable[str]) -> Path | None:
    """Where an agent would keep its sessions, when nothing is there and nothing moves them; else None.

    Asks for its variables up to the first that is set, as the modules do.
    """
    usual = USUAL_HOMES.get(name)
    if usual is None or any(map(environ.get, usual.variables)):
        return None
    join, home = os.path.join, str(user_home)
    places = [join(home, place) for place in usual.places or (usual.home,)]
    places += [join(root, place) for root in roots for place in usual.in_roots]
    return None if any(map(is_anything, places)) else user_home / usual.home


def running(environ: Mapping[str, str]) -> AgentId | None:
    """The agent that this process was started by; None when no mark of one is set."""
    return next((name for mark, name in RUNNING_MARKS.items() if environ.get(mark)), None)


def is_there(module: AgentModule, home: Path) -> bool:
    """Whether this agent was used here: its data directory is there. A module whose `home` is not its own
    says it itself.
    """
    find = getattr(module, "is_there", None)
    return find(home) if find else is_directory(home)


def unlisted(module: AgentModule, home: Path) -> dict[str, int]:
    """What the agent keeps and its module cannot read, in plain words, with how often it is there."""
    find = getattr(module, "unlisted", None)
    return find(home) if find else {}


def retention(module: AgentModule, home: Path) -> Retention | None:
    """How long the agent keeps sessions, as its settings say; None where it deletes none by itself."""
    find = getattr(module, "retention", None)
    return find(home) if find else None


def glancing(module: AgentModule, state: ReaderState) -> Callable[[bytes], bool] | None:
    """The module's `glance` for one file, where it has one.

    `glance(line, state)` tells of a line that nothing was said in it, without decoding all of it, and moves
    `state` on as `read` would. False says nothing: the line is decoded whole.
    """
    glance = getattr(module, "glance", None)
    return (lambda line: glance(line, state)) if glance else None


def agent(name: str) -> AgentModule:
    """The module of one agent. Raises UnknownName, and what importing another package's module raises."""
    known = agent_id(name)
    if known not in modules():
        raise UnknownName("agent", name, known=tuple(modules()))
    return cast("AgentModule", importlib.import_module(modules()[known]))
