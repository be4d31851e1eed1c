"""Our own handoff, when it comes back to us in somebody's prompt."""

import re

from hypothesis import given
from hypothesis import strategies as st

from builders.logs import rich
from conversation_esaa.projections import catalogue, handoff
from conversation_esaa.projections.handoff import without_injected
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.text import inline, quote


def a_handoff(log=None):
    log = log or rich()
    return catalogue.render("handoff.md", catalogue.fold(log.entries), log.head)


def test_a_handoff_in_a_prompt_is_taken_out_and_the_prompt_stays():
    """FC-E07: what the hook put there was never said by anybody."""
    prompt = f"Good morning.\n\n{a_handoff()}\nGo on with the tides."

    assert without_injected(prompt) == "Good morning.\n\nGo on with the tides."


def test_a_prompt_that_is_nothing_but_a_handoff_is_empty():
    """FC-E07: such a record is no turn at all."""
    assert without_injected(a_handoff()) == ""


def test_text_without_a_handoff_comes_back_as_it_is():
    """Blanks included: a turn is verbatim."""
    for text in (
        "",
        "  plain \n",
        "[conversation-esaa] is a tool",
        "we talk about [conversation-esaa handoff begin",
    ):
        assert without_injected(text) is text


def test_a_handoff_that_was_cut_short_stays():
    """Where it ends cannot be told, and a person's words may follow."""
    cut = a_handoff()[:300] + "\n\nNow, please."

    assert without_injected(cut) == cut


def test_an_end_of_another_handoff_ends_nothing():
    """A block is a begin and the end of the same position."""
    text = f"{begin_line(7, 'ab')}\nsomething\n{end_line(8)}"

    assert without_injected(text) == text


def test_two_handoffs_are_taken_out_one_by_one():
    """What was said between them stays."""
    text = f"{begin_line(7, 'ab')}\nA\n{end_line(7)}\nhello\n{begin_line(7, 'ab')}\nB\n{end_line(7)}"

    assert without_injected(text) == "hello"


def test_many_begins_without_an_end_cost_one_pass():
    """A hostile log must not stop a sync; a nested search over this would take minutes."""
    text = "".join(begin_line(number, "ab") for number in range(50_000)) + end_line(50_001)

    assert without_injected(text) == text


def test_quoted_words_cannot_carry_our_markers():
    """Else a turn could cut the rest of a handoff away, or hide itself from the next capture."""
    for text in (begin_line(7, "ab"), end_line(7), "x\n" + end_line(29)):
        assert handoff.BEGIN not in quote(text)
        assert handoff.END not in quote(text)
        assert handoff.END not in inline(text)


def test_ten_rounds_of_injecting_and_capturing_leave_the_handoff_as_long_as_it_was():
    """FC-E07: also when capture does not take the block out. Only positions, counts and ids go on."""

    def shape(log):
        return re.sub(r"[0-9a-f]{12}|\d+ turns?|\d+", "0", a_handoff(log))

    log = rich()
    log.said("user", f"{a_handoff(log)}\nWhat next?", agent="grok", session="g-1")
    first = shape(log)

    for _ in range(10):
        log.said("user", a_handoff(log), agent="grok", session="g-1")
        log.said("user", f"{a_handoff(log)}\nWhat next?", agent="grok", session="g-1")

        assert shape(log) == first


@given(
    st.lists(
        st.sampled_from(["word ", "\n", begin_line(1, "a"), end_line(1), begin_line(2, ""), end_line(2)])
    )
)
def test_what_stands_outside_of_blocks_is_kept_whatever_the_markers(parts):
    """Words before the first begin and after the last end are somebody's, always."""
    text = "before " + "".join(parts) + " after"

    kept = without_injected(text)

    assert kept.startswith("before")
    assert kept.endswith("after")
