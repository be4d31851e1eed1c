"""Secrets do not leave the log: what is masked, what is left alone, and what masking promises."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa import masking, masking_rules
from conversation_esaa.masking import CHECKS, find, mask, mask_all

VECTORS = tomllib.loads((Path(__file__).parent / "vectors.toml").read_text(encoding="utf-8"))
SECRETS = [(each["kind"], "".join(each["parts"]), each["text"]) for each in VECTORS["secret"]]
HARMLESS = [text for group in VECTORS["harmless"].values() for text in group]

secrets = st.sampled_from(SECRETS).map(lambda each: each[2].replace("{}", each[1]))
fragments = st.one_of(
    secrets,
    st.sampled_from([secret for _, secret, _ in SECRETS]),
    st.sampled_from(
        [literal for rule in masking_rules.TOKENS + masking_rules.PHRASES for literal in rule.literals]
    ),
    st.sampled_from(
        ["password=", '"token": "', "'", '"', "@", "://u:", "a1", "\n", " ", "=", "[REDACTED:jwt]"]
    ),
    st.text(max_size=12),
)
# Names, separators and values, with as much between them as the rules allow.
named_values = st.one_of(
    fragments,
    st.tuples(
        st.sampled_from(["", "--", "--my-", "--" + "abcdefghijklmnop-" * 4, "api_", "access-"]),
        st.sampled_from(
            [*masking_rules.PHRASES[-2].literals, "paſsword", "\u212aEY", "PASSPHRASE", "credentials"]
        ),
        st.sampled_from(["", "_production", "-dev", "-live", "12"]),
        st.sampled_from(["", '\\"', "'", "']"]),
        st.sampled_from(["", " " * 8, "\t" * 8, " "]),
        st.sampled_from(["=", ":", ":=", "=>", "is", "was", "to", ": str =", " "]),
        st.sampled_from(["", " " * 8, "\t"]),
        st.sampled_from(["hunter2x9", '"correct horse"', "'a1b2c3d4e5f6g7h8'", "A1b2C3d4E5f6G7h8I9j0K1l2"]),
    ).map("".join),
)


@pytest.mark.parametrize(("kind", "secret", "text"), SECRETS)
def test_a_secret_becomes_a_marker_that_says_its_kind_and_its_surroundings_stay(kind, secret, text):
    """FC-K02, FC-K08: the next agent sees that something was there, and what kind of thing."""
    assert mask(text.replace("{}", secret)) == text.replace("{}", f"[REDACTED:{kind}]")


@pytest.mark.parametrize(("kind", "secret", "text"), SECRETS)
def test_a_secret_is_found_in_the_middle_of_a_long_turn(kind, secret, text):
    """The whole turn is looked at, not its lines: a key in PEM form has many."""
    before, after = "First.\n\n", "\n\nThen — done.\n"

    masked = mask(before + text.replace("{}", secret) + after)

    assert masked == before + text.replace("{}", f"[REDACTED:{kind}]") + after


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    """FC-K09: a handoff full of false markers is worth nothing."""
    assert mask(text) == text


def test_a_text_without_secrets_is_the_same_object():
    """The common case copies nothing."""
    text = "Why is the build red? " * 100

    assert mask(text) is text


def test_an_id_and_its_secret_beside_it_are_both_found():
    """That is how people paste them: without a name."""
    key_id, secret = "AK" + "IA" + "QWERTYUIOPASDFG2", "wJalrXUtnFEMI/K7" + "MDENG+bPxRfiCYabc" + "defKEY1"

    assert mask(f"{key_id}\n{secret}") == "[REDACTED:aws-id]\n[REDACTED:aws-secret]"


def test_a_key_that_somebody_cut_off_is_masked_as_far_as_it_goes_and_the_answer_after_it_stays():
    """A truncated PEM block must not swallow the rest of the turn."""
    head = "-----BEGIN RSA PRIVATE" + " KEY-----\n"
    turn = head + "MIIEpAIBAAKCAQEA7yn3bRHabcd\nEFGHijklMNOP1234qrst\n\nWhat is wrong with it?"

    assert mask(turn) == "[REDACTED:private-key]\n\nWhat is wrong with it?"


def test_letters_whose_lower_case_is_longer_do_not_shift_what_is_masked():
    """İ becomes two characters in lower case; positions are counted in the text itself."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3

    assert mask(f"İİİİ {token} İ") == "İİİİ [REDACTED:github] İ"


def test_a_sign_that_lowers_to_a_letter_of_a_rule_is_that_letter():
    """The sign of Kelvin is a k to every program that compares without regard to case."""
    assert mask("API_\u212aEY = 'a1B2c3D4e5F6'") == "API_\u212aEY = '[REDACTED:api-key]'"


def test_findings_are_in_order_and_do_not_overlap():
    """Two rules that meet give one finding, the wider one."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    text = f'password = "{token}" and {token}'

    assert [(each.kind, text[each.start : each.end]) for each in find(text)] == [
        ("github", token),
        ("github", token),
    ]


@given(st.lists(fragments, max_size=8).map("".join))
def test_masking_what_was_masked_changes_nothing(text):
    """Text may pass the door more than once on its way to a reader."""
    once = mask(text)

    assert mask(once) == once


@given(st.lists(fragments, max_size=6).map("".join))
def test_only_findings_are_replaced(text):
    """Every character outside a finding is still there, in order."""
    findings = find(text)

    assert all(a.end <= b.start for a, b in itertools.pairwise(findings))
    assert all(each.start < each.end <= len(text) for each in findings)


def found_plainly(text):
    """The rules one by one, on one text: every literal anywhere, whatever words there are."""
    rules = masking._rules()
    lowered = text.replace("\u0130", "I").lower()
    found = []
    for rule in (*rules.tokens, *rules.phrases):
        for literal in rule.literals:
            at = lowered.find(literal)
            while at >= 0:
                start = at + 1
                if match := rule.match(text, at):
                    if finding := masking._finding(rule, match):
                        found.append(finding)
                    if finding or rule in rules.tokens:
                        start = max(start, match.end())
                at = lowered.find(literal, start)
    return masking._merged(found)


def masked_plainly(text):
    for _ in range(masking._PASSES):
        text = masking._replaced(text, found_plainly(text))
    return text


odd = st.sampled_from(
    ["\u0130", "\u212a", "to\u212aen=", "\u00a0", "\u2003", "\x1c", "\ud800", "🦆", "é", "?", "a" * 15]
)


@given(
    st.lists(st.lists(st.one_of(fragments, odd), max_size=5).map("".join), max_size=6), st.integers(1, 200)
)
def test_many_texts_at_once_are_masked_as_each_alone_by_the_rules_read_plainly(texts, at_once):
    """Nothing is found across two texts, nothing is missed for standing beside others; one text or many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(masking, "_AT_ONCE", at_once)

        assert mask_all(texts) == [masked_plainly(text) for text in texts]
    assert [find(text) for text in texts] == [found_plainly(text) for text in texts]


def test_a_secret_is_no_secret_when_its_halves_are_two_texts():
    halves = ["the password =", '"correct horse" is a phrase', "gh", "p_" + "a1B2c3D4e5F6" * 3]

    assert mask_all(halves) == halves


def test_what_only_the_first_look_uncovers_is_masked_among_others_too():
    """A changed text is looked at again, its neighbours not."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    texts = ["before", f"password: 'abc{token}d1'", "", token]

    assert mask_all(texts) == [mask(text) for text in texts]
    assert mask_all([]) == []


@given(st.lists(named_values, max_size=4).map("".join))
def test_a_rule_is_left_out_only_where_it_would_find_nothing(text):
    """Most patterns are never compiled; what they would have found is found all the same."""
    quickly = find(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masking, "LOOKS", dict.fromkeys(masking.LOOKS, lambda *_: True))
        masking._rules.cache_clear()
        try:
            assert quickly == find(text)
        finally:
            masking._rules.cache_clear()


@pytest.mark.parametrize(
    "literal", sorted({x for r in masking_rules.TOKENS + masking_rules.PHRASES for x in r.literals})
)
def test_a_text_made_of_what_rules_look_for_is_not_slow(literal, monkeypatch):
    """Text from a log is hostile: the pattern tried most often is tried once per place, not per pair.

    Counted, not timed: for a text twice as long, at most about twice as many tries.
    """
    assert _tries(literal * 800, monkeypatch) <= 2 * _tries(literal * 400, monkeypatch) + 50


def _tries(text, monkeypatch):
    count = 0

    def counted(rule):
        def match(text, at):
            nonlocal count
            count += 1
            return rule.match(text, at)

        return msgspec.structs.replace(rule, match=match)

    rules = masking._rules()
    counting = msgspec.structs.replace(
        rules, tokens=tuple(map(counted, rules.tokens)), phrases=tuple(map(counted, rules.phrases))
    )
    with monkeypatch.context() as patched:
        patched.setattr(masking, "_rules", lambda: counting)
        find(text)
    return count


@pytest.mark.parametrize("rule", masking_rules.TOKENS + masking_rules.PHRASES, ids=lambda rule: rule.kind)
def test_the_rules_are_sound_data(rule):
    """A literal that is not lower case would never be found, a check that is not there would not hold."""
    assert rule.literals
    assert all(literal == literal.lower() and literal.isascii() for literal in rule.literals)
    assert rule.check in CHECKS
    assert re.fullmatch(r"[a-z0-9-]{1,24}", rule.kind)
    assert not re.search(r"\\[wd]", rule.pattern), "classes of Unicode differ between versions of Python"


@pytest.mark.parametrize("rule", masking_rules.TOKENS + masking_rules.PHRASES, ids=lambda rule: rule.kind)
def test_no_repeat_of_a_rule_can_be_given_back_without_bound(rule):
    """What makes a regular expression explode is a repeat without an end that backtracks."""
    unbounded = re.findall(r"(?:[*+]|\{\d+,\}).?", _without_classes(rule.pattern))

    assert all(repeat.endswith("+") and len(repeat) > 1 for repeat in unbounded), unbounded


def _without_classes(pattern):
    """The pattern with its character classes emptied, its escapes and its bounded repeats gone."""
    pattern = re.sub(r"\\.", "e", pattern)
    pattern = re.sub(r"\[[^\]]*\]", "[]", pattern)
    return re.sub(r"\{\d+(?:,\d+)?\}", "", pattern)


def test_importing_the_module_compiles_no_rule():
    """A hook or `--version` must not pay for the rules."""
    code = (
        "import sys; import conversation_esaa.text, conversation_esaa.masking;"
        "sys.exit('conversation_esaa.masking_rules' in sys.modules or 'unicodedata' in sys.modules)"
    )
    source = Path(__file__).parents[2] / "src"

    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {code}"]

    assert subprocess.run(run, check=False).returncode == 0
