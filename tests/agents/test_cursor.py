"""Cursor, the editor: what is read of its database, as far as other readers of it describe it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from builders import cursor as build
from builders.cursor import TEA, Chat, Editor, read, texts
from conversation_esaa.agents import cursor, editors, sqlite, storage
from conversation_esaa.agents.listing import witnessed_by
from conversation_esaa.agents.sqlite import Database, DatabaseUnreadable, database
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

ROOT = "/home/dev/tea"
OTHER = "aaaaaaaa-0000-4000-8000-000000000002"


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(tmp_path / "Cursor" / "User")


def found(editor: Editor, *roots: str) -> list[SessionFile]:
    return list(cursor.session_files(editor.user, roots or (ROOT,)))


def only(editor: Editor) -> SessionFile:
    (file,) = found(editor)
    return file


def names(files: list[SessionFile]) -> list[str]:
    return [file.session_id for file in files]


# --- what is said -------------------------------------------------------------------------------------------


def test_prompts_and_answers_are_read_in_the_order_of_the_chat(editor):
    """FC-E08: the rows lie by key, the chat says how they follow each other."""
    chat = Chat().typed("Name a herb.", name="z" * 36).answered("Mint.", name="a" * 36).typed("Another?")
    chat.save(editor)

    mark, *turns = read(only(editor))

    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.said_at) == (MarkKind.STARTED, "2026-01-02T03:05:00.000Z")
    assert [(str(turn.actor), turn.text, turn.source_ref) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb.", f"{TEA}/{'z' * 36}"),
        ("assistant", "Mint.", f"{TEA}/{'a' * 36}"),
        ("user", "Another?", f"{TEA}/bbbbbbbb-0000-4000-8000-000000000002"),
    ]
    assert {turn.cwd for turn in turns} == {ROOT}
    assert {turn.model for turn in turns} == {"demo-model"}
    assert [turn.said_at[-6:] for turn in turns] == ["0.500Z", "1.500Z", "2.500Z"]


def test_what_is_not_conversation_is_not_read(editor):
    """FC-E04: reasoning, tools, context, titles, what the program itself said in somebody's name."""
    chat = Chat().typed("Name a herb.").thought().tool().answered("")
    chat.answered("CANARY thought of an older version", isThought=True)
    chat.typed("CANARY the background task ended", isSimulatedMsg=True)
    chat.bubble(1, "CANARY", capabilityType=22).bubble(7, "CANARY").answered("Mint.").save(editor)
    file = only(editor)
    state = cursor.open_session(file)

    items = read(file, state)

    assert texts(items) == ["Name a herb.", "Mint."]
    assert "CANARY" not in repr(items)
    assert state.unknown == {"capability 22": 1, "bubble 7": 1}


def test_a_bubble_that_is_not_shown_is_not_read(editor):
    chat = Chat().typed("Name a herb.").answered("CANARY").answered("Mint.")
    order = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in chat.bubbles]
    order[1]["grouping"] = {"isRenderable": False}
    chat.fields["fullConversationHeadersOnly"] = order
    chat.save(editor)

    assert texts(read(only(editor))) == ["Name a herb.", "Mint."]


def test_an_old_chat_holds_its_bubbles_in_itself(editor):
    chat = Chat(conversation=Chat().typed("Name a herb.").answered("Mint.").bubbles)
    chat.save(editor)

    assert texts(read(only(editor))) == ["Name a herb.", "Mint."]


@pytest.mark.parametrize(
    ("fields", "moment"),
    [
        ({"createdAt": "2026-01-02T04:00:00Z"}, "2026-01-02T04:00:00.000Z"),
        ({"createdAt": build.BEGAN_MS + 1500}, "2026-01-02T03:05:01.500Z"),
        (
            {"createdAt": None, "timingInfo": {"clientStartTime": build.BEGAN_MS + 1500.25}},
            "2026-01-02T03:05:01.500Z",
        ),
        ({"createdAt": None, "timingInfo": {"clientStartTime": 4321.5}}, "2026-01-02T03:05:00.000Z"),
        ({"createdAt": None}, "2026-01-02T03:05:00.000Z"),
    ],
)
def test_a_moment_is_that_of_the_bubble_or_the_last_one_stated(editor, fields, moment):
    """Milliseconds, or ISO; a clock that began with the program tells nothing."""
    Chat().typed("Name a herb.", **fields).save(editor)

    assert read(only(editor))[1].said_at == moment


# --- while it is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize("busy", [{"status": "generating"}, {"generatingBubbleIds": ["b-mint"]}])
def test_an_answer_is_read_when_it_is_complete(editor, busy):
    """The first version of a turn is the one that is kept, so a growing one waits."""
    chat = Chat(**busy).typed("Name a herb.").answered("Mi", name="b-mint").save(editor)
    state = cursor.open_session(only(editor))
    first = read(only(editor), state)
    chat.bubbles[1]["text"] = "Mint."
    chat.fields |= {"status": "completed", "generatingBubbleIds": []}
    chat.save(editor)

    second = read(only(editor), state)

    assert texts(first) == ["Name a herb."]
    assert texts(second) == ["Mint."]
    assert [turn.source_index for turn in (*first, *second) if isinstance(turn, Turn)] == [0, 1]


def test_an_answer_that_something_follows_is_complete(editor):
    Chat(status="generating").typed("Name a herb.").answered("Let me look.").tool().save(editor)

    assert texts(read(only(editor))) == ["Name a herb.", "Let me look."]


def test_a_bubble_that_is_not_there_yet_is_read_when_it_is(editor):
    """The order may name it first."""
    chat = Chat().typed("Name a herb.").answered("Mint.").save(editor)
    with build.written(editor.store) as connection:
        connection.execute("DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId:%0001'")
    state = cursor.open_session(only(editor))
    first = read(only(editor), state)
    chat.save(editor)

    assert (texts(first), texts(read(only(editor), state))) == (["Name a herb."], ["Mint."])


def test_what_was_read_is_not_read_again(editor):
    chat = Chat().typed("Name a herb.").answered("Mint.").tool().save(editor)
    state = cursor.open_session(only(editor))
    read(only(editor), state)

    nothing = read(only(editor), state)
    chat.typed("Another?").answered("Sage.").save(editor)

    assert nothing == []
    assert texts(read(only(editor), state)) == ["Another?", "Sage."]


def test_a_chat_that_was_set_back_goes_on_from_what_is_left(editor):
    """Restoring a checkpoint takes bubbles out of the chat; what they said was said."""
    chat = Chat().typed("Name a herb.").answered("Mint.").typed("No.").answered("Sage.").save(editor)
    state = cursor.open_session(only(editor))
    read(only(editor), state)
    del chat.bubbles[2:]
    chat.typed("A sweet one.", name="c-1").answered("Fennel.", name="c-2").save(editor)

    assert texts(read(only(editor), state)) == ["A sweet one.", "Fennel."]


# --- which chats --------------------------------------------------------------------------------------------


def test_a_chat_is_found_by_what_it_says_itself(editor):
    Chat().typed("x").save(editor)
    Chat(OTHER, folder="/home/dev/tea2").typed("x").save(editor)

    assert names(found(editor)) == [TEA]
    assert names(found(editor, "/home/dev")) == [TEA, OTHER]


def test_a_chat_is_found_by_the_table_of_newer_versions(editor):
    """By folder, or by the window that it belongs to."""
    editor.window("w-1", folder="file:///home/dev/tea/a%20b")
    for name in (TEA, OTHER, "in-window", "child", "foreign"):
        Chat(name, folder="").typed("x").save(editor)
    editor.header(TEA, workspaceIdentifier={"id": "?", "uri": {"scheme": "file", "fsPath": ROOT}})
    editor.header("in-window", workspace="w-1")
    editor.header("child", workspace="w-1", is_subagent=1)
    editor.header("foreign", workspace="w-2")

    assert {file.session_id: file.cwd for file in found(editor)} == {
        TEA: ROOT,
        "in-window": "/home/dev/tea/a b",
    }
    assert cursor.unlisted(editor.user) == {"chats of unknown workspace": 1}


def test_a_chat_is_found_by_the_lists_of_older_versions(editor):
    """FC-E09: one list may be there and empty; the other has it."""
    for number, name in enumerate((TEA, OTHER, "global", "pane")):
        Chat(name, folder="").typed(f"{number}").save(editor)
    place = editor.window("w-1", folder=f"file://{ROOT}")
    editor.window("w-2", folder="file:///home/dev/other")
    editor.lists("w-1", TEA)
    editor.lists("w-2", OTHER)
    build.put(editor.store, "ItemTable", "composer.composerData", {"allComposers": []})
    headers = {"allComposers": [{"composerId": "global", "workspaceIdentifier": {"id": "w-1"}}]}
    build.put(editor.store, "ItemTable", "composer.composerHeaders", headers)
    pane = {"workbench.panel.aichat.view.pane": {}, "unrelated": 1}
    build.put(place / "state.vscdb", "ItemTable", "workbench.panel.composerChatViewPane.p1", pane)

    assert names(found(editor)) == [TEA, "global", "pane"]


def test_chats_that_nothing_places_are_counted_and_drafts_are_not(editor):
    Chat(folder="").typed("x").save(editor)
    Chat(OTHER, folder="").save(editor)

    assert found(editor) == []
    assert cursor.unlisted(editor.user) == {"chats of unknown workspace": 1}


def test_sub_agents_are_left_out(editor):
    Chat("task-toolu_1").typed("CANARY").save(editor)
    Chat(OTHER, subagentInfo={"parentComposerId": TEA}).typed("CANARY").save(editor)

    assert found(editor) == []


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///home/dev/My%20Proj", "/home/dev/My Proj"),
        ("file:///c%3A/My%20Proj", "c:/My Proj"),
        ("file://wsl.localhost/Ubuntu/home/dev", "//wsl.localhost/Ubuntu/home/dev"),
        ("vscode-remote://wsl%2BUbuntu/home/dev", "//wsl.localhost/Ubuntu/home/dev"),
        ("vscode-remote://ssh-remote%2Bbox/home/dev", "vscode-remote://ssh-remote%2Bbox/home/dev"),
    ],
)
def test_a_folder_is_decoded_and_another_machine_s_stays_another_machine_s(editor, uri, folder):
    """FC-G12."""
    editor.window("w-1", folder=uri)

    assert [window.folders for window in editors.windows(editor.user)] == [[folder]]


def test_a_multi_root_workspace_has_all_its_folders(editor, tmp_path):
    """FC-G12."""
    file = tmp_path / "all.code-workspace"
    file.write_text(json.dumps({"folders": [{"path": "tea"}, {"path": "/abs"}, {"uri": "file:///u%20v"}, 1]}))
    editor.window("w-1", workspace=file.as_uri())
    editor.window("w-2", workspace="file:///nowhere/%00.code-workspace")

    windows = list(editors.windows(editor.user))

    assert [window.folders for window in windows] == [[str(tmp_path / "tea"), "/abs", "/u v"], []]


def test_a_chat_on_another_machine_is_not_ours(editor):
    """FC-G12: its path may well be one that exists here."""
    uri = {"scheme": "vscode-remote", "fsPath": ROOT, "external": f"vscode-remote://ssh-remote%2Bbox{ROOT}"}
    Chat(folder="", workspaceIdentifier={"id": "w-9", "uri": uri}).typed("x").save(editor)

    assert found(editor) == []


# --- the database -------------------------------------------------------------------------------------------


def test_a_neighbour_s_news_are_no_news(editor):
    Chat().typed("x").save(editor)
    neighbour = Chat(OTHER).typed("y").save(editor)
    before = {file.session_id: file.revision for file in found(editor)}
    neighbour.bubbles[0]["text"] = "Y"
    neighbour.save(editor)

    after = {file.session_id: file.revision for file in found(editor)}

    assert before[TEA] == after[TEA]
    assert before[OTHER] != after[OTHER]


def test_nothing_walks_through_the_database(editor, monkeypatch):
    """It may hold gigabytes of other chats: everything is asked by key."""
    Chat().typed("x").answered("y").save(editor)
    editor.window("w-1", folder=f"file://{ROOT}")
    editor.header(OTHER, workspace="w-1")
    plans: list[str] = []
    real = build.database

    class Explained:
        def __init__(self, source):
            self.source = source

        def __getattr__(self, name):
            return getattr(self.source, name)

        def rows(self, query, *values):
            plans.extend(row[3] for row in self.source.rows(f"EXPLAIN QUERY PLAN {query}", *values))
            return self.source.rows(query, *values)

    @contextlib.contextmanager
    def explained(path):
        with real(path) as source:
            yield Explained(source)

    monkeypatch.setattr(cursor, "database", explained)
    monkeypatch.setattr(build, "database", explained)
    read(only(editor))

    assert any("COVERING INDEX" in plan for plan in plans)
    assert [plan for plan in plans if plan.startswith("SCAN cursorDiskKV")] == []
    assert [plan for plan in plans if plan.startswith("SCAN ItemTable")] == []


def test_a_database_without_what_is_known_is_said_to_be_foreign(editor):
    """FC-E09: instead of no chats."""
    editor.store.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(editor.store)) as connection:
        connection.execute("CREATE TABLE somethingNew (key, value)")
        connection.commit()

    with pytest.raises(DatabaseUnreadable):
        found(editor)
    assert cursor.unlisted(editor.user) == {}


def test_a_damaged_window_does_not_hide_the_others(editor):
    place = editor.window("w-1", folder=f"file://{ROOT}")
    (place / "state.vscdb").write_bytes(b"no database at all" * 100)
    Chat().typed("x").save(editor)

    assert names(found(editor)) == [TEA]


@pytest.mark.parametrize("value", ["", "{", "[1]", '{"fullConversationHeadersOnly": 1}', b"\xff\xfe"])
def test_a_damaged_row_gives_nothing_and_stops_nothing(editor, value):
    Chat().typed("x").save(editor)
    build.put(editor.store, "cursorDiskKV", f"composerData:{OTHER}", value)
    file = only(editor)
    build.put(editor.store, "cursorDiskKV", f"composerData:{TEA}", value)

    assert texts(read(file)) == []


def test_the_directory_of_the_user_is_each_system_s_own(monkeypatch, tmp_path):
    monkeypatch.setattr(editors, "PLATFORM", "darwin")
    assert cursor.home({}, tmp_path) == tmp_path / "Library/Application Support/Cursor/User"
    monkeypatch.setattr(editors, "PLATFORM", "win32")
    assert cursor.home({"APPDATA": str(tmp_path / "r")}, tmp_path) == tmp_path / "r/Cursor/User"
    assert cursor.home({"VSCODE_APPDATA": str(tmp_path / "v")}, tmp_path) == tmp_path / "v/Cursor/User"


# --- captured -----------------------------------------------------------------------------------------------


def home_of(world: World) -> Editor:
    return Editor(cursor.home({}, world.home))


def test_a_chat_is_captured_while_the_editor_has_it_open(world: World):
    """FC-I14, FC-F04: what is only in the WAL is seen; nothing is left beside the database or written to it."""
    editor, chat = home_of(world), Chat(folder=str(world.project)).typed("Name a herb.")
    with build.written(editor.store) as open_in_editor:
        open_in_editor.execute("PRAGMA wal_autocheckpoint=0")
        chat.save(editor)
        world.sync()
        chat.answered("Mint.").save(editor)
        before = {path.name: path.stat().st_size for path in editor.store.parent.iterdir()}

        report = world.sync()

        assert {path.name: path.stat().st_size for path in editor.store.parent.iterdir()} == before
    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.agent("cursor", report).problems == []
    assert world.sync(full=True).captured == 0


def test_a_copied_chat_is_known(world: World):
    """A chat that was duplicated, whether its bubbles keep their ids or only their moments."""
    editor = home_of(world)
    folder = str(world.project)
    Chat(folder=folder).typed("Name a herb.").answered("Mint.").save(editor)
    world.sync()
    Chat(OTHER, folder=folder).typed("Name a herb.").answered("Mint.").typed("Another?").save(editor)
    renamed = Chat("third", folder=folder).typed("Name a herb.", name="n1").answered("Mint.", name="n2")
    renamed.answered("Sage.", name="n3").save(editor)

    world.sync()

    assert sorted(text for _, text in world.said()) == ["Another?", "Mint.", "Name a herb.", "Sage."]


def test_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    chat = Chat(folder=str(world.project)).typed(f"{injected}\n\nName a herb.").typed(injected)
    chat.save(home_of(world))

    world.sync()

    assert world.said() == [("user", "Name a herb.")]


def test_a_busy_database_is_told_of_and_read_the_next_time(world: World, monkeypatch):
    """FC-I11, FC-I12: the other agents are captured all the same."""
    monkeypatch.setattr("conversation_esaa.agents.sqlite.BUSY_S", 0.01)
    editor = home_of(world)
    Chat(folder=str(world.project)).typed("Name a herb.").save(editor)
    world.claude().user("Which port?")
    with contextlib.closing(sqlite3.connect(editor.store, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=delete")
        other.execute("BEGIN EXCLUSIVE")
        report = world.sync()
        other.execute("COMMIT")

    assert "locked by another process" in world.agent("cursor", report).failed
    assert world.said() == [("user", "Which port?")]
    world.sync()
    assert world.said()[-1] == ("user", "Name a herb.")


def test_a_chat_that_another_workspace_holds_is_never_opened(world: World, monkeypatch):
    """I4, and its words are not even read."""
    editor = home_of(world)
    Chat(folder="/elsewhere").typed("CANARY").save(editor)
    editor.header(TEA, workspaceIdentifier={"id": "w", "uri": {"scheme": "file", "fsPath": "/elsewhere"}})
    rows, seen = Database.rows, []

    def noted(self, *asked):
        seen.append(rows(self, *asked))
        return seen[-1]

    monkeypatch.setattr(Database, "rows", noted)

    world.sync()

    assert world.said() == []
    assert seen
    assert "CANARY" not in repr(seen)


def test_discovery_tells_what_it_depends_on(editor):
    """So that a run can tell without a look into the database that there is nothing new."""
    Chat().typed("Name a herb.").save(editor)
    seen: list[str] = []

    class Witness:
        def __getattr__(self, _kind):
            return seen.append

    with witnessed_by(Witness()):
        found(editor)

    assert {str(editor.store), f"{editor.store}-wal", str(editor.user / "workspaceStorage")} <= set(seen)


def test_a_folder_is_found_through_a_link_and_the_link_is_depended_on(editor, tmp_path):
    """FC-G06: the chat states the name that the folder was opened by."""
    (tmp_path / "tea").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "tea")
    Chat(folder=str(link)).typed("Name a herb.").save(editor)
    followed: list[str] = []

    class Witness:
        def __getattr__(self, kind):
            return followed.append if kind == "real" else lambda _path: None

    with witnessed_by(Witness()):
        files = found(editor, str(tmp_path / "tea"))

    assert [file.cwd for file in files] == [str(link)]
    assert followed == [str(link)]


def test_many_databases_are_not_open_at_once(tmp_path: Path):
    """FC-B06: an editor has one for each folder that was ever opened."""
    kept = []
    with storage.kept_open(), contextlib.ExitStack() as stack:
        for number in range(3 * sqlite.OPEN_AT_ONCE):
            path = tmp_path / f"{number}.vscdb"
            build.put(path, "ItemTable", "number", number)
            source = stack.enter_context(database(path))
            assert source.rows("SELECT value FROM ItemTable") == [(str(number),)]
            kept.append(source)
        assert sum(source.is_open for source in kept) == sqlite.OPEN_AT_ONCE
        assert kept[0].rows("SELECT value FROM ItemTable") == [("0",)]
        assert sum(source.is_open for source in kept) == sqlite.OPEN_AT_ONCE
