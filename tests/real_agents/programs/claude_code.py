"""Claude Code: speaks Anthropic Messages; everything is set by variables."""

from __future__ import annotations

from real_agents.programs.agent import Agent


class ClaudeCode(Agent):
    """`claude -p`. Hooks of a project need no word of trust without a terminal."""

    name = "claude-code"
    settings = (
        ".claude/settings.local.json",
        '{\n\t"permissions": {"deny": ["WebSearch"]},\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    )

    def environ(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.stub.url,
            "ANTHROPIC_API_KEY": "sk-ant-stub-0000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "IS_SANDBOX": "1",  # else it refuses to skip permissions as root
        }

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        return ["-p", "--dangerously-skip-permissions", *(["--continue"] if goes_on else []), prompt]
