"""Cline for VS Code before it shared its sessions with the CLI: a folder a task.

Format and how far it is known: docs/reference/agents/cline-roo-kilo.md.
"""

from __future__ import annotations

from conversation_esaa.agents import editors
from conversation_esaa.agents.task_folders import KNOWN_INVISIBLE, State, TaskFolders
from conversation_esaa.ids import AgentId

__all__ = ["KNOWN_INVISIBLE", "State"]

NAME = AgentId("cline-vscode")
TITLE = "Cline (VS Code)"

_FORMAT = TaskFolders(
    NAME, "saoudrizwan.claude-dev", index=("state/taskHistory.json",), others=(".cline/data",)
)

home = editors.home
is_there, session_files = _FORMAT.is_there, _FORMAT.session_files
open_session, read = _FORMAT.open_session, _FORMAT.read
