"""Factory droid: speaks OpenAI Chat Completions to a model of the user's own, in `~/.factory/settings.json`."""

from __future__ import annotations

import json

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class Droid(Agent):
    """`droid exec`. Without an account it does not go on with a session, but it goes on in a fork of one."""

    name = "droid"
    settings = (
        ".factory/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n',
    )

    def configure(self) -> None:
        model = {
            "model": MODEL,
            "displayName": "Stub",
            "baseUrl": f"{self.stub.url}/v1",
            "apiKey": "stub",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 4096,
        }
        self.write(".factory/settings.json", json.dumps({"customModels": [model]}, indent=2))

    def environ(self) -> dict[str, str]:
        return {
            "FACTORY_AIRGAP_ENABLED": "true",
            "FACTORY_API_BASE_URL": self.stub.url,
            "FACTORY_DISABLE_DYNAMIC_CONFIG": "true",
            "FACTORY_DISABLE_KEYRING": "true",
            "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        back = ["--fork", self._last()] if goes_on else []
        return ["exec", "--model", "custom:Stub-0", "--auto", "high", *back, prompt]

    def _last(self) -> str:
        sessions = (self.world.home / ".factory" / "sessions").rglob("*.jsonl")
        return max(sessions, key=lambda file: file.stat().st_mtime_ns).stem
