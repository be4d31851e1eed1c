"""Cascade's answers: what was said, without the steps that the same Markdown tells."""

import pytest

from conversation_esaa.capture.cascade import spoken

HEADING = "### Planner Response\n\n"
COMMAND = "*User accepted the command `cat > a <<EOF\n\n*all*\nEOF`*"


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ("", ""),
        ("Done.", "Done."),
        ("### Planner Response\n\nDone.", "Done."),
        (
            f"{HEADING}I'll make it.\n\n*Created file `/srv/a.py`*\n\n{HEADING}It is there.",
            "I'll make it.\n\nIt is there.",
        ),
        (
            "*Viewed [a b.md](file:///srv/a%20b.md) *\n\n*Searched filesystem*\n\n### Planner Response\n\nTea.",
            "Tea.",
        ),
        ("*Edited relevant file*", ""),
        ("One.\r\n\r\n*Checked command status*\r\n\r\nTwo.", "One.\n\nTwo."),
        ("*User accepted the command `ls *.php`*\n\nTwo.", "Two."),
        (f"One.\n\n{COMMAND}\n\nTwo.", "One.\n\nTwo."),
        ("*User accepted the command `never ends\n\nls\n\n### Planner Response\n\nTwo.", "Two."),
    ],
)
def test_headings_and_steps_are_left_out(response, said):
    """The form of Windsurf's own export of a conversation; `response` in its documentation."""
    assert spoken(response) == said


@pytest.mark.parametrize(
    "text",
    [
        "* one\n* two *",
        "**Bold**",
        "*Note*: the port is 8080.",
        "It is *there*",
        "One,\n*two*\nthree.",
        "*args and **kwargs are names.",
        "### Changes\n\nNone.",
        "```md\n*Edited relevant file*\n\n### Planner Response\n```\n\nDone.",
        "~~~~\n~~~\n\n*kept*\n\n~~~~",
        "```\n\n*a fence that never ends*",
        "One.\n\n\n\nTwo.",
    ],
)
def test_what_was_said_keeps_its_markdown(text):
    """Lists, bold and emphasis within a sentence, code."""
    assert spoken(text) == text
