"""`read_tagged` on all formats, and on what is wrong with them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.tagging.reader import TaggedSentence, read_tagged

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def conllu(*tokens):
    """Returns lines of CoNLL-U; a token is a word and two tags, and perhaps an id."""
    lines = []
    position = 0
    for word, upos, xpos, *identifier in tokens:
        position += not identifier
        cells = [*(identifier or [str(position)]), word, word, upos, xpos, *"_____"]
        lines.append("\t".join(cells) + "\n")
    return "".join(lines)


CONLLU = "".join(
    [
        "# newdoc\n# text = Don't go/stay\tnow\n",
        conllu(
            ("Don't", "_", "_", "1-2"), ("Do", "AUX", "VB"), ("n't", "PART", "RB"),
            ("go", "VERB", "VB"), ("going", "VERB", "VBG", "3.1"), ("_", "SYM", "SYM"),
        ),
        "\n# sent_id = 2\n",
        conllu(("10 000", "NUM", "CD"), ("cats", "NOUN", "NNS")),
    ]
)  # fmt: skip
COLUMNS = "The\tDT\ncat\tNN\n\n\n1/2\tCD\n10  000\tCD\n#\tNN\n"
SLASH = "The/DT cat/NN\n\n1\\/2/CD  -LRB-/-LRB-\t\\*/SYM //SYM\n"
TREES = r"""
( (S
    (NP-SBJ (DT The) (NN cat))
    (VP (VBD ate) (NP (-NONE- *T*-1)))
    (. .)) )
(S (CD 1\/2) (-LRB- -LRB-)) ((NP(NNS dogs)))
( (NP (-NONE- *)) )
"""


@pytest.fixture
def read(tmp_path):
    def read(content, **arguments):
        path = tmp_path / "tagged"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [
            list(zip(sentence.words, sentence.tags, strict=True))
            for sentence in read_tagged(path, **arguments)
        ]

    return read


def slashes(sentences):
    return [" ".join(f"{word}/{tag}" for word, tag in sentence) for sentence in sentences]


class TestFormats:
    def test_conllu(self, read):
        assert slashes(read(CONLLU)) == ["Do/VB n't/RB go/VB _/SYM", "10 000/CD cats/NNS"]
        upos = read(CONLLU, column="upos")
        assert slashes(upos) == ["Do/AUX n't/PART go/VERB _/SYM", "10 000/NUM cats/NOUN"]

    def test_columns(self, read):
        assert read(COLUMNS) == [
            [("The", "DT"), ("cat", "NN")],
            [("1/2", "CD"), ("10 000", "CD"), ("#", "NN")],
        ]

    def test_slashes(self, read):
        assert read(SLASH) == [
            [("The", "DT"), ("cat", "NN")],
            [("1/2", "CD"), ("-LRB-", "-LRB-"), ("*", "SYM"), ("/", "SYM")],
        ]

    def test_trees(self, read):
        assert read(TREES) == [
            [("The", "DT"), ("cat", "NN"), ("ate", "VBD"), (".", ".")],
            [("1/2", "CD"), ("-LRB-", "-LRB-")],
            [("dogs", "NNS")],
        ]

    @pytest.mark.parametrize("first", ["(/-LRB- a/DT", "#1/CD a/DT", "#/# 5/CD", "http://a/ADD"])
    def test_slash_lines_that_look_like_others(self, read, first):
        assert slashes(read(f"{first}\n")) == [first]

    def test_a_first_word_that_looks_like_a_comment(self, read):
        assert read("#\tNN\n1\tCD\n") == [[("#", "NN"), ("1", "CD")]]

    @pytest.mark.parametrize("comment", ["# a comment\n", "# text = a\\/b\n#\n"])
    @pytest.mark.parametrize("content", [COLUMNS, SLASH, TREES])
    def test_comments(self, read, content, comment):
        first, rest = content.lstrip("\n").split("\n", 1)
        assert read(f"{comment}{first}\n{comment}{rest}{comment}") == read(content)

    def test_a_word_that_begins_like_a_comment(self, read):
        assert read("a\tDT\n# 1\tCD\n") == [[("a", "DT"), ("# 1", "CD")]]
        assert slashes(read("a/DT\n#/# 5/CD\n")) == ["a/DT", "#/# 5/CD"]

    @pytest.mark.parametrize("content", [CONLLU, COLUMNS, SLASH, TREES])
    def test_gzip_bom_line_ends_and_no_final_one(self, read, content):
        expected = read(content)
        raw = content.encode()
        assert read(gzip.compress(raw)) == expected
        assert read(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")) == expected
        assert read(content.rstrip("\n")) == expected

    def test_broken_utf8_and_nul_are_text(self, read):
        assert read(b"caf\xe9\0\tNN\n") == [[("caf\ufffd\0", "NN")]]

    @pytest.mark.parametrize("join", ["{}\tNN\n", "{}/NN ", "(NN {})"])
    def test_long_sentence(self, read, join):
        words = [f"w{number}" for number in range(5000)]
        content = "".join(map(join.format, words))
        (sentence,) = read(f"(S {content})" if "(" in join else content)
        assert sentence == [(word, "NN") for word in words]

    def test_deep_tree(self, read):
        assert read("(S" * 20_000 + "(NN a)" + ")" * 20_000) == [[("a", "NN")]]


POS = "[ The/DT cat/NN ]\nate/VBD\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.pos", POS, "The/DT cat/NN ate/VBD"),
        ("WSJ_0001.POS", POS, "The/DT cat/NN ate/VBD"),
        ("wsj.01.pos.gz", POS, "The/DT cat/NN ate/VBD"),
        ("x.pos.tsv", "a\tDT\n", "a/DT"),
        ("en.pos.conllu.gz", conllu(("a", "DET", "DT")), "a/DT"),
    ],
)
def test_names_that_tell_the_format(tmp_path, name, content, expected):
    raw = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    (sentence,) = read_tagged(tmp_path / name)
    assert slashes([zip(sentence.words, sentence.tags, strict=True)]) == [expected]


words = st.text("ab/(#1.'\u00e9\U0001f600", min_size=1, max_size=4)
sentences = st.lists(
    st.lists(st.tuples(words, st.sampled_from(["NN", "VB"])), min_size=1, max_size=5),
    min_size=1, max_size=4,
)  # fmt: skip


def write_columns(tokens):
    return "".join(f"{word}\t{tag}\n" for word, tag in tokens)


def write_slashes(tokens):
    return " ".join(f"{word.replace('/', chr(92) + '/')}/{tag}" for word, tag in tokens)


def write_tree(tokens):
    return f"( (S {' '.join(f'({tag} {word})' for word, tag in tokens)}) )"


def write_conllu(tokens):
    return conllu(*((word, "X", tag) for word, tag in tokens))


@pytest.mark.parametrize("write", [write_columns, write_slashes, write_tree, write_conllu])
@settings(max_examples=60)
@given(sentences)
def test_what_is_written_is_read(tmp_path_factory, write, sentences):
    if write is write_tree:
        sentences = [[(word.replace("(", "-LRB-"), tag) for word, tag in s] for s in sentences]
    path = tmp_path_factory.mktemp("tagged") / "file"
    path.write_text("\n".join(map(write, sentences)), encoding="utf-8", newline="\n")
    expected = [TaggedSentence(*zip(*tokens, strict=True)) for tokens in sentences]
    assert list(read_tagged(path)) == expected


GOOD = {
    "conllu": conllu(("good", "ADJ", "JJ")) + "\n",
    "columns": "good\tJJ\n\n",
    "slashes": "good/JJ\n",
    "trees": "((JJ good))\n",
}


@pytest.mark.parametrize(
    ("form", "bad", "line", "message"),
    [
        ("conllu", "1\ta\n", 0, "expected 10 tab-separated columns of CoNLL-U, found 2"),
        ("conllu", conllu(("a", "X", "Y", "2")), 0, "expected the word of number 1, found '2'"),
        ("conllu", conllu(("a", "X", "Y", "x")), 0, "expected the word of number 1, found 'x'"),
        ("conllu", conllu(("a", "X", "Y", "9" * 5000)), 0, "expected the word of number 1, found"),
        ("conllu", conllu(("a", "X", "_")), 0, "the word 'a' in the column xpos, found '_'; the column upos has 'X'"),  # noqa: E501
        ("conllu", conllu((" ", "X", "Y")), 0, "expected a word, found nothing before the tag 'Y'"),
        ("columns", "a\n", 0, "expected 2 tab-separated columns, word and tag, found 1"),
        ("columns", "b\tNN\na\tNN\tx\n", 1, "expected 2 tab-separated columns, word and tag, found 3"),  # noqa: E501
        ("columns", "\tNN\n", 0, "expected a word, found nothing before the tag 'NN'"),
        ("columns", "a\t\n", 0, "expected a tag for the word 'a', found ''"),
        ("columns", "a\t_\n", 0, "expected a tag for the word 'a', found '_'"),
        ("columns", "a\tN N\n", 0, "expected a tag for the word 'a', found 'N N'"),
        ("slashes", "a/NN b\n", 0, "expected word/TAG, found 'b'"),
        ("slashes", "a\\/b\n", 0, r"expected word/TAG, found 'a\\/b'"),
        ("slashes", "/NN\n", 0, "expected a word, found nothing before the tag 'NN'"),
        ("slashes", "a/\n", 0, "expected a tag for the word 'a', found ''"),
        ("trees", "(S (NN a b))\n", 0, "expected a tag and a word, or a label and brackets, in a bracket, found (NN a b)"),  # noqa: E501
        ("trees", "(S\n (NN a) b)\n", 1, "in a bracket, found (S (...) b)"),
        ("trees", "(S (NN))\n", 0, "in a bracket, found (NN)"),
        ("trees", "())\n", 0, "in a bracket, found ()"),
        ("trees", "a)\n", 0, "expected a bracket that opens a tree, found 'a'"),
        ("trees", "(S (_ a))\n", 0, "expected a tag for the word 'a', found '_'"),
        ("trees", "( (S (NN a)\n", 0, "the tree is not closed before another starts on line 3"),
    ],
)  # fmt: skip
def test_bad_input(read, tmp_path, form, bad, line, message):
    """Says file, line and rule, or leaves out the sentence and no other."""
    good = GOOD[form]
    content = good + bad + ("" if form in {"slashes", "trees"} else "\n") + good
    number = good.count("\n") + 1 + line
    with pytest.raises(DataError, match=f"tagged:{number}: .*{re.escape(message)}"):
        read(content)
    lines = BadLines("skip")
    assert slashes(read(content, on_bad_line=lines)) == ["good/JJ", "good/JJ"]
    assert lines.count == 1


def test_unclosed_at_the_end(read):
    content = "(S (NN a))\n(S (NN b)\n (NN c)\n"
    with pytest.raises(DataError, match="tagged:2: the tree is not closed at the end of the file"):
        read(content)
    assert slashes(read(content, on_bad_line="skip")) == ["a/NN"]


@pytest.mark.parametrize("content", ["", "\n \n", "# only\n", "(S (-NONE- *))\n"])
def test_no_sentence(read, content):
    with pytest.raises(DataError, match="tagged: no tagged sentence found: no bad lines"):
        read(content)


def test_only_bad_lines(read):
    with pytest.raises(DataError, match="no tagged sentence found: skipped 2 bad lines; first: "):
        read("a b\nc\n", on_bad_line="skip")


def test_arguments(tmp_path):
    with pytest.raises(ConfigError, match=r"Unknown column 'upso'. Did you mean 'upos'\?"):
        read_tagged(tmp_path / "none", column="upso")
    with pytest.raises(ConfigError, match="Unknown on_bad_line 'stop'"):
        read_tagged(tmp_path / "none", on_bad_line="stop")
    with pytest.raises(DataError, match="cannot be read"):
        list(read_tagged(tmp_path / "none"))


@pytest.mark.parametrize(("words", "tags"), [((), ()), (("a",), ("X", "Y"))])
def test_sentence_has_words_and_as_many_tags(words, tags):
    with pytest.raises(ConfigError, match=f"Received: {len(words)} words, {len(tags)} tags"):
        TaggedSentence(words, tags)


@pytest.mark.parametrize(
    ("split", "sizes"), [("train", (12_544, 204_577)), ("dev", (2_001, 25_147))]
)
def test_english_web_treebank(split, sizes):
    path = SHARED / "pos" / f"ewt.{split}.tsv"
    if not path.is_file():
        pytest.skip("the English Web Treebank is not here")
    sentences = list(read_tagged(path))
    assert (len(sentences), sum(len(sentence.words) for sentence in sentences)) == sizes
