"""What was said, in a value that does not grow with it."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from builders.logs import LogBuilder, reference, rich
from conversation_esaa.events import ConversationTurn, SessionEnded, SessionStarted
from conversation_esaa.projections import conversation
from conversation_esaa.projections.conversation import EMPTY, Listener
from conversation_esaa.projections.injected import begin_line, end_line


def heard(log):
    return conversation.fold(entry.event for entry in log.entries)


def test_the_reference_log_is_counted_as_it_is_known_to_be():
    """27 lines are visible, 11 of them turns; a line that does not say whose log it is from is counted."""
    entries, _ = reference()

    talk = conversation.fold(entry.event for entry in entries)

    assert (talk.events, talk.turns) == (27, 11)
    assert talk.counts == {
        "conversation_turn": 11,
        "decision.recorded": 3,
        "task.created": 3,
        "task.updated": 2,
        "topic.created": 2,
        "topic.event.linked": 3,
        "task.closed": 1,
        "topic.updated": 1,
        "topic.closed": 1,
    }
    assert {agent: len(voice.session_turns) for agent, voice in talk.voices.items()} == {
        "unknown": 0,
        "codex": 2,
        "grok": 1,
        "claude-code": 2,
        "antigravity": 1,
    }


def test_the_records_of_one_message_are_one_message():
    """An answer in three blocks is one answer."""
    log = LogBuilder()
    log.said("assistant", "First.", message_ref="m")
    log.said("assistant", "Second.", message_ref="m")
    log.said("assistant", "Another answer.", message_ref="n")
    log.said("assistant", "Its end.", message_ref="n")

    answer = heard(log).voices["codex"].sessions["s-1"].answer

    assert answer.text == "Another answer.\n\nIts end."
    assert answer.seq == 3


def test_a_request_waits_until_something_is_said_in_its_own_session():
    """An answer in another session, of another agent, does not answer it."""
    log = LogBuilder()
    log.said("user", "Is it raining?", agent="codex", session="c")
    log.said("user", "Is it late?", agent="grok", session="g")
    log.said("assistant", "It is.", agent="grok", session="g")

    waiting = conversation.last_unanswered(heard(log))

    assert waiting.unanswered.text == "Is it raining?"
    log.said("assistant", "It is.", agent="codex", session="c")
    assert conversation.last_unanswered(heard(log)) is None


def test_the_newest_request_is_the_newest_by_time_not_by_import():
    """The sessions of one agent may be captured after those of another that were said later."""
    log = LogBuilder()
    log.said("user", "Said on Tuesday", agent="codex", session="c", ts="2026-01-06T10:00:00.000Z")
    log.said("user", "Said on Monday", agent="grok", session="g", ts="2026-01-05T10:00:00.000Z")

    assert conversation.last_unanswered(heard(log)).unanswered.text == "Said on Tuesday"


def test_a_clock_that_ran_ahead_is_not_the_newest_for_ever():
    """Nothing can have been said after it was written down."""
    log = LogBuilder()
    ahead = log.said("user", "From a machine in the year 2190", agent="codex", session="c")
    log.entries[0] = msgspec.structs.replace(
        log.entries[0], event=msgspec.structs.replace(ahead, ts="2190-01-01T00:00:00.000Z")
    )
    log.said("user", "From today", agent="grok", session="g")

    assert conversation.last_unanswered(heard(log)).unanswered.text == "From today"


def test_what_a_log_states_once_holds_for_its_session():
    """Some agents state the model only with their answers, and the branch only at the start."""
    log = LogBuilder()
    log.add(SessionStarted(source="codex", source_session_id="s-1", git_branch="main", cwd="/made/up"))
    log.said("assistant", "Good morning", model="made-up-1")
    log.said("user", "Good night")

    session = heard(log).voices["codex"].sessions["s-1"]

    assert (session.git_branch, session.cwd, session.model, session.turns) == (
        "main",
        "/made/up",
        "made-up-1",
        2,
    )


def test_a_session_that_goes_on_after_its_end_has_not_ended():
    """Sessions are resumed."""
    log = LogBuilder()
    log.said("user", "Good morning")
    log.add(SessionEnded(source="codex", source_session_id="s-1"))
    ended = heard(log).voices["codex"].sessions["s-1"].ended
    log.said("user", "Good morning again")

    assert (ended, heard(log).voices["codex"].sessions["s-1"].ended) == (True, False)


def test_the_value_stays_small_however_much_is_said():
    """It is stored after every capture, and read before every next one."""
    log = LogBuilder()
    for number in range(200):
        log.said("user", "x" * 50_000, session=f"s-{number}")
        for _ in range(20):
            log.said("assistant", "y" * 50_000, session=f"s-{number}", message_ref="m")

    talk = heard(log)

    kept = conversation.SESSIONS_KEPT * (conversation.PARTS_KEPT + 1) * (conversation.PART_CHARACTERS + 100)
    assert len(msgspec.json.encode(talk)) < kept + 200 * 20 + 5000
    assert talk.voices["codex"].session_turns["s-0"] == 21
    assert talk.voices["codex"].sessions["s-199"].answer.characters == 20 * 50_000


def test_turns_of_a_session_that_was_forgotten_are_still_counted():
    """It may be resumed a year later."""
    log = LogBuilder()
    for number in range(conversation.SESSIONS_KEPT + 2):
        log.said("user", "Good morning", session=f"s-{number}")
    log.said("user", "Here I am again", session="s-0")

    session = heard(log).voices["codex"].sessions["s-0"]

    assert session.turns == 2
    assert len(heard(log).voices["codex"].session_turns) == conversation.SESSIONS_KEPT + 2


def test_a_secret_is_masked_before_a_text_is_cut():
    """Half a secret is not recognised any more, and half may be enough for a thief."""
    token = "ghp_" + "R4nd0mMadeUpTokenValue0123456789abcd"[:36]
    log = LogBuilder()
    log.said("user", "x " * (conversation.PART_CHARACTERS // 2 - 5) + token)

    assert token[:12] not in repr(heard(log))


def test_sessions_that_did_something_come_most_recent_first():
    """Who was here last is who a reader follows."""
    talk = heard(rich())

    assert [session.agent_id for session in conversation.newest_of_each(talk)] == [
        "grok",
        "codex",
        "claude-code",
    ]


def test_the_words_of_a_system_are_counted_and_neither_a_request_nor_an_answer():
    """No agent module gives such turns today; a later one may."""
    talk = conversation.fold(
        [ConversationTurn(source="codex", source_session_id="s", actor="system", text="Hello")]
    )

    session = talk.voices["codex"].sessions["s"]
    assert (session.turns, session.request, session.answer) == (1, None, None)


HANDOFF = f"{begin_line(1, 'a' * 64)}\nMade up.\n{end_line(1)}"
TIMES = ["", "2026-01-05T10:00:00.000Z", "2026-01-06T10:00:00.000Z"]
turns = st.builds(
    ConversationTurn,
    source=st.sampled_from(["codex", "codex", "grok", "", conversation.UNNAMED]),
    source_session_id=st.sampled_from(["a", "a", "a", "b", "c", "d", "e", "f", "g"]),
    actor=st.sampled_from(["user", "assistant", "assistant", "system"]),
    message_ref=st.sampled_from(["", "m", "m", "n"]),
    text=st.sampled_from(["", "One.", "Two.", "Three.", HANDOFF, f"Before. {HANDOFF}"]),
    ts=st.sampled_from([*TIMES[1:], *TIMES]),
    recorded_at=st.sampled_from([*TIMES[2:] * 4, *TIMES]),
    cwd=st.sampled_from(["", "", "/made/up", "/made/over"]),
    git_commit=st.sampled_from(["", "", "", "c0ffee"]),
)
histories = st.lists(turns, max_size=40).map(
    lambda said: [msgspec.structs.replace(turn, seq=seq) for seq, turn in enumerate(said, 1)]
)


@given(histories, st.lists(st.integers(1, 12), max_size=12))
def test_many_turns_at_once_are_heard_as_one_by_one(said, sizes):
    """What a check of the whole log folds is what capture folded, turn by turn."""
    singly, at_once = Listener(EMPTY), Listener(EMPTY)
    for turn in said:
        singly.hear_turn(turn)

    rest = list(said)
    for size in [*sizes, len(said)]:
        if part := rest[:size]:
            at_once.hear_turns(part)
        rest = rest[size:]

    assert msgspec.json.encode(at_once.conversation()) == msgspec.json.encode(singly.conversation())
