"""The quick way through runs of turns and the close look at each line: one truth, and the second one tells it."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.damages import turn
from builders.harmed import Harmed
from builders.world import World
from conversation_esaa.forensic import verify as verifying
from conversation_esaa.forensic.met import MetIds
from conversation_esaa.ids import digest_of
from conversation_esaa.log import reader

if TYPE_CHECKING:
    from conversation_esaa.forensic.findings import VerifyReport

# What another program may put into a turn, one thing at a time, our writer's hash around it.
ODD = [
    {},
    {"ts": "2026-03-01T10:30:00Z"},
    {"ts": "2026-02-29T10:30:00.000Z"},
    {"ts": "2026-01-31T10:30:00.000Z"},
    {"ts": "2031-01-01T00:00:00.000Z"},
    {"ts": "٢٠٢٦-03-01T10:30:00.000Z"},
    {"ts": "2026-03-01T10:30:00.000Z2026-03-01T10:30:00.000Z"},
    {"ts": "2026-02-30T10:30:00.000Z"},
    {"ts": ""},
    {"actor": "narrator"},
    {"actor": ""},
    {"source": ""},
    {"agent_id": None},
    {"text": "", "summary": ""},
    {"topic_ids": ("TOP-009",)},
    {"event_id": digest_of("one")},
    {"event_id": digest_of("turn", "codex", "other/1")},
    {"source_ref": ""},
    {"source_ref": "", "event_id": digest_of("turn", "codex", "other", "0", "user", "Something else")},
    {"source_ref": "", "flags": ("cut",)},
    {"text": '","hash":"', "summary": ""},
]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Harmed:
    return Harmed(World(tmp_path_factory.mktemp("used")))


def both_ways(harmed: Harmed, *, deep: bool, piece: int = reader.PIECE) -> tuple[VerifyReport, VerifyReport]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "PIECE", piece)
        quick = harmed.verify(deep=deep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifying, "runs", lambda piece: [(BytesIO(piece).readlines(), [])])
        close = harmed.verify(deep=deep)
    return quick, close


@given(
    odd=st.lists(st.sampled_from(ODD), max_size=5),
    at=st.lists(
        st.sampled_from(["2026-03-01T11:00:00.000Z", "2026-03-01T10:59:00.000Z", "2026-02-28T10:00:00.000Z"]),
        max_size=3,
    ),
    foreign=st.booleans(),
    deep=st.booleans(),
)
def test_turns_of_a_stranger_are_told_alike(used: Harmed, odd, at, foreign, deep):
    whole = used.log.read_bytes()
    try:
        for number, moment in enumerate(at or [""]):
            drafts = [turn(ref=f"other/{number}/{place}", **more) for place, more in enumerate(odd)]
            used.append(*drafts, at=moment, **({"workspace_id": "f" * 32} if foreign else {}))

        quick, close = both_ways(used, deep=deep)

        assert quick == close
    finally:
        used.log.write_bytes(whole)


@given(st.data())
def test_any_damage_is_told_alike(used: Harmed, data):
    whole = used.log.read_bytes()
    lines = whole.splitlines(keepends=True)
    lines += [
        b"\n",
        b"torn\n",
        lines[2].replace(b'"seq":', b'"seq": '),
        lines[1].replace(b'"salt":"', b'"salt":"0'),
    ]
    try:
        chosen = data.draw(st.lists(st.sampled_from(range(len(lines))), min_size=1, max_size=12))
        damaged = bytearray(b"".join(lines[number] for number in chosen))
        for _ in range(data.draw(st.integers(0, 3))):
            position = data.draw(st.integers(0, len(damaged) - 1))
            damaged[position] = data.draw(st.integers(0, 255))
        used.log.write_bytes(bytes(damaged))

        piece = data.draw(st.sampled_from([2_000, 5_000, reader.PIECE]))
        quick, close = both_ways(used, deep=data.draw(st.booleans()), piece=piece)

        assert quick == close
    finally:
        used.log.write_bytes(whole)


def test_a_sound_log_is_not_looked_at_closely_where_turns_are(
    harmed: Harmed, monkeypatch: pytest.MonkeyPatch
):
    """Else the quick way would be quick for nobody."""
    closely = []
    look = verifying._Run._look_closely
    monkeypatch.setattr(
        verifying._Run,
        "_look_closely",
        lambda run, line_no, offset, lines: (closely.extend(lines), look(run, line_no, offset, lines)),
    )

    harmed.verify(deep=True)

    assert closely
    assert not any(b'"event":"conversation_turn"' in line for line in closely)


def test_ids_that_only_seem_to_meet_are_not_told(harmed: Harmed, monkeypatch: pytest.MonkeyPatch):
    """What is held of an id is shorter than the id; the log itself decides."""
    monkeypatch.setattr("conversation_esaa.forensic.met._digits", lambda event_id: hash(event_id) & 1)

    assert harmed.verify().findings == []


def test_many_ids_are_taken_in_as_one_by_one():
    ids = [digest_of(str(number % 7)) for number in range(20)]
    at_once, singly = MetIds(), MetIds()

    at_once.take_in(ids)
    news = [singly.is_new(each) for each in ids]

    assert sum(news) == 7
    assert all(each in at_once and each in singly for each in ids)
    assert digest_of("another") not in at_once


def test_progress_tells_how_far_the_check_is(harmed: Harmed):
    told: list[tuple[str, int, int]] = []
    harmed.workspace.progress = lambda *word: told.append(word)

    harmed.verify()

    size = harmed.log.stat().st_size
    assert told == [("checking the log", size, size)]
