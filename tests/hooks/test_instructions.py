"""The block in AGENTS.md and its like: marked, small, removable, and the same for all agents that read the file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.agent_settings import HERE
from builders.world import World
from conversation_esaa.hooks.instructions import BEGIN, END, FILES, FORM, WORDS
from conversation_esaa.hooks.surface import Kept, NotEditable
from conversation_esaa.text import tokens


@given(st.text(alphabet="ab# \n<!->é", max_size=40), st.booleans(), st.booleans())
def test_putting_in_and_taking_out_gives_the_same_file(text, crlf, mark):
    """Byte for byte, whatever it ends with, also without a backup."""
    old = text.replace("\n", "\r\n" if crlf else "\n").encode()
    old = b"\xef\xbb\xbf" + old if mark else old

    new = FORM.put(old, HERE, inject=False)

    assert new.startswith(old)
    assert FORM.put(new, HERE, inject=False) == new
    assert FORM.take(new, FORM.kept(old)) == old


def test_a_file_that_is_made_goes_away_again():
    """Nothing but the block was in it."""
    assert FORM.take(FORM.put(b"", HERE, inject=False), Kept()) == b""


def test_what_is_written_behind_the_block_stays():
    """People append."""
    new = FORM.put(b"# Rules\n", HERE, inject=False) + b"\nMore.\n"

    assert FORM.take(new, Kept(existed=True)) == b"# Rules\n\nMore.\n"


def test_an_older_block_is_renewed_where_it_stands():
    """With other words, between other words."""
    old = b"before\n\n" + BEGIN.encode() + b"\nolder words\n" + END.encode() + b"\n\nbehind\n"

    new = FORM.put(old, HERE, inject=False).decode()

    assert new == f"before\n\n{BEGIN}\n{WORDS}\n{END}\n\nbehind\n"


@pytest.mark.parametrize("old", [BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"x\n{END}\n"])
def test_marks_that_do_not_pair_up_are_refused(old):
    """What lies between them could be anybody's."""
    for edit in (
        lambda: FORM.put(old.encode(), HERE, inject=False),
        lambda: FORM.take(old.encode(), Kept(existed=True)),
    ):
        with pytest.raises(NotEditable, match=r"line \d+, column 1"):
            edit()


def test_it_is_short():
    """Every session of every agent reads it."""
    assert tokens(f"{BEGIN}\n{WORDS}\n{END}") < 160


def test_agents_that_share_a_file_share_the_block(world: World):
    """One block, not one for each; and it goes with the last word on it."""
    (world.project / "AGENTS.md").write_text("# Rules\n", "utf-8")
    workspace = world.workspace()

    workspace.enable_hooks(["codex", "grok", "crush"], instruct=True, program=HERE)
    text = (world.project / "AGENTS.md").read_text("utf-8")
    assert text.count(BEGIN) == 1
    workspace.disable_hooks(["crush"], instruct=True)

    assert (world.project / "AGENTS.md").read_text("utf-8") == "# Rules\n"


def test_hooks_are_taken_out_without_the_block_unless_it_is_named(world: World):
    """It is of use without hooks, and a team may share it."""
    workspace = world.workspace()
    workspace.enable_hooks(["claude-code"], instruct=True, program=HERE)

    workspace.disable_hooks(["claude-code"])
    assert BEGIN in (world.project / "CLAUDE.md").read_text("utf-8")
    workspace.disable_hooks(["claude-code"], instruct=True)

    assert not (world.project / "CLAUDE.md").exists()


@pytest.mark.parametrize("agent", FILES)
def test_every_agent_with_an_instruction_file_can_get_the_block(world: World, agent):
    """Also those that have no hooks."""
    changes = world.workspace().enable_hooks([agent], instruct=True, program=HERE)

    assert [change.action for change in changes if change.kind == "instructions"] == ["created"]
    assert WORDS in (world.project / FILES[agent]).read_text("utf-8")
