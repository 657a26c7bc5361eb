"""Sentences with a tag for each word: CoNLL-U, two columns, word/TAG, and bracketed trees."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tf_charagram.bad_lines import BadLines
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
    is_pos = _POS_NAME.search(Path(path).name)
    for tokens in _pos_sentences(lines, report) if is_pos else _read(lines, column, report):
        if tokens:
            is_empty = False
            words, tags = zip(*tokens, strict=True)
            yield TaggedSentence(words, tags)
    if is_empty:
        raise DataError(path, f"no tagged sentence found: {bad.summary()}. Check the format.")


def _read(lines: Iterator[tuple[int, str]], column: str, report: Report) -> Sentences:
    """Chooses the reader."""
    skipped = []
    first = ""
    for line in lines:
        skipped.append(line)
        if line[1].strip() and not _COMMENT.match(line[1]):
            first = line[1]
            break
    if not first:
        return iter(())
    lines = itertools.chain(skipped, lines)
    num_columns = first.count("\t") + 1
    if num_columns == _NUM_CONLLU_COLUMNS:
        return _column_sentences(lines, partial(_parse_conllu, column=column), report)
    if num_columns > 1:
        return _column_sentences(lines, _parse_columns, report)
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


def _column_sentences(
    lines: Lines, parse: Callable[[str, int], Token | None], report: Report
) -> Sentences:
    """Yields sentences of one word per line, each followed by a blank line or the end."""
    tokens: list[Token] = []
    is_bad = False
    for number, text in itertools.chain(lines, [(0, "")]):
        if not text.strip() and "\t" not in text:
            if not is_bad:
                yield tokens
            tokens, is_bad = [], False
        elif not is_bad:
            try:
                token = parse(text, len(tokens) + 1)
                if token is not None:
                    tokens.append(_checked(*token))
            except ValueError as error:
                report(number, str(error))
                is_bad = True


def _parse_columns(text: str, position: int) -> Token | None:
    cells = text.split("\t")
    if len(cells) == 1 and _COMMENT.match(text):
        return None
    if len(cells) != 2:
        raise ValueError(f"expected 2 tab-separated columns, word and tag, found {len(cells)}")
    return cells[0], cells[1]


def _parse_conllu(text: str, position: int, *, column: str) -> Token | None:
    if text.startswith("#"):
        return None
    cells = text.split("\t")
    if len(cells) != _NUM_CONLLU_COLUMNS:
        raise ValueError(
            f"expected {_NUM_CONLLU_COLUMNS} tab-separated columns of CoNLL-U, found {len(cells)}"
        )
    if _OTHER_ID.fullmatch(cells[0]):
        return None
    if not _WORD_ID.fullmatch(cells[0]) or cells[0].lstrip("0") != str(position):
        raise ValueError(f"expected the word of number {position}, found {cells[0]!r}")
    tag = cells[COLUMNS[column]]
    if tag in {"", "_"}:
        (other_column,) = COLUMNS.keys() - {column}
        raise ValueError(
            f"expected a tag of the word {cells[1]!r} in the column {column}, found {tag!r}; "
            f"the column {other_column} has {cells[COLUMNS[other_column]]!r}"
        )
    return cells[1], tag


def _slash_sentences(lines: Lines, report: Report) -> Sentences:
    for number, text in lines:
        try:
            yield [_parse_slash(piece) for piece in re.findall(r"[^ \t]+", text)]
        except ValueError as error:
            report(number, str(error))


def _pos_sentences(lines: Lines, report: Report) -> Sentences:
    tokens: list[Token] = []
    is_bad = False
    for number, text in itertools.chain(lines, [(0, "")]):
        pieces = [piece for piece in text.split() if piece not in ("[", "]")]
        if not pieces or _RULE.fullmatch(text.strip()):
            if tokens and not is_bad:
                yield tokens
            tokens, is_bad = [], False
        elif not is_bad:
            try:
                parsed = map(_parse_slash, pieces)
                tokens += [(word, tag.partition("|")[0]) for word, tag in parsed]
            except ValueError as error:
                report(number, str(error))
                is_bad = True


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
