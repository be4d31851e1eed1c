"""OpenCode: speaks OpenAI Chat Completions to a provider of its own in `~/.config/opencode/opencode.json`."""

from __future__ import annotations

import json

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class OpenCode(Agent):
    """`opencode run`. Its hooks are a plugin, which needs no word of trust."""

    name = "opencode"
    settings = (".opencode/plugin/own.js", "export const Own = async () => ({})\n")
    leaves = frozenset({".opencode/.gitignore"})

    def configure(self) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Stub",
            "options": {"baseURL": f"{self.stub.url}/v1", "apiKey": "stub"},
            "models": {MODEL: {"name": "Stub"}},
        }
        config = {
            "model": f"stub/{MODEL}",
            "small_model": f"stub/{MODEL}",
            "provider": {"stub": provider},
            "autoupdate": False,
            "share": "disabled",
        }
        self.write(".config/opencode/opencode.json", json.dumps(config, indent=2))

    def environ(self) -> dict[str, str]:
        return {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # It would install some 3,600 files beside every configuration; the stub knows no packages.
            "npm_config_registry": self.stub.url,
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        return ["run", *(["--continue"] if goes_on else []), prompt]

    def typed(self, prompt: str) -> str:
        """An argument with a blank in it is kept with quotes around it."""
        return f'"{prompt}"'
