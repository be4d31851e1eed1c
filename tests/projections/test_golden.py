"""Whole read models, as they are written: for an empty log, for the v1.1 log, and for a rich one.

After a change that is meant, write them anew with GOLDEN=write and read the difference.
"""

import os

import pytest

from builders.logs import GOLDEN, LogBuilder, reference, rich
from conversation_esaa.layout import READ_MODELS
from conversation_esaa.projections import catalogue


def logs(name):
    if name == "v1_1":
        return reference()
    log = rich() if name == "rich" else LogBuilder()
    return log.entries, log.head


def test_the_catalogue_has_every_read_model_of_the_layout():
    """A name without a rendering would be a file that nobody writes."""
    assert tuple(catalogue.RENDERERS) == READ_MODELS


@pytest.mark.parametrize("log", ["empty", "v1_1", "rich"])
@pytest.mark.parametrize("name", READ_MODELS)
def test_read_models_are_what_they_were(log, name):
    """People and agents read these pages; a change in them is a change to be seen."""
    entries, head = logs(log)

    text = catalogue.render(
        name, catalogue.fold(entries), head, resume=lambda agent, session: f"{agent} --resume {session}"
    )

    golden = GOLDEN / "projections" / log / name
    if os.environ.get("GOLDEN") == "write":
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode()


@pytest.mark.parametrize("name", READ_MODELS)
def test_every_read_model_says_what_it_was_built_from_and_who_rebuilds_it(name):
    """A reader can tell a stale page from a fresh one, and an editor knows better."""
    log = rich()

    text = catalogue.render(name, catalogue.fold(log.entries), log.head)

    assert str(log.head.seq) in text
    assert log.head.hash[:12] in text
    assert "do not edit" in text
    assert "`conversation-esaa project`" in text
