"""Agents that other packages add: the entry points of `conversation_esaa.agents`.

    [project.entry-points."conversation_esaa.agents"]
    my-agent = "my_package.my_agent"

Found by what installers leave beside every package. `importlib.metadata` would tell the same, and importing it
costs as much as half of a capture with nothing new. docs/how-to/add-an-agent.md says what the module offers.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from typing import TYPE_CHECKING

from conversation_esaa.ids import AgentId
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GROUP = "conversation_esaa.agents"

_NAME = lazy(r"[a-z0-9][a-z0-9._-]{0,63}")
_MODULE = lazy(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_METADATA = (".dist-info", ".egg-info")
_SITES = ("site-packages", "dist-packages")


@cache
def installed() -> dict[AgentId, str]:
    """Agent → module, of every package that can be imported now, by name. Looked for once.

    A name that two packages claim belongs to the first on the path. What is no name, or no module, is passed
    over. Costs a listing of each directory that packages are imported from.
    """
    return declared(places())


def places() -> list[str]:
    """The directories whose names decide what is installed: those that installers put packages into."""
    return [path for path in dict.fromkeys(sys.path) if os.path.basename(path) in _SITES]


def declared(paths: Iterable[str]) -> dict[AgentId, str]:
    """Agent → module, as the packages in these directories declare them."""
    found: dict[AgentId, str] = {}
    for file in _files(paths):
        for name, module in _entries(file):
            found.setdefault(AgentId(name), module)
    return dict(sorted(found.items()))


def _files(paths: Iterable[str]) -> Iterator[str]:
    for path in dict.fromkeys(paths):
        try:
            names = sorted(name for name in os.listdir(path) if name.endswith(_METADATA))
        except OSError:
            continue  # an archive, or not there
        yield from (os.path.join(path, name, "entry_points.txt") for name in names)


def _entries(path: str) -> list[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    except OSError:
        return []
    if GROUP not in text:
        return []
    found, ours = [], False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            ours = line == f"[{GROUP}]"
        elif ours and line[:1] not in ("", "#", ";"):
            name, _, module = (side.strip() for side in line.partition("="))
            if _NAME.fullmatch(name) and _MODULE.fullmatch(module):
                found.append((name, module))
    return found
