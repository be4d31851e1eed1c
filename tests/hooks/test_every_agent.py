"""What holds of the settings of every agent: merged, renewed, taken out, within the agent's own rules."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.agent_settings import HERE, MOVED, ON_WINDOWS, foreign
from conversation_esaa.hooks import command, registry
from conversation_esaa.hooks.surface import SCOPES, Kept, NotEditable

GOLDEN = Path(__file__).parent.parent / "golden" / "hooks"
AGENTS = list(registry.MODULES)
TOML = ("kimi", "kimi-code")
MERGED = [agent for agent in AGENTS if agent not in ("opencode", "pi")]  # the others have a file of their own
BOM = b"\xef\xbb\xbf"


def form(agent):
    return registry.module(agent).FORM


@pytest.mark.parametrize("system", ["posix", "windows"])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_file_that_is_made_is_what_it_was(agent, system):
    """FC-H07: as the agent's documentation has it. After a change that is meant, run with GOLDEN=write."""
    program = HERE if system == "posix" else ON_WINDOWS

    made = form(agent).put(b"", program, inject=True)

    suffix = {**dict.fromkeys(TOML, "toml"), "opencode": "js", "pi": "js"}.get(agent, "json")
    golden = GOLDEN / f"{agent}-{system}.{suffix}"
    if os.environ.get("GOLDEN") == "write":
        golden.write_bytes(made)
    assert made.decode() == golden.read_bytes().decode()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("inject", [False, True])
def test_a_file_that_is_made_goes_away_again(agent, inject):
    """Nothing but ours was in it."""
    made = form(agent).put(b"", HERE, inject=inject)

    assert form(agent).take(made, Kept()) == b""


@pytest.mark.parametrize("agent", MERGED)
@pytest.mark.parametrize("dressed", ["plain", "crlf", "bom", "no last line feed"])
def test_merging_and_taking_out_gives_the_file_that_was_there(agent, dressed):
    """FC-H06, FC-C06: comments, order, spelling, line ends, byte order mark, also without a backup."""
    old = foreign(agent)
    old = {
        "plain": old,
        "crlf": old.replace(b"\n", b"\r\n"),
        "bom": BOM + old,
        "no last line feed": old.rstrip(b"\n"),
    }[dressed]

    new = form(agent).put(old, HERE, inject=False)

    assert new != old
    assert new.startswith(BOM) == old.startswith(BOM)
    assert (b"\n" in new.replace(b"\r\n", b"")) == (dressed != "crlf" and b"\n" in old)
    assert form(agent).take(new, form(agent).kept(old)) == old


@pytest.mark.parametrize("agent", MERGED)
def test_what_others_have_there_is_there_still(agent):
    """FC-H06: every line of theirs but for a comma."""
    old = foreign(agent)

    new = form(agent).put(old, HERE, inject=False)

    lines = [line.strip().rstrip(b",") for line in new.splitlines()]
    if len(old.splitlines()) > 1:
        assert [line for line in old.splitlines() if line.strip().rstrip(b",") not in lines] == []
    assert b"say done" in new


@pytest.mark.parametrize("agent", AGENTS)
def test_twice_is_as_good_as_once(agent):
    """FC-H06: idempotent, to the byte."""
    once = form(agent).put(foreign(agent) if agent in MERGED else b"", HERE, inject=True)

    assert form(agent).put(once, HERE, inject=True) == once
    assert len(form(agent).found(once)) == len(registry.module(agent).EVENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_another_installation_renews_the_entries_where_they_stand(agent):
    """After an upgrade, a move of the environment, another option: never a second set of entries."""
    fresh = form(agent).put(foreign(agent) if agent in MERGED else b"", MOVED, inject=True)
    old = form(agent).put(foreign(agent) if agent in MERGED else b"", HERE, inject=False)

    new = form(agent).put(old, MOVED, inject=True)

    assert new == fresh
    assert b"My Proj" not in new


@pytest.mark.parametrize("agent", AGENTS)
def test_a_form_tells_what_is_right_and_what_is_stale(agent):
    """What `hooks` and `doctor` stand on."""
    made = form(agent).put(b"", HERE, inject=True)

    assert form(agent).found(made) == form(agent).wanted(HERE, inject=True)
    assert form(agent).found(made) != form(agent).wanted(MOVED, inject=True)
    assert form(agent).found(b"") == []


@pytest.mark.parametrize("agent", AGENTS)
def test_only_an_event_that_takes_text_asks_for_it(agent):
    """FC-H10: elsewhere what we print could be read as a decision, so nothing is printed."""
    module = registry.module(agent)
    made = form(agent).put(b"", HERE, inject=True).decode()

    injecting = [event.name for event in module.EVENTS if event.injects]
    if agent in MERGED:
        assert made.count("--inject") == len(injecting)
    assert len(injecting) <= 1
    assert "--inject" not in form(agent).put(b"", HERE, inject=False).decode() or agent not in MERGED


@pytest.mark.parametrize("agent", AGENTS)
def test_no_event_is_registered_whose_answer_an_agent_waits_for(agent):
    """FC-H10: tools are none of our business; Gemini's compression event comes before every call of the model."""
    names = {event.name.lower() for event in registry.module(agent).EVENTS}

    assert not {name for name in names if "tool" in name or "permission" in name or "shell" in name}
    assert "precompress" not in names


def time_outs_s(agent, made):
    """Each time-out of a generated file, in seconds by the unit of its agent."""
    if agent in TOML:
        return [hook["timeout"] for hook in tomllib.loads(made)["hooks"]]
    if agent in ("opencode", "pi"):
        return [int(made.partition("timeout: ")[2].partition(",")[0]) / 1000]
    unit = 1000 if agent in ("gemini-cli", "qwen-code") else 1
    found: list[float] = []

    def look(value):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if key in ("timeout", "timeoutSec"):
                found.append(each / unit)
            elif isinstance(each, (dict, list)):
                look(each)

    look(json.loads(made))
    return found


@pytest.mark.parametrize("agent", AGENTS)
def test_every_time_out_is_in_the_unit_of_the_agent_and_short(agent):
    """FC-H01: at most ten seconds; ten milliseconds would be as bad as ten thousand seconds."""
    module = registry.module(agent)
    found = time_outs_s(agent, form(agent).put(b"", HERE, inject=True).decode())

    if agent == "windsurf":
        assert found == [], "it has none"
        return
    assert len(found) == (len(module.EVENTS) if agent in MERGED else 1)
    assert all(1 <= each <= 10 for each in found)
    if agent == "codex":
        assert found[-1] <= 3, "Codex clamps SessionEnd, and says so at each start"


@pytest.mark.parametrize("agent", [agent for agent in MERGED if agent not in TOML])
@pytest.mark.parametrize(
    ("old", "place"),
    [
        (b'{\n  "hooks": {\n    "Stop": [}\n}\n', "line 3, column 14"),
        (b'{"a": "\xff"}', "line 1, column 8"),
        (b"\xff\xfe{\x00}\x00", "line 1, column 1"),
        (b'{"a": 1', "line 1, column 8"),
        (b"nonsense", "line 1, column 1"),
    ],
)
def test_a_broken_file_is_refused_by_line_and_column(agent, old, place):
    """Nothing is written behind what we cannot read."""
    for edit in (lambda: form(agent).put(old, HERE, inject=False), lambda: form(agent).take(old, Kept())):
        with pytest.raises(NotEditable, match=place):
            edit()


@pytest.mark.parametrize("old", [b"[[hooks]\n", b'a = 1\nb = "\xff"', b"hooks = 3\nhooks = 4", b"a = [1,"])
def test_a_broken_toml_file_is_refused_by_line_and_column(old):
    """As the JSON ones are."""
    for edit in (lambda: form("kimi").put(old, HERE, inject=False), lambda: form("kimi").take(old, Kept())):
        with pytest.raises(NotEditable, match=r"line \d+, column \d+"):
            edit()


@pytest.mark.parametrize("agent", MERGED)
@pytest.mark.parametrize(
    "old",
    [b"[1]", b'{"hooks": 3, "conversation-esaa": 3}', b'{"hooks": [1], "conversation-esaa": []}', b"7"],
)
def test_another_shape_is_refused(agent, old):
    """A file of that name that is something else."""
    if agent in TOML:
        old = b"hooks = 3"

    with pytest.raises(NotEditable):
        form(agent).put(old, HERE, inject=False)


@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_a_file_of_our_name_that_is_not_ours_stays(agent):
    """Somebody wrote it; it is neither replaced nor removed."""
    with pytest.raises(NotEditable):
        form(agent).put(b"export default 1;\n", HERE, inject=False)

    assert form(agent).take(b"export default 1;\n", Kept()) == b"export default 1;\n"


def test_a_handler_that_was_put_into_somebodys_group_is_taken_out_alone():
    """FC-H06: the group and its matcher are theirs."""
    ours = command.command(HERE, command.SH, "claude-code", "Stop")
    old = json.dumps(
        {"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "say"}, {"command": ours}]}]}}, indent=1
    )

    new = json.loads(form("claude-code").take(old.encode(), Kept()))

    assert new == {"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": "say"}]}]}}


def test_an_event_that_we_no_longer_register_is_taken_out():
    """Entries of an older version of ours."""
    ours = command.command(HERE, command.SH, "claude-code", "PostToolUse")
    old = json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": ours}]}]}})

    new = form("claude-code").put(old.encode(), HERE, inject=False)

    assert json.loads(new) == json.loads(form("claude-code").put(b"", HERE, inject=False))


def test_doubled_entries_become_one():
    """Whoever doubled them: two installations, a merge of two files."""
    once = json.loads(form("claude-code").put(b"", HERE, inject=False))
    twice = json.dumps({"hooks": {event: groups * 2 for event, groups in once["hooks"].items()}}, indent=2)

    assert json.loads(form("claude-code").put(twice.encode(), HERE, inject=False)) == once


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_says_where_and_what_it_needs(world, agent):
    """Every module offers what the others rely on."""
    module = registry.module(agent)
    places = module.places(world.machine(), world.project)

    assert agent == module.NAME
    assert module.DEFAULT_SCOPE in places
    assert set(places) <= set(SCOPES)
    assert all(path.is_absolute() for path in places.values())
    assert places.get("project", world.project).is_relative_to(world.project)
    assert places["user"].is_relative_to(world.home)
    for scope in places:
        approval = module.approval(world.machine(), world.project, scope=scope, changed=True)
        assert bool(approval.step) == approval.required


@given(st.sampled_from(MERGED), st.binary(max_size=60))
def test_no_file_makes_a_form_fail(agent, old):
    """It is refused in words, or it is changed so that it can be changed back."""
    try:
        new = form(agent).put(old, HERE, inject=False)
    except NotEditable:
        return

    assert form(agent).found(new) == form(agent).wanted(HERE, inject=False)
