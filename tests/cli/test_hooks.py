"""`hooks`, `enable-hooks` and `disable-hooks` as a person types them."""

import json
import shutil
import subprocess

import pytest

from builders.agent_settings import FOREIGN
from builders.world import World
from conversation_esaa.hooks import registry


@pytest.fixture
def set_up(world: World) -> World:
    world.workspace()
    return world


def test_the_way_there_and_back(set_up):
    """What each of the three says on the way."""
    ran = set_up.run("enable-hooks", "--agent", "gemini-cli", "--inject")
    assert (ran.code, ran.err) == (0, "")
    file = set_up.home / ".gemini" / "settings.json"
    assert f"gemini-cli   hooks (user) {file} created: SessionStart" in ran.out

    assert f"gemini-cli   on, handoff injected: hooks (user) {file}" in set_up.run("hooks").out
    assert " unchanged" in set_up.run("enable-hooks", "--agent", "gemini-cli", "--inject").out
    assert f"{file} deleted" in set_up.run("disable-hooks", "--agent", "gemini-cli").out
    assert "gemini-cli   off" in set_up.run("hooks").out
    assert set_up.run("disable-hooks", "--all").out == "Nothing of ours is there.\n"


@pytest.mark.parametrize("command", ["enable-hooks", "disable-hooks"])
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "say which agents"),
        (["--agent", "codex", "--all"], "say which agents"),
        (["--all", "--scope", "team"], "no scope is called 'team'"),
    ],
)
def test_wrong_words_are_explained(set_up, command, words, says):
    """Exit code 2, and nothing was done."""
    ran = set_up.run(command, *words)

    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--agent", "codx"], 1, "Did you mean 'codex'?"),
        (["--agent", "human"], 1, "no agent with hooks is called 'human'"),
        (["--agent", "crush"], 2, "--agent crush --instructions"),
        (["--agent", "kimi", "--scope", "project"], 2, "kimi has no settings of scope 'project'"),
        (["--agent", "grok", "--notify"], 2, "--agent codex --notify"),
        (["--all"], 1, "`conversation-esaa hooks` lists them"),
    ],
)
def test_what_cannot_be_enabled_is_explained(set_up, words, code, says):
    """With what can."""
    ran = set_up.run("enable-hooks", *words)

    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
    assert list(set_up.home.iterdir()) == []


def test_claude_is_called_by_its_older_name_too(set_up):
    """The ancestor said `claude`."""
    assert set_up.run("enable-hooks", "--agent", "claude").out.startswith("claude-code  hooks (project)")


def test_one_refusal_is_an_error(set_up):
    """Exit code 1, file, line and column; under `--json` as every error."""
    file = set_up.home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "hooks": [1,\n}', "utf-8")

    ran = set_up.run("enable-hooks", "--agent", "gemini-cli")
    assert (ran.code, ran.out) == (1, "")
    assert f"error: {file}, line 3, column 1: " in ran.err
    error = set_up.run("enable-hooks", "--agent", "gemini-cli", "--json").error

    assert error["code"] == "hooks.not_editable"


def test_a_refusal_among_others_is_told_beside_them(set_up):
    """The others are changed, and the exit code says that not all was done."""
    file = set_up.home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text("{", "utf-8")
    (set_up.home / ".grok").mkdir()
    (set_up.home / ".gemini").mkdir(exist_ok=True)

    ran = set_up.run("enable-hooks", "--all")
    assert (ran.code, ran.err) == (1, "")
    assert f"{file}, line 1, column 2" in ran.out
    answer = set_up.run("enable-hooks", "--all", "--json").json

    assert {change["agent"]: change["action"] for change in answer["changes"]} == {
        "grok": "unchanged",
        "gemini-cli": "refused",
    }


def test_a_dry_run_prints_the_difference_and_obeys_nothing_in_it(set_up):
    """FC-C04: settings may hold terminal controls; secrets are masked."""
    file = set_up.project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    token = "ghp_" + "a1B2" * 9
    file.write_text('{\n  "a": "\x9b31m\u202e",\n  "b": "' + token + '"\n}\n', "utf-8")

    ran = set_up.run("enable-hooks", "--agent", "claude-code", "--dry-run")

    assert "would be changed" in ran.out
    assert '\n+  "hooks": {' in ran.out
    assert token not in ran.out
    assert not set("\x9b\u202e") & set(ran.out)
    assert "hooks" not in file.read_text("utf-8")


def test_entries_can_be_taken_out_when_the_workspace_is_gone(set_up, tmp_path):
    """Somebody deleted `.conversation-esaa/` first; nobody should have to set one up to be rid of us."""
    file = set_up.project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text(FOREIGN, "utf-8")
    set_up.run("enable-hooks", "--agent", "claude-code", "--agent", "grok")
    shutil.rmtree(set_up.store)

    ran = set_up.run("disable-hooks", "--all")

    assert (ran.code, file.read_text("utf-8")) == (0, FOREIGN)
    assert not (set_up.home / ".grok").exists()
    assert not set_up.store.exists()


@pytest.mark.parametrize("agent", registry.MODULES)
def test_every_agent_can_be_named(set_up, agent):
    """The answer as data, and nothing else on stdout."""
    answer = set_up.run("enable-hooks", "--agent", agent, "--json").json

    (change,) = answer["changes"]
    assert (answer["dry_run"], change["agent"], change["action"]) == (False, agent, "created")
    assert change["diff"].startswith("--- ")
    found = set_up.run("hooks", "--agent", agent, "--json").json["agents"]
    assert [each["file"] for each in found[0]["installed"]] == [change["file"]]


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_no_locale_changes_what_is_written(set_up, locale):
    """FC-C06: `"名前": "é"` stays as it is, and so does a path that is no ASCII."""
    file = set_up.project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text(FOREIGN, "utf-8")

    ran = set_up.wait(set_up.process("enable-hooks", "--agent", "claude-code", LC_ALL=locale, PYTHONUTF8="0"))
    assert (ran.code, ran.err) == (0, "")
    assert '"名前": "é"' in file.read_text("utf-8")
    set_up.wait(set_up.process("disable-hooks", "--all", LC_ALL=locale, PYTHONUTF8="0"))

    assert file.read_text("utf-8") == FOREIGN


def test_what_was_written_is_run_by_a_shell_and_is_silent(set_up):
    """The settings of this very installation, through a JSON parser and a shell, as an agent does it."""
    set_up.run("enable-hooks", "--agent", "claude-code", "--inject")
    written = json.loads((set_up.project / ".claude" / "settings.local.json").read_text("utf-8"))

    for groups in written["hooks"].values():
        line = groups[0]["hooks"][0]["command"]
        done = subprocess.run(
            ["sh", "-c", line],
            input="{}",
            cwd=set_up.home,  # no workspace: nothing to inject, nothing to keep
            env={"PATH": "/usr/bin:/bin", "HOME": str(set_up.home)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_shell_script_is_part_of_it():
    """FC-H09: a checkout with other line ends has nothing to break; the interpreter is called directly."""
    from pathlib import Path

    from conversation_esaa import hooks

    assert {path.suffix for path in Path(hooks.__file__).parent.iterdir()} <= {".py", ""}


def test_up_offers_hooks_and_changes_settings_only_when_told_to(world: World):
    world.claude().user("Which port?").assistant("8080.")
    settings = world.project / ".claude" / "settings.local.json"

    offering = world.run("up")
    assert "claude-code can tell by themselves" in offering.out
    assert not settings.exists()

    taking = world.run("up", "--yes", "--json")
    assert taking.code == 0
    assert taking.json["hooks"]["offered"] == ["claude-code"]
    assert "--inject" in settings.read_text("utf-8")

    again = world.run("up", "--yes")
    assert "can tell by themselves" not in again.out
    world.run("disable-hooks", "--all")
    assert not settings.exists()
