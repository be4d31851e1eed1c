"""The command line as the operating system sees it: real processes, pipes, signals and locales."""

import json
import os
import signal
import subprocess
import sys

import pytest

from builders.world import World
from conversation_esaa.log.lock import held

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and /dev/full are told the POSIX way")


@pytest.fixture
def talk(world: World) -> World:
    claude = world.claude()
    for number in range(300):
        claude.user(f"Question {number} → 日本語 😀 é?").assistant("Because. " * 30)
    world.run("up")
    return world


def run(
    world: World, *argv: str, stdout=subprocess.PIPE, **environ: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "conversation_esaa", *argv],
        cwd=world.project,
        env={**world.process_environ(), **environ},
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )


def shell(world: World, line: str) -> subprocess.CompletedProcess[bytes]:
    """A line of a shell, `cesaa` in it being our command."""
    function = f'cesaa() {{ "{sys.executable}" -m conversation_esaa "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"{function}; {line}"],
        cwd=world.project,
        env=world.process_environ(),
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "command", ["context --last 500 --full", "context --last 500 --full --json", "--help"]
)
def test_a_reader_that_has_seen_enough_ends_the_command_quietly(talk, command):
    """`| head -1`: no traceback, no complaint at exit, and the status of a success."""
    ran = shell(talk, f'cesaa {command} | head -1; echo "${{PIPESTATUS[0]}}"')

    first, status = ran.stdout.decode().splitlines()
    assert (ran.stderr, status) == (b"", "0")
    assert first


@pytest.mark.parametrize("command", ["status", "--version", "--help", "context --help", "sync"])
def test_a_closed_output_is_no_fault(talk, command):
    """`>&-`, as some daemons start their children."""
    ran = shell(talk, f"cesaa {command} >&-")

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", ["status", "context --last 500 --full", "decide Use it"])
def test_a_full_disk_behind_the_output_is_said_once(talk, command):
    """The answer is lost and the status says so; what the command did is done."""
    with open("/dev/full", "wb") as full:
        ran = run(talk, *command.split(), stdout=full)

    assert ran.returncode == 1
    assert ran.stderr.decode().splitlines() == [
        "error: the answer could not be written: No space left on device",
        "hint:  What the command did is done; only its words were lost.",
    ]
    assert len(talk.workspace().state().decisions) == (command == "decide Use it")


WAITING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started deaf to it
sleep = time.sleep
def told(seconds):
    print("waiting", flush=True)
    sleep(seconds)
time.sleep = told
sys.argv = ["conversation-esaa", *sys.argv[1:]]
from conversation_esaa.cli.main import entry
sys.exit(entry())
"""


@pytest.mark.parametrize("words", [["goal", "Ship it"], ["sync"]])
def test_ctrl_c_ends_a_command_with_130_and_one_line(talk, words):
    """Interrupted while it waits for the lock: no traceback, the log untouched, the lock not held."""
    talk.codex().user("New.")
    before = talk.bytes_of_store()["activity.jsonl"]
    with held(talk.store / "run" / "write.lock", purpose="test", wait_s=0):
        process = subprocess.Popen(
            [sys.executable, "-c", WAITING, *words, "--lock-timeout", "100"],
            cwd=talk.project,
            env=talk.process_environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert (
        err.decode()
        == "stopped; what was captured and indexed so far is kept, and the next run goes on there\n"
    )
    assert talk.bytes_of_store()["activity.jsonl"] == before
    assert talk.run(*words).code == 0


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    ],
)
def test_no_locale_breaks_what_was_said(talk, environ):
    """FC-C03: arrows, Japanese and emoji come out as UTF-8 whatever the terminal claims to speak."""
    text = run(talk, "context", "--last", "2", **environ)
    document = run(talk, "context", "--last", "2", "--json", **environ)

    assert (text.returncode, text.stderr) == (0, b"")
    assert "→ 日本語 😀 é" in text.stdout.decode("utf-8")
    assert "→ 日本語 😀 é" in json.loads(document.stdout.decode("utf-8"))["events"][0]["text"]


def test_words_given_in_any_locale_are_kept(talk):
    """A decision typed in a UTF-8 terminal whose locale is C."""
    assert run(talk, "decide", "Größe → 日本", LC_ALL="C").returncode == 0

    assert talk.workspace().state().decisions["DEC-0001"].decision == "Größe → 日本"


def test_bytes_that_are_no_text_are_an_argument_like_any_other(talk):
    """A file name from another encoding in a script; JSON stays JSON."""
    ran = shell(talk, r"cesaa decide $'caf\xe9' --json")

    assert (ran.returncode, ran.stderr) == (0, b"")
    json.loads(ran.stdout.decode("utf-8"))
    ran = shell(talk, r"cesaa show $'caf\xe9caf\xe9' --json")
    assert ran.returncode == 1
    json.loads(ran.stderr.decode("utf-8"))


def test_without_a_home_everything_that_is_here_still_works(talk):
    """FC-N08: HOME unset, as in some services; then no agent is found, and the log answers."""
    environ = talk.process_environ()
    del environ["HOME"]
    # The password database would lead to this machine's real home: there must be no agents in what we ask.
    sealed = {**environ, "CLAUDE_CONFIG_DIR": "/nonexistent", "CODEX_HOME": "/nonexistent"}
    for words in (["context"], ["status"], ["handoff"], ["goal", "Ship it"]):
        ran = subprocess.run(
            [sys.executable, "-m", "conversation_esaa", *words, "--no-sync"],
            cwd=talk.project,
            env=sealed,
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (0, b""), words


def test_a_present_directory_that_was_deleted_is_said_plainly(talk, tmp_path):
    """Somebody removed it in another window."""
    gone = tmp_path / "gone"
    gone.mkdir()
    ran = shell(talk, f'cd "{gone}" && rmdir "{gone}" && cesaa status')

    assert ran.returncode in (1, 4)
    assert ran.stderr.startswith(b"error: ")
    assert b"Traceback" not in ran.stderr
