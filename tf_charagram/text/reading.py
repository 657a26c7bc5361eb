"""Reads texts as symbols, with misspelled words corrected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.devices import on_cpu
from tf_charagram.text._spelling.correction import WordCorrector
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.letters import REPLACEMENT, changed_words, marked_symbols
from tf_charagram.text._spelling.sureness import MIN_SHARE, SHOWN_SHARE
from tf_charagram.text.alphabet import OTHER_SYMBOL, SPACE_SYMBOL, UNKNOWN, Alphabet
from tf_charagram.text.code_points import SPACE, normalized_code_points
from tf_charagram.text.folding import CharacterFolder
from tf_charagram.text.normalize import FlatTexts, Readings, certain, collapse, decode
from tf_charagram.text.tensors import string_tensor, tensor_of
from tf_charagram.text.vectors import flatnonzero, interleaved, ragged
from tf_charagram.text.word_boundaries import SYMBOL, replaced_words, words_of_prose


class SymbolReader:
    """Turns texts into symbols of an alphabet, or into code points.

    Args:
        alphabet: The characters that have symbols; `None` for code points.
        dictionary: The words that misspelled ones are corrected to, or `None`. With a dictionary,
            typographic apostrophes are read as ASCII ones.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.
        fold_characters: Whether `CharacterFolder` folds texts and the dictionary. Only with an
            alphabet.
        keep_unknown: Whether the symbol of a character outside the alphabet is `UNKNOWN` plus its
            code point, and not `OTHER_SYMBOL`. Only with an alphabet.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8.

    Returns:
        The normalized texts in one vector, `FlatTexts`.
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
        self._unicode_form = unicode_form
        self._max_chars = max_chars
        self._alphabet = alphabet
        self._keep_unknown = keep_unknown and alphabet is not None
        if self._keep_unknown:
            normalized = normalized_code_points(lowercase)
            is_changed = normalized != np.arange(len(normalized))
            capitals = np.flatnonzero(is_changed).astype(np.int32)
            self._capitals = tf.constant(capitals)
            self._small = tf.constant(normalized[capitals])
        if alphabet is None:
            self._space = SPACE
            symbols = normalized_code_points(lowercase)
            codes = np.arange(len(symbols))
        else:
            self._space = SPACE_SYMBOL
            symbols = alphabet.symbol_table(lowercase)
            codes = alphabet.symbol_codes()
            every_symbol = np.arange(len(codes))
            self._code_points = tf.constant(alphabet.code_points(every_symbol))
        if dictionary is not None:
            symbols = marked_symbols(symbols, codes, has_alphabet=alphabet is not None)
        # Tensors: constants in each function would be saved with each.
        self._symbols = tf.constant(symbols)
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
        return self._readings(texts, SHOWN_SHARE).read

    def readings(self, texts: tf.Tensor) -> Readings:
        """Reads a batch of texts, also with words that may well be right."""
        return self._readings(texts, MIN_SHARE)

    @on_cpu
    def _readings(self, texts: tf.Tensor, min_share: float) -> Readings:
        read = self._read if tf.executing_eagerly() else self._function
        return read(texts, tf.constant(min_share))

    @cached_property
    def _function(self) -> Callable[[tf.Tensor, tf.Tensor], Readings]:
        """Concrete function shared by all graphs.

        A SavedModel with several signatures stores it once.
        """
        signature = [tf.TensorSpec([None], tf.string), tf.TensorSpec([], tf.float32)]
        with tf.init_scope():
            read = tf.function(self._read, input_signature=signature, autograph=False)
            return read.get_concrete_function()

    @on_cpu
    def _read(self, texts: tf.Tensor, min_share: tf.Tensor) -> Readings:
        codes, boundaries = decode(texts, self._unicode_form, self._fold)
        symbols = self._marked(codes)
        if self._alphabet is None:
            # Code points past the table are normalized already.
            symbols = tf.where(codes < len(self._symbols), symbols, codes)
        if self._keep_unknown:
            is_unknown = (symbols & SYMBOL) == OTHER_SYMBOL
            # A lambda would see the next value of `symbols`.
            marked_symbols = symbols
            symbols = tf.cond(
                tf.reduce_any(is_unknown),
                lambda: self._with_unknown(marked_symbols, codes, is_unknown),
                lambda: marked_symbols,
            )
        flat = collapse(symbols, boundaries, self._space, self._max_chars)
        if self._corrector is None:
            return certain(flat)
        return self._corrector(flat, min_share)

    def _marked(self, codes: tf.Tensor) -> tf.Tensor:
        """Returns the symbols of code points, with marks if there is a dictionary."""
        last = len(self._symbols) - 1
        return tf.gather(self._symbols, tf.minimum(codes, last))

    def _with_unknown(
        self, symbols: tf.Tensor, codes: tf.Tensor, is_unknown: tf.Tensor
    ) -> tf.Tensor:
        """Adds the code points of unknown characters to their symbols."""
        places = tf.where(is_unknown)
        chars = tf.gather_nd(codes, places)
        # Characters outside the alphabet were not lowercased by the table of symbols.
        rows = tf.searchsorted(self._capitals, chars)
        # A character past the last capital is not a capital.
        rows = tf.minimum(rows, len(self._capitals) - 1)
        is_capital = tf.gather(self._capitals, rows) == chars
        small = tf.gather(self._small, rows)
        chars = tf.where(is_capital, small, chars)
        added = chars + (UNKNOWN - OTHER_SYMBOL)
        return tf.tensor_scatter_nd_add(symbols, places, added)

    @on_cpu
    def strings(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns texts as their n-grams see them, strings `(batch,)`.

        They are normalized, folded, corrected and cut, without the spaces at both ends. Characters
        that all have one symbol are U+FFFD.
        """
        symbols, starts, ends = self(texts)
        firsts = tf.minimum(starts + 1, ends)
        edges = interleaved(firsts, ends)
        size = tf.size(symbols)
        splits = tf.concat([[0], edges, [size]], axis=0)
        rows = ragged(self.code_points(symbols), splits)
        strings = tf.strings.unicode_encode(rows, "UTF-8")
        # Every other row is a text; the rows between hold spaces and truncated parts.
        return strings[1::2]

    @on_cpu
    def folded(self, texts: Sequence[str]) -> list[str]:
        """Folds texts with `fold_characters`; returns them unchanged without it."""
        if self._fold is None:
            return list(texts)
        encoded = string_tensor(texts)
        codes, boundaries = decode(encoded, self._unicode_form, self._fold)
        chars = "".join(map(chr, codes.numpy().tolist()))
        spaces = boundaries.numpy().tolist()
        folded = []
        for before, after in pairwise(spaces):
            folded.append(chars[before + 1 : after])
        return folded

    def code_points(self, symbols: tf.Tensor) -> tf.Tensor:
        """Returns the code points of symbols, int32 `(num_symbols,)`."""
        if self._alphabet is None:
            return symbols
        is_known = symbols < UNKNOWN
        known = tf.where(is_known, symbols, OTHER_SYMBOL)
        codes = tf.gather(self._code_points, known)
        return tf.where(is_known, codes, symbols - UNKNOWN)

    @on_cpu
    def known_share(self, texts: tf.Tensor) -> tf.Tensor:
        """Returns the share of visible characters that have symbols, float32 `(batch,)`.

        It is 1 for a text without visible characters, and without an alphabet.
        """
        symbols, starts, ends = self(tensor_of(texts))
        # The space before a text is not one of its characters.
        firsts = starts + 1
        num_chars = ends - firsts
        num_spaces = _num_between(symbols == self._space, firsts, ends)
        num_visible = tf.maximum(num_chars - num_spaces, 1)
        is_unknown = tf.fill(tf.shape(symbols), False)
        if self._alphabet is not None:
            is_unknown = (symbols == OTHER_SYMBOL) | (symbols >= UNKNOWN)
        num_unknown = _num_between(is_unknown, firsts, ends)
        unknown_share = num_unknown / num_visible
        return 1 - tf.cast(unknown_share, tf.float32)

    def read_as(self, texts: Sequence[str]) -> list[str]:
        """Folds texts and replaces misspelled words; the rest stays as it is written."""
        texts = self.folded(texts)
        changed = self.corrections(words_of_prose(texts))
        return [replaced_words(text, changed) for text in texts] if changed else texts

    def corrections(self, words: Iterable[str]) -> dict[str, str]:
        """Maps lowercase words that are read as other words to these; skips all other words."""
        if self._corrector is None:
            return {}
        return changed_words(words, self.read_words)

    def read_words(self, words: list[str]) -> list[str]:
        """Corrects lowercase words; joined words get spaces between them.

        A word with a character that has no symbol is returned as it is.
        """
        strings = self.strings(string_tensor(words)).numpy()
        read = []
        for word, encoded in zip(words, strings, strict=True):
            other = encoded.decode()
            read.append(word if REPLACEMENT in other else other)
        return read

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        if self._corrector is None:
            return []
        return self._corrector.resources


def _num_between(mask: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor) -> tf.Tensor:
    """Counts the true values of a mask from each start to before each end, int32 `(batch,)`."""
    places = tf.cast(flatnonzero(mask), tf.int32)
    return tf.searchsorted(places, ends) - tf.searchsorted(places, starts)
