"""FC-M05: `--json` answers have the documented keys, on an empty workspace as on a full one."""

import json

import pytest

from builders.world import World

FRESHNESS = {"seq", "hash", "caught_up", "reason", "unreadable_lines"}
KEYS = {
    "up": {"workspace", "established", "sync", "handoff", "hooks"},
    "init": {"root", "created", "tightened", "v1_1_lines", "moved_from", "worktree"},
    "status": {
        "workspace", "workspace_id", "freshness", "events", "goal", "decisions_active", "tasks_open",
        "topics_active", "last_turn", "foreign_lines", "stale_read_models", "agents", "files", "notes", "problems",
        "watcher",
    },
    "doctor --no-proof": {
        "workspace", "freshness", "agents", "waiting_calls", "problems", "notes", "fixed", "watcher",
    },
    "agents": {"agents"},
    "stats": {
        "freshness", "events", "agents", "first_turn", "last_turn", "characters", "conversation_tokens",
        "handoff_tokens", "log_bytes",
    },
    "sync": {"partial", "agents", "captured", "head", "recovered"},
    "watch --once": {"partial", "agents", "captured", "head", "recovered"},
    "hooks": {"agents"},
    "enable-hooks --agent codex --dry-run": {"dry_run", "changes"},
    "disable-hooks --all": {"dry_run", "changes"},
    "watch --status": {
        "running", "pid", "version", "since", "mode", "why", "workspaces", "warnings", "notes",
    },
    "handoff": {"text", "tokens", "freshness"},
    "context": {
        "freshness", "query", "count", "ranked", "left_out", "page", "tokens", "events",
    },
    "goal": {"freshness", "goal", "history"},
    "task list": {"freshness", "status", "tasks"},
    "topic list": {"freshness", "status", "topics"},
    "project": {"check", "head", "changed"},
    "project --check": {"check", "head", "changed"},
    "upgrade": {"established", "events", "foreign", "shadowed", "unreadable", "leftovers", "hooks"},
}  # fmt: skip
OF_ONE = {
    "show last": {"freshness", "standing", "event"},
    "show DEC-0001": {"freshness", "standing", "event"},
    "show CONV-001": {"freshness", "task"},
    "task show CONV-001": {"freshness", "task"},
    "show TOP-001": {"freshness", "topic"},
    "topic show TOP-001": {"freshness", "topic"},
    "decide Use it": {"events"},
    "task create Write": {"event"},
    "topic create Hosts": {"event"},
    "topic link TOP-001 --task CONV-001": {"event"},
}
SCHEMAS = {"watch": "sync"}


def filled(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    for call in (
        "up",
        "goal Ship it",
        "decide Use 8080 --source last",
        "task create Write docs",
        "topic create Ports --event last",
    ):
        assert world.run(*call.split()).code == 0
    return world


def answer(world: World, call: str) -> dict[str, object]:
    ran = world.run(*call.split(), "--json")
    assert ran.err == ""
    return ran.json


@pytest.mark.parametrize("call", KEYS)
def test_the_keys_are_the_same_on_an_empty_workspace_and_on_a_full_one(tmp_path, call):
    """A program that reads them must not have to guess what is left out when there is nothing."""
    empty, full = World(tmp_path / "a"), World(tmp_path / "b")
    empty.run("init")

    nothing, something = answer(empty, call), answer(filled(full), call)

    assert set(nothing) == set(something) == {"schema", *KEYS[call]}
    for key, value in something.items():
        assert type(nothing[key]) is type(value) or key == "standing", key


@pytest.mark.parametrize("call", OF_ONE)
def test_what_is_asked_by_name_has_its_keys(world, call):
    """The answers about one thing."""
    assert set(answer(filled(world), call)) == {"schema", *OF_ONE[call]}


@pytest.mark.parametrize("call", [*KEYS, *OF_ONE])
def test_an_answer_names_its_schema_and_its_freshness_is_whole(world, call):
    """I8, and what lets a program refuse an answer of a later version."""
    document = answer(filled(world), call)

    assert next(iter(document)) == "schema"
    assert str(document["schema"]).startswith("conversation-esaa.")
    assert str(document["schema"]).endswith("/1")
    if "freshness" in document:
        assert set(document["freshness"]) == FRESHNESS


def test_an_event_in_an_answer_is_the_line_as_it_was_written(world):
    """All its keys, those of other versions too; only secrets differ."""
    filled(world)
    line = json.loads((world.store / "activity.jsonl").read_bytes().splitlines()[-1])

    assert answer(world, "context --last 1")["events"] == [line]


def test_what_a_terminal_would_obey_is_escaped_in_json_too(world):
    """FC-C04: `--json` is read by people in terminals as well; the value that is decoded is unchanged."""
    hostile = "a\x1b[2J\x07\x9b31m\x7f\u202eb\u200bc\u2028d"
    world.claude().user(hostile)
    world.run("up")

    ran = world.run("context", "--last", "1", "--json")

    assert ran.json["events"][0]["text"] == hostile
    assert not set("\x1b\x07\x9b\x7f\u202e\u200b\u2028") & set(ran.out)
