"""Exit codes are what scripts read. Each of them, shown by the command that gives it."""

import errno
from pathlib import Path

import pytest

from builders.world import World
from conversation_esaa.log.lock import held


@pytest.fixture
def talk(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    world.run("up")
    return world


def test_0_is_done(talk):
    assert talk.run("context").code == 0


def test_1_is_refused_or_failed(talk):
    """Understood, and not possible."""
    assert talk.run("task", "close", "CONV-009").code == 1


def test_2_is_wrong_usage(talk):
    """Not understood."""
    assert talk.run("context", "--last", "many").code == 2


def test_3_is_a_problem_that_was_found_in_the_log(talk):
    """What `verify` is run for."""
    log = talk.store / "activity.jsonl"
    log.write_bytes(log.read_bytes().replace(b"It is 8080.", b"It is 9090."))

    ran = talk.run("verify", "--deep")

    assert (ran.code, ran.err) == (3, "")


def test_3_is_a_read_model_that_was_edited(talk):
    """For a continuous check: `project --check` changes nothing."""
    state = talk.store / "state.md"
    state.write_text("edited\n")

    assert talk.run("project", "--check").code == 3
    assert state.read_text() == "edited\n"
    assert talk.run("project").code == 0
    assert talk.run("project", "--check").code == 0


def test_3_is_a_capture_that_could_not_read_everything(talk, monkeypatch):
    """The rest was captured; a script that only looks at the code has to learn of it."""
    closed = talk.claude("claude-2").user("Not for your eyes.").path
    talk.claude("claude-3").user("And in tests?")
    opened = Path.open

    def refusing(path, *args, **options):
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refusing)
    ran = talk.run("sync")

    assert ran.code == 3
    assert talk.turns()[-1].text == "And in tests?"
    assert f"{closed}: Permission denied" in ran.out
    assert "but parts of claude-code could not be read" in talk.run("context").out


def test_4_is_no_workspace(world):
    assert world.run("status").code == 4


def test_5_is_a_lock_that_was_not_given_in_time(talk):
    """Another process writes. Nothing was done; trying again is right."""
    before = talk.bytes_of_store()["activity.jsonl"]
    with held(talk.store / "run" / "write.lock", purpose="a long import", wait_s=0):
        for words in (["goal", "Ship it"], ["decide", "Use it"], ["project"]):
            ran = talk.run(*words, "--lock-timeout", "0")

            assert ran.code == 5
            assert "a long import" in ran.err
            assert "Nothing was written" in ran.err
        assert (
            talk.run("goal", "Ship it", "--lock-timeout", "0", "--json").error["code"] == "log.lock_timeout"
        )

    assert talk.bytes_of_store()["activity.jsonl"] == before
    assert talk.run("goal", "Ship it", "--lock-timeout", "0").code == 0
