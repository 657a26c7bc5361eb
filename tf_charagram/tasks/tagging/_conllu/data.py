"""Tagged sentences: CoNLL-U, or word and tag in columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
# A line of two columns may begin with "#", too.
_COMMENT = re.compile(r"#(?!\S*\t)")
# Multiword tokens such as 3-4, and empty nodes such as 8.1.
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
_TEXT = "# text = "


@dataclass(frozen=True)
class TaggedSentence:
    """The words of a sentence and their tags, equally many, at least one.

    Attributes:
        words: The words.
        tags: Their tags.
        text: The sentence as CoNLL-U has it in `# text`; otherwise, and if it has other letters,
            its words with spaces.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    text: str = field(default="", compare=False)


def read_tagged(
    path: str | Path, *, column: str = "xpos", on_bad_line: str | BadLines = "error"
) -> Iterator[TaggedSentence]:
    """Streams the sentences of one file.

    Ten tab-separated columns are CoNLL-U, whose multiword tokens (`3-4`) and empty nodes (`8.1`)
    are skipped. Two columns are word and tag. A blank line ends a sentence, `# ...` is a comment,
    and white space inside a word becomes one space. A sentence with a bad line is skipped as a
    whole.

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
    for tokens, text in _token_lists(path, column, bad):
        if tokens:
            is_empty = False
            words = tuple(word for word, _ in tokens)
            tags = tuple(tag for _, tag in tokens)
            joined = " ".join(words)
            # A multiword token such as `du` has other letters than its words `de` and `le`.
            has_letters = "".join(text.split()) == "".join(joined.split())
            yield TaggedSentence(words, tags, text if has_letters else joined)
    if is_empty:
        raise DataError(path, f"no tagged sentence found: {bad.summary()}. Check the format.")


def _token_lists(path: str | Path, column: str, bad: BadLines) -> Iterator[tuple[list[Token], str]]:
    """Yields tokens and text of each good sentence, and reports each bad sentence."""
    is_conllu: bool | None = None
    for block in _paragraphs(read_lines(path)):
        tokens: list[Token] = []
        raw = ""
        try:
            for number, text in block:  # noqa: B007
                raw = text.removeprefix(_TEXT) if text.startswith(_TEXT) else raw
                if is_conllu is None and _COMMENT.match(text):
                    continue
                if is_conllu is None:
                    is_conllu = text.count("\t") + 1 == _NUM_CONLLU_COLUMNS
                # In two columns, a word may start with "#".
                if text.startswith("#") and (is_conllu or "\t" not in text):
                    continue
                if is_conllu:
                    tokens += _parse_conllu(text, len(tokens) + 1, column)
                else:
                    tokens.append(_parse_columns(text))
        except ValueError as error:
            # The rest of the block is skipped: a sentence without a word is another sentence.
            bad.report(path, number, str(error))
        else:
            yield tokens, raw


def _paragraphs(lines: Lines) -> Iterator[Lines]:
    """Yields the lines between blank lines."""

    def is_blank(line: tuple[int, str]) -> bool:
        # A line with only a tab is a row whose word and tag are missing, which is an error.
        return not line[1].strip() and "\t" not in line[1]

    return (block for blank, block in itertools.groupby(lines, is_blank) if not blank)


def _parse_columns(text: str) -> Token:
    cells = text.split("\t")
    if len(cells) != 2:
        raise ValueError(f"expected 2 tab-separated columns, word and tag, found {len(cells)}")
    return _checked(*cells)


def _parse_conllu(text: str, position: int, column: str) -> list[Token]:
    """Returns the word of a line and its tag; nothing for a multiword token or an empty node."""
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
