"""Which directories are listened at: those that matter, few, and never the home itself."""

import pytest

from builders.world import World
from conversation_esaa.watch import loop
from conversation_esaa.watch.changes import Heard, Polling, listen
from conversation_esaa.watch.loop import Watcher
from conversation_esaa.watch.places import directories, topmost
from conversation_esaa.watch.served import Served


def test_the_places_are_those_where_discovery_looks(world: World):
    """A folder of another project's sessions is none of them; each agent's root is one, for what is to come."""
    world.claude().user("here")
    world.claude("elsewhere", cwd="/somewhere/else").user("there")
    world.codex().user("here")
    claude, codex = world.home / ".claude" / "projects", world.home / ".codex" / "sessions"

    found = directories(world.workspace())

    assert str(claude) in found
    assert sum(path.startswith(f"{claude}/") for path in found) == 1
    assert {str(codex), str(codex / "2026" / "03" / "01")} <= found


def test_a_home_without_agents_is_not_listened_at(world: World):
    """Shells write their history there; and on some systems listening means the whole tree."""
    assert directories(world.workspace()) == set()
    (world.home / ".claude").mkdir()
    assert directories(world.workspace()) == {str(world.home / ".claude")}


def test_an_excluded_agent_and_a_broken_configuration_have_no_places(world: World):
    world.claude().user("here")
    workspace = world.workspace()
    config = workspace.layout.config.read_text()
    workspace.layout.config.write_text(config.replace("exclude_agents = []", 'exclude_agents = ["claude"]'))
    excluded = directories(workspace)
    workspace.layout.config.write_text("root = [")

    assert excluded == directories(workspace) == set()


def test_the_topmost_of_nested_directories():
    assert topmost({"/a/b", "/a", "/a/b/c", "/ab", "/z/y"}) == ["/a", "/ab", "/z/y"]


def test_too_many_directories_are_looked_at_by_ourselves(monkeypatch):
    import threading

    monkeypatch.setattr("conversation_esaa.watch.changes.MOST_DIRECTORIES", 2)

    ear = listen(frozenset({"/1", "/2", "/3"}), threading.Event())

    assert (ear.mode, ear.why) == ("polling", "3 directories are more than the system should be asked about")


class Silent(Polling):
    """Claims to be told by the system, and is not: a network file system."""

    mode = "events"

    def wait(self) -> Heard:
        return Heard()


def test_where_no_event_ever_comes_it_polls_after_a_while(world: World, monkeypatch):
    """FC-B08: nothing failed, and still nothing is told."""
    import threading

    claude = world.claude().user("0")
    world.workspace()
    world.run("watch", "--forget", "/nowhere")
    from conversation_esaa.registered import register

    register(world.machine(), world.project)
    stop, said, clock = threading.Event(), list[str](), iter(range(0, 100_000, 100))
    monkeypatch.setattr(loop, "listen", lambda *_, **__: Silent("", stop))

    def say(words: str) -> None:
        said.append(words)
        if "new event" in words:
            claude.user("more")
        if "from now on" in words:
            stop.set()

    Watcher(world.machine(), stop=stop, say=say, clock=lambda: next(clock)).run()

    assert "changes are found by polling from now on (the file system tells of no changes)" in said


@pytest.mark.parametrize("error", [RuntimeError("CANARY text of a turn"), OSError(5, "Input/output error")])
def test_a_failure_is_told_without_words_of_a_conversation(world: World, monkeypatch, error):
    world.workspace()
    served = Served(world.project, world.machine())
    monkeypatch.setattr(type(served.workspace), "sync", lambda *_, **__: (_ for _ in ()).throw(error))

    first, second = served.look(), served.look()
    served.close()

    assert len(first.words) == 1
    assert second.words == []
    assert "CANARY" not in served.problem
    assert served.failures == 2
