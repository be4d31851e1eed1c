"""The command in an agent's settings: it reaches the entry file whatever the path, and it is silent when that is gone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.hooks import command
from conversation_esaa.hooks.command import CMD, POWERSHELL, SH, Program, is_ours

AWKWARD = 'My Proj (x86) & é\'quote $HOME `id` "d" %PATH% ; 日本'
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]
ENTRY = """\
import sys
print(sys.argv[1:], sys.stdin.read(), sys.flags.isolated, sys.flags.no_site)
sys.stderr.write("noise")
sys.exit({code})
"""


def program(directory: Path, *, code: int = 0) -> Program:
    """An installation in `directory`, whose entry file says how it was called."""
    entry = directory / "conversation_esaa" / "hooks" / "entry.py"
    entry.parent.mkdir(parents=True)
    entry.write_text(ENTRY.format(code=code), "utf-8")
    interpreter = directory / "bin" / "python"
    interpreter.parent.mkdir()
    interpreter.symlink_to(sys.executable)
    return Program(interpreter=str(interpreter), entry=str(entry), windows=False)


def ran(shell: str, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The command as an agent runs it."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **more}
    return subprocess.run(
        [shell, "-c", line], input="{}", capture_output=True, text=True, env=environ, timeout=60, check=False
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_any_path_reaches_the_entry_file(tmp_path, shell):
    """FC-H08, and an agent that injects gets what was printed and nothing of what was complained about."""
    here = program(tmp_path / AWKWARD)

    done = ran(shell, command.command(here, SH, "claude-code", "Stop", inject=True))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['claude-code', 'Stop', '--inject'] {} 1 1\n"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("options", ["", "set -e; ", "set -u; ", "set -eu -o noclobber; "])
def test_nothing_is_said_when_the_package_is_gone(tmp_path, shell, options):
    """Python would exit with 2 for a missing file, and 2 stops an agent's turn."""
    here = program(tmp_path / AWKWARD)
    Path(here.entry).unlink()

    done = ran(shell, options + command.command(here, SH, "codex", "Stop"))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_is_said_when_the_interpreter_is_gone(tmp_path, shell):
    """A removed virtual environment."""
    here = program(tmp_path / AWKWARD)
    Path(here.interpreter).unlink()

    done = ran(shell, command.command(here, SH, "codex", "Stop"))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_no_exit_code_of_ours_reaches_the_agent(tmp_path, shell):
    """2 would block, 1 would be a warning."""
    here = program(tmp_path / "venv", code=2)

    assert ran(shell, command.command(here, SH, "codex", "Stop")).returncode == 0


def test_no_environment_of_the_agent_reaches_python(tmp_path):
    """PYTHONPATH and PYTHONWARNINGS of a project are not ours: FC-H05."""
    here = program(tmp_path / "venv")
    Path(tmp_path / "os.py").write_text("raise SystemExit(1)", "utf-8")

    done = ran(
        "sh", command.command(here, SH, "codex", "Stop"), PYTHONPATH=str(tmp_path), PYTHONWARNINGS="error"
    )

    assert done.stdout.startswith("['codex', 'Stop']")


def test_cmd_exe_gets_double_quotes():
    """FC-H08: `&`, blanks, brackets and apostrophes are plain between them."""
    here = Program(
        interpreter=r"C:\My Proj (x86) & é'quote\python.exe",
        entry=r"C:\My Proj (x86) & é'quote\conversation_esaa\hooks\entry.py",
        windows=True,
    )

    assert command.command(here, CMD, "codex", "Stop") == (
        r'"C:\My Proj (x86) & é' + r"'" + r'quote\python.exe" -I -S '
        r'"C:\My Proj (x86) & é' + r"'" + r'quote\conversation_esaa\hooks\entry.py" codex Stop'
        " 2>nul || exit /b 0"
    )


def test_powershell_gets_single_quotes():
    """FC-H08: all five characters that end a string there are doubled, and a missing program is caught."""
    here = Program(
        interpreter="C:\\é'a\u2019b\\python.exe",
        entry="C:\\$x\\conversation_esaa\\hooks\\entry.py",
        windows=True,
    )

    assert command.command(here, POWERSHELL, "gemini-cli", "AfterAgent", inject=True) == (
        "try { & 'C:\\é''a\u2019\u2019b\\python.exe' -I -S 'C:\\$x\\conversation_esaa\\hooks\\entry.py' "
        "gemini-cli AfterAgent --inject 2>$null } catch {}; exit 0"
    )


@pytest.mark.skipif(not shutil.which("pwsh"), reason="no PowerShell here")
def test_powershell_runs_it(tmp_path):
    """Where one is there, for real."""
    here = program(tmp_path / "é'quote ‘x’")

    done = subprocess.run(
        ["pwsh", "-NoProfile", "-Command", command.command(here, POWERSHELL, "gemini-cli", "AfterAgent")],
        input="{}",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("['gemini-cli', 'AfterAgent'] {}")


@pytest.mark.parametrize("path", ["C:\\100%PATH%\\python.exe", 'C:\\"\\python.exe'])
def test_what_cmd_exe_cannot_be_told_is_refused(path):
    """It expands variables between quotes as well; a wrong path would be silent for ever."""
    here = Program(interpreter=path, entry="C:\\conversation_esaa\\hooks\\entry.py", windows=True)

    with pytest.raises(command.NotQuotable):
        command.command(here, CMD, "codex", "Stop")


@pytest.mark.parametrize("path", ["/venv/\udcff/python", "/a\nb/python", ""])
def test_a_path_that_no_settings_file_can_hold_is_refused(path):
    """Not UTF-8, more than one line, or unknown."""
    with pytest.raises(command.NotQuotable):
        command.command(Program(interpreter=path, entry="/entry.py", windows=False), SH, "codex", "Stop")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), min_size=1))
def test_our_command_is_known_in_every_form(directory):
    """FC-H06: after an upgrade, a move, another interpreter, it is renewed and not doubled."""
    here = Program(
        interpreter="/x/python", entry=f"/{directory}/conversation_esaa/hooks/entry.py", windows=False
    )

    assert is_ours(command.command(here, SH, "codex", "Stop"))
    assert is_ours(command.command(here, POWERSHELL, "codex", "Stop"))
    assert not is_ours("python my/entry.py")


def test_this_installation_is_where_it_runs_from():
    """What is written names the interpreter as it was called: the one of a virtual environment stays that."""
    here = command.this_program()

    assert here.interpreter == sys.executable
    assert Path(here.entry).parent == Path(command.__file__).parent
