"""Kimi Code: speaks OpenAI Chat Completions to a provider of the user's own, in `~/.kimi-code/config.toml`."""

from __future__ import annotations

from real_agents.programs.agent import Agent
from real_agents.stub.server import MODEL

CONFIG = """\
default_model = "stub"
telemetry = false
[providers.stub]
type = "kimi"
base_url = "{url}/v1"
api_key = "stub"
[models.stub]
provider = "stub"
model = "{model}"
max_context_size = 262144
capabilities = ["thinking", "tool_use"]

[[hooks]]
event = "Stop"
command = "true"  # somebody's own
"""


class KimiCode(Agent):
    """`kimi -p`. Its hooks are the user's; there are none of a project."""

    name = "kimi-code"
    scope = "user"
    settings = (".kimi-code/config.toml", CONFIG)
    injects = False

    def configure(self) -> None:
        path, content = self.settings
        self.write(path, content.format(url=self.stub.url, model=MODEL))

    def environ(self) -> dict[str, str]:
        return {"KIMI_CODE_NO_AUTO_UPDATE": "1"}

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        return [*(["--continue"] if goes_on else []), "--prompt", prompt]
