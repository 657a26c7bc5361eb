"""Reads texts as symbols: normalizes them, and corrects misspelled words."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram.text.correction import WordCorrector
from tf_charagram.text.dictionary import NUM_MARKED, Dictionary, marked
from tf_charagram.text.keys import SPACE_SYMBOL, Alphabet
from tf_charagram.text.normalize import (
    SPACE,
    FlatTexts,
    collapse,
    decode,
    normalized_code_points,
)

_TYPOGRAPHIC_APOSTROPHES = [0x2018, 0x2019]


class TextReader:
    """Turns texts into symbols of an alphabet, or into code points.

    Args:
        alphabet: The characters that have symbols; `None` for code points.
        dictionary: The words that misspelled ones are corrected to, or `None`. With a dictionary,
            typographic apostrophes are read as ASCII ones.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.

    Call arguments:
        texts: String tensor `(batch,)`, UTF-8.

    Returns:
        The normalized texts, see `FlatTexts`.
    """

    def __init__(
        self,
        alphabet: Alphabet | None,
        dictionary: Dictionary | None = None,
        *,
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
    ) -> None:
        self._unicode_form, self._max_chars = unicode_form, max_chars
        self._alphabet = alphabet
        if alphabet is None:
            symbols, self._space = normalized_code_points(lowercase), SPACE
        else:
            symbols, self._space = alphabet.symbol_table(lowercase), SPACE_SYMBOL
            if dictionary is not None:
                # The last entry applies to all others, some of which are between words.
                symbols = np.pad(symbols, (0, max(0, NUM_MARKED + 1 - len(symbols))), mode="edge")
        self._corrector = None
        if dictionary is not None:
            codes = np.arange(len(symbols)) if alphabet is None else alphabet.symbol_codes()
            # Dictionaries have "don't", and phones write "don\u2019t".
            symbols = np.array(symbols)
            symbols[_TYPOGRAPHIC_APOSTROPHES] = symbols[ord("'")]
            self._corrector = WordCorrector(dictionary, codes)
            symbols = marked(symbols, codes)
        # One tensor: a constant in each function would be saved with each.
        self._symbols = tf.constant(symbols)

    def __call__(self, texts: tf.Tensor) -> FlatTexts:
        """Reads a batch of texts."""
        codes, boundaries = decode(texts, self._unicode_form)
        size = len(self._symbols)
        symbols = tf.gather(self._symbols, tf.minimum(codes, size - 1))
        if self._alphabet is None:  # Code points past the table are normalized already.
            symbols = tf.where(codes < size, symbols, codes)
        flat = collapse(symbols, boundaries, self._space, self._max_chars)
        return flat if self._corrector is None else self._corrector(flat)

    def code_points(self, symbols: np.ndarray) -> np.ndarray:
        """Returns the code points of symbols."""
        return symbols if self._alphabet is None else self._alphabet.code_points(symbols)

    @property
    def resources(self) -> list[Any]:
        """Lookup tables, which a SavedModel must track."""
        return [] if self._corrector is None else self._corrector.resources
