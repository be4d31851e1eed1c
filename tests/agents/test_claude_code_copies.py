"""Claude Code: a session that is resumed or forked is copied, and a copy adds nothing.

`captured` does what capture does: a turn is new unless its id or one of its copy keys is known.
"""

from __future__ import annotations

import itertools

import pytest

from builders.claude_code import FORK, TEA, Session, file_of, read_all, turns_of
from conversation_esaa.agents import claude_code
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Turn


def captured(*files: list[Turn]) -> list[str]:
    """The texts that are new, reading files one after the other."""
    ids: set[str] = set()
    keys: set[str] = set()
    new = []
    for turn in itertools.chain(*files):
        if turn_event_id(turn) not in ids and keys.isdisjoint(turn.copy_keys):
            new.append(turn.text)
        ids.add(turn_event_id(turn))
        keys.update(turn.copy_keys)
    return new


def in_pieces(session: Session, *cuts: int) -> list[Turn]:
    """The turns of a file that was read at several moments while it grew."""
    state = claude_code.open_session(file_of(session.session_id))
    edges = [0, *cuts, len(session.records)]
    found = []
    for start, end in itertools.pairwise(edges):
        found += claude_code.read(session.records[start:end], state)
    return [item for item in found if isinstance(item, Turn)]


def talk(version: str) -> Session:
    session = Session(TEA, version=version)
    session.said("Brew tea")
    session.thought("CANARY", "msg_1")
    session.answered("Which one?", "msg_1")
    session.said("green")
    session.used_tool("CANARY", "msg_2")
    session.tool_answered("CANARY")
    session.answered("Brewed.", "msg_3")
    return session


TALK = ["Brew tea", "Which one?", "green", "Brewed."]


@pytest.mark.parametrize("version", ["2.0.77", "2.1.197", "2.1.332"])
def test_fc_d01_a_fork_adds_only_what_is_new_in_it(version):
    """FC-D01: `--fork-session` copies lines with their ids; in 2.0.77 some still name the old session."""
    origin = talk(version)
    fork = Session(FORK, version=version)
    origin.copied_by(fork, sessions=version != "2.0.77")
    fork.said("In this cup")
    fork.answered("Poured.", "msg_9")

    assert captured(turns_of(origin), turns_of(fork)) == [*TALK, "In this cup", "Poured."]
    assert {turn.source_session_id for turn in turns_of(fork)} == {FORK}


def test_fc_d01_a_resume_of_1_0_93_to_1_0_120_copies_lines_with_new_times():
    """FC-D01: ids are kept, times are the moment of copying, tool results lose their mark."""
    origin = talk("1.0.120")
    resumed = Session(FORK, version="1.0.120")
    origin.copied_by(resumed, times=False)
    resumed.said("again")

    assert captured(turns_of(origin), turns_of(resumed)) == [*TALK, "again"]


def test_equal_prompts_of_a_copy_with_one_time_for_all_both_stay():
    """When only the copy is left, its times say nothing; what was said twice was said twice."""
    origin = Session(version="1.0.120")
    for number in range(2):
        origin.said("go on")
        origin.answered("Going.", f"msg_{number}")
    resumed = Session(FORK, version="1.0.120")
    origin.copied_by(resumed, times=False)

    assert captured(turns_of(resumed)) == ["go on", "Going.", "go on", "Going."]


@pytest.mark.parametrize("copy_first", [False, True])
def test_a_resume_before_1_0_93_copies_with_new_ids_and_is_recognised(copy_first):
    """1.0.65: neither id nor time survives; the message id of the answer does, whichever is read first."""
    origin = talk("1.0.65")
    resumed = Session(FORK, version="1.0.65")
    origin.copied_by(resumed, uuids=False, times=False)
    resumed.said("again")
    resumed.answered("Brewed again.", "msg_4")
    files = [turns_of(origin), turns_of(resumed)]

    new = captured(*(reversed(files) if copy_first else files))

    assert sorted(new) == sorted([*TALK, "again", "Brewed again."])


@pytest.mark.parametrize("cut", range(8))
def test_a_resume_before_1_0_93_is_recognised_however_the_first_file_was_cut(cut):
    """A prompt that was captured before its answer leaves its copy key to the answer."""
    origin = talk("1.0.65")
    resumed = Session(FORK, version="1.0.65")
    origin.copied_by(resumed, uuids=False, times=False)

    assert captured(in_pieces(origin, cut), turns_of(resumed)) == TALK


def test_a_prompt_waits_for_its_answer_and_is_never_lost():
    """Before 1.0.93 the last prompt of a file has no answer yet; it comes out when the records end."""
    session = Session(version="1.0.65")
    session.said("Brew tea")
    session.said("now")

    assert [turn.text for turn in turns_of(session)] == ["Brew tea", "now"]


def test_a_prompt_and_its_answer_never_share_a_copy_key():
    """Else the answer would pass for a copy of the prompt."""
    for version in ("1.0.65", "1.0.120", "2.1.332"):
        for cut in range(8):
            keys = [key for turn in in_pieces(talk(version), cut) for key in turn.copy_keys]

            assert len(keys) == len(set(keys))


def test_equal_prompts_before_one_answer_both_stay():
    """Said twice is said twice, and a copy of both still adds nothing."""
    origin = Session(version="1.0.65")
    origin.said("hello?")
    origin.said("hello?")
    origin.answered("Here.", "msg_1")
    resumed = Session(FORK, version="1.0.65")
    origin.copied_by(resumed, uuids=False, times=False)

    assert captured(turns_of(origin), turns_of(resumed)) == ["hello?", "hello?", "Here."]


def test_any_number_of_unanswered_prompts_is_kept_with_a_small_state():
    """The state lives in a cursor; a log of nothing but prompts must not blow it up."""
    session = Session(version="1.0.65")
    for number in range(300):
        session.said(f"prompt {number}")
    state = claude_code.open_session(file_of())

    found = list(claude_code.read(session.records, state))

    assert [turn.text for turn in found if isinstance(turn, Turn)] == [f"prompt {n}" for n in range(300)]
    assert len(state.unanswered) <= claude_code.MAX_WAITING


def test_a_history_copied_inside_its_own_file_adds_nothing():
    """2.1.22 to 2.1.29: new ids, same times and message ids, and a line for each block of a prompt."""
    session = Session(version="2.1.22")
    picture = {"type": "image", "source": {}}
    blocks = [{"type": "text", "text": "This cup"}, picture, {"type": "text", "text": "is blue"}]
    prompt = session.said(blocks)
    answer = session.answered("Nice.", "msg_1")
    session.version = "2.1.29"
    for block in blocks:
        session.said([block], timestamp=prompt["timestamp"])
    session.answered("Nice.", "msg_1", timestamp=answer["timestamp"])
    session.said("Pour")

    assert captured(turns_of(session)) == ["This cup\nis blue", "Nice.", "Pour"]


@pytest.mark.parametrize("version", ["1.0.65", "1.0.120", "2.0.77", "2.1.332"])
def test_two_equal_prompts_at_different_times_both_stay(version):
    """`yes` is a common answer."""
    session = Session(version=version)
    for number in range(2):
        session.said("yes")
        session.answered("Done.", f"msg_{number}")

    assert captured(turns_of(session)) == ["yes", "Done.", "yes", "Done."]


def test_fc_n04_a_block_written_twice_is_one_turn():
    """FC-N04: a re-emission has the message's id and the same words."""
    session = Session()
    session.answered("Brewed.", "msg_1", apiBlockIndex=1)
    session.answered("Brewed.", "msg_1", apiBlockIndex=1)
    session.answered("Brewed.", "msg_1", apiBlockIndex=3)

    assert captured(turns_of(session)) == ["Brewed.", "Brewed."]


def test_answers_of_two_sessions_are_two_even_if_a_gateway_repeats_its_message_id():
    """Some gateways number every answer alike."""
    one, other = Session(TEA), Session(FORK)
    for session in (one, other):
        session.answered("Done.", "msg_0")

    assert captured(turns_of(one), turns_of(other)) == ["Done.", "Done."]


def test_fc_d04_lines_put_in_before_a_turn_do_not_move_it():
    """FC-D04: identity is the line's id, or the ordinal among what was visible."""
    plain, shifted = Session(), Session()
    for session in (plain, shifted):
        session.typed("Brew?").pop("uuid")
    shifted.records.insert(0, {"type": "summary", "summary": "Tea"})

    assert captured(turns_of(plain), turns_of(shifted)) == ["Brew?"]


def test_reading_a_file_again_adds_nothing():
    """FC-D06: what a lost cursor costs is time."""
    for version in ("1.0.65", "1.0.120", "2.0.77", "2.1.55", "2.1.332"):
        session = talk(version)

        assert read_all(session) == read_all(session)
        assert captured(turns_of(session), turns_of(session)) == TALK


def test_copy_keys_name_their_rules_and_hold_no_words():
    """They go into the log outside of what a purge can take away."""
    secret = "hunter-2"
    session = Session(version="1.0.65")
    session.said(secret)
    session.answered(secret, "msg_1")
    session.version = "2.1.332"
    session.said(secret)

    keys = [key for turn in turns_of(session) for key in turn.copy_keys]

    assert len(keys) == 3
    assert all(key.startswith("claude-code/1:") and len(key) == len("claude-code/1:") + 32 for key in keys)
    assert secret not in repr(keys)
