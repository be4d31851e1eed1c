"""What each system is given to start the watcher: golden texts, odd paths, and a real systemd where there is one."""

import os
import plistlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from builders.watching import watching
from builders.world import World
from conversation_esaa.watch.service import install, launchd, systemd, windows
from conversation_esaa.watch.service.order import Order

GOLDEN = Path(__file__).parents[1] / "golden" / "services"
PLAIN = Order(
    command=["/opt/py/bin/python3", "-P", "-m", "conversation_esaa", "watch", "--registered"],
    environ={"CODEX_HOME": "/data/codex", "CLAUDE_CONFIG_DIR": "/data/my claude"},
    user="OFFICE\\ana",
)
ODD = "a b\"c'd%h$HOME\\é→&<>;#`\t"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("conversation-esaa.service", systemd.unit(PLAIN).encode()),
        ("conversation-esaa.watch.plist", launchd.plist(PLAIN)),
        ("watch-task.xml", windows.task(PLAIN).encode()),
    ],
)
def test_the_text_is_the_golden_one(name, content):
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_bytes(content)

    assert content == golden.read_bytes()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_understands_the_unit_whatever_the_path(tmp_path: Path):
    """Blanks, quotes, `%`, `$`, backslashes and letters that are not ASCII."""
    program = tmp_path / ODD.rstrip() / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    unit = tmp_path / "conversation-esaa.service"
    order = Order(command=[str(program), "-c", ODD], environ={"CODEX_HOME": ODD})
    unit.write_text(systemd.unit(order), "utf-8")

    ran = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert str(unit.name) not in ran.stderr, ran.stderr


def test_launchd_reads_back_what_was_ordered():
    order = Order(command=["/a b/python", ODD], environ={"CODEX_HOME": ODD})

    found = plistlib.loads(launchd.plist(order))

    assert found["ProgramArguments"] == order.command
    assert found["EnvironmentVariables"] == order.environ
    assert found["KeepAlive"] == {"SuccessfulExit": False}


def test_windows_reads_back_what_was_ordered():
    odd = ODD.strip()
    order = Order(command=[f"C:\\{odd}\\pythonw.exe", "-m", odd], user=f"PC\\{odd}")
    name = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"

    service = windows.service(order, state=Path("state"))
    task = ET.fromstring(service.content.decode("utf-16"))

    assert task.findtext(f".//{name}Command") == order.command[0]
    assert task.findtext(f".//{name}Arguments") == subprocess.list2cmdline(order.command[1:])
    assert {user.text for user in task.iter(f"{name}UserId")} == {order.user}
    assert task.findtext(f".//{name}MultipleInstancesPolicy") == "IgnoreNew"


def test_the_service_knows_where_the_agents_of_this_environment_are(world: World):
    """A service begins with another environment than the shell that ordered it."""
    world.environ = {"CLAUDE_CONFIG_DIR": "/data/claude", "CODEX_HOME": "", "SECRET_TOKEN": "x"}

    content = install.planned(world.machine(), poll=True, system="linux").content.decode()

    assert 'Environment="CLAUDE_CONFIG_DIR=/data/claude"' in content
    assert "SECRET" not in content
    assert "CODEX_HOME" not in content
    assert '"watch" "--registered" "--poll"' in content


class System:
    """A system that does what it is told, and remembers."""

    def __init__(self, *, failing: str = "(none)") -> None:
        self.commands: list[str] = []
        self._failing = failing

    def __call__(self, command):
        self.commands.append(" ".join(command))
        return (1, "Failed to connect to bus") if self._failing in self.commands[-1] else (0, "")


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_install_and_uninstall_leave_nothing(world: World, system):
    service = install.planned(world.machine(), system=system)
    told = System()
    before = {path for path in world.home.rglob("*") if path.is_file()}

    install.install(world.machine(), service, run=told)
    installed = service.file.read_bytes(), list(told.commands)
    removed = install.uninstall(world.machine(), service, run=told)

    assert installed[0] == service.content
    assert [" ".join(command) for command in service.start] == installed[1][-len(service.start) :]
    assert removed is True
    assert {path for path in world.home.rglob("*") if path.is_file()} == before
    assert install.uninstall(world.machine(), service, run=told) is False


def test_a_file_of_somebody_else_is_left_alone(world: World):
    service = install.planned(world.machine(), system="linux")
    service.file.parent.mkdir(parents=True)
    service.file.write_text("[Service]\nExecStart=/usr/bin/theirs\n")
    told = System()

    for act in (install.install, install.uninstall):
        with pytest.raises(install.ServiceRefused, match=r"not written by us|was not written"):
            act(world.machine(), service, run=told)

    assert "theirs" in service.file.read_text()
    assert told.commands == []


def test_where_no_user_manager_answers_the_mend_is_named(world: World):
    service = install.planned(world.machine(), system="linux")

    with pytest.raises(install.ServiceRefused) as refused:
        install.install(world.machine(), service, run=System(failing="daemon-reload"))

    assert "Failed to connect to bus" in refused.value.message
    assert "systemctl --user enable --now conversation-esaa.service" in refused.value.hint
    assert "XDG_RUNTIME_DIR" in refused.value.hint
    assert service.file.exists()


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_dry_run_shows_all_and_does_nothing(world: World, monkeypatch, system):
    world.workspace()
    planned = install.planned
    monkeypatch.setattr(
        install, "planned", lambda machine, **options: planned(machine, **options, system=system)
    )

    ran = world.run("watch", "--install", "--dry-run")

    assert (ran.code, ran.err) == (0, "")
    assert "--registered" in ran.out
    assert "$ " in ran.out
    assert not list(world.home.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals and pipes are told the POSIX way")
def test_install_replaces_the_watcher_that_runs(world: World):
    """FC-B09: two versions; the one that is installed is the one that stays."""
    world.workspace()
    service = install.planned(world.machine(), system="linux")
    with watching(world, "--poll") as watcher:
        install.install(world.machine(), service, run=System())
        ran = watcher.ended()

    assert (ran.code, "stopped" in watcher.lines[-1]) == (0, True)


def test_a_service_that_does_not_run_is_not_called_started(world: World, monkeypatch):
    """The system took it and it ended at once: a Python that is gone, a home that cannot be read."""
    monkeypatch.setattr(install, "BEGINS_S", 0.1)
    service = install.planned(world.machine(), system="linux")

    with pytest.raises(install.ServiceRefused) as refused:
        install.await_begin(world.machine(), service)

    assert "journalctl --user -u conversation-esaa.service" in refused.value.hint


SCRIPT = """\
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 && chmod 700 /run/user/0 || exit 77
export XDG_RUNTIME_DIR=/run/user/0
/lib/systemd/systemd --user --log-target=null </dev/null >/dev/null 2>&1 & manager=$!
for i in $(seq 100); do [ -S /run/user/0/systemd/private ] && break; sleep 0.1; done
timeout 10 systemctl --user show -p Version >/dev/null || { kill -KILL $manager; exit 77; }
cesaa() { "$PYTHON" -m conversation_esaa "$@"; }
pid() { systemctl --user show -p MainPID --value conversation-esaa; }
cesaa watch --install || exit 1
first=$(pid); cesaa watch --install || exit 1; second=$(pid)
[ "$first" != "$second" ] && [ ! -e /proc/$first ] && echo "replaced"
cesaa watch --status
cesaa watch --uninstall || exit 1
[ ! -e /proc/$second ] && echo "ended"
cesaa watch --status
kill -KILL $manager
"""


@pytest.mark.skipif(not os.path.exists("/lib/systemd/systemd"), reason="no systemd here")
def test_a_real_systemd_starts_replaces_and_stops_it(world: World):
    """The user manager itself, in a mount namespace of its own: a test of the unit, not of our idea of one."""
    namespace = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() or subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("takes root and a mount namespace")
    world.claude().user("one")
    world.workspace()
    bare = {"HOME": str(world.home), "PATH": os.environ["PATH"]}
    installed = [sys.executable, "-P", "-c", "import conversation_esaa"]
    if subprocess.run(installed, env=bare, cwd=world.home, capture_output=True, check=False).returncode:
        pytest.skip("takes an installed package: a service begins with an environment of its own")
    ran = subprocess.run(
        [*namespace, "sh", "-c", SCRIPT.replace('"$PYTHON"', f'"{sys.executable}"')],
        cwd=world.project,
        env=bare,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if ran.returncode == 77:
        pytest.skip("no user manager starts here")

    assert "replaced" in ran.stdout, ran.stdout + ran.stderr
    assert "the watcher runs for 1 workspace" in ran.stdout
    assert "is removed" in ran.stdout
    assert "ended" in ran.stdout
    assert "the watcher does not run" in ran.stdout
    assert world.said() == [("user", "one")]
