"""What there is to capture, by names and stats alone: nothing is read, nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents.registry import MODULES, ReaderState, agent, unlisted
from conversation_esaa.capture import cursors
from conversation_esaa.capture.cursors import Cursor, look
from conversation_esaa.capture.report import os_words
from conversation_esaa.capture.roots import roots_now

if TYPE_CHECKING:
    from conversation_esaa.capture.sync import Sources
    from conversation_esaa.ids import AgentId
    from conversation_esaa.layout import Layout
    from conversation_esaa.settings import Settings


class AgentSurvey(msgspec.Struct, kw_only=True):
    """One agent, as seen from this workspace."""

    agent: str
    title: str
    home: str
    found: bool = False  # its data directory is there
    sessions: int = 0  # session files that may hold turns of this workspace
    with_news: int = 0  # of these, the ones not read to their end
    captured: int = 0  # events of theirs that the log has
    private: int = 0  # turns that were nothing but <private> text
    refused: dict[str, int] = {}  # directory outside the workspace → turns said there
    unknown: dict[str, int] = {}  # record types not understood → how often met
    bad_lines: dict[str, list[int]] = {}  # file → line numbers, from 1
    unlisted: dict[str, int] = {}  # what is there and cannot be read: reason → count
    excluded: bool = False  # by config.toml
    failed: str = ""  # why nothing could be said


def survey(*, layout: Layout, settings: Settings, sources: Sources) -> list[AgentSurvey]:
    """Every agent we can read, in the order of the registry. Costs a stat per session file."""
    state = cursors.load(layout.sync_state)
    saved = state.sources if state else {}
    roots = roots_now(layout, settings)
    return [_survey(name, roots, settings, sources, saved) for name in MODULES]


def _survey(
    name: AgentId, roots: tuple[str, ...], settings: Settings, sources: Sources, saved: dict[str, Cursor]
) -> AgentSurvey:
    found = AgentSurvey(agent=name, title=name, home="")
    found.excluded = name in settings.capture.exclude_agents
    try:
        module = agent(name)
        home = module.home(sources.environ, sources.user_home)
        found.title, found.home, found.found = module.TITLE, str(home), home.is_dir()
        found.unlisted = unlisted(module, home)
        files = list(module.session_files(home, roots))
    except OSError as error:
        found.failed = os_words(error)
        return found
    except Exception as error:  # noqa: BLE001 - one broken agent module must not hide the others
        found.failed = type(error).__name__
        return found
    found.sessions = len(files)
    for file in files:
        cursor = saved.get(file.key)
        try:
            stat = look(file)
        except OSError:
            continue
        found.with_news += cursor is None or not cursor.is_current(stat, file.revision)
        if cursor:
            _add(found, cursor, str(file.path))
    return found


def _add(found: AgentSurvey, cursor: Cursor, path: str) -> None:
    found.captured += cursor.captured
    found.private += cursor.private
    for counts, more in ((found.refused, cursor.refused), (found.unknown, _unknown(cursor))):
        for key, count in more.items():
            counts[key] = counts.get(key, 0) + count
    for line_no, _ in cursor.bad_lines:
        found.bad_lines.setdefault(path, []).append(line_no)


def _unknown(cursor: Cursor) -> dict[str, int]:
    try:
        return msgspec.json.decode(cursor.state, type=ReaderState).unknown
    except msgspec.DecodeError:  # of another version; the next sync reads the file anew
        return {}
