"""Every command in every situation that annoys: a message and what mends it, and never a traceback."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.world import World
from conversation_esaa.cli.main import COMMANDS
from conversation_esaa.layout import READ_MODELS

# A command line of each command that does something; what it needs is made by `filled`.
CALLS = {
    "up": "up",
    "init": "init",
    "status": "status",
    "doctor": "doctor --no-proof",
    "agents": "agents",
    "stats": "stats",
    "sync": "sync",
    "capture": "capture --from-stdin --agent mine --actor user --key 1",
    "watch": "watch --once",
    "hooks": "hooks",
    "enable-hooks": "enable-hooks --agent codex --dry-run",
    "disable-hooks": "disable-hooks --all",
    "handoff": "handoff",
    "context": "context",
    "show": "show DEC-0001",
    "goal": "goal",
    "goal set": "goal Ship it again",
    "decide": "decide Use another port",
    "task create": "task create Write more",
    "task update": "task update CONV-001 --status in_progress",
    "task list": "task list",
    "task show": "task show CONV-001",
    "task close": "task close CONV-001 --evidence seen",
    "topic create": "topic create Hosts",
    "topic update": "topic update TOP-001 --summary Which",
    "topic link": "topic link TOP-001 --task CONV-001",
    "topic list": "topic list",
    "topic show": "topic show TOP-001",
    "topic close": "topic close TOP-001",
    "project": "project",
    "verify": "verify",
    "upgrade": "upgrade",
}
SET_UP = {"up", "init"}
ANYWHERE = {*SET_UP, "agents", "hooks", "disable-hooks"}
WRITING = {
    "up",
    "init",
    "sync",
    "capture",
    "watch",
    "goal set",
    "decide",
    "task create",
    "task update",
    "task close",
    "topic create",
    "topic update",
    "topic link",
    "topic close",
    "project",
    "upgrade",
}


@pytest.fixture(autouse=True)
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `capture` reads."""
    again = SimpleNamespace(buffer=SimpleNamespace(read=lambda _: b"Hello."))
    monkeypatch.setattr("sys.stdin", again)


def filled(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    for call in (
        "up",
        "goal Ship it",
        "decide Use 8080 --source last",
        "task create Write docs",
        "topic create Ports --event last",
    ):
        assert world.run(*call.split()).code == 0
    return world


def helped(ran, code: int | set[int]) -> None:
    """An error as it has to be: exit code, one line each for what and how, nothing on stdout."""
    assert ran.code in ({code} if isinstance(code, int) else code), ran.err
    assert ran.out == ""
    what, *more = ran.err.splitlines()
    assert what.startswith("error: ")
    assert len(more) == 1
    assert more[0].startswith("hint:  ")
    assert "a fault of conversation-esaa" not in ran.err


def helped_in_json(ran, code: int | set[int]) -> dict[str, str]:
    assert ran.code in ({code} if isinstance(code, int) else code), ran.err
    assert ran.out == ""
    assert list(ran.error) == ["code", "message", "hint"]
    assert all(ran.error.values()), ran.error
    assert ran.error["code"] != "internal"
    return ran.error


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> World:
    """A filled world for what is refused before anything happens."""
    return filled(World(tmp_path_factory.mktemp("shared")))


every_call = pytest.mark.parametrize("name", CALLS)


def test_no_command_is_missing_here():
    """A new command comes with its place in this table."""
    assert {name.split()[0] for name in CALLS} == set(COMMANDS) - {"demo"}


@every_call
def test_each_does_its_work(world, name):
    """What the other tests here break has to work first."""
    ran = filled(world).run(*CALLS[name].split())

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.strip()


@every_call
def test_without_a_workspace_it_says_how_to_get_one(world, name):
    """Exit code 4 is how a script tells "not set up" from "failed"."""
    words = CALLS[name].split()
    if name in ANYWHERE:
        assert world.run(*words).code == 0
        return

    helped(world.run(*words), 4)
    assert helped_in_json(world.run(*words, "--json"), 4)["code"] == "workspace.missing"
    assert "conversation-esaa up" in world.run(*words).err
    assert not world.store.exists()


@every_call
def test_a_wrong_option_is_named(shared, name):
    """A typo must not be carried out as something else."""
    words = CALLS[name].split()
    before = shared.bytes_of_store()

    helped(shared.run(*words, "--no-such-option"), 2)
    error = helped_in_json(shared.run(*words, "--no-such-option", "--json"), 2)

    assert error["code"] == "usage"
    assert "--no-such-option" in error["message"]
    assert "--help" in error["hint"]
    assert shared.bytes_of_store() == before


@every_call
def test_an_option_without_its_value_is_named(shared, name):
    """`--workspace` at the end of the line, as when a variable was empty."""
    helped(shared.run(*CALLS[name].split(), "--workspace"), 2)


@every_call
@pytest.mark.parametrize("wait", ["-1", "nan", "inf", "soon", ""])
def test_a_waiting_time_that_is_none_is_refused(shared, name, wait):
    """Not a number would mean: wait for ever, or never."""
    helped(shared.run(*CALLS[name].split(), f"--lock-timeout={wait}"), 2)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("context --agent codx", "codex"),
        ("context --topic-id TOP-002", "TOP-001"),
        ("context --decision DEC-0002", "DEC-0001"),
        ("context --task CONV-002", "CONV-001"),
        ("context --actor robot", "user"),
        ("context --around 99999999", "conversation-esaa context"),
        ("show 99999999", "conversation-esaa context"),
        ("show 123", "8 characters"),
        ("show DEC-0002", "DEC-0001"),
        ("show CONV-002", "CONV-001"),
        ("show TOP-002", "TOP-001"),
        ("sync --agent codx", "codex"),
        ("decide Use it --supersedes DEC-0002", "DEC-0001"),
        ("decide Use it --source 99999999", "conversation-esaa context"),
        ("decide Use it --topic TOP-002", "TOP-001"),
        ("decide --retract DEC-0002", "DEC-0001"),
        ("task show CONV-002", "CONV-001"),
        ("task close CONV-002", "CONV-001"),
        ("task update CONV-002 --status open", "CONV-001"),
        ("topic show TOP-002", "TOP-001"),
        ("topic link TOP-001 --decision DEC-0002", "DEC-0001"),
        ("topic link TOP-001 --event 99999999", "conversation-esaa context"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_the_nearest_or_where_to_look(shared, call, kind):
    """Refused before anything is written."""
    before = shared.bytes_of_store()

    helped(shared.run(*call.split()), {1, 2})
    error = helped_in_json(shared.run(*call.split(), "--json"), {1, 2})

    assert kind in error["hint"]
    assert shared.bytes_of_store() == before


@every_call
def test_a_config_that_cannot_be_read_is_named_with_its_line(world, name):
    """A person edits that file; everything else waits until it is whole again, and the log is untouched."""
    filled(world)
    (world.store / "config.toml").write_text("schema = 1\nroot = = 3\n")
    before = world.bytes_of_store()

    if name in ("verify", "doctor"):  # they say it among everything else that is wrong
        ran = world.run(name)
        assert ran.code == 3
        assert "config.toml" in ran.out
        return
    if name.endswith("hooks"):  # about agents' settings, not about ours
        assert world.run(*CALLS[name].split()).code == 0
        return
    helped(world.run(*CALLS[name].split()), 1)
    error = helped_in_json(world.run(*CALLS[name].split(), "--json"), 1)

    assert error["code"] == "config.invalid"
    assert "config.toml" in error["message"]
    assert "line 2" in error["message"]
    assert world.bytes_of_store()["activity.jsonl"] == before["activity.jsonl"]


@every_call
def test_a_file_where_the_store_should_be_is_left_alone(world, name):
    """Whatever it is, it is not ours to overwrite."""
    world.store.write_text("somebody's notes")

    ran = world.run(*CALLS[name].split())

    helped(ran, 1)
    assert "is not a directory" in ran.err
    assert world.store.read_text() == "somebody's notes"


@every_call
def test_a_path_with_blanks_accents_and_quotes_is_a_path(tmp_path, name):
    """Projects are called what people call them."""
    world = filled(World(tmp_path, project="mon café d'été (v1.2) 日本"))

    ran = world.run(*CALLS[name].split())
    from_elsewhere = world.run("-C", str(world.project), *CALLS["status"].split(), present=tmp_path)

    assert (ran.code, ran.err) == (0, "")
    assert str(world.project) in from_elsewhere.out


@every_call
def test_an_empty_workspace_is_no_error(world, name):
    """The first minute: nothing captured, nothing decided."""
    world.run("init")
    needs = any(word.startswith(("DEC-", "CONV-", "TOP-")) for word in CALLS[name].split())

    ran = world.run(*CALLS[name].split())

    if needs:
        helped(ran, 1)
    else:
        assert (ran.code, ran.err) == (0, "")


@every_call
def test_the_common_options_stand_anywhere(world, name, tmp_path):
    """FC-G09: before the command or behind it, with an absolute path or a relative one."""
    filled(world)
    words = CALLS[name].split()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    before = world.run("--json", "--no-sync", "-C", str(world.project), *words, present=elsewhere)
    assert before.code == 0, before.err
    if name not in ("task close", "topic link", "topic close", "goal set", "topic update", "task update"):
        after = world.run(*words, "--json", "--no-sync", "-C", "../project", present=elsewhere)
        assert after.code == 0, after.err
        assert list(after.json) == list(before.json)


def test_a_directory_below_the_project_is_in_it(world):
    """FC-G09: commands are given where one happens to be."""
    filled(world)
    below = world.project / "src" / "deep"
    below.mkdir(parents=True)

    assert world.run("context", present=below).code == 0
    assert "It is 8080" in world.run("context", present=below).out


@pytest.mark.parametrize("name", sorted(set(CALLS) - WRITING - {"agents"}))
def test_a_command_that_only_reads_leaves_every_byte(world, name):
    """Nothing new to capture: nothing written, whatever is asked."""
    before = filled(world).bytes_of_store()

    world.run(*CALLS[name].split())

    assert world.bytes_of_store() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nosuch"], "no command is called 'nosuch'"),
        (["contxt"], "Did you mean 'context'?"),
        (["--json", "contxt"], "Did you mean 'context'?"),
        (["-C"], "needs a command"),
        (["--no-sync"], "needs a command"),
    ],
)
def test_a_command_that_does_not_exist_is_answered_with_the_nearest(world, words, says):
    """Also in the form that was asked for."""
    ran = world.run(*words)

    assert (ran.code, ran.out) == (2, "")
    if "--json" in words:
        assert says in json.dumps(ran.error)
    else:
        assert says in ran.err
        assert "--help" in ran.err


def test_a_fault_of_ours_is_said_as_one_without_quoting_anybody(world, monkeypatch):
    """An exception's own words may be somebody's conversation, and errors end up in bug reports."""
    from conversation_esaa.workspace import Workspace

    def broken(self):
        raise RuntimeError("as the user said: my secret")

    filled(world)
    monkeypatch.setattr(Workspace, "status", broken)

    ran = world.run("status")

    assert ran.code == 1
    assert "RuntimeError in test_every_command.py" in ran.err
    assert "secret" not in ran.err
    world.environ["CONVERSATION_ESAA_DEBUG"] = "1"
    with pytest.raises(RuntimeError):
        world.run("status")


def test_agents_are_told_outside_a_workspace_too(world, tmp_path):
    """The first question of a newcomer: does it read what I use?"""
    world.claude().user("hello")

    ran = world.run("agents", present=tmp_path)

    assert ran.code == 0
    assert all(name in ran.out for name in ("claude-code", "codex", "grok", "antigravity"))
    assert not (tmp_path / ".conversation-esaa").exists()


def test_a_store_that_vanished_is_not_made_again_by_reading(world):
    """Somebody deleted it; a reader does not bring back an empty one."""
    import shutil

    filled(world)
    shutil.rmtree(world.store)

    helped(world.run("context", "-C", str(world.project)), 4)
    assert not Path(world.store).exists()


def test_no_command_touches_anything_but_the_store(world):
    """FC-J06: the agents' logs and the project's own files are only read; no stub, no log, no ignore file."""

    def everything_else() -> dict[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for top in (world.home, world.project)
            for path in sorted(top.rglob("*"))
            if path.is_file() and world.store not in path.parents
        }

    (world.project / ".gitignore").write_text("*.pyc\n")
    (world.project / "AGENTS.md").write_text("Be kind.\n")
    filled(world)
    before = everything_else()

    for call in CALLS.values():
        assert world.run(*call.split()).code == 0, call

    assert everything_else() == before
    outside = [path.name for path in world.project.iterdir()]
    assert sorted(outside) == [".conversation-esaa", ".gitignore", "AGENTS.md"]


def test_rebuilding_what_is_right_writes_nothing(world):
    """FC-J05: another program that watches the files is not woken for nothing."""
    filled(world)
    models = [world.store / name for name in READ_MODELS]
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in models]

    for _ in range(3):
        assert world.run("project").code == 0

    assert [(path.stat().st_ino, path.stat().st_mtime_ns) for path in models] == before
