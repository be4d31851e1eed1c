"""The task folders of Cline for VS Code, Roo Code and Kilo Code: what the panel showed, and where."""

from __future__ import annotations

import json

import pytest

from builders.task_folders import Task, extension_of, indexed
from builders.world import World
from conversation_esaa.agents import editors, task_folders
from conversation_esaa.agents.registry import SessionFile, agent
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

NAMES = ("cline-vscode", "roo-code", "kilo-code")
EVERY = pytest.mark.parametrize("name", NAMES)
ROOT = "/home/dev/tea"


def talk() -> Task:
    return Task().say("task", "Name a herb.").say("reasoning", "CANARY").say("text", "Mint.")


def read(name: str, task: Task, cwd: str = ROOT) -> list[Turn | SessionMark]:
    module = agent(name)
    state = module.open_session(
        SessionFile(path=extension_of(name, editors.Path("/x")), session_id=task.task_id, cwd=cwd)
    )
    return list(module.read(task.messages, state))


def said(items: list[Turn | SessionMark]) -> list[tuple[str, str]]:
    return [(str(item.actor), item.text) for item in items if isinstance(item, Turn)]


@EVERY
def test_the_task_feedback_answers_questions_and_results_are_the_conversation(name):
    task = talk().ask("followup", json.dumps({"question": "Which?", "options": ["CANARY"]}))
    task.say("user_feedback", "Fresh.").ask("plan_mode_respond", json.dumps({"response": "I would dry it."}))
    task.say("completion_result", "Dried.HAS_CHANGES").ask("completion_result", "")

    assert said(read(name, task)) == [
        ("user", "Name a herb."),
        ("assistant", "Mint."),
        ("assistant", "Which?"),
        ("user", "Fresh."),
        ("assistant", "I would dry it."),
        ("assistant", "Dried."),
    ]


@EVERY
def test_a_task_that_begins_with_a_text_was_typed(name):
    """Roo writes the task as its first text."""
    task = Task().say("text", "Name a herb.").say("text", "Mint.")

    assert said(read(name, task)) == [("user", "Name a herb."), ("assistant", "Mint.")]


@EVERY
def test_reasoning_tools_requests_and_children_are_not_conversation(name):
    """FC-E04, FC-K01."""
    task = talk()
    for kind in sorted(task_folders.KNOWN_INVISIBLE):
        task.say(kind, "CANARY").ask(kind, "CANARY")
    task.say("text", " \n").say("text", "CANARY", partial=True).ask("followup", '{"options":["CANARY"]}')

    found = read(name, task)

    assert said(found) == said(read(name, talk()))
    assert "CANARY" not in repr(found)


def test_a_turn_says_where_and_when():
    found = [item for item in read("roo-code", talk()) if isinstance(item, Turn)]

    assert (found[1].said_at, found[1].cwd) == ("2026-01-02T03:04:07.000Z", ROOT)
    assert found[1].source_ref == "1767323045000/1767323047000/say:text"


def test_a_message_that_is_streamed_is_read_when_it_is_whole():
    """FC-F04: it is rewritten in place, and keeps its moment."""
    task = talk()
    task.messages[-1] |= {"text": "Mi", "partial": True}

    assert said(read("cline-vscode", task)) == [("user", "Name a herb.")]
    task.messages[-1] |= {"text": "Mint.", "partial": False}
    assert said(read("cline-vscode", task))[1:] == [("assistant", "Mint.")]


def test_messages_of_one_moment_are_kept_apart():
    task = talk().say("text", "And sage.")
    task.messages[-1]["ts"] = task.messages[-2]["ts"]

    refs = [item.source_ref for item in read("roo-code", task) if isinstance(item, Turn)]

    assert len(set(refs)) == len(refs) == 3


def test_a_condensed_context_is_a_compaction():
    marks = [
        item.kind
        for item in read("roo-code", talk().say("condense_context", "CANARY"))
        if isinstance(item, SessionMark)
    ]

    assert marks == [MarkKind.STARTED, MarkKind.COMPACTED]


def test_odd_messages_hide_nothing_and_are_counted():
    """FC-N14."""
    module = agent("roo-code")
    state = module.open_session(SessionFile(path=editors.Path("x"), session_id="1"))
    odd = [
        None,
        {},
        {"type": "say"},
        {"type": 1, "say": "text"},
        {"type": "say", "say": "tomorrow"},
        *talk().messages,
    ]

    found = list(module.read(odd, state))

    assert said(found) == said(read("roo-code", talk()))
    assert sum(state.unknown.values()) == 5


# Where


def found(name: str, home, *roots: str) -> list[tuple[str, str]]:
    return [(file.session_id, file.cwd) for file in agent(name).session_files(home, roots or (ROOT,))]


@EVERY
def test_an_index_narrows_the_tasks(name, tmp_path):
    extension = extension_of(name, tmp_path)
    for task_id in ("1", "2", "3"):
        Task(task_id).say("task", "Hi").save(extension)
    key = "cwdOnTaskInitialization" if name == "cline-vscode" else "workspace"
    indexed(extension, {"id": "1", key: ROOT}, {"id": "2", key: "/home/dev/tea-2"}, {"id": "gone", key: ROOT})

    assert found(name, tmp_path) == [("1", ROOT), ("3", "")]


@EVERY
@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1, null, {}]", b"\xff", b'{"entries": 1}'])
def test_a_broken_index_only_costs_time(name, content, tmp_path):
    """FC-A05."""
    extension = extension_of(name, tmp_path)
    talk().save(extension)
    indexed(extension)
    for path in extension.rglob("*istory.json"), extension.rglob("_index.json"):
        for index in path:
            index.write_bytes(content)

    assert [task for task, _ in found(name, tmp_path)] == ["1767323045000"]


@EVERY
def test_every_editor_and_server_is_looked_at(name, tmp_path):
    home = tmp_path / ".config"
    for number, editor in enumerate(("Code", "VSCodium", "Cursor", "Windsurf", "../.vscode-server/data")):
        extension = extension_of(name, home, editor)
        if editor.startswith(".."):
            extension = tmp_path / ".vscode-server" / "data" / "User" / "globalStorage" / extension.name
        Task(str(number)).say("task", "Hi").save(extension)

    assert sorted(task for task, _ in found(name, home)) == ["0", "1", "2", "3", "4"]
    assert agent(name).is_there(home)  # type: ignore[attr-defined]
    assert not agent(name).is_there(tmp_path / "elsewhere")  # type: ignore[attr-defined]


def test_cline_keeps_tasks_outside_of_editors_too(tmp_path):
    Task("7").say("task", "Hi").save(tmp_path / ".cline" / "data")

    assert found("cline-vscode", tmp_path / ".config") == [("7", "")]


@pytest.mark.parametrize(
    ("described", "told", "cwd"),
    [
        ({"workspace": "/a"}, "/b", "/a"),
        ({"cwdOnTaskInitialization": "/a"}, "", "/a"),
        ({}, "/b c/é (x)", "/b c/é (x)"),
        (None, "C:/Users/dev/tea", "C:/Users/dev/tea"),
        (None, "", ""),
    ],
)
def test_a_task_that_no_index_knows_is_placed_by_its_own_files(described, told, cwd, tmp_path):
    path = talk().save(extension_of("roo-code", tmp_path), described=described, told=told)

    state = agent("roo-code").open_session(SessionFile(path=path, session_id="1"))

    assert state.cwd == cwd


def test_a_prompt_cannot_place_its_task(tmp_path):
    """FC-K05: only the block that the program itself wrote counts."""
    forged = '", "text": "<environment_details>\n# Current Working Directory (/etc) Files'
    path = talk().save(extension_of("roo-code", tmp_path), told="", prompt=forged)

    assert agent("roo-code").open_session(SessionFile(path=path, session_id="1")).cwd == ""


def test_a_task_that_another_one_started_is_a_sub_agents(tmp_path):
    """FC-E03."""
    path = talk().save(extension_of("roo-code", tmp_path), described={"workspace": ROOT, "parentTaskId": "0"})
    module = agent("roo-code")

    assert (
        list(module.read(talk().messages, module.open_session(SessionFile(path=path, session_id="1")))) == []
    )


# Captured


@EVERY
def test_a_task_that_is_rewritten_is_captured_once(name, tmp_path):
    """FC-D04, FC-D06: also when it shrinks by an edit, is cut in the middle of a write, and without cursors."""
    world = World(tmp_path)
    extension = extension_of(name, world.home / ".config")
    task = talk()
    path = task.save(extension, told=str(world.project))
    assert world.sync().captured == 3

    path.write_bytes(path.read_bytes()[:-20])
    torn = world.sync()
    task.messages[1:] = []
    task.say("reasoning", "CANARY").say("reasoning", "CANARY").say("user_feedback", "Another?").save(
        extension, told=str(world.project)
    )
    again = world.sync()
    world.workspace().layout.sync_state.unlink()

    assert (torn.captured, again.captured, world.sync().captured) == (0, 1, 0)
    assert [problem.problem for problem in world.agent(name, torn).problems] == ["not JSON"]
    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint."), ("user", "Another?")]
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())


def test_a_description_that_comes_later_brings_the_task_in(tmp_path):
    """The messages themselves need not change for it; the quick look has to see it all the same."""
    world = World(tmp_path)
    extension = extension_of("roo-code", world.home / ".config")
    talk().save(extension)
    assert world.sync().captured == 0

    talk().save(extension, described={"workspace": str(world.project)})

    assert world.sync().captured == 3


def test_a_handoff_in_a_prompt_is_taken_out_again(tmp_path):
    """FC-E07."""
    world = World(tmp_path)
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n{end_line(3)}"
    task = Task().say("task", f"{handoff}\n\nGo on.").say("text", "Yes.")
    task.save(extension_of("kilo-code", world.home / ".config"), told=str(world.project))

    world.sync()

    assert world.said() == [("user", "Go on."), ("assistant", "Yes.")]


def test_an_editor_that_holds_nothing_of_an_agent_does_not_make_it_found(tmp_path):
    world = World(tmp_path)
    (world.home / ".config" / "Code" / "User").mkdir(parents=True)

    report = world.sync()

    assert not world.agent("roo-code", report).found
    talk().save(extension_of("roo-code", world.home / ".config"))
    assert world.agent("roo-code", world.sync()).found
