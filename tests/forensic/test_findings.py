"""`verify` finds what is wrong, says where, and blames nothing else."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from builders.damages import (
    DAMAGES,
    FOUND_OTHERWISE,
    HUMAN,
    NEEDS_DEEP,
    ONE_ID,
    cut_the_log,
    edited,
    log_is_a_directory,
    make_stale,
    older_log,
    replace,
    torn,
    turn,
)
from builders.log import v1_1_log
from conversation_esaa.capture import cursors
from conversation_esaa.events import SessionStarted, TopicEventLinked
from conversation_esaa.forensic.findings import CODES, Severity
from conversation_esaa.forensic.lines import CUT
from conversation_esaa.ids import digest_of
from conversation_esaa.layout import READ_MODELS
from conversation_esaa.log.contract import PositionLost
from conversation_esaa.log.file_log import FileLog

if TYPE_CHECKING:
    from builders.harmed import Harmed
    from builders.world import World

POSIX = pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX matter")


def test_every_code_has_a_test():
    assert set(CODES) == {*DAMAGES, *FOUND_OTHERWISE}


@pytest.mark.parametrize(
    "code", [pytest.param(c, marks=POSIX if c == "store.permissions" else ()) for c in DAMAGES]
)
def test_each_kind_of_damage_is_found_and_nothing_else_is_blamed(harmed: Harmed, code: str):
    """A code is what scripts and people act on: one cause, one code, and no noise beside it."""
    harm, also = DAMAGES[code]
    harm(harmed)

    answer = harmed.verify(deep=code in NEEDS_DEEP)

    assert {found.code for found in answer.findings} == {code, *also}
    assert answer.counts.keys() == {code, *also}


@pytest.mark.parametrize("code", sorted(set(DAMAGES) - {"event.legacy", "log.not_chained"}))
def test_what_asks_for_a_person_is_not_ok_and_what_only_informs_is(harmed: Harmed, code: str):
    """Exit 3 means: do something. What nobody can mend any more is told, and does not count."""
    if code == "store.permissions" and os.name == "nt":
        pytest.skip("modes are a POSIX matter")
    DAMAGES[code][0](harmed)
    answer = harmed.verify(deep=code in NEEDS_DEEP)
    others = [found for found in answer.findings if found.code != code]

    asks = any(found.severity != "info" and found.mend for found in answer.findings)

    assert answer.ok is not asks
    if not others:
        kind = CODES[code]
        assert answer.ok is (kind.severity is Severity.INFO or not kind.mend)


@pytest.mark.parametrize("deep", [False, True])
def test_an_unharmed_workspace_gives_no_finding(harmed: Harmed, deep: bool):
    answer = harmed.verify(deep=deep)

    assert answer.findings == []
    assert answer.ok
    head = harmed.workspace.log.head()
    assert answer.head == head
    assert answer.told() == f"verify: ok — {head.seq} events, chain intact, head {head.hash[:12]}"


def test_a_workspace_in_which_nothing_was_said_yet_is_in_order(world: World):
    world.run("init")

    assert world.run("verify").code == 0
    assert world.workspace().verify(deep=True).findings == []


def test_a_torn_tail_is_told_apart_from_damage_and_the_next_writer_keeps_its_bytes(harmed: Harmed):
    """FC-A03, FC-N07: a crash or a full disk in the middle of an append is no tampering."""
    size = harmed.log.stat().st_size
    torn(harmed)

    answer = harmed.verify()

    (found,) = answer.findings
    assert (found.code, found.severity, found.offset) == ("log.torn_tail", "warning", size)
    assert answer.chain == "intact"
    harmed.workspace.set_goal("Go on")
    (found,) = harmed.verify().findings
    assert found.code == "quarantine.piece"
    assert "40 bytes" in found.message


def test_a_corrupt_line_in_the_middle_is_named_by_line_and_byte(harmed: Harmed):
    """FC-A08: every other line still counts."""
    lines = harmed.lines()
    harmed.change_line(4, lambda line: b"no json, but a secret: hunter2\n")

    (found,) = harmed.found("log.unreadable_line")

    assert (found.line_no, found.offset) == (4, sum(map(len, lines[:3])))
    assert harmed.verify().events == len(lines) - 1
    ran = harmed.world.run("verify")
    assert ran.code == 3
    assert "hunter2" not in ran.out


def test_half_a_character_in_an_answer_leaves_nothing_to_complain_about(world: World):
    """FC-C01: it was replaced when it was captured, and identity, digest and read models agree on that."""
    world.claude("s1").user("Say done").assistant("done \ud83d")
    world.sync()

    answer = world.workspace().verify(deep=True)

    assert answer.findings == []
    assert world.said()[-1] == ("assistant", "done \ufffd")


def test_an_unreadable_log_is_a_finding_that_names_the_cause(harmed: Harmed):
    """FC-I08."""
    log_is_a_directory(harmed)

    ran = harmed.world.run("verify")

    assert ran.code == 3
    assert "log.unreadable" in ran.out
    assert "not a regular file" in ran.out


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads what it has no right to")
def test_a_log_without_the_right_to_read_it_is_a_finding_too(harmed: Harmed):
    """FC-I08: mode 000."""
    harmed.log.chmod(0)

    assert harmed.verify().counts == {"log.unreadable": 1}


def test_without_a_store_there_is_no_workspace_to_verify(world: World):
    """FC-I08."""
    assert world.run("verify").code == 4


@POSIX
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_what_init_makes_is_private_whatever_the_umask(world: World, umask: int):
    """FC-K06."""
    before = os.umask(umask)
    try:
        world.run("init")
        assert world.workspace().verify().findings == []
    finally:
        os.umask(before)


@POSIX
def test_rights_of_others_are_an_error_and_init_takes_them_away(harmed: Harmed):
    """FC-K06: the log holds what people said."""
    harmed.store.chmod(0o755)
    harmed.log.chmod(0o640)

    found = harmed.found("store.permissions")

    assert [one.file for one in found] == [".", "activity.jsonl"]
    assert {one.severity for one in found} == {"error"}
    harmed.world.run("init")
    assert harmed.verify().findings == []


@POSIX
def test_on_a_read_only_mount_wide_modes_are_only_a_warning(harmed: Harmed, monkeypatch: pytest.MonkeyPatch):
    """Nobody can change them there."""
    real = os.statvfs(harmed.store)
    fields = list(real)
    fields[8] |= os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(fields))
    harmed.log.chmod(0o644)

    (found,) = harmed.found("store.permissions")

    assert found.severity == "warning"


def test_duplicates_name_both_lines(harmed: Harmed):
    harmed.append(turn(), turn(), turn())
    last = len(harmed.lines())

    found = harmed.found("identity.duplicate")

    assert [one.line_no for one in found] == [last - 1, last]
    assert all(one.message.endswith(f"of line {last - 2}") for one in found)


def test_a_turn_without_a_native_id_is_recomputed_from_its_words(harmed: Harmed):
    """Its identity is session, ordinal, actor and text."""
    right = turn(ref="", event_id=digest_of("turn", "codex", "other", "0", "user", "Something else"))
    wrong = turn(ref="", event_id=digest_of("turn", "codex", "other", "0", "user", "Something"))

    harmed.append(right, wrong)

    assert [found.line_no for found in harmed.found("identity.mismatch")] == [len(harmed.lines())]


def test_the_identity_of_a_shortened_text_is_not_doubted(harmed: Harmed):
    """It is that of the whole text, which is not in the log."""
    harmed.append(turn(ref="", event_id=ONE_ID, flags=(CUT,)))

    assert harmed.verify().findings == []


def test_a_session_that_is_not_named_as_its_record_says_is_found(harmed: Harmed):
    mark = {"ts": "2026-03-01T10:30:00.000Z", "actor": "system", "agent_id": "codex", "source": "codex"}
    right = SessionStarted(
        event_id=digest_of("session", "codex", "s9", "started", ""), source_session_id="s9", **mark
    )
    wrong = SessionStarted(event_id=ONE_ID, source_session_id="s8", **mark)

    harmed.append(right, wrong)

    assert [found.line_no for found in harmed.found("identity.mismatch")] == [len(harmed.lines())]


def test_flags_that_are_not_known_are_nobodys_business(harmed: Harmed):
    """A newer version may put them there."""
    harmed.append(turn(flags=("dreamt",)))

    assert harmed.verify().findings == []


def test_a_read_model_of_a_longer_log_says_that_lines_are_gone(harmed: Harmed):
    """A cut behind a whole line leaves the chain intact: only what was made from the log remembers."""
    cut_the_log(harmed)

    answer = harmed.verify()

    assert answer.chain == "intact"
    assert answer.counts == {"read_model.ahead": len(READ_MODELS)}
    assert not answer.ok


def test_a_damaged_log_does_not_call_the_read_models_edited(harmed: Harmed):
    """They may be all that is left of what was said; `project` would overwrite them."""
    harmed.change_line(3, replace(b"Which port", b"What price"))

    found = harmed.found("read_model.differs")

    assert found
    assert all("Keep a copy" in one.mend for one in found)


def test_hand_edits_are_restored_by_the_command_that_the_finding_names(harmed: Harmed):
    for name in READ_MODELS:
        edited(name)(harmed)
    assert harmed.verify().counts["read_model.edited"] + harmed.verify().counts.get(
        "read_model.unstamped", 0
    ) == len(READ_MODELS)

    harmed.world.run("project")

    assert harmed.verify().findings == []


def test_projecting_again_and_verifying_write_nothing(harmed: Harmed):
    """FC-J05."""
    before = {name: (harmed.store / name).stat().st_mtime_ns for name in READ_MODELS}

    for _ in range(3):
        harmed.world.run("project")
        harmed.world.run("verify")

    assert {name: (harmed.store / name).stat().st_mtime_ns for name in READ_MODELS} == before


def test_a_disk_that_was_full_leaves_the_old_read_models_and_says_which_are_late(harmed: Harmed):
    """FC-N07: whole and old, never half."""
    make_stale(harmed)

    (found,) = harmed.verify().findings

    assert (found.code, found.file) == ("read_model.stale", "state.md")
    harmed.world.run("project")
    assert harmed.verify().findings == []


def test_a_log_that_shrinks_under_the_reader_asks_for_another_run(
    harmed: Harmed, monkeypatch: pytest.MonkeyPatch
):
    def pieces(log: FileLog):
        raise PositionLost(7)
        yield

    monkeypatch.setattr(FileLog, "pieces", pieces)

    assert harmed.verify().counts == {"log.changed": 1}


def test_a_config_of_another_workspace_is_told(harmed: Harmed):
    config = harmed.store / "config.toml"
    text = config.read_text("utf-8")
    config.write_text(text.replace(harmed.workspace.settings.workspace_id, "f" * 32), "utf-8")

    assert harmed.verify().counts == {"workspace.foreign_id": len(harmed.lines())}


def test_the_cursor_cache_that_a_sync_saved_is_never_called_foreign(harmed: Harmed):
    """Its fingerprint is of the log as it was then; the log may have grown since."""
    assert cursors.load(harmed.store / "sync-state.json") is not None
    harmed.workspace.set_goal("Later")

    assert harmed.verify().findings == []


# --- the older tool's log --------------------------------------------------------------------------------------


def test_the_older_log_is_in_order_and_its_oddities_are_told(harmed: Harmed):
    """Its lines are history: nobody can mend them, every reader is built for them, and none is tampering."""
    older_log(harmed)

    answer = harmed.verify(deep=True)

    assert answer.ok
    assert answer.v1_1_lines == 29
    assert answer.chain == "intact"
    assert {(found.code, found.line_no, found.severity.value) for found in answer.findings} == {
        ("event.legacy", 1, "info"),
        ("event.legacy", 2, "info"),
        ("workspace.foreign_root", 10, "info"),
        ("event.repeated", 21, "info"),
        ("event.old_link", 23, "info"),
        ("reference.transition", 27, "info"),
        ("reference.topic", 28, "info"),
    }
    legacy = [found.message for found in answer.findings if found.code == "event.legacy"]
    assert [message.partition(" without ")[2] for message in legacy] == [
        "event_id, agent_id, workspace_root, source",
        "event_id, agent_id, workspace_root",
    ]


def test_the_older_log_is_checked_before_it_is_taken_over_too(world: World):
    store = world.project / ".conversation-esaa"
    store.mkdir(mode=0o700)
    (store / "activity.jsonl").write_bytes(v1_1_log(str(world.project)))

    ran = world.run("verify", "--json")

    assert ran.code == 3
    assert {"config.missing", "log.not_chained", "event.legacy"} <= set(ran.json["counts"])
    assert ran.json["chain"] == "none"


def test_a_changed_byte_in_the_older_lines_breaks_the_first_link(harmed: Harmed):
    """The first line of ours commits to every byte before it."""
    older_log(harmed)
    harmed.change_line(4, replace(b"One file per agent", b"Two file per agent"))

    assert [found.line_no for found in harmed.found("chain.broken")] == [30]


def test_a_link_to_a_line_that_nobody_sees_is_told(harmed: Harmed):
    older_log(harmed)
    foreign = json.loads(harmed.lines()[9])["event_id"]
    harmed.workspace.project()
    harmed.append(TopicEventLinked(topic_id="TOP-001", event_ids=(foreign,), **HUMAN))

    assert [found.line_no for found in harmed.found("reference.hidden")] == [len(harmed.lines())]


MENDED_BY_COMMANDS = [
    "log.missing",
    "log.empty",
    "log.not_chained",
    "read_model.missing",
    "read_model.edited",
    "read_model.unstamped",
    "read_model.stale",
    "read_model.ahead",
    "read_model.other_log",
    "cache.unreadable",
    "cache.other_log",
    "store.permissions",
    "store.gitignore",
    "config.missing",
    "workspace.moved",
]


@pytest.mark.parametrize("code", MENDED_BY_COMMANDS)
def test_the_commands_that_a_mend_names_do_mend_it(harmed: Harmed, code: str):
    """Advice that was never tried is worth little."""
    DAMAGES[code][0](harmed)
    said = {(turn.actor, turn.text) for turn in harmed.world.turns()} if code == "read_model.ahead" else set()

    for name in dict.fromkeys(re.findall(r"`conversation-esaa (\w+)`", CODES[code].mend)):
        assert harmed.world.run(name).code == 0

    answer = harmed.verify()
    assert answer.ok, answer.told()
    assert code not in answer.counts
    assert said <= set(harmed.world.said())
