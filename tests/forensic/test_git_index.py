"""Whether git has the store: read from the index that git itself wrote."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.forensic.git_index import tracked_below


def git(at: Path, *words: str) -> None:
    identity = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org"]
    subprocess.run(["git", "-C", str(at), *identity, *words], check=True, capture_output=True, timeout=60)


def files(top: Path, *names: str) -> None:
    for name in names:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    files(
        tmp_path,
        ".claude/settings.json",
        ".conversation-esaa/activity.jsonl",
        ".conversation-esaa/run/write.lock",
        ".conversation-esaa-notes/a.txt",
        "src/" + "deep/" * 60 + "module.py",
        "tests/data/.conversation-esaa/activity.jsonl",
    )
    return tmp_path


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_tracked_files_are_counted_in_every_format_of_the_index(repository: Path, version: str):
    """Version 4 writes only how a name differs from the one before it."""
    git(repository, "add", "-f", ".")
    git(repository, "add", "-f", "--intent-to-add", ".")
    git(repository, "update-index", "--index-version", version)

    assert tracked_below(repository / ".conversation-esaa") == 2
    assert tracked_below(repository / "tests" / "data" / ".conversation-esaa") == 1


def test_a_store_that_is_ignored_is_not_tracked(repository: Path):
    git(repository, "add", "src", ".conversation-esaa-notes", "tests")

    assert tracked_below(repository / ".conversation-esaa") == 0


def test_outside_of_a_repository_nothing_is_tracked(tmp_path: Path):
    assert tracked_below(tmp_path / ".conversation-esaa") == 0


def test_a_linked_worktree_has_an_index_of_its_own(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
):
    git(repository, "add", "-f", ".")
    git(repository, "commit", "-q", "-m", "all")
    linked = tmp_path_factory.mktemp("linked") / "tree"
    git(repository, "worktree", "add", "-q", str(linked))

    assert tracked_below(linked / ".conversation-esaa") == 2


@given(st.binary(max_size=300), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_bytes_that_are_no_index_are_no_tracked_files(
    tmp_path_factory, rest: bytes, version: int, count: int
):
    top = tmp_path_factory.getbasetemp() / "no-index"
    (top / ".git").mkdir(parents=True, exist_ok=True)
    head = b"DIRC" + version.to_bytes(4, "big") + count.to_bytes(4, "big")
    (top / ".git" / "index").write_bytes(head + rest)

    assert tracked_below(top / ".conversation-esaa") == 0
