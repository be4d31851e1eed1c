"""Tables behind everything else in a TOML file, and out again."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.hooks import toml_edit

LINES = st.sampled_from(
    ["", "# mine", "[a]", "x = 1", '[[hooks]]\nevent = "other"', "  [b.c]  # mine", 'y = """\n[[hooks]]\n"""']
)
OURS = ['[[hooks]]\nevent = "Stop"\ncommand = "ours"', '[[hooks]]\nevent = "End"\ncommand = "ours"']


@given(st.lists(LINES, max_size=6), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 2))
def test_putting_behind_and_taking_out_gives_the_same_text(lines, newline, ends_open, count):
    """FC-H06, whatever the file ends with."""
    text = newline.join(lines).replace("\r\n", "\n").replace("\n", newline)
    text = text.rstrip("\r\n") if ends_open else text

    more = toml_edit.append(text, OURS[:count])

    assert more.startswith(text)
    assert more.count("ours") == count
    assert toml_edit.cut(more, lambda table: "ours" in table) == text


@given(st.lists(LINES, max_size=3), st.lists(st.sampled_from(["", "[z]", "z = 2", "# mine"]), max_size=3))
def test_what_was_written_behind_ours_stays(before, behind):
    """An agent appends its own tables."""
    text = "".join(f"{line}\n" for line in before)
    tail = "[q]\n" + "".join(f"{line}\n" for line in behind)

    more = toml_edit.append(text, OURS) + tail

    assert toml_edit.cut(more, lambda table: "ours" in table) == text + tail


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_string_is_read_back_as_it_was(text):
    """Quotes, backslashes, controls, what is no ASCII."""
    assert tomllib.loads(f"a = {toml_edit.quoted(text)}") == {"a": text}
