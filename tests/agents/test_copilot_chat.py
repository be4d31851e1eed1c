"""Chats of VS Code: what was typed, what was answered, and which window's project it belongs to."""

from __future__ import annotations

import json

import pytest

from builders.copilot_chat import TEA, Chat, hidden, lines, opened, read, said, window, words
from builders.world import World
from conversation_esaa.agents import copilot_chat
from conversation_esaa.agents.storage import Kind
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import SessionMark, Turn

ROOT = "/home/dev/tea"
HERE = {"folder": f"file://{ROOT}"}


def talk(session_id: str = TEA) -> Chat:
    return Chat(session_id).typed("Name a herb.").responds(hidden("thinking"), words("Mint.")).done()


def test_prompts_and_answers_are_the_conversation():
    chat = talk().typed("/explain #file:tea.py").responds(words("It "), words("boils.")).done()

    assert said(read(chat.document)) == [
        ("user", "Name a herb."),
        ("assistant", "Mint."),
        ("user", "/explain #file:tea.py"),
        ("assistant", "It boils."),
    ]


def test_a_turn_says_where_when_and_by_whom():
    found = read(talk().document)

    assert isinstance(found[0], SessionMark)
    assert found[0].said_at == "2026-01-02T03:04:04.000Z"
    assert found[2] == Turn(
        source=copilot_chat.NAME,
        source_session_id=TEA,
        source_index=1,
        actor="assistant",  # type: ignore[arg-type]  # equal to Actor.ASSISTANT
        text="Mint.",
        source_ref="request_aaaa-0/assistant",
        message_ref="response_1",
        said_at="2026-01-02T03:04:07.000Z",
        cwd=ROOT,
        model="copilot/demo-model",
    )


def test_reasoning_tools_edits_and_progress_are_not_conversation():
    """FC-E04, FC-K01."""
    chat = (
        Chat()
        .typed("Name a herb.")
        .responds(*map(hidden, sorted(copilot_chat.KNOWN_INVISIBLE)), words("Mint."))
        .done()
    )
    state = opened()

    found = read(chat.document, state)

    assert said(found) == said(read(talk().document))
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([words("One.\n"), "Two."], "One.\nTwo."),
        (
            [words("Let me look."), hidden("toolInvocationSerialized"), words("It is mint.")],
            "Let me look.\n\nIt is mint.",
        ),
        (
            [
                words("See "),
                {"kind": "inlineReference", "inlineReference": {"path": "/t/tea.py"}},
                words("."),
            ],
            "See tea.py.",
        ),
        (
            [words("See "), {"kind": "inlineReference", "name": "boil", "inlineReference": {}}, words("()")],
            "See boil()",
        ),
        (
            [
                {"kind": "inlineReference", "inlineReference": {"uri": {"path": "/t/a.py"}, "range": {}}},
                words(" is it."),
            ],
            "a.py is it.",
        ),
        (
            [
                words("Done:\n"),
                words("\n```\n"),
                hidden("codeblockUri"),
                hidden("textEditGroup"),
                words("\n```\n"),
                words("Bye."),
            ],
            "Done:\nBye.",
        ),
        ([{"kind": "markdownVuln", "content": words("Careful."), "vulnerabilities": ["CANARY"]}], "Careful."),
        ([words("```py\nx = 1\n```")], "```py\nx = 1\n```"),
        ([None, 1, {"kind": "tomorrow", "value": "CANARY"}, {"value": 1}, words("Mint.")], "Mint."),
    ],
)
def test_the_parts_of_a_response_come_to_one_text(parts, text):
    assert said(read(Chat().typed("x").responds(*parts).done().document))[1:] == [("assistant", text)]


@pytest.mark.parametrize(
    ("fields", "done"),
    [
        ({}, False),
        ({"isCanceled": True}, True),
        ({"modelState": {"value": 0}}, False),
        ({"modelState": {"value": 1, "completedAt": 1_767_323_050_000}}, True),
        ({"modelState": {"value": 2}}, True),
        ({"modelState": {"value": 4}, "result": {"metadata": {}}}, False),
        ({"result": {}}, True),
    ],
)
def test_a_response_counts_when_nothing_will_be_added_to_it(fields, done):
    """FC-F04: it grows in place, and what is seen first is what is kept."""
    assert len(said(read(Chat().typed("x", **fields).responds(words("Mint.")).document))) == 1 + done


@pytest.mark.parametrize("fields", [{"isHidden": True}, {"isSystemInitiated": True}])
def test_a_request_that_nobody_made_is_none(fields):
    assert read(Chat().typed("CANARY", **fields).responds(words("CANARY")).done().document) == []


def test_a_button_that_was_pressed_was_not_typed():
    chat = Chat().typed('Continue: "CANARY"', confirmation="Continue").responds(words("Going on.")).done()

    assert said(read(chat.document)) == [("assistant", "Going on.")]


def test_requests_with_ids_of_their_session_are_kept_apart():
    """FC-D05: older versions count them."""
    refs = set()
    for session in ("a", "b"):
        chat = Chat(session).typed("Hi", requestId="0")
        refs |= {item.source_ref for item in read(chat.document) if isinstance(item, Turn)}

    assert refs == {"a/0/user", "b/0/user"}


def test_odd_documents_hide_nothing_and_are_counted():
    """FC-N14."""
    chat = talk()
    chat.requests[0:0] = [None, {}, {"message": "Older.", "response": None}]  # type: ignore[list-item]
    state = opened()

    assert said(read(chat.document, state)) == [("user", "Older."), *said(read(talk().document))]
    assert read(None, state) == read({"requests": 1}, state) == []
    assert sum(state.unknown.values()) == 3


# Where


def found(home, *roots: str) -> list[tuple[str, str, Kind]]:
    return [
        (file.session_id, file.cwd, file.kind) for file in copilot_chat.session_files(home, roots or (ROOT,))
    ]


def test_a_window_tells_the_project_of_its_chats(tmp_path):
    """FC-G12, FC-D09: both forms side by side, in every editor."""
    talk("a").save(window(tmp_path, HERE))
    (window(tmp_path, HERE) / "b.jsonl").write_text("")
    (window(tmp_path, HERE) / "c.txt").write_text("")
    talk("d").save(window(tmp_path, {"folder": "file:///home/dev/tea-2"}, name="1"))
    talk("e").save(window(tmp_path, HERE, name="2", editor="VSCodium"))

    assert found(tmp_path) == [
        *(("a", ROOT, Kind.DOCUMENT), ("b", ROOT, Kind.JOURNAL)),
        ("e", ROOT, Kind.DOCUMENT),
    ]


def test_of_a_project_of_several_folders_the_asked_one_is_told(tmp_path):
    """FC-G12."""
    project = tmp_path / "both.code-workspace"
    project.write_text(json.dumps({"folders": [{"path": "/home/dev/other"}, {"path": ROOT}]}))
    talk("a").save(window(tmp_path, {"workspace": project.as_uri()}))

    assert found(tmp_path) == [("a", ROOT, Kind.DOCUMENT)]
    assert found(tmp_path, "/home/dev/other") == [("a", "/home/dev/other", Kind.DOCUMENT)]


def test_chats_without_a_project_and_of_remote_windows_are_counted(tmp_path):
    talk("a").save(tmp_path / "Code" / "User" / "globalStorage" / "emptyWindowChatSessions")
    talk("b").save(window(tmp_path, {"folder": "vscode-remote://ssh-remote%2Bbox/home/dev/tea"}))
    talk("c").save(window(tmp_path, None, name="1"))

    assert found(tmp_path, "/") == []
    assert copilot_chat.unlisted(tmp_path) == {
        "chats of a window without a folder": 1,
        "chats of a remote window": 2,
    }


# Captured


def test_a_journal_that_grows_and_is_compacted_is_captured_once(tmp_path):
    """FC-D04, FC-D06: its size shrinks, requests are taken back, cursors are gone."""
    world = World(tmp_path)
    folder = window(world.home / ".config", {"folder": world.project.as_uri()})
    folder.mkdir()
    path = folder / f"{TEA}.jsonl"
    chat = talk()
    begin = lines({"kind": 0, "v": chat.document})
    path.write_text(begin)
    assert world.sync().captured == 3

    asked = Chat().typed("x").typed("Another?").requests[1]
    steps = [
        {"kind": 2, "k": ["requests"], "v": [asked]},
        {"kind": 2, "k": ["requests", 1, "response"], "v": [hidden("thinking"), words("Sa")]},
        {"kind": 2, "k": ["requests", 1, "response"], "v": [words("Sage.")], "i": 1},
        {"kind": 1, "k": ["requests", 1, "result"], "v": {"timings": {}, "metadata": {"x": "CANARY"}}},
    ]
    captured = []
    for count in range(1, len(steps) + 1):
        whole = begin + lines(*steps[:count])
        path.write_text(whole[:-8])
        world.sync()
        path.write_text(whole)
        world.sync()
        captured.append(len(world.said()))
    chat.save(folder)  # as a version that converts them leaves the older form behind
    path.write_text(lines({"kind": 0, "v": {**chat.document, "requests": []}}))
    world.sync()
    world.workspace().layout.sync_state.unlink()

    assert captured == [3, 3, 3, 4]
    assert world.sync().captured == 0
    assert [text for _, text in world.said()] == ["Name a herb.", "Mint.", "Another?", "Sage."]
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())


def test_a_new_window_ends_what_was_unchanged(tmp_path):
    """Looking again must be cheap, and must not miss the first chat of a project."""
    world = World(tmp_path)
    window(world.home / ".config", {"folder": "file:///elsewhere"})
    assert world.sync().captured == 0

    talk().save(window(world.home / ".config", {"folder": world.project.as_uri()}, name="new"))

    assert world.run("sync").code == 0
    assert len(world.said()) == 2


def test_a_handoff_in_a_prompt_is_taken_out_again(tmp_path):
    """FC-E07."""
    world = World(tmp_path)
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n{end_line(3)}"
    chat = Chat().typed(f"{handoff}\n\nGo on.").responds(words("Yes.")).done()
    chat.save(window(world.home / ".config", {"folder": world.project.as_uri()}))

    world.sync()

    assert world.said() == [("user", "Go on."), ("assistant", "Yes.")]
