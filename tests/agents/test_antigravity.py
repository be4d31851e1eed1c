"""Antigravity's transcripts: which steps are the conversation, and whose workspace they belong to."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.antigravity import (
    CHILD,
    TEA,
    Conversation,
    described_in,
    logged_in,
    opened,
    read,
    texts,
    typed_in,
)
from conversation_esaa.agents import antigravity
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

UNKNOWN = {"conversations of unknown workspace": 1}


def talk(conversation: Conversation | None = None) -> Conversation:
    return (
        (conversation or Conversation())
        .typed("Name a herb.")
        .step("CONVERSATION_HISTORY", "SYSTEM")
        .step(
            "PLANNER_RESPONSE", thinking="CANARY", tool_calls=[{"name": "list_dir", "args": {"p": "CANARY"}}]
        )
        .step("LIST_DIRECTORY", content="CANARY output")
        .answered("Mint.")
    )


def turns(items: list) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def test_prompts_and_finished_answers_are_the_conversation():
    found = turns(read(talk().records))

    assert texts(found) == ["Name a herb.", "Mint."]
    assert [turn.actor for turn in found] == [Actor.USER, Actor.ASSISTANT]


def test_a_turn_says_who_where_and_when():
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=antigravity.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=f"{TEA}/4/PLANNER_RESPONSE",
        said_at="2026-01-02T03:00:04.000Z",
        cwd="/home/dev/tea",
    )


def test_reasoning_tools_system_and_sub_agents_are_not_conversation():
    """FC-E04: tools' results have the source MODEL too; the type decides."""
    conversation = talk()
    for kind in sorted(antigravity.KNOWN_INVISIBLE):
        conversation.step(kind, content="CANARY")
    conversation.step("SYSTEM_MESSAGE", "SYSTEM", content="<SYSTEM_MESSAGE>CANARY</SYSTEM_MESSAGE>")
    conversation.step("CHECKPOINT", "SYSTEM", content="# CANARY summary")
    conversation.step("USER_INPUT", "SYSTEM", content="<USER_REQUEST>CANARY</USER_REQUEST>")
    conversation.step("PLANNER_RESPONSE", "SYSTEM", content="CANARY")
    state = opened()

    found = read(conversation.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<USER_REQUEST>\nHi\n</USER_REQUEST>\n<ADDITIONAL_METADATA>CANARY</ADDITIONAL_METADATA>", "Hi"),
        ("<SYSTEM_MESSAGE>CANARY</SYSTEM_MESSAGE>\n<USER_REQUEST>Hi</USER_REQUEST>", "Hi"),
        ("<USER_REQUEST>\n  two\n\nlines\n</USER_REQUEST>", "  two\n\nlines"),
        (
            "<USER_REQUEST>\nWhat does </USER_REQUEST> mean?\n</USER_REQUEST>",
            "What does </USER_REQUEST> mean?",
        ),
        ("<USER_REQUEST>\ncut short", "cut short"),
        ("<USER_REQUEST>\ncut\n<ADDITIONAL_METADATA>\nCANARY", "cut"),
    ],
)
def test_of_a_prompt_only_the_request_is_somebodys(content, text):
    assert texts(read([Conversation().step("USER_INPUT", "USER_EXPLICIT", content=content).records[0]])) == [
        text
    ]


def test_a_prompt_in_no_envelope_is_counted_and_not_read():
    """The envelope is what tells a person's words from the agent's."""
    state = opened()

    assert read(Conversation().step("USER_INPUT", "USER_EXPLICIT", content="CANARY").records, state) == []
    assert state.unknown == {"USER_INPUT without a USER_REQUEST": 1}


def test_the_model_is_what_a_settings_change_names():
    change = (
        "<USER_SETTINGS_CHANGE>\nThe user changed setting `Model Selection` from None to Demo 3.5 (Medium).\n"
    )
    conversation = Conversation().typed("Hi.", behind=change + "</USER_SETTINGS_CHANGE>").answered("Hello.")

    assert {turn.model for turn in turns(read(conversation.records))} == {"Demo 3.5 (Medium)"}


def test_a_prompt_cannot_name_a_model():
    text = "changed setting `Model Selection` from a to CANARY."

    assert turns(read(Conversation().typed(text).records))[0].model == ""


def test_an_answer_counts_when_it_is_done():
    """FC-F04: while it runs it may grow; when it is done it comes again, under the same number."""
    conversation = Conversation().typed("Name a herb.").answered("Mi", status="RUNNING")
    done = {**conversation.records[-1], "content": "Mint.", "status": "DONE"}
    failed = {**conversation.records[-1], "content": "CANARY", "status": "ERROR", "step_index": 7}

    assert texts(read([*conversation.records, done, failed])) == ["Name a herb.", "Mint."]


def test_a_step_that_is_stated_again_is_the_same_turn():
    """First seen wins, also when the second time is in another piece."""
    records, state = talk().records, opened()
    again = {**records[-1], "content": "Mint. And more."}

    assert texts(read(records, state) + read([again], state)) == ["Name a herb.", "Mint."]


def test_both_transcripts_give_the_same_identities(tmp_path):
    """One that only had the short transcript at first must not be doubled when the full one comes."""
    typed_in(tmp_path, TEA, "/home/dev/tea")
    talk().save(tmp_path, "transcript.jsonl")
    (short,) = antigravity.session_files(tmp_path, ["/home/dev/tea"])
    talk().save(tmp_path)
    (full,) = antigravity.session_files(tmp_path, ["/home/dev/tea"])

    ids = []
    for file in (short, full):
        records = map(json.loads, file.path.read_text().splitlines())
        ids.append([turn_event_id(turn) for turn in turns(read(records, antigravity.open_session(file)))])

    assert short.path.name != full.path.name
    assert ids[0] == ids[1]


def test_odd_records_hide_nothing_and_are_counted():
    """FC-N14: every field is optional."""
    conversation = Conversation().typed("Before.").step("INVENTED_TOMORROW", content="CANARY")
    conversation.step("PLANNER_RESPONSE", content=None).step("PLANNER_RESPONSE", content=" \n")
    conversation.records += [None, ["CANARY"], {"type": "USER_INPUT"}, {"content": "CANARY"}]
    conversation.records.append({"type": "PLANNER_RESPONSE", "content": "After."})
    state = opened()

    found = turns(read(conversation.records, state))

    assert texts(found) == ["Before.", "After."]
    assert (found[1].source_ref, found[1].said_at) == ("", "")
    assert state.unknown == {"INVENTED_TOMORROW": 1, "<NoneType>": 2, "<list>": 1}


def test_a_session_starts_with_its_first_turn_and_a_checkpoint_is_a_compaction():
    found = read(talk().step("CHECKPOINT", "SYSTEM", content="CANARY").records)
    marks = [item for item in found if isinstance(item, SessionMark)]

    assert [mark.kind for mark in marks] == [MarkKind.STARTED, MarkKind.COMPACTED]
    assert marks[1].source_ref == f"{TEA}/5/CHECKPOINT"
    assert isinstance(found[0], SessionMark)


@given(cuts=st.lists(st.integers(0, 14), max_size=4))
def test_reading_in_pieces_gives_what_reading_at_once_gives(cuts):
    records = talk(talk().step("CHECKPOINT", "SYSTEM")).answered("And sage.").records
    expected, state, found = read(records), opened(), []

    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(records)], strict=True):
        found += read(records[start:end], state)
        state = msgspec.json.decode(msgspec.json.encode(state), type=antigravity.State)

    assert found == expected
    assert [turn.source_index for turn in turns(found)] == list(range(len(turns(found))))


# Workspaces


def found_in(home, *roots: str) -> list[tuple[str, str]]:
    return [(file.session_id, file.cwd) for file in antigravity.session_files(home, roots)]


def test_a_conversation_of_unknown_workspace_is_counted_and_not_read(tmp_path):
    """A step says where it belongs nowhere; paths in tools' arguments prove nothing."""
    talk().save(tmp_path)

    assert found_in(tmp_path, "/home/dev/tea", "/") == []
    assert antigravity.unlisted(tmp_path) == UNKNOWN


@pytest.mark.parametrize(
    "link",
    [
        lambda home: typed_in(home, TEA, "/home/dev/tea"),
        lambda home: described_in(home, TEA, "file:///home/dev/tea"),
        lambda home: logged_in(home, TEA, "file:///home/dev/tea"),
    ],
    ids=["history of prompts", "metadata cache", "diagnostics and project"],
)
def test_side_files_tell_the_workspace(tmp_path, link):
    home = tmp_path / "antigravity-cli"
    talk().save(home)
    link(home)

    assert found_in(home, "/home/dev/tea") == [(TEA, "/home/dev/tea")]
    assert found_in(home, "/home/dev/tea2") == []
    assert antigravity.unlisted(home) == {}


def test_what_was_typed_is_trusted_before_what_was_cached(tmp_path):
    home = tmp_path / "antigravity-cli"
    talk().save(home)
    logged_in(home, TEA, "file:///c")
    described_in(home, TEA, "file:///b")
    assert found_in(home, "/") == [(TEA, "/b")]

    typed_in(home, TEA, "/a")
    typed_in(home, TEA, "/later")
    assert found_in(home, "/") == [(TEA, "/a")]


def test_of_several_workspaces_the_asked_one_is_told(tmp_path):
    talk().save(tmp_path)
    described_in(
        tmp_path, TEA, "file:///home/dev/other", "file:///home/dev/my%20tea", "file:///c%3A/My%20Proj"
    )

    assert found_in(tmp_path, "/home/dev/my tea") == [(TEA, "/home/dev/my tea")]
    assert found_in(tmp_path, "C:\\My Proj") == [(TEA, "c:/My Proj")]


def test_a_sub_agents_conversation_is_skipped(tmp_path):
    """FC-E03: its parent's INVOKE_SUBAGENT result names it; the caches may know it as any other."""
    parent = talk().step(
        "INVOKE_SUBAGENT", content=json.dumps({"conversationId": CHILD, "logUri": "file:///x"})
    )
    parent.save(tmp_path)
    talk(Conversation(CHILD)).save(tmp_path)
    typed_in(tmp_path, TEA, "/home/dev/tea")
    described_in(tmp_path, CHILD, "file:///home/dev/tea")

    assert found_in(tmp_path, "/home/dev/tea") == [(TEA, "/home/dev/tea")]
    assert antigravity.unlisted(tmp_path) == {}


def test_an_id_that_a_sub_agent_merely_talks_of_is_not_its_own(tmp_path):
    talk().step("INVOKE_SUBAGENT", content=f"see {CHILD}").save(tmp_path)
    talk(Conversation(CHILD)).save(tmp_path)
    described_in(tmp_path, CHILD, "file:///home/dev/tea")

    assert found_in(tmp_path, "/home/dev/tea") == [(CHILD, "/home/dev/tea")]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"conversations":[]}', b"\xff", b"null"])
def test_broken_side_files_only_leave_the_workspace_unknown(tmp_path, content):
    home = tmp_path / "antigravity-cli"
    talk().save(home)
    logged_in(home, TEA, "file:///home/dev/tea")
    (home / "cache").mkdir()
    for path in (home / "history.jsonl", home / "cache" / "conversation_metadata.json"):
        path.write_bytes(content)
    for path in (tmp_path / "config" / "projects").iterdir():
        path.write_bytes(content)

    assert found_in(home, "/") == []
    assert antigravity.unlisted(home) == UNKNOWN


def test_conversations_without_a_transcript_are_counted(tmp_path):
    """Older builds keep a conversation in a database alone."""
    typed_in(tmp_path, TEA, "/home/dev/tea")
    talk().save(tmp_path)
    (tmp_path / "brain" / CHILD).mkdir()
    (tmp_path / "conversations").mkdir()
    for name in (f"{TEA}.db", f"{TEA}.db-wal", "cccccccc-0000-4000-8000-000000000003.pb"):
        (tmp_path / "conversations" / name).write_bytes(b"")

    assert antigravity.unlisted(tmp_path) == {"conversations without a transcript": 2}
    assert antigravity.unlisted(tmp_path / "missing") == {}


def test_a_conversation_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    path = talk().save(tmp_path / "real")
    (tmp_path / "home").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "brain" / "0-twin").symlink_to(path.parents[2])
    (tmp_path / "real" / "brain" / "circle").symlink_to(tmp_path / "real" / "brain" / "circle")
    typed_in(tmp_path / "home", TEA, "/home/dev/tea")
    typed_in(tmp_path / "home", "0-twin", "/home/dev/tea")

    assert found_in(tmp_path / "home", "/home/dev/tea") == [(TEA, "/home/dev/tea")]
