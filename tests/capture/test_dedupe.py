"""What the log already has: ids, copies, and turns that a v1.1 tool captured."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.capture.dedupe import Known, Remembered
from conversation_esaa.events import ConversationTurn, Entry

ROOT = ("/w/app",)


def turn(text: str = "continue", ref: str = "r-1", *, v: int = 2, **more) -> ConversationTurn:
    return ConversationTurn(
        v=v,
        event_id="" if v == 1 else f"id of {ref}",
        source="codex",
        source_session_id="s-1",
        actor="user",
        text=text,
        **more,
    )


class Looked:
    """What a run knows, and the identities of the log that it looks them up in."""

    def __init__(self, *turns: ConversationTurn, recognised=()) -> None:
        self.known = Known(lambda: recognised)
        self.log = Remembered()
        self.log.learn((Entry(each, b"", 0) for each in turns), roots=ROOT)

    def has(self, draft: ConversationTurn, recognised: dict[str, str]) -> bool:
        return self.known.has(draft, self.log, recognised)


known_from = Looked


def test_a_turn_is_known_by_its_id():
    """Whatever else of it changed."""
    known = known_from(turn())

    assert known.has(turn("other words"), {})
    assert not known.has(turn(ref="r-2"), {})


def test_a_copy_is_known_by_a_key_that_survives_copying():
    """Some versions write a copied session with new record ids."""
    known = known_from(turn(copy_keys=("k-1", "k-2")))

    assert known.has(turn(ref="r-2", copy_keys=("k-2",)), {})
    assert not known.has(turn(ref="r-3", copy_keys=("k-3",)), {})


@given(captured=st.integers(0, 5), said=st.integers(0, 8))
def test_each_native_turn_stands_for_one_turn_of_the_older_tool(captured, said):
    """Equal texts are counted: `continue` is said often."""
    known = known_from(*(turn(v=1, source_index=number) for number in range(captured)))

    new = [number for number in range(said) if not known.has(turn(ref=f"r-{number}"), {})]

    assert new == list(range(captured, said))


@given(cuts=st.lists(st.booleans(), min_size=6, max_size=6))
def test_looking_again_recognises_the_same_turns(cuts):
    """However often a file is read from its beginning, in one run or in several."""
    older = [turn(v=1, source_index=number) for number in range(3)]
    recognised: dict[str, str] = {}
    added: list[ConversationTurn] = []
    for whole in cuts:
        known = known_from(*older, *added, recognised=[recognised])
        for number in range(6 if whole else 4):
            draft = turn(ref=f"r-{number}")
            if not known.has(draft, recognised):
                known.known.add(draft)
                added.append(draft)

    assert [draft.event_id for draft in added] == [f"id of r-{n}" for n in range(3, 6 if any(cuts) else 4)]


def test_another_session_or_another_speaker_is_another_turn():
    """Only source, session, actor and text together recognise it; blanks around it do not count."""
    known = known_from(turn(v=1))
    elsewhere = msgspec.structs.replace(turn(ref="a"), source_session_id="s-2")
    answered = msgspec.structs.replace(turn(ref="b"), actor="assistant")

    assert not known.has(elsewhere, {})
    assert not known.has(answered, {})
    assert known.has(turn(" continue\n", ref="c"), {})


def test_lines_that_are_never_shown_stand_for_nothing():
    """A foreign line, and a second line of one native record."""
    known = known_from(
        turn(v=1, workspace_root="/w/other", source_index=1),
        turn("twice", v=1, source_index=2),
        turn("twice", v=1, source_index=2),
    )

    assert not known.has(turn(ref="a"), {})
    assert known.has(turn("twice", ref="b"), {})
    assert not known.has(turn("twice", ref="c"), {})
