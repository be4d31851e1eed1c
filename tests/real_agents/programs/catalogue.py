"""All programs by the names that the product has for their agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from real_agents.programs.claude_code import ClaudeCode
from real_agents.programs.codex import Codex
from real_agents.programs.copilot_cli import CopilotCli
from real_agents.programs.droid import Droid
from real_agents.programs.gemini_cli import GeminiCli
from real_agents.programs.grok import Grok
from real_agents.programs.kimi_code import KimiCode
from real_agents.programs.opencode import OpenCode
from real_agents.programs.pi import Pi
from real_agents.programs.qwen_code import QwenCode

if TYPE_CHECKING:
    from real_agents.programs.agent import Agent

AGENTS: dict[str, type[Agent]] = {
    kind.name: kind
    for kind in (
        ClaudeCode,
        Codex,
        CopilotCli,
        Droid,
        GeminiCli,
        Grok,
        KimiCode,
        OpenCode,
        Pi,
        QwenCode,
    )
}
