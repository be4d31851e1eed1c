"""The smallest change in a JSON text: what is not ours keeps every byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.hooks import json_edit

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), KEYS
)
VALUES = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3),
    max_leaves=10,
)
ADDED = {"hooks": [{"type": "command", "command": "say 'é'", "timeout": 10}]}


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A document as people write it: comments, trailing commas, tabs, any spread, CRLF."""
    value = draw(st.dictionaries(KEYS, VALUES, max_size=3))
    hooks = draw(st.sampled_from(["none", "empty", "event", "full"]))
    if hooks != "none":
        other = draw(VALUES)
        value["hooks"] = {
            "empty": {},
            "event": {"Other": [other], "Stop": []},
            "full": {"Stop": [other, {"hooks": []}]},
        }[hooks]
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    unit = draw(st.sampled_from(["  ", "    ", "\t"]))
    spread_all = draw(st.booleans())
    remarks = draw(st.booleans())

    def remark() -> str:
        return draw(st.sampled_from(["", "", " /* kept, {[ */"])) if remarks else ""

    def rendered(value: object, depth: int) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if not value:
            return opening + remark() + draw(st.sampled_from(["", " "])) + closing
        items = [
            f"{json.dumps(key)}{draw(st.sampled_from(['', ' ']))}: {rendered(each, depth + 1)}"
            for key, each in (value.items() if isinstance(value, dict) else ())
        ] or [rendered(each, depth + 1) for each in value]
        trailing = draw(st.sampled_from(["", "", ","])) if remarks else ""
        if not (spread_all and (depth == 0 or draw(st.booleans()))):
            return f"{opening}{(',' + remark() + ' ').join(items)}{trailing}{remark()}{closing}"
        note = draw(st.sampled_from(["", " // kept"])) if remarks else ""
        inner = newline + unit * (depth + 1)
        return (
            f"{opening}{note}{inner}{(',' + note + inner).join(items)}{trailing}{note}"
            f"{newline}{unit * depth}{closing}"
        )

    head = draw(st.sampled_from(["", f"// kept{newline}"])) if remarks else ""
    return head + rendered(value, 0) + draw(st.sampled_from(["", newline]))


@given(documents())
def test_putting_in_and_taking_out_gives_the_same_text(text):
    """FC-H06: after both, the file is the one that was there, byte for byte."""
    path = ("hooks", "Stop")

    more = json_edit.append(text, path, ADDED)

    there = json_edit.find(json_edit.parse(more), path)
    assert there is not None
    assert there.value[-1] == ADDED
    position = (*path, len(there.value) - 1)
    assert json_edit.remove(more, position, keep=json_edit.empty_containers(text)) == text


@given(documents())
def test_what_is_added_is_all_that_is_added(text):
    """No key moves, no number is spelled anew, no comment goes: the old text is still there, in order."""
    more = json_edit.append(text, ("hooks", "Stop"), ADDED)

    expected = json_edit.parse(text).value
    expected.setdefault("hooks", {}).setdefault("Stop", []).append(ADDED)
    assert json_edit.parse(more).value == expected
    rest = iter(more)
    assert all(char in rest for char in text)


@given(documents())
def test_a_value_is_replaced_where_it_stands(text):
    """What stands before and behind is untouched."""
    more = json_edit.append(text, ("hooks", "Stop"), ADDED)
    at = ("hooks", "Stop", len(json_edit.parse(more).value["hooks"]["Stop"]) - 1, "hooks", 0)

    changed = json_edit.replace(more, at, {"command": "other"})

    assert json_edit.find(json_edit.parse(changed), at).value == {"command": "other"}
    node = json_edit.find(json_edit.parse(more), at)
    assert changed.startswith(more[: node.begin])
    assert changed.endswith(more[node.end :])


@given(st.text('{}[],:"\\/*ab1-.e \n\r\té', max_size=30))
def test_a_text_is_read_or_refused_with_its_place(text):
    """Whatever it is: no other exception, and a line and column that exist."""
    try:
        json_edit.parse(text)
    except json_edit.NotJson as error:
        place = (error.line, error.column)
    else:
        place = (1, 1)

    assert (1, 1) <= place <= (text.count("\n") + 1, len(text) + 1)


@given(VALUES)
def test_plain_json_is_read_as_the_standard_library_reads_it(value):
    """Comments and trailing commas are all that we read beyond it."""
    assert json_edit.parse(json.dumps(value, indent=1)).value == value


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ('{"a": 1', 1, 8),
        ('{"a": 1,\n "b" 2}', 2, 6),
        ('{"a": tru}', 1, 7),
        ("{'a': 1}", 1, 2),
        ('{"a": 1}\n}', 2, 1),
        ('{"a": 01}', 1, 7),
        ('{"a": "\t"}', 1, 7),
        ("[1,,2]", 1, 4),
        ("[" * 500, 1, 102),
        ("[" + "9" * 5000 + "]", 1, 2),
    ],
)
def test_a_broken_file_is_told_by_line_and_column(text, line, column):
    """So that an editor can jump there."""
    with pytest.raises(json_edit.NotJson) as refused:
        json_edit.parse(text)

    assert (refused.value.line, refused.value.column) == (line, column)


def test_a_comment_stays_with_what_it_is_about():
    """The remark behind the last value is not pushed to ours."""
    text = '{\n  "a": 1 // about a\n}\n'

    more = json_edit.put(text, ("b",), 2)

    assert more == '{\n  "a": 1, // about a\n  "b": 2\n}\n'
    assert json_edit.remove(more, ("b",)) == text


def test_containers_that_hold_a_comment_are_not_taken_out():
    """They were somebody's."""
    text = '{\n  "hooks": {\n    // mine\n    "Stop": [\n      1\n    ]\n  }\n}\n'

    assert "// mine" in json_edit.remove(text, ("hooks", "Stop", 0))


@pytest.mark.parametrize("text", ["[]", '{"hooks": 1}', '{"hooks": {"Stop": {}}}', "1"])
def test_another_shape_is_refused(text):
    """Where a list or an object should be and something else is, nothing of it is overwritten."""
    with pytest.raises(json_edit.NotJson):
        json_edit.append(text, ("hooks", "Stop"), ADDED)
