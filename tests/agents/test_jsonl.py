"""Files of one JSON object a line, as agents really leave them."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.agents.jsonl import MAX_NAMED, Lines, decode_line, read_document, read_records


def read(data: bytes, lines: Lines | None = None) -> list[dict]:
    return list(read_records(io.BytesIO(data), lines if lines is not None else Lines()))


def numbers(records: list[dict]) -> list:
    return [record.get("n") for record in records]


def bad(data: bytes) -> list[tuple[int, str]]:
    lines = Lines()
    read(data, lines)
    return [(line.line_no, line.reason) for line in lines.bad]


def test_each_line_is_a_record_in_file_order():
    lines = Lines()

    records = read(b'{"n":1}\n{"n":2}\r\n{"n":3}\n', lines)

    assert numbers(records) == [1, 2, 3]
    assert (lines.offset, lines.line_no, lines.bad) == (25, 3, [])


@pytest.mark.parametrize("data", [b"", b"\n\n", b"  \r\n\t\n"])
def test_an_empty_or_blank_file_has_no_record_and_no_fault(data):
    """FC-A04: a file that was only just made is read again once it grows."""
    assert read(data) == []
    assert bad(data) == []


def test_nul_padding_hides_no_record_and_is_named():
    """FC-A01: a crash leaves blocks of NUL bytes, behind a record or alone."""
    data = b'{"n":1}\n{"n":2}' + b"\0" * 9000 + b'\n{"n":3}\n' + b"\0" * 2000

    assert numbers(read(data)) == [1, 2, 3]
    assert [line_no for line_no, _ in bad(data)] == [2, 4]


def test_padding_at_the_end_is_passed_only_when_its_line_is_finished():
    """A file system may still put the line where the padding is."""
    data, lines = b'{"n":1}\n' + b"\0" * 100, Lines()

    read(data, lines)

    assert lines.offset == len(b'{"n":1}\n')
    assert numbers(read(data + b'{"n":2}\n', lines)) == [2]


def test_a_cut_line_is_skipped_and_the_same_record_complete_is_read_once():
    """FC-A02."""
    data = b'{"n":1}\n{"n":2,"text":"half a sen\n\n{"n":2,"text":"whole"}\n'

    assert numbers(read(data)) == [1, 2]
    assert bad(data) == [(2, "not JSON")]


def test_a_last_line_being_written_is_left_for_the_next_time():
    lines = Lines()

    assert numbers(read(b'{"n":1}\n{"n":', lines)) == [1]
    assert (lines.offset, lines.line_no, lines.bad) == (8, 1, [])
    assert numbers(read(b'{"n":1}\n{"n":2}\n', lines)) == [2]


def test_a_whole_last_line_counts_without_its_line_feed():
    """Exported sessions end without one; it may also come later, and is no line of its own then."""
    lines = Lines()

    assert numbers(read(b'{"n":1}\n{"n":2}', lines)) == [1, 2]
    assert lines.line_no == 1
    assert numbers(read(b'{"n":1}\n{"n":2}\n{"n":3}\n', lines)) == [3]
    assert lines.line_no == 3


def test_a_last_line_that_is_no_object_may_be_the_beginning_of_something_else():
    """`12` may become `123`; an object is whole when it closes."""
    lines = Lines()

    assert read(b"12", lines) == []
    assert lines.offset == 0


def test_two_records_on_one_line_are_both_read():
    assert numbers(read(b'{"n":1}{"n":2} {"n":3}\n')) == [1, 2, 3]


def test_a_byte_order_mark_is_no_content():
    """FC-C02: at the start of a file, and where a tool appended with one."""
    mark = b"\xef\xbb\xbf"

    assert numbers(read(mark + b'{"n":1}\n' + mark + b'{"n":2}\n')) == [1, 2]
    assert bad(mark + b'{"n":1}\n') == []


def test_lone_surrogates_are_handed_on():
    """FC-C01: what to put in their place is decided where text is stored, not here."""
    assert read(b'{"text":"done \\ud83d"}\n') == [{"text": "done \ud83d"}]


def test_bytes_that_are_no_utf8_are_replaced_and_named():
    assert read(b'{"text":"caf\xe9"}\n') == [{"text": "caf\ufffd"}]
    assert bad(b'{"text":"caf\xe9"}\n') == [(1, "bytes that are no UTF-8, replaced by U+FFFD")]
    assert read(b'{"text":"caf\xe9"}') == [{"text": "caf\ufffd"}], "it is whole all the same"


def test_control_characters_inside_a_string_are_text():
    assert read(b'{"text":"a\tb\x01c"}\n') == [{"text": "a\tb\x01c"}]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"# a comment", "not JSON"),
        (b'{"n":1} trailing words', "something that is no JSON follows a record"),
        (b"[1,2]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested too deeply"),
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
        (b'{"n":1e400}', "a number that cannot be read"),
        (b'{"n":-1e400}', "a number that cannot be read"),
        (b'{"n":NaN}', "a number that cannot be read"),
        (b'{"n":' + b"9" * 5_000 + b"}", "a number that cannot be read"),
    ],
)
def test_a_line_that_is_no_record_is_named_and_hides_no_other(line, reason):
    """FC-N15: hostile lines cost a warning, never the good ones around them."""
    data = b'{"n":"before"}\n' + line + b'\n{"n":"after"}\n'

    found = numbers(read(data))

    assert (found[0], found[-1]) == ("before", "after")
    assert bad(data) == [(2, reason)]


def test_a_reason_never_says_what_the_line_says():
    """Reasons end up in reports of errors."""
    word = "canary" + "word"

    assert word not in str(bad(f'{{"text":"{word}\n{word}\n["{word}"]\n'.encode()))


def test_an_integer_of_400_digits_is_just_a_number():
    """FC-N15: it can be read, so its line is."""
    assert read(b'{"n":' + b"9" * 400 + b"}\n") == [{"n": int("9" * 400)}]


def test_of_a_key_that_is_stated_twice_the_last_one_counts():
    """FC-N15: on both ways through this module."""
    assert read(b'{"n":1,"n":2}\n{"n":1,"n":2}\0\n') == [{"n": 2}, {"n": 2}]


def test_a_file_that_is_no_jsonl_names_some_lines_and_counts_all():
    lines = Lines()

    read(b"words\n" * 1000, lines)

    assert (len(lines.bad), lines.bad_count, lines.line_no) == (MAX_NAMED, 1000, 1000)


def test_only_one_line_is_held():
    """FC-B02, FC-B04: memory follows the longest line, not the file, and a line is not held twice over."""
    big = b'{"text":"' + b"x" * 2_000_000 + b'"}\n'
    file = io.BytesIO((big + b'{"n":1}\n') * 6)
    tracemalloc.start()

    for _ in read_records(file, Lines()):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4 * len(big), "a line, its text, and the line before it; not twelve of them"


def test_a_read_error_is_the_callers_to_report():
    """FC-B03: never an empty session."""

    class Failing(io.BytesIO):
        def __next__(self) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        list(read_records(Failing(b'{"n":1}\n'), Lines()))


def test_a_side_file_is_read_as_tolerantly_as_a_line(tmp_path):
    document = tmp_path / "summary.json"

    document.write_bytes(b'\xef\xbb\xbf{\n  "cwd": "/caf\\ud83d"\n}\n')
    assert read_document(document) == {"cwd": "/caf\ud83d"}

    for content in (b"", b"[1]", b"{", b"\0\0"):
        document.write_bytes(content)
        assert read_document(document) == {}
    assert read_document(tmp_path / "missing") == {}
    assert read_document(tmp_path) == {}


def test_one_line_can_be_read_alone():
    assert decode_line(b'{"n":1}\n') == [{"n": 1}]
    assert decode_line(b"words") == []


chunks = st.one_of(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ).map(lambda value: json.dumps(value).encode() + b"\n"),
    st.dictionaries(st.text(max_size=3), st.text(), max_size=3).map(lambda v: json.dumps(v).encode()),
    st.sampled_from([b"\n", b"\0\0", b"\xef\xbb\xbf", b'{"a":', b"}", b'"\\ud83d"', b"\xff", b" ", b"#\n"]),
    st.binary(max_size=4),
)
files = st.lists(chunks, max_size=12).map(b"".join)


@given(files)
def test_whatever_the_bytes_reading_gives_objects_and_raises_nothing(data):
    lines = Lines()

    records = read(data, lines)

    assert all(type(record) is dict for record in records)
    assert 0 <= lines.offset <= len(data)
    assert lines.line_no <= data.count(b"\n")


@given(files, st.lists(st.integers(0, 200), max_size=6))
def test_reading_a_growing_file_gives_what_reading_it_at_once_gives(data, cuts):
    """What makes a cursor safe to go on from, wherever the writer was when we looked. Compared when the last
    line is finished: until then a second record on it waits, or does not, for what comes behind it.
    """
    data += b"\n"
    whole = Lines()
    expected = read(data, whole)
    grown, records = Lines(), []

    for cut in [*sorted(cut for cut in cuts if cut < len(data)), len(data)]:
        records += read(data[:cut], grown)

    assert records == expected
    assert (grown.offset, grown.line_no) == (whole.offset, whole.line_no) == (len(data), data.count(b"\n"))
