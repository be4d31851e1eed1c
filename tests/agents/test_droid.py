"""Factory droid's session files: which messages are the conversation, and what comes in the user's name."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.droid import FORK, REMINDER, TEA, Session, opened, read, texts, turns
from conversation_esaa.agents import droid
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn


def talk(session: Session | None = None) -> Session:
    return (session or Session()).typed("Name a herb.").answered("Mint.")


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_a_turn_says_who_where_when_and_with_what():
    ref = talk().records[4]["id"]

    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=droid.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=ref,
        message_ref=ref,
        said_at="2026-01-02T03:04:09.000Z",
        cwd="/home/dev/tea",
        model="demo",
    )


def test_reasoning_tools_context_and_reports_of_hooks_are_not_conversation():
    """FC-E04, FC-K01: reasoning also stands beside the content, and a hook's output holds what it injected."""
    session = talk().line("todo_state", todos="CANARY").compacted()
    session.message("system", "CANARY").message("tool", "CANARY")
    session.message("user", [{"type": "image", "source": "CANARY"}])
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


@pytest.mark.parametrize(
    "mark",
    [
        {"visibility": "llm_only"},
        {"visibility": "user_only"},
        {"hookEventName": "Stop"},
        {"hiddenFromUserViews": True},
        {"isUserVisible": False},
    ],
    ids=str,
)
def test_what_was_shown_is_told_by_marks_on_the_message(mark):
    state = opened()
    session = Session().user("CANARY", **mark).message("assistant", "CANARY", **mark)

    assert read(session.records, state) == []
    assert state.unknown == {}


def test_a_message_that_is_marked_as_shown_is_read():
    session = Session().user("Name a herb.", visibility="both", hiddenFromUserViews=False, isUserVisible=True)

    assert texts(read(session.records)) == ["Name a herb."]


def test_what_a_version_adds_tomorrow_is_counted_and_not_read():
    state = opened()
    session = Session().line("aside", text="CANARY").message("narrator", "CANARY").line("message")
    session.user("CANARY", visibility="cats_only")

    assert read([*session.records, 7], state) == []
    assert state.unknown == {
        "aside": 1,
        "message/narrator": 1,
        "message without a role": 1,
        "message with visibility cats_only": 1,
        "<int>": 1,
    }


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (f"{REMINDER}\nWhich port?", "Which port?"),
        (f"Which port?\n{REMINDER}", "Which port?"),
        (f"{REMINDER}{REMINDER}Which port?{REMINDER}", "Which port?"),
        (f"Which\n{REMINDER}\nport?", "Which\nport?"),
        ("<system-notification>CANARY</system-notification>Which port?", "Which port?"),
        ("<system-reminder>a <system-reminder>CANARY</system-reminder> CANARY</system-reminder>", None),
        ("<system-reminder>CANARY and no end", None),
        (f"{REMINDER}\n<system-reminder>CANARY and no end", None),
    ],
)
def test_reminders_are_taken_out_of_a_prompt(stored, said):
    """FC-E02: droid puts them beside typed words, and takes them out when it shows them."""
    assert texts(read(Session().user(stored).records)) == ([said] if said else [])


@pytest.mark.parametrize(
    "typed",
    [
        "```\n<system-reminder>x</system-reminder>\n```\nWhy?",
        "Why do I see <system-reminder> there?",
        "```\ncode\n```\nWhy <system-reminder>?",
        "What does </system-reminder> mean?",
        "<system-prompts> are what?",
    ],
)
def test_a_prompt_that_talks_about_reminders_is_somebodys(typed):
    """FC-E02: in a code fence, or as a tag alone."""
    assert texts(read(Session().user(typed).records)) == [typed]
    assert texts(read(Session().user(f"{REMINDER}\n{typed}\n{REMINDER}").records)) == [typed]


@given(st.lists(st.sampled_from(["one", "two words", "three\nlines\nhere", REMINDER])))
def test_whatever_stands_between_reminders_is_kept_in_order(parts):
    said = [part for part in parts if part != REMINDER]

    found = "\n".join(texts(read(Session().user("\n".join(parts)).records)))

    assert found == "\n".join(said)


def test_a_prompt_may_be_a_string_or_blocks():
    session = Session().message("user", "What is this?").user("And", REMINDER, "this?")

    assert texts(read(session.records)) == ["What is this?", "And\nthis?"]


def test_each_text_block_of_an_answer_is_a_turn_and_they_share_their_message():
    found = turns(read(Session().answered("Mint.", "And sage.").records))

    assert texts(found) == ["Mint.", "And sage."]
    assert found[1].source_ref == f"{found[0].source_ref}#2"
    assert found[0].message_ref == found[1].message_ref == found[0].source_ref


@pytest.mark.parametrize(
    "header", [{"callingSessionId": TEA, "callingToolUseId": "t"}, {"decompSessionType": "worker"}]
)
def test_the_session_of_a_sub_agent_gives_nothing(header):
    """FC-D02: the first header decides, whatever is copied behind it."""
    session = talk(Session(FORK, **header))
    session.records += talk().compacted().records

    assert read(session.records) == []


def test_a_fork_keeps_ids_so_its_copies_are_its_parents_turns():
    """FC-D01."""
    parent = talk().compacted().typed("Another?")
    fork = parent.forked().typed("What if?").compacted()

    found = read(fork.records)

    ids = [turn_event_id(turn) for turn in turns(found)]
    assert ids[:3] == [turn_event_id(turn) for turn in turns(read(parent.records))]
    assert len(set(ids)) == 4
    started, compacted = marks(found)
    assert (started.kind, started.forked_from) == (MarkKind.STARTED, TEA)
    assert (compacted.kind, compacted.source_ref) == (MarkKind.COMPACTED, fork.records[-1]["id"])


def test_an_id_that_is_no_uuid_is_one_of_its_session():
    """FC-D05."""
    session = talk()
    session.records[3]["id"] = "m1"

    assert turns(read(session.records))[0].source_ref == f"{TEA}/m1"


def test_without_a_header_the_files_name_has_to_do_and_no_directory_is_guessed():
    """The gate refuses turns without one."""
    found = turns(read(talk().records[1:]))

    assert {(turn.source_session_id, turn.cwd) for turn in found} == {(TEA, "")}


@pytest.mark.parametrize("value", [None, 7, [], {}, "half \ud83d"])
@pytest.mark.parametrize("key", ["id", "timestamp", "message", "cwd", "parent"])
def test_a_field_of_another_shape_hinders_nothing(key, value):
    """FC-N14, FC-C01."""
    session = talk()
    for record in session.records[:2]:
        record[key] = value
    state = opened()

    found = read(session.records, state)

    assert texts(found)[-1] == "Mint."
    assert msgspec.json.encode(state)


# Where the files are


def found_in(home: Path, *roots: str) -> list[str]:
    return [file.session_id for file in droid.session_files(home, roots)]


@pytest.mark.parametrize(
    ("cwd", "root", "is_taken"),
    [
        ("/home/dev/tea", "/home/dev/tea/", True),
        ("/home/dev/tea/pkg", "/home/dev/tea", True),
        ("/home/dev/beta Proj_x.1", "/home/dev/beta Proj_x.1", True),
        ("/home/dev", "/home/dev/tea", False),
        ("/home/dev/coffee", "/home/dev/tea", False),
        ("/anything", "/", True),
    ],
)
def test_folders_are_narrowed_by_their_name(tmp_path, cwd, root, is_taken):
    """FC-G01, FC-G02: coarsely, for the header decides."""
    talk(Session(cwd=cwd)).save(tmp_path)

    assert found_in(tmp_path, root) == ([TEA] if is_taken else [])


def test_a_windows_folder_is_found(tmp_path):
    """FC-G04: whatever becomes of the colon and the separators."""
    talk().save(tmp_path, folder="-C--Users-dev-Tea")

    assert found_in(tmp_path, "c:/users/dev/tea") == [TEA]


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    path = talk().save(tmp_path)
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parents[1] / "-home-dev-tea-twin").symlink_to(path.parent)
    (path.parents[1] / "-home-dev-tea-circle").symlink_to(path.parents[1] / "-home-dev-tea-circle")

    (file,) = droid.session_files(tmp_path, ["/home/dev/tea"])

    assert file.path == path


def test_what_is_no_session_file_and_what_vanishes_is_skipped(tmp_path, monkeypatch):
    """FC-L02."""
    path = talk().save(tmp_path)
    talk(Session(FORK, cwd="/home/dev/tea/pkg")).save(tmp_path)
    (path.parent / "folder.jsonl").mkdir()
    listing = os.scandir

    def vanishing(folder):
        if str(folder).endswith("pkg"):
            raise FileNotFoundError(folder)
        return listing(folder)

    monkeypatch.setattr(os, "scandir", vanishing)

    assert found_in(tmp_path, "/home/dev/tea") == [TEA]
