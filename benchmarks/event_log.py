"""A workspace with a log of any size, written through the product's own writer.

The mix is that of years of work: mostly turns of a few sentences, sessions of some hundred turns, and a
decision, a task or a topic now and then. Same arguments, same bytes.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from native_session import COMPACTED_EVERY
from prose import Names, Prose, stamp

from conversation_esaa.capture.drafts import mark_event, turn_event
from conversation_esaa.establish import read_settings
from conversation_esaa.events import (
    DecisionRecorded,
    DecisionSuperseded,
    Recorded,
    TaskClosed,
    TaskCreated,
    TopicCreated,
    TopicEventLinked,
)
from conversation_esaa.ids import HUMAN, AgentId, DecisionId, TaskId, TopicId
from conversation_esaa.layout import DIRECTORY_MODE, FILE_MODE, Layout
from conversation_esaa.log.contract import Stamp
from conversation_esaa.log.file_log import FileLog
from conversation_esaa.settings import MAX_TEXT_CHARACTERS, new_config
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEGIN = 1_514_764_800_000  # 2018-01-01: before all synthetic sessions
BATCH = 2_000
SESSION_TURNS = 400
TEXT = 220  # characters of the median turn
DECISION_EVERY, TASK_EVERY, TOPIC_EVERY = 1_000, 500, 5_000


def write_log(workspace: Path, events: int, *, seed: int = 1) -> int:
    """Make `workspace` a workspace whose log holds `events` events; its size in bytes."""
    rng = Random(f"log {seed}")  # other ids than those of sessions with the same seed
    layout = _established(workspace, rng)
    settings = read_settings(layout)
    stamped = Stamp(
        workspace_root=str(workspace), workspace_id=settings.workspace_id, replica_id=settings.replica_id
    )
    log = FileLog(layout, stamped, entropy=rng.randbytes)  # seeded salts: the same bytes each time
    drafts = _drafts(workspace, events, rng)
    now = BEGIN
    with log.writing(purpose="benchmark") as writer:
        while batch := list(islice(drafts, BATCH)):
            now += BATCH * 1_000
            writer.append(batch, recorded_at=stamp(now))
        return writer.head.size


def _established(workspace: Path, rng: Random) -> Layout:
    layout = Layout(workspace)
    for directory in (layout.store, layout.run, layout.quarantine):
        directory.mkdir(mode=DIRECTORY_MODE, parents=True)
    config = new_config(
        workspace_id=f"{rng.getrandbits(128):032x}",
        replica_id=f"{rng.getrandbits(64):016x}",
        root=str(workspace),
    )
    for path, content in ((layout.config, config), (layout.gitignore, "*\n"), (layout.log, "")):
        path.touch(mode=FILE_MODE)
        path.write_text(content, "utf-8")
    return layout


def _drafts(workspace: Path, events: int, rng: Random) -> Iterator[Recorded]:
    """`events` drafts. A turn's text is unique in nothing but its sentences' order: real talk repeats itself."""
    prose, names = Prose(rng), Names(rng)
    now, number, session_id, agent = BEGIN, 0, "", AgentId("claude-code")
    curated = 0
    while number < events:
        now += 1_000
        in_session = number % SESSION_TURNS
        if in_session == 0:
            agent = AgentId(("claude-code", "codex")[number // SESSION_TURNS % 2])
            session_id = names.uuid()
            yield _mark(agent, session_id, MarkKind.STARTED, now, workspace)
        elif number % DECISION_EVERY == 7:
            curated += 1
            yield _decision(prose, curated, now)
        elif number % DECISION_EVERY == 8 and curated > 4 and curated % 2:
            yield DecisionSuperseded(
                ts=stamp(now),
                actor="system",
                agent_id=HUMAN,
                decision_id=DecisionId(f"DEC-{curated - 3:04d}"),
                superseded_by=DecisionId(f"DEC-{curated:04d}"),
            )
        elif number % TASK_EVERY == 11 or (number % TASK_EVERY == 300 and number // TASK_EVERY % 20):
            yield _task(prose, number, now)
        elif number % TOPIC_EVERY in (13, 14):
            yield _topic(prose, number, now, curated)
        elif in_session == SESSION_TURNS - COMPACTED_EVERY:
            yield _mark(agent, session_id, MarkKind.COMPACTED, now, workspace)
        else:
            yield _turn(prose, names, agent, session_id, in_session, now, workspace)
        number += 1


def _turn(
    prose: Prose, names: Names, agent: AgentId, session_id: str, index: int, now: int, workspace: Path
) -> Recorded:
    turn = Turn(
        source=agent,
        source_session_id=session_id,
        source_index=index,
        actor=Actor.ASSISTANT if index % 4 else Actor.USER,
        text=prose.said(TEXT, longest=6_000),
        source_ref=names.uuid(),
        message_ref=names.tag("msg_01", 22),
        said_at=stamp(now),
        cwd=str(workspace),
        git_branch="main",
        model="demo",
        agent_version="2.1.119",
    )
    event = turn_event(
        turn,
        source_path=f"~/.claude/projects/project/{session_id}.jsonl",
        max_characters=MAX_TEXT_CHARACTERS,
    )
    if event is None:
        raise AssertionError("made-up prose has no private parts")
    return event


def _mark(agent: AgentId, session_id: str, kind: MarkKind, now: int, workspace: Path) -> Recorded:
    mark = SessionMark(
        source=agent,
        source_session_id=session_id,
        kind=kind,
        source_ref=f"{session_id}/{now}",
        said_at=stamp(now),
        cwd=str(workspace),
    )
    return mark_event(mark, source_path=f"~/.claude/projects/project/{session_id}.jsonl")


def _decision(prose: Prose, number: int, now: int) -> Recorded:
    return DecisionRecorded(
        ts=stamp(now),
        actor="system",
        agent_id=HUMAN,
        decision_id=DecisionId(f"DEC-{number:04d}"),
        decision=prose.text(80),
        rationale=prose.text(160),
    )


def _task(prose: Prose, number: int, now: int) -> Recorded:
    task_id = TaskId(f"CONV-{number // TASK_EVERY + 1:03d}")
    if number % TASK_EVERY == 300:
        return TaskClosed(
            ts=stamp(now),
            actor="system",
            agent_id=HUMAN,
            task_id=task_id,
            status="completed",
            evidence=prose.text(60),
        )
    return TaskCreated(
        ts=stamp(now),
        actor="system",
        agent_id=HUMAN,
        task_id=task_id,
        title=prose.text(50),
        status="open",
        next_step=prose.text(50),
    )


def _topic(prose: Prose, number: int, now: int, decisions: int) -> Recorded:
    topic_id = TopicId(f"TOP-{number // TOPIC_EVERY + 1:03d}")
    if number % TOPIC_EVERY == 14:
        return TopicEventLinked(
            ts=stamp(now),
            actor="system",
            agent_id=HUMAN,
            topic_id=topic_id,
            decision_ids=(DecisionId(f"DEC-{decisions:04d}"),),
        )
    return TopicCreated(
        ts=stamp(now),
        actor="system",
        agent_id=HUMAN,
        topic_id=topic_id,
        title=prose.text(30),
        summary=prose.text(90),
        status="active",
    )
