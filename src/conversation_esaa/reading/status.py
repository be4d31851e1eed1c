"""The one-screen truth: how far the log goes, what each agent gave, what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.capture.survey import AgentSurvey
from conversation_esaa.reading.freshness import Freshness

if TYPE_CHECKING:
    from conversation_esaa.layout import Layout


class FileSize(msgspec.Struct, frozen=True):
    """A file that we own."""

    name: str  # relative to `.conversation-esaa/`
    bytes: int


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What `status` shows."""

    workspace: str
    workspace_id: str
    freshness: Freshness
    events: dict[str, int]  # by event name
    goal: str
    decisions_active: int
    tasks_open: int
    topics_active: int
    last_turn: str  # when something was last said
    foreign_lines: int  # v1.1 lines that belong to another workspace
    stale_read_models: list[str]
    agents: list[AgentSurvey]
    files: list[FileSize]
    notes: list[str]  # what deserves a look, each with its command


def files_of(layout: Layout) -> list[FileSize]:
    """Every file in the store with its size, by name."""
    sizes = []
    for path in sorted(layout.store.rglob("*")):
        try:
            if path.is_file():
                sizes.append(FileSize(path.relative_to(layout.store).as_posix(), path.stat().st_size))
        except OSError:
            continue
    return sizes


def notes(agents: list[AgentSurvey], *, stale: list[str], quarantined: int, foreign_lines: int) -> list[str]:
    """What deserves a look, in the order of how much it matters."""
    found = []
    for survey in agents:
        if survey.failed:
            found.append(f"{survey.title}: its sessions could not be looked at ({survey.failed})")
        if survey.deleted_from and survey.retention and not survey.excluded:
            found.append(
                f"{survey.title}: {survey.with_news} session files are not captured; it deletes such files"
                f" {survey.retention.days} days after their last word ({survey.retention.setting}), the oldest from"
                f" {survey.deleted_from[:10]}: `conversation-esaa sync`"
            )
        for path, numbers in survey.bad_lines.items():
            shown = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
            found.append(f"{survey.title}: {path}: no record could be read in line {shown}")
        if survey.unknown:
            kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(survey.unknown.items())[:5])
            found.append(f"{survey.title}: record types not understood: {kinds}")
        for reason, count in sorted(survey.unlisted.items()):
            found.append(f"{survey.title}: {count} × {reason}")
    if quarantined:
        found.append(f"{quarantined} pieces of a torn log are in quarantine/: `conversation-esaa verify`")
    if foreign_lines:
        found.append(f"{foreign_lines} lines of the log belong to another workspace and are not shown")
    if stale:
        found.append(f"not as the log says: {', '.join(stale)}: `conversation-esaa project`")
    return found
