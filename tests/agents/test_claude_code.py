"""Claude Code: which lines of a session file become turns, and what a turn says of itself."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from builders.claude_code import FORK, TEA, Session, as_bytes, file_of, read_all, said_in, turns_of
from conversation_esaa.agents import claude_code
from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

# --- Turns


def test_a_prompt_and_its_answer_are_two_turns():
    """The plainest session there is."""
    session = Session()
    session.typed("Which port does the tea server use?")
    session.answered("It uses 8080.")

    assert said_in(session) == [
        ("user", "Which port does the tea server use?"),
        ("assistant", "It uses 8080."),
    ]


def test_a_turn_carries_what_its_line_states():
    """Provenance is what makes a turn evidence: whose, when, where, by which model and version."""
    session = Session(version="2.1.332", cwd="/home/dev/tea", branch="main")
    line = session.answered("It uses 8080.", "msg_7")

    (turn,) = turns_of(session)

    assert turn == Turn(
        source=claude_code.NAME,
        source_session_id=TEA,
        source_index=0,
        actor=Actor.ASSISTANT,
        text="It uses 8080.",
        source_ref=line["uuid"],
        message_ref="msg_7",
        copy_keys=turn.copy_keys,
        said_at="2026-01-02T03:04:05.006Z",
        cwd="/home/dev/tea",
        git_branch="main",
        model="claude-demo",
        agent_version="2.1.332",
    )


def test_fc_n04_each_text_block_of_one_message_is_a_turn_in_order_under_its_own_id():
    """FC-N04: one message is written as a line per block; none of them repeats an earlier one."""
    session = Session()
    session.thought("CANARY")
    first = session.answered("Let me look.", "msg_1")
    session.used_tool("CANARY")
    session.tool_answered("CANARY")
    second = session.answered("Found it.", "msg_1")

    turns = turns_of(session)

    assert [turn.text for turn in turns] == ["Let me look.", "Found it."]
    assert [first["uuid"], second["uuid"]] == [turn.source_ref for turn in turns]
    assert [turn.message_ref for turn in turns] == ["msg_1", "msg_1"]
    assert [turn.source_index for turn in turns] == [0, 1]


def test_several_text_blocks_of_one_line_are_one_turn():
    """A prompt with a picture between two paragraphs is still one prompt; the picture is not text."""
    session = Session()
    picture = {"type": "image", "source": {"type": "base64", "data": "Q0FOQVJZ"}}
    session.said([{"type": "text", "text": "Before"}, picture, {"type": "text", "text": "after"}])

    assert said_in(session) == [("user", "Before\nafter")]


def test_an_answer_that_is_no_list_of_blocks_is_not_passed_over_at_a_glance():
    """Most lines are passed over without being decoded: only those that surely say nothing."""
    session = Session()
    line = session.answered("It uses 8080.")
    line["message"]["content"] = "It uses 8080."
    state = claude_code.State(session_id=TEA)

    glanced = claude_code.glance(as_bytes([line]), state)

    assert not glanced
    assert said_in(session) == [("assistant", "It uses 8080.")]


def test_text_is_verbatim():
    """White space and markup of a prompt are its author's."""
    session = Session()
    session.typed("  def f():\n\treturn <b>1</b>\n\n")

    assert said_in(session) == [("user", "  def f():\n\treturn <b>1</b>\n\n")]


def test_a_blank_block_is_nothing_said():
    """Some versions write an empty block before they think."""
    session = Session()
    session.answered("\n\n")
    session.said("   ")

    assert said_in(session) == []


def test_a_plan_that_is_carried_out_is_the_persons_message():
    """The client composes it, and shows it as what the person said."""
    session = Session(version="2.1.40")
    session.said("Implement the following plan:\n\n# Brew tea", planContent="# Brew tea")

    assert said_in(session) == [("user", "Implement the following plan:\n\n# Brew tea")]


def test_fc_e06_the_last_answer_is_found_behind_bookkeeping():
    """FC-E06: hooks, timings and progress stand behind the answer."""
    session = Session()
    session.typed("Brew?")
    session.answered("Brewed.")
    session.line("system", subtype="turn_duration", durationMs=12)
    session.attached({"type": "hook_success", "stdout": "CANARY"})
    session.line("progress", data={"type": "bash_progress", "output": "CANARY"})

    assert said_in(session)[-1] == ("assistant", "Brewed.")


# --- What is never a turn


def canaries() -> list[Session]:
    """One session for each kind of line that holds words which were not said."""
    sessions = []

    def hidden() -> Session:
        sessions.append(Session())
        return sessions[-1]

    hidden().thought("CANARY")
    hidden().block("msg_1", {"type": "redacted_thinking", "data": "CANARY"})
    hidden().used_tool("CANARY")
    hidden().block("msg_1", {"type": "server_tool_use", "id": "t", "name": "CANARY", "input": {}})
    hidden().block("msg_1", {"type": "block of tomorrow", "text": "CANARY"})
    hidden().tool_answered("CANARY")
    hidden().tool_answered("CANARY", toolUseResult=None)
    hidden().said(
        [{"type": "tool_result", "content": "CANARY"}, {"type": "text", "text": "CANARY"}], toolUseResult=None
    )
    hidden().said("CANARY", toolUseResult="CANARY")
    hidden().said("CANARY", isMeta=True)
    hidden().said(
        [{"type": "text", "text": "[Image: source: /tmp/CANARY.png]"}], isMeta=True, turnCompanion=True
    )
    hidden().said("CANARY", isCompactSummary=True)
    hidden().said("CANARY", isVisibleInTranscriptOnly=True)
    hidden().said("CANARY", isSidechain=True)
    hidden().said("CANARY", agentId="a5bdbc1")
    hidden().said("CANARY", origin={"kind": "task-notification"})
    hidden().said("CANARY", origin={"kind": "an origin of tomorrow"})
    hidden().said("CANARY", turnOrigin="task_notification")
    hidden().said("CANARY", promptSource="system")
    hidden().said("Stop hook feedback:\nCANARY", isMeta=True, rowSource="hook", hookText="CANARY")
    hidden().said("CANARY", rowSource="harness")
    hidden().answered("CANARY", isSidechain=True)
    hidden().answered("CANARY", agentId="a5bdbc1")
    hidden().answered("CANARY", isApiErrorMessage=True)
    hidden().answered("CANARY", error="rate_limit")
    hidden().answered("CANARY", apiError="overloaded")
    hidden().block("id", {"type": "text", "text": "CANARY"}, model="<synthetic>", isApiErrorMessage=False)
    hidden().compacted()
    hidden().attached({"type": "instructions", "content": "CANARY", "prompt": "CANARY"})
    hidden().attached({"type": "hook_additional_context", "content": ["CANARY"]})
    hidden().attached({"type": "hook_success", "stdout": "CANARY", "content": "CANARY"})
    hidden().attached({"type": "prompt_snapshot", "prompt": "CANARY"})
    hidden().typed_while_busy("CANARY", commandMode="task-notification")
    hidden().typed_while_busy("CANARY", origin={"kind": "coordinator"})
    hidden().typed_while_busy("<task-notification>CANARY</task-notification>")
    hidden().line(
        "system", subtype="local_command", content="<local-command-stdout>CANARY</local-command-stdout>"
    )
    hidden().line(
        "system", subtype="informational", content="Original prompt: CANARY", preventContinuation=True
    )
    hidden().bare(
        {"type": "api-request-blob", "sessionId": TEA, "message": {"role": "user", "content": "CANARY"}}
    )
    hidden().bare({"type": "api-request", "system": "CANARY"})
    hidden().bare({"type": "summary", "summary": "CANARY", "leafUuid": "x"})
    hidden().bare({"type": "ai-title", "title": "CANARY"})
    hidden().bare({"type": "last-prompt", "lastPrompt": "CANARY"})
    hidden().bare({"type": "tomorrow", "message": {"role": "user", "content": "CANARY"}})
    hidden().bare({"message": {"role": "user", "content": "CANARY"}})
    return sessions


@pytest.mark.parametrize("session", canaries())
def test_fc_n03_what_was_not_said_never_comes_out(session):
    """FC-N03, FC-E04, FC-E07: one canary for each place where hidden words stand, ours included."""
    session.typed("Seen")

    found = read_all(session)

    assert [(turn.actor, turn.text) for turn in found if isinstance(turn, Turn)] == [("user", "Seen")]
    assert "CANARY" not in repr(found)


def test_fc_e04_tools_and_thinking_alone_are_no_turn_and_no_session():
    """FC-E04: a file in which nobody says anything gives nothing at all, not even a session's start."""
    session = Session()
    session.thought("CANARY")
    session.used_tool("CANARY")
    session.tool_answered("CANARY")

    assert read_all(session) == []


@pytest.mark.parametrize("name", ["agent-a5bdbc1.jsonl", f"{TEA}/subagents/tomorrow.jsonl"])
def test_a_file_of_a_sub_agent_holds_no_conversation(name):
    """Even when its lines lost their marks and somebody names the file on the command line."""
    session = Session()
    session.typed("CANARY")
    state = claude_code.open_session(SessionFile(path=Path("/home/dev/.claude/projects/-home-dev-tea", name)))

    assert list(claude_code.read(session.records, state)) == []


def test_an_answer_in_place_of_the_model_is_hidden_and_the_next_one_is_not():
    """`No response requested.` is written after a compaction; only its model name tells."""
    session = Session(version="2.0.77")
    session.block("a", {"type": "text", "text": "No response requested."}, model="<synthetic>")
    session.answered("Here.")

    assert said_in(session) == [("assistant", "Here.")]


# --- Prompts typed while the agent works


def test_a_prompt_typed_while_busy_is_a_turn_where_the_model_got_it():
    """There is no `user` line for it, only an attachment; the queue's lines repeat it."""
    session = Session()
    session.typed("Count the cups")
    session.queue("enqueue", "and the saucers")
    session.queue("remove", "and the saucers", reason="absorbed_mid_turn")
    session.tool_answered("CANARY")
    line = session.typed_while_busy("and the saucers")
    session.answered("Six each.")

    turns = turns_of(session)

    assert [turn.text for turn in turns] == ["Count the cups", "and the saucers", "Six each."]
    assert line["uuid"] == turns[1].source_ref


def test_a_prompt_typed_while_busy_may_be_blocks_and_lack_its_marks():
    """2.1.108 to 2.1.172 state no origin."""
    session = Session(version="2.1.108")
    session.attached(
        {
            "type": "queued_command",
            "commandMode": "prompt",
            "prompt": [{"type": "text", "text": "and"}, {"type": "image"}, {"type": "text", "text": "milk"}],
        }
    )

    assert said_in(session) == [("user", "and\nmilk")]


def old_session_with_queue() -> Session:
    session = Session(version="2.1.55")
    session.said("Count the cups")
    return session


def test_before_attachments_a_prompt_taken_out_of_the_queue_is_a_turn():
    """2.1.55: the prompt stands in the queue's lines alone, and the model answers it."""
    session = old_session_with_queue()
    queued = session.queue("enqueue", "and the saucers")
    session.tool_answered("CANARY")
    session.queue("remove")
    session.answered("Six each.")

    turns = turns_of(session)

    assert [turn.text for turn in turns] == ["Count the cups", "and the saucers", "Six each."]
    assert turns[1].source_ref.startswith(f"{TEA}/{queued['timestamp']}/")
    assert (queued["timestamp"], "/home/dev/tea", "main") == (
        turns[1].said_at,
        turns[1].cwd,
        turns[1].git_branch,
    )


def test_a_prompt_that_leaves_the_queue_as_a_line_is_one_turn():
    """`dequeue` announces the `user` line that holds it."""
    session = old_session_with_queue()
    session.queue("enqueue", "and the saucers")
    session.queue("dequeue")
    session.said("and the saucers")
    session.queue("remove")

    assert said_in(session) == [("user", "Count the cups"), ("user", "and the saucers")]


def test_a_prompt_behind_one_that_was_announced_is_the_one_removed():
    """The line of the first may be written after the second was taken out."""
    session = old_session_with_queue()
    session.queue("enqueue", "and the saucers")
    session.queue("enqueue", "and the spoons")
    session.queue("dequeue")
    session.queue("remove")
    session.said("and the saucers")

    assert [text for _, text in said_in(session)] == ["Count the cups", "and the spoons", "and the saucers"]


def test_a_prompt_taken_back_into_the_editor_was_never_said():
    """`popAll` gives it back to its author."""
    session = old_session_with_queue()
    session.queue("enqueue", "CANARY")
    session.queue("enqueue", "and the saucers")
    session.queue("popAll", "CANARY")
    session.queue("remove")
    session.queue("enqueue", "CANARY")
    session.queue("enqueue", "CANARY too")
    session.queue("popAll")
    session.queue("remove")

    assert said_in(session) == [("user", "Count the cups"), ("user", "and the saucers")]


def test_notifications_in_the_queue_are_no_prompts_and_may_overtake_one():
    """2.1.16: a notification that came later leaves the queue first; the prompt keeps its place."""
    session = old_session_with_queue()
    session.queue("enqueue", "and the saucers")
    session.queue("enqueue", "<task-notification>CANARY</task-notification>")
    session.queue("dequeue")
    session.said("<task-notification>CANARY</task-notification>")
    session.queue("enqueue", "<task-notification>CANARY 2</task-notification>")
    session.queue("remove")
    session.queue("remove")

    assert said_in(session) == [("user", "Count the cups"), ("user", "and the saucers")]


def test_the_queue_and_the_attachment_never_give_one_prompt_twice():
    """Between the two ways of recording, a version might use both; afterwards the words are free again."""
    session = Session(version="2.1.80")
    session.said("Count the cups")
    session.queue("enqueue", "go on")
    session.queue("remove")
    session.typed_while_busy("go on")
    session.answered("Counting.")
    session.typed_while_busy("go on")

    assert [text for _, text in said_in(session)] == ["Count the cups", "go on", "Counting.", "go on"]


def test_words_that_left_the_queue_long_ago_may_be_typed_again():
    """An agent that is updated in the middle of a session goes on with attachments."""
    session = old_session_with_queue()
    session.queue("enqueue", "go on")
    session.queue("remove")
    session.answered("Counting.")
    session.version = "2.1.332"
    session.typed_while_busy("go on")

    assert [text for _, text in said_in(session)] == ["Count the cups", "go on", "Counting.", "go on"]


def test_the_state_holds_no_words_once_the_version_is_known_to_attach_prompts():
    """A cursor is no place for what people say, longer than it must be."""
    session = Session()
    session.typed("Count the cups")
    session.queue("enqueue", "and the saucers")
    state = claude_code.open_session(file_of())

    list(claude_code.read(session.records, state))

    assert state.queue == []


# --- Sessions


def test_a_session_starts_once_before_its_first_turn():
    """The mark stands where the talk begins, and tells when the file was opened."""
    session = Session()
    opened = session.queue("enqueue", "Brew?")
    session.typed("Brew?")
    session.answered("Brewed.")
    state = claude_code.open_session(file_of())

    first = list(claude_code.read(session.records[:2], state))
    then = list(claude_code.read(session.records[2:], state))

    mark = first[0]
    assert isinstance(mark, SessionMark)
    assert (
        mark.kind,
        mark.source_session_id,
        mark.source_ref,
        mark.forked_from,
    ) == (MarkKind.STARTED, TEA, "", "")
    assert (opened["timestamp"], "/home/dev/tea", "2.1.332") == (mark.said_at, mark.cwd, mark.agent_version)
    assert [Turn, Turn] == [type(found) for found in (first[1], *then)]


def test_a_compaction_is_a_mark_and_its_summary_is_no_turn():
    """What was said before is still in the log; the reader should know that the agent forgot it."""
    session = Session()
    session.typed("Brew?")
    boundary = session.compacted("auto")
    session.typed("Go on")

    found = read_all(session)

    mark = found[2]
    assert isinstance(mark, SessionMark)
    assert (MarkKind.COMPACTED, "auto", boundary["uuid"]) == (mark.kind, mark.trigger, mark.source_ref)
    assert [turn.text for turn in found if isinstance(turn, Turn)] == ["Brew?", "Go on"]


def test_the_session_is_the_files_not_the_lines():
    """A fork of 2.0.77 copies lines that still name the session they came from."""
    origin = Session(version="2.0.77")
    origin.said("Brew?")
    fork = Session(FORK, version="2.0.77")
    origin.copied_by(fork, sessions=False)
    fork.said("Brew more?")

    found = read_all(fork)

    assert {FORK} == {item.source_session_id for item in found}
    assert isinstance(found[0], SessionMark)
    assert found[0].forked_from == TEA


def test_a_file_with_a_name_of_its_own_is_named_by_its_lines():
    """Exports and checkpoints are called anything."""
    session = Session()
    session.bare({"type": "mode", "mode": "normal", "sessionId": TEA})
    session.typed("Brew?")

    assert [turn.source_session_id for turn in turns_of(session, "2026-01-02-tea")] == [TEA]


def test_a_file_that_nothing_names_is_named_by_its_file_name():
    """A turn without a session could not be told from another file's."""
    session = Session()
    session.typed("Brew?").pop("sessionId")

    assert [turn.source_session_id for turn in turns_of(session, "export")] == ["export"]


def test_fc_a04_empty_files_and_files_of_titles_are_no_error():
    """FC-A04: Claude Code leaves both behind."""
    assert read_all([]) == []
    assert read_all([{"type": "summary", "summary": "Tea", "leafUuid": "x"}]) == []
    assert list(read_records(io.BytesIO(b"\n\n"), Lines())) == []


# --- Where a turn was said


def test_a_session_that_changes_directory_says_so_line_by_line():
    """`cd` in the shell tool moves the session; the gate looks at each turn."""
    session = Session(cwd="/home/dev/tea")
    session.typed("Go to the cups")
    session.cwd = "/home/dev/tea/cups"
    session.tool_answered("CANARY")
    session.answered("Here.")

    assert [turn.cwd for turn in turns_of(session)] == ["/home/dev/tea", "/home/dev/tea/cups"]


def test_a_line_without_a_directory_was_said_in_the_last_one():
    """Hidden lines move the session too; a sub-agent's do not."""
    session = Session()
    session.cwd = "/home/dev/cups"
    session.tool_answered("CANARY")
    session.cwd = "/tmp/worktree"
    session.said("CANARY", isSidechain=True)
    session.typed("Here?")["cwd"] = None

    assert [turn.cwd for turn in turns_of(session)] == ["/home/dev/cups"]


def test_head_is_no_branch():
    """Outside a repository the log says `HEAD`."""
    session = Session(branch="HEAD")
    session.typed("Brew?")

    assert [turn.git_branch for turn in turns_of(session)] == [""]


# --- Damaged and odd input


def test_fc_a01_padding_and_cut_lines_hide_no_neighbour():
    """FC-A01, FC-F04: a crash leaves NUL bytes; a line being written is read when it is whole."""
    session = Session()
    for text in ("one", "two", "three"):
        session.typed(text)
    lines = [as_bytes([record]) for record in session.records]
    damaged = lines[0] + lines[1][:-1] + b"\0" * 9000 + b"\n" + lines[2][:-20]
    read = Lines()
    state = claude_code.open_session(file_of())

    first = list(claude_code.read(read_records(io.BytesIO(damaged), read), state))
    then = list(claude_code.read(read_records(io.BytesIO(damaged + lines[2][-20:]), read), state))

    assert [turn.text for turn in first if isinstance(turn, Turn)] == ["one", "two"]
    assert [turn.text for turn in then if isinstance(turn, Turn)] == ["three"]
    assert [bad.line_no for bad in read.bad] == [2]


@pytest.mark.parametrize(
    "odd",
    [
        {"message": None},
        {"message": "CANARY"},
        {"message": {"role": "user", "content": None}},
        {"message": {"role": "user", "content": {"type": "text", "text": "CANARY"}}},
        {"message": {"role": "user", "content": [None, 7, "CANARY", {"type": "text", "text": None}]}},
        {"message": {"role": "system", "content": "CANARY"}},
        {"message": {"role": ["user"], "content": "CANARY"}},
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_fc_n14_fields_of_another_shape_are_left_unread(kind, odd):
    """FC-N14: nothing is guessed, and the neighbours are read."""
    session = Session()
    session.line(kind, **odd)
    session.typed("Seen")

    assert said_in(session) == [("user", "Seen")]


def test_fc_n14_null_envelope_fields_are_fields_that_say_nothing():
    """FC-N14: the turn is kept, without what the line does not state."""
    session = Session()
    nothing = dict.fromkeys(
        ("uuid", "timestamp", "cwd", "gitBranch", "version", "sessionId", "isMeta", "origin")
    )
    session.typed("Brew?").update(nothing)

    (turn,) = turns_of(session)

    assert (
        turn.text,
        turn.source_session_id,
        turn.source_ref,
        turn.said_at,
        turn.cwd,
        turn.git_branch,
        turn.agent_version,
    ) == ("Brew?", TEA, "", "", "", "", "")


def test_fc_n14_what_is_not_understood_is_counted_by_name_and_never_quoted():
    """FC-N14: `status` can say that a newer Claude Code writes something we do not read."""
    records = [
        "CANARY",
        None,
        {"type": "tomorrow"},
        {"type": "tomorrow"},
        {"type": 7},
        {"type": "user", "message": 1},
    ]
    state = claude_code.open_session(file_of())

    list(claude_code.read([*records, *({"type": kind} for kind in claude_code.KNOWN_INVISIBLE)], state))

    assert state.unknown == {"<NoneType>": 2, "tomorrow": 2, "<int>": 1, "user without a message": 1}


def test_fc_f05_times_are_given_in_one_form():
    """FC-F05: whatever zone or precision a line uses."""
    session = Session()
    session.typed("Brew?")["timestamp"] = "2026-03-01T10:00:00.123456789+02:00"

    assert [turn.said_at for turn in turns_of(session)] == ["2026-03-01T08:00:00.123Z"]


def test_fc_c01_half_a_surrogate_pair_is_a_turn_like_any_other():
    """FC-C01: the log replaces it; reading must not stop at it."""
    session = Session()
    session.answered("done \ud83d")
    session.typed("thanks \ud83d")

    assert said_in(session) == [("assistant", "done \ud83d"), ("user", "thanks \ud83d")]
