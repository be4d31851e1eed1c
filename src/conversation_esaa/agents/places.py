"""Which recorded directories may lie in a workspace: a coarse look, for discovery.

What is asked here only saves reading; the gate judges each turn later. So case does not count, nor the form
of Unicode, nor the kind and number of separators at the end, and a link is followed.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

from conversation_esaa.agents.listing import real_path
from conversation_esaa.canonical import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable

_DISTRIBUTIONS = ("//wsl$/", "//wsl/")  # other names of `//wsl.localhost/`


class Wanted:
    """The roots of a workspace, to compare recorded directories with; each directory is looked at once."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = {_comparable(root) for root in roots}
        self._known: dict[str, bool] = {}

    def holds(self, place: str) -> bool:
        """Whether `place` may be a root or lie below one. Raises nothing."""
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = self._looks_held(place) or self._looks_held(real_path(place))
        return found

    def _looks_held(self, place: str) -> bool:
        if not place:
            return False
        path = _comparable(place)
        return any(path == root or path.startswith(f"{root}/") for root in self._roots)


def directory_of(uri: str) -> str:
    """A directory as text, from a path or a `file:` URL; the URL of another machine stays as it is.

    A folder of a WSL distribution, however it was opened, becomes its name on the network.
    """
    text = uri
    for remote in ("vscode-remote://wsl%2B", "vscode-remote://wsl+"):
        if uri.lower().startswith(remote.lower()):
            text = f"//wsl.localhost/{unquote(uri[len(remote) :])}"
    if uri.startswith("file://"):
        text = unquote(uri.removeprefix("file://"))
        if not text.startswith("/"):  # a host: //wsl.localhost/Ubuntu/home/…
            text = f"//{text}"
        elif text[2:3] == ":":  # /c:/Users/…
            text = text[1:]
    return without_surrogates(text)


def _comparable(path: str) -> str:
    text = unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()
    for name in _DISTRIBUTIONS:
        if text.startswith(name):
            return f"//wsl.localhost/{text.removeprefix(name)}"
    return text
