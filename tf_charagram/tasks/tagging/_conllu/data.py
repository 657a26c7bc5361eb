"""Tagged sentences: CoNLL-U, word and tag in columns, word/TAG, and bracketed trees."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tf_charagram.data._tables.lines import BadLines, read_lines
from tf_charagram.errors import DataError, check_name

if TYPE_CHECKING:
    from tf_charagram.tasks.tagging.model import TaggedToken

#: Tag sets of CoNLL-U -> their columns.
COLUMNS = {"upos": 3, "xpos": 4}

#: A word and its tag.
Token: TypeAlias = tuple[str, str]
#: Numbers and texts of lines.
Lines: TypeAlias = Iterable[tuple[int, str]]

_NUM_CONLLU_COLUMNS = 10
# A word may start with "#" too: "#\tNN", "#1/CD".
_COMMENT = re.compile(r"#(?!\S*[\t/])")
# Multiword tokens such as 3-4, and empty nodes such as 8.1.
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
_ESCAPED = re.compile(r"\\([/*])")
# Brackets and quotes as the Penn Treebank writes them.
_PENN_SIGNS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"',
}  # fmt: skip
_TEXT = "# text = "
_TREE = re.compile(r"\s*\((?!\S*/)")
# The outermost bracket of a tree has no label.
_NEXT_TREE = re.compile(r"\(\s*\(")
_BRACKET = re.compile(r"[()]")
_LEAF = re.compile(r"\(([^\s()]+)\s+([^\s()]+)\s*\)")
# Nodes without a word: a tag alone, or a bracket that is not written as -LRB-.
_NO_WORD = re.compile(r"\([^\s()]*\s*\)")
# Empty elements: traces such as *T*-1 and *-2.
_TRACE = re.compile(r"\*(?:[A-Z?]+\*(?:-[0-9]+)?|-[0-9]+)")
_NODE = re.compile(r"\([^\s()]*|\)")


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence and their tags, equally many, at least one.

    Attributes:
        words: The words.
        tags: Their tags.
        text: The sentence as CoNLL-U has it in `# text`; otherwise, and if it has other letters,
            its words with spaces.
        is_penn: Whether the words are those of the Penn Treebank, of which a tagger splits some.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    text: str = field(default="", compare=False)
    is_penn: bool = field(default=False, compare=False)


def read_tagged(
    path: str | Path, *, column: str = "xpos", on_bad_line: str | BadLines = "error"
) -> Iterator[TaggedSentence]:
    r"""Streams the sentences of one file.

    Comments (`# ...`) are skipped. The first other line decides the format:

    * 10 tab-separated columns: CoNLL-U. Multiword tokens (`3-4`) and empty nodes (`8.1`) are
      skipped.
    * Another number of columns: word and tag, with a blank line between sentences.
    * A bracket: trees of the Penn Treebank. Empty elements (`-NONE-`) are skipped.
    * Else `word/TAG word/TAG`, one sentence per line. The last slash splits.

    In the last two, `\/` is a slash and `\*` a star, and `-LRB-` and two quotes are the signs they
    stand for. White space inside a word becomes one space. A sentence with a bad line is skipped
    as a whole.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        column: Tags of CoNLL-U: `"xpos"`, the tags of the language, or `"upos"`, universal tags.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Raises:
        ConfigError: An argument is wrong; raised by the call itself.
        DataError: While iterating: the file cannot be read, has a bad line or no sentence.
    """
    check_name("column", column, COLUMNS)
    return _sentences(path, column, BadLines.of(on_bad_line))


def _sentences(path: str | Path, column: str, bad: BadLines) -> Iterator[TaggedSentence]:
    is_empty = True
    for tokens, text, is_penn in _token_lists(path, column, bad):
        if tokens:
            is_empty = False
            words = tuple(word for word, _ in tokens)
            tags = tuple(tag for _, tag in tokens)
            joined = " ".join(words)
            # A multiword token such as `du` has other letters than its words `de` and `le`.
            has_letters = "".join(text.split()) == "".join(joined.split())
            yield TaggedSentence(words, tags, text if has_letters else joined, is_penn)
    if is_empty:
        raise DataError(path, f"no tagged sentence found: {bad.summary()}. Check the format.")


def _token_lists(
    path: str | Path, column: str, bad: BadLines
) -> Iterator[tuple[list[Token], str, bool]]:
    """Yields tokens, text and `is_penn` of each good sentence, and reports each bad sentence."""
    lines = iter(read_lines(path))
    # The first line that is neither blank nor a comment tells the format.
    probed: list[tuple[int, str]] = []
    first = ""
    for number, text in lines:
        probed.append((number, text))
        if text.strip() and not _COMMENT.match(text):
            first = text
            break
    else:
        return
    lines = itertools.chain(probed, lines)
    blocks: Iterable[Lines]
    is_penn = "\t" not in first
    if not is_penn:
        is_conllu = first.count("\t") + 1 == _NUM_CONLLU_COLUMNS
        parse = partial(_parse_conllu, column=column) if is_conllu else _parse_columns
        blocks = _paragraphs(lines)
    else:
        is_tree = _TREE.match(first)
        parse = _parse_tree if is_tree else _parse_slashes
        lines = (line for line in lines if not _COMMENT.match(line[1]))
        sentences = _trees(lines) if is_tree else lines
        blocks = ([sentence] for sentence in sentences)
    for block in blocks:
        tokens: list[Token] = []
        raw = ""
        try:
            for number, text in block:  # noqa: B007
                tokens += parse(text, len(tokens) + 1)
                raw = text.removeprefix(_TEXT) if text.startswith(_TEXT) else raw
        except ValueError as error:
            # The rest of the block is skipped: a sentence without a word is another sentence.
            bad.report(path, number, str(error))
        else:
            yield tokens, raw, is_penn


def _paragraphs(lines: Lines) -> Iterator[Lines]:
    """Yields the lines between blank lines."""

    def is_blank(line: tuple[int, str]) -> bool:
        # A line with only a tab is a row whose word and tag are missing, which is an error.
        return not line[1].strip() and "\t" not in line[1]

    return (block for blank, block in itertools.groupby(lines, is_blank) if not blank)


def _trees(lines: Lines) -> Iterator[tuple[int, str]]:
    """Yields the first line number and the text of each tree, which may span several lines."""
    start, depth = 0, 0
    parts: list[str] = []
    for number, text in lines:
        if parts and _NEXT_TREE.match(text):
            yield start, " ".join(parts)
            parts, depth = [], 0
        end = 0
        for bracket in _BRACKET.finditer(text):
            depth += 1 if bracket[0] == "(" else -1
            if depth <= 0:
                start = start if parts else number
                yield start, " ".join([*parts, text[end : bracket.end()]])
                parts, depth, end = [], 0, bracket.end()
        if rest := text[end:].strip():
            start = start if parts else number
            parts.append(rest)
    if parts:
        yield start, " ".join(parts)


def _parse_columns(text: str, position: int) -> list[Token]:
    cells = text.split("\t")
    if len(cells) == 1 and _COMMENT.match(text):
        return []
    if len(cells) != 2:
        raise ValueError(f"expected 2 tab-separated columns, word and tag, found {len(cells)}")
    return [_checked(*cells)]


def _parse_conllu(text: str, position: int, *, column: str) -> list[Token]:
    if text.startswith("#"):
        return []
    cells = text.split("\t")
    if len(cells) != _NUM_CONLLU_COLUMNS:
        raise ValueError(
            f"expected {_NUM_CONLLU_COLUMNS} tab-separated columns of CoNLL-U, found {len(cells)}"
        )
    if _NOT_A_WORD.fullmatch(cells[0]):
        return []
    if cells[0] != str(position):
        raise ValueError(f"expected the word of number {position}, found {cells[0]!r}")
    tag = cells[COLUMNS[column]]
    if tag in {"", "_"}:
        (other,) = COLUMNS.keys() - {column}
        raise ValueError(
            f"expected a tag of the word {cells[1]!r} in the column {column}, found {tag!r}; "
            f"the column {other} has {cells[COLUMNS[other]]!r}"
        )
    return [_checked(cells[1], tag)]


def _parse_slashes(text: str, position: int) -> list[Token]:
    tokens = []
    for piece in re.findall(r"[^ \t]+", text):
        word, slash, tag = piece.rpartition("/")
        if not slash or word.endswith("\\"):
            raise ValueError(f"expected word/TAG, found {piece!r}")
        tokens.append(_unescaped(word, tag))
    return tokens


def _parse_tree(text: str, position: int) -> list[Token]:
    num_opening = text.count("(")
    num_closing = text.count(")")
    if num_opening != num_closing:
        raise ValueError(
            f"expected a tree whose brackets match, found {num_opening} opening and "
            f"{num_closing} closing ones"
        )
    if empty := _NO_WORD.search(text):
        raise ValueError(
            f"expected a word in each node, such as (NN cat), found {empty[0]}; brackets that are "
            "words are written -LRB- and -RRB-"
        )
    without_leaves = _LEAF.sub(" ", text)
    rest = _NODE.sub(" ", without_leaves).split()
    if rest:
        raise ValueError(f"expected words with tags, such as (NN cat), found {rest[0]!r}")
    leaves = [(tag, word) for tag, word in _LEAF.findall(text) if tag != "-NONE-"]
    for tag, word in leaves:
        if _TRACE.fullmatch(word):
            raise ValueError(f"expected the tag -NONE- for the empty element {word}, found {tag}")
    return [_unescaped(word, tag) for tag, word in leaves]


def _unescaped(word: str, tag: str) -> Token:
    return _checked(_PENN_SIGNS.get(word) or _ESCAPED.sub(r"\1", word), tag)


def _checked(word: str, tag: str) -> Token:
    """Returns a word, its white space collapsed, and its tag.

    Raises:
        ValueError: One of them is missing.
    """
    word = " ".join(word.split())
    if not word:
        raise ValueError(f"expected a word, found nothing before the tag {tag!r}")
    if tag in {"", "_"} or tag.split() != [tag]:
        raise ValueError(f"expected a tag for the word {word!r}, found {tag!r}")
    return word, tag


def to_conllu(text: str, tokens: Sequence[TaggedToken], column: str = "xpos") -> str:
    """Returns a sentence in CoNLL-U: its text, a line per word, and a blank line.

    If words have offsets, the last column gives them as `TokenRange=start:end`, in characters, and
    `SpaceAfter=No` if the next word follows immediately.

    Args:
        text: The sentence, shown on one line.
        tokens: Its words.
        column: `"xpos"` or `"upos"`.
    """
    lines = [f"# text = {' '.join(text.split())}"]
    for i, token in enumerate(tokens):
        cells = ["_"] * _NUM_CONLLU_COLUMNS
        cells[0] = str(i + 1)
        cells[1] = token.token
        cells[COLUMNS[column]] = token.tag
        if token.start is not None:
            # The notes must be in alphabetical order.
            notes = []
            if i + 1 < len(tokens) and tokens[i + 1].start == token.end:
                notes.append("SpaceAfter=No")
            notes.append(f"TokenRange={token.start}:{token.end}")
            cells[-1] = "|".join(notes)
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n\n"
