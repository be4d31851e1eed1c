"""config.toml is TOML, by whichever of the two ways it is read."""

from __future__ import annotations

import contextlib
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversation_esaa import settings
from conversation_esaa.settings import BadSettings, Settings, new_config, parse

KEYS = ["schema", "workspace_id", "replica_id", "root", "roots", "former_roots", "capture", "exclude_agents"]
VALUES = [
    *("1", "-1", "0", "-0", "+1", "01", "1_000", "1.5", "1e3", "0x1F", "true", "null", "nan", "2026-03-01"),
    *('"/a"', '"/a b=c"', '"#"', "'/a'", '"""/a"""', r'"C:\\a"', r'"\u00e9"', '"é"', '"\x7f"', '"/a'),
    *("[]", '["/a", "/b"]', '["/a",]', '["/a", 1]', "[1]", '[["/a"]]', '["/a", null]', "{}", '{"a": 1}', ""),
]
LINES = st.one_of(
    st.builds(
        "{}{}={}{}{}".format,
        st.sampled_from([*KEYS, "root.b", '"root"', "other", ""]),
        st.sampled_from(["", " ", "\t", "\u00a0"]),
        st.sampled_from(["", " ", "\t"]),
        st.sampled_from(VALUES) | st.text(max_size=6),
        st.sampled_from(["", " ", " # why", "\r", "\f"]),
    ),
    st.sampled_from(
        ["", "  ", "# a comment", "#\ttab", "#\x01", "[capture]", "[ capture ]", "[other]", "[[capture]]"]
    ),
    st.text(max_size=8),
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@given(TEXTS)
@example("\r")
@example("root = 1\nroot = 2")
@example('[capture]\nexclude_agents = ["grok"]\n[capture]')
def test_the_short_way_to_read_a_plain_file_gives_what_toml_gives(text):
    """Every command reads the file, so it must not wait for a parser that few files need."""
    short = settings._plain_table(text)

    if short is not None:
        assert short == tomllib.loads(text)


def test_the_file_that_we_write_is_plain():
    """The short way is the one that is taken, but for paths that need an escape."""
    text = new_config(workspace_id="ab", replica_id="cd", root="/home/dev/my project")

    assert settings._plain_table(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "root", ["/home/dev/é", 'C:\\Users\\dev\\"x"', "/tab\there", "/a\x7fb", "//share/ü", "/x\u2028y"]
)
def test_any_path_that_was_written_is_read_again(root):
    """Backslashes, quotes and controls are spelled as both readers take them."""
    assert parse(new_config(workspace_id="a", replica_id="b", root=root).encode(), where="f").root == root


@given(st.binary(max_size=60) | TEXTS.map(lambda text: text.encode("utf-8", "replace")))
def test_whatever_is_in_the_file_gives_settings_or_an_error_that_says_why(content):
    """A person may have written anything."""
    with contextlib.suppress(BadSettings):
        assert isinstance(parse(content, where="config.toml"), Settings)
