"""pi's session files: which entries are the conversation, what survives a fork and a migration."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from builders.pi import FORK, TEA, Session, opened, read, texts, turns
from conversation_esaa.agents import pi
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn


def talk(session: Session | None = None) -> Session:
    return (session or Session()).typed("Name a herb.").answered("Mint.")


def marks(items: list) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_a_turn_says_who_where_when_and_with_what():
    """The moment is when the message was sent: the entry's own is when it was written, and part of its name."""
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=pi.NAME,
        source_session_id=TEA,
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref="00000002@2026-01-02T03:04:07.000Z",
        message_ref="00000002@2026-01-02T03:04:07.000Z",
        copy_keys=found[1].copy_keys,
        said_at="2026-01-02T03:04:06.995Z",
        cwd="/home/dev/tea",
        model="demo",
    )


def test_reasoning_tools_shell_commands_and_what_extensions_put_in_are_not_conversation():
    """FC-E04: only what a person or the model said becomes a turn."""
    text = [{"type": "text", "text": "CANARY"}]
    session = talk().message("custom", text, customType="memory", display=True)
    session.message("hookMessage", text).message("branchSummary", text).message("compactionSummary", text)
    session.message("bashExecution", None, command="CANARY", output="CANARY")
    session.message("system", "CANARY", sections={"preamble": "CANARY"})
    session.entry("custom_message", customType="memory", content="CANARY", display=True)
    session.entry("custom", data={"x": "CANARY"}).entry("label", label="CANARY")
    session.entry("branch_summary", summary="CANARY").entry("session_info", name="CANARY")
    session.entry("thinking_level_change", thinkingLevel="high").compacted()
    session.message("assistant", [], errorMessage="CANARY", stopReason="error")
    session.message("user", [{"type": "image", "data": "CANARY", "mimeType": "image/png"}])
    state = opened()

    found = read(session.records, state)

    assert texts(found) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


def test_what_a_version_adds_tomorrow_is_counted_and_not_read():
    state = opened()
    session = Session().entry("aside", text="CANARY").message("narrator", "CANARY").entry("message")

    assert read([*session.records, 7], state) == []
    assert state.unknown == {"aside": 1, "message/narrator": 1, "message without a role": 1, "<int>": 1}


def test_a_prompt_may_be_a_string_or_blocks_and_a_picture_adds_nothing():
    blocks = [{"type": "text", "text": "And this?"}, {"type": "image", "data": "CANARY"}]

    found = read(Session().message("user", "What is this?").message("user", blocks).records)

    assert texts(found) == ["What is this?", "And this?"]


def test_each_text_block_of_an_answer_is_a_turn_and_they_share_their_message():
    found = turns(read(Session().answered("Mint.", "And sage.").records))

    assert texts(found) == ["Mint.", "And sage."]
    assert found[1].source_ref == f"{found[0].source_ref}#2"
    assert found[0].message_ref == found[1].message_ref == found[0].source_ref


@pytest.mark.parametrize(
    ("typed", "is_said"),
    [
        ("for the garden", "for the garden"),
        ("", None),
        ('see\n\n<skill name="x">', 'see\n\n<skill name="x">'),
    ],
)
def test_the_text_of_a_skill_is_taken_out_of_the_prompt_that_called_it(typed, is_said):
    """pi stores `/skill:herbs for the garden` with the skill's whole text before it, and shows its name only."""
    block = '<skill name="herbs" location="/s/SKILL.md">\nCANARY\n</skill> of it\n\nCANARY\n</skill>'

    found = texts(read(Session().typed(f"{block}\n\n{typed}" if typed else block).records))

    assert found == ([is_said] if is_said else [])


def test_a_prompt_that_talks_about_skills_is_somebodys():
    text = '<skill name="herbs"> is what I see. Why?'

    assert texts(read(Session().typed(text).records)) == [text]


def test_a_branch_that_was_left_was_said():
    """`/tree` goes on from an earlier entry: the parent of the next line is not the line before it."""
    session = talk()
    session.typed("And another?")
    session.records[-1]["parentId"] = session.records[1]["id"]

    assert texts(read(session.records)) == ["Name a herb.", "Mint.", "And another?"]


def test_a_session_starts_once_and_says_what_it_was_forked_from():
    fork = talk().compacted().forked()
    fork.typed("Another?").compacted()

    started, compacted = marks(read(fork.records))

    assert (started.kind, started.forked_from, started.source_session_id) == (MarkKind.STARTED, TEA, FORK)
    assert compacted.kind is MarkKind.COMPACTED
    assert compacted.said_at > started.said_at, "the parent's own compaction is the parent's"


def test_a_fork_keeps_ids_and_times_so_its_copies_are_its_parents_turns():
    """FC-D01."""
    parent = talk()
    fork = parent.forked().typed("Another?")

    ids = [[turn_event_id(turn) for turn in turns(read(session.records))] for session in (parent, fork)]

    assert ids[1][:2] == ids[0]
    assert len(set(ids[1])) == 3


def read_file(path: Path) -> list:
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return read(records, pi.open_session(pi.SessionFile(path=path, session_id="x")))


@pytest.mark.parametrize("flat", [False, True], ids=["in folders", "side by side"])
def test_a_fork_into_another_directory_does_not_move_what_was_said_in_the_first(tmp_path, flat):
    """I4: the copied entries state no directory, and the new header's is not theirs; nor in a fork of the fork."""
    folder = "mine" if flat else ""
    parent = talk().compacted()
    fork = parent.forked(cwd="/home/dev/coffee").typed("And here?")
    again = fork.forked("01900000-0000-7000-8000-0000000000cc").typed("And again?")
    paths = [session.save(tmp_path, folder=folder) for session in (parent, fork, again)]

    found = [[(turn.text, turn.cwd) for turn in turns(read_file(path))] for path in paths]

    here = [("And here?", "/home/dev/coffee"), ("And again?", "/home/dev/coffee")]
    assert found == [
        [("Name a herb.", "/home/dev/tea"), ("Mint.", "/home/dev/tea")],
        here[:1],
        here,
    ]
    assert [mark.forked_from for mark in marks(read_file(paths[1]))] == [TEA]


def test_a_fork_whose_parent_is_gone_tells_only_what_is_its_own(tmp_path):
    """I4: whether the copies were said here nobody can tell any more; in doubt they stay out."""
    fork = talk().forked().typed("And here?")

    assert texts(read_file(fork.save(tmp_path))) == ["And here?"]


@pytest.mark.parametrize("parent", ["..", "/", "a\0b", "x" * 5000, "C:\\x\\y.jsonl"])
def test_a_parent_of_a_hostile_name_hinders_nothing(tmp_path, parent):
    session = talk()
    session.records[0]["parentSession"] = parent

    assert texts(read_file(session.save(tmp_path))) == ["Name a herb.", "Mint."]


def test_forks_in_a_circle_end(tmp_path):
    session = talk()
    session.records[0]["parentSession"] = f"/x/{session.folder}/2026-01-02T03-04-05-000Z_{TEA}.jsonl"

    assert texts(read_file(session.save(tmp_path))) == ["Name a herb.", "Mint."]


def test_the_same_eight_digits_in_two_sessions_are_two_entries():
    """FC-D05: ids are random and short; with the moment they are unique."""
    one, other = Session(), Session(FORK)
    other.at = other.at.replace(minute=30)

    ids = {turn_event_id(turns(read(talk(session).records))[0]) for session in (one, other)}

    assert len(ids) == 2


def test_a_file_without_ids_that_pi_migrated_has_the_copy_keys_it_had():
    """Version 1 had no ids; loading it rewrites the file with new ones."""
    session = talk(Session(version=1))
    before = turns(read(session.records))

    after = turns(read(session.migrated().records))

    assert [turn.source_ref for turn in before] == ["", ""]
    assert all(turn.source_ref for turn in after)
    assert [turn.copy_keys for turn in before] == [turn.copy_keys for turn in after]
    assert len({turn.copy_keys for turn in after}) == 2


def test_without_a_header_the_files_name_has_to_do_and_no_directory_is_guessed():
    """The gate refuses turns without one."""
    found = turns(read(talk().records[1:]))

    assert {(turn.source_session_id, turn.cwd) for turn in found} == {(TEA, "")}


def test_a_second_header_changes_nothing():
    session = talk()
    session.records.append({**session.records[0], "id": FORK, "cwd": "/elsewhere"})

    found = turns(read(session.typed("Another?").records))

    assert {(turn.source_session_id, turn.cwd) for turn in found} == {(TEA, "/home/dev/tea")}


@pytest.mark.parametrize("value", [None, 7, [], {}, "half \ud83d"])
@pytest.mark.parametrize("key", ["id", "timestamp", "message", "cwd", "parentSession"])
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
    return [file.session_id for file in pi.session_files(home, roots)]


@pytest.mark.parametrize(
    ("cwd", "root", "is_taken"),
    [
        ("/home/dev/tea", "/home/dev/tea", True),
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
    """FC-G04."""
    talk().save(tmp_path, folder="--C--Users-dev-Tea--")

    assert found_in(tmp_path, "c:/users/dev/tea") == [TEA]


def test_a_session_directory_of_ones_own_is_looked_through(tmp_path):
    """Sessions of all directories lie in it side by side; it may also hold the usual folders."""
    place = tmp_path / "mine"
    place.mkdir()
    talk().save(tmp_path).rename(place / f"2026_{TEA}.jsonl")
    talk(Session(FORK)).save(tmp_path).parent.rename(place / "--home-dev-tea--")

    assert found_in(place, "/home/dev/tea") == [FORK, TEA]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PI_CODING_AGENT_SESSION_DIR": "/s", "PI_CODING_AGENT_DIR": "/a"}, "/s"),
        ({"PI_CODING_AGENT_SESSION_DIR": "", "PI_CODING_AGENT_DIR": "/a"}, "/a"),
        ({"PI_CODING_AGENT_DIR": "~/agent"}, "/home/dev/agent"),
        ({"PI_CODING_AGENT_DIR": "~"}, "/home/dev"),
    ],
)
def test_the_environment_moves_the_sessions_or_all_of_it(environ, expected):
    """FC-G07, FC-G10: `~` is expanded, as pi does."""
    assert pi.home(environ, Path("/home/dev")) == Path(expected)


def test_a_session_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    path = talk().save(tmp_path)
    (path.parent / "link.jsonl").symlink_to(path)
    (path.parents[1] / "--home-dev-tea-twin--").symlink_to(path.parent)
    (path.parents[1] / "--home-dev-tea-circle--").symlink_to(path.parents[1] / "--home-dev-tea-circle--")

    (file,) = pi.session_files(tmp_path, ["/home/dev/tea"])

    assert file.path == path


def test_what_is_no_session_file_and_what_vanishes_is_skipped(tmp_path, monkeypatch):
    """FC-L02."""
    path = talk().save(tmp_path)
    talk(Session(FORK, cwd="/home/dev/tea/pkg")).save(tmp_path)
    (path.parent / "notes.txt").write_text("CANARY")
    (path.parent / "folder.jsonl").mkdir()
    listing = os.scandir

    def vanishing(folder):
        if str(folder).endswith("pkg--"):
            raise FileNotFoundError(folder)
        return listing(folder)

    monkeypatch.setattr(os, "scandir", vanishing)

    assert found_in(tmp_path, "/home/dev/tea") == [TEA]


def test_long_lines_of_tools_are_passed_over_without_being_decoded():
    """FC-B04."""
    result = talk().records[-1]
    lines = [json.dumps(record).encode() for record in talk().records]

    assert pi.glance(json.dumps(result).encode(), opened())
    assert [pi.glance(line, opened()) for line in lines] == [False, False, False, True]
