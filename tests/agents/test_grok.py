"""Grok's update streams: which chunks are the conversation, and what side files tell."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.grok import CHILD, FORK, TEA, Session, opened, read, texts
from conversation_esaa.agents import grok
from conversation_esaa.ids import mark_event_id, turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

TEXT = {"type": "text", "text": "CANARY"}


def talk(session: Session | None = None) -> Session:
    return (
        (session or Session())
        .typed("Name a herb.")
        .answered("Mint.")
        .update("turn_completed", prompt_id="p-1")
    )


def turns(items: list) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_prompts_and_answers_are_the_conversation():
    found = turns(read(talk().records))

    assert texts(found) == ["Name a herb.", "Mint."]
    assert [turn.actor for turn in found] == [Actor.USER, Actor.ASSISTANT]


def test_a_turn_says_who_where_when_and_with_what():
    """The moment is when it was said: the line's own time is when it was written."""
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=grok.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=f"{TEA}-3@1767323045200",
        message_ref="p-1",
        said_at="2026-01-02T03:04:05.200Z",
        cwd="/home/dev/tea",
        model="demo",
    )


def test_reasoning_tools_and_hooks_are_not_conversation():
    """FC-E04: only what a person could read in the terminal becomes a turn."""
    session = talk()
    session.update("agent_thought_chunk", content=TEXT)
    session.update("tool_call", title="CANARY", rawInput={"command": "CANARY"})
    session.update(
        "tool_call_update", content=[{"type": "content", "content": TEXT}], rawOutput={"x": "CANARY"}
    )
    session.update("hook_execution", output="CANARY").update("hook_annotation", text="CANARY")
    session.update("subagent_spawned", description="CANARY").update("subagent_finished", output="CANARY")
    session.update("background_tasks", tasks=["CANARY"]).update("plan", entries=[TEXT])
    session.compacted().user_chunk(
        {"type": "image", "data": "CANARY", "mimeType": "image/png"}, promptIndex=1
    )
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


@pytest.mark.parametrize(
    ("content", "marks_of_chunk"),
    [
        ({"type": "text", "text": "/CANARY"}, {"hostTurn": True}),
        ({"type": "text", "text": "CANARY", "_meta": {"bash_command": "CANARY"}}, {}),
        (
            {"type": "text", "text": "<system-reminder>CANARY</system-reminder>"},
            {"promptIndex": 4, "hideFromScrollback": True},
        ),
    ],
    ids=["slash command", "bash mode", "wake-up"],
)
def test_what_comes_in_the_users_name_is_told_by_its_marks(content, marks_of_chunk):
    state = opened()

    assert texts(read(talk().user_chunk(content, **marks_of_chunk).records, state)) == [
        "Name a herb.",
        "Mint.",
    ]
    assert state.unknown == {}


def test_a_user_chunk_without_any_known_mark_is_counted():
    """An allow-list: what a version adds tomorrow is not conversation until somebody looked at it."""
    state = opened()

    assert read(Session().user_chunk(TEXT).records, state) == []
    assert state.unknown == {"user_message_chunk without a promptIndex": 1}


def test_text_that_looks_like_a_wrapper_is_somebodys():
    """Marks decide, not the text."""
    text = "<system-reminder>what is this?</system-reminder>"

    assert texts(read(Session().typed(text).records)) == [text]


def test_a_prompt_with_a_picture_is_one_turn():
    session = Session().typed("What is this?")
    session.user_chunk({"type": "image", "data": "CANARY", "mimeType": "image/png"}, promptIndex=0)

    assert texts(read(session.records)) == ["What is this?"]


def test_an_event_id_that_comes_again_in_the_next_process_is_another_turn():
    """The counter starts again when a session is resumed; with the moment it is unique."""
    session = talk()
    talk(session.new_process())

    refs = [turn.source_ref for turn in turns(read(session.records))]

    assert refs[0].partition("@")[0] == refs[2].partition("@")[0]
    assert len(set(refs)) == 4


def test_chunks_of_one_event_are_turns_of_their_own():
    """Should a version write a run of text in several lines."""
    session = Session().answered("Mi").answered("nt.")
    session.records[1]["params"]["_meta"] = session.records[0]["params"]["_meta"]

    found = turns(read(session.records))

    assert texts(found) == ["Mi", "nt."]
    assert len({turn_event_id(turn) for turn in found}) == 2


def test_lines_keep_the_order_of_the_file():
    """A late chunk can follow an earlier hook's line; the file is the order of the screen."""
    session = talk().typed("And?").answered("Sage.")
    session.records[2:] = reversed(session.records[2:])

    assert texts(read(session.records)) == ["Name a herb.", "Mint.", "Sage.", "And?"]


def test_odd_records_hide_nothing_and_are_counted():
    """FC-A06, FC-N14."""
    session = Session().typed("Before.").update("invented_tomorrow", content=TEXT)
    session.records += [None, [], {"method": "session/update", "params": None}, {"method": 7}, {}]
    session.update("agent_message_chunk", content=None).update(
        "agent_message_chunk", content={"type": "text"}
    )
    session.answered(" \n").answered("After.")
    session.records[-1]["params"]["_meta"] = {"eventId": 7, "agentTimestampMs": "soon"}
    state = opened()

    found = turns(read(session.records, state))

    assert texts(found) == ["Before.", "After."]
    assert (found[1].source_ref, found[1].said_at) == ("", "2026-01-02T03:04:05.000Z")
    assert state.unknown == {"invented_tomorrow": 1, "a line that is no session update": 5}


# Sessions


def test_a_session_starts_before_its_first_turn_and_not_without_one():
    assert read(Session().update("background_tasks", tasks=[]).records) == []

    started = read(talk().records)[0]

    assert isinstance(started, SessionMark)
    assert (started.kind, started.cwd, started.forked_from) == (MarkKind.STARTED, "/home/dev/tea", "")


def test_a_compaction_is_one_mark_though_two_lines_tell_of_it():
    found = marks(read(talk().compacted().typed("Go on.").compacted().records))

    assert [mark.kind for mark in found] == [MarkKind.STARTED, MarkKind.COMPACTED, MarkKind.COMPACTED]
    assert len({mark_event_id(mark) for mark in found}) == 3


def test_a_fork_copies_its_history_under_the_same_identities(tmp_path):
    """FC-D01: `_meta` stays as it was, the session id does not."""
    parent = talk().compacted()
    fork = parent.forked().typed("In this branch, amber.")
    path = fork.save(tmp_path, summary={"parent_session_id": TEA, "session_kind": "fork"})
    state = grok.open_session(grok.SessionFile(path=path, session_id=FORK, cwd=""))

    originals, found = turns(read(parent.records)), read(fork.records, state)
    known = {turn_event_id(turn) for turn in originals}

    assert [turn_event_id(turn) in known for turn in turns(found)] == [True, True, False]
    assert {turn.source_session_id for turn in turns(found)} == {FORK}
    assert [(mark.kind, mark.forked_from) for mark in marks(found)] == [(MarkKind.STARTED, TEA)]


@given(cuts=st.lists(st.integers(0, 12), max_size=4))
def test_reading_in_pieces_gives_what_reading_at_once_gives(cuts):
    """FC-F04."""
    session = talk().compacted()
    records = talk(session.new_process()).answered("And sage.").records
    expected, state, found = read(records), opened(), []

    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(records)], strict=True):
        found += read(records[start:end], state)
        state = msgspec.json.decode(msgspec.json.encode(state), type=grok.State)

    assert found == expected
    assert [turn.source_index for turn in turns(found)] == list(range(len(turns(found))))


# Side files


def test_side_files_tell_directory_model_branch_and_beginning(tmp_path):
    more = {"head_branch": "main", "head_commit": "c0ffee", "created_at": "2026-01-02T03:00:00.5Z"}
    path = talk().save(tmp_path, summary=more)
    state = grok.open_session(grok.SessionFile(path=path, session_id=TEA))

    started, turn, _ = read(talk().records, state)

    assert isinstance(turn, Turn)
    assert (turn.cwd, turn.git_branch, turn.git_commit, turn.model) == (
        "/home/dev/tea",
        "main",
        "c0ffee",
        "demo",
    )
    assert started.said_at == "2026-01-02T03:00:00.500Z"


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b'{"info":7}', b'{"info":{"cwd":null}}', b"\xff\xfe"]
)
def test_without_a_readable_summary_the_folder_has_to_do(tmp_path, content):
    path = talk().save(tmp_path)
    summary = path.with_name("summary.json")
    summary.unlink() if content is None else summary.write_bytes(content)

    (file,) = grok.session_files(tmp_path, ["/home/dev/tea"])

    assert grok.open_session(file).cwd == "/home/dev/tea"


def test_a_summary_with_a_byte_order_mark_or_half_a_surrogate_pair_is_read(tmp_path):
    """FC-C01, FC-C02."""
    path = talk().save(tmp_path)
    path.with_name("summary.json").write_bytes(
        b'\xef\xbb\xbf{"info":{"cwd":"/caf\\ud83d"},"head_branch":"b"}'
    )
    (file,) = grok.session_files(tmp_path, ["/home/dev/tea"])

    state = grok.open_session(file)

    assert (state.cwd, state.git_branch) == ("/caf\ufffd", "b")
    assert msgspec.json.encode(state)


# Where the files are


def found_in(home, *roots: str) -> list[str]:
    return [file.session_id for file in grok.session_files(home, roots)]


@pytest.mark.parametrize(
    ("cwd", "roots", "is_taken"),
    [
        ("/home/dev/tea", ["/home/dev/tea"], True),
        ("/home/dev/tea", ["/home/dev/tea/"], True),
        ("/home/dev/tea/pkg", ["/home/dev/tea"], True),
        ("/home/dev", ["/home/dev/tea"], True),
        ("/home/dev/tea", ["/elsewhere", "/home/dev/tea"], True),
        ("/home/dev/tea2", ["/home/dev/tea"], False),
        ("/home/dev/te", ["/home/dev/tea"], False),
        ("/home/dev/data-analysis", ["/home/dev/data/analysis"], False),
        ("/x/ünï 日本 🚀", ["/x/ünï 日本 🚀"], True),
        ("/w/a@b%2Fc", ["/w/a@b%2Fc"], True),
        ("C:\\Users\\dev\\Tea", ["c:\\users\\dev\\tea"], True),
        ("C:\\Users\\dev\\Tea\\pkg", ["C:/Users/dev/Tea"], True),
        ("C:\\Users\\dev\\Tea2", ["C:\\Users\\dev\\Tea"], False),
        ("/anything", ["/"], True),
        ("/", ["/home/dev/tea"], True),
    ],
)
def test_folders_are_narrowed_by_the_directory_their_name_tells(tmp_path, cwd, roots, is_taken):
    """FC-G01, FC-G02, FC-G11: a name's end counts; Windows paths are just text."""
    talk().save(tmp_path, cwd=cwd)

    assert found_in(tmp_path, *roots) == ([TEA] if is_taken else [])


def test_a_path_too_long_for_a_name_is_in_a_file(tmp_path):
    long = "/home/dev/" + "very-long-name/" * 30 + "tea"
    path = talk().save(tmp_path, cwd=long, folder="tea-0123456789abcdef")
    path.parents[1].joinpath(".cwd").write_text(long)

    assert found_in(tmp_path, "/home/dev/other") == []
    (file,) = grok.session_files(tmp_path, [long])
    assert file.cwd == long


def test_a_folder_that_tells_no_directory_is_taken(tmp_path):
    """Too many files cost time, too few lose turns: each turn is judged by the summary's directory later."""
    talk().save(tmp_path, folder="tea-0123456789abcdef")

    assert found_in(tmp_path, "/somewhere") == [TEA]


def test_only_update_streams_are_sessions(tmp_path):
    """Other JSONL files beside them hold prompts, events and copies of old history."""
    path = talk().save(tmp_path)
    (path.parents[1] / "prompt_history.jsonl").write_text('{"prompt":"CANARY"}\n')
    (path.parent / "compaction_checkpoints").mkdir()
    (path.parent / "compaction_checkpoints" / "updates.jsonl").write_text("{}\n")
    talk(Session(FORK)).save(tmp_path).unlink()
    (tmp_path / "sessions" / "session_search.sqlite").write_bytes(b"")

    assert found_in(tmp_path, "/home/dev/tea") == [TEA]
    assert grok.unlisted(tmp_path) == {"sessions without an update stream (updates.jsonl)": 1}


@pytest.mark.parametrize("told_by", ["summary", "parent"])
def test_a_sub_agents_session_gives_no_turn(tmp_path, told_by):
    """FC-E03: it has a folder of its own, and either mark is enough."""
    parent = talk().save(tmp_path)
    kind = {"session_kind": "subagent", "parent_session_id": TEA} if told_by == "summary" else {}
    child = Session(CHILD).typed("CANARY instruction").answered("CANARY result")
    child.save(tmp_path, summary=kind)
    if told_by == "parent":
        link = parent.parent / "subagents" / CHILD
        link.mkdir(parents=True)
        (link / "meta.json").write_text(json.dumps({"child_session_id": CHILD}))

    found = []
    for file in grok.session_files(tmp_path, ["/home/dev/tea"]):
        records = map(json.loads, file.path.read_text("utf-8").splitlines())
        found += read(records, grok.open_session(file))

    assert texts(found) == ["Name a herb.", "Mint."]


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    real = tmp_path / "real"
    folder = talk().save(real).parent
    (tmp_path / "home").symlink_to(real)
    (folder.parents[0] / "01-twin").symlink_to(folder)
    (real / "sessions" / "%2Fhome%2Fdev").symlink_to(folder.parent)
    (real / "sessions" / "circle").symlink_to(real / "sessions" / "circle")

    (file,) = grok.session_files(tmp_path / "home", ["/home/dev/tea"])

    assert (file.session_id, file.path.resolve()) == (TEA, folder / "updates.jsonl")


def test_what_vanishes_meanwhile_is_skipped(tmp_path, monkeypatch):
    """FC-L02."""
    talk().save(tmp_path)
    talk(Session(FORK)).save(tmp_path, cwd="/home/dev/tea/pkg")
    listing = grok.os.scandir

    def vanishing(folder):
        if str(folder).endswith("pkg"):
            raise FileNotFoundError(folder)
        return listing(folder)

    monkeypatch.setattr(grok.os, "scandir", vanishing)

    assert found_in(tmp_path, "/home/dev/tea") == [TEA]
