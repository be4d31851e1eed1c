"""The gate: which directory a thing was said in decides whether it belongs here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.capture.gate import Gate, Verdict, ancestors, normalise

WORKSPACE = "/home/dev/projects/tea shop"


def gate(*roots: str, stores: tuple[str, ...] = (), links: dict[str, str] | None = None) -> Gate:
    return Gate(
        roots or (WORKSPACE,),
        has_store=lambda path: path in stores,
        resolve=lambda path: (links or {}).get(path, path),
    )


@pytest.mark.parametrize(
    ("cwd", "verdict"),
    [
        (WORKSPACE, Verdict.ADMITTED),
        (f"{WORKSPACE}/", Verdict.ADMITTED),
        (f"{WORKSPACE}/pkg/inner", Verdict.ADMITTED),
        (f"{WORKSPACE}/pkg/../src/.", Verdict.ADMITTED),
        (f"{WORKSPACE}2", Verdict.FOREIGN),
        (f"{WORKSPACE}-old/src", Verdict.FOREIGN),
        (f"{WORKSPACE}/../tea", Verdict.FOREIGN),
        ("/home/dev/projects", Verdict.FOREIGN),
        ("/home/dev/projects/Tea Shop", Verdict.FOREIGN),
        ("tea shop", Verdict.FOREIGN),
        ("", Verdict.UNKNOWN),
    ],
)
def test_a_directory_belongs_here_when_it_is_the_root_or_lies_below_it(cwd, verdict):
    """FC-G01, FC-G11: a common beginning of two names is not enough, and case counts on Linux."""
    assert gate().judge(cwd) is verdict


def test_the_nearest_enclosing_workspace_wins():
    """A project within a project keeps its talk to itself."""
    nested = gate(stores=(WORKSPACE, f"{WORKSPACE}/vendor/lib"))

    assert nested.judge(f"{WORKSPACE}/src") is Verdict.ADMITTED
    assert nested.judge(f"{WORKSPACE}/vendor/lib") is Verdict.NESTED
    assert nested.judge(f"{WORKSPACE}/vendor/lib/deep/er") is Verdict.NESTED
    assert nested.judge(f"{WORKSPACE}/vendor/library") is Verdict.ADMITTED


def test_an_outer_workspace_does_not_take_what_belongs_to_an_inner_root():
    """The other way round: this workspace lies within another one."""
    inner = gate(f"{WORKSPACE}/vendor/lib", stores=(WORKSPACE, f"{WORKSPACE}/vendor/lib"))

    assert inner.judge(f"{WORKSPACE}/vendor/lib/src") is Verdict.ADMITTED
    assert inner.judge(f"{WORKSPACE}/src") is Verdict.FOREIGN


def test_a_directory_reached_by_another_name_is_the_directory_it_leads_to():
    """Most agents record the real path, some the name that was typed."""
    linked = gate(
        links={"/home/dev/tea": WORKSPACE, f"{WORKSPACE}/elsewhere": "/srv/other"}, stores=("/srv/other",)
    )

    assert linked.judge("/home/dev/tea") is Verdict.ADMITTED
    assert linked.judge(f"{WORKSPACE}/elsewhere") is Verdict.FOREIGN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C:\\Work\\Harness", "c:/work/harness"),
        ("C:\\Work\\Harness", "C:/Work/Harness/"),
        ("/mnt/c/Work/Harness", "/mnt/c/work/harness"),
        ("/mnt/C/Work", "/mnt/c/work"),
        ("\\\\wsl$\\Ubuntu\\home\\dev", "//wsl.localhost/ubuntu/home/dev"),
        ("\\\\wsl.localhost\\Ubuntu\\home\\dev\\", "\\\\WSL$\\Ubuntu\\home\\dev"),
        ("\\\\Server\\Share\\Tea", "//server/share/tea"),
        ("/home/dev/./tea//shop/", "/home/dev/tea/shop"),
        ("/home/dev/x/../tea", "/home/dev/tea"),
        ("file:///c%3A/My%20Proj", "C:\\My Proj"),
        ("file:///home/dev/My%20Proj", "/home/dev/My Proj"),
    ],
)
def test_spellings_of_one_directory_are_equal(one, other):
    """FC-G02, FC-G03, FC-G04, FC-G12: drives know no case, slashes are slashes, WSL shares have two names."""
    assert normalise(one) == normalise(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/home/dev/Tea", "/home/dev/tea"),
        ("\\\\wsl$\\Ubuntu\\home\\dev", "\\\\wsl$\\Debian\\home\\dev"),
        ("\\\\wsl$\\Ubuntu\\home\\dev", "/home/dev"),  # a bare path does not say its distribution
        ("C:\\tea", "D:\\tea"),
        ("/home/dev/a\\b", "/home/dev/a/b"),  # a backslash is a character like any other there
        ("/mnt/cargo/Tea", "/mnt/cargo/tea"),
    ],
)
def test_directories_that_may_differ_stay_apart(one, other):
    """FC-G02, FC-G03: refusing a turn can be mended, admitting a foreign one cannot."""
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize("path", ["", "tea", "./tea", "~/tea", "$HOME/tea", "C:tea", "ssh://host/tea"])
def test_what_is_no_absolute_path_belongs_nowhere(path):
    """FC-G12: nothing is guessed about a relative or a remote directory."""
    assert normalise(path) == ""
    assert gate("/").judge(path) in (Verdict.FOREIGN, Verdict.UNKNOWN)


def test_a_path_that_no_system_has_is_judged_without_looking():
    """A hostile log can't make us walk a million directories."""
    asked: list[str] = []
    judged = Gate(
        [WORKSPACE], has_store=lambda path: bool(asked.append(path)), resolve=lambda path: path
    ).judge("/a" * 100_000)

    assert judged is Verdict.FOREIGN
    assert asked == []


def test_a_directory_is_looked_at_once():
    """A session of a hundred thousand turns costs one look."""
    asked: list[str] = []
    once = Gate([WORKSPACE], has_store=lambda path: bool(asked.append(path)), resolve=lambda path: path)

    for _ in range(3):
        once.judge("/srv/x")

    assert asked == ["/srv/x", "/srv", "/"]


PARTS = st.sampled_from(["tea", "Tea", "tea shop", ".", "..", "", "a.b", "日本", "C:", "mnt", "c", "wsl$"])
PATHS = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda start, parts, slash: start + slash.join(parts),
        st.sampled_from(["/", "\\\\", "C:\\", "c:/", "/mnt/c/", "file:///", ""]),
        st.lists(PARTS, max_size=6),
        st.sampled_from(["/", "\\"]),
    ),
)


@given(PATHS)
def test_normalising_twice_is_normalising_once(path):
    """So it does not matter whether a path was cleaned before it was stored."""
    assert normalise(normalise(path)) == normalise(path)


@given(PATHS, st.lists(PARTS.filter(lambda part: part not in ("..", "")), max_size=4))
def test_whatever_is_below_a_root_is_within_it(root, below):
    """And the root is within itself."""
    if normalise(root) in ("", "//wsl$"):  # the server of all distributions is no directory
        return
    inside = "/".join([normalise(root).rstrip("/"), *below])

    assert normalise(root) in ancestors(normalise(inside or "/"))


@given(PATHS, st.text(st.characters(exclude_characters="/\\"), min_size=1, max_size=5))
def test_a_longer_name_is_never_within_a_shorter_one(root, more):
    """FC-G11: `/w/app2` is no part of `/w/app`."""
    normal = normalise(root)
    if normal in ("", "/") or normalise(normal + more) in (normal, ""):
        return

    assert normal not in ancestors(normalise(normal + more))


@given(PATHS)
def test_the_way_up_ends(path):
    """Whatever a log says, a finite number of directories, each shorter than the one before."""
    way = list(ancestors(normalise(path)))

    assert [len(step) for step in way] == sorted({len(step) for step in way}, reverse=True)
