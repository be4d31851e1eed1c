"""`enable-hooks` and `disable-hooks` on real files: what is kept, what is backed up, what is refused."""

import os
import stat
from pathlib import Path

import pytest

from builders.agent_settings import FOREIGN, HERE, MOVED
from builders.world import World
from conversation_esaa.errors import UsageError
from conversation_esaa.hooks import install, registry
from conversation_esaa.hooks.install import Change

AGENTS = list(registry.MODULES)


def enable(world: World, *agents: str, **options) -> list[Change]:
    return world.workspace().enable_hooks(agents, **{"program": HERE, **options})


def disable(world: World, *agents: str, **options) -> list[Change]:
    return world.workspace().disable_hooks(agents, **options)


def claude_settings(world: World) -> Path:
    return world.project / ".claude" / "settings.local.json"


def everything(world: World) -> dict[str, bytes]:
    """Each file outside of the store, ours of the user's state apart."""
    return {
        str(path.relative_to(world.home.parent)): path.read_bytes()
        for path in sorted(world.home.parent.rglob("*"))
        if path.is_file() and ".conversation-esaa" not in path.parts and ".local" not in path.parts
    }


@pytest.fixture
def settings(world):
    """Somebody's settings, in the place of Claude Code's."""
    path = claude_settings(world)
    path.parent.mkdir()
    path.write_text(FOREIGN, "utf-8", newline="")
    return path


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("scope", ["project", "user"])
def test_all_comes_and_all_goes(world, agent, scope):
    """FC-H06: files and directories that we made go, too."""
    world.workspace()
    if scope not in registry.module(agent).places(world.machine(), world.project):
        pytest.skip("the agent has no such settings")
    before, directories = everything(world), set(world.home.parent.rglob("*"))

    (change,) = enable(world, agent, scope=scope)
    assert (change.action, Path(change.file).is_file()) == ("created", True)
    (back,) = disable(world, agent)

    assert back.action == "deleted"
    assert everything(world) == before
    left = {path for path in set(world.home.parent.rglob("*")) - directories if ".local" not in path.parts}
    assert left <= {world.store / "hooks"}


def test_a_file_gets_its_bytes_back_when_only_we_changed_it(world, settings):
    """FC-H06: also blanks that no editing could know of."""
    odd = FOREIGN.replace('"deny": []', '"deny": [\n\n ]').replace(
        '"Stop"', '"SessionStart": [\n  ],\n"Stop"'
    )
    settings.write_text(odd, "utf-8", newline="")

    enable(world, "claude-code")
    enable(world, "claude-code", inject=True, program=MOVED)
    (change,) = disable(world, "claude-code")

    assert change.action == "restored"
    assert settings.read_bytes().decode() == odd


def test_what_somebody_changed_meanwhile_stays(world, settings):
    """The backup is not put over it: our entries are taken out of what is there now."""
    enable(world, "claude-code")
    settings.write_text(settings.read_text("utf-8").replace("1.50", "2.50"), "utf-8", newline="")

    (change,) = disable(world, "claude-code")

    assert change.action == "removed"
    assert settings.read_text("utf-8") == FOREIGN.replace("1.50", "2.50")


def test_it_goes_without_a_backup_too(world, settings):
    """Somebody cleared the store: entries of ours are known by what they call."""
    enable(world, "claude-code")
    for record in (world.store / "hooks").iterdir():
        record.unlink()

    disable(world, "claude-code")

    assert settings.read_text("utf-8") == FOREIGN


def test_a_backup_is_for_its_owner_alone_and_not_beside_the_file(world, settings):
    """Settings hold keys; an agent may read everything in its own directory."""
    enable(world, "claude-code")

    records = list((world.store / "hooks").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in records] == [0o600]
    assert stat.S_IMODE((world.store / "hooks").stat().st_mode) == 0o700
    assert list(settings.parent.iterdir()) == [settings]


def test_what_is_the_users_is_backed_up_in_the_users_state_directory(world):
    """Not in a workspace that may be deleted tomorrow."""
    world.environ["CONVERSATION_ESAA_STATE_DIR"] = str(world.home / "state")

    enable(world, "gemini-cli")

    assert len(list((world.home / "state" / "hooks").iterdir())) == 1
    assert not (world.store / "hooks").exists()


def test_a_dry_run_shows_the_change_and_makes_none(world, settings):
    """Secrets in the settings are no part of it."""
    secret = "ghp_" + "a1B2" * 9
    settings.write_text(FOREIGN.replace("1.50", f'"{secret}"'), "utf-8")
    world.workspace()
    before = everything(world)

    (change,) = enable(world, "claude-code", dry_run=True)

    assert change.action == "changed"
    assert "+" in change.diff
    assert "entry.py" in change.diff
    assert secret not in change.diff
    assert everything(world) == before
    assert not (world.store / "hooks").exists()


def test_a_dry_run_of_taking_out_makes_no_change_either(world, settings):
    """What was put in is still there."""
    enable(world, "claude-code")
    before = everything(world)

    (change,) = disable(world, "claude-code", dry_run=True)

    assert (change.action, "-" in change.diff) == ("restored", True)
    assert everything(world) == before


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664])
def test_a_file_keeps_its_mode(world, settings, mode):
    """Also one that the umask would not give."""
    settings.chmod(mode)

    enable(world, "claude-code")
    assert stat.S_IMODE(settings.stat().st_mode) == mode
    disable(world, "claude-code")

    assert stat.S_IMODE(settings.stat().st_mode) == mode


def test_a_new_file_is_for_its_owner_alone(world):
    """It names paths of his machine."""
    enable(world, "claude-code")

    assert stat.S_IMODE(claude_settings(world).stat().st_mode) == 0o600


def test_a_link_is_followed_and_kept(world):
    """Dot files are often links into a repository of their own."""
    real = world.home / "dotfiles" / "gemini.json"
    real.parent.mkdir()
    real.write_text("{}\n", "utf-8")
    link = world.home / ".gemini" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)

    enable(world, "gemini-cli")
    assert link.is_symlink()
    assert "AfterAgent" in real.read_text("utf-8")
    disable(world, "gemini-cli")

    assert link.is_symlink()
    assert real.read_text("utf-8") == "{}\n"


@pytest.mark.parametrize("where", ["file", "directory"])
def test_a_cloned_project_cannot_lead_writes_away(world, where):
    """A link in the project that leads out of it is refused: the project did not come from its user."""
    outside = world.home / "outside"
    outside.mkdir()
    (outside / "settings.local.json").write_text("{}", "utf-8")
    path = claude_settings(world)
    if where == "directory":
        path.parent.symlink_to(outside)
    else:
        path.parent.mkdir()
        path.symlink_to(outside / "settings.local.json")

    (change,) = enable(world, "claude-code")

    assert change.action == "refused"
    assert (outside / "settings.local.json").read_text("utf-8") == "{}"


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_refused_and_not_waited_for(world, kind):
    """A named pipe would keep us for ever."""
    path = claude_settings(world)
    path.parent.mkdir()
    path.mkdir() if kind == "directory" else os.mkfifo(path)

    (change,) = enable(world, "claude-code")

    assert (change.action, change.code) == ("refused", "hooks.not_editable")


def test_one_broken_file_does_not_keep_us_from_the_others(world, settings):
    """It is named with its line and column, and left as it is."""
    settings.write_text('{\n  "hooks": {,}\n}', "utf-8")

    broken, fine = enable(world, "claude-code", "gemini-cli")

    assert broken.action == "refused"
    assert f"{settings}, line 2, column 13" in broken.problem
    assert settings.read_text("utf-8") == '{\n  "hooks": {,}\n}'
    assert fine.action == "created"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_told_in_words(world, settings):
    """FC-N08."""
    settings.parent.chmod(0o500)

    (change,) = enable(world, "claude-code")
    settings.parent.chmod(0o700)

    assert (change.action, settings.read_text("utf-8")) == ("refused", FOREIGN)


def test_a_full_disk_leaves_the_file_as_it_was(world, settings, monkeypatch):
    """What was put beside it is gone, and the file is whole."""
    world.workspace()

    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(install, "replace_file", full)
    (change,) = enable(world, "claude-code")

    assert (change.action, "No space left" in change.problem) == ("refused", True)
    assert settings.read_text("utf-8") == FOREIGN


def test_a_file_that_changes_at_the_same_moment_is_not_overwritten(world, settings, monkeypatch):
    """An agent writes its settings while we read them."""
    diff = install._diff

    def meanwhile(*args):
        settings.write_text('{"new": 1}', "utf-8")
        return diff(*args)

    monkeypatch.setattr(install, "_diff", meanwhile)
    (change,) = enable(world, "claude-code")

    assert (change.action, settings.read_text("utf-8")) == ("refused", '{"new": 1}')


def test_nothing_lands_in_a_repository_unasked(world):
    """By default an agent's private place is taken: the user's, or a file of the project that is not shared."""
    (world.project / ".git").mkdir()
    world.workspace()

    changes = enable(world, *AGENTS)

    of_project = [change.file for change in changes if change.scope == "project"]
    assert of_project == [str(claude_settings(world))]


def test_a_file_in_a_repository_is_pointed_out(world):
    """It names paths of one machine."""
    (world.project / ".git").mkdir()

    (change,) = enable(world, "codex", scope="project")

    assert any(".codex/hooks.json names paths of this machine" in note for note in change.notes)


def test_all_means_the_agents_that_are_there(world):
    """Nothing is made for one that nobody uses."""
    (world.home / ".codex").mkdir()
    (world.home / ".grok").mkdir()

    assert [change.agent for change in enable(world)] == ["codex", "grok"]


def test_an_agent_without_a_file_of_a_project_says_so(world):
    """Kimi has none."""
    with pytest.raises(UsageError, match="kimi has no settings of scope 'project'"):
        enable(world, "kimi", scope="project")


def test_an_agent_that_takes_nothing_in_says_so(world):
    """And what helps instead."""
    (change,) = enable(world, "grok", inject=True)

    assert any("--instructions" in note for note in change.notes)


def test_our_entries_are_renewed_after_an_upgrade(world, settings):
    """Another interpreter, another place: once in the file, and `unchanged` after that."""
    enable(world, "claude-code")

    (renewed,) = enable(world, "claude-code", program=MOVED)
    (again,) = enable(world, "claude-code", program=MOVED)

    assert (renewed.action, again.action) == ("changed", "unchanged")
    assert settings.read_text("utf-8").count("entry.py") == 5


def test_git_hooks_are_not_touched(world):
    """FC-H12: none are offered."""
    hooks = world.project / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "post-commit").write_text("#!/bin/sh\n", "utf-8")
    (world.project / ".git" / "config").write_text("[core]\n\thooksPath = elsewhere\n", "utf-8")
    before = {path: path.read_bytes() for path in (world.project / ".git").rglob("*") if path.is_file()}

    enable(world, *AGENTS, instruct=True, trust=True)
    disable(world, instruct=True)

    assert {p: p.read_bytes() for p in (world.project / ".git").rglob("*") if p.is_file()} == before
