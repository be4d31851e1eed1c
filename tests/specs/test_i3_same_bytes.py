"""I3: read models are pure functions of the log. Same log, same bytes, wherever and however they are made."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.logs import rich
from conversation_esaa.events import Head
from conversation_esaa.layout import READ_MODELS
from conversation_esaa.projections import catalogue, handoff, standing

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World


def models(store: Path) -> dict[str, bytes]:
    return {name: (store / name).read_bytes() for name in READ_MODELS}


def lived_in(world: World) -> None:
    world.claude().user("Which port? → 8080, naïvely").assistant(
        "İ, ı, ß and 日本語 sort differently by locale."
    )
    world.codex().user("Go on.").assistant("Done.")
    world.grok().user("And in winter?")
    world.sync()
    workspace = world.workspace()
    for name in ("Zürich", "ångström", "Öl", "apple", "Zebra"):
        workspace.create_topic(name, keywords=[name, "İstanbul"], events=["last"])
        workspace.decide(f"Take {name}")


ENVIRONMENTS = [
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "4242"},
    {"TZ": "Asia/Kathmandu"},
    {"TZ": "America/New_York", "LC_ALL": "C"},
    {"LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8"},
    {"HOME": "/nonexistent", "COLUMNS": "20", "NO_COLOR": "1"},
    {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
]


def test_the_same_log_gives_the_same_bytes_in_any_environment(world: World, tmp_path):
    """Hash seed, time zone, locale, home and present directory decide nothing."""
    lived_in(world)
    expected = models(world.store)
    for environ in ENVIRONMENTS:
        for name in READ_MODELS:
            (world.store / name).unlink()

        ran = world.wait(world.process("project", **environ))

        assert ran.code == 0, ran.err
        assert models(world.store) == expected, environ


def test_the_same_log_gives_the_same_bytes_in_another_place(world: World, tmp_path):
    """On another machine, under another name, from another directory."""
    lived_in(world)
    elsewhere = tmp_path / "another place" / "Übung"
    elsewhere.mkdir(parents=True)
    shutil.copytree(world.store, elsewhere / ".conversation-esaa")
    for name in READ_MODELS:
        (elsewhere / ".conversation-esaa" / name).unlink()

    ran = world.run("project", "--workspace", str(elsewhere), present=tmp_path)

    assert ran.code == 0, ran.err
    assert models(elsewhere / ".conversation-esaa") == models(world.store)


def test_what_is_published_step_by_step_is_what_a_cold_replay_gives(world: World):
    """Each command renews the read models from where they were; `project` starts from nothing."""
    lived_in(world)
    step_by_step = models(world.store)

    for name in READ_MODELS:
        (world.store / name).unlink()
    world.run("project")

    assert models(world.store) == step_by_step


@given(st.lists(st.integers(0, len(rich().entries)), max_size=6))
def test_a_fold_in_any_pieces_is_the_fold_in_one(cuts):
    """What makes it safe to go on from a kept state, after every single event if need be."""
    log = rich()
    edges = [0, *sorted(cuts), len(log.entries)]

    state = catalogue.fold([])
    for start, end in itertools.pairwise(edges):
        state = catalogue.fold(log.entries[start:end], state)

    cold = catalogue.fold(log.entries)
    for name in READ_MODELS:
        assert catalogue.render(name, state, log.head) == catalogue.render(name, cold, log.head), name


@given(st.lists(st.integers(0, len(rich().entries)), max_size=6), st.integers(0, 3))
def test_a_fold_of_which_little_is_at_hand_gives_what_all_of_it_gives(cuts, kept):
    """Each piece is another command: it reads what pages tell, and the rest only when it must."""
    log = rich()
    edges = [0, *sorted(cuts), len(log.entries)]

    fold = catalogue.Fold.of(catalogue.State())
    for start, end in itertools.pairwise(edges):
        fold = stored_and_read_again(fold.forward(log.entries[start:end]), kept)

    cold = catalogue.fold(log.entries)
    for name in READ_MODELS:
        assert catalogue.render(name, fold, log.head) == catalogue.render(name, cold, log.head), name
    for budget in (320, 2000, 100_000):
        assert handed_off(fold, log.head, budget) == handed_off(catalogue.Fold.of(cold), log.head, budget)
    assert fold.whole() == cold


def stored_and_read_again(fold, kept):
    """As the index does it, with room for `kept` of each list."""
    moving, curated = catalogue.parts(fold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standing, "KEPT", kept)
        told, whole = curated()
    moving, told, whole = (
        msgspec.json.decode(msgspec.json.encode(part), type=type(part)) for part in (moving, told, whole)
    )
    brief = catalogue.joined(moving, told)
    assert brief is not None
    return catalogue.Fold(brief, lambda brief: catalogue.completed(brief, whole))


def handed_off(fold, head, budget):
    return fold.told(lambda brief: handoff.render(brief, head, budget=budget, resume=catalogue.no_resume))


@pytest.mark.parametrize("name", READ_MODELS)
def test_rendering_changes_no_state(name):
    """Twice the same state, twice the same text."""
    log = rich()
    state = catalogue.fold(log.entries)
    head = Head(seq=log.head.seq, hash=log.head.hash)

    assert catalogue.render(name, state, head) == catalogue.render(name, state, head)
