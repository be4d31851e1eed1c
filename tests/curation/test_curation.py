"""Commands as drafts: checked before an event exists, because what is in the log stays there."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.logs import LogBuilder, reference, rich
from conversation_esaa import events
from conversation_esaa.curation import checks, decisions, goal, tasks, topics
from conversation_esaa.errors import AmbiguousName, ConversationError, UnknownName, UsageError
from conversation_esaa.ids import HUMAN, AgentId
from conversation_esaa.projections import catalogue

CODEX = AgentId("codex")


def event_id(number):
    return hashlib.sha256(f"event {number}".encode()).hexdigest()


def known(name):
    """What the log would find: full ids, or a unique prefix of 8 characters."""
    ids = [event_id(number) for number in range(1, 40)]
    found = [one for one in ids if one.startswith(name)]
    if len(name) < 8 or not found:
        raise UnknownName("event", name)
    if len(found) > 1:
        raise AmbiguousName("fits more than one event")
    return found[0]


@pytest.fixture
def state():
    """DEC-0002 and TOP-001 are active, CONV-001 to 003 are open, CONV-004 and TOP-002 are closed."""
    return catalogue.fold(rich().entries)


def after(state, drafts):
    """The state once the log has the drafts."""
    log = LogBuilder()
    log.entries = [None] * state.seq
    for draft in drafts:
        log.add(draft)
    return catalogue.fold(log.entries[state.seq :], state)


# --- ids and who ---------------------------------------------------------------------------------------


def test_ids_go_on_behind_all_there_ever_were():
    """Also behind the decisions of the older tool, which are numbered by position, and behind gaps."""
    state = catalogue.fold(reference()[0])

    [decision] = decisions.decide(state, text="x", agent=CODEX, known=known)
    [task] = tasks.create(state, title="x", agent=CODEX, known=known)
    [topic] = topics.create(state, title="x", agent=CODEX, known=known)

    assert (decision.decision_id, task.task_id, topic.topic_id) == ("DEC-0004", "CONV-011", "TOP-003")


def test_the_ids_of_what_is_closed_or_retracted_are_never_given_again(state):
    """Somebody may still refer to them."""
    [decision] = decisions.decide(state, text="x", agent=CODEX, known=known)
    [task] = tasks.create(state, title="x", agent=CODEX, known=known)

    assert (decision.decision_id, task.task_id) == ("DEC-0004", "CONV-005")


@pytest.mark.parametrize(("agent", "actor"), [(HUMAN, "user"), (CODEX, "assistant")])
def test_who_curates_is_in_the_event(state, agent, actor):
    """The older tool put every decision down to an assistant, and every task to Codex."""
    drafts = [
        *decisions.decide(state, text="x", supersedes=["DEC-0002"], agent=agent, known=known),
        *decisions.retract(state, decision_id="DEC-0002", agent=agent),
        *tasks.create(state, title="x", agent=agent, known=known),
        *tasks.update(state, task_id="CONV-001", next_step="y", agent=agent, known=known),
        *tasks.close(state, task_id="CONV-001", agent=agent, known=known),
        *tasks.reopen(state, task_id="CONV-004", agent=agent),
        *topics.create(state, title="x", agent=agent, known=known),
        *topics.update(state, topic_id="TOP-001", title="y", agent=agent),
        *topics.link(state, topic_id="TOP-001", tasks=["CONV-002"], agent=agent, known=known),
        *topics.unlink(state, topic_id="TOP-001", tasks=["CONV-001"], agent=agent, known=known),
        *topics.close(state, topic_id="TOP-001", agent=agent),
        *goal.set_goal(state, text="x", agent=agent),
    ]

    assert {(draft.agent_id, draft.actor) for draft in drafts} == {(agent, actor)}
    assert {(draft.seq, draft.event_id, draft.hash) for draft in drafts} == {(0, "", "")}


# --- decisions -----------------------------------------------------------------------------------------


def test_a_decision_carries_its_reason_its_evidence_and_its_topics(state):
    """Knowledge without its evidence is an opinion."""
    [decision] = decisions.decide(
        state,
        text="  Print in metres \n",
        rationale="Everyone here does",
        sources=[event_id(3)[:10], event_id(4), event_id(3)],
        topics=["top-001"],
        agent=CODEX,
        known=known,
    )

    assert decision == events.DecisionRecorded(
        decision_id="DEC-0004",
        decision="Print in metres",
        rationale="Everyone here does",
        related_turns=(event_id(3), event_id(4)),
        topic_ids=("TOP-001",),
        agent_id=CODEX,
        actor="assistant",
    )


def test_superseding_says_for_each_old_decision_what_took_its_place(state):
    """Both ends of the link are found from either side."""
    drafts = decisions.decide(
        state, text="Both, hourly", supersedes=["DEC-0002", "dec-0002"], agent=CODEX, known=known
    )

    now = after(state, drafts).decisions
    assert len(drafts) == 2
    assert (now["DEC-0002"].status, now["DEC-0002"].superseded_by) == ("superseded", "DEC-0004")
    assert now["DEC-0004"].supersedes == ("DEC-0002",)


@pytest.mark.parametrize(("old", "hint"), [("DEC-0001", "DEC-0002"), ("DEC-0003", "decide")])
def test_what_no_longer_holds_cannot_be_superseded_or_retracted(state, old, hint):
    """Two decisions in the place of one would leave a reader with two truths."""
    for command in (
        lambda: decisions.decide(state, text="x", supersedes=[old], agent=CODEX, known=known),
        lambda: decisions.retract(state, decision_id=old, agent=CODEX),
    ):
        with pytest.raises(checks.NotActive) as refused:
            command()

        assert hint in refused.value.hint


def test_a_decision_cannot_supersede_itself_nor_close_a_circle(state):
    """The id it will get is not known to anybody before it is given."""
    with pytest.raises(UnknownName):
        decisions.decide(state, text="x", supersedes=["DEC-0004"], agent=CODEX, known=known)


def test_an_unknown_decision_is_refused_with_the_nearest_and_where_all_are(state):
    """A typing error in an id must not become a line that is there for ever."""
    with pytest.raises(UnknownName) as refused:
        decisions.retract(state, decision_id="DEC-00002", agent=CODEX)

    assert "Did you mean 'DEC-000" in refused.value.hint
    assert "decisions.md" in refused.value.hint


# --- tasks ---------------------------------------------------------------------------------------------


def test_a_task_goes_through_its_life(state):
    """Created, taken up, closed with evidence, reopened: the board says so each time."""
    for command, status in (
        (
            lambda s: tasks.create(s, title="Bind it", next_step="Buy thread", agent=CODEX, known=known),
            "open",
        ),
        (
            lambda s: tasks.update(s, task_id="CONV-005", status="in-progress", agent=CODEX, known=known),
            "in_progress",
        ),
        (
            lambda s: tasks.close(s, task_id="conv-005", evidence="it holds", agent=CODEX, known=known),
            "completed",
        ),
        (lambda s: tasks.reopen(s, task_id="CONV-005", evidence="it does not", agent=HUMAN), "open"),
    ):
        state = after(state, command(state))

        assert state.tasks["CONV-005"].status == status


def test_an_update_writes_only_what_differs(state):
    """A field that is stated as it was would look like a change in the history."""
    [draft] = tasks.update(
        state,
        task_id="CONV-001",
        title="Read the north harbour",
        next_step="",
        status="in_progress",
        agent=CODEX,
        known=known,
    )

    assert (draft.title, draft.description, draft.next_step, draft.status) == (None, None, "", None)
    assert after(state, [draft]).tasks["CONV-001"].next_step is None


@pytest.mark.parametrize("change", [{}, {"title": "Read the north harbour"}, {"topics": ["TOP-001"]}])
def test_an_update_that_changes_nothing_is_refused(state, change):
    """Whoever sent it believes that something happened."""
    with pytest.raises(checks.NothingToDo):
        tasks.update(state, task_id="CONV-001", agent=CODEX, known=known, **change)


def test_an_update_can_name_evidence_and_topics_alone(state):
    """To say what belongs together is a change."""
    [draft] = tasks.update(
        state, task_id="CONV-002", sources=[event_id(3)], topics=["TOP-001"], agent=CODEX, known=known
    )

    now = after(state, [draft])
    assert now.tasks["CONV-002"].related_turns == (event_id(3),)
    assert now.topics["TOP-001"].task_ids == ("CONV-001", "CONV-002")


def test_what_is_closed_is_not_closed_again_and_what_is_open_not_reopened(state):
    """The second evidence would hide the first."""
    with pytest.raises(checks.AlreadyClosed) as refused:
        tasks.close(state, task_id="CONV-004", agent=CODEX, known=known)
    assert "task reopen CONV-004" in refused.value.hint

    with pytest.raises(checks.NotClosed):
        tasks.reopen(state, task_id="CONV-001", agent=CODEX)


def test_closing_and_reopening_have_commands_of_their_own(state):
    """They ask for evidence; a status that slips in by an update does not."""
    with pytest.raises(UsageError) as refused:
        tasks.update(state, task_id="CONV-001", status="completed", agent=CODEX, known=known)
    assert "task close CONV-001" in refused.value.hint

    with pytest.raises(checks.AlreadyClosed):
        tasks.update(state, task_id="CONV-004", status="open", agent=CODEX, known=known)


def test_the_words_of_a_closed_task_can_be_mended(state):
    """A typing error in a title should not need a reopening."""
    [draft] = tasks.update(state, task_id="CONV-004", title="Print in feet, too", agent=CODEX, known=known)

    assert after(state, [draft]).tasks["CONV-004"].status == "cancelled"


@pytest.mark.parametrize(
    ("command", "near"),
    [
        (lambda s: tasks.create(s, title="x", status="opne", agent=CODEX, known=known), "'open'"),
        (
            lambda s: tasks.close(s, task_id="CONV-001", status="done", agent=CODEX, known=known),
            "completed, cancelled",
        ),
        (lambda s: topics.update(s, topic_id="TOP-001", status="pause", agent=CODEX), "'paused'"),
        (lambda s: topics.close(s, topic_id="TOP-001", status="archive", agent=CODEX), "'archived'"),
    ],
)
def test_a_status_outside_the_vocabulary_is_refused_with_the_nearest(state, command, near):
    """A status that nobody else knows would take the task off every list."""
    with pytest.raises(checks.UnknownStatus) as refused:
        command(state)

    assert near in refused.value.hint
    assert refused.value.exit_code == 2


# --- topics --------------------------------------------------------------------------------------------


def test_a_linked_decision_brings_its_own_event_along(state):
    """Then a window of the topic shows the decision too; and it goes with it again."""
    own = state.decisions["DEC-0001"].event_id

    linked = after(
        state, topics.link(state, topic_id="TOP-001", decisions=["DEC-0001"], agent=CODEX, known=known)
    )
    unlinked = after(
        linked, topics.unlink(linked, topic_id="TOP-001", decisions=["DEC-0001"], agent=CODEX, known=known)
    )

    assert linked.topics["TOP-001"].decision_ids == ("DEC-0002", "DEC-0001")
    assert own in linked.topics["TOP-001"].key_event_ids
    assert unlinked.topics["TOP-001"].decision_ids == ("DEC-0002",)
    assert unlinked.topics["TOP-001"].key_event_ids == state.topics["TOP-001"].key_event_ids


def test_what_is_linked_already_is_left_out_and_nothing_new_is_refused(state):
    """A list of ids may overlap with an earlier one; a list that says nothing is a mistake."""
    [draft] = topics.link(
        state,
        topic_id="TOP-001",
        events=[event_id(3)],
        tasks=["CONV-001", "CONV-002"],
        agent=CODEX,
        known=known,
    )
    assert (draft.event_ids, draft.task_ids) == ((event_id(3),), ("CONV-002",))

    with pytest.raises(checks.NothingToDo):
        topics.link(state, topic_id="TOP-001", tasks=["CONV-001"], agent=CODEX, known=known)
    with pytest.raises(checks.NothingToDo):
        topics.unlink(state, topic_id="TOP-001", tasks=["CONV-002"], agent=CODEX, known=known)
    with pytest.raises(checks.BlankText):
        topics.link(state, topic_id="TOP-001", agent=CODEX, known=known)


def test_every_status_of_a_topic_can_be_reached(state):
    """The older tool knew four, and could set two."""
    for status in ("paused", "archived", "completed", "active"):
        state = after(state, topics.update(state, topic_id="TOP-001", status=status, agent=CODEX))

        assert state.topics["TOP-001"].status == status


def test_a_topic_without_a_summary_has_its_title(state):
    """As the older tool did; a blank one would tell a reader nothing."""
    [draft] = topics.create(
        state, title="Paper", keywords=["thick", "thick"], events=[event_id(3)], agent=CODEX, known=known
    )

    assert (draft.summary, draft.keywords, draft.event_ids) == ("Paper", ("thick",), (event_id(3),))


def test_closing_a_closed_topic_is_refused(state):
    """With the command that takes it up again."""
    with pytest.raises(checks.AlreadyClosed) as refused:
        topics.close(state, topic_id="TOP-002", agent=CODEX)

    assert "topic update TOP-002 --status active" in refused.value.hint


# --- the objective -------------------------------------------------------------------------------------


def test_an_objective_is_set_cleared_and_not_set_twice(state):
    """History is kept, so a line that says the same again is noise for ever."""
    cleared = after(state, goal.set_goal(state, text=" ", agent=HUMAN))

    with pytest.raises(checks.NothingToDo):
        goal.set_goal(state, text="Ship the tide table before the spring tide ", agent=HUMAN)
    with pytest.raises(checks.NothingToDo):
        goal.set_goal(cleared, text="", agent=HUMAN)
    assert [one.goal for one in cleared.goals] == [
        "Ship the tide table",
        "Ship the tide table before the spring tide",
        "",
    ]


# --- all of them ---------------------------------------------------------------------------------------

COMMANDS = {
    "decide": lambda s, words: decisions.decide(s, text=words, rationale=words, agent=CODEX, known=known),
    "retract": lambda s, words: decisions.retract(s, decision_id="DEC-0002", rationale=words, agent=CODEX),
    "create a task": lambda s, words: tasks.create(
        s, title=words, description=words, next_step=words, agent=CODEX, known=known
    ),
    "update a task": lambda s, words: tasks.update(
        s, task_id="CONV-001", title=words, description=words, next_step=words, agent=CODEX, known=known
    ),
    "close a task": lambda s, words: tasks.close(
        s, task_id="CONV-001", evidence=words, agent=CODEX, known=known
    ),
    "reopen a task": lambda s, words: tasks.reopen(s, task_id="CONV-004", evidence=words, agent=CODEX),
    "create a topic": lambda s, words: topics.create(
        s, title=words, summary=words, keywords=[words], agent=CODEX, known=known
    ),
    "update a topic": lambda s, words: topics.update(
        s, topic_id="TOP-001", title=words, summary=words, agent=CODEX
    ),
    "close a topic": lambda s, words: topics.close(s, topic_id="TOP-001", evidence=words, agent=CODEX),
    "set the objective": lambda s, words: goal.set_goal(s, text=words, agent=CODEX),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_text_that_is_too_long_is_refused_without_quoting_it(state, command):
    """It would be in every handoff; 64 KiB are a small book."""
    words = "secret plan " * 6000

    with pytest.raises(checks.TextTooLong) as refused:
        COMMANDS[command](state, words)

    assert "secret plan" not in f"{refused.value.message} {refused.value.hint}"
    assert COMMANDS[command](state, "é" * (checks.LONGEST // 2))


@pytest.mark.parametrize(
    "command", ["decide", "create a task", "create a topic", "update a task", "update a topic"]
)
@pytest.mark.parametrize("blank", ["", "  ", "\n\t\u00a0"])
def test_a_blank_text_is_refused(state, command, blank):
    """An event that says nothing can never be taken back."""
    with pytest.raises(checks.BlankText):
        COMMANDS[command](state, blank)


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("event", lambda s: decisions.decide(s, text="x", sources=["beef" * 4], agent=CODEX, known=known)),
        ("topic", lambda s: decisions.decide(s, text="x", topics=["TOP-404"], agent=CODEX, known=known)),
        ("decision", lambda s: decisions.retract(s, decision_id="DEC-0404", agent=CODEX)),
        ("task", lambda s: tasks.update(s, task_id="CONV-404", title="x", agent=CODEX, known=known)),
        ("task", lambda s: tasks.close(s, task_id="CONV-404", agent=CODEX, known=known)),
        ("task", lambda s: tasks.reopen(s, task_id="CONV-404", agent=CODEX)),
        ("topic", lambda s: tasks.create(s, title="x", topics=["TOP-404"], agent=CODEX, known=known)),
        ("topic", lambda s: topics.update(s, topic_id="TOP-404", title="x", agent=CODEX)),
        ("topic", lambda s: topics.close(s, topic_id="TOP-404", agent=CODEX)),
        ("event", lambda s: topics.link(s, topic_id="TOP-001", events=["nothing"], agent=CODEX, known=known)),
        ("decision", lambda s: topics.link(s, topic_id="TOP-001", decisions=["x"], agent=CODEX, known=known)),
        ("task", lambda s: topics.unlink(s, topic_id="TOP-001", tasks=["x"], agent=CODEX, known=known)),
    ],
)
def test_an_unknown_id_is_refused_before_an_event_exists(state, kind, command):
    """The older tool appended first and looked later: its log never verified again."""
    with pytest.raises(UnknownName) as refused:
        command(state)

    assert refused.value.kind == kind


@settings(max_examples=150)
@given(st.sampled_from(sorted(COMMANDS)), st.text(max_size=40))
def test_a_draft_that_was_accepted_is_what_the_board_says_afterwards(command, words):
    """What is refused is refused with a code and a way on; nothing else is raised, whatever is typed."""
    state = catalogue.fold(rich().entries)

    code = ""
    try:
        drafts = COMMANDS[command](state, words)
    except ConversationError as refused:
        code, drafts = refused.code, []

    if code:
        assert code.startswith("curation.")
        return
    now = after(state, drafts)
    assert now != state
    for name in catalogue.RENDERERS:
        catalogue.render(name, now, LogBuilder().head)
