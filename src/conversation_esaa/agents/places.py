"""Directories as agents state them, and which of them may have to do with a workspace: a coarse look, for discovery.

What is asked here only saves reading; the gate judges each turn later. So case does not count, nor the form
of Unicode, nor the kind and number of separators at the end, and a link is followed.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote

from conversation_esaa.agents.listing import real_path
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_DRIVE, _URL = lazy(r"/[A-Za-z]:(?:/|$)"), lazy(r"[a-z][a-z0-9+.-]+://")
_DISTRIBUTIONS = ("//wsl$/", "//wsl/")  # other names of `//wsl.localhost/`


class Wanted:
    """The roots of a workspace, to compare recorded directories with; each directory is looked at once."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = {comparable(root) for root in roots}
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
        path = comparable(place)
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


def comparable(path: str) -> str:
    """One spelling for comparing: case and the form of Unicode do not count, nor the kind of separators."""
    text = unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()
    for name in _DISTRIBUTIONS:
        if text.startswith(name):
            return f"//wsl.localhost/{text.removeprefix(name)}"
    return text


def path_of(uri: str) -> str:
    """The path that a `file:` URL or a path states; "" for a URL of another kind."""
    if uri.startswith("file://"):
        path = unquote(uri.removeprefix("file://"))
        return without_surrogates(path[1:] if _DRIVE.match(path) else path)
    return "" if _URL.match(uri) else without_surrogates(uri)


def related(paths: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Those of `paths` that are a root, or lie in one or above one. A coarse look: the gate judges later."""
    wanted = [comparable(root) for root in roots]
    return [path for path in paths if any(_touches(comparable(path), root) for root in wanted)]


def letters(path: str) -> str:
    """Letters and digits alone: a folder's name keeps them in their order, and the rest may have changed."""
    folded = unicodedata.normalize("NFC", path).casefold()
    return "".join(letter for letter in folded if letter.isascii() and letter.isalnum())


def _touches(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/") or root.startswith(f"{path}/")
