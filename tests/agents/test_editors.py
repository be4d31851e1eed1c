"""Where editors keep what their extensions store, on three systems, and which project a window was open on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conversation_esaa.agents import editors, places


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {}, "/home/dev/.config"),
        ("linux", {"XDG_CONFIG_HOME": "/cfg"}, "/cfg"),
        ("linux", {"XDG_CONFIG_HOME": ""}, "/home/dev/.config"),
        ("darwin", {"XDG_CONFIG_HOME": "/cfg"}, "/home/dev/Library/Application Support"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming"),
        ("win32", {}, "/home/dev/AppData/Roaming"),
        ("linux", {"VSCODE_APPDATA": "/moved"}, "/moved"),
        ("win32", {"VSCODE_APPDATA": "/moved", "APPDATA": "/roaming"}, "/moved"),
    ],
)
def test_each_system_has_its_own_place(platform, environ, expected, monkeypatch):
    """FC-G07."""
    monkeypatch.setattr(editors, "PLATFORM", platform)

    assert editors.home(environ, Path("/home/dev")) == Path(expected)


@pytest.mark.parametrize("parts", [".config", "Library/Application Support", "AppData/Roaming"])
def test_the_person_is_known_where_the_place_is_the_usual_one(parts):
    assert editors.person_of(Path("/home/dev", parts)) == Path("/home/dev")
    assert editors.person_of(Path("/elsewhere")) is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/dev/my%20tea", "/home/dev/my tea"),
        ("file:///c%3A/My%20Proj", "c:/My Proj"),
        ("/home/dev/tea", "/home/dev/tea"),
        ("c:\\tea", "c:\\tea"),
        ("vscode-remote://ssh-remote%2Bhost/home/dev/tea", ""),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ],
)
def test_a_directory_is_stated_as_a_url(uri, path):
    """FC-G12: one on another machine is no path of this one."""
    assert places.path_of(uri) == path


def window(tmp_path: Path, **described: str) -> list[str]:
    (tmp_path / "workspace.json").write_text(json.dumps(described))
    return editors.folders_of_window(tmp_path)


def test_a_window_has_a_folder_or_a_project_of_several(tmp_path):
    """FC-G12: the file that names several has comments, and paths relative to it."""
    project = tmp_path / "both.code-workspace"
    project.write_text(
        '{\n  // ours\n  "folders": [{"path": "tea"}, {"path": "../x"}, {"uri": "file:///home/dev/c%20d"},\n'
        '    {"uri": "vscode-remote://wsl+Ubuntu/y"}, /* none */ {"path": "/abs//z"},],\n}'
    )

    assert window(tmp_path, folder="file:///home/dev/tea") == ["/home/dev/tea"]
    assert window(tmp_path, workspace=project.as_uri()) == [
        *(f"{tmp_path}/tea", str(tmp_path.parent / "x"), "/home/dev/c d", "/abs/z")
    ]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"folders": 1}', b'{"folders": [1, {}]}', b"[" * 100_000]
)
def test_a_broken_project_has_no_folder(tmp_path, content):
    project = tmp_path / "both.code-workspace"
    project.write_bytes(content)

    assert window(tmp_path, workspace=project.as_uri()) == []
    assert window(tmp_path, folder="vscode-remote://ssh-remote%2Bhost/home/dev/tea") == []
    (tmp_path / "workspace.json").write_bytes(content)
    assert editors.folders_of_window(tmp_path) == []


def test_a_look_is_coarse_and_keeps_names_apart():
    assert places.related(["/w/App/x", "/w/app2", "C:\\W\\App"], ["/w/app", "c:/w"]) == [
        "/w/App/x",
        "C:\\W\\App",
    ]
