"""A made-up conversation of three agents about a made-up tool, as the agents themselves would leave it.

`home/` holds the native logs of Claude Code, Codex and Grok in their real formats, reasoning and tool
calls included, and a session of another project, so that what must stay out has something to try. The
place of the project is filled in when the logs are laid out; so is a token that never was one, put
together here so that no scanner takes this package for a leak.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from conversation_esaa.agents.claude_code_files import munge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_TOKEN = "gh" + "p_" + "aB3dE6gH9jK2" + "mN5pQ8sT1vW4" + "yZ7cD0fG3hJ6"


def native_logs(workspace: str) -> Iterator[tuple[str, str]]:
    """Each file as (path below a home directory, with `/`; its text), sorted by path.

    workspace   the absolute path of the project that they talk about, symbolic links resolved.
    """
    names = {"__WORKSPACE_DASHED__": munge(workspace), "__WORKSPACE_PERCENT__": quote(workspace, safe="")}
    words = {"__WORKSPACE__": json.dumps(workspace)[1:-1], "__SECRET__": _TOKEN}
    for path, file in sorted(_walk("", files(__name__) / "home")):
        yield _filled(path.replace("dot-", ".", 1), names), _filled(file.read_text("utf-8"), words)


def _walk(path: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        below = f"{path}/{entry.name}" if path else entry.name
        if entry.is_dir():
            yield from _walk(below, entry)
        else:
            yield below, entry


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text
