"""`sample`: what a log looks like, and not a word of what is in it."""

from __future__ import annotations

import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.agents.skeleton import DEPTH, shape, skeleton

words = st.text(alphabet=st.sampled_from("äöüß 日本"), min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_no_word_of_a_value_and_no_foreign_key_is_in_a_shape(value):
    shown = json.dumps(shape(value), ensure_ascii=False)

    assert not set(shown) & set("äöüß日本")


def test_keys_types_and_kinds_of_records_are_shown():
    record = {
        "type": "message",
        "role": "Tell me, who are you?",
        "n": 1,
        "x": 1.5,
        "on": True,
        "none": None,
        "text": "secret",
        "empty": "",
        "/home/me/private": 1,
        "parts": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    }

    assert shape(record) == {
        "type": "=message",
        "role": "string",
        "n": "int",
        "x": "float",
        "on": "bool",
        "none": "null",
        "text": "string",
        "empty": "empty string",
        "<key>": "int",
        "parts": [{"type": "=text", "text": "string"}],
    }


def test_depth_has_an_end():
    value: object = "x"
    for _ in range(DEPTH + 50):
        value = {"a": value}

    assert "{…}" in json.dumps(shape(value), ensure_ascii=False)


def test_lines_are_counted_by_shape_and_bad_ones_apart(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"type":"a","t":"x"}\n{"type":"b"}\nnot JSON\n{"type":"a","t":"y"}\n')

    found = skeleton(path)

    assert (found.records, found.unreadable) == (3, 1)
    assert [(each.count, each.shape["type"]) for each in found.shapes] == [(2, "=a"), (1, "=b")]


def test_a_document_over_many_lines_is_one_record(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "secret"}]}, indent=2))

    found = skeleton(path)

    assert [each.shape for each in found.shapes] == [{"messages": [{"role": "=user", "content": "string"}]}]


def test_a_database_shows_its_tables_and_the_json_in_its_columns(tmp_path):
    path = tmp_path / "chat.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE message (id INTEGER, data TEXT, raw BLOB)")
        database.execute(
            "INSERT INTO message VALUES (1, ?, ?)", ('{"role": "user", "text": "secret"}', b"\xff")
        )
    database.close()

    found = skeleton(path)

    assert found.tables == {"message": {"id": "INTEGER", "data": "TEXT", "raw": "BLOB"}}
    assert found.shapes[0].shape == {
        "<table>": "message",
        "id": "int",
        "data": {"<JSON>": {"role": "=user", "text": "string"}},
        "raw": "bytes",
    }
    assert [each.name for each in tmp_path.iterdir()] == ["chat.db"]


def test_the_command_shows_it_and_refuses_what_is_none(world):
    world.claude().user("Which port? my-secret").assistant("It is 8080.")
    path = next(world.home.rglob("*.jsonl"))

    ran = world.run("sample", str(path))

    assert ran.code == 0
    assert '"type": "=user"' in ran.out
    assert "my-secret" not in ran.out
    assert "8080" not in ran.out
    missing = world.run("sample", str(path) + "x")
    assert (missing.code, missing.out) == (1, "")
    assert "No such file" in missing.err


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\x00" * 100, b"\xff\xfe", b"SQLite format 3\x00garbage"])
def test_no_file_is_a_traceback(tmp_path, content, world):
    path = tmp_path / "odd"
    path.write_bytes(content)

    assert world.run("sample", str(path)).code in (0, 1)
