"""The arrows of the design: imports point one way, and only the ends touch the world.

Read from the source with `ast`, lazy and type-checking imports included: an arrow that is drawn only for a
type checker is drawn all the same.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from conversation_esaa.agents import registry

PACKAGE = Path(__file__).parents[2] / "src" / "conversation_esaa"
NAME = "conversation_esaa"

# Lowest first. A room is a folder or a module of the package; rooms of one rank do not import each other,
# except the words of the vocabulary and the parts of the workspace, which are one room each.
VOCABULARY = {
    *("canonical", "errors", "events", "ids", "layout", "lookup", "masking", "masking_rules", "patterns"),
    *("digests", "progress", "settings", "text", "timestamps", "turn"),
}
FLOOR = {
    "later",
    "locate",
    "machine",
    "replace",
}  # what the ends stand on: directories, the machine, one rename
WORKSPACE = {"appended", "curated", "diagnosed", "drain", "establish", "hooked", "opened", "workspace"}
APART = {"hooks.worker"}  # a surface that lies in a lower room, beside the settings that start it
RANKS = (
    VOCABULARY | FLOOR,
    {"agents", "log", "projections"},
    {"capture", "curation", "index", "publish", "registered"},
    {"reading", "forensic", "demo", "hooks"},
    WORKSPACE,
    {"mcp", "web", "watch", *APART},
    {"cli"},  # starts the other surfaces, and shows how they fare
    {"__main__", "testing"},
)
ONE_ROOM = (VOCABULARY | FLOOR, WORKSPACE)
PURE = VOCABULARY | {"projections", "curation"}

# Who may ask for the time, the environment or a random number, and why.
ASKS = {
    "machine": "it is the machine, as a value",
    "log.lock": "waits for another process, and says since when it holds the lock",
    "replace": "waits when Windows has a file open",
    "hooks.call": "an agent runs it, and nobody is there to hand anything in",
    "hooks.proof": "waits for a made-up call to come through",
    "diagnosed": "waits while an agent's log lags behind its hook",
    "establish": "draws the id of a new workspace",
}

MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def room(module: str) -> str:
    """The folder or module directly below the package."""
    return module if module in APART else module.split(".", maxsplit=1)[0]


def rank(module: str) -> int:
    """How far up a module stands."""
    return next(index for index, rooms in enumerate(RANKS) if room(module) in rooms)


def tree(module: str) -> ast.Module:
    """A module's source, read and not run."""
    return ast.parse(MODULES[module].read_text("utf-8"))


def imports(module: str) -> set[str]:
    """Modules of ours that `module` imports, by name below the package."""
    found = set()
    for node in ast.walk(tree(module)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Later":
            names = [str(ast.literal_eval(node.args[0]))]
            assert names[0].removeprefix(f"{NAME}.") in MODULES, names  # a type checker does not read it
        for name in names:
            parts = name.split(".")
            if parts[0] == NAME and len(parts) > 1:
                below = ".".join(parts[1:])
                found.add(below if below in MODULES else ".".join(parts[1:-1]) or below)
    return {name for name in found if name in MODULES}


def outside(module: str) -> set[str]:
    """Top names of other packages that `module` imports."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found - {NAME, "__future__"}


def asked(module: str) -> set[str]:
    """What a module asks the machine for: `time`, `datetime.now`, `os.environ`, …"""
    found = outside(module) & {"time", "random", "secrets", "getpass", "platform", "locale"}
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            if name in {
                *("datetime.now", "datetime.utcnow", "datetime.today", "date.today", "uuid.uuid4"),
                *("os.environ", "os.getenv", "os.getcwd", "Path.home", "Path.cwd"),
            }:
                found.add(name)
    return found


MIDDLE = [name for name in MODULES if name != "__init__" and rank(name) < rank("watch")]


def test_every_module_has_a_place():
    """A new folder is put into the table above, on purpose."""
    known = set().union(*RANKS) | {"__init__"}

    assert {room(module) for module in MODULES} <= known


@pytest.mark.parametrize("module", [name for name in MODULES if name != "__init__"])
def test_an_import_points_up_the_list_only(module):
    """An agent module knows nothing of the log, a projection nothing of a surface."""
    for imported in imports(module) - {"__init__"}:
        together = room(imported) == room(module) or any(
            {room(imported), room(module)} <= rooms for rooms in ONE_ROOM
        )
        assert together or rank(imported) < rank(module), f"{module} imports {imported}"


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) == "agents"])
def test_agents_do_not_import_each_other(module):
    """Two formats that look alike today drift apart tomorrow."""
    shared = {
        "agents",
        "agents.editors",
        "agents.jsonl",
        "agents.listing",
        "agents.places",
        "agents.registry",
        "agents.sqlite",
        "agents.storage",
        "agents.plugins",
        "agents.tree",
        "agents.opencode_store",  # one schema, two programs
        "agents.task_folders",  # one format of three agents
    }

    agents = {name.removeprefix(f"{NAME}.") for name in registry.MODULES.values()}
    own = {name for name in MODULES if name.startswith(f"{module}_")} - agents  # parts of the same agent

    assert {name for name in imports(module) if room(name) == "agents"} <= shared | own


@pytest.mark.parametrize("module", [name for name in MIDDLE if room(name) in PURE])
def test_the_middle_does_no_io(module):
    """I3: a read model is a function of the log and of nothing else.

    `layout` and the agents' registry name paths; naming one is no I/O.
    """
    if module == "layout":
        assert outside(module) <= {"pathlib"}
        return
    assert not outside(module) & {
        "os",
        "io",
        "pathlib",
        "subprocess",
        "socket",
        "sqlite3",
        "shutil",
        "tempfile",
    }
    calls = {
        node.func.id
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "open" not in calls


@pytest.mark.parametrize("module", [name for name in MIDDLE if name not in ASKS])
def test_only_the_ends_ask_for_time_chance_and_environment(module):
    """What lies between takes the time, where it needs one, as an argument."""
    assert asked(module) == set()


@pytest.mark.parametrize("module", list(MODULES))
def test_nobody_prints(module):
    """Output belongs to the surface, which knows whether it talks to a person, a program or a protocol."""
    calls = [
        node
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]

    assert room(module) == "cli" or not calls


@pytest.mark.parametrize("module", MIDDLE)
def test_the_core_stands_on_msgspec_and_the_standard_library(module):
    """A hook, a server without a network and a restricted machine can run it."""
    of_newer_pythons = {"_sha2"}
    assert outside(module) <= {"msgspec", *sys.stdlib_module_names, *of_newer_pythons}
