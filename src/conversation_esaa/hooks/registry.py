"""The agents whose settings can be made to call us.

A table of strings, as that of the readers: one broken module breaks one agent. An agent may be in it that no reader
is for: of Windsurf the hooks tell all that was said.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from conversation_esaa.errors import UnknownName
from conversation_esaa.hooks import instructions
from conversation_esaa.ids import AgentId, agent_id

if TYPE_CHECKING:
    from conversation_esaa.hooks.surface import HookModule

MODULES = {
    AgentId("claude-code"): "conversation_esaa.hooks.claude_code",
    AgentId("codex"): "conversation_esaa.hooks.codex",
    AgentId("grok"): "conversation_esaa.hooks.grok",
    AgentId("antigravity"): "conversation_esaa.hooks.antigravity",
    AgentId("gemini-cli"): "conversation_esaa.hooks.gemini_cli",
    AgentId("qwen-code"): "conversation_esaa.hooks.qwen_code",
    AgentId("opencode"): "conversation_esaa.hooks.opencode",
    AgentId("cursor"): "conversation_esaa.hooks.cursor",
    AgentId("windsurf"): "conversation_esaa.hooks.windsurf",
    AgentId("copilot-cli"): "conversation_esaa.hooks.copilot_cli",
    AgentId("droid"): "conversation_esaa.hooks.droid",
    AgentId("kimi"): "conversation_esaa.hooks.kimi",
    AgentId("kimi-code"): "conversation_esaa.hooks.kimi_code",
    AgentId("pi"): "conversation_esaa.hooks.pi",
}


def module(name: AgentId) -> HookModule | None:
    """The module of one agent; None for one that has an instruction file and nothing else."""
    return cast("HookModule", importlib.import_module(MODULES[name])) if name in MODULES else None


def known(name: str) -> AgentId:
    """An agent's name as the tables have it. Raises UnknownName."""
    found = agent_id(name)
    if found not in MODULES and found not in instructions.FILES:
        names = tuple(dict.fromkeys((*MODULES, *instructions.FILES)))
        raise UnknownName("agent with hooks", name, known=names)
    return found
