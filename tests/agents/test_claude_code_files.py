"""Claude Code: where session files are, and which of them may belong to a workspace."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.claude_code import FORK, TEA, Session
from conversation_esaa.agents import claude_code, claude_code_files

links = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege on Windows")


def put(home: Path, folder: str, *names: str) -> None:
    directory = home / "projects" / folder
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).write_text("")


def found(home: Path, *roots: str) -> list[str]:
    files = claude_code.session_files(home, roots)
    return [file.path.relative_to(home / "projects").as_posix() for file in files]


# --- The name of a folder


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/home/dev/my proj.v2", "-home-dev-my-proj-v2"),
        ("/x/ünï_çø 日本", "-x--n-------"),
        ("/x/emoji 🚀 dir", "-x-emoji----dir"),
        ("/", "-"),
        ("C:\\a b", "C--a-b"),
    ],
)
def test_a_folder_is_named_after_a_directory_unit_by_unit(cwd, folder):
    """Nothing is collapsed, case is kept, and a character beyond the basic plane counts twice."""
    assert claude_code_files.munge(cwd) == folder


@given(st.text())
def test_a_folder_name_has_one_character_for_each_utf_16_unit(path):
    """That is how the vendor's runtime counts."""
    munged = claude_code_files.munge(path)

    assert len(munged) == len(path.encode("utf-16-le", "surrogatepass")) // 2
    assert all(character == "-" or (character.isascii() and character.isalnum()) for character in munged)


# --- Which folders


def test_folders_of_a_root_of_what_is_below_and_of_what_is_above_are_looked_at(tmp_path):
    """A session may start below the workspace, or above it and change into it; each line is judged later."""
    for folder in ("-w-app", "-w-app-src", "-w", "-", "-w-app2", "-w-other", "-x"):
        put(tmp_path, folder, f"{TEA}.jsonl")

    folders = ["-", "-w", "-w-app", "-w-app-src"]
    assert found(tmp_path, "/w/app") == [f"{folder}/{TEA}.jsonl" for folder in folders]
    assert found(tmp_path, "/w/app/") == found(tmp_path, "/w/app")


def test_fc_g01_a_folder_shared_by_two_directories_is_looked_at_for_both(tmp_path):
    """FC-G01: the name does not tell them apart, so the lines have to."""
    put(tmp_path, "-w-data-analysis", f"{TEA}.jsonl")

    assert found(tmp_path, "/w/data-analysis") == found(tmp_path, "/w/data/analysis") != []


def test_fc_g02_case_does_not_hide_a_folder(tmp_path):
    """FC-G02: drives and some disks have one directory under two spellings."""
    put(tmp_path, "-mnt-c-Work-Harness", f"{TEA}.jsonl")
    put(tmp_path, "C--Work-app", f"{TEA}.jsonl")

    assert len(found(tmp_path, "/mnt/c/work/harness")) == 1
    assert len(found(tmp_path, "c:\\work\\APP")) == 1


def test_a_windows_root_is_text_like_any_other(tmp_path):
    """The same code reads a Windows home on any machine; the drive itself is above every directory of it."""
    for folder in ("C--w-app", "C--w-app-src", "C--w", "C--", "C--x", "D--w-app"):
        put(tmp_path, folder, f"{TEA}.jsonl")

    folders = ["C--", "C--w", "C--w-app", "C--w-app-src"]
    assert found(tmp_path, "C:\\w\\app") == [f"{folder}/{TEA}.jsonl" for folder in folders]
    assert len(found(tmp_path, "C:\\")) == 5


def test_everything_lies_below_the_top(tmp_path):
    """A workspace may be the whole disk."""
    put(tmp_path, "-w-app", f"{TEA}.jsonl")

    assert len(found(tmp_path, "/")) == 1


def test_a_path_too_long_for_a_name_is_found_by_its_beginning(tmp_path):
    """Beyond 200 characters the name ends with a hash that we need not know."""
    long = "/w/" + "x" * 250
    put(tmp_path, claude_code_files.munge(long)[:200] + "-a1b2c3", f"{TEA}.jsonl")

    assert len(found(tmp_path, long)) == 1
    assert len(found(tmp_path, long + "/below")) == 1
    assert len(found(tmp_path, "/w")) == 1
    assert found(tmp_path, "/w/y") == []


# --- Which files


def test_only_sessions_are_found(tmp_path):
    """Sub-agents' files stand beside the sessions in some versions and below them in others."""
    put(tmp_path, "-w", f"{TEA}.jsonl", "agent-a5bdbc1.jsonl", "notes.md", f"{FORK}.jsonl.bak")
    put(tmp_path, f"-w/{TEA}/subagents", "agent-a8d182b5ea7ae8af2.jsonl", "agent-a8d182b5ea7ae8af2.meta.json")
    put(tmp_path, "-w/memory")
    put(tmp_path, "-w/folder.jsonl")

    (file,) = claude_code.session_files(tmp_path, ["/w"])

    assert (file.path, file.session_id) == (tmp_path / "projects" / "-w" / f"{TEA}.jsonl", TEA)


def test_files_come_in_the_order_of_their_paths_and_once_for_all_roots(tmp_path):
    """Same disk, same order; two roots of one workspace share what is above them."""
    put(tmp_path, "-w-b", "2.jsonl", "1.jsonl")
    put(tmp_path, "-w-a", "3.jsonl")
    put(tmp_path, "-w", "4.jsonl")

    assert found(tmp_path, "/w/b", "/w/a") == ["-w/4.jsonl", "-w-a/3.jsonl", "-w-b/1.jsonl", "-w-b/2.jsonl"]


def test_what_is_not_there_is_no_error(tmp_path):
    """FC-G07, FC-L02: no Claude Code, no sessions, side folders of sessions that were cleaned up."""
    assert found(tmp_path / "nowhere", "/w") == []
    assert found(tmp_path, "/w") == []
    put(tmp_path, f"-w/{TEA}/tool-results", "1.txt")
    assert found(tmp_path, "/w") == []
    assert found(tmp_path) == []


def test_fc_l02_a_folder_that_vanishes_meanwhile_is_skipped(tmp_path, monkeypatch):
    """FC-L02: Claude Code tidies up at any moment, and the rest must be found."""
    put(tmp_path, "-w", f"{TEA}.jsonl")
    put(tmp_path, "-w-gone", f"{FORK}.jsonl")
    scandir = os.scandir

    def vanishing(directory):
        if str(directory).endswith("-w-gone"):
            raise FileNotFoundError(directory)
        return scandir(directory)

    monkeypatch.setattr(os, "scandir", vanishing)

    assert found(tmp_path, "/w") == [f"-w/{TEA}.jsonl"]


@links
def test_fc_g06_a_file_with_two_names_is_found_once_under_its_own(tmp_path):
    """FC-G06: linked folders and files are followed, and each real file is read once."""
    put(tmp_path, "-w-z", f"{TEA}.jsonl")
    projects = tmp_path / "projects"
    (projects / "-w-a").symlink_to(projects / "-w-z", target_is_directory=True)
    put(tmp_path, "-w", f"{FORK}.jsonl")
    (projects / "-w" / "a.jsonl").symlink_to(projects / "-w-z" / f"{TEA}.jsonl")
    os.link(projects / "-w" / f"{FORK}.jsonl", projects / "-w" / "hard.jsonl")

    assert found(tmp_path, "/w") == [f"-w/{FORK}.jsonl", f"-w-z/{TEA}.jsonl"]


@links
def test_fc_g06_links_out_of_the_home_are_followed_and_loops_end(tmp_path):
    """FC-G06: people keep their home in a repository of dot files."""
    real, home = tmp_path / "real", tmp_path / "home"
    put(real, "-w", f"{TEA}.jsonl")
    home.symlink_to(real, target_is_directory=True)
    (real / "projects" / "-w-loop").symlink_to(real / "projects" / "-w-loop")
    (real / "projects" / "-w-up").symlink_to(real / "projects", target_is_directory=True)
    (real / "projects" / "-w" / "loop.jsonl").symlink_to("loop.jsonl")
    (real / "projects" / "-w" / "dangling.jsonl").symlink_to("nowhere.jsonl")

    assert found(home, "/w") == [f"-w/{TEA}.jsonl"]


def test_fc_g05_a_file_that_moved_to_another_folder_is_the_same_session(tmp_path):
    """FC-G05: its earlier turns keep their identity, so only what is new adds an event."""
    session = Session(cwd="/w/old")
    session.typed("Brew?")
    old = session.write(tmp_path)
    new = tmp_path / "projects" / "-w-new" / old.name
    new.parent.mkdir()
    old.rename(new)

    (file,) = claude_code.session_files(tmp_path, ["/w/new"])

    assert claude_code.open_session(file).session_id == TEA


# --- Home, and the way back


def test_fc_g07_the_home_is_named_by_the_environment_when_it_names_one(tmp_path):
    """FC-G07: an empty variable is no home."""
    assert claude_code.home({"CLAUDE_CONFIG_DIR": "/data/claude"}, tmp_path) == Path("/data/claude")
    assert claude_code.home({"CLAUDE_CONFIG_DIR": ""}, tmp_path) == tmp_path / ".claude"


def test_fc_g08_other_variables_do_not_move_the_home(tmp_path):
    """FC-G08: Claude Code does not follow the XDG directories."""
    assert claude_code.home({"XDG_CONFIG_HOME": "/elsewhere"}, tmp_path) == tmp_path / ".claude"
