"""Qwen Code: speaks OpenAI Chat Completions; everything is set by variables."""

from __future__ import annotations

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL


class QwenCode(Agent):
    """`qwen -p`. A project's hooks run without any word of trust."""

    name = "qwen-code"
    settings = (".qwen/settings.json", '{\r\n  "ui": { "hideTips": true },\r\n  "$version": 4\r\n}')
    injects = False  # there is no start of a session without a terminal

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
