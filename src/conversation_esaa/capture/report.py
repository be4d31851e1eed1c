"""What a capture run says about itself."""

from __future__ import annotations

import msgspec

from conversation_esaa.events import Head


class FileProblem(msgspec.Struct, frozen=True):
    """A native log, or a part of one, that could not be read."""

    path: str
    problem: str  # what happened; never what the file says
    line_no: int = 0  # from 1; 0 for the whole file


class AgentReport(msgspec.Struct, kw_only=True):
    """One agent's part of a run."""

    agent: str
    home: str
    found: bool = False  # its data directory is there
    moved: bool = False  # the environment says where that is
    sessions: int = 0  # sessions that may hold turns of this workspace
    read: int = 0  # of these, the ones with news
    captured: int = 0  # events added
    known: int = 0  # turns that the log had already
    private: int = 0  # turns that were nothing but <private> text
    refused: dict[str, int] = {}  # session id → turns of it that belong to another workspace
    refused_cwds: dict[str, int] = {}
    unknown: dict[str, int] = {}  # record types met now and not understood
    unlisted: dict[str, int] = {}  # what is there and cannot be read: reason → count
    strange: dict[str, str] = {}  # session file → what looks as if its format had changed
    problems: list[FileProblem] = []
    failed: str = ""  # why nothing of this agent was read


class SyncReport(msgspec.Struct, kw_only=True):
    """What a run did."""

    agents: list[AgentReport]
    captured: int = 0
    head: Head = Head()
    recovered: str = ""  # what the log's recovery set aside

    @property
    def nothing_new(self) -> bool:
        """Whether no file had news, and nothing went wrong."""
        silent = not any(report.read or report.problems or report.failed for report in self.agents)
        return silent and not self.captured and not self.recovered

    @property
    def partial(self) -> bool:
        """Whether a file or an agent could not be read. A bad line is reported, and hides only itself."""
        return any(
            report.failed or any(not problem.line_no for problem in report.problems) for report in self.agents
        )


def os_words(error: OSError) -> str:
    """What the operating system, or who stands in for it, says of an error."""
    return error.strerror or type(error).__name__
