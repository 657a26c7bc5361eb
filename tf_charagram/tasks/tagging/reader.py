"""Sentences with a tag for each word: CoNLL-U, two columns, word/TAG, and bracketed trees."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.readers.bracketed import Token, bracketed_sentences
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError, DataError, unknown_name

COLUMNS = {"upos": 3, "xpos": 4}

Lines = Iterable[tuple[int, str]]
Report = Callable[[int, str], None]
Sentences = Iterator[list[Token]]

_NUM_CONLLU_COLUMNS = 10
# A word may begin so too: "#\tNN", "#1/CD".
_COMMENT = re.compile(r"#(?!\S*[\t/])")
_WORD_ID = re.compile(r"[0-9]+")
# Words of several tokens, and words that are understood.
_OTHER_ID = re.compile(r"[0-9]+[-.][0-9]+")
_POS_NAME = re.compile(r".\.pos(\.gz)?$", re.IGNORECASE)
# What stands between the sentences of a file `.pos`.
_RULE = re.compile(r"=+")
_ESCAPED = re.compile(r"\\([/*])")


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence in words, each with its tag.

    Args:
        words: The words; at least one.
        tags: As many tags.

    Raises:
        ConfigError: There is no word, or the numbers differ.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.words or len(self.words) != len(self.tags):
            raise ConfigError(
                "A sentence needs words and as many tags. "
                f"Received: {len(self.words)} words, {len(self.tags)} tags"
            )


def read_tagged(
    path: str | Path, *, column: str = "xpos", on_bad_line: str | BadLines = "error"
) -> Iterator[TaggedSentence]:
    r"""Streams the sentences of one file.

    Comments (`# ...`) are left out. The first line that is neither blank nor a comment tells the
    format:

    * 10 columns, separated by tabs: CoNLL-U. Words of several tokens (`3-4`) and empty nodes
      (`8.1`) are left out.
    * Other lines with a tab: word and tag, a blank line between sentences.
    * A bracket, and no slash before the first space: trees of the Penn Treebank. Empty elements
      (`-NONE-`) are left out.
    * Else: `word/TAG word/TAG`, one sentence per line. The last slash splits.

    A file `.pos` of the Penn Treebank has `word/TAG` with brackets around noun phrases; a blank
    line or one of equals signs ends a sentence. Of two tags, `NN|VB`, the first counts.

    In the last three, `\/` is a slash and `\*` a star, and brackets stay as they are written
    (`-LRB-`). White space inside a word becomes one space. Sentences without words are skipped. A
    sentence with a bad line is left out as a whole.

    Args:
        path: File, plain or gzip, or `"-"` for standard input.
        column: The tags of CoNLL-U: `"xpos"`, those of the language, or `"upos"`, universal ones.
        on_bad_line: `"error"`, `"skip"`, or a `BadLines` to ask for its summary afterwards.

    Returns:
        An iterator over the sentences.

    Raises:
        ConfigError: An argument is wrong; raised by the call itself.
        DataError: While iterating: the file cannot be read, has a bad line or no sentence.
    """
    if column not in COLUMNS:
        raise ConfigError(unknown_name("column", column, COLUMNS))
    return _sentences(path, column, BadLines.of(on_bad_line))


def _sentences(path: str | Path, column: str, bad: BadLines) -> Iterator[TaggedSentence]:
    is_empty = True
    lines, report = iter(read_lines(path)), partial(bad.report, path)
    if _POS_NAME.search(Path(path).name):
        sentences = _block_sentences(lines, _ends_pos, _parse_pos, report)
    else:
        sentences = _read(lines, column, report)
    for tokens in sentences:
        if tokens:
            is_empty = False
            words, tags = zip(*tokens, strict=True)
            yield TaggedSentence(words, tags)
    if is_empty:
        raise DataError(path, f"no tagged sentence found: {bad.summary()}. Check the format.")


def _read(lines: Iterator[tuple[int, str]], column: str, report: Report) -> Sentences:
    """Chooses the reader."""
    skipped = []
    for number, first in lines:
        skipped.append((number, first))
        if first.strip() and not _COMMENT.match(first):
            break
    else:
        return iter(())
    lines = itertools.chain(skipped, lines)
    num_columns = first.count("\t") + 1
    if num_columns == _NUM_CONLLU_COLUMNS:
        return _block_sentences(lines, _is_blank, partial(_parse_conllu, column=column), report)
    if num_columns > 1:
        return _block_sentences(lines, _is_blank, _parse_columns, report)
    if re.match(r"\s*\((?!\S*/)", first):
        return _tree_sentences(_without_comments(lines), report)
    return _slash_sentences(_without_comments(lines), report)


def _without_comments(lines: Lines) -> Lines:
    return (line for line in lines if not _COMMENT.match(line[1]))


def _checked(word: str, tag: str) -> Token:
    """Returns a word and a tag without superfluous white space.

    Raises:
        ValueError: One is missing.
    """
    word = " ".join(word.split())
    if not word:
        raise ValueError(f"expected a word, found nothing before the tag {tag!r}")
    if tag in {"", "_"} or tag.split() != [tag]:
        raise ValueError(f"expected a tag for the word {word!r}, found {tag!r}")
    return word, tag


def _block_sentences(
    lines: Lines,
    is_end: Callable[[str], bool],
    parse: Callable[[str, int], list[Token]],
    report: Report,
) -> Sentences:
    """Yields sentences of several lines each.

    Args:
        lines: The lines.
        is_end: Whether a line ends a sentence, of which it is no part.
        parse: Returns the words of a line, given the position that the first has in its sentence.
        report: Called for the first bad line of a sentence.
    """
    for is_between, block in itertools.groupby(lines, lambda line: is_end(line[1])):
        if is_between:
            continue
        tokens: list[Token] = []
        try:
            for line in block:
                tokens += parse(line[1], len(tokens) + 1)
        except ValueError as error:
            report(line[0], str(error))
        else:
            yield tokens


def _is_blank(text: str) -> bool:
    return not text.strip() and "\t" not in text


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
    if _OTHER_ID.fullmatch(cells[0]):
        return []
    if not _WORD_ID.fullmatch(cells[0]) or cells[0].lstrip("0") != str(position):
        raise ValueError(f"expected the word of number {position}, found {cells[0]!r}")
    tag = cells[COLUMNS[column]]
    if tag in {"", "_"}:
        (other_column,) = COLUMNS.keys() - {column}
        raise ValueError(
            f"expected a tag of the word {cells[1]!r} in the column {column}, found {tag!r}; "
            f"the column {other_column} has {cells[COLUMNS[other_column]]!r}"
        )
    return [_checked(cells[1], tag)]


def _slash_sentences(lines: Lines, report: Report) -> Sentences:
    for number, text in lines:
        try:
            yield [_parse_slash(piece) for piece in re.findall(r"[^ \t]+", text)]
        except ValueError as error:
            report(number, str(error))


def _ends_pos(text: str) -> bool:
    return not _pos_pieces(text) or _RULE.fullmatch(text.strip()) is not None


def _parse_pos(text: str, position: int) -> list[Token]:
    tokens = map(_parse_slash, _pos_pieces(text))
    return [(word, tag.partition("|")[0]) for word, tag in tokens]


def _pos_pieces(text: str) -> list[str]:
    return [piece for piece in text.split() if piece not in ("[", "]")]


def _parse_slash(piece: str) -> Token:
    word, slash, tag = piece.rpartition("/")
    if not slash or word.endswith("\\"):
        raise ValueError(f"expected word/TAG, found {piece!r}")
    return _unescaped(word, tag)


def _tree_sentences(lines: Lines, report: Report) -> Sentences:
    for number, tokens in bracketed_sentences(lines, report):
        try:
            yield [_unescaped(*token) for token in tokens]
        except ValueError as error:
            report(number, str(error))


def _unescaped(word: str, tag: str) -> Token:
    """Returns a word without the backslashes of the Penn Treebank, and its tag, checked."""
    return _checked(_ESCAPED.sub(r"\1", word), tag)
