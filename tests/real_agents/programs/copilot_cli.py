"""GitHub Copilot CLI: speaks OpenAI Chat Completions to a provider of the user's own; everything is set by variables."""

from __future__ import annotations

import json

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class CopilotCli(Agent):
    """`copilot -p`. Hooks of a repository run in a trusted folder only; which are, is in its configuration."""

    name = "copilot-cli"
    settings = (
        ".github/hooks/own.json",
        '{"version": 1, "hooks": {"agentStop": [{"type": "command", "bash": "true"}]}}\n',
    )

    def configure(self) -> None:
        self.write(".copilot/config.json", json.dumps({"trusted_folders": [str(self.world.project)]}))

    def environ(self) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{self.stub.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "stub",
            "COPILOT_MODEL": MODEL,
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        return ["--allow-all", *(["--continue"] if goes_on else []), "-p", prompt]
