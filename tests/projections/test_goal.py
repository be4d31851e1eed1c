"""The objective: one holds, the earlier ones are remembered."""

from conversation_esaa.events import GoalSet, TaskCreated
from conversation_esaa.projections import goal


def test_the_last_objective_holds_and_the_earlier_ones_are_kept():
    """Why the work changed direction is in the history."""
    goals = goal.fold(
        [GoalSet(goal="Find the leak"), TaskCreated(task_id="CONV-001"), GoalSet(goal="Mend the roof")]
    )

    assert goal.current(goals).goal == "Mend the roof"
    assert [one.goal for one in goals] == ["Find the leak", "Mend the roof"]


def test_an_empty_objective_says_that_there_is_none():
    """An objective that was reached should not be handed on."""
    assert goal.current(goal.fold([GoalSet(goal="Mend the roof"), GoalSet(goal="")])) is None
    assert goal.current(goal.EMPTY) is None


def test_the_value_remembers_the_newest_ones_only():
    """It is stored after every capture; the log has them all."""
    goals = goal.fold(GoalSet(goal=f"Goal {number}") for number in range(goal.KEPT + 5))

    assert [goals[0].goal, goals[-1].goal, len(goals)] == ["Goal 5", f"Goal {goal.KEPT + 4}", goal.KEPT]
