"""Trees of the Stanford Sentiment Treebank."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import DataError
from tf_charagram.tasks.sentiment.sst import constituents, is_tree, read_trees

TREE = "(3 (2 It) (4 (4 (2 's) (3 (2 a) (4 (3 lovely) (2 film)))) (2 .)))"
BAD = "(0 (1 (2 No) (1 fun)) (2 (2 -LRB-) (2 (2 at) (2 (2 all) (2 -RRB-)))))"
NEUTRAL = "(2 (2 A) (2 film\\/play))"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(f"{TREE}\n\n{BAD}\n{NEUTRAL}\n{BAD}\n")
    return path


def test_sentences(path):
    good, bad = "It 's a lovely film .", "No fun ( at all )"
    assert read_trees(path) == [(good, "1"), (bad, "0"), (bad, "0")]
    assert read_trees(path, fine_labels=True) == [
        (good, "3"), (bad, "0"), ("A film/play", "2"), (bad, "0")
    ]  # fmt: skip


def test_phrases(path):
    assert read_trees(path, phrases=True) == [
        ("It 's a lovely film .", "1"),
        ("'s a lovely film .", "1"),
        ("'s a lovely film", "1"),
        ("a lovely film", "1"),
        ("lovely film", "1"),
        ("lovely", "1"),
        ("No fun ( at all )", "0"),
        ("No fun", "0"),
        ("fun", "0"),
    ]
    fine = read_trees(path, phrases=True, fine_labels=True)
    assert len(set(fine)) == len(fine)
    assert ("( at all )", "2") in fine and ("film", "2") in fine


def test_a_text_with_two_labels_is_there_twice(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("(1 (3 fun) (1 fun))\n")
    assert read_trees(path, phrases=True) == [("fun fun", "0"), ("fun", "0"), ("fun", "1")]


def test_gzip(path, tmp_path):
    packed = tmp_path / "dev.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_trees(packed) == read_trees(path)


def test_deep_trees():
    depth = 20_000
    found = constituents("(3 (2 x) " * depth + "(4 y)" + ")" * depth)
    assert len(found) == 2 * depth + 1
    assert found[0] == (" ".join(["x"] * depth + ["y"]), "3")


TREES = st.recursive(
    st.text("abé'", min_size=1, max_size=3).map(lambda word: [word]),
    lambda parts: st.lists(parts, min_size=1, max_size=3).map(tuple),
    max_leaves=20,
)


def render(tree):
    if isinstance(tree, list):
        return f"(2 {tree[0]})", [tree[0]]
    parts = [render(part) for part in tree]
    label = len(tree) % 5
    return f"({label} {' '.join(p for p, _ in parts)})", [w for _, words in parts for w in words]


@settings(max_examples=50)
@given(TREES)
def test_any_tree(tree):
    line, words = render(tree)
    found = constituents(line)
    assert found[0][0] == " ".join(words)
    assert len(found) == line.count("(")
    # Without the spaces that brackets make superfluous, it is the same tree.
    assert constituents(line.replace(") (", ")(")) == found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("(3 (2 It) (4 sings)", "expected a closed tree, found 1 open brackets at its end"),
        ("(3 (2 It) (4 sings)) )", r"expected one tree, found '\)' after its end"),
        ("(3 (2 It)) (2 a)", r"expected one tree, found '\(' after its end"),
        ("(5 It)", r"expected a label from 0 to 4 after '\(', found '5'"),
        ("((2 It))", r"expected a label from 0 to 4 after '\(', found '\('"),
        ("(", r"expected a label from 0 to 4 after '\(', found 'nothing'"),
        ("(3 (2 It) (4))", r"expected a word in each constituent, found none in '\(4\)'"),
        ("3\tIt sings", "expected a tree such as .*, found '3'"),
        (")", r"expected a tree such as .*, found '\)'"),
    ],
)
def test_bad_lines(tmp_path, line, message):
    path = tmp_path / "dev.txt"
    path.write_text(f"(3 good)\n{line}\n(1 bad)\n")
    with pytest.raises(DataError, match=rf"dev\.txt:2: {message}\. Correct the line"):
        read_trees(path)
    bad = BadLines("skip")
    assert (read_trees(path, on_bad_line=bad), bad.count) == ([("good", "1"), ("bad", "0")], 1)


def test_no_texts(tmp_path):
    path = tmp_path / "dev.txt"
    path.write_text("(2 neutral)\n")
    with pytest.raises(DataError, match="no texts found: no bad lines"):
        read_trees(path)
    assert read_trees(path, fine_labels=True) == [("neutral", "2")]


def test_is_tree():
    assert is_tree(f" {TREE} ") and is_tree("(3 good)")
    for line in ("", "0\t(3 good)", "(good)", "(3 good", "(3good)"):
        assert not is_tree(line)
