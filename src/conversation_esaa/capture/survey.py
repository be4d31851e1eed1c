"""What there is to capture, by names and stats alone: nothing is read, nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.agents.known import known
from conversation_esaa.agents.registry import (
    ReaderState,
    Retention,
    agent,
    is_there,
    modules,
    retention,
    unlisted,
)
from conversation_esaa.capture import cursors
from conversation_esaa.capture.cursors import SyncState, bytes_behind, look
from conversation_esaa.capture.report import os_words
from conversation_esaa.capture.roots import roots_now
from conversation_esaa.capture.strange import strangeness
from conversation_esaa.ids import agent_id
from conversation_esaa.timestamps import from_epoch_s

if TYPE_CHECKING:
    from conversation_esaa.capture.cursors import Cursor
    from conversation_esaa.capture.sync import Sources
    from conversation_esaa.ids import AgentId
    from conversation_esaa.layout import Layout
    from conversation_esaa.settings import Settings


DAY_S = 86_400


class AgentSurvey(msgspec.Struct, kw_only=True):
    """One agent, as seen from this workspace."""

    agent: str
    title: str
    home: str
    storage: str = ""  # how it keeps sessions
    verified: str = ""  # the newest version whose logs were tried, and how that was done
    version: str = ""  # that wrote the newest session of this workspace
    found: bool = False  # its data directory is there
    moved: bool = False  # the environment says where that is
    sessions: int = 0  # session files that may hold turns of this workspace
    with_news: int = 0  # of these, the ones not read to their end
    bytes_behind: int = (
        0  # of those: what was not read yet; a file that is always read as a whole counts whole
    )
    captured: int = 0  # events of theirs that the log has
    private: int = 0  # turns that were nothing but <private> text
    refused: dict[str, int] = {}  # directory outside the workspace → turns said there
    unknown: dict[str, int] = {}  # record types not understood → how often met
    bad_lines: dict[str, list[int]] = {}  # file → line numbers, from 1
    unlisted: dict[str, int] = {}  # what is there and cannot be read: reason → count
    strange: dict[str, str] = {}  # file → what looks as if its format had changed
    retention: Retention | None = None  # how long the agent keeps sessions; None: until somebody deletes them
    oldest_with_news: str = ""  # when the oldest of the sessions with news was last written to
    deleted_from: str = ""  # when the agent may begin to delete sessions with news
    excluded: bool = False  # by config.toml
    failed: str = ""  # why nothing could be said


def survey(*, layout: Layout, settings: Settings, sources: Sources) -> list[AgentSurvey]:
    """Every agent we can read, in the order of the registry. Costs a stat per session file."""
    saved = cursors.load(layout.sync_state) or SyncState()
    roots = roots_now(layout, settings)
    return [_survey(name, roots, settings, sources, saved) for name in modules()]


def _survey(
    name: AgentId, roots: tuple[str, ...], settings: Settings, sources: Sources, saved: SyncState
) -> AgentSurvey:
    found = AgentSurvey(agent=name, title=name, home="")
    found.excluded = name in set(map(agent_id, settings.capture.exclude_agents))
    try:
        module = agent(name)
        home = module.home(sources.environ, sources.user_home)
        found.title, found.home, found.found = module.TITLE, str(home), is_there(module, home)
        found.moved = home != module.home({}, sources.user_home)
        found.unlisted = unlisted(module, home)
        found.retention = retention(module, home) if found.found else None
        about = known(name, module)
        found.storage, found.verified = about.storage, about.words()
        files = list(module.session_files(home, roots))
    except OSError as error:
        found.failed = os_words(error)
        return found
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken agent module hides itself alone
        found.failed = type(error).__name__
        return found
    found.sessions = len(files)
    found.found |= bool(files)
    oldest_ns: int | None = None
    newest = (0, "")
    for file in files:
        cursor = saved.cursor(file.key)
        try:
            stat = look(file)
        except OSError:
            continue
        if cursor is None or not cursor.is_current(stat, file.revision):
            found.with_news += 1
            found.bytes_behind += bytes_behind(file, stat, cursor)
            oldest_ns = stat.mtime_ns if oldest_ns is None else min(oldest_ns, stat.mtime_ns)
        if cursor:
            version = _add(found, cursor, str(file.path))
            newest = max(newest, (cursor.stat.mtime_ns if version else 0, version))
    found.version = newest[1]
    if oldest_ns is not None:
        found.oldest_with_news = from_epoch_s(oldest_ns / 1e9)
        if found.retention:
            found.deleted_from = from_epoch_s(oldest_ns / 1e9 + found.retention.days * DAY_S)
    return found


def _add(found: AgentSurvey, cursor: Cursor, path: str) -> str:
    """Count what is known of one session; returns the version that wrote it."""
    found.captured += cursor.captured
    found.private += cursor.private
    state = _state(cursor)
    for counts, more in ((found.refused, cursor.refused), (found.unknown, state.unknown)):
        for key, count in more.items():
            counts[key] = counts.get(key, 0) + count
    for line_no, _ in cursor.bad_lines:
        found.bad_lines.setdefault(path, []).append(line_no)
    if strange := strangeness(state, records=cursor.line_no):
        found.strange[path] = strange
    return state.agent_version


def _state(cursor: Cursor) -> ReaderState:
    try:
        return msgspec.json.decode(cursor.state, type=ReaderState)
    except msgspec.DecodeError:  # of another version; the next sync reads the file anew
        return ReaderState()
