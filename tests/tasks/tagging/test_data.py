"""`read_tagged` on all formats and on bad input."""

from __future__ import annotations

import gzip
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tf_charagram.data._tables.lines import BadLines
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.tasks.tagging._conllu.data import TaggedSentence, read_tagged


def conllu(*tokens):
    """Returns lines of CoNLL-U; a token is a word, two tags, and optionally an id."""
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
EXPECTED = {
    CONLLU: ["Do/VB n't/RB go/VB _/SYM", "10 000/CD cats/NNS"],
    COLUMNS: ["The/DT cat/NN", "1/2/CD 10 000/CD #/NN"],
}


@pytest.fixture
def read(tmp_path):
    """Returns a function that reads a file with some content, sentences as `word/TAG`."""

    def read(content, **arguments):
        path = tmp_path / "tagged"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [
            " ".join(map("{}/{}".format, sentence.words, sentence.tags))
            for sentence in read_tagged(path, **arguments)
        ]

    return read


@pytest.mark.parametrize("content", EXPECTED)
def test_formats(read, content):
    expected, raw = EXPECTED[content], content.encode()
    assert read(content) == expected
    assert read(gzip.compress(raw)) == expected
    assert read(b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")) == expected
    assert read(content.rstrip("\n")) == expected
    if content != CONLLU:
        first, rest = content.lstrip("\n").split("\n", 1)
        assert read(f"# a\\/b\n{first}\n# a comment\n{rest}#\n") == expected


def test_universal_tags(read):
    upos = read(CONLLU, column="upos")
    assert upos == ["Do/AUX n't/PART go/VERB _/SYM", "10 000/NUM cats/NOUN"]


def test_words_that_look_like_comments(read):
    assert read("#\tNN\n1\tCD\n") == ["#/NN 1/CD"]
    assert read("a\tDT\n# 1\tCD\n") == ["a/DT # 1/CD"]


def test_broken_utf8(read):
    assert read(b"caf\xe9\0\tNN\n") == ["caf\ufffd\0/NN"]


words = st.text("ab/#1.'\u00e9\U0001f600", min_size=1, max_size=4).filter("''".__ne__)
sentences = st.lists(
    st.lists(st.tuples(words, st.sampled_from(["NN", "VB"])), min_size=1, max_size=5),
    min_size=1, max_size=4,
)  # fmt: skip


def write_columns(tokens):
    return "".join(f"{word}\t{tag}\n" for word, tag in tokens)


def write_conllu(tokens):
    return conllu(*((word, "X", tag) for word, tag in tokens))


@pytest.mark.parametrize("write", [write_columns, write_conllu])
@settings(max_examples=40)
@given(sentences)
def test_what_is_written_is_read(tmp_path_factory, write, sentences):
    path = tmp_path_factory.mktemp("tagged") / "file"
    path.write_text("\n".join(map(write, sentences)), encoding="utf-8", newline="\n")
    expected = [TaggedSentence(*zip(*tokens, strict=True)) for tokens in sentences]
    assert list(read_tagged(path)) == expected


GOOD = {
    "conllu": conllu(("good", "ADJ", "JJ")) + "\n",
    "columns": "good\tJJ\n\n",
}


@pytest.mark.parametrize(
    ("form", "bad", "line", "message"),
    [
        ("conllu", "1\ta\n", 0, "expected 10 tab-separated columns of CoNLL-U, found 2"),
        ("conllu", conllu(("a", "X", "Y", "2")), 0, "expected the word of number 1, found '2'"),
        ("conllu", conllu(("a", "X", "_")), 0, "the word 'a' in the column xpos, found '_'; the column upos has 'X'"),  # noqa: E501
        ("conllu", conllu((" ", "X", "Y")), 0, "expected a word, found nothing before the tag 'Y'"),
        ("columns", "b\tNN\na\tNN\tx\n", 1, "expected 2 tab-separated columns, word and tag, found 3"),  # noqa: E501
        ("columns", "a\t_\n", 0, "expected a tag for the word 'a', found '_'"),
        ("columns", "a\tN N\n", 0, "expected a tag for the word 'a', found 'N N'"),
    ],
)  # fmt: skip
def test_bad_input(read, form, bad, line, message):
    """Reports file, line and rule, or skips the sentence and no other."""
    good = GOOD[form]
    content = f"{good}{bad}\n{good}"
    number = good.count("\n") + 1 + line
    with pytest.raises(DataError, match=f"tagged:{number}: .*{re.escape(message)}"):
        read(content)
    lines = BadLines("skip")
    assert read(content, on_bad_line=lines) == ["good/JJ", "good/JJ"]
    assert lines.count == 1


def test_text(tmp_path):
    """The text of CoNLL-U, if the words have its letters; otherwise words with spaces."""
    path = tmp_path / "x.conllu"
    cells = conllu(("Don't", "_", "_", "1-2"), ("Do", "X", "A"), ("n't", "X", "B"), ("!", "X", "C"))
    for text, expected in (("Don't!", "Don't!"), ("Du!", "Do n't !")):
        path.write_text(f"# text = {text}\n{cells}\n")
        assert [sentence.text for sentence in read_tagged(path)] == [expected]


@pytest.mark.parametrize("content", ["", "\n \n", "# only\n"])
def test_no_sentence(read, content):
    with pytest.raises(DataError, match="tagged: no tagged sentence found: no bad lines"):
        read(content)
    with pytest.raises(DataError, match="no tagged sentence found: skipped 2 bad lines; first: "):
        read("a b\n\nc\n", on_bad_line="skip")


def test_arguments(tmp_path):
    with pytest.raises(ConfigError, match=r"Unknown column 'upso'. Did you mean 'upos'\?"):
        read_tagged(tmp_path / "none", column="upso")
    with pytest.raises(ConfigError, match="Unknown on_bad_line 'stop'"):
        read_tagged(tmp_path / "none", on_bad_line="stop")
    with pytest.raises(DataError, match="cannot be read"):
        list(read_tagged(tmp_path / "none"))
