"""Gemini CLI: speaks Gemini's own protocol; the way to sign in is in its settings, the rest in variables."""

from __future__ import annotations

import json

from real_agents.programs.agent import Agent

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}


class GeminiCli(Agent):
    """`gemini -p`. A project's hooks run in a trusted folder only; a variable says that it is one."""

    name = "gemini-cli"
    settings = (".gemini/settings.json", '{\n  // kept short\n  "ui": {"hideTips": true}\n}\n')

    def configure(self) -> None:
        self.write(".gemini/settings.json", json.dumps(SETTINGS, indent=2))

    def environ(self) -> dict[str, str]:
        return {
            "GEMINI_API_KEY": "stub",
            "GOOGLE_GEMINI_BASE_URL": self.stub.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        back = ["--resume", "latest"] if goes_on else []
        return ["--yolo", "--model", "gemini-2.5-pro", *back, "--prompt", prompt]
