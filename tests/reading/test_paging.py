"""Windows of any log: what holds for every conversation and every question."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.errors import AmbiguousName, UnknownName, UsageError
from conversation_esaa.events import ConversationTurn, Entry
from conversation_esaa.log import InMemoryLog, Stamp
from conversation_esaa.reading import budget as budgeting
from conversation_esaa.reading.prefix import Prefix
from conversation_esaa.reading.query import Query, hits
from conversation_esaa.reading.shown import cost_of
from conversation_esaa.reading.window import NotInSelection, resolve, window

ROOTS = ["/made/up"]
AGENTS = ("claude-code", "codex", "grok")
WORDS = ("port", "Port", "retry", "budget", "…", "日本")

said = st.builds(
    dict,
    agent=st.sampled_from(AGENTS),
    actor=st.sampled_from(["user", "assistant"]),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    minute=st.integers(0, 5),
)
logs = st.lists(said, max_size=25)


def log_of(turns) -> InMemoryLog:
    log = InMemoryLog(Stamp(workspace_root=ROOTS[0], workspace_id="w", replica_id="r"))
    drafts = [
        ConversationTurn(
            event_id=f"{index:08x}" + "e" * 56,
            ts=f"2026-03-01T10:{turn['minute']:02d}:00.000Z",
            source=turn["agent"],
            source_session_id="s",
            actor=turn["actor"],
            agent_id=turn["agent"] if turn["actor"] == "assistant" else None,
            text=" ".join(turn["words"]),
            summary=" ".join(turn["words"])[:200],
        )
        for index, turn in enumerate(turns)
    ]
    if drafts:
        with log.writing(purpose="test") as writer:
            writer.append(drafts, recorded_at="2026-03-01T11:00:00.000Z")
    return log


def lines_of(log) -> Prefix:
    """All of it, read from the log alone."""
    return Prefix(log, log.head(), ROOTS)


def found(log, **asked) -> list[Entry]:
    return window(lines_of(log), Query(**asked), state=None).entries


def seqs(entries) -> list[int]:
    return [entry.event.seq for entry in entries]


filters = st.fixed_dictionaries(
    {},
    optional={
        "agents": st.lists(st.sampled_from(AGENTS), min_size=1, max_size=2).map(tuple),
        "actor": st.sampled_from(["user", "assistant"]),
        "since": st.sampled_from(["2026-03-01T10:02:00.000Z"]),
        "until": st.sampled_from(["2026-03-01T10:04:00.000Z"]),
    },
)


@given(turns=logs, asked=filters, size=st.integers(1, 7))
def test_paging_backwards_meets_every_event_once_and_in_order(turns, asked, size):
    """A reader who follows `page.before` to its end has read it all."""
    log = log_of(turns)
    pages = []
    page = window(lines_of(log), Query(**asked, last=size), state=None)
    while page.entries:
        pages.insert(0, page.entries)
        before = page.entries[0].event.event_id
        assert page.more_before == bool(found(log, **asked, before=before))
        page = window(lines_of(log), Query(**asked, last=size, before=before), state=None)

    assert [seq for page in pages for seq in seqs(page)] == seqs(found(log, **asked, last=100))


@given(turns=logs, asked=filters, size=st.integers(1, 7))
def test_paging_forwards_meets_every_event_once_and_in_order(turns, asked, size):
    """The other direction, for whoever begins at the start."""
    log = log_of(turns)
    everything = found(log, **asked, last=100)
    met = everything[:1]
    while page := met and found(log, **asked, last=size, after=met[-1].event.event_id):
        met += page

    assert seqs(met) == seqs(everything)


@given(turns=logs, asked=filters, size=st.integers(1, 30))
def test_the_last_n_are_the_end_of_all(turns, asked, size):
    """Asking for fewer never changes which ones."""
    log = log_of(turns)

    assert seqs(found(log, **asked, last=size)) == seqs(found(log, **asked, last=100))[-size:]


@given(turns=logs, size=st.integers(0, 4), data=st.data())
def test_around_is_cut_at_the_ends_and_never_shifted(turns, size, data):
    """`--around` the first event shows what follows it, not a window of full length from elsewhere."""
    log = log_of(turns)
    everything = found(log, last=100)
    if not everything:
        return
    at = data.draw(st.integers(0, len(everything) - 1))

    page = window(lines_of(log), Query(around=everything[at].event.event_id, window=size), state=None)

    assert seqs(page.entries) == seqs(everything[max(0, at - size) : at + size + 1])
    assert page.more_before == (at - size > 0)
    assert page.more_after == (at + size + 1 < len(everything))


@given(turns=logs, asked=filters)
def test_filters_narrow_the_same_way_in_any_order(turns, asked):
    """FC-M03: two filters together are what each lets through alone."""
    log = log_of(turns)
    alone = [set(seqs(found(log, **{name: value}, last=100))) for name, value in asked.items()]
    together = set(seqs(found(log, **asked, last=100)))

    assert together == set(seqs(found(log, last=100))).intersection(*alone)
    shuffled = list(asked.items())
    random.Random(1).shuffle(shuffled)
    assert together == set(seqs(found(log, **dict(shuffled), last=100)))


@given(turns=logs, size=st.integers(1, 30))
def test_a_topic_text_gives_the_best_matches_best_first(turns, size):
    """Most occurrences, then the newest, then by id: the same answer on every run, and never the worst N."""
    log = log_of(turns)
    everything = found(log, last=100)
    ranked = sorted(
        sorted((e for e in everything if hits(e, "port")), key=lambda e: e.event.event_id),
        key=lambda e: (hits(e, "port"), e.event.ts),
        reverse=True,
    )

    page = window(lines_of(log), Query(topic="PORT", last=size), state=None)

    assert seqs(page.entries) == seqs(ranked[:size])
    assert page.ranked
    assert page.more_before == (len(ranked) > size)


@given(turns=logs, room=st.integers(-50, 400), full=st.booleans(), data=st.data())
def test_a_budget_is_kept_but_for_a_single_entry(turns, room, full, data):
    """The next agent's context window is what we promise not to fill. What is left out is counted."""
    log = log_of(turns)
    everything = found(log, last=100)
    asked = {"last": 100}
    if everything and (name := data.draw(st.sampled_from(["", "before", "after", "around"]))):
        asked = {name: data.draw(st.sampled_from(everything)).event.event_id, "last": 100, "window": 9}
    query = Query(**asked)
    page = window(lines_of(log), query, state=None)
    whole = list(page.entries)
    cost = cost_of(full=full)

    budgeting.fit(page, query, cost=cost, budget=room)

    assert len(page.entries) + page.left_out == len(whole)
    assert sum(map(cost, page.entries)) <= room or len(page.entries) <= 1
    assert bool(page.entries) == bool(whole)
    kept = seqs(page.entries)
    assert kept == [seq for seq in seqs(whole) if seq in kept]
    assert kept == list(range(kept[0], kept[-1] + 1)) if kept else not whole


@pytest.mark.parametrize(
    "asked",
    [
        {"before": "a" * 8, "after": "b" * 8},
        {"before": "a" * 8, "around": "b" * 8},
        {"after": "a" * 8, "around": "b" * 8},
        {"topic": "port", "before": "a" * 8},
        {"topic": "port", "around": "a" * 8},
        {"last": 0},
        {"last": -1},
        {"window": -1},
    ],
)
def test_questions_that_contradict_themselves_are_refused(asked):
    """Guessing which of two windows was meant would answer another question."""
    with pytest.raises(UsageError) as refused:
        Query(**asked)

    assert refused.value.hint


@given(turns=logs, minute=st.integers(0, 5))
def test_a_moment_parts_the_log_and_no_event_is_on_both_sides(turns, minute):
    """`--until` yesterday's midnight and `--since` it: the two answers are the whole, without an overlap."""
    log = log_of(turns)
    moment = f"2026-03-01T10:{minute:02d}:00.000Z"

    before, from_then = found(log, until=moment, last=100), found(log, since=moment, last=100)

    assert all(entry.event.ts < moment for entry in before)
    assert sorted(seqs(before) + seqs(from_then)) == seqs(found(log, last=100))


def two_alike() -> InMemoryLog:
    log = log_of([{"agent": "codex", "actor": "user", "words": ["port"], "minute": 0}])
    twin = msgspec.structs.replace(
        next(log.entries()).event,
        v=1,
        seq=0,
        event_id="00000000" + "f" * 56,
        salt="",
        content_digest="",
        hash="",
    )
    with log.writing(purpose="test") as writer:
        writer.append([twin], recorded_at="2026-03-01T11:00:00.000Z")
    return log


def test_a_prefix_of_an_id_names_one_event_or_is_refused():
    """Eight characters are enough while they are unique; we never pick one of two."""
    log = two_alike()

    assert resolve(lines_of(log), "00000000e") == "00000000" + "e" * 56
    assert resolve(lines_of(log), "00000000E") == "00000000" + "e" * 56
    with pytest.raises(AmbiguousName, match="several events"):
        resolve(lines_of(log), "00000000")
    with pytest.raises(UnknownName):
        resolve(lines_of(log), "0000000")  # unique or not: too short to stay unique
    with pytest.raises(UnknownName):
        resolve(lines_of(log), "99999999")


def test_an_event_that_the_filters_leave_out_is_no_place_to_page_from():
    """`--agent grok --before X`, X said by Codex: the page before what?"""
    log = log_of(
        [
            {"agent": "grok", "actor": "user", "words": ["port"], "minute": 0},
            {"agent": "codex", "actor": "user", "words": ["port"], "minute": 1},
        ]
    )
    codex = found(log, agents=("codex",))[0].event.event_id

    with pytest.raises(NotInSelection) as refused:
        window(lines_of(log), Query(agents=("grok",), before=codex), state=None)

    assert f"show {codex[:12]}" in refused.value.hint


def test_before_the_first_event_is_an_empty_page_with_nothing_older():
    """The end of paging is told by an empty page, not by an error and not by the same page again."""
    log = log_of([{"agent": "grok", "actor": "user", "words": ["port"], "minute": 0}])
    first = found(log)[0].event.event_id

    page = window(lines_of(log), Query(before=first), state=None)

    assert (page.entries, page.more_before, page.more_after) == ([], False, True)
