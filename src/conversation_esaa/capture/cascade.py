"""What Cascade said, out of the Markdown that its hook hands over: that tells its steps as well. Pure.

    ### Planner Response            what follows was said

    *Viewed [file](file:///…) *     a step: one emphasised paragraph each, a command in it over several lines

The form is that of Windsurf's own export of a conversation. What a step did is none of our business, so in doubt a
paragraph that is emphasised as a whole is left out. Inside of code fences nothing is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = "### Planner Response"
_FENCES = ("```", "~~~")


def spoken(response: str) -> str:
    """The words of an answer without headings and steps; "" when it holds nothing else."""
    kept: list[str] = []
    gap = True  # something was left out, and one empty line is there for it
    for line in _said(response.replace("\r\n", "\n").split("\n")):
        if line is None:
            gap = True
        elif line.strip() or not gap:
            kept.append(line)
            gap = False
    return "\n".join(kept).strip("\n")


def _said(lines: list[str]) -> Iterator[str | None]:
    """Each line that was said, and None where one was left out."""
    fence = ""  # the marks that close the one we are in
    in_step = False
    for at, line in enumerate(lines):
        ends = at + 1 == len(lines) or not lines[at + 1].strip()
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            yield line
        elif line.strip() == _HEADING:
            in_step = False
            yield None
        elif in_step:
            in_step = not (ends and line.rstrip().endswith("*"))
            yield None
        elif _begins_a_step(line) and (at == 0 or not lines[at - 1].strip()):
            whole = ends and line.rstrip().endswith("*")
            in_step = not whole and line.count("`") % 2 == 1
            yield None if whole or in_step else line
        else:
            mark = line.lstrip()[:3]
            if mark in _FENCES:
                marks = line.lstrip()
                fence = marks[: len(marks) - len(marks.lstrip(mark[0]))]
            yield line


def _begins_a_step(line: str) -> bool:
    """Emphasis at the very beginning: no item of a list, nothing bold."""
    return len(line) > 2 and line[0] == "*" and line[1] not in "* \t"
