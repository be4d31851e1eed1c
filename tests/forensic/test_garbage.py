"""Nothing stops `verify`: whatever the files hold, the answer is a report."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.harmed import Harmed
from builders.world import World
from conversation_esaa.layout import READ_MODELS


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Harmed, bytes]:
    """One workspace for all examples, whose log each of them replaces."""
    harmed = Harmed(World(tmp_path_factory.mktemp("garbage")))
    return harmed, harmed.log.read_bytes()


def values(log: bytes) -> list[object]:
    """What the lines say, however they are spelled."""
    return [json.loads(line) for line in log.splitlines() if line.strip()]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=80)
@given(data=st.data())
def test_bytes_spliced_into_the_log_never_stop_it(once: tuple[Harmed, bytes], data: st.DataObject):
    """Whatever a crash, a merge or a hand put there, the answer is a report."""
    harmed, whole = once
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 400)))
    harmed.log.write_bytes(whole[:start] + data.draw(st.binary(max_size=60)) + whole[end:])

    answer = harmed.verify(deep=data.draw(st.booleans()))

    assert answer.told().splitlines()[-1].startswith("verify: ")
    if answer.ok:
        assert values(harmed.log.read_bytes()) == values(whole), "ok means that every event is as it was"


@settings(max_examples=80)
@given(data=st.data())
def test_values_of_any_type_in_a_line_never_stop_it(once: tuple[Harmed, bytes], data: st.DataObject):
    """A program that writes our format wrongly."""
    harmed, whole = once
    lines = whole.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    fields = json.loads(lines[at])
    for key in data.draw(
        st.lists(st.sampled_from([*sorted(fields), "v", "topic_ids", "linked_event_id"]), max_size=4)
    ):
        fields[key] = data.draw(json_values)
    if data.draw(st.booleans()):
        del fields["v"]
    lines[at] = json.dumps(fields).encode() + b"\n"
    harmed.log.write_bytes(b"".join(lines))

    answer = harmed.verify(deep=True)

    assert not answer.ok or fields == json.loads(whole.splitlines()[at])


@settings(max_examples=60)
@given(
    name=st.sampled_from([*READ_MODELS, "sync-state.json", ".gitignore", "config.toml"]),
    content=st.binary(max_size=200),
)
def test_garbage_in_any_other_file_never_stops_it(once: tuple[Harmed, bytes], name: str, content: bytes):
    harmed, whole = once
    harmed.log.write_bytes(whole)
    path = harmed.store / name
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        answer = harmed.verify()
    finally:
        path.write_bytes(before)

    assert answer.findings or name not in READ_MODELS  # `*` is a good .gitignore, `{}` an empty cache
