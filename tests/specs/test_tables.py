"""Tables of agents, commands and findings are written by hand: a name that stands twice hides one of its values."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "conversation_esaa"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_no_table_has_a_key_twice(path):
    tables = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Dict))

    for table in tables:
        keys = [ast.dump(key) for key in table.keys if key]
        assert sorted(keys) == sorted(set(keys)), f"line {table.lineno}"
