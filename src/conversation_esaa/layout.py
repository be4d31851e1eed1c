"""Where things are in a workspace. Names only; nothing here touches a disk."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = ".conversation-esaa"
DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

READ_MODELS = ("handoff.md", "state.md", "decisions.md", "tasks.json", "topics.md", "topics.json")


class Layout:
    """The paths below one workspace root."""

    __slots__ = ("root", "store")

    def __init__(self, root: Path) -> None:
        self.root = root
        self.store = root / DIRECTORY

    @property
    def gitignore(self) -> Path:
        """One line `*`: the directory ignores itself."""
        return self.store / ".gitignore"

    @property
    def config(self) -> Path:
        """Settings, workspace id, extra roots."""
        return self.store / "config.toml"

    @property
    def log(self) -> Path:
        """The source of truth."""
        return self.store / "activity.jsonl"

    @property
    def sync_state(self) -> Path:
        """Derived cache: a cursor per native source."""
        return self.store / "sync-state.json"

    @property
    def index(self) -> Path:
        """Derived cache: SQLite; positions, ids, keys, full text, the stored fold."""
        return self.store / "index.db"

    @property
    def quarantine(self) -> Path:
        """Torn or foreign bytes set aside by recovery, never deleted by us."""
        return self.store / "quarantine"

    @property
    def run(self) -> Path:
        """What only matters while something runs."""
        return self.store / "run"

    @property
    def unchanged(self) -> Path:
        """Derived cache: what the last run that found nothing new depended on."""
        return self.run / "unchanged"

    def listed(self, agent: str) -> Path:
        """Derived cache: the many session files of one agent, and what finding them depended on."""
        return self.run / f"listed-{agent}"

    @property
    def write_lock(self) -> Path:
        """Held by whoever writes to the log; the operating system releases it with its holder."""
        return self.run / "write.lock"

    @property
    def spool(self) -> Path:
        """What hooks left, a file a call."""
        return self.run / "spool"

    @property
    def worker_lock(self) -> Path:
        """Held by the short-lived process that takes the spool into the log."""
        return self.run / "worker.lock"

    @property
    def watcher_lock(self) -> Path:
        """Held by a watcher that looks into the spool; then hooks start no worker."""
        return self.run / "watcher.lock"

    @property
    def heard(self) -> Path:
        """Derived cache: when each agent's hooks last called."""
        return self.run / "heard.json"

    @property
    def hook_log(self) -> Path:
        """What went wrong in hooks: when, whose, which event, and in a word what. Never what was said."""
        return self.run / "hook.log"

    def read_model(self, name: str) -> Path:
        """One of READ_MODELS."""
        return self.store / name
