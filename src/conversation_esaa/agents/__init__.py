"""One file per agent: where its sessions are, and which of its records a person could see.

bytes → records (`jsonl.py`) → turns (`claude_code.py`, `codex.py`, …). Agent modules may repeat each
other: two formats that look alike today drift apart tomorrow, and a shared parser would tie them together.
"""
