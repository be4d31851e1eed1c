"""What may stand in a code span as it is."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.projections import markdown

plain = st.text(alphabet="aZ09~/._:@+=,-' ", max_size=305)
anything = st.one_of(plain, st.text(max_size=8), plain.map(lambda text: f"{text}\n"))


@given(anything)
def test_a_word_and_a_command_are_of_these_characters_alone(text):
    """Whatever else there is could leave the code span, or hide in it."""
    word = re.fullmatch(r"[A-Za-z0-9~/._][A-Za-z0-9~/._:@+=,-]{0,199}", text)
    command = re.fullmatch(r"[A-Za-z0-9~/._][A-Za-z0-9~/._:@+=,' -]{0,299}", text)

    assert bool(word) == markdown._is_made_of(markdown._TOKEN, text, longest=200)
    assert bool(command) == markdown._is_made_of(markdown._COMMAND, text, longest=300)
