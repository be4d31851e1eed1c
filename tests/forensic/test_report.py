"""All findings in one answer: what it counts, what it shows, and what it never shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from builders.damages import DAMAGES, HUMAN, ONE_ID, piece, replace, torn, turn
from conversation_esaa.events import DecisionRecorded, Head, TaskClosed, TaskCreated
from conversation_esaa.forensic.findings import CODES, MAX_NAMED, Findings, Severity, report
from conversation_esaa.ids import digest_of

if TYPE_CHECKING:
    from builders.harmed import Harmed


def test_all_findings_come_in_one_run(harmed: Harmed):
    """The reference stopped at the first one, so every mend led to the next surprise."""
    harmed.append(turn(), turn())
    harmed.append(turn(ref="other/2", event_id=ONE_ID, ts="later"))
    harmed.append(
        TaskClosed(task_id="CONV-099", status="completed", **HUMAN),
        TaskCreated(task_id="CONV-002", status="maybe", related_turns=(digest_of("none"),), **HUMAN),
    )
    harmed.change_line(3, replace(b"Which port", b"What price"))
    harmed.change_line(5, lambda line: b"no json\n")
    torn(harmed)
    piece(harmed)
    (harmed.store / "topics.md").unlink()
    (harmed.store / ".gitignore").unlink()
    (harmed.store / "sync-state.json").write_bytes(b"")

    ran = harmed.world.run("verify", "--json")

    codes = {found["code"] for found in ran.json["findings"]}
    assert ran.code == 3
    assert codes >= {
        "identity.duplicate",
        "identity.mismatch",
        "event.time_form",
        "event.missing_field",
        "event.odd_value",
        "reference.task",
        "reference.event",
        "chain.words",
        "log.unreadable_line",
        "log.torn_tail",
        "quarantine.piece",
        "read_model.missing",
        "store.gitignore",
        "cache.unreadable",
    }


def test_errors_come_first_and_the_verdict_is_the_last_of_at_most_forty_lines(harmed: Harmed):
    """What a person reads in a terminal of ordinary height."""
    for harm in (
        "log.torn_tail",
        "quarantine.piece",
        "read_model.edited",
        "cache.unreadable",
        "store.gitignore",
    ):
        DAMAGES[harm][0](harmed)
    harmed.change_line(2, lambda line: b"no json\n")

    lines = harmed.verify().told().splitlines()

    heads = [line.split()[0] for line in lines if line.split()[0] in set(Severity)]
    assert heads == sorted(heads, key=list(Severity).index)
    assert len(lines) <= 40
    assert lines[-1].startswith("verify: ")
    assert "chain broken" in lines[-1]


def test_a_long_list_is_cut_and_says_how_much_is_left(harmed: Harmed):
    findings = Findings()
    for code in CODES:
        findings.tell(code, "something")
        findings.tell(code, "something more")

    told = report(findings, events=9, v1_1_lines=0, chained=9, head=Head(), deep=False).told().splitlines()

    assert len(told) <= 40
    shown = sum(line.startswith(("error ", "warning ", "info ")) for line in told)
    assert f"and {2 * (len(CODES) - shown)} more findings" in told[-2]


def test_messages_never_show_what_was_said(harmed: Harmed):
    """Findings end up in bug reports; an id in a log of another program can be any string."""
    words = "the admiral swallowed my sandwich"
    harmed.append(turn(words), turn(words, ref="x", event_id=words))
    harmed.append(
        TaskClosed(task_id=words, status=words, actor=words, agent_id="codex", evidence=words),
        DecisionRecorded(
            decision_id="DEC-0009", decision=words, related_turns=(words,), topic_ids=(words,), **HUMAN
        ),
        DecisionRecorded(decision_id="DEC-0009", decision=words, **HUMAN),
    )
    harmed.append_line(event=words, actor=words)
    harmed.append(turn(words, ref="y", event_id=words), workspace_id=words)
    harmed.change_line(3, lambda line: words.encode() + b"\n")

    answer = harmed.verify(deep=True)

    assert len(answer.counts) > 8
    assert words not in harmed.world.run("verify", "--json").out
    assert words not in answer.told()


def test_a_damage_in_every_line_is_counted_whole_and_named_up_to_a_limit():
    """Memory does not grow with the damage."""
    findings = Findings()
    for line_no in range(1, MAX_NAMED + 11):
        findings.tell("log.unreadable_line", "not JSON", line_no=line_no, offset=line_no)
    findings.tell("event.repeated", "repeats a native record")

    answer = report(findings, events=0, v1_1_lines=0, chained=0, head=Head(), deep=False)

    assert answer.counts["log.unreadable_line"] == MAX_NAMED + 10
    assert len(answer.findings) == MAX_NAMED + 1
    assert f"{MAX_NAMED + 10} errors, 1 info" in answer.told()


def test_the_table_of_codes_is_in_groups_that_a_script_can_match():
    for code in CODES:
        group, _, name = code.partition(".")
        assert group in {
            "log",
            "chain",
            "event",
            "identity",
            "workspace",
            "reference",
            "read_model",
            "cache",
            "quarantine",
            "store",
            "config",
        }
        assert name.replace("_", "").isalpha()


def test_every_error_names_a_mend():
    """An error without a way out is a riddle."""
    assert all(kind.mend for kind in CODES.values() if kind.severity is Severity.ERROR)


def test_a_path_in_a_mend_or_message_is_relative_to_the_store(harmed: Harmed):
    """Reports are shared; whose home it was is nobody's business."""
    for harm in ("log.torn_tail", "quarantine.piece", "store.gitignore", "read_model.missing"):
        DAMAGES[harm][0](harmed)

    for found in harmed.verify().findings:
        assert not Path(found.file).is_absolute()
        assert str(harmed.world.project) not in found.message + found.mend
