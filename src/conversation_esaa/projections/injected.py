"""Our own handoff inside somebody's prompt: how it is marked, and how it is taken out again.

A hook puts the handoff into an agent's context, and some agents log it as if the user had typed it. If
that came back as a turn, the next handoff would quote this one, and so on for ever. So every handoff
stands between two markers of plain characters (no quoting on the way changes them), the end repeats the
position of the begin, and capture takes out exactly such blocks. Quoted text cannot carry a marker:
`text.quote` and `text.inline` break it.
"""

from __future__ import annotations

import re

from conversation_esaa.patterns import lazy

BEGIN = "[conversation-esaa handoff begin seq="
END = "[conversation-esaa handoff end seq="

_BEGINS = lazy(re.escape(BEGIN) + r"([0-9]{1,16})[^\]\n]{0,100}\]")
_ENDS = lazy(re.escape(END) + r"([0-9]{1,16})\]")


def begin_line(seq: int, head_hash: str) -> str:
    """The first line of a handoff: it also says what the handoff was built from."""
    return f"{BEGIN}{seq} hash={head_hash[:12] or 'none'}]"


def end_line(seq: int) -> str:
    """The last line of a handoff."""
    return f"{END}{seq}]"


def without_injected(text: str) -> str:
    """`text` without the handoffs in it, trimmed where one was cut out; "" when there was nothing else.

    A block is a begin marker up to the first end marker with the same position. A begin without its end
    stays: a person's words after it weigh more than a handoff that some agent cut short. Text without a
    block comes back as it is. One pass, whatever the number of markers.
    """
    if BEGIN not in text:
        return text
    ends: dict[str, list[re.Match[str]]] = {}
    for end in _ENDS.finditer(text):
        ends.setdefault(end[1], []).append(end)
    for found in ends.values():
        found.reverse()  # the nearest is popped first
    kept: list[str] = []
    done = 0
    for begin in _BEGINS.finditer(text):
        if begin.start() < done:
            continue  # inside the block before
        own_ends = ends.get(begin[1], [])
        while own_ends and own_ends[-1].start() < begin.end():
            own_ends.pop()
        if own_ends:
            kept.append(text[done : begin.start()])
            done = own_ends[-1].end()
    if not done:
        return text
    kept.append(text[done:])
    return "\n\n".join(part for part in map(str.strip, kept) if part)
