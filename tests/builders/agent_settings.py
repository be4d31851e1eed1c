"""What tests of agents' settings start from: an installation that does not exist, and files as people have them."""

from __future__ import annotations

from conversation_esaa.hooks.command import Program

HERE = Program(
    interpreter="/opt/My Proj (x86) & é'quote/bin/python",
    entry="/opt/My Proj (x86) & é'quote/lib/python3.13/site-packages/conversation_esaa/hooks/entry.py",
    windows=False,
)
MOVED = Program(
    interpreter="/home/dev/.local/bin/python3.14",
    entry="/home/dev/.local/lib/python3.14/site-packages/conversation_esaa/hooks/entry.py",
    windows=False,
)
ON_WINDOWS = Program(
    interpreter="C:\\My Proj (x86) & é'quote\\Scripts\\python.exe",
    entry="C:\\My Proj (x86) & é'quote\\Lib\\site-packages\\conversation_esaa\\hooks\\entry.py",
    windows=True,
)

# Somebody's Claude Code settings: hooks in the same events, permissions, comments, a key that is no ASCII.
FOREIGN = """\
{
  // my own
  "permissions": { "allow": ["Bash(ls:*)"], "deny": [] },
  "名前": "é",
  "env": {"N": 1.50},
  "hooks": {
    "Stop": [
      { "matcher": "x", "hooks": [ { "type": "command", "command": "say done", "timeout": 5 } ] },
    ],
    "PostToolUse": [{"matcher":"Edit","hooks":[{"type":"command","command":"fmt"}]}]
  }
}
"""
FOREIGN_TOML = """\
# mine
default_model = "k2"   # a remark

[[hooks]]
event = "Stop"
command = "say done"

[loop_control]
max_steps = 100
"""


def foreign(agent: str) -> bytes:
    """A file of the kind that an agent's hooks go into, with somebody else's things in it."""
    if agent in ("kimi", "kimi-code"):
        return FOREIGN_TOML.encode()
    if agent in ("cursor", "copilot-cli"):
        return b'{"version": 1, "hooks": {"stop": [{"command": "say done"}], "agentStop": []}}'
    if agent == "windsurf":
        return b'{"hooks": {"pre_user_prompt": [{"command": "say done"}], "post_read_code": []}}'
    if agent == "antigravity":
        return b'{\n\t"mine": {"Stop": [{"type": "command", "command": "say done", "timeout": 5}]}\n}\n'
    return FOREIGN.encode()
