"""Codex: speaks OpenAI Responses; a provider of its own in `~/.codex/config.toml` leads to the stub."""

from __future__ import annotations

from real_agents.programs.agent import Agent

CONFIG = """\
model = "stub-model"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stub]
name = "Stub"
base_url = "{url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
"""


class Codex(Agent):
    """`codex exec`.

    It reads a project's hooks when the folder is trusted, and runs only hooks that somebody has looked at in the
    terminal; for one call, `--dangerously-bypass-hook-trust` stands for that look.
    """

    name = "codex"
    settings = (
        ".codex/hooks.json",
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n',
    )

    def configure(self) -> None:
        self.write(".codex/config.toml", CONFIG.format(url=self.stub.url))

    def environ(self) -> dict[str, str]:
        return {"STUB_KEY": "stub"}

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        looked_at = ["--dangerously-bypass-hook-trust", *([] if goes_on else ["--trust"])]
        return [
            "exec",
            "--skip-git-repo-check",
            *looked_at,
            *(["resume", "--last"] if goes_on else []),
            prompt,
        ]
