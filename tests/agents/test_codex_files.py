"""Codex rollouts: where they are."""

from __future__ import annotations

import json

from builders.codex import CHILD, FORK, TEA, Rollout, read
from conversation_esaa.agents import codex, codex_files
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Turn


def asked(rollout: Rollout) -> Rollout:
    """A header, and one question with its answer."""
    return rollout.header().said("user", "Name a herb.").said("assistant", "Mint.")


def paths(home) -> list[str]:
    return [file.path.relative_to(home).as_posix() for file in codex.session_files(home, ["/home/dev/tea"])]


def test_all_rollouts_are_found_in_the_order_of_their_paths(tmp_path):
    """A resumed session keeps its old date folder, so no day is left out."""
    asked(Rollout(FORK)).save(tmp_path, day="2026/01/03")
    asked(Rollout(TEA)).save(tmp_path)
    asked(Rollout(CHILD)).save(tmp_path, archived=True)
    (tmp_path / "history.jsonl").write_text('{"text":"CANARY"}\n')
    (tmp_path / "sessions" / "notes.jsonl").write_text("{}\n")

    assert paths(tmp_path) == [
        f"archived_sessions/rollout-2026-01-02T03-04-05-{CHILD}.jsonl",
        f"sessions/2026/01/02/rollout-2026-01-02T03-04-05-{TEA}.jsonl",
        f"sessions/2026/01/03/rollout-2026-01-02T03-04-05-{FORK}.jsonl",
    ]
    assert [file.session_id for file in codex.session_files(tmp_path, [])] == [CHILD, TEA, FORK]


def test_archiving_a_session_doubles_nothing(tmp_path):
    """`codex archive` moves the file; while it is in both places, its turns have the same identity."""
    rollout = asked(Rollout(paginated=False))
    ids = []
    for path in (rollout.save(tmp_path), rollout.save(tmp_path, archived=True)):
        state = codex.open_session(next(f for f in codex.session_files(tmp_path, []) if f.path == path))
        records = map(json.loads, path.read_text("utf-8").splitlines())
        ids.append([turn_event_id(turn) for turn in read(records, state) if isinstance(turn, Turn)])

    assert ids[0] == ids[1]


def test_a_file_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06: linked homes and folders are followed, loops end."""
    real = tmp_path / "real"
    path = asked(Rollout()).save(real)
    home = tmp_path / "home"
    home.symlink_to(real)
    (real / "sessions" / "2026" / "again").symlink_to(real / "sessions")
    (real / "sessions" / "2026" / "01" / "twin").symlink_to(real / "sessions" / "2026" / "01" / "02")
    (path.parent / f"rollout-link-{TEA}.jsonl").symlink_to(path)
    (real / "sessions" / "circle").symlink_to(real / "sessions" / "circle")
    (real / "sessions" / "rollout-nowhere.jsonl").symlink_to(real / "gone")

    assert paths(home) == [f"sessions/2026/01/02/{path.name}"]


def test_a_folder_that_vanishes_meanwhile_is_skipped(tmp_path, monkeypatch):
    """FC-L02."""
    asked(Rollout()).save(tmp_path)
    asked(Rollout(FORK)).save(tmp_path, day="2026/01/03")
    listing = codex_files.os.scandir

    def vanishing(folder):
        if str(folder).endswith("03"):
            raise FileNotFoundError(folder)
        return listing(folder)

    monkeypatch.setattr(codex_files.os, "scandir", vanishing)

    assert [TEA in path for path in paths(tmp_path)] == [True]


def test_what_is_not_read_is_counted(tmp_path):
    """Nothing is dropped silently: `status` shows these counts."""
    folder = asked(Rollout()).save(tmp_path).parent
    (folder / f"rollout-x-{FORK}.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    (tmp_path / "sessions" / "rollout-2025-04-01-old.json").write_text("{}")

    assert codex.unlisted(tmp_path) == {
        "compressed rollouts (.jsonl.zst)": 1,
        "rollouts of 2025 in one JSON document": 1,
    }
    assert codex.unlisted(tmp_path / "missing") == {}
