"""What holds for the module of every agent, whatever its logs look like.

A new agent adds a line to SAMPLES (a piece of its talk) and, where the environment can move its home, one to
OVERRIDES.
"""

from __future__ import annotations

import copy
import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import (
    antigravity,
    codex,
    copilot_cli,
    crush,
    cursor,
    cursor_cli,
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
    warp,
    zed,
)
from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.registry import MODULES, ReaderState, SessionFile, agent, glancing
from conversation_esaa.errors import UnknownName
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.agents.registry import AgentModule


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


SAMPLES: dict[str, Callable[[], list[Any]]] = {
    "antigravity": antigravity_talk,
    "claude-code": claude_code_talk,
    "codex": codex_talk,
    "copilot-cli": copilot_cli_talk,
    "crush": crush_talk,
    "cursor": cursor_talk,
    "cursor-cli": cursor_cli_talk,
    "droid": droid_talk,
    "gemini-cli": gemini_cli_talk,
    "goose": goose_talk,
    "grok": grok_talk,
    "kilo": opencode_talk,
    "kimi": kimi_talk,
    "kimi-code": kimi_code_talk,
    "kiro-cli": kiro_cli_talk,
    "opencode": opencode_talk,
    "pi": pi_talk,
    "qwen-code": qwen_code_talk,
    "warp": warp_talk,
    "zed": zed_talk,
}
OVERRIDES: dict[str, tuple[str, ...]] = {  # variable, the usual home, and the home below the variable's value
    "antigravity": ("ANTIGRAVITY_HOME", ".gemini/antigravity-cli"),
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude"),
    "codex": ("CODEX_HOME", ".codex"),
    "copilot-cli": ("COPILOT_HOME", ".copilot"),
    "crush": ("CRUSH_GLOBAL_DATA", ".local/share/crush", ""),
    "cursor": ("VSCODE_APPDATA", ".config/Cursor/User", "Cursor/User"),
    "cursor-cli": ("CURSOR_DATA_DIR", ".cursor", ""),
    "droid": ("FACTORY_HOME_OVERRIDE", ".factory", ".factory"),
    "gemini-cli": ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    "goose": ("GOOSE_PATH_ROOT", ".local/share/goose", "data"),
    "grok": ("GROK_HOME", ".grok"),
    "kilo": ("XDG_DATA_HOME", ".local/share/kilo", "kilo"),
    "kimi": ("KIMI_SHARE_DIR", ".kimi"),
    "kimi-code": ("KIMI_CODE_HOME", ".kimi-code"),
    "kiro-cli": ("KIRO_HOME", ".kiro", ""),
    "opencode": ("XDG_DATA_HOME", ".local/share/opencode", "opencode"),
    "pi": ("PI_CODING_AGENT_DIR", ".pi/agent"),
    "qwen-code": ("QWEN_HOME", ".qwen"),
    "warp": ("XDG_STATE_HOME", ".local/state/warp-terminal", "warp-terminal"),
    "zed": ("XDG_DATA_HOME", ".local/share/zed", "zed"),
}

# Sessions that cannot be taken up by their id from a shell.
NOT_BY_ID = {
    "cursor",
    "warp",
    "zed",
}

THERE = [name for name, module in MODULES.items() if importlib.util.find_spec(module)]
EVERY_AGENT = pytest.mark.parametrize("name", THERE)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def nearly_right(draw: st.DrawFn, name: str) -> list[Any]:
    """A talk of this agent in which some records, and some values deep inside records, are something else."""
    records = copy.deepcopy(SAMPLES[name]())
    for index in draw(st.lists(st.integers(0, len(records) - 1), max_size=4)):
        place: Any = records
        key: Any = index
        while isinstance(place[key], dict | list) and place[key] and draw(st.booleans()):
            place = place[key]
            keys = sorted(place) if isinstance(place, dict) else range(len(place))
            key = draw(st.sampled_from(keys))
        place[key] = draw(json_values)
    return records


def opened(module: AgentModule) -> ReaderState:
    file = SessionFile(path=Path("nowhere", "session.jsonl"), session_id="session", cwd="/home/dev/tea")
    return module.open_session(file)


def read(module: AgentModule, records: list[Any], state: ReaderState) -> list[Turn | SessionMark]:
    return list(module.read(records, state))


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def without_copy_keys(items: list[Turn | SessionMark]) -> list[Turn | SessionMark]:
    """A turn at the end of a piece may have fewer of them: what comes behind it is not known yet."""
    return [msgspec.structs.replace(item, copy_keys=()) if isinstance(item, Turn) else item for item in items]


def test_every_registered_agent_is_held_to_this_contract():
    assert set(SAMPLES) == set(OVERRIDES) == set(MODULES)


def test_an_unknown_agent_is_named_and_a_near_one_suggested():
    with pytest.raises(UnknownName) as error:
        agent("codx")

    assert "codex" in error.value.hint


@EVERY_AGENT
def test_a_module_offers_what_the_registry_asks_for(name):
    module = agent(name)

    assert name == module.NAME
    assert module.TITLE
    assert issubclass(module.State, ReaderState)
    assert all(isinstance(kind, str) for kind in module.KNOWN_INVISIBLE)
    assert module.resume_command("an-id").endswith("an-id") or name in NOT_BY_ID
    assert "; rm" not in module.resume_command("x'; rm -rf ~; '").replace("'\"'\"'; rm", "")


@EVERY_AGENT
def test_the_sample_is_read(name):
    """Else the tests below would hold for a reader that reads nothing."""
    found = read(agent(name), SAMPLES[name](), opened(agent(name)))

    assert len(turns(found)) >= 4
    assert isinstance(found[0], SessionMark)
    assert [item.kind for item in found if isinstance(item, SessionMark)].count(MarkKind.STARTED) == 1


@EVERY_AGENT
@given(data=st.data())
def test_no_native_record_can_stop_a_sync(name, data):
    """Vendors change their logs without notice; the worst outcome is a turn that was not read."""
    module = agent(name)
    records = data.draw(st.lists(json_values, max_size=8) | nearly_right(name))

    found = read(module, records, opened(module))

    for item in found:
        assert item.source == module.NAME
        assert all(isinstance(value, str) for value in (item.cwd, item.model, item.said_at, item.source_ref))
    for turn in turns(found):
        assert isinstance(turn.text, str)
        assert turn.text.strip()


@EVERY_AGENT
@given(data=st.data())
def test_reading_in_pieces_gives_the_same_turns(name, data):
    """A sync may happen between any two lines, and its state is stored in between."""
    module = agent(name)
    records = data.draw(nearly_right(name))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(records)), max_size=5)))
    expected = read(module, records, opened(module))
    state, found = opened(module), []

    for start, end in zip([0, *cuts], [*cuts, len(records)], strict=True):
        found += read(module, records[start:end], state)
        state = msgspec.json.decode(msgspec.json.encode(state), type=module.State)

    assert without_copy_keys(found) == without_copy_keys(expected)


@EVERY_AGENT
@given(data=st.data())
def test_ordinals_count_from_0_without_gaps(name, data):
    """They are part of a turn's identity where the agent gives no id."""
    module, state = agent(name), opened(agent(name))

    found = read(module, data.draw(nearly_right(name)), state)

    assert [turn.source_index for turn in turns(found)] == list(range(len(turns(found))))
    assert state.source_index == len(turns(found))


@EVERY_AGENT
def test_reading_again_gives_the_same_identities(name):
    """Capturing twice adds nothing."""
    module = agent(name)

    first, second = (read(module, SAMPLES[name](), opened(module)) for _ in range(2))

    assert first == second


@EVERY_AGENT
def test_the_state_stays_small(name):
    """It is stored for every session file, whatever the session's size."""
    module, state = agent(name), opened(agent(name))
    records = SAMPLES[name]()

    for number in range(300):
        read(module, records, state)
        for at, record in enumerate(records):  # where a record that is stated again is the same one
            if "step_index" in record:
                record["step_index"] += len(records)
            for key in {"id", "uuid"} & set(record):
                record[key] = f"{at}-{number}"

    assert state.visible > 600
    assert len(msgspec.json.encode(state)) < 8_000


@EVERY_AGENT
@pytest.mark.parametrize("roots", [[], ["/home/dev/tea"], ["C:\\Users\\dev\\tea"], ["/"]])
def test_a_missing_home_has_no_session(name, roots, tmp_path):
    module = agent(name)
    (tmp_path / "a file").write_text("")

    assert list(module.session_files(tmp_path / "missing", roots)) == []
    assert list(module.session_files(tmp_path / "a file", roots)) == []
    assert list(module.session_files(tmp_path, roots)) == []


@EVERY_AGENT
def test_the_environment_can_move_the_home_and_an_empty_value_does_not(name, tmp_path, monkeypatch):
    """FC-G07, as on Linux."""
    monkeypatch.setattr("sys.platform", "linux")
    variable, usual, *below = OVERRIDES[name]
    home = agent(name).home

    assert home({}, tmp_path) == tmp_path / usual
    assert home({variable: ""}, tmp_path) == tmp_path / usual
    assert home({variable: "/elsewhere"}, tmp_path) == Path("/elsewhere", *below)


@EVERY_AGENT
def test_a_session_can_be_opened_without_its_side_files(name, tmp_path):
    """FC-L02: they may vanish between listing and opening."""
    state = agent(name).open_session(SessionFile(path=tmp_path / "gone" / "x.jsonl", session_id="s"))

    assert (state.started, state.source_index, state.sidechain) == (False, 0, False)


@EVERY_AGENT
@given(data=st.data())
def test_a_glance_at_a_line_changes_nothing_that_is_read(name, data):
    """Long lines are passed over without being decoded; what they would have told must not be lost."""
    module = agent(name)
    records = data.draw(nearly_right(name))
    file = io.BytesIO(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    glanced, whole = opened(module), opened(module)

    quick = list(module.read(read_records(file, Lines(), glancing(module, glanced)), glanced))
    slow = list(module.read(read_records(file, Lines()), whole))

    assert quick == slow
    assert glanced == whole
