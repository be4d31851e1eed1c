"""Tasks: what an agent finds that it promised, or that another one did."""

from builders.logs import LogBuilder, reference, rich
from conversation_esaa.events import TaskClosed, TaskCreated, TaskReopened, TaskUpdated
from conversation_esaa.projections import catalogue, tasks


def created(**more):
    return TaskCreated(task_id="CONV-001", title="Water the plants", ts="2026-01-01T00:00:00.000Z", **more)


def test_the_reference_log_gives_the_tasks_it_is_known_to_hold():
    """People move over with a log of the older tool, and find the same tasks in it."""
    entries, _ = reference()

    board = tasks.fold(entry.event for entry in entries)

    facts = [
        (t.id, t.title, t.status, t.description, t.next_step, t.completed_at, t.evidence)
        for t in board.values()
    ]
    assert facts == [
        (
            "CONV-001",
            "Write the hook installer",
            "completed",
            None,
            "Backport to the release branch",
            "2026-06-21T15:40:00.000Z",
            "installer tests pass",
        ),
        ("CONV-002", "Test: existing settings survive", "open", None, None, None, None),
        ("CONV-010", "Document the workspace boundary", "open", None, None, None, None),
    ]
    assert tasks.open_tasks(board)[0].id == "CONV-002"


def test_a_task_without_a_status_is_open():
    """Lines of the older tool may leave it out."""
    board = tasks.fold([created()])

    assert board["CONV-001"].status == "open"


def test_an_update_changes_only_what_it_states():
    """An agent that sets a next step does not know, and must not undo, what another one wrote."""
    board = tasks.fold(
        [
            created(description="The two at the window", next_step="Buy a can"),
            TaskUpdated(v=2, task_id="CONV-001", next_step="Fill it"),
        ]
    )

    task = board["CONV-001"]
    assert (task.title, task.description, task.next_step) == (
        "Water the plants",
        "The two at the window",
        "Fill it",
    )


def test_an_empty_string_clears_in_our_lines_and_says_nothing_in_those_of_the_older_tool():
    """The older tool wrote an empty string for an option that was not given."""
    start = tasks.fold([created(next_step="Buy a can")])

    ours = tasks.step(start, TaskUpdated(v=2, task_id="CONV-001", next_step=""))
    older = tasks.step(start, TaskUpdated(v=1, task_id="CONV-001", next_step=""))

    assert ours["CONV-001"].next_step is None
    assert older["CONV-001"].next_step == "Buy a can"


def test_an_update_after_a_close_leaves_the_close_alone_unless_it_states_a_status():
    """What is done stays done when somebody only adds a next step to it."""
    closed = tasks.fold(
        [created(), TaskClosed(task_id="CONV-001", ts="2026-01-02T00:00:00.000Z", evidence="they are wet")]
    )

    noted = tasks.step(closed, TaskUpdated(v=2, task_id="CONV-001", next_step="Again on Friday"))
    opened = tasks.step(closed, TaskUpdated(v=1, task_id="CONV-001", status="in_progress"))

    assert (noted["CONV-001"].status, noted["CONV-001"].evidence) == ("completed", "they are wet")
    assert noted["CONV-001"].completed_at == "2026-01-02T00:00:00.000Z"
    assert (opened["CONV-001"].status, opened["CONV-001"].completed_at) == ("in_progress", None)


def test_a_reopened_task_is_open_and_says_why():
    """Evidence that turned out wrong must not go on vouching for the task."""
    board = tasks.fold(
        [
            created(),
            TaskClosed(task_id="CONV-001", evidence="they are wet"),
            TaskReopened(task_id="CONV-001", evidence="it was the wrong pot"),
        ]
    )

    task = board["CONV-001"]
    assert (task.status, task.completed_at, task.evidence) == ("open", None, None)
    assert task.reopened_because == "it was the wrong pot"


def test_events_about_unknown_tasks_change_nothing():
    """The older tool could write them, and then never verify again."""
    board = tasks.fold([created()])

    for event in (
        TaskUpdated(task_id="CONV-9", status="open"),
        TaskClosed(task_id="CONV-9"),
        TaskReopened(task_id="CONV-9"),
    ):
        assert tasks.step(board, event) == board


def test_what_is_in_progress_comes_first_and_what_is_blocked_last():
    """The next action should be something that can be done."""
    board = catalogue.fold(rich().entries).tasks

    assert [task.id for task in tasks.open_tasks(board)] == ["CONV-001", "CONV-002", "CONV-003"]


def test_a_status_that_nobody_knows_counts_as_open():
    """Rather one task too many in the handoff than one that nobody sees any more."""
    board = tasks.fold([created(status="waiting for rain")])

    assert tasks.open_tasks(board) == [board["CONV-001"]]


def test_stepping_leaves_the_value_it_started_from_alone():
    """A fold may be resumed twice from the same snapshot."""
    before = tasks.fold([created()])

    tasks.step(before, TaskClosed(task_id="CONV-001"))

    assert before["CONV-001"].status == "open"


def test_a_secret_in_a_task_is_masked_in_the_value_already():
    """The value is cached on disk, and nothing but the log may hold a secret."""
    token = "ghp_" + "R4nd0mMadeUpTokenValue0123456789abcd"[:36]
    log = LogBuilder()
    log.add(TaskCreated(task_id="CONV-001", title=f"Rotate {token}", description=token))

    board = catalogue.fold(log.entries).tasks

    assert token not in repr(board)
