"""Qwen Code: speaks OpenAI Chat Completions; everything is set by variables."""

from __future__ import annotations

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class QwenCode(Agent):
    """`qwen -p`. A project's hooks run without any word of trust.

    Without a terminal 0.15.10 had no event at the start of a session; 0.24.4 has. Settings without `$version` it
    rewrites, and keeps the old ones beside: what somebody had is then no longer there to be given back.
    """

    name = "qwen-code"
    settings = (".qwen/settings.json", '{\r\n  "ui": { "hideTips": true },\r\n  "$version": 4\r\n}')

    def environ(self) -> dict[str, str]:
        return {
            "OPENAI_API_KEY": "stub",
            "OPENAI_BASE_URL": f"{self.stub.url}/v1",
            "OPENAI_MODEL": MODEL,
            "QWEN_CODE_DISABLE_AUTOUPDATE": "1",
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        back = ["--continue"] if goes_on else []
        return ["--auth-type", "openai", "--yolo", *back, "--prompt", prompt]
