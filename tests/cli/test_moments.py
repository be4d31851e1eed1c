"""Times as people type them."""

import argparse
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.cli.moments import moment
from conversation_esaa.cli.values import not_negative, positive, seconds
from conversation_esaa.errors import UsageError

NOW = "2026-03-01T10:00:00.000Z"


@pytest.mark.parametrize(
    ("given_as", "means"),
    [
        ("", ""),
        ("2026-02-28", "2026-02-28T00:00:00.000Z"),
        ("2026-02-28T10:00+02:00", "2026-02-28T08:00:00.000Z"),
        ("2026-02-28T10:00", "2026-02-28T10:00:00.000Z"),
        ("90m", "2026-03-01T08:30:00.000Z"),
        ("5 min", "2026-03-01T09:55:00.000Z"),
        ("2h", "2026-03-01T08:00:00.000Z"),
        ("1d", "2026-02-28T10:00:00.000Z"),
        ("1w", "2026-02-22T10:00:00.000Z"),
        ("999999w", "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_moment_is_a_date_a_time_or_how_long_ago(given_as, means):
    assert moment(given_as, now=NOW, option="--since") == means


@pytest.mark.parametrize(
    "given_as", ["yesterday", "2026-13-01", "2026-02-30", "-2h", "2x", "10:00", "h", "1e3d"]
)
def test_anything_else_is_refused_with_examples(given_as):
    """A filter that is silently nothing would answer another question."""
    with pytest.raises(UsageError, match="--since") as refused:
        moment(given_as, now=NOW, option="--since")

    assert "2026-03-01" in refused.value.hint


@given(st.text(max_size=20))
def test_no_text_breaks_the_reading_of_values(text):
    """Whatever a shell hands over: a value, or a refusal in words."""
    for read in (positive, not_negative, seconds, lambda given: moment(given, now=NOW, option="--since")):
        with contextlib.suppress(UsageError, argparse.ArgumentTypeError):
            read(text)
