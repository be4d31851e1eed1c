"""Fault cases A: damaged or unexpected bytes in a session log or in ours, from end to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builders.world import World


def test_nul_padding_hides_no_turn_and_is_named_by_line(world: World):
    """FC-A01: what a crash of the machine leaves in a file; a warning, and exit code 0."""
    claude = world.claude().user("one").assistant("two")
    record = claude.record("user", message={"role": "user", "content": "three"})
    claude.write_bytes(json.dumps(record).encode() + b"\0" * 9_000 + b"\n")
    claude.user("four").assistant("five")
    claude.write_bytes(b"\0" * 2_000)
    world.workspace()

    ran = world.run("sync")
    told = world.run("status", "--json", "--no-sync").json

    assert ran.code == 0
    assert [text for _, text in world.said()] == ["one", "two", "three", "four", "five"]
    assert f"{claude.path}, line 3" in ran.out
    lines = next(agent for agent in told["agents"] if agent["agent"] == "claude-code")["bad_lines"]
    assert lines == {str(claude.path): [3, 6]}


def test_a_line_that_was_cut_and_written_again_is_captured_once(world: World):
    """FC-A02: with a line feed behind the cut half."""
    codex = world.codex().user("one")
    whole = {"type": "AgentMessage", "id": "m-9", "content": [{"type": "Text", "text": "two, at length"}]}
    record = json.dumps(
        {
            "timestamp": world.now(),
            "type": "event_msg",
            "payload": {"type": "item_completed", "item": whole},
        }
    )
    codex.write_bytes(record[: len(record) // 2].encode() + b"\n\n" + record.encode() + b"\n")
    codex.user("three")

    world.sync()

    assert [text for _, text in world.said()] == ["one", "two, at length", "three"]


def test_a_torn_end_of_our_log_is_kept_aside_and_the_next_event_stands_on_its_own_line(world: World):
    """FC-A03: nothing is glued to it and nothing is thrown away, whoever writes next."""
    claude = world.claude().user("one")
    world.sync()
    torn = b'{"v":2,"seq":99,"event":"conversation_turn","text":"half of a li'
    log = world.workspace().layout.log
    before = log.read_bytes()
    log.write_bytes(before + torn)
    claude.assistant("two")

    verified = world.run("verify")
    ran = world.run("sync")

    assert verified.code == 3
    assert f"{len(torn)} bytes behind the last line feed" in verified.out
    assert ran.code == 0
    assert "are kept in" in ran.out
    assert log.read_bytes().startswith(before)
    assert [text for _, text in world.said()] == ["one", "two"]
    assert [path.read_bytes() for path in world.workspace().layout.quarantine.iterdir()] == [torn]
    assert "chain intact" in world.run("verify", "--deep").out


def test_an_empty_session_file_says_nothing_and_is_read_once_it_grows(world: World):
    """FC-A04: agents create the file before the first line."""
    claude, codex = world.claude(), world.codex()
    claude.path.write_bytes(b"")
    codex.path.write_bytes(b"\n\n")

    first = world.sync()
    claude.user("one")
    codex.user("two")
    second = world.sync()

    assert (first.captured, first.partial) == (0, False)
    assert not any(agent.problems for agent in (*first.agents, *second.agents))
    assert [text for _, text in world.said()] == ["one", "two"]


def test_shapes_that_nobody_knows_hide_nothing_around_them(world: World):
    """FC-A06: a rate limit of another shape, an unknown event, a line without a payload."""
    codex = world.codex().user("one")
    limits = {"type": "token_count", "info": None, "rate_limits": {"credits": {"balance": {"a": [1]}}}}
    codex.record("event_msg", limits)
    codex.record("event_msg", {"type": "invented_tomorrow", "message": "CANARY"})
    codex.write({"timestamp": world.now(), "type": "event_msg"})
    codex.write({"type": "response_item", "payload": None})
    codex.assistant("two")

    world.sync()

    assert [text for _, text in world.said()] == ["one", "two"]
    assert b"CANARY" not in world.workspace().layout.log.read_bytes()


def test_ordinals_that_are_missing_or_doubled_decide_nothing(world: World):
    """FC-A07: optional fields are never an identity."""
    codex = world.codex().user("one").user("two")
    lines = [json.loads(line) for line in codex.path.read_text("utf-8").splitlines()]
    lines[1]["ordinal"] = lines[2]["ordinal"] = 7
    del lines[0]["ordinal"]
    codex.path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")

    world.sync()
    world.sync(full=True)

    assert [text for _, text in world.said()] == ["one", "two"]


def test_a_bad_line_in_our_log_hides_no_good_one_and_is_counted(world: World):
    """FC-A08: readers go on, `verify` names the line, capture goes on behind it."""
    claude = world.claude().user("one").assistant("two")
    world.sync()
    log = world.workspace().layout.log
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:2], b"{not json\n", *lines[2:]]))
    claude.user("three")

    context = world.run("context", "--json")
    verified = world.run("verify")

    texts = [event["text"] for event in context.json["events"] if event["event"] == "conversation_turn"]
    assert texts == ["one", "two", "three"]
    assert context.json["freshness"]["unreadable_lines"] == 1
    assert verified.code == 3
    assert "3" in verified.out
