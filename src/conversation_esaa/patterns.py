"""Regular expressions that are compiled when they are first needed.

A short command meets few of them, and compiling all would cost it more than its work.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub", "subn")


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, and nothing is compiled until something is looked for.

    A mistake in `source` shows only then. For the pattern itself (`source + other.pattern`) nothing is compiled.
    """
    return cast("re.Pattern[str]", _Lazy(source, flags))


class _Lazy:
    """After the first use its methods are those of the compiled pattern, at no further cost."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern, self.flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(self, name)
