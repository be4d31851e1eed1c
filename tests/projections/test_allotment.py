"""Who gets room: first come by the plan, nothing overtaken, everything counted."""

from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.projections.allotment import Grant, Section, allot
from conversation_esaa.text import tokens


def section(key, *items):
    return Section(key, f"## {key}\n", items, lambda left_out: f"- {left_out} of {key}\n")


def test_with_enough_room_everything_is_shown_in_full():
    """The rule of any budget: it only takes away when it has to."""
    one, two = allot(
        [section("a", ("short\n", "much longer\n")), section("b", ("x\n",))],
        [Grant("a", 1, 0), Grant("b", 9, 5), Grant("a", 9, 5)],
        1000,
    )

    assert one.text == "## a\nmuch longer\n"
    assert two.text == "## b\nx\n"
    assert (one.left_out, two.left_out) == (0, 0)


def test_short_forms_of_the_first_come_before_long_forms_of_any():
    """Ten titles are worth more than one title with its reasons, when the plan says so."""
    items = [
        (f"title {n}\n", f"title {n} with everything that there is to say about it\n") for n in range(10)
    ]
    plan = [Grant("a", 10, 0), Grant("a", 10, 1)]

    [got] = allot([section("a", *items)], plan, 60)

    assert got.left_out == 0
    assert got.sizes == sorted(got.sizes, reverse=True)


def test_a_section_without_room_has_no_heading():
    """An empty heading would read as if there were nothing."""
    [got] = allot([section("a", ("a very long line that does not fit at all\n",))], [Grant("a", 1, 0)], 12)

    assert (got.text, got.left_out) == ("", 1)


@given(
    st.lists(st.lists(st.text(max_size=60), min_size=1, max_size=3), max_size=8),
    st.lists(st.lists(st.text(max_size=60), min_size=1, max_size=3), max_size=8),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.integers(0, 3)), max_size=8),
    st.integers(0, 400),
)
def test_the_room_is_never_exceeded_whatever_the_texts(first, second, plan, room):
    """Unless the counts alone need more."""
    sections = [section("a", *first), section("b", *second)]

    got = allot(sections, [Grant(*step) for step in plan], room)

    rests = "".join(g.section.rest(g.left_out) for g in got if g.left_out)
    whole = "".join(g.text for g in got) + rests
    counts = sum(tokens(s.rest(len(s.items))) for s in sections if s.items)
    assert tokens(whole) <= max(room, counts)
    assert all(len(g.sizes) + g.left_out == len(g.section.items) for g in got)


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=12), st.integers(0, 200))
def test_what_is_shown_are_the_first_items(texts, room):
    """The least important end goes first: a later item never overtakes an earlier one."""
    [got] = allot([section("a", *((text,) for text in texts))], [Grant("a", 99, 0)], room)

    assert got.text in ("", "## a\n" + "".join(texts[: len(got.sizes)]))
