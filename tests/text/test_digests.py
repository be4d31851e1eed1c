"""SHA-256 is SHA-256, whichever implementation is at hand."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa import digests

LIGHT = """
import sys
from conversation_esaa.digests import FEW, SMALL, sha256

first = sha256(b"some").hexdigest()
assert {before}
{more}
assert "hashlib" in sys.modules
assert sha256(b"some").hexdigest() == first
print(first)
"""


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_both_implementations_give_the_same(pieces):
    """Identities and the chain are made with either."""
    ways = [hashlib.sha256(), digests.sha256(), digests.many()(), digests._own()(b"")]
    for way in ways:
        for piece in pieces:
            way.update(piece)

    assert {way.hexdigest() for way in ways} == {hashlib.sha256(b"".join(pieces)).hexdigest()}
    assert {way.digest() for way in ways} == {hashlib.sha256(b"".join(pieces)).digest()}


@pytest.mark.parametrize("more", ["for _ in range(FEW): sha256()", "sha256(bytes(SMALL + 1))"])
def test_openssl_is_loaded_when_there_is_much_to_digest(more):
    """A command that takes in one turn starts without it; a long capture is not slowed down."""
    code = LIGHT.format(before='"hashlib" not in sys.modules', more=more)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.stdout.strip(), done.stderr) == (hashlib.sha256(b"some").hexdigest(), "")


def test_a_python_built_without_its_own_takes_openssl():
    """As distributions do that must use certified code alone."""
    code = 'import sys\nsys.modules["_sha2"] = sys.modules["_sha256"] = None' + LIGHT.format(
        before="True", more=""
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.stdout.strip(), done.stderr) == (hashlib.sha256(b"some").hexdigest(), "")
