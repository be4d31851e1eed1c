"""Fault cases E: which text is a visible turn, from end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builders.world import World


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def nothing_leaked(world: World) -> bool:
    return not any(b"CANARY" in content for content in world.bytes_of_store().values())


def test_what_the_harness_adds_to_a_question_is_taken_out_and_what_quotes_it_stays(world: World):
    """FC-E02: a person may talk about the tags, too."""
    quoting = "Why do I see this?\n```\n<system-reminder>be kind</system-reminder>\n```"
    claude = world.claude()
    claude.user("Which port?\n<system-reminder>CANARY be brief</system-reminder>").user(quoting)

    world.sync()

    assert texts(world) == ["Which port?", quoting]
    assert nothing_leaked(world)


def test_internal_threads_are_left_out(world: World):
    """FC-E03: a review or a sub-agent talks to the model in the user's name; `exec` is a person's."""
    for name, source in (("review", {"subagent": "review"}), ("helper", {"subagent": {"other": "title"}})):
        thread = world.codex(name)
        thread.record("session_meta", thread.meta(source=source, thread_source="subagent"))
        thread.user("CANARY internal").assistant("CANARY internal answer")
    world.codex("mine").user("one").assistant("two")

    world.sync()

    assert texts(world) == ["one", "two"]
    assert nothing_leaked(world)


def test_records_of_tools_and_thoughts_give_no_turn(world: World):
    """FC-E04: not even an empty one."""
    world.claude().thinking("CANARY").tool("CANARY").thinking("CANARY")

    world.sync()

    assert texts(world) == []
    assert nothing_leaked(world)


def test_a_helper_prompt_that_the_agent_marks_is_not_what_the_session_is_about(world: World):
    """FC-E05: Claude Code asks a small model for a title; the mark on the record decides."""
    claude = world.claude()
    claude.user("CANARY write a title for <TEXTBLOCK>", isMeta=True)
    claude.user("CANARY summarise", isSidechain=True)
    claude.user("Which port does the tea server use?")

    world.sync()

    assert texts(world) == ["Which port does the tea server use?"]
    assert nothing_leaked(world)


def test_the_last_answer_is_found_whatever_follows_it(world: World):
    """FC-E06: bookkeeping of many kinds ends a session file."""
    claude = world.claude().user("one").assistant("two")
    for kind in ("system", "progress", "file-history-snapshot", "attachment"):
        claude.write(claude.record(kind, content="CANARY", attachment={"type": "x"}))

    world.sync()

    assert texts(world) == ["one", "two"]
    assert nothing_leaked(world)


def test_our_own_handoff_in_a_prompt_never_becomes_a_turn(world: World):
    """FC-E07: else each handoff would quote the one before, for ever."""
    claude = world.claude().user("Which port?").assistant("8080.")
    world.sync()
    counts, sizes = set(), set()
    for round_no in range(10):
        handoff = world.run("handoff", "--no-sync").out
        claude.user(handoff)
        claude.tool(handoff)
        claude.user(f"{handoff}\n\nGo on, round {round_no % 2}.") if round_no < 2 else None
        world.sync()
        counts.add(len(texts(world)))
        sizes.add(len(world.run("handoff", "--no-sync").out) // 200)

    assert texts(world) == ["Which port?", "8080.", "Go on, round 0.", "Go on, round 1."]
    assert max(counts) == 4
    assert max(sizes) - min(sizes) <= 1


def test_what_a_person_marks_private_is_nowhere(world: World):
    """FC-K03: not in the log, the cursors or the read models, in any spelling; the rest of the turn is kept."""
    claude = world.claude()
    claude.user("Use <private>CANARY-1</private>the usual key.")
    claude.user("<PRIVATE>CANARY-2 <private>CANARY-3</private> CANARY-4</PRIVATE>")
    claude.user("From here on <private>CANARY-5 and no end")
    claude.assistant("Fine.")
    world.codex().user("<private>CANARY-6</private>").assistant("Noted.")

    report = world.sync()

    assert sorted(texts(world)) == ["Fine.", "From here on", "Noted.", "Use the usual key."]
    assert sum(agent.private for agent in report.agents) == 2
    assert nothing_leaked(world)
    assert "private_removed" in next(turn for turn in world.turns() if turn.text.startswith("Use")).flags


def test_words_that_wait_for_their_turn_are_in_no_cursor(world: World):
    """FC-K03, I6: some versions keep a prompt typed while busy only in a queue. It waits in the agent's file."""
    claude = world.claude().user("one", version="2.0.77")
    waiting = {"type": "queue-operation", "operation": "enqueue", "sessionId": claude.id}
    claude.write({**waiting, "timestamp": world.now(), "content": "two <private>CANARY</private> waits"})
    world.sync()
    state = (world.store / "sync-state.json").read_bytes()
    unchanged = world.sync()

    claude.write({**waiting, "operation": "remove", "timestamp": world.now()})
    claude.assistant("three", version="2.0.77")
    world.sync()

    assert b"waits" not in state
    assert unchanged.captured == 0
    assert [agent.read for agent in unchanged.agents if agent.found] == [0]
    assert nothing_leaked(world)
    assert set(texts(world)) >= {"one", "three"}
