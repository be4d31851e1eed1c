"""Moments in one form: what is spelled so already is taken as it is, and nothing else is."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.timestamps import UNKNOWN, parse_utc, to_utc

OURS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
SPELT = "2026-03-01T10:00:05.250Z"


@given(st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=250_000)))
def test_our_own_form_is_kept_as_it_is(moment: datetime):
    assert parse_utc(to_utc(moment)) == to_utc(moment)


@given(
    st.text(alphabet="0123456789-:.TZtz+, W٣²", max_size=30)
    | st.tuples(st.integers(0, 23), st.sampled_from("0129-:.TZ+ W٣²")).map(
        lambda change: SPELT[: change[0]] + change[1] + SPELT[change[0] + 1 :]
    )
)
def test_whatever_it_is_given_the_answer_has_our_form_or_is_none(text: str):
    """One character of a good moment changed, or none of it good."""
    answer = parse_utc(text)

    assert answer == UNKNOWN or OURS.fullmatch(answer)
    if answer == text != UNKNOWN:
        assert to_utc(datetime.fromisoformat(text)) == text


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("2026-03-01T10:00:05.250+02:00", "2026-03-01T08:00:05.250Z"),
        ("2026-03-01 10:00:05,2509", "2026-03-01T10:00:05.250Z"),
        ("2026-03-01T10:00:60.000Z", "2026-03-01T10:00:59.999Z"),
        ("2026-02-30T10:00:05.250Z", UNKNOWN),
        ("2026-03-01T24:00:05.250Z", UNKNOWN),
        (1_772_359_205, UNKNOWN),
    ],
)
def test_other_spellings(given, answer):
    assert parse_utc(given) == answer
