"""One call of a hook, as a process: what it leaves in the spool, and what it says, which is nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.hooks import ENTRY, Hooks, silent
from builders.world import SOURCE, World
from conversation_esaa.capture import hooked
from conversation_esaa.hooks import call
from conversation_esaa.locate import existing
from conversation_esaa.text import strip_private

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


@pytest.fixture
def hooks(world: World) -> Hooks:
    world.workspace()
    return Hooks(world)


def left_alone(hooks: Hooks, *args, **keys):
    with hooks.somebody_there():
        return hooks.call(*args, **keys)


def test_a_call_is_one_whole_private_file(hooks):
    """Written beside and renamed, so that a reader never sees half of one."""
    ran = left_alone(hooks, "codex", "Stop", session_id="é \ud83d done")

    assert silent(ran)
    (told,) = hooks.spooled()
    assert (told["agent"], told["event"]) == ("codex", "Stop")
    assert told["payload"] == {"session_id": "é \ud83d done", "cwd": str(hooks.world.project)}
    (path,) = hooks.spool.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert hooks.spool.stat().st_mode & 0o777 == hooks.run.stat().st_mode & 0o777 == 0o700


def test_words_that_a_log_will_tell_are_not_spooled(hooks):
    """FC-K01: of a payload only what there is a use for. Of an answer the beginning, to know it again in the log."""
    left_alone(
        hooks,
        "claude-code",
        "Stop",
        session_id="s1",
        prompt="typed",
        tool_input={"command": "typed"},
        user_email="somebody@example.com",
        last_assistant_message="é" * 5_000,
    )

    assert hooks.spooled()[0]["payload"] == {
        "session_id": "s1",
        "last_assistant_message": "é" * 1_000,
        "cwd": str(hooks.world.project),
    }


def test_of_cursor_no_word_is_spooled(hooks):
    """Its log is read by now, so its hooks are a trigger like those of the others."""
    common = {"conversation_id": "c1", "generation_id": "g1", "user_email": "somebody@example.com"}
    left_alone(hooks, "cursor", "beforeSubmitPrompt", **common, prompt="typed")
    left_alone(hooks, "cursor", "afterAgentResponse", **common, text="answered")

    for told in hooks.spooled():
        assert told["payload"] == {"conversation_id": "c1", "cwd": str(hooks.world.project)}


def test_of_windsurf_the_words_are_spooled_and_nothing_else(hooks):
    """Its log is encrypted. What tools were given and gave stays outside (FC-K01)."""
    common = {
        "agent_action_name": "x",
        "trajectory_id": "t1",
        "execution_id": "e1",
        "timestamp": "2026-03-01T10:00:00Z",
        "model_name": "m",
    }
    told = {"user_prompt": "typed", "file_path": "/a", "command_line": "ls", "rules": ["x"]}
    left_alone(hooks, "windsurf", "pre_user_prompt", **common, tool_info=told)
    left_alone(hooks, "windsurf", "post_cascade_response", **common, tool_info={"response": "answered"})

    kept = {"trajectory_id": "t1", "execution_id": "e1", "model_name": "m", "cwd": str(hooks.world.project)}
    assert [each["payload"] for each in hooks.spooled()] == [
        {**kept, "user_prompt": "typed"},
        {**kept, "response": "answered"},
    ]


@pytest.mark.parametrize(
    "held", [None, 3, "words", [], {}, {"user_prompt": None}, {"user_prompt": ["words"]}]
)
def test_windsurf_s_words_in_another_shape_are_none(hooks, held):
    """FC-N15: a field of another type is as good as none."""
    assert silent(left_alone(hooks, "windsurf", "pre_user_prompt", trajectory_id="t1", tool_info=held))

    (told,) = hooks.spooled()
    assert told["payload"] == {"trajectory_id": "t1", "cwd": str(hooks.world.project)}


PRIVATE = [
    "<private>phone</private> Go on.",
    "Go <PRIVATE reason='x'>phone</ private>on.",
    "<private>phone<private>phone</private>phone</private>Go",
    "Go <private>phone",
    "Go <pri<private>x</private>vate>phone</private>",
    "stray </private> Go <private>phone</private>",
]


@pytest.mark.parametrize("text", PRIVATE)
def test_private_words_are_never_in_the_spool(hooks, text):
    """FC-K03: nowhere on our disk, not even for the moment until the worker comes."""
    left_alone(hooks, "windsurf", "pre_user_prompt", trajectory_id="c1", tool_info={"user_prompt": text})
    left_alone(hooks, "claude-code", "Stop", session_id="s1", last_assistant_message=text)

    assert "phone" not in "".join(path.read_text() for path in hooks.spool.iterdir())
    assert "Go" in hooks.spooled()[0]["payload"]["user_prompt"] or text.startswith("Go <pri<")


@given(
    st.lists(st.sampled_from(["<private>", "</private>", "<", "private", ">", "a", " ", "<PRIVATE x>"])).map(
        "".join
    )
)
def test_no_more_is_left_than_capture_would_leave(text):
    """The spool's own way to take private words out, against the one that capture has."""
    left = call.public(text)

    assert strip_private(left) == (left, False)
    assert len(left) <= len(text)
    if not strip_private(text)[1]:
        assert left == text


def test_the_two_halves_agree_on_whose_words_come_by_hook():
    """`call.py` stands alone, so it repeats the name."""
    assert set(call.WORDS) == hooked.ONLY_HOOKS


def test_names_sort_by_time(hooks):
    """The spool is read oldest first."""
    for number in range(5):
        left_alone(hooks, "codex", "Stop", session_id=f"s{number}")

    assert [told["payload"]["session_id"] for told in hooks.spooled()] == [f"s{n}" for n in range(5)]


@pytest.mark.parametrize("extra", [b"", b"\n", b"  \n\n", b'{"second":1}', b"garbage"])
def test_it_goes_when_one_value_is_complete_though_the_pipe_stays_open(hooks, extra):
    """FC-H03: some agents keep the pipe open for as long as they live. What follows the value is not read."""
    payload = json.dumps({"cwd": str(hooks.world.project), "session_id": 'a "}" and {['}).encode()
    with hooks.somebody_there():
        process = subprocess.Popen(
            hooks.command("codex", "UserPromptSubmit"), stdin=subprocess.PIPE, env=hooks.environ()
        )
        assert process.stdin
        process.stdin.write(payload + extra)
        process.stdin.flush()

        assert process.wait(timeout=30) == 0

        process.stdin.close()
    assert [told["payload"]["session_id"] for told in hooks.spooled()] == ['a "}" and {[']


def test_a_payload_in_many_pieces_is_put_together(hooks):
    """A pipe holds 64 KB; a pasted prompt is longer. A brace at the end of a piece ends nothing."""
    text = "{}" * 150_000
    with hooks.somebody_there():
        process = subprocess.Popen(
            hooks.command("windsurf", "pre_user_prompt"), stdin=subprocess.PIPE, env=hooks.environ()
        )
        assert process.stdin
        payload = json.dumps({"cwd": str(hooks.world.project), "tool_info": {"user_prompt": text}}).encode()
        for start in range(0, len(payload), 50_000):
            process.stdin.write(payload[start : start + 50_000])
            process.stdin.flush()

        assert process.wait(timeout=30) == 0

        process.stdin.close()
    assert hooks.spooled()[0]["payload"]["user_prompt"] == text


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"null", b"[]", b"{}", b'"text"', b"{", b'{"cwd": "', b"{]}", b"\x00\xff", b"not json"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="deep"),
        pytest.param(b'{"prompt": "' + b"x" * 17_000_000 + b'"}', id="17 MB"),
    ],
)
def test_without_a_usable_payload_it_is_still_known_that_somebody_called(hooks, raw):
    """FC-H04: counted, and the worker looks at the agent's logs as `sync` would."""
    ran = left_alone(hooks, "claude-code", "Stop", raw=raw)

    assert silent(ran)
    assert [(told["agent"], told["payload"]) for told in hooks.spooled()] == [("claude-code", None)]
    assert hooks.noted() == ["claude-code Stop no payload"]


def test_closed_descriptors_are_no_place_to_write_to(hooks):
    """FC-H04: with its standard streams closed, what a call opens must not be taken for them."""
    code = "import os, sys; os.closerange(0, 3); os.execv(sys.argv[1], sys.argv[1:])"
    with hooks.somebody_there():
        done = subprocess.run(
            [sys.executable, "-c", code, *hooks.command("claude-code", "SessionStart", "--inject")],
            env=hooks.environ(),
            cwd=hooks.world.project,
            check=False,
        )

    assert done.returncode == 0
    assert [told["payload"] for told in hooks.spooled()] == [None]
    assert (hooks.run / "watcher.lock").read_bytes() == b""


def test_numbers_and_characters_beyond_all_bounds_pass(hooks):
    """FC-N15: a byte order mark, and what is no JSON by the book."""
    raw = b'\xef\xbb\xbf {"a": 1e400, "b": %s, "model": "\x01\xff", "c": NaN, "c": -0, "cwd": %s} ' % (
        b"9" * 400,
        json.dumps(str(hooks.world.project)).encode(),
    )

    assert silent(left_alone(hooks, "codex", "Stop", raw=raw))

    assert hooks.spooled()[0]["payload"]["model"] == "\x01\ufffd"
    assert hooks.noted() == []


def test_a_nested_call_does_nothing(hooks):
    """FC-H11: what we start carries a mark, so that nothing of ours ever calls us in a circle."""
    done = subprocess.run(
        hooks.command("claude-code", "SessionStart", "--inject"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=hooks.environ(CONVERSATION_ESAA_NESTED="1"),
        cwd=hooks.world.project,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not hooks.spool.exists()
    assert hooks.noted() == ["claude-code SessionStart nested call"]


def test_where_no_workspace_is_nothing_happens(world: World):
    """Hooks in a user's settings run in every project; a project that is none of ours keeps no trace."""
    hooks = Hooks(world)

    assert silent(hooks.call("codex", "Stop", session_id="s1"))

    assert list(world.project.iterdir()) == []


def test_no_store_is_made_that_the_user_removed(hooks):
    """FC-I13: a store in the middle of being deleted stays deleted."""
    shutil.rmtree(hooks.world.store)

    assert silent(hooks.call("codex", "Stop"))

    assert list(hooks.world.project.iterdir()) == []


def test_what_a_person_tidied_up_is_made_again(hooks):
    """`run/` may be deleted at any time."""
    shutil.rmtree(hooks.run)

    assert silent(left_alone(hooks, "codex", "Stop"))

    assert len(hooks.spooled()) == 1


def test_a_store_that_cannot_be_written_is_nobody_s_trouble(hooks):
    """FC-N08, FC-I04: a file in the way, as good as a read-only disk."""
    hooks.run.rename(hooks.run.with_name("aside"))
    hooks.run.write_bytes(b"")

    assert silent(hooks.call("codex", "Stop", session_id="s1"))


def test_a_link_in_the_store_leads_nowhere(hooks, tmp_path):
    """A store that came with somebody's repository must not make us write elsewhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hooks.run.mkdir(exist_ok=True)
    hooks.spool.symlink_to(elsewhere)

    assert silent(hooks.call("codex", "Stop", session_id="s1"))

    assert list(elsewhere.iterdir()) == []
    assert hooks.noted() == ["codex Stop NotADirectoryError"]


def test_a_full_disk_loses_the_call_and_nothing_else(hooks):
    """FC-N07: the kernel itself refuses the write. No half file stays."""
    import resource

    with hooks.somebody_there():
        done = subprocess.run(
            hooks.command("codex", "Stop"),
            input=json.dumps({"cwd": str(hooks.world.project)}).encode(),
            capture_output=True,
            env=hooks.environ(),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60)),
            check=False,
        )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(hooks.spool.iterdir()) == []
    assert hooks.noted() == ["codex Stop File too large"]


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting a small file system takes rights that this run does not have")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_without_room_and_one_that_is_read_only(small_disk):
    """FC-N07, FC-N08: real ones. What can still be read is still handed over."""
    world = World(small_disk)
    world.claude().user("Which port?").assistant("8080.")
    world.run("up")
    hooks = Hooks(world)
    left_alone(hooks, "claude-code", "Stop")
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(2_000_000))

    full = hooks.call("claude-code", "SessionStart", "--inject")
    filler.unlink()
    spooled = len(hooks.spooled())
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    read_only = hooks.call("claude-code", "SessionStart", "--inject")

    assert spooled == 1
    for ran in (full, read_only):
        assert (ran.code, ran.err) == (0, "")
        assert "8080" in ran.out
    assert not list(hooks.spool.glob(".*"))


def test_warnings_that_are_forced_on_and_a_home_that_is_not_there(hooks):
    """FC-H05, FC-N08: the first call ever, in whatever environment."""
    hooks.world.run("up")
    environ = hooks.environ(PYTHONWARNINGS="error", PYTHONDEVMODE="1", PYTHONVERBOSE="1", LC_ALL="C")
    del environ["HOME"]

    done = subprocess.run(
        hooks.command("claude-code", "SessionStart", "--inject"),
        input=json.dumps({"cwd": str(hooks.world.project)}).encode(),
        capture_output=True,
        env=environ,
        check=False,
    )
    hooks.settle()

    assert (done.returncode, done.stderr) == (0, b"")
    assert set(json.loads(done.stdout)) == {"hookSpecificOutput"}
    assert hooks.spooled() == hooks.noted() == []


def test_the_log_of_failures_stays_small(hooks):
    """FC-B10: one old part and one new one, whatever goes wrong how often."""
    log = hooks.run / "hook.log"
    left_alone(hooks, "codex", "Stop", raw=b"")
    log.write_text("2026-03-01T10:00:00.000Z codex Stop no payload\n" * 2_000)

    left_alone(hooks, "codex", "Stop", raw=b"")

    assert len(hooks.noted()) == 1
    assert log.with_name("hook.log.1").stat().st_size > 64_000
    assert log.stat().st_mode & 0o777 == 0o600


def test_names_from_outside_are_cut_to_what_names_are(hooks):
    """They are written into JSON and into a log."""
    left_alone(hooks, 'co"dex\n', "Stop{}" * 50, raw=b"")

    assert hooks.spooled()[0]["agent"] == "codex"
    assert len(hooks.spooled()[0]["event"]) <= 40
    assert len(hooks.noted()) == 1


class TestWhere:
    """Which workspace a call belongs to."""

    def test_the_payload_says_it_rather_than_the_process(self, hooks, tmp_path):
        assert silent(left_alone(hooks, "codex", "Stop", cwd=tmp_path))

        assert len(hooks.spooled()) == 1

    def test_another_project_s_call_is_not_taken_for_ours(self, hooks, tmp_path):
        """I4: the process may stand anywhere; what the payload says counts."""
        other = tmp_path / "other"
        other.mkdir()
        raw = json.dumps({"cwd": str(other)}).encode()

        assert silent(left_alone(hooks, "codex", "Stop", raw=raw))

        assert not hooks.spool.exists()

    def test_a_directory_that_is_gone_still_lies_in_its_workspace(self, hooks):
        gone = hooks.world.project / "src" / "gone"
        raw = json.dumps({"cwd": str(gone)}).encode()

        left_alone(hooks, "codex", "Stop", raw=raw)

        assert len(hooks.spooled()) == 1

    def test_a_process_whose_directory_is_gone_ends_well(self, hooks):
        code = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", code, *hooks.command("codex", "Stop")],
            input=b"",
            capture_output=True,
            cwd=hooks.world.project,
            env=hooks.environ(),
            check=False,
        )

        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    def test_a_link_is_followed(self, hooks, tmp_path):
        """FC-G06."""
        inside = hooks.world.project / "src"
        inside.mkdir()
        link = tmp_path / "link"
        link.symlink_to(inside)
        raw = json.dumps({"cwd": str(link)}).encode()

        left_alone(hooks, "codex", "Stop", raw=raw)

        assert len(hooks.spooled()) == 1

    def test_a_linked_worktree_leads_to_its_main_one(self, hooks, tmp_path):
        worktree = tmp_path / "feature"
        (worktree / "src").mkdir(parents=True)
        git_dir = hooks.world.project / ".git" / "worktrees" / "feature"
        git_dir.mkdir(parents=True)
        (worktree / ".git").write_text(f"gitdir: {git_dir}\n")
        raw = json.dumps({"cwd": str(worktree / "src")}).encode()

        left_alone(hooks, "codex", "Stop", raw=raw)

        assert len(hooks.spooled()) == 1

    def test_it_is_the_one_that_a_command_there_would_mean(self, hooks, tmp_path):
        """`call.py` stands alone, so it repeats what `locate` does."""
        project = hooks.world.project
        inner = World(project / "vendor", project="inner")
        inner.workspace()
        (tmp_path / "feature" / "src").mkdir(parents=True)
        git_dir = project / ".git" / "worktrees" / "feature"
        git_dir.mkdir(parents=True)
        (tmp_path / "feature" / ".git").write_text(
            f"gitdir: {os.path.relpath(git_dir, tmp_path / 'feature')}\n"
        )
        submodule = project / "module"
        submodule.mkdir()
        (submodule / ".git").write_text("gitdir: ../.git/modules/module\n")
        places = [project, inner.project, inner.home, submodule, tmp_path / "feature" / "src"]

        assert [call.workspace(str(place)) for place in places] == [str(existing(place)) for place in places]
        assert call.workspace(str(tmp_path)) == ""

    def test_the_nearest_workspace_wins(self, hooks):
        inner = World(hooks.world.project / "vendor", project="inner")
        inner.workspace()
        raw = json.dumps({"cwd": str(inner.project)}).encode()

        left_alone(Hooks(inner), "codex", "Stop", raw=raw)

        assert len(Hooks(inner).spooled()) == 1
        assert not hooks.spool.exists()

    @pytest.mark.parametrize("key", ["workspaceRoot", "workspace_roots"])
    def test_other_words_for_it(self, hooks, tmp_path, key):
        """Grok names a root beside the directory, Cursor names roots and no directory."""
        root = str(hooks.world.project) + "/"
        raw = json.dumps({key: [root] if key.endswith("s") else root}).encode()

        left_alone(hooks, "cursor", "stop", cwd=tmp_path, raw=raw)

        assert len(hooks.spooled()) == 1

    def test_a_path_with_blanks_quotes_and_accents(self, tmp_path):
        """FC-H08."""
        world = World(tmp_path, project="My Proj (x86) & é'quote")
        world.workspace()
        hooks = Hooks(world)
        codex = world.codex().user("Which port?").assistant("8080.")

        assert silent(hooks.call("codex", "Stop", session_id=codex.id, last_assistant_message="8080."))
        hooks.settle()

        assert world.said() == [("user", "Which port?"), ("assistant", "8080.")]


def test_grok_is_known_by_what_it_sends(hooks):
    """It runs the hooks of `.claude/settings.json` as well, and would be taken for Claude Code."""
    left_alone(hooks, "claude-code", "Stop", hookEventName="stop", sessionId="g1", session_id="g1")

    assert hooks.spooled()[0]["agent"] == "grok"


def test_a_call_loads_nothing_that_costs(hooks):
    """I5: what is loaded here is paid by every agent, at every prompt."""

    def loaded(*words: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "importtime", *words],
            input=json.dumps({"cwd": str(hooks.world.project)}).encode(),
            capture_output=True,
            env=hooks.environ(),
            check=False,
        )
        return {
            line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines() if b"|" in line
        }

    with hooks.somebody_there():
        ours = loaded(str(ENTRY), "claude-code", "SessionStart", "--inject") - loaded("-c", "pass")

    frozen = {"os", "stat", "_stat", "posixpath", "genericpath", "_collections_abc", "abc", "_abc", "io"}
    assert ours - frozen <= {"fcntl", "_json", "time", "_thread"}


def test_it_stands_alone():
    """It is run by whatever interpreter was recorded, also when the package beside it is half installed."""
    for name in ("entry.py", "call.py"):
        source = (SOURCE / "conversation_esaa" / "hooks" / name).read_text("utf-8")
        imports = [
            line.split()[1] for line in source.splitlines() if line.lstrip().startswith(("import ", "from "))
        ]
        assert {module.split(".")[0] for module in imports} <= set(sys.stdlib_module_names)


def test_half_a_payload_does_not_hold_the_agent(hooks):
    """An agent that stops in the middle of it is not waited for until it kills us."""
    with hooks.somebody_there():
        process = subprocess.Popen(
            hooks.command("claude-code", "Stop"),
            stdin=subprocess.PIPE,
            env=hooks.environ(),
            cwd=hooks.world.project,
        )
        assert process.stdin
        process.stdin.write(b'{"cwd": "/srv')
        process.stdin.flush()

        began = time.monotonic()
        assert process.wait(timeout=30) == 0
        assert time.monotonic() - began < 20

        process.stdin.close()
    assert hooks.noted() == ["claude-code Stop no payload"]


def test_a_missing_part_is_no_traceback(tmp_path: Path):
    """Half of an upgrade: the file is there, what it runs is not."""
    alone = tmp_path / "entry.py"
    alone.write_bytes(ENTRY.read_bytes())

    done = subprocess.run(
        [sys.executable, "-I", "-S", str(alone), "codex", "Stop"],
        capture_output=True,
        input=b"{}",
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
