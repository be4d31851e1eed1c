"""What becomes of the calls in the spool. Nobody waits here: the pause is a function that goes on talking."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from builders import cursor, cursor_cli
from conversation_esaa.capture import spool
from conversation_esaa.drain import LOOK_AGAIN_S, Drained, drain
from conversation_esaa.events import ConversationTurn, SessionEnded, SessionStarted
from conversation_esaa.opened import Opened

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World


class Calls:
    """A spool that is filled by hand, and drained in this process."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.spool = world.workspace().layout.spool
        self.spool.mkdir(parents=True, exist_ok=True)
        self.pauses: list[float] = []
        self.count = 0

    def put(self, agent: str, event: str, **payload: Any) -> None:
        payload = {"cwd": str(self.world.project), **payload}
        call = {"agent": agent, "event": event, "at": self.world.now(), "payload": payload}
        self.put_bytes(json.dumps(call).encode())

    def put_bytes(self, content: bytes, name: str = "") -> Path:
        self.count += 1
        path = self.spool / (name or f"{self.count:020d}-1.json")
        path.write_bytes(content)
        return path

    def drain(self, *meanwhile) -> Drained:
        """`meanwhile` is done in the pauses, one after the other."""
        to_do = iter(meanwhile)

        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            next(to_do, lambda: None)()

        return drain(self.world.workspace(), pause=pause)

    def names(self, kind: type) -> list[str]:
        return [
            entry.event.source_session_id for entry in self.world.entries() if isinstance(entry.event, kind)
        ]


@pytest.fixture
def calls(world: World) -> Calls:
    return Calls(world)


def test_a_call_is_a_reason_to_look_and_the_log_is_the_source(calls, world):
    """What hooks tell is cut, joined, escaped: none of it becomes a turn."""
    claude = world.claude().user("Which port?").assistant("Let me look.").assistant("8080.")
    calls.put(
        "claude-code", "UserPromptSubmit", session_id=claude.id, prompt="<hook_context>x</hook_context>"
    )
    calls.put("claude-code", "Stop", session_id=claude.id, last_assistant_message="8080.")

    done = calls.drain()

    assert world.said() == [("user", "Which port?"), ("assistant", "Let me look."), ("assistant", "8080.")]
    assert done.calls == 2
    assert done.unanswered == 0
    assert calls.pauses == []
    assert list(calls.spool.iterdir()) == []
    assert "8080" in (world.store / "handoff.md").read_text()


def test_only_the_agent_that_called_is_looked_at(calls, world):
    """Ten thousand session files of another agent are nobody's business now."""
    codex = world.codex().user("Ours")
    world.claude().user("Not asked for")
    calls.put("codex", "Stop", session_id=codex.id)

    calls.drain()

    assert world.said() == [("user", "Ours")]


def test_many_calls_are_one_capture_and_one_projection(calls, world, monkeypatch):
    """A hundred calls that came while the log was locked cost little more than one."""
    projected = []
    real = Opened._publish
    monkeypatch.setattr(Opened, "_publish", lambda self, *args: projected.append(1) or real(self, *args))
    claude = world.claude()
    for number in range(30):
        claude.user(f"Question {number}").assistant(f"Answer {number}")
        calls.put("claude-code", "Stop", session_id=claude.id, last_assistant_message=f"Answer {number}")
    calls.put("claude-code", "SessionEnd", session_id=claude.id, reason="other")

    done = calls.drain()

    assert done.calls == 31
    assert len(world.said()) == 60
    assert calls.names(SessionEnded) == [claude.id]
    assert projected == [1]


@pytest.mark.parametrize("look", [1, 3, 5])
def test_where_the_log_lags_behind_the_hook_it_is_looked_at_again(calls, world, look):
    """FC-F01: Grok fires `Stop` before it writes the answer."""
    grok = world.grok().user("Which port?")
    calls.put("grok", "Stop", sessionId=grok.id, lastAssistantMessage="8080.")

    done = calls.drain(*[lambda: None] * (look - 1), lambda: grok.assistant("8080."))

    assert world.said() == [("user", "Which port?"), ("assistant", "8080.")]
    assert calls.pauses == list(LOOK_AGAIN_S[:look])
    assert done.unanswered == 0
    assert "8080" in (world.store / "handoff.md").read_text()


def test_an_answer_that_does_not_come_is_not_waited_for_for_ever(calls, world):
    """FC-F01, FC-F02: the next look has it, once."""
    grok = world.grok().user("Which port?")
    calls.put("grok", "Stop", sessionId=grok.id, lastAssistantMessage="8080.")

    done = calls.drain()
    grok.assistant("8080.")
    calls.put("grok", "SessionEnd", sessionId=grok.id)
    calls.drain()

    assert done.unanswered == 1
    assert calls.pauses == list(LOOK_AGAIN_S)
    assert world.said() == [("user", "Which port?"), ("assistant", "8080.")]


def test_the_old_answer_is_not_taken_for_the_new_one(calls, world):
    """FC-F01."""
    grok = world.grok().user("One?").assistant("Done.")
    world.sync()
    grok.user("Two?")
    calls.put("grok", "Stop", sessionId=grok.id, lastAssistantMessage="Done.")

    calls.drain(lambda: grok.assistant("Done."))

    assert [text for _, text in world.said()] == ["One?", "Done.", "Two?", "Done."]
    assert len(calls.pauses) == 1


def test_an_answer_is_known_though_the_hook_cut_it_or_joined_it(calls, world):
    """Grok cuts at 32,768 characters, Gemini joins all texts of a turn, a token is masked in what we keep."""
    long = "tea " * 20_000
    claude = world.claude().user("Go.").assistant(long)
    codex = world.codex().user("Go.").assistant("First.").assistant("Last.")
    calls.put("claude-code", "Stop", session_id=claude.id, last_assistant_message=long[:32_768])
    calls.put("codex", "Stop", session_id=codex.id, prompt_response="First. \nLast.")

    assert calls.drain().unanswered == 0
    assert calls.pauses == []


def test_a_talk_that_has_gone_on_is_not_waited_for(calls, world):
    """The answer before is in the log by now, or comes with the next."""
    claude = world.claude().user("One?").assistant("Yes.").user("Two?")
    calls.put("claude-code", "Stop", session_id=claude.id, last_assistant_message="Something else.")
    calls.put("claude-code", "UserPromptSubmit", session_id=claude.id, prompt="Two?")

    calls.drain()

    assert calls.pauses == []


@pytest.mark.parametrize("transcript", ["missing", "directory", "user line only"])
def test_a_transcript_that_is_not_what_it_should_be_is_looked_at_later(calls, world, tmp_path, transcript):
    """FC-F02: the agents write it when they like."""
    path = tmp_path / "nowhere.jsonl"
    if transcript == "directory":
        path.mkdir()
    claude = world.claude()
    if transcript == "user line only":
        path = claude.user("Which port?").path
    calls.put("claude-code", "Stop", session_id=claude.id, transcript_path=str(path))

    assert calls.drain().calls == 1

    claude.assistant("8080.")
    calls.put("claude-code", "Stop", session_id=claude.id)
    calls.drain()
    assert world.said()[-1] == ("assistant", "8080.")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"null", b"[]", b"\x00" * 900, b'{"agent": 3, "event": [], "at": {}, "payload": 1}'),
        b'{"agent":"","event":"","at":"","payload":null}',
        pytest.param(b"[" * 100_000, id="deep"),
    ],
)
def test_a_file_that_cannot_be_read_makes_us_look_at_everything(calls, world, content):
    """FC-H04: somebody called, that much is known; a power cut may have taken the rest."""
    world.claude().user("One")
    world.codex().user("Two")
    calls.put_bytes(content)

    assert calls.drain().calls == 1

    assert sorted(world.said()) == [("user", "One"), ("user", "Two")]
    assert list(calls.spool.iterdir()) == []


def test_a_payload_with_anything_in_it_stops_nobody(calls, world):
    """FC-N15: a field of another type is as good as none."""
    claude = world.claude().user("One")
    for value in (None, 3, [], {}, "\ud83d", "x" * 100_000):
        keys = ("session_id", "last_assistant_message", "reason", "cwd", "agent_id")
        calls.put("claude-code", "SessionEnd", session_id=claude.id, **dict.fromkeys(keys[1:], value))
        calls.put("windsurf", "pre_user_prompt", **dict.fromkeys(keys, value), user_prompt=value)

    calls.drain()

    assert [text for _, text in world.said()] == ["One"]


def test_what_a_killed_hook_left_half_written_goes_in_time(calls):
    """A minute after it was begun nobody is writing it any more; a young one is left alone."""
    old = calls.put_bytes(b"{", f".{10**18:020d}-7.json.tmp")
    young = calls.put_bytes(b"{", f".{2 * 10**18:020d}-7.json.tmp")
    calls.put_bytes(b"{}", f"{2 * 10**18 + 1:020d}-8.json")

    calls.drain()

    assert not old.exists()
    assert young.exists()


def test_an_excluded_agent_stays_excluded(calls, world):
    """Its hooks may still be installed."""
    config = world.workspace().layout.config
    config.write_text(config.read_text().replace("exclude_agents = []", 'exclude_agents = ["codex"]'))
    codex = world.codex().user("Private")
    calls.put("codex", "SessionEnd", session_id=codex.id)
    calls.put_bytes(b"broken")

    calls.drain()

    assert world.said() == []


class TestTheEndOfASession:
    """No log tells it, so the call does."""

    def test_once_however_often_it_is_said(self, calls, world):
        """Grok runs two sets of hooks, and says `Stop` once more at the end."""
        grok = world.grok().user("One").assistant("Two")
        for _ in range(2):
            calls.put("grok", "SessionEnd", sessionId=grok.id, reason="shutdown")
        calls.drain()
        calls.put("grok", "SessionEnd", sessionId=grok.id, reason="shutdown")
        calls.drain()

        assert calls.names(SessionEnded) == [grok.id]
        (ended,) = [e.event for e in world.entries() if isinstance(e.event, SessionEnded)]
        assert ended.trigger == "shutdown"

    def test_again_after_it_was_taken_up_again(self, calls, world):
        claude = world.claude().user("One")
        calls.put("claude-code", "SessionEnd", session_id=claude.id)
        calls.drain()
        claude.user("Two")
        calls.put("claude-code", "SessionEnd", session_id=claude.id)
        calls.drain()

        assert calls.names(SessionEnded) == [claude.id] * 2

    def test_not_of_one_that_was_never_here(self, calls, world):
        """I4: a session of another project leaves no trace, not even its end."""
        elsewhere = world.claude(cwd="/srv/other").user("Elsewhere")
        calls.put("claude-code", "SessionEnd", session_id=elsewhere.id)
        calls.put("claude-code", "SessionEnd", session_id="unheard-of")

        calls.drain()

        assert calls.names(SessionEnded) == []

    def test_not_of_a_sub_agent(self, calls, world):
        """Its session id is its parent's, which goes on."""
        codex = world.codex().user("One")
        calls.put("codex", "SessionEnd", session_id=codex.id, agent_id="child")

        calls.drain()

        assert calls.names(SessionEnded) == []

    def test_the_start_is_the_log_s_to_tell(self, calls, world):
        claude = world.claude()
        calls.put("claude-code", "SessionStart", session_id=claude.id, source="startup")
        calls.drain()
        claude.user("One")
        calls.put("claude-code", "Stop", session_id=claude.id)
        calls.drain()

        assert calls.names(SessionStarted) == [claude.id]


class TestCursor:
    """The editor and its program for the terminal run the same hooks, and are two agents with two logs."""

    @pytest.fixture
    def chats(self, world: World) -> None:
        """One of each, of which the other knows nothing."""
        folder = str(world.project)
        editor = cursor.Editor(world.home / ".config" / "Cursor" / "User")
        cursor.Chat("in-the-editor", folder=folder).typed("Which port?").answered("8080.").save(editor)
        cursor_cli.Chat("in-the-terminal", folder=folder).typed("Which host?").save(world.home / ".cursor")

    @pytest.mark.usefixtures("chats")
    def test_a_call_makes_us_look_at_both(self, calls, world):
        calls.put("cursor", "beforeSubmitPrompt", conversation_id="in-the-editor", prompt="<x>Which port?")

        calls.drain()

        assert sorted(world.said()) == [
            ("assistant", "8080."),
            ("user", "Which host?"),
            ("user", "Which port?"),
        ]

    @pytest.mark.usefixtures("chats")
    @pytest.mark.parametrize(
        ("name", "agent"), [("in-the-editor", "cursor"), ("in-the-terminal", "cursor-cli")]
    )
    def test_the_session_that_ends_is_the_one_that_is_named(self, calls, world, name, agent):
        calls.put("cursor", "sessionEnd", conversation_id=name, reason="user_close")

        calls.drain()

        (ended,) = [entry.event for entry in world.entries() if isinstance(entry.event, SessionEnded)]
        assert (ended.source, ended.source_session_id) == (agent, name)

    @pytest.mark.usefixtures("chats")
    def test_one_of_them_can_be_excluded(self, calls, world):
        config = world.workspace().layout.config
        config.write_text(config.read_text().replace("exclude_agents = []", 'exclude_agents = ["cursor"]'))
        calls.put("cursor", "stop", conversation_id="in-the-terminal")

        calls.drain()

        assert world.said() == [("user", "Which host?")]


class TestAnAgentWithoutAReadableLog:
    """Windsurf's hooks tell all that was said. Their payload is the source, under one identity."""

    def talk(self, calls: Calls, text: str, answer: str, execution: str = "e1", **more: str) -> None:
        common = {"trajectory_id": "t1", "execution_id": execution, "model_name": "m", **more}
        calls.put("windsurf", "pre_user_prompt", **common, user_prompt=text)
        calls.put("windsurf", "post_cascade_response", **common, response=answer)

    def test_its_words_are_turns(self, calls, world):
        self.talk(calls, "Which port?", "### Planner Response\n\n8080.")

        calls.drain()

        assert world.said() == [("user", "Which port?"), ("assistant", "8080.")]
        (turn, _) = world.turns()
        assert (turn.source, turn.source_session_id, turn.message_ref) == ("windsurf", "t1", "e1")
        assert (turn.model, turn.cwd) == ("m", str(world.project))
        assert "8080" in (world.store / "handoff.md").read_text()

    def test_the_same_words_at_the_same_time_are_one_turn(self, calls, world):
        """Hooks of the user and of the project both fire; a worker that was killed is repeated."""
        for _ in range(2):
            self.talk(calls, "Which port?", "8080.")
        calls.drain()
        self.talk(calls, "Which port?", "8080.")
        calls.drain()
        self.talk(calls, "Which port?", "8080.", execution="e2")
        calls.drain()

        assert len(world.said()) == 4

    def test_private_and_injected_text_stays_out(self, calls, world):
        """FC-K03, FC-E07: the same door as for every other turn."""
        handoff = world.workspace().handoff().text
        self.talk(calls, f"{handoff}\n\n<private>secret</private> Go on.", "<private>all")

        calls.drain()

        assert world.said() == [("user", "Go on.")]

    def test_an_answer_of_steps_alone_is_none(self, calls, world):
        self.talk(calls, "Look.", "*Viewed [a.py](file:///srv/a.py) *")

        calls.drain()

        assert world.said() == [("user", "Look.")]

    def test_another_project_s_words_do_not_enter(self, calls, world):
        """I4."""
        self.talk(calls, "No", "Nor this", cwd="/srv/other")

        calls.drain()

        assert world.said() == []

    def test_excluded_it_is_not_heard(self, calls, world):
        config = world.workspace().layout.config
        config.write_text(config.read_text().replace("exclude_agents = []", 'exclude_agents = ["windsurf"]'))
        self.talk(calls, "No", "Nor this")

        calls.drain()

        assert world.said() == []


def test_dying_between_log_and_spool_doubles_nothing(calls, world, monkeypatch):
    """FC-F03: a call leaves the spool when what it stands for is durable; what is done twice adds nothing."""
    codex = world.codex().user("One")
    calls.put("codex", "SessionEnd", session_id=codex.id)
    calls.put("windsurf", "pre_user_prompt", trajectory_id="t", execution_id="e", user_prompt="Two")
    with monkeypatch.context() as patched:
        patched.setattr(spool, "done", lambda paths: None)
        calls.drain()
    before = [entry.line for entry in world.entries()]

    assert calls.drain().captured == 0

    assert [entry.line for entry in world.entries()] == before
    assert [text for _, text in world.said()] == ["One", "Two"]
    assert all(isinstance(turn, ConversationTurn) for turn in world.turns())


def test_by_hook_by_command_and_without_cursors_it_is_the_same_log(calls, world):
    """FC-D06."""
    claude = world.claude().user("One").assistant("Two")
    calls.put("claude-code", "SessionEnd", session_id=claude.id, last_assistant_message="Two")
    calls.drain()
    before = [entry.line for entry in world.entries()]

    world.sync()
    world.workspace().layout.sync_state.unlink()
    world.sync()
    calls.put("claude-code", "SessionEnd", session_id=claude.id, last_assistant_message="Two")
    calls.drain()

    assert [entry.line for entry in world.entries()] == before
