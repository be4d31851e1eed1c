"""Codex's `notify`: one program, so that another one is called by ours, and is put back word for word."""

import json
import os
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.agent_settings import HERE, MOVED, ON_WINDOWS
from conversation_esaa.hooks.codex_notify import FORM
from conversation_esaa.hooks.command import Program
from conversation_esaa.hooks.surface import Kept, NotEditable

TABLES = b'\n[projects."/x"]\ntrust_level = "trusted"\nnotify = ["not this one"]\n'
FILES = [
    b'model = "o3"\n' + TABLES,
    b'model = "o3"\nnotify = ["say", "a, b", \'it]\']  # mine\n' + TABLES,
    b'notify=["say"]\r\n' + TABLES.replace(b"\n", b"\r\n"),
    b'\xef\xbb\xbfnotify = [\n  "say", # the program\n  "x",\n]\n' + TABLES,
    b'[a]\nb = 1',
    b'model = "o3"',
]  # fmt: skip


@pytest.mark.parametrize("old", FILES)
def test_another_program_is_chained_and_put_back(old):
    """FC-H06: byte for byte, also without a backup."""
    new = FORM.put(old, HERE, inject=False)

    before, after = (tomllib.loads(each.decode("utf-8-sig")) for each in (old, new))
    assert after["notify"][4:] == before.get("notify", [])
    assert {**after, "notify": 0} == {**before, "notify": 0}
    assert FORM.put(new, HERE, inject=False) == new
    assert FORM.take(new, FORM.kept(old)) == old


@pytest.mark.parametrize("old", FILES)
def test_another_installation_renews_ours_and_keeps_the_other(old):
    """Never a chain of two of ours."""
    renewed = FORM.put(FORM.put(old, HERE, inject=False), MOVED, inject=False)

    assert renewed == FORM.put(old, MOVED, inject=False)


def test_a_file_that_is_made_goes_away_again():
    """Codex writes its `config.toml` itself when there is none."""
    assert FORM.take(FORM.put(b"", HERE, inject=False), Kept()) == b""


@pytest.mark.parametrize(
    "old", [b"notify = 3", b'"notify" = ["say"]', b'notify = ["say"', b"notify = true\n[a]", b"a = \xff"]
)
def test_what_is_spelled_in_a_way_that_we_do_not_know_is_refused(old):
    """Valid or not, nothing is written behind it."""
    with pytest.raises(NotEditable):
        FORM.put(old, HERE, inject=False)


def test_it_is_refused_on_windows():
    """There is no shell that could hand Codex's words on."""
    with pytest.raises(NotEditable, match="Windows"):
        FORM.put(b"", ON_WINDOWS, inject=False)


@given(st.binary(max_size=40))
def test_no_file_makes_it_fail(old):
    """It is refused in words, or changed so that it can be changed back."""
    try:
        new = FORM.put(old, HERE, inject=False)
    except NotEditable:
        return

    assert FORM.found(new) == FORM.wanted(HERE, inject=False)


@pytest.mark.skipif(os.name == "nt", reason="refused there")
@pytest.mark.parametrize("there", [True, False])
def test_both_programs_get_what_codex_hands_over(tmp_path, there):
    """Ours on standard input, the other one as its last argument; it is called also when we are gone."""
    entry = tmp_path / "é'q" / "conversation_esaa" / "hooks" / "entry.py"
    entry.parent.mkdir(parents=True)
    if there:
        entry.write_text(
            f"import sys; open({str(tmp_path / 'ours')!r}, 'w').write(sys.stdin.read())", "utf-8"
        )
    program = Program(interpreter=sys.executable, entry=str(entry), windows=False)
    other = ["sh", "-c", 'printf %s "$2" > "$1"', "other", str(tmp_path / "other")]
    old = f"notify = {json.dumps(other)}\n".encode()
    payload = '{"type":"agent-turn-complete","last-assistant-message":"it\'s \\\\ $HOME `x` é"}'

    argv = tomllib.loads(FORM.put(old, program, inject=False).decode())["notify"]
    done = subprocess.run([*argv, payload], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "other").read_text("utf-8") == payload
    assert not there or (tmp_path / "ours").read_text("utf-8") == payload


@pytest.mark.skipif(os.name == "nt", reason="refused there")
def test_alone_it_says_nothing_and_succeeds(tmp_path):
    """Without another program, and without a package."""
    argv = tomllib.loads(FORM.put(b"", HERE, inject=False).decode())["notify"]

    done = subprocess.run([*argv, "{}"], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
