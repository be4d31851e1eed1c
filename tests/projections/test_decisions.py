"""Decisions: what holds, what held, and why."""

from builders.logs import LogBuilder, reference
from conversation_esaa.events import DecisionRecorded, DecisionRetracted, DecisionSuperseded
from conversation_esaa.projections import decisions


def decided(number, text="Paint it green", **more):
    return DecisionRecorded(decision_id=f"DEC-{number:04d}", decision=text, **more)


def test_the_reference_log_gives_the_decisions_it_is_known_to_hold():
    """Lines of the older tool have no id: theirs is their position, as its page always numbered them."""
    entries, _ = reference()

    known = decisions.fold(entry.event for entry in entries)

    facts = [(d.id, d.decision, d.agent_id, d.rationale, len(d.related_turns)) for d in known.values()]
    assert facts == [
        (
            "DEC-0001",
            "Keep one hook file per agent",
            "grok",
            "Smaller blast radius when a vendor changes its format",
            1,
        ),
        ("DEC-0002", "Never overwrite an existing settings file", "claude-code", "", 0),
        ("DEC-0003", "Report per workspace", "codex", "Mixing workspaces confused a cold agent", 2),
    ]


def test_a_position_that_is_taken_gives_the_next_free_number():
    """Merged logs may bring a stored id where a positional one would have been."""
    known = decisions.fold([decided(2), DecisionRecorded(decision="Paint it blue")])

    assert list(known) == ["DEC-0002", "DEC-0003"]


def test_a_superseded_decision_points_at_what_took_its_place():
    """Whoever finds the old one in a window of the log has to find the new one from it."""
    known = decisions.fold(
        [decided(1), decided(2), DecisionSuperseded(decision_id="DEC-0001", superseded_by="DEC-0002")]
    )

    assert known["DEC-0001"].status == "superseded"
    assert known["DEC-0001"].superseded_by == "DEC-0002"
    assert known["DEC-0002"].supersedes == ("DEC-0001",)
    assert [decision.id for decision in decisions.active(known)] == ["DEC-0002"]


def test_a_retraction_brings_nothing_back():
    """What was superseded was superseded for a reason that the retraction does not speak about."""
    known = decisions.fold(
        [
            decided(1),
            decided(2),
            DecisionSuperseded(decision_id="DEC-0001", superseded_by="DEC-0002"),
            DecisionRetracted(decision_id="DEC-0002", rationale="The paint is gone"),
        ]
    )

    assert decisions.active(known) == []
    assert known["DEC-0002"].ended_because == "The paint is gone"


def test_events_about_unknown_decisions_or_about_itself_change_nothing():
    """A damaged or foreign line must not hide what was decided."""
    known = decisions.fold([decided(1)])

    for event in (
        DecisionSuperseded(decision_id="DEC-0009", superseded_by="DEC-0001"),
        DecisionSuperseded(decision_id="DEC-0001", superseded_by="DEC-0001"),
        DecisionRetracted(decision_id="DEC-0009"),
    ):
        assert decisions.step(known, event) == known


def test_active_decisions_come_newest_first():
    """The newest one is the likeliest to matter to what happens now."""
    known = decisions.fold([decided(1), decided(2), decided(3)])

    assert [decision.id for decision in decisions.active(known)] == ["DEC-0003", "DEC-0002", "DEC-0001"]


def test_a_decision_with_many_sources_says_how_many_are_not_shown():
    """A page that cuts silently reads as if that were all."""
    log = LogBuilder()
    log.add(decided(1, related_turns=tuple(f"{number:064x}" for number in range(25))))

    page = decisions.render(decisions.fold(entry.event for entry in log.entries), log.head, {})

    assert "and 15 sources more: `conversation-esaa show DEC-0001`" in page


def test_a_decision_whose_words_were_purged_is_still_there():
    """A purge takes words out of the log; that something was decided, and when, stays true."""
    page = decisions.render(decisions.fold([decided(1, text="")]), LogBuilder().head, {})

    assert "### DEC-0001\n\n(its words were removed)" in page
