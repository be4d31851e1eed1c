"""Modules that are loaded when something of them is used, where most commands use nothing of them."""

from __future__ import annotations

import importlib
from typing import Any


class Later:
    """Stands for a module; the first attribute that is asked for loads it.

    if TYPE_CHECKING:
        from conversation_esaa.curation import tasks
    else:
        tasks = Later("conversation_esaa.curation.tasks")
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)
