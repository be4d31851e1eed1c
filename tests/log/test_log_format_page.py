"""The format page: its vector is a log of ours, its verifier finds what ours finds, its tables are complete."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from pathlib import Path

import pytest

from builders.log import InMemory, append, findings, goal, started, turn, v1_1_log
from conversation_esaa.events import TYPES, Entry
from conversation_esaa.log.codec import json_schema

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "log-format.md").read_text(encoding="utf-8")
VECTOR = re.search(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)[1].encode()
VERIFIER = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
CONTENT_KEYS = {
    kind["properties"]["event"]["enum"][0]: kind["x-content-keys"] for kind in json_schema()["$defs"].values()
}


@pytest.fixture
def verify():
    """The page's verifier: a log's bytes → what it prints."""
    names: dict = {"__name__": "page"}
    exec(compile(VERIFIER, "log-format.md", "exec"), names)

    def run(log: bytes) -> list[str]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            names["verify"](log, CONTENT_KEYS)
        return printed.getvalue().splitlines()

    return run


def kept_of(data: bytes) -> InMemory:
    kept = InMemory()
    kept.put(data)
    return kept


def test_the_vector_is_a_whole_log_for_both(verify):
    assert verify(VECTOR) == []
    assert findings(kept_of(VECTOR)) == []
    assert len([e for e in kept_of(VECTOR).log.entries() if isinstance(e, Entry)]) == 6


def test_what_the_page_says_about_the_vector_is_so():
    lines = VECTOR.splitlines(keepends=True)
    assert hashlib.sha256(lines[0] + lines[1]).hexdigest() in PAGE
    assert f"are {len(lines[0] + lines[1])} bytes" in PAGE
    fourth = json.loads(lines[3])
    words = re.search(r"canonical, are `(.*?)`", PAGE)[1].encode()
    assert hashlib.sha256(b"\xa1" * 16 + words).hexdigest() == fourth["content_digest"]


def test_a_log_of_ours_verifies_by_the_page(verify):
    kept = kept_of(v1_1_log())
    append(kept, turn("né → 😀 \x1b \u2028"), started(), goal("a"), goal(""))

    assert verify(kept.bytes()) == []


def test_what_the_pages_verifier_finds_ours_finds_too(verify):
    """Every third byte of the vector's chained lines, changed in one way. Ours is stricter in spelling."""
    start = VECTOR.index(b'{"actor":"system"')
    for position in range(start, len(VECTOR), 3):
        changed = bytearray(VECTOR)
        changed[position] ^= 1
        if b"\n" in (VECTOR[position : position + 1], bytes(changed[position : position + 1])):
            continue  # lines that are cut or joined are told apart by other tests
        try:
            theirs = bool(verify(bytes(changed)))
        except (KeyError, TypeError, ValueError, IndexError):
            theirs = True  # forty lines do not handle everything; that they stop is an answer
        if theirs:
            assert findings(kept_of(bytes(changed))), position


def test_the_table_of_content_keys_is_complete():
    told = {}
    for names, keys in re.findall(r"^\| (`.*?`) \| (.*?) \|$", PAGE, re.MULTILINE):
        for name in re.findall(r"`(.*?)`", names):
            if name in TYPES:
                told[name] = set(re.findall(r"`(.*?)`", keys))

    assert told == {name: set(kind.CONTENT) for name, kind in TYPES.items()}
