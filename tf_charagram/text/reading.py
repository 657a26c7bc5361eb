"""Reads texts as symbols, with misspelled words corrected; finds words that would be misread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.devices import on_cpu
from tf_charagram.text.candidates import DIGITS
from tf_charagram.text.correction import WordCorrector
from tf_charagram.text.dictionary import (
    NUM_MARKED,
    SYMBOL,
    Dictionary,
    marked,
    replaced_words,
    tokens_of,
    words_of,
)
from tf_charagram.text.folding import CharacterFolder
from tf_charagram.text.keys import OTHER_SYMBOL, SPACE_SYMBOL, UNKNOWN, Alphabet
from tf_charagram.text.normalize import (
    SPACE,
    FlatTexts,
    collapse,
    decode,
    normalized_code_points,
)
from tf_charagram.text.tensors import string_tensor

_TYPOGRAPHIC_APOSTROPHES = [0x2018, 0x2019]
_UNKNOWN = "\ufffd"
_NO_DIGITS = str.maketrans("", "", "".join(DIGITS))
#: Minimum occurrences of a word of a dictionary; rarer ones may be typos.
MIN_COUNT = 5
# A word may be a tenth as frequent as the known word it would be read as. With `english` and 1.2
# million words of papers on linguistics, this keeps "chunking" (read as "clunking"), not "tookit".
_MAX_TIMES_RARER = 10
# About 250 MB of counts. Texts without end, such as logs, have words without end.
_MAX_WORDS = 2_000_000


class TextReader:
    """Turns texts into symbols of an alphabet, or into code points.

    Args:
        alphabet: The characters that have symbols; `None` for code points.
        dictionary: The words that misspelled ones are corrected to, or `None`. With a dictionary,
            typographic apostrophes are read as ASCII ones.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.
        fold_characters: Whether texts and the dictionary are folded, see `CharacterFolder`. Only
            with an alphabet.
        keep_unknown: Whether the symbol of a character outside the alphabet is `UNKNOWN` plus its
            code point, and not `OTHER_SYMBOL`. Only with an alphabet.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8.

    Returns:
        The normalized texts, see `FlatTexts`.
    """

    @on_cpu
    def __init__(
        self,
        alphabet: Alphabet | None,
        dictionary: Dictionary | None = None,
        *,
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
        fold_characters: bool = False,
        keep_unknown: bool = False,
    ) -> None:
        self._unicode_form, self._max_chars = unicode_form, max_chars
        self._alphabet, self._keep_unknown = alphabet, keep_unknown and alphabet is not None
        if self._keep_unknown:
            normalized = normalized_code_points(lowercase)
            capitals = np.flatnonzero(normalized != np.arange(len(normalized))).astype(np.int32)
            self._capitals, self._small = tf.constant(capitals), tf.constant(normalized[capitals])
        if alphabet is None:
            symbols, self._space = normalized_code_points(lowercase), SPACE
        else:
            symbols, self._space = alphabet.symbol_table(lowercase), SPACE_SYMBOL
            if dictionary is not None:
                # The last entry applies to all others, some of which are between words.
                symbols = np.pad(symbols, (0, max(0, NUM_MARKED + 1 - len(symbols))), mode="edge")
        if dictionary is not None:
            codes = np.arange(len(symbols)) if alphabet is None else alphabet.symbol_codes()
            # Dictionaries have "don't", and phones write "don\u2019t".
            symbols = np.array(symbols)
            symbols[_TYPOGRAPHIC_APOSTROPHES] = symbols[ord("'")]
            symbols = marked(symbols, codes)
        # Tensors: constants in each function would be saved with each.
        self._symbols = tf.constant(symbols)
        if alphabet is not None:
            self._code_points = tf.constant(alphabet.code_points(np.arange(3 + len(alphabet))))
        self._fold = None
        if fold_characters and alphabet is not None:
            self._fold = CharacterFolder(alphabet, lambda codes: self._marked(codes) & SYMBOL)
        self._corrector = None
        if dictionary is not None:
            if self._fold is not None:
                dictionary = dictionary.respelled(self.folded)
            self._corrector = WordCorrector(dictionary, codes)

    def __call__(self, texts: tf.Tensor) -> FlatTexts:
        """Reads a batch of texts."""
        return self._read(texts) if tf.executing_eagerly() else self._function(texts)

    @cached_property
    def _function(self) -> Callable[[tf.Tensor], FlatTexts]:
        """What all graphs call, so that a SavedModel with several signatures has it once."""
        signature = [tf.TensorSpec([None], tf.string)]
        with tf.init_scope():
            read = tf.function(self._read, input_signature=signature, autograph=False)
            return read.get_concrete_function()

    @on_cpu
    def _read(self, texts: tf.Tensor) -> FlatTexts:
        codes, boundaries = decode(texts, self._unicode_form, self._fold)
        symbols = self._marked(codes)
        if self._alphabet is None:  # Code points past the table are normalized already.
            symbols = tf.where(codes < len(self._symbols), symbols, codes)
        if self._keep_unknown:
            is_unknown = tf.equal(symbols & SYMBOL, OTHER_SYMBOL)
            marked_symbols = symbols
            symbols = tf.cond(
                tf.reduce_any(is_unknown),
                lambda: self._with_unknown(marked_symbols, codes, is_unknown),
                lambda: marked_symbols,
            )
        flat = collapse(symbols, boundaries, self._space, self._max_chars)
        return flat if self._corrector is None else self._corrector(flat)

    def _marked(self, codes: tf.Tensor) -> tf.Tensor:
        """Returns the symbols of code points, with marks if there is a dictionary."""
        return tf.gather(self._symbols, tf.minimum(codes, len(self._symbols) - 1))

    def _with_unknown(
        self, symbols: tf.Tensor, codes: tf.Tensor, is_unknown: tf.Tensor
    ) -> tf.Tensor:
        """Adds the code points of unknown characters to their symbols."""
        places = tf.where(is_unknown)
        chars = tf.gather_nd(codes, places)
        rows = tf.minimum(tf.searchsorted(self._capitals, chars), len(self._capitals) - 1)
        is_capital = tf.gather(self._capitals, rows) == chars
        chars = tf.where(is_capital, tf.gather(self._small, rows), chars)
        return tf.tensor_scatter_nd_add(symbols, places, chars + (UNKNOWN - OTHER_SYMBOL))

    @on_cpu
    def strings(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns texts as their n-grams see them, strings `(batch,)`.

        They are normalized, folded, corrected and cut, without the spaces at both ends. Characters
        that all have one symbol are U+FFFD.
        """
        symbols, starts, ends = self(texts)
        # Every other row is a text; the rows between hold spaces and truncated parts.
        edges = tf.reshape(tf.stack([tf.minimum(starts + 1, ends), ends], axis=1), [-1])
        splits = tf.concat([[0], edges, [tf.size(symbols)]], axis=0)
        rows = tf.RaggedTensor.from_row_splits(self.code_points(symbols), splits, validate=False)
        return tf.strings.unicode_encode(rows, "UTF-8")[1::2]

    @on_cpu
    def folded(self, texts: Sequence[str]) -> list[str]:
        """Returns the texts folded, if they are to be."""
        if self._fold is None:
            return list(texts)
        codes, boundaries = decode(string_tensor(texts), self._unicode_form, self._fold)
        chars = "".join(map(chr, codes.numpy().tolist()))
        return [chars[start + 1 : end] for start, end in pairwise(boundaries.numpy().tolist())]

    def code_points(self, symbols: tf.Tensor) -> tf.Tensor:
        """Returns the code points of symbols, int32 `(num_symbols,)`."""
        if self._alphabet is None:
            return symbols
        is_known = symbols < UNKNOWN
        codes = tf.gather(self._code_points, tf.where(is_known, symbols, OTHER_SYMBOL))
        return tf.where(is_known, codes, symbols - UNKNOWN)

    @on_cpu
    def known_share(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the share of visible characters that have symbols, see `NgramVectorizer`."""
        symbols, starts, ends = self(texts)
        unknown = tf.fill(tf.shape(symbols), False)
        if self._alphabet is not None:
            unknown = tf.equal(symbols, OTHER_SYMBOL) | (symbols >= UNKNOWN)
        # The space before a text is not between start and end.
        num_unknown, num_spaces = (
            tf.searchsorted(places, ends) - tf.searchsorted(places, starts + 1)
            for places in (
                tf.cast(tf.where(mask)[:, 0], tf.int32)
                for mask in (unknown, tf.equal(symbols, self._space))
            )
        )
        num_visible = tf.maximum(ends - starts - 1 - num_spaces, 1)
        return 1 - tf.cast(num_unknown / num_visible, tf.float32)

    def read_as(self, texts: Sequence[str]) -> list[str]:
        """Returns texts folded and with misspelled words replaced, see `TextVectorizer.read_as`."""
        texts = self.folded(texts)
        changed = self.corrections(tokens_of(texts))
        return [replaced_words(text, changed) for text in texts] if changed else texts

    def corrections(self, words: Iterable[str]) -> dict[str, str]:
        """Returns the lowercase words that are read as others, each with the other one."""
        if self._corrector is None:
            return {}
        words = sorted({word for word in words if word.translate(_NO_DIGITS).isalpha()})
        read = self.read_words(words)
        return {word: other for word, other in zip(words, read, strict=True) if word != other}

    def read_words(self, words: list[str]) -> list[str]:
        """Returns the words that lowercase words are read as; joined ones with spaces between them.

        A word with a character that has no symbol is returned as it is.
        """
        read = [other.decode() for other in self.strings(string_tensor(words)).numpy()]
        return [
            word if _UNKNOWN in other else other for word, other in zip(words, read, strict=True)
        ]

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        return [] if self._corrector is None else self._corrector.resources


class WordCounts:
    """Counts the words of texts while another consumer reads them.

    Beyond two million words the rarest are dropped, and counted from zero if they occur again.

    Args:
        words_of: Returns the words of texts.

    Attributes:
        counts: Occurrences of each word so far.
    """

    def __init__(self, words_of: Callable[[Iterable[str]], Iterable[str]] = words_of) -> None:
        self._words_of = words_of
        self.counts: Counter[str] = Counter()

    def of(self, texts: Iterable[str]) -> Iterator[str]:
        """Yields the texts, and counts their words."""
        for text in texts:
            self.counts.update(self._words_of((text,)))
            if len(self.counts) > _MAX_WORDS:
                self.counts = Counter(dict(self.counts.most_common(_MAX_WORDS // 2)))
            yield text

    def own_words(self, known: Dictionary) -> Dictionary | None:
        """Returns words that a dictionary lacks and would misread; `None` without any.

        They occur at least five times, and at least a tenth as often as the word that they would be
        read as, of the dictionary or of the texts, or as the rarest of several; most misspellings
        are rarer.
        """
        own: dict[str, int] = {}
        for words in self._unknown(known):
            before = known.merged(Dictionary(own)) if own else known
            for word, other in zip(words, _corrected(words, before), strict=True):
                count = min(self.counts[part] for part in other.split())
                if word == other or self.counts[word] * _MAX_TIMES_RARER >= count:
                    own[word] = self.counts[word]
        return Dictionary(own) if own else None

    def _unknown(self, known: Dictionary) -> Iterator[list[str]]:
        """Yields frequent unknown words, the most frequent first.

        Words of one list are about equally frequent, so none is a misspelling of another.
        """
        frequent = {word for word, count in self.counts.items() if count >= MIN_COUNT}
        unknown = sorted(frequent - set(known.words), key=lambda word: (-self.counts[word], word))
        for _, words in groupby(
            unknown, lambda word: int(math.log(self.counts[word] / MIN_COUNT, _MAX_TIMES_RARER))
        ):
            yield list(words)


def _corrected(words: list[str], known: Dictionary) -> list[str]:
    """Returns the words as read with a dictionary."""
    reader = TextReader(None, known, lowercase=True, unicode_form=None, max_chars=None)
    return reader.read_words(words)
