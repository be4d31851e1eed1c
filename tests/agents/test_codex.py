"""Codex rollouts: which records are the conversation, and what is known of each."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.codex import BEGIN, CHILD, FORK, TEA, Rollout, marks, opened, read, texts
from conversation_esaa.agents import codex
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

MODES = pytest.mark.parametrize("paginated", [True, False], ids=["paginated", "legacy"])


def talk(rollout: Rollout) -> Rollout:
    """A header, the usual instructions, and one question with its answer."""
    return (
        rollout.header()
        .item("developer", "<permissions instructions>\nCANARY\n</permissions instructions>")
        .item(
            "user",
            "# AGENTS.md instructions for /home/dev/tea\n\n<INSTRUCTIONS>\nCANARY\n</INSTRUCTIONS>",
            "<environment_context>\n  <cwd>CANARY</cwd>\n</environment_context>",
        )
        .context()
        .said("user", "Name a herb.")
        .said("assistant", "Mint.")
    )


def turns(items: list) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


@MODES
def test_what_the_terminal_showed_is_the_conversation(paginated):
    """FC-N01: each message is in the file twice, as history of the model and as event; it is one turn."""
    found = read(talk(Rollout(paginated=paginated)).records)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert [turn.actor for turn in turns(found)] == [Actor.USER, Actor.ASSISTANT]


@MODES
def test_reasoning_tools_and_injected_texts_are_not_conversation(paginated):
    """FC-N02, FC-E04: only what a person could read in the terminal becomes a turn."""
    rollout = (
        talk(Rollout(paginated=paginated))
        .event("agent_reasoning", text="CANARY thought")
        .completed("Reasoning", id="r1", summary_text=["CANARY thought"], raw_content=["CANARY"])
        .line("response_item", {"type": "reasoning", "summary": [{"text": "CANARY"}]})
        .line("response_item", {"type": "function_call", "arguments": "CANARY"})
        .line("response_item", {"type": "function_call_output", "output": "CANARY output"})
        .completed("CommandExecution", id="x", aggregated_output="CANARY output")
        .event("exec_command_end", stdout="CANARY output")
        .completed("HookPrompt", id="h", fragments=[{"text": "CANARY hook"}])
        .item("user", '<hook_prompt hook_run_id="1">CANARY hook</hook_prompt>')
        .item("developer", "CANARY hook context")
        .item("user", '<subagent_notification>{"CANARY":1}</subagent_notification>')
        .item("user", "<turn_aborted>\nCANARY\n</turn_aborted>")
        .line(
            "response_item", {"type": "agent_message", "content": [{"type": "input_text", "text": "CANARY"}]}
        )
        .compacted()
        .event("task_complete", last_agent_message="CANARY repeats the answer")
        .event("exited_review_mode", review_output={"findings": [{"title": "CANARY"}]})
        .event("error", message="CANARY")
        .line("world_state", {"text": "CANARY"})
    )

    found = read(rollout.records)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)


def test_a_turn_says_who_where_when_and_with_what():
    found = read(talk(Rollout()).records)

    assert turns(found)[0] == Turn(
        source=codex.NAME,
        source_session_id=TEA,
        source_index=0,
        actor=Actor.USER,
        text="Name a herb.",
        source_ref="u5",
        copy_keys=turns(found)[0].copy_keys,
        said_at="2026-01-02T03:04:05.050Z",
        cwd="/home/dev/tea",
        git_branch="main",
        git_commit="c0ffee",
        model="demo-model",
        agent_version="0.171.0",
    )


def test_legacy_turns_have_no_id_of_their_own_and_keep_their_identity_when_lines_are_put_in():
    """FC-D04: identity is session, ordinal, actor and text; bookkeeping lines do not count."""
    before = talk(Rollout(paginated=False))
    after = Rollout(paginated=False).header().event("token_count", info=None).context()
    talk_again = after.said("user", "Name a herb.").said("assistant", "Mint.")

    first, second = turns(read(before.records)), turns(read(talk_again.records))

    assert {turn.source_ref for turn in first} == {""}
    assert [turn_event_id(turn) for turn in first] == [turn_event_id(turn) for turn in second]


def test_optional_fields_are_never_needed():
    """FC-A07: `ordinal` comes, goes and repeats; it is not the identity."""
    rollout = talk(Rollout()).said("user", "And another?").said("assistant", "Sage.")
    for index, record in enumerate(rollout.records):
        record["ordinal"] = index // 2
    for record in rollout.records[-3:]:
        del record["ordinal"]

    assert texts(read(rollout.records)) == ["Name a herb.", "Mint.", "And another?", "Sage."]


def test_odd_records_hide_nothing_and_are_counted():
    """FC-A06, FC-N14: vendors change their logs without notice."""
    rollout = (
        Rollout(paginated=False)
        .header()
        .event("token_count", info=None, rate_limits={"primary": {}}, credits={"balance": 1})
        .said("user", "Before.")
        .event("invented_tomorrow", text="CANARY")
        .bare({"timestamp": "2026-01-02T03:04:06.000Z", "type": "event_msg"})
        .line("invented_record", {"text": "CANARY"})
        .line("event_msg", {"type": "agent_message", "message": None})
        .line("turn_context", {"cwd": None, "model": 7})
        .completed("InventedItem", text="CANARY")
        .bare(None)
        .bare(["CANARY"])
        .said("assistant", "After.")
    )
    state = opened()

    assert texts(read(rollout.records, state)) == ["Before.", "After."]
    assert state.cwd == "/home/dev/tea"
    assert state.unknown == {
        "event_msg/invented_tomorrow": 1,
        "event_msg without a payload": 1,
        "invented_record": 1,
        "item_completed/InventedItem": 1,
        "<NoneType>": 1,
        "<list>": 1,
    }


def test_everything_that_codex_is_known_to_write_is_known():
    state = opened()

    read(talk(Rollout()).compacted().records, state)
    read([{"type": kind, "payload": {}} for kind in codex.KNOWN_INVISIBLE if "/" not in kind], state)
    for name in codex.KNOWN_INVISIBLE:
        kind, _, inner = name.partition("/")
        if kind == "event_msg":
            read([{"type": kind, "payload": {"type": inner}}], state)

    assert state.unknown == {}


def test_the_parts_of_a_message_are_joined_and_pictures_left_out():
    rollout = Rollout().header()
    rollout.completed(
        "UserMessage",
        id="u1",
        content=[
            {"type": "text", "text": "Look at this:"},
            {"type": "local_image", "path": "/CANARY.png"},
            {"type": "image", "image_url": "data:CANARY"},
            {"type": "text", "text": "  "},
            {"type": "text", "text": "What is it?"},
        ],
    )

    assert texts(read(rollout.records)) == ["Look at this:\nWhat is it?"]


def test_words_are_kept_exactly_as_they_were_shown():
    """A prompt may end with a line feed; FC-C01: half a surrogate pair is not ours to mend here."""
    text = "  two spaces before, a line feed behind, half a pair \ud83d\n"
    found = read(Rollout(paginated=False).header().shown("user", text).records)

    assert texts(found) == [text]


@MODES
def test_blank_messages_are_no_turns(paginated):
    found = read(Rollout(paginated=paginated).header().shown("user", " \n").shown("assistant", "").records)

    assert found == []


def test_a_prompt_that_mentions_a_wrapper_is_somebodys():
    """FC-N02: the whole text has to be one."""
    prompts = [
        "<skill> or <permissions> or what?",
        "<environment_context> is what exactly?",
        "Why does it say # AGENTS.md instructions for /home/dev?",
        "# AGENTS.md instructions are missing, add them",
        "<INSTRUCTIONS>CANARY?</INSTRUCTIONS> what are these for?",
        "<div>hello</div>",
    ]
    for shown in (Rollout.shown, Rollout.said):
        rollout = Rollout(paginated=False).header()
        for prompt in prompts:
            shown(rollout, "user", prompt)

        assert texts(read(rollout.records)) == prompts


def test_instructions_that_an_old_version_showed_as_events_are_not_turns():
    """Before 0.50 the events of instructions had a kind, or were nothing but a wrapper."""
    rollout = (
        Rollout(paginated=False)
        .header()
        .event("user_message", message="CANARY", kind="user_instructions")
        .event("user_message", message="<environment_context>\nCANARY\n</environment_context>")
        .event("user_message", message="Name a herb.", kind="plain")
    )

    assert texts(read(rollout.records)) == ["Name a herb."]


# The session


def test_a_session_starts_before_its_first_turn_and_not_without_one():
    """A terminal that was opened and closed leaves a header alone."""
    rollout = Rollout().header()
    assert read(rollout.records) == []

    mark, turn = read(rollout.context().said("user", "Name a herb.").records)

    assert isinstance(turn, Turn)
    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.said_at, mark.cwd) == (
        MarkKind.STARTED,
        "2026-01-02T03:04:05.000Z",
        "/home/dev/tea",
    )


def test_the_directory_follows_the_turn_context():
    """A turn belongs where it was said; the gate asks each one."""
    rollout = Rollout().header().said("user", "Here.").context(cwd="/home/dev/other").said("user", "There.")

    assert [turn.cwd for turn in turns(read(rollout.records))] == ["/home/dev/tea", "/home/dev/other"]


def test_the_model_follows_the_settings():
    settings = {"model": "second-model"}
    rollout = Rollout().header().context().said("user", "One.")
    rollout.event("thread_settings_applied", thread_settings=settings).said("user", "Two.")

    assert [turn.model for turn in turns(read(rollout.records))] == ["demo-model", "second-model"]


@MODES
def test_a_compaction_is_one_mark_though_several_records_tell_of_it(paginated):
    rollout = talk(Rollout(paginated=paginated)).compacted()
    if not paginated:
        rollout.event("context_compacted")
    rollout.said("user", "Go on.").compacted().said("user", "And on.")

    found = read(rollout.records)

    assert marks(found) == ["started", "compacted", "compacted"]
    assert [item.source_ref for item in found if isinstance(item, SessionMark)][1:] == [
        "compaction 1",
        "compaction 2",
    ]


def test_a_compaction_that_only_an_event_tells_of_counts_too():
    assert marks(read(talk(Rollout()).event("context_compacted").records)) == ["started", "compacted"]


def test_a_fork_names_the_session_it_came_from_and_copies_nothing():
    rollout = Rollout(FORK).header(forked_from_id=TEA).said("user", "In this branch, amber.")

    started, turn = read(rollout.records, opened(FORK))

    assert (started.forked_from, turn.source_session_id) == (TEA, FORK)


def test_the_header_knows_the_thread_better_than_the_file_name():
    """Exports name a file by another id."""
    found = read(talk(Rollout(CHILD)).records, opened(TEA))

    assert {item.source_session_id for item in found} == {CHILD}


def test_a_file_that_lost_its_header_goes_by_its_name():
    found = read(talk(Rollout()).records[1:])

    assert texts(found) == ["Name a herb.", "Mint."]
    assert {item.source_session_id for item in found} == {TEA}


# Threads that are nobody's conversation


SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": TEA, "depth": 1, "agent_nickname": "Kant"}}}


@MODES
@pytest.mark.parametrize(
    "header",
    [
        {"source": SPAWNED, "thread_source": "subagent", "parent_thread_id": TEA},
        {"source": SPAWNED},
        {"source": {"subagent": "review"}},
        {"source": {"subagent": {"other": "guardian"}}},
        {"source": {"internal": "memory_consolidation"}},
        {"thread_source": "subagent"},
        {"parent_thread_id": TEA},
    ],
)
def test_the_threads_of_sub_agents_reviewers_and_housekeeping_are_skipped(header, paginated):
    """FC-D02, FC-E03."""
    state = opened(CHILD)
    rollout = Rollout(CHILD, paginated=paginated).header(**header)
    rollout.said("user", "CANARY instruction").said("assistant", "CANARY result").compacted()

    assert read(rollout.records, state) == []
    assert state.sidechain


def test_the_first_header_decides_whose_thread_it_is():
    """FC-D03: a child's file goes on with its parent's header and history, which have no such mark."""
    rollout = Rollout(CHILD, paginated=False).header(source=SPAWNED)
    rollout.thread = TEA
    talk(rollout)

    assert read(rollout.records, opened(CHILD)) == []


@pytest.mark.parametrize("source", ["exec", "cli", "vscode", "mcp", {"custom": "my_client"}, None])
def test_a_thread_is_a_persons_unless_it_is_marked(source):
    """FC-E03: `exec` and `vscode` are what plain runs say; they are no reason to skip."""
    assert texts(read(Rollout().header(source=source).said("user", "Mine.").records)) == ["Mine."]


# Copied histories of older versions


def forked_copy(parent: Rollout, *, own_times: bool) -> Rollout:
    """The file of a fork: its header, then the parent's file again, header and all, in one go."""
    fork = Rollout(FORK, paginated=False, begin=BEGIN + timedelta(hours=1))
    fork.header(timestamp="2026-01-02T04:04:05.000Z")
    for record in parent.records:
        fork.line(record["type"], record["payload"])
        if own_times:
            fork.records[-1]["timestamp"] = record["timestamp"]
    return fork


@pytest.mark.parametrize("own_times", [True, False], ids=["times of the parent", "time of copying"])
def test_a_copied_history_is_recognised_as_the_parents(own_times):
    """The copies have no ids and may have new times; what they share is thread, ordinal and words."""
    parent = talk(Rollout(paginated=False)).said("user", "Another?").said("assistant", "Sage.")
    fork = forked_copy(parent, own_times=own_times).later(minutes=1).said("user", "Sage.")

    originals, found = turns(read(parent.records)), read(fork.records, opened(FORK))
    known = {key for turn in originals for key in turn.copy_keys}
    copies = turns(found)

    assert [bool(known & set(turn.copy_keys)) for turn in copies] == [True] * 4 + [False]
    assert [turn.source_session_id for turn in copies] == [FORK] * 5
    assert found[0].forked_from == TEA


def test_a_copy_of_a_copy_is_recognised_as_the_first_ones():
    parent = talk(Rollout(paginated=False))
    child = forked_copy(parent, own_times=False).later(minutes=1).said("user", "Sage?")
    grandchild = Rollout(CHILD, paginated=False, begin=BEGIN + timedelta(hours=2)).header()
    for record in child.records:
        grandchild.line(record["type"], record["payload"])
    grandchild.later(minutes=1).said("user", "Only here.")

    known = {
        key for rollout in (parent, child) for turn in turns(read(rollout.records)) for key in turn.copy_keys
    }
    fresh = [turn.text for turn in turns(read(grandchild.records)) if not known & set(turn.copy_keys)]

    assert fresh == ["Only here."]


def test_the_same_prompt_in_two_forks_is_said_twice():
    """Trying a prompt again in a fork is why one forks; it must not pass for a copy."""
    parent = talk(Rollout(paginated=False))
    forks = [forked_copy(parent, own_times=False).later(minutes=1).said("user", "Again.") for _ in range(2)]
    forks[1].records[0]["payload"]["id"] = CHILD

    first, second = (turns(read(fork.records))[-1] for fork in forks)

    assert first.text == second.text == "Again."
    assert not set(first.copy_keys) & set(second.copy_keys)


def test_a_copied_compaction_was_the_parents():
    parent = talk(Rollout(paginated=False)).compacted().said("user", "Go on.")
    fork = forked_copy(parent, own_times=False).later(minutes=1).said("user", "Here.").compacted()

    assert marks(read(fork.records)) == ["started", "compacted"]


def test_a_rollout_that_was_migrated_to_the_new_mode_is_recognised():
    """`codex migrate-rollouts` rewrites a file in place, and its turns get ids."""
    old, new = turns(read(talk(Rollout(paginated=False)).records)), turns(read(talk(Rollout()).records))

    assert [turn.copy_keys for turn in old] == [turn.copy_keys for turn in new]


def test_copy_keys_are_digests_and_not_words():
    assert "herb" not in repr(turns(read(talk(Rollout()).records))[0].copy_keys)


# Files with one log only


@MODES
def test_events_alone_are_enough(paginated):
    """FC-N01."""
    rollout = Rollout(paginated=paginated).header().shown("user", "Name a herb.").shown("assistant", "Mint.")

    assert texts(read(rollout.records)) == ["Name a herb.", "Mint."]


@MODES
def test_the_history_of_the_model_stands_in_where_a_file_has_no_event(paginated):
    """FC-N01, FC-N02: then its wrappers have to be told from what somebody typed."""
    rollout = talk(Rollout(paginated=paginated))
    rollout.records = [record for record in rollout.records if record["type"] != "event_msg"]
    rollout.item("user", "<turn_aborted>\nCANARY\n</turn_aborted>")
    rollout.item("user", "Look:", '<image name="x" path="/CANARY">', "</image>", "What is it?")
    rollout.item("user", "<user_shell_command>CANARY</user_shell_command>").item("assistant", "A leaf.")

    found = read(rollout.records)

    assert texts(found) == ["Name a herb.", "Mint.", "Look:\nWhat is it?", "A leaf."]
    assert "CANARY" not in repr(found)
    assert marks(found) == ["started"]


def test_where_the_parts_are_named_their_names_decide():
    rollout = Rollout().header()
    rollout.item("user", "CANARY", "Name a herb.", kinds=["agents_md.instructions", "user.text"])
    rollout.item("user", "CANARY", kinds=["invented.tomorrow"]).item("assistant", "Mint.", kinds=["unknown"])

    assert texts(read(rollout.records)) == ["Name a herb.", "Mint."]


@MODES
@pytest.mark.parametrize("order", ["item first", "event first"])
def test_whichever_mirror_comes_first_a_message_is_one_turn(order, paginated):
    """FC-N01."""
    rollout = Rollout(paginated=paginated).header()
    for role, text in [("user", "One?"), ("assistant", "Two."), ("user", "Three?"), ("assistant", "Four.")]:
        if order == "item first":
            rollout.item(role, text).shown(role, text)
        else:
            rollout.shown(role, text).item(role, text)

    assert texts(read(rollout.records)) == ["One?", "Two.", "Three?", "Four."]


def test_mirrors_that_come_in_groups_are_still_one_turn_each():
    rollout = Rollout().header().item("user", "One?").item("assistant", "Two.")
    rollout.shown("user", "One?").shown("assistant", "Two.").shown("user", "One?")

    assert texts(read(rollout.records)) == ["One?", "Two.", "One?"]


def test_both_kinds_of_event_for_one_message_are_one_turn():
    """Should a version write both while it changes over."""
    rollout = Rollout().header()
    for role, text in [("user", "One?"), ("assistant", "Two.")]:
        rollout.shown(role, text)
        rollout.event("user_message" if role == "user" else "agent_message", message=text)

    assert texts(read(rollout.records)) == ["One?", "Two."]


def test_saying_the_same_again_after_an_update_is_no_mirror():
    """A thread that goes on in the other mode, or first in any: people say "continue" all day."""
    for before in (Rollout.shown, Rollout.item):
        rollout = Rollout(paginated=False).header()
        for role, text in [("user", "Continue."), ("assistant", "Done.")] * 2:
            before(rollout, role, text)
        rollout.paginated = True
        for role, text in [("user", "Continue."), ("assistant", "Done.")] * 2:
            rollout.said(role, text)

        assert texts(read(rollout.records)) == ["Continue.", "Done."] * 4


def test_a_file_that_has_events_from_some_point_on_stays_with_them():
    """An old session that a newer version took up again."""
    rollout = Rollout(paginated=False).header().item("user", "Old?").item("assistant", "Old.")
    rollout.said("user", "New?").said("assistant", "New.").item("assistant", "CANARY summary")

    assert texts(read(rollout.records)) == ["Old?", "Old.", "New?", "New."]


def test_a_summary_at_the_start_of_a_fork_is_not_an_answer():
    """A compaction before the first prompt: an answer's item without an event, and without a question."""
    rollout = (
        Rollout().header(forked_from_id=TEA).compacted().said("user", "Go on.").said("assistant", "Yes.")
    )

    found = read(rollout.records)

    assert texts(found) == ["Go on.", "Yes."]
    assert "CANARY" not in repr(found)


def test_what_is_held_back_stays_bounded_and_is_counted():
    state, rollout = opened(), Rollout().header()
    for number in range(40):
        rollout.item("user", f"prompt {number}")

    read(rollout.records, state)

    assert len(state.held) == 16
    assert sum(state.unknown.values()) == 24


# Reading in pieces


def full_talk(*, paginated: bool, events: bool = True) -> list[dict]:
    rollout = talk(Rollout(paginated=paginated)).compacted().said("user", "Go on.").context(cwd="/elsewhere")
    rollout.said("assistant", "Yes.").said("user", "Go on.").said("assistant", "Yes.")
    return [record for record in rollout.records if events or record["type"] != "event_msg"]


@given(
    paginated=st.booleans(),
    events=st.booleans(),
    copied=st.booleans(),
    cuts=st.lists(st.integers(0, 60), max_size=5),
)
def test_reading_in_pieces_gives_what_reading_at_once_gives(paginated, events, copied, cuts):
    """FC-F04: what makes it safe to store the state between two syncs."""
    records = full_talk(paginated=paginated, events=events)
    if copied:
        parent = Rollout(paginated=False)
        parent.records = records
        records = forked_copy(parent, own_times=False).later(minutes=1).said("user", "Here.").records
    expected = read(records)
    state, found = opened(), []

    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(records)], strict=True):
        found += read(records[start:end], state)
        state = msgspec.json.decode(msgspec.json.encode(state), type=codex.State)

    assert found == expected
    assert [turn.source_index for turn in turns(found)] == list(range(len(turns(found))))


def test_hostile_text_in_the_header_does_not_break_the_stored_state():
    """FC-C01: the state is stored as UTF-8."""
    half = "half a pair \ud83d"
    state = opened()
    rollout = Rollout().header(cwd=half, cli_version=half, id=half, git={"branch": half, "commit_hash": half})
    rollout.context(cwd=half, model=half).item("user", half)

    read(rollout.records, state)

    assert msgspec.json.decode(msgspec.json.encode(state), type=codex.State) == state
