"""Kilo Code for VS Code before 7: a folder a task. Later versions keep their sessions with the Kilo CLI.

Format and how far it is known: docs/reference/agents/cline-roo-kilo.md.
"""

from __future__ import annotations

from conversation_esaa.agents import editors
from conversation_esaa.agents.task_folders import KNOWN_INVISIBLE, State, TaskFolders
from conversation_esaa.ids import AgentId

__all__ = ["KNOWN_INVISIBLE", "State"]

NAME = AgentId("kilo-code")
TITLE = "Kilo Code"

_FORMAT = TaskFolders(NAME, "kilocode.kilo-code", index=("tasks/_index.json",))

home = editors.home
is_there, session_files = _FORMAT.is_there, _FORMAT.session_files
open_session, read = _FORMAT.open_session, _FORMAT.read
