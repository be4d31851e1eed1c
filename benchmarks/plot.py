"""Draw what commands cost by the size of the log: plot.py RESULTS.json OUT.svg

RESULTS.json is what `run.py --json` wrote. Both axes are logarithmic: a flat line means that the size of the
log does not matter, a line rising one decade a decade that all of it is read.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import msgspec

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 50
COLOURS = ("#0b6e99", "#b3452c", "#3d7a37", "#7a4fa3", "#8a6d1d", "#555555")
FONT = "font-family='system-ui,sans-serif' font-size='12'"
LABEL_GAP = 15  # pixels between two labels, at least


def drawn(curve: dict[str, Any]) -> str:
    """The SVG of one curve."""
    events = curve["events"]
    lines = {
        name: [1000 * cost["cpu"] for cost in costs] for name, costs in sorted(curve["commands"].items())
    }
    bare = 1000 * curve["bare_s"]
    low, high = math.floor(math.log10(bare)), math.ceil(math.log10(max(map(max, lines.values()))))
    first, last = math.log10(events[0]), math.log10(events[-1])

    def x(size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(size) - first) / (last - first)

    def y(milliseconds: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(milliseconds) - low) / (high - low)

    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' {FONT}>",
        "<title>CPU time of commands by events in the log</title>",
        f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
    ]
    for decade in range(low, high + 1):
        at = y(10**decade)
        parts.append(f"<path d='M{LEFT} {at:.1f}H{WIDTH - RIGHT}' stroke='#ddd'/>")
        parts.append(_text(LEFT - 8, at + 4, _duration(10**decade), anchor="end"))
    for size in events:
        parts.append(f"<path d='M{x(size):.1f} {TOP}V{HEIGHT - BOTTOM}' stroke='#eee'/>")
        parts.append(_text(x(size), HEIGHT - BOTTOM + 18, f"{size:,}", anchor="middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "events in the log", anchor="middle"))
    parts.append(_text(LEFT, 18, "CPU time", anchor="middle"))
    parts.append(f"<path d='M{LEFT} {y(bare):.1f}H{WIDTH - RIGHT}' stroke='#999' stroke-dasharray='4 3'/>")
    labels = [(y(bare), "interpreter alone", "#777777")]
    for (name, values), colour in zip(lines.items(), COLOURS, strict=False):
        points = [(x(size), y(value)) for size, value in zip(events, values, strict=True)]
        path = " L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        parts.append(f"<path d='M{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{px:.1f}' cy='{py:.1f}' r='3' fill='{colour}'/>" for px, py in points]
        labels.append((points[-1][1], f"{name}, {_duration(values[-1])}", colour))
    at = -math.inf
    for wanted, words, colour in sorted(labels):
        at = max(wanted, at + LABEL_GAP)
        parts.append(_text(WIDTH - RIGHT + 10, at + 4, words, colour=colour))
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, *, anchor: str = "start", colour: str = "#333333") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{colour}'>{words}</text>"


def _duration(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3g} s" if milliseconds >= 1000 else f"{milliseconds:.3g} ms"


def main() -> None:
    """The command line."""
    source, target = map(Path, sys.argv[1:])
    target.write_text(drawn(msgspec.json.decode(source.read_bytes())["curve"]), "utf-8")


if __name__ == "__main__":
    main()
