"""The list of workspaces: asked for, complete, private, in the place each system has for it."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from builders.world import World
from conversation_esaa.log.lock import held, is_held
from conversation_esaa.machine import state_directory
from conversation_esaa.registered import StateUnusable, forget, list_file, register, registered


def test_a_workspace_is_on_the_list_once_and_in_its_order(world: World):
    machine = world.machine()

    first = [register(machine, Path("/b")), register(machine, Path("/a")), register(machine, Path("/b"))]
    listed = registered(machine)
    second = [forget(machine, Path("/b")), forget(machine, Path("/b"))]

    assert first == [True, True, False]
    assert listed == [Path("/b"), Path("/a")]
    assert second == [True, False]
    assert registered(machine) == [Path("/a")]


def test_reading_an_absent_list_makes_nothing(world: World):
    assert registered(world.machine()) == []
    assert list(world.home.iterdir()) == []


def test_many_processes_at_once_lose_no_entry(world: World):
    """Hooks that are enabled in several projects by one script."""
    code = (
        "import sys; from pathlib import Path; from conversation_esaa.machine import this_machine\n"
        "from conversation_esaa.registered import register\n"
        "for n in range(10): register(this_machine(), Path(f'/{sys.argv[1]}-{n}'))"
    )
    import subprocess

    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(number)], env=world.process_environ())
        for number in range(4)
    ]
    assert [process.wait(timeout=60) for process in processes] == [0] * 4
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: register(world.machine(), Path(f"/thread-{n}")), range(20)))

    assert len(registered(world.machine())) == len(set(registered(world.machine()))) == 60


def test_a_path_that_is_no_utf_8_comes_back_as_it_was(world: World):
    odd = Path("/caf\udce9 \x1b[2J\n“%”")
    register(world.machine(), odd)

    assert registered(world.machine()) == [odd]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"schema": "conversation-esaa.registered/2"}', b"\xff"]
)
def test_what_is_not_our_list_is_neither_read_nor_written(world: World, content):
    register(world.machine(), Path("/a"))
    list_file(world.machine()).write_bytes(content)

    with pytest.raises(StateUnusable):
        registered(world.machine())
    with pytest.raises(StateUnusable):
        register(world.machine(), Path("/b"))
    assert list_file(world.machine()).read_bytes() == content


@pytest.mark.parametrize(
    ("system", "environ", "expected"),
    [
        ("linux", {}, "HOME/.local/state/conversation-esaa"),
        ("linux", {"XDG_STATE_HOME": "/x"}, "/x/conversation-esaa"),
        ("linux", {"XDG_STATE_HOME": "x"}, "HOME/.local/state/conversation-esaa"),
        ("darwin", {"XDG_STATE_HOME": "/x"}, "HOME/Library/Application Support/conversation-esaa"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/conversation-esaa"),
        ("win32", {}, "HOME/AppData/Local/conversation-esaa"),
        ("linux", {"CONVERSATION_ESAA_STATE_DIR": "/s", "XDG_STATE_HOME": "/x"}, "/s"),
        ("linux", {"CONVERSATION_ESAA_STATE_DIR": "s"}, "PRESENT/s"),
    ],
)
def test_where_the_state_of_a_user_is(world: World, system, environ, expected):
    world.environ = environ
    expected = expected.replace("HOME", str(world.home)).replace("PRESENT", str(world.project))

    assert state_directory(world.machine(), system=system) == Path(expected)


def test_it_is_where_platformdirs_would_have_it(world: World, monkeypatch):
    """The oracle, for the system this runs on."""
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.setenv("HOME", str(world.home))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)

    ours = state_directory(world.machine())

    assert ours == platformdirs.user_state_path("conversation-esaa", appauthor=False)


def test_asking_who_holds_a_lock_takes_it_from_nobody(tmp_path: Path):
    path = tmp_path / "run" / "watcher.lock"
    assert not is_held(path)
    with held(path, purpose="watch", wait_s=0):
        assert is_held(path)
        assert is_held(path)
    assert not is_held(path)
    assert path.read_bytes().strip() == b""
