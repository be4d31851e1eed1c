"""One way to harm a used workspace for each code that `verify` knows, and what else is found then."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import TYPE_CHECKING

from builders.log import v1_1_log
from conversation_esaa.events import (
    ConversationTurn,
    DecisionRecorded,
    DecisionSuperseded,
    TaskClosed,
    TaskCreated,
    TaskUpdated,
    TopicCreated,
    TopicEventLinked,
)
from conversation_esaa.ids import digest_of
from conversation_esaa.layout import READ_MODELS
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from builders.harmed import Harmed

ONE_ID = digest_of("one")
HUMAN = {"actor": "user", "agent_id": "human"}


def turn(text: str = "Something else", *, ref: str = "other/1", **more: object) -> ConversationTurn:
    """A turn as capture makes it."""
    return ConversationTurn(
        **{
            "event_id": digest_of("turn", "codex", ref),
            "ts": "2026-03-01T10:30:00.000Z",
            "actor": "user",
            "agent_id": "codex",
            "source": "codex",
            "source_session_id": "other",
            "source_index": 0,
            "source_ref": ref,
            "text": text,
            "summary": text[:200],
            **more,
        }
    )


def replace(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.replace(old, new)


def purge(line: bytes) -> bytes:
    fields = json.loads(line)
    for key in ("text", "summary", "copy_keys", "salt"):
        fields.pop(key, None)
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def forge_a_key_twice(harmed: Harmed) -> None:
    harmed.append(TaskCreated(task_id="CONV-002", title="Another", status="open", **HUMAN))
    lines = harmed.lines()
    previous = bytes.fromhex(json.loads(lines[-2])["hash"])
    leaf, _, rest = lines[-1].partition(b',"hash":"')
    leaf = leaf.replace(b'"actor":"user"', b'"actor":"assistant","actor":"user"', 1)
    link = hashlib.sha256(previous + leaf + b"}").hexdigest().encode()
    harmed.put([*lines[:-1], leaf + b',"hash":"' + link + rest[64:]])
    harmed.workspace.project()


def older_log(harmed: Harmed) -> None:
    """The older tool's log, taken over."""
    for path in harmed.store.rglob("*"):
        if path.is_file():
            path.unlink()
    harmed.log.write_bytes(v1_1_log(str(harmed.world.project)))
    Workspace.upgrade(harmed.world.project, machine=harmed.world.machine(), catch_up=False)


def older_log_not_taken_over(harmed: Harmed) -> None:
    harmed.log.write_bytes(v1_1_log(str(harmed.world.project)))
    (harmed.store / "sync-state.json").unlink()
    harmed.workspace.project()


def log_is_a_directory(harmed: Harmed) -> None:
    harmed.log.unlink()
    harmed.log.mkdir(mode=0o700)


def other_log(harmed: Harmed) -> None:
    """A backup of before the last command, on which work went on."""
    harmed.put(harmed.lines()[:-2])
    before = {name: (harmed.store / name).read_bytes() for name in READ_MODELS}
    harmed.append(TaskCreated(task_id="CONV-002", title="Another", status="open", **HUMAN))
    harmed.append(TaskCreated(task_id="CONV-003", title="A third", status="open", **HUMAN))
    harmed.append(TaskCreated(task_id="CONV-004", title="A fourth", status="open", **HUMAN))
    for name, content in before.items():
        (harmed.store / name).write_bytes(content)


def make_stale(harmed: Harmed) -> None:
    before = (harmed.store / "state.md").read_bytes()
    harmed.workspace.set_goal("Ship it")
    (harmed.store / "state.md").write_bytes(before)


def cut_the_log(harmed: Harmed) -> None:
    harmed.put(harmed.lines()[:-1])


def go_back(harmed: Harmed) -> None:
    """The log is put back from a backup of before the last capture, and projected."""
    harmed.put(harmed.lines()[:2])
    harmed.workspace.project()


def git(harmed: Harmed, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(harmed.world.project), *words], check=True, capture_output=True, timeout=60
    )


def track(harmed: Harmed) -> None:
    git(harmed, "init", "-q")
    git(harmed, "add", "-f", ".conversation-esaa/activity.jsonl", ".conversation-esaa/state.md")


def move(harmed: Harmed) -> None:
    config = harmed.store / "config.toml"
    text = config.read_text("utf-8")
    config.write_text(text.replace(json.dumps(str(harmed.world.project)), '"/elsewhere"'), "utf-8")


def piece(harmed: Harmed) -> None:
    kept = harmed.store / "quarantine" / "activity-10-0123456789abcdef.torn"
    kept.write_bytes(b'{"v":2,"seq"')
    kept.chmod(0o600)


def write(name: str, content: bytes) -> Callable[[Harmed], None]:
    def do(harmed: Harmed) -> None:
        (harmed.store / name).write_bytes(content)

    return do


def remove(name: str) -> Callable[[Harmed], None]:
    return lambda harmed: (harmed.store / name).unlink()


def edited(name: str) -> Callable[[Harmed], None]:
    def do(harmed: Harmed) -> None:
        with (harmed.store / name).open("ab") as file:
            file.write(b"- my own note\n")

    return do


def add(*drafts: object, **options: str) -> Callable[[Harmed], None]:
    return lambda harmed: harmed.append(*drafts, **options)


def line(**fields: object) -> Callable[[Harmed], None]:
    return lambda harmed: harmed.append_line(**fields)


def change(line_no: int, how: Callable[[bytes], bytes]) -> Callable[[Harmed], None]:
    """The log alone speaks: whether the cursors' fingerprint covers the line depends on where it is."""

    def do(harmed: Harmed) -> None:
        harmed.forget_cursors()
        harmed.change_line(line_no, how)

    return do


def drop_a_line(harmed: Harmed) -> None:
    harmed.forget_cursors()
    harmed.put([*harmed.lines()[:2], *harmed.lines()[3:]])


def purge_a_line(harmed: Harmed) -> None:
    change(3, purge)(harmed)
    harmed.workspace.project()


def directory_in_place_of(name: str) -> Callable[[Harmed], None]:
    def do(harmed: Harmed) -> None:
        (harmed.store / name).unlink()
        (harmed.store / name).mkdir(mode=0o700)

    return do


def torn(harmed: Harmed) -> None:
    with harmed.log.open("ab") as file:
        file.write(harmed.lines()[-1][:40])


def foreign_line(harmed: Harmed) -> None:
    """The older tool's hook writes on behind our lines."""
    with harmed.log.open("ab") as file:
        file.write(b'{"event":"conversation_turn","actor":"user","source":"grok","text":"hello"}\n')


DAMAGES: dict[str, tuple[Callable[[Harmed], None], set[str]]] = {
    # code: (how to get it, what else is found then)
    "log.missing": (remove("activity.jsonl"), {"read_model.ahead", "cache.other_log"}),
    "log.unreadable": (log_is_a_directory, set()),
    "log.empty": (write("activity.jsonl", b""), {"read_model.ahead", "cache.other_log"}),
    "log.not_chained": (
        older_log_not_taken_over,
        {
            "event.legacy",
            "event.old_link",
            "event.repeated",
            "workspace.foreign_root",
            "reference.transition",
            "reference.topic",
        },
    ),
    "log.torn_tail": (torn, set()),
    "log.unreadable_line": (
        change(3, lambda line: line[:-3] + b"\n"),
        {"chain.unlinked", "read_model.differs"},
    ),
    "log.older_tool_line": (foreign_line, set()),
    "chain.broken": (
        change(3, replace(b'"actor":"user"', b'"actor":"assistant"')),
        {"read_model.differs"},
    ),
    "chain.words": (
        change(3, replace(b"Which port", b"What price")),
        {"read_model.differs"},
    ),
    "chain.gap": (
        drop_a_line,
        {"chain.broken", "read_model.differs"},
    ),
    "chain.two_meanings": (forge_a_key_twice, set()),
    "chain.unlinked": (
        change(4, lambda line: b"\0" * (len(line) - 1) + b"\n"),
        {"log.unreadable_line", "read_model.differs"},
    ),
    "chain.purged": (
        purge_a_line,
        set(),
    ),
    "chain.respelled": (
        lambda harmed: harmed.put([line.replace(b"\n", b"\r\n") for line in harmed.lines()]),
        {"cache.other_log"},
    ),
    "event.newer_version": (line(v=3, event="goal.set", goal="Later"), set()),
    "event.unknown_name": (line(event="goal.dreamt"), set()),
    "event.missing_field": (add(TaskCreated(task_id="CONV-002", **HUMAN)), set()),
    "event.odd_value": (add(TaskCreated(task_id="CONV-002", title="T", status="maybe", **HUMAN)), set()),
    "event.time_form": (add(turn(ts="yesterday")), set()),
    "event.time_ahead": (add(turn(ts="2026-03-09T10:00:00.000Z")), set()),
    "event.recorded_back": (
        add(turn(ts="2026-02-01T09:00:00.000Z"), at="2026-02-01T10:00:00.000Z"),
        set(),
    ),
    "event.legacy": (
        older_log,
        {
            "event.old_link",
            "event.repeated",
            "workspace.foreign_root",
            "reference.transition",
            "reference.topic",
        },
    ),
    "identity.duplicate": (add(turn(), turn()), set()),
    "identity.mismatch": (add(turn(event_id=ONE_ID)), set()),
    "workspace.foreign_id": (add(turn(), workspace_id="another"), set()),
    "workspace.moved": (move, set()),
    "reference.event": (
        add(DecisionRecorded(decision_id="DEC-0003", decision="So", related_turns=(ONE_ID,), **HUMAN)),
        set(),
    ),
    "reference.decision": (
        add(DecisionSuperseded(decision_id="DEC-0002", superseded_by="DEC-0009", **HUMAN)),
        set(),
    ),
    "reference.task": (add(TaskClosed(task_id="CONV-099", status="completed", **HUMAN)), set()),
    "reference.topic": (
        add(TopicEventLinked(topic_id="TOP-404", task_ids=("CONV-001",), **HUMAN)),
        set(),
    ),
    "reference.reused": (add(TopicCreated(topic_id="TOP-001", title="Again", **HUMAN)), set()),
    "reference.transition": (
        add(
            TaskClosed(task_id="CONV-001", status="completed", **HUMAN),
            TaskUpdated(task_id="CONV-001", status="open", **HUMAN),
        ),
        set(),
    ),
    "read_model.missing": (remove("topics.md"), set()),
    "read_model.unreadable": (directory_in_place_of("topics.md"), set()),
    "read_model.edited": (edited("decisions.md"), set()),
    "read_model.unstamped": (write("tasks.json", b'{"tasks":[]}'), set()),
    "read_model.differs": (
        change(3, replace(b"Which port", b"What price")),
        {"chain.words"},
    ),
    "read_model.stale": (make_stale, set()),
    "read_model.ahead": (cut_the_log, set()),
    "read_model.other_log": (other_log, set()),
    "cache.unreadable": (write("sync-state.json", b"\xff{"), set()),
    "cache.other_log": (go_back, set()),
    "quarantine.piece": (piece, set()),
    "store.permissions": (lambda harmed: (harmed.store / "state.md").chmod(0o644), set()),
    "store.gitignore": (remove(".gitignore"), set()),
    "store.tracked": (track, set()),
    "config.missing": (remove("config.toml"), set()),
    "config.invalid": (write("config.toml", b"workspace_id = ["), set()),
}
FOUND_OTHERWISE = {
    "log.changed",
    "event.old_link",
    "event.repeated",
    "workspace.foreign_root",
    "reference.hidden",
}
NEEDS_DEEP = {"chain.two_meanings", "chain.respelled"}
