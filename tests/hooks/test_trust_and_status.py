"""What keeps an agent from running our entries, what `--trust` may write, and what `hooks` tells of it."""

import json
from pathlib import Path

import pytest

from builders.agent_settings import HERE, MOVED
from builders.world import World
from conversation_esaa.hooks import registry
from conversation_esaa.hooks.status import HookStatus

TRUSTING = ["codex", "grok", "gemini-cli", "pi"]


def enable(world: World, *agents: str, **options):
    return world.workspace().enable_hooks(agents, **{"program": HERE, **options})


def told(world: World, agent: str, program=HERE) -> HookStatus:
    from conversation_esaa.hooks.status import status

    (found,) = status(world.machine(), world.project, program, [agent])
    return found


def trust_file(world: World, agent: str) -> Path:
    trust = registry.module(agent).trust(world.machine(), world.project)
    assert trust is not None
    return trust.path


@pytest.mark.parametrize("agent", TRUSTING)
def test_trust_is_written_when_it_was_asked_for(world, agent):
    """Into the file that the vendor documents; what is there stays, and it goes again with the hooks."""
    (world.project / ".git").mkdir()
    path = trust_file(world, agent)
    path.parent.mkdir(parents=True)
    old = b'{"/other": false}' if path.suffix == ".json" else b'# mine\n[projects."/other"]\nx = 1'
    path.write_bytes(old)

    *_, hooks = enable(world, agent, scope="project", trust=True)
    assert str(world.project).encode() in path.read_bytes()
    assert hooks.approval_required == (agent == "codex")  # whose hooks must be reviewed as well
    world.workspace().disable_hooks([agent])

    assert path.read_bytes() == old


@pytest.mark.parametrize("agent", TRUSTING)
def test_trust_is_not_written_unasked(world, agent):
    """The exact step is told instead."""
    (hooks,) = enable(world, agent, scope="project")

    assert hooks.approval_required
    assert "--trust" in hooks.step
    assert not trust_file(world, agent).exists()


def test_grok_finds_hooks_of_a_project_in_a_git_repository_only(world):
    """Outside of one, or below its root, Grok passes them over without a word, trusted or not."""
    *_, hooks = enable(world, "grok", scope="project", trust=True)
    assert hooks.approval_required
    assert "git init" in hooks.step

    (world.project / ".git").mkdir()
    *_, hooks = enable(world, "grok", scope="project", trust=True)
    assert not hooks.approval_required


@pytest.mark.parametrize("agent", TRUSTING)
def test_what_the_user_decided_stays(world, agent):
    """Distrust is his answer, and trust that he gave is not ours to take back."""
    path = trust_file(world, agent)
    path.parent.mkdir(parents=True)
    root = json.dumps(str(world.project))
    content = {
        "codex": f'[projects.{root}]\ntrust_level = "untrusted"\n',
        "grok": f"[folders.{root}]\ntrusted = false\n",
        "gemini-cli": f'{{{root}: "DO_NOT_TRUST"}}',
        "pi": f"{{{root}: false}}",
    }[agent]
    path.write_text(content, "utf-8")

    *_, hooks = enable(world, agent, scope="project", trust=True)
    world.workspace().disable_hooks([agent])

    assert hooks.approval_required
    assert path.read_text("utf-8") == content


def test_trust_of_another_workspace_is_not_taken_back(tmp_path):
    """Two projects, one file."""
    one = World(tmp_path, project="one")
    enable(one, "codex", scope="project", trust=True)
    two = World(tmp_path, project="two")
    enable(two, "codex", scope="project", trust=True)

    one.workspace().disable_hooks(["codex"])

    text = trust_file(two, "codex").read_text("utf-8")
    assert (str(two.project) in text, str(one.project) in text) == (True, False)


def test_trust_that_was_written_by_the_agent_since_stays_readable(world):
    """Codex appends its reviews behind our table."""
    path = trust_file(world, "codex")
    enable(world, "codex", scope="project", trust=True)
    path.write_text(path.read_text("utf-8") + "\n[hooks.state]\n", "utf-8")

    world.workspace().disable_hooks(["codex"])

    assert path.read_text("utf-8") == "\n[hooks.state]\n" or path.read_text("utf-8") == "[hooks.state]\n"


def test_codex_waits_until_each_hook_was_reviewed(world):
    """FC-H07's second gate: what Codex keeps of a review is read, and never written."""
    (change,) = enable(world, "codex")
    assert "hooks need review" in change.step
    file, config = Path(change.file), world.home / ".codex" / "config.toml"
    events = ("session_start", "user_prompt_submit", "stop", "pre_compact", "session_end")
    states = [f'[hooks.state."{file}:{event}:0:0"]\ntrusted_hash = "sha256:00"\n' for event in events]

    config.write_text("".join(states[:-1]), "utf-8")
    assert told(world, "codex").installed[0].approval_required
    config.write_text("".join(states), "utf-8")

    assert not told(world, "codex").installed[0].approval_required


def test_claude_code_asks_for_a_folder_once(world):
    """Its answer is read, and never written."""
    (change,) = enable(world, "claude-code")
    assert change.approval_required
    state = {"projects": {str(world.project.parent): {"hasTrustDialogAccepted": True}}}
    (world.home / ".claude.json").write_text(json.dumps(state), "utf-8")

    (installed,) = told(world, "claude-code").installed
    assert (installed.approval_required, installed.problem, installed.mend) == (False, "", "")


def test_copilot_keeps_trusted_folders_below_a_remark(world):
    """Its file is JSON but for the first lines; one folder above is enough. It is read, and never written."""
    (change,) = enable(world, "copilot-cli", scope="project")
    assert change.approval_required
    state = json.dumps({"trustedFolders": [str(world.project.parent)]})
    (world.home / ".copilot").mkdir()
    (world.home / ".copilot" / "config.json").write_text(f"// managed automatically\n{state}\n", "utf-8")

    (installed,) = told(world, "copilot-cli").installed
    assert (installed.approval_required, installed.problem, installed.mend) == (False, "", "")


@pytest.mark.parametrize(
    ("decided", "usual", "runs"),
    [
        ({".": True}, "never", True),
        ({"..": True}, "ask", True),
        ({".": False, "..": True}, "always", False),
        ({".": None}, "always", True),
        ({}, "ask", False),
    ],
)
def test_pi_goes_by_the_nearest_decision_and_then_by_its_settings(world, decided, usual, runs):
    """As `/trust` and `defaultProjectTrust` have it; without either, print mode passes extensions over."""
    home = world.home / ".pi" / "agent"
    home.mkdir(parents=True)
    folders = {str((world.project / name).resolve()): says for name, says in decided.items()}
    (home / "trust.json").write_text(json.dumps(folders), "utf-8")
    (home / "settings.json").write_text(json.dumps({"defaultProjectTrust": usual}), "utf-8")

    (change,) = enable(world, "pi", scope="project")

    assert change.approval_required is not runs


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"projects": 3}', '{"projects": {"/": 3}}'])
@pytest.mark.parametrize("agent", ["claude-code", "copilot-cli", *TRUSTING])
def test_a_state_file_of_an_agent_that_we_cannot_read_is_no_trust(world, agent, content):
    """And no failure."""
    for name in (
        ".claude.json",
        ".codex/config.toml",
        ".grok/trusted_folders.toml",
        ".gemini/trustedFolders.json",
        ".copilot/config.json",
        ".pi/agent/trust.json",
    ):
        (world.home / name).parent.mkdir(parents=True, exist_ok=True)
        (world.home / name).write_text(content, "utf-8")

    (change,) = enable(world, agent, scope="project")

    assert change.approval_required


@pytest.mark.parametrize("agent", registry.MODULES)
def test_status_tells_what_was_enabled(world, agent):
    """File, events and injection, for every agent."""
    (change,) = enable(world, agent, inject=True)

    (installed,) = told(world, agent).installed

    assert (installed.file, installed.scope) == (change.file, change.scope)
    assert sorted(installed.events) == sorted(change.events)
    assert installed.inject == any(event.injects for event in registry.module(agent).EVENTS)
    assert not installed.stale


@pytest.mark.parametrize("agent", registry.MODULES)
def test_status_tells_what_is_stale_and_what_mends_it(world, agent):
    """After an upgrade, or a move of the environment; the mend keeps what was chosen."""
    (change,) = enable(world, agent, inject=True)

    (installed,) = told(world, agent, program=MOVED).installed
    assert installed.stale
    command = installed.mend.strip("`").split()
    assert command[:4] == ["conversation-esaa", "enable-hooks", "--agent", agent]
    assert command[4:6] == ["--scope", change.scope]
    assert ("--inject" in command) == installed.inject


def test_status_sees_both_scopes_the_block_and_notify(world):
    """All that is ours."""
    enable(world, "codex", instruct=True, notify=True)
    enable(world, "codex", scope="project")

    kinds = [(each.kind, each.scope) for each in told(world, "codex").installed]

    assert kinds == [("hooks", "project"), ("hooks", "user"), ("notify", "user"), ("instructions", "project")]


def test_status_tells_of_a_broken_file_that_holds_entries_of_ours(world):
    """A broken file without any is its agent's affair."""
    (change,) = enable(world, "gemini-cli")
    file = Path(change.file)
    file.write_text(file.read_text("utf-8")[:-3], "utf-8")
    claude = world.project / ".claude" / "settings.local.json"
    claude.parent.mkdir()
    claude.write_text("{", "utf-8")

    (installed,) = told(world, "gemini-cli").installed

    assert "line " in installed.problem
    assert told(world, "claude-code").installed == []


def test_status_of_nothing_is_every_agent_that_has_hooks(world):
    """And it makes no file."""
    found = world.workspace().hooks()

    assert [each.agent for each in found] == list(registry.MODULES)
    assert not any(each.installed or each.present for each in found)
    assert list(world.home.iterdir()) == []
