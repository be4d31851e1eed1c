"""`demo`: a stranger sees the whole job in a minute, and nothing of theirs is touched."""

import tempfile

import pytest

from builders.world import World
from conversation_esaa.workspace import Workspace


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary directories are made, to see that none stays."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def kept(world, tmp_path):
    """A demo to look around in, its project and its home."""
    assert world.run("demo", "--keep", str(tmp_path / "kept")).code == 0
    return tmp_path / "kept"


def test_it_shows_the_job_from_three_logs_to_the_fourth_agents_handoff(world, temporary):
    """Capture, curate, capture again, verify, hand over: each with the command that does it."""
    ran = world.run("demo")

    assert (ran.code, ran.err) == (0, "")
    steps = [line for line in ran.out.splitlines() if line.startswith("$ conversation-esaa ")]
    assert steps[0] == "$ conversation-esaa up"
    assert steps[-3:] == [
        "$ conversation-esaa sync",
        "$ conversation-esaa verify",
        "$ conversation-esaa handoff --for antigravity",
    ]
    for agent in ("claude-code", "codex", "grok"):
        assert f"  {agent:<12} 6 new" in ran.out
    assert "\n0 new events" in ran.out
    assert "verify: ok" in ran.out
    assert "## Active decisions" in ran.out
    assert "15 turns of three agents" in ran.out


def test_nothing_stays_behind_and_nothing_of_the_users_is_read_or_written(world, temporary):
    """Run inside a workspace with an agent's log, as a curious user would."""
    world.claude().user("Something of mine.")
    world.run("up")
    world.claude("claude-2").user("Something new of mine.")
    before = world.bytes_of_store()

    ran = world.run("demo", present=world.project)

    assert ran.code == 0
    assert "of mine" not in ran.out
    assert world.bytes_of_store() == before
    assert list(temporary.iterdir()) == []


def test_inside_a_git_repository_the_demo_keeps_to_its_directory(world):
    """`--keep` below a repository: the repository does not become a workspace."""
    (world.project / ".git").mkdir()

    assert world.run("demo", "--keep", "inside/here").code == 0

    assert (world.project / "inside" / "here" / "ferry" / ".conversation-esaa").is_dir()
    assert not world.store.exists()


def test_the_same_demo_looks_the_same_every_time(tmp_path):
    """What is in the guides is what is seen."""

    def told(name):
        world = World(tmp_path / name)
        place = str(tmp_path / name / "kept")
        told = world.run("demo", "--keep", place).out.replace(str(tmp_path / name), "")
        steps = told[told.index("$ conversation-esaa up") : told.index("\n15 turns")].splitlines()
        differ = ("event `", "head ", "hash=", " tokens")  # workspace ids are random, hashes follow
        return [line for line in steps if not any(word in line for word in differ)]

    assert told("a") == told("b")


def test_what_must_stay_out_of_a_conversation_stayed_out(kept):
    """Another project's session, a private remark, a token: each is in the made-up logs to be kept out."""
    log = (kept / "ferry" / ".conversation-esaa" / "activity.jsonl").read_text("utf-8")
    shown = "".join(
        path.read_text("utf-8")
        for path in (kept / "ferry" / ".conversation-esaa").iterdir()
        if path.suffix in (".md", ".json")
    )

    assert "sourdough" not in log + shown
    assert "555 0142" not in log + shown
    assert "[REDACTED:github]" in shown
    assert "gh" + "p_" not in shown


def test_what_was_kept_is_an_ordinary_workspace(kept, world):
    """To look around in, as the demo says."""
    machine = World.machine(world, kept / "ferry")
    workspace = Workspace.find(machine=machine, catch_up=False)

    state = workspace.state()

    assert (len(state.decisions), len(state.tasks), len(state.topics)) == (2, 3, 1)
    assert workspace.verify(deep=True).ok


def test_a_directory_in_use_is_not_taken(world):
    """`--keep` names a new directory; a typo must not fill somebody's project."""
    (world.project / "mine.txt").write_text("mine")

    ran = world.run("demo", "--keep", str(world.project))

    assert ran.code == 2
    assert "--keep takes a new directory" in ran.err
    assert [path.name for path in world.project.iterdir()] == ["mine.txt"]


def test_json_has_every_step_with_its_answer(world, temporary):
    """For a test of an installation: one object, and exit code 0."""
    ran = world.run("demo", "--json")

    document = ran.json
    assert (ran.code, document["turns"], document["captured_again"], document["kept"]) == (0, 15, 0, "")
    assert [step["command"][0] for step in document["steps"]][-3:] == ["sync", "verify", "handoff"]
    assert document["steps"][-1]["answer"]["text"] == document["handoff"]["text"]
    assert all(step["answer"]["schema"].startswith("conversation-esaa.") for step in document["steps"])


@pytest.mark.parametrize("columns", ["30", "40", "200"])
def test_explanations_fit_a_narrow_terminal(world, columns):
    """The commands' own lines are theirs to break."""
    world.environ["COLUMNS"] = columns

    told = world.run("demo", "--keep", "kept").out.splitlines()

    first = told.index("$ conversation-esaa up")
    explained = [line for line in told[:first] if len(line.split()) > 1]
    assert max(map(len, explained)) <= int(columns)


def test_a_demo_that_fails_says_which_step(world, monkeypatch):
    """It is the first thing a stranger runs: an error has to be one, with a way to report it."""
    from conversation_esaa.cli.commands import verify

    monkeypatch.setattr(verify, "run", lambda args, call: 3)

    ran = world.run("demo")

    assert ran.code == 1
    assert "`conversation-esaa verify` ended with 3" in ran.err
    assert "--keep" in ran.err


def test_it_needs_no_home_and_no_workspace(tmp_path):
    """From anywhere, in any state."""
    world = World(tmp_path)
    world.home.rmdir()

    ran = world.run("demo", "--json", present=tmp_path)

    assert (ran.code, ran.err) == (0, "")
    assert not world.home.exists()
