"""Modules that are loaded when something of them is used, where most commands use nothing of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


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

    def functions(self, *names: str) -> list[Callable[..., Any]]:
        """Functions of the module, for whoever offers them as its own; the first call loads it."""
        return [self._function(name) for name in names]

    def _function(self, name: str) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            return getattr(self, name)(*args, **kwargs)

        return called
