"""Grok: speaks OpenAI Chat Completions, and takes its list of models from the stub."""

from __future__ import annotations

from real_agents.programs.agent import Agent


class Grok(Agent):
    """`grok -p`.

    It reads a project's hooks when the folder is trusted, for which `--trust` is the word, and is in a git
    repository; outside of one it runs them not at all, and does not say so.
    """

    name = "grok"
    settings = (
        ".grok/hooks/own.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n',
    )
    injects = False

    def environ(self) -> dict[str, str]:
        return {
            "XAI_API_KEY": "xai-stub",
            "GROK_XAI_API_BASE_URL": f"{self.stub.url}/v1",
            "GROK_MODELS_BASE_URL": f"{self.stub.url}/v1",
            "GROK_TELEMETRY_ENABLED": "0",
            "GROK_DISABLE_AUTOUPDATER": "1",
            "GROK_MANAGED_CONFIG": "0",
            "DISABLE_TELEMETRY": "1",
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        return ["--always-approve", "--trust", *(["--continue"] if goes_on else []), "-p", prompt]
