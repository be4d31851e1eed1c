"""pi: speaks OpenAI Chat Completions to a provider of the user's own, in `~/.pi/agent/models.json`."""

from __future__ import annotations

import json

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class Pi(Agent):
    """`pi -p`. Its hooks are an extension; those of a project are loaded in a trusted folder only, for which
    `--approve` is the word.
    """

    name = "pi"
    settings = (".pi/extensions/own.js", "export default function () {}\n")

    def configure(self) -> None:
        provider = {
            "baseUrl": f"{self.stub.url}/v1",
            "api": "openai-completions",
            "apiKey": "stub",
            "models": [{"id": MODEL, "reasoning": True}],
        }
        self.write(".pi/agent/models.json", json.dumps({"providers": {"stub": provider}}, indent=2))

    def environ(self) -> dict[str, str]:
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        back = ["--continue"] if goes_on else []
        return ["--provider", "stub", "--model", MODEL, "--approve", *back, "-p", prompt]
