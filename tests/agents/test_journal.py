"""Journals: operations on one object, replayed to what they come to."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.copilot_chat import lines
from conversation_esaa.agents import copilot_chat, journal
from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.agents.registry import ReaderState, SessionFile

if TYPE_CHECKING:
    from pathlib import Path

START = {"kind": 0, "v": {"a": 1, "list": [{"x": []}, 2]}}


def replayed(path: Path, content: bytes | str) -> tuple[list[Any], list[tuple[int, str]]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    told = Lines()
    with journal.opened(SessionFile(path=path)) as source:
        found = list(source.records(told, copilot_chat, ReaderState()))  # type: ignore[arg-type]  # a module as protocol
    assert told.offset == 0
    return found, [(bad.line_no, bad.reason) for bad in told.bad]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"kind": 1, "k": ["a"], "v": 2}, {"a": 2, "list": [{"x": []}, 2]}),
        ({"kind": 1, "k": ["list", 0, "x"], "v": [1]}, {"a": 1, "list": [{"x": [1]}, 2]}),
        ({"kind": 1, "k": ["list", 2], "v": 3}, {"a": 1, "list": [{"x": []}, 2, 3]}),
        ({"kind": 1, "k": ["a"]}, {"list": [{"x": []}, 2]}),
        ({"kind": 1, "k": [], "v": {"b": 1}}, {"b": 1}),
        ({"kind": 2, "k": ["list", 0, "x"], "v": [1, 2]}, {"a": 1, "list": [{"x": [1, 2]}, 2]}),
        ({"kind": 2, "k": ["list"], "v": [9], "i": 1}, {"a": 1, "list": [{"x": []}, 9]}),
        ({"kind": 2, "k": ["list"], "i": 0}, {"a": 1, "list": []}),
        ({"kind": 2, "k": ["new"], "v": [1]}, {"a": 1, "list": [{"x": []}, 2], "new": [1]}),
        ({"kind": 3, "k": ["a"]}, {"list": [{"x": []}, 2]}),
        ({"kind": 3, "k": ["list", 1]}, {"a": 1, "list": [{"x": []}, None]}),
        ({"kind": 0, "v": {"b": 2}}, {"b": 2}),
    ],
)
def test_each_operation_does_what_its_program_does(operation, expected, tmp_path):
    assert replayed(tmp_path / "j", lines(START, operation)) == ([expected], [])


@pytest.mark.parametrize(
    "operation",
    [
        {"kind": 4},
        {},
        {"kind": 0, "v": []},
        {"kind": 1, "k": ["missing", "x"], "v": 1},
        {"kind": 1, "k": ["list", 7], "v": 1},
        {"kind": 1, "k": ["list", -1], "v": 1},
        {"kind": 1, "k": ["list", "0"], "v": 1},
        {"kind": 1, "k": ["a", "b"], "v": 1},
        {"kind": 1, "k": [None], "v": 1},
        {"kind": 1, "k": [[1]], "v": 1},
        {"kind": 2, "k": ["a"], "v": [1]},
        {"kind": 2, "k": ["list"], "v": 1},
        {"kind": 2, "k": ["list"], "v": [1], "i": "0"},
        {"kind": 2, "k": ["list"], "v": [1], "i": -1},
    ],
)
def test_an_operation_that_does_not_fit_is_named_and_hides_nothing(operation, tmp_path):
    """FC-N14."""
    later = {"kind": 1, "k": ["a"], "v": 5}

    found, bad = replayed(tmp_path / "j", lines(START, operation, later))

    assert found == [{"a": 5, "list": [{"x": []}, 2]}]
    assert bad == [(2, "an operation that does not fit what is there")]


def test_a_line_that_is_being_written_is_left_for_later(tmp_path):
    whole = lines(START, {"kind": 1, "k": ["a"], "v": 2})

    assert replayed(tmp_path / "j", whole[:-10])[0] == [START["v"]]


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", lines({"kind": 1, "k": ["a"], "v": 1}), b"\xff\n", b"\0" * 50]
)
def test_a_file_without_a_beginning_comes_to_nothing(content, tmp_path):
    """FC-A01, FC-A04."""
    assert replayed(tmp_path / "j", content)[0] == []


def test_a_bad_line_between_two_good_ones_is_named(tmp_path):
    """FC-A02."""
    content = lines(START) + '{"kind":1,"k":["a"],"v"\n' + lines({"kind": 1, "k": ["a"], "v": 2})

    found, bad = replayed(tmp_path / "j", content)

    assert found[0]["a"] == 2
    assert bad == [(2, "not JSON")]


keys = st.text("ab", min_size=1, max_size=1)
values = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(keys, inner) | st.lists(inner, max_size=3),
)
operations = st.fixed_dictionaries(
    {"kind": st.integers(0, 3), "k": st.lists(keys | st.integers(0, 3), max_size=4)},
    optional={"v": values, "i": st.integers(0, 4)},
)


@given(many=st.lists(operations, max_size=8))
def test_no_operation_can_stop_a_sync(many):
    first = journal.replay(copy.deepcopy([START, *many]), Lines())

    assert first == journal.replay(copy.deepcopy([START, *many]), Lines())
