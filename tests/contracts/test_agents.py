"""Every agent of ours is held to the contract that `conversation_esaa.testing` offers to all.

A new agent adds a line to SAMPLES (a piece of its talk) and, where the environment can move its home, one to
OVERRIDES.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders import (
    aider,
    antigravity,
    cline,
    codex,
    copilot_chat,
    copilot_cli,
    crush,
    cursor,
    cursor_cli,
    documents,
    droid,
    gemini_cli,
    goose,
    grok,
    kimi,
    kimi_code,
    kiro_cli,
    opencode,
    pi,
    qwen_code,
    task_folders,
    warp,
    zed,
)
from conversation_esaa.agents.listing import witnessed_by
from conversation_esaa.agents.registry import MODULES, USUAL_HOMES, absent, agent, is_there
from conversation_esaa.errors import UnknownName
from conversation_esaa.testing import AgentContract

if TYPE_CHECKING:
    from collections.abc import Callable


def codex_talk() -> list[Any]:
    """Both modes one after the other: no real file, but every case of the reader."""
    new, old = codex.Rollout().header().context(), codex.Rollout(paginated=False).context()
    for rollout in (new, old):
        rollout.said("user", f"Name a herb. {rollout.paginated}").said("assistant", "Mint.").compacted()
    return new.records + old.records


def grok_talk() -> list[Any]:
    session = grok.Session().typed("Name a herb.").answered("Mint.").compacted().new_process()
    return session.typed("Another?").answered("Sage.").update("tool_call", title="x").records


def antigravity_talk() -> list[Any]:
    conversation = antigravity.Conversation().typed("Name a herb.").step("RUN_COMMAND").answered("Mint.")
    return conversation.step("CHECKPOINT", "SYSTEM").typed("Another?").answered("Sage.").records


def claude_code_talk() -> list[Any]:
    from builders import claude_code

    session = claude_code.Session()
    session.typed("Name a herb.")
    session.answered("Mint.")
    session.typed("Another?")
    session.answered("Sage.", "msg_2")
    return session.records


def gemini_cli_talk() -> list[Any]:
    session = gemini_cli.Session().typed("Name a herb.").tool_call().answered("Mint.").resumed()
    return session.typed("Another?").answered("Sage.").compressed().records


def qwen_code_talk() -> list[Any]:
    session = qwen_code.Session().typed("Name a herb.").tool_call().answered("Mint.").compressed()
    return session.typed("Another?").answered("Sage.").records


def opencode_talk() -> list[Any]:
    session = opencode.Session().typed("Name a herb.").answered("Mint.").compacted()
    return session.typed("Another?").answered("Sage.").records


def pi_talk() -> list[Any]:
    session = pi.Session().typed("Name a herb.").answered("Mint.").compacted()
    return session.typed("Another?").answered("Sage.", "Or thyme.").records


def copilot_cli_talk() -> list[Any]:
    session = copilot_cli.Session().typed("Name a herb.").answered("Mint.").resumed("/home/dev/tea/pkg")
    session.event("session.compaction_complete", success=True)
    return session.typed("Another?").answered("Sage.").records


def droid_talk() -> list[Any]:
    session = droid.Session().typed("Name a herb.").answered("Mint.").compacted()
    return session.typed("Another?").answered("Sage.", "Or thyme.").records


def kimi_talk() -> list[Any]:
    session = kimi.Session().typed("Name a herb.").answered("Mint.").compacted()
    session.typed("/init").message("TurnBegin", user_input="Explore.").answered("Explored.").message(
        "TurnEnd"
    )
    return session.message("SteerInput", user_input="Another?").answered("Sage.").records


def kimi_code_talk() -> list[Any]:
    session = kimi_code.Session().typed("Name a herb.").answered("Mint.").compacted()
    return session.steered("Another?").answered("Sage.").records


def cursor_talk() -> list[Any]:
    chat = cursor.Chat().typed("Name a herb.").thought().answered("Mint.").tool()
    return chat.typed("Another?").answered("Sage.").records


def cursor_cli_talk() -> list[Any]:
    chat = cursor_cli.Chat().typed("Name a herb.").answered("Mint.").tool()
    return chat.typed("Another?").answered("Sage.").records


def crush_talk() -> list[Any]:
    session = crush.Session().typed("Name a herb.").tool().answered("Mint.").compacted()
    return session.typed("Another?").answered("Sage.").records


def goose_talk() -> list[Any]:
    session = goose.Session().typed("Name a herb.").tool().answered("Mint.")
    return session.typed("Another?").answered("Sage.").records


def kiro_cli_talk() -> list[Any]:
    session = kiro_cli.Session().typed("Name a herb.").tool().answered("Mint.")
    return session.typed("Another?").answered("Sage.").records


def zed_talk() -> list[Any]:
    thread = zed.Thread().typed("Name a herb.").tool().answered("Mint.")
    return thread.typed("Another?").answered("Sage.").records


def warp_talk() -> list[Any]:
    conversation = warp.Conversation().typed("Name a herb.").typed("Another?").tool()
    return conversation.typed("A sweet one?").typed("Thanks.").records


def aider_talk() -> list[Any]:
    history = aider.History().session().typed("Name a herb.").answered("Mint.").tokens()
    return aider.pieces(history.typed("Another?").answered("Sage.").tokens())


def cline_talk() -> list[Any]:
    first = cline.Session().typed("Name a herb.").answered("Mint.").document
    return [first, cline.Session("b").typed("Another?").answered("Sage.").tool().document]


def task_talk() -> list[Any]:
    task = task_folders.Task().say("task", "Name a herb.").say("reasoning", "CANARY").say("text", "Mint.")
    return task.say("user_feedback", "Another?").say("completion_result", "Sage.").messages


def copilot_chat_talk() -> list[Any]:
    chat = copilot_chat.Chat().typed("Name a herb.").responds(copilot_chat.words("Mint.")).done()
    return [chat.typed("Another?").responds(copilot_chat.hidden("thinking"), "Sage.").done().document]


def amp_talk() -> list[Any]:
    return [
        documents.Thread().typed("Name a herb.").answered("Mint.").tool().answered("Sage.", "Dill.").document
    ]


def continue_talk() -> list[Any]:
    session = documents.Session().typed("Name a herb.").answered("Mint.")
    return [session.typed("Another?").answered("Sage.").document]


SAMPLES: dict[str, Callable[[], list[Any]]] = {
    "aider": aider_talk,
    "amp": amp_talk,
    "antigravity": antigravity_talk,
    "claude-code": claude_code_talk,
    "cline": cline_talk,
    "cline-vscode": task_talk,
    "codex": codex_talk,
    "continue": continue_talk,
    "copilot-chat": copilot_chat_talk,
    "copilot-cli": copilot_cli_talk,
    "crush": crush_talk,
    "cursor": cursor_talk,
    "cursor-cli": cursor_cli_talk,
    "droid": droid_talk,
    "gemini-cli": gemini_cli_talk,
    "goose": goose_talk,
    "grok": grok_talk,
    "kilo": opencode_talk,
    "kilo-code": task_talk,
    "kimi": kimi_talk,
    "kimi-code": kimi_code_talk,
    "kiro-cli": kiro_cli_talk,
    "opencode": opencode_talk,
    "pi": pi_talk,
    "qwen-code": qwen_code_talk,
    "roo-code": task_talk,
    "warp": warp_talk,
    "zed": zed_talk,
}
OVERRIDES: dict[str, tuple[str, ...]] = {  # variable, the usual home, and the home below the variable's value
    "amp": ("AMP_THREADS_DIR", ".local/share/amp/threads"),
    "antigravity": ("ANTIGRAVITY_HOME", ".gemini/antigravity-cli"),
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "cline": ("CLINE_SESSION_DATA_DIR", ".cline/data/sessions"),
    "cline-vscode": ("VSCODE_APPDATA", ".config"),
    "codex": ("CODEX_HOME", ".codex"),
    "continue": ("CONTINUE_GLOBAL_DIR", ".continue"),
    "copilot-chat": ("VSCODE_APPDATA", ".config"),
    "copilot-cli": ("COPILOT_HOME", ".copilot"),
    "crush": ("CRUSH_GLOBAL_DATA", ".local/share/crush", ""),
    "cursor": ("VSCODE_APPDATA", ".config/Cursor/User", "Cursor/User"),
    "cursor-cli": ("CURSOR_DATA_DIR", ".cursor", ""),
    "droid": ("FACTORY_HOME_OVERRIDE", ".factory", ".factory"),
    "gemini-cli": ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    "goose": ("GOOSE_PATH_ROOT", ".local/share/goose", "data"),
    "grok": ("GROK_HOME", ".grok"),
    "kilo": ("XDG_DATA_HOME", ".local/share/kilo", "kilo"),
    "kilo-code": ("VSCODE_APPDATA", ".config"),
    "kimi": ("KIMI_SHARE_DIR", ".kimi"),
    "kimi-code": ("KIMI_CODE_HOME", ".kimi-code"),
    "kiro-cli": ("KIRO_HOME", ".kiro", ""),
    "opencode": ("XDG_DATA_HOME", ".local/share/opencode", "opencode"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
    "qwen-code": ("QWEN_HOME", ".qwen"),
    "roo-code": ("VSCODE_APPDATA", ".config"),
    "warp": ("XDG_STATE_HOME", ".local/state/warp-terminal", "warp-terminal"),
    "zed": ("XDG_DATA_HOME", ".local/share/zed", "zed"),
}

# Homes that no variable of their agent moves.
UNMOVED = {
    "aider",
}


def held_to_the_contract(name: str) -> type[AgentContract]:
    """The suite for one agent."""

    class Held(AgentContract):
        module = agent(name)
        override = OVERRIDES.get(name, ())

        def sample(self) -> list[Any]:
            return SAMPLES[name]()

        def again(self, records: list[Any], number: int) -> None:
            for at, record in enumerate(records):  # where a record that is stated again is the same one
                if "step_index" in record:
                    record["step_index"] += len(records)
                for key in {"id", "uuid"} & set(record):
                    record[key] = f"{at}-{number}"

    Held.__name__ = Held.__qualname__ = "Test" + name.title().replace("-", "")
    return Held


globals().update({suite.__name__: suite for suite in map(held_to_the_contract, SAMPLES)})


def test_every_registered_agent_is_held_to_this_contract():
    assert set(SAMPLES) == set(OVERRIDES) | UNMOVED == set(MODULES)
    assert all(name == agent(name).NAME for name in MODULES)


def test_an_unknown_agent_is_named_and_a_near_one_suggested():
    with pytest.raises(UnknownName) as error:
        agent("codx")

    assert "codex" in error.value.hint


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="homes as on Linux")
@pytest.mark.parametrize("name", USUAL_HOMES)
def test_an_agent_that_is_not_here_is_known_to_have_no_session_without_its_module(name, tmp_path):
    """The table says where the module looks, which variables it asks for, and that nothing is elsewhere."""
    usual = USUAL_HOMES[name]
    asked, looked = Asked(), Looked()
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()

    assert agent(name).home(asked, home) == home / usual.home
    assert asked.names == set(usual.variables)
    with witnessed_by(looked):
        assert list(agent(name).session_files(home / usual.home, [str(project)])) == []
        assert not is_there(agent(name), home / usual.home)
    assert absent(name, {}, home, [str(project)]) == home / usual.home
    for variable in usual.variables:
        assert absent(name, {variable: "/elsewhere"}, home, [str(project)]) is None

    places = [home / place for place in usual.places or (usual.home,)]
    places += [project / place for place in usual.in_roots]
    assert all(any(map(path.is_relative_to, places)) for path in looked.paths)
    for number, place in enumerate(places):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch() if number % 2 else place.mkdir()
        assert absent(name, {}, home, [str(project)]) is None
        place.unlink() if number % 2 else place.rmdir()
    assert absent(name, {}, home, [str(project)]) == home / usual.home


class Looked:
    """A witness that remembers where was looked."""

    def __init__(self) -> None:
        self.paths: list[Path] = []

    def _look(self, path: str) -> None:
        self.paths.append(Path(path))

    content = written = kind = real = _look


class Asked(dict[str, str]):
    """An environment in which nothing is set, and that remembers what it was asked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return default
