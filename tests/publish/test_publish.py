"""Read models are written only where they change, and whatever happened to them meanwhile they end as a cold
rendering gives them.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from conversation_esaa import publish
from conversation_esaa.agents.resume import resume_command
from conversation_esaa.layout import READ_MODELS
from conversation_esaa.lookup import IndexUnusable
from conversation_esaa.projections import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from builders.world import World

SELDOM = catalogue.SELDOM_CHANGED


@pytest.fixture
def curated(world: World) -> World:
    """Everything is there, and all read models are as they were written."""
    world.claude().user("one")
    world.sync()
    workspace = world.workspace()
    workspace.set_goal("A shop that answers")
    workspace.decide("Keep it", rationale="Because", sources=["last"])
    workspace.create_task("Do it")
    workspace.create_topic("Ports")
    return world


def models(world: World) -> dict[str, bytes]:
    return {name: (world.store / name).read_bytes() for name in READ_MODELS}


def cold(world: World) -> dict[str, bytes]:
    """What rendering everything anew from the log gives."""
    workspace = world.workspace()
    state, head = catalogue.fold(workspace.entries()), workspace.log.head()
    return {name: catalogue.render(name, state, head, resume=resume_command).encode() for name in READ_MODELS}


def with_the_same_size(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-3, os.SEEK_END)
        file.write(b"XY")


def with_the_same_size_and_time(path: Path) -> None:
    was = path.stat()
    with_the_same_size(path)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def with_another_file_of_the_same_size_and_time(path: Path) -> None:
    was = path.stat()
    other = path.with_name("other")
    other.write_bytes(b"x" * was.st_size)
    os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
    other.replace(path)


def with_a_link(path: Path) -> None:
    moved = path.with_name("moved")
    path.rename(moved)
    path.symlink_to(moved)


EDITS: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"more\n"),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "the same size": with_the_same_size,
    "the same size and time": with_the_same_size_and_time,
    "another file": with_another_file_of_the_same_size_and_time,
    "a link": with_a_link,
    "touched": os.utime,
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", SELDOM)
def test_an_edit_at_once_is_noticed_by_the_next_turn_and_mended(curated: World, name, edit):
    """Also one within a tick of the clock behind us, of the same length, or that hides when it was made."""
    EDITS[edit](curated.store / name)
    curated.claude("further").user("two")

    curated.sync()

    assert models(curated) == cold(curated)


@pytest.mark.parametrize("name", SELDOM)
def test_a_file_of_ours_is_dated_back_so_that_no_write_gives_it_the_same_time(curated: World, name):
    """A stat shows everything that happens after it was taken, however soon."""
    looked = (curated.store / name).stat()

    assert looked.st_ctime_ns - looked.st_mtime_ns > 1_900_000_000


@pytest.mark.parametrize("step", range(4))
def test_a_run_that_is_killed_between_two_files_leaves_each_old_or_new_and_the_next_one_ends_it(
    curated: World, monkeypatch, step
):
    """Each file is replaced in one step, and the last one tells that all were."""
    before = models(curated)
    real, count = publish.moved, 0

    def killed(*args: object, **more: object) -> object:
        nonlocal count
        count += 1
        if count > step:
            raise KeyboardInterrupt
        return real(*args, **more)

    curated.claude("further").user("two")
    with monkeypatch.context() as patch:
        patch.setattr("conversation_esaa.opened.moved", killed)
        with pytest.raises(KeyboardInterrupt):
            curated.workspace().sync()
    between = models(curated)
    curated.sync()
    after = models(curated)

    assert all(between[name] in (before[name], after[name]) for name in READ_MODELS)
    assert after == cold(curated)


def test_a_run_that_is_killed_before_the_index_knows_of_the_files_is_ended_by_the_next_one(
    curated: World, monkeypatch
):
    """What the index says of a file is then of the file before it."""
    curated.claude("further").user("two")
    with monkeypatch.context() as patch:
        patch.setattr(
            "conversation_esaa.index.store.Index.keep_published",
            lambda *_: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            curated.workspace().sync()
    curated.claude("third").user("three")
    curated.sync()

    assert models(curated) == cold(curated)


def test_what_somebody_writes_while_a_file_is_copied_is_no_part_of_the_copy(curated: World, monkeypatch):
    """The file is rendered then."""
    path = curated.store / "decisions.md"
    copied = publish._copied

    def disturbed(first: bytes, source, stamp):
        if source.name == path:
            with path.open("ab") as file:
                file.write(b"by hand")
        yield from copied(first, source, stamp)

    monkeypatch.setattr(publish, "_copied", disturbed)
    curated.claude("further").user("two")
    curated.sync()

    assert models(curated) == cold(curated)


def test_a_new_turn_writes_no_file_that_holds_the_old_position(curated: World):
    """A hundred turns one by one: the position grows from one digit to three, and each file follows."""
    claude = curated.claude("further")
    for number in range(12):
        claude.user(f"turn {number}")
        curated.sync()

        assert models(curated) == cold(curated)


@pytest.mark.parametrize("damage", ["DELETE FROM fold", "UPDATE fold SET state = x'7b'"])
@pytest.mark.parametrize("then", ["a turn", "a decision"])
def test_what_the_index_has_lost_of_decisions_is_read_from_the_log(curated: World, damage, then):
    """The part that a turn does not need is missed by whoever does."""
    with sqlite3.connect(curated.store / "index.db") as database:
        database.execute(f"{damage} WHERE part = 2")
    (curated.store / "decisions.md").unlink()
    if then == "a turn":
        curated.claude("further").user("two")
        curated.sync()
    else:
        curated.workspace().decide("Another one")

    assert models(curated) == cold(curated)


def test_an_index_that_fails_in_the_middle_leaves_no_read_model_behind(curated: World, monkeypatch):
    """Whatever was written before it failed is looked at again."""
    monkeypatch.setattr(
        "conversation_esaa.index.store.Index._completed",
        lambda *_: (_ for _ in ()).throw(IndexUnusable("gone")),
    )
    (curated.store / "tasks.json").write_bytes(b"{}")
    curated.claude("further").user("two")
    curated.sync()

    assert models(curated) == cold(curated)
