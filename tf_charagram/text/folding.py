"""Brings texts to one form, so that a word has the same n-grams however it is encoded.

Compatibility characters become plain ones (full-width letters, ligatures, circled digits), accents
are separate or part of a letter as in the alphabet, characters without width are dropped, and
letters that the alphabet lacks become similar ones that it has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from tf_charagram.text.alphabet import OTHER_SYMBOL, Alphabet
from tf_charagram.text.code_points import FIRST_BEYOND_ASCII
from tf_charagram.text.forms import (
    FACTOR,
    FIRST_JAMO,
    FIRST_MARK,
    GREEK,
    MAX_MARKS,
    STOP_JAMO,
    CharacterForms,
)
from tf_charagram.text.normalize import FlatTexts, replaced
from tf_charagram.text.vectors import column, flatnonzero, ragged, without_few


class CharacterFolder:
    """Maps code points to one form.

    Every character that the alphabet lacks, or that has another compatibility form (NFKC), becomes
    its decomposed form (NFKD) with `PLAIN` letters. Then a letter with its marks becomes the
    character of the alphabet for the letter and as many of them as possible; a mark that the
    alphabet lacks is dropped after a character that it has. Vowel points of Arabic and Hebrew, and
    Greek accents, are dropped if the alphabet lacks them, whatever is before.

    Args:
        alphabet: The characters that have symbols, lowercase.
        symbols_of: Maps code points to symbols, of any shape.
    """

    def __init__(self, alphabet: Alphabet, symbols_of: Callable[[tf.Tensor], tf.Tensor]) -> None:
        self._symbols_of = symbols_of
        forms = CharacterForms.of(alphabet)
        # Tensors: constants in each function would be saved with each.
        self._codes = tf.constant(forms.codes)
        self._forms = ragged(tf.constant(forms.values), tf.constant(forms.splits))
        self._marks = tf.constant(forms.mark_edges)
        self._points = tf.constant(forms.points)
        self._keys = tf.constant(forms.keys)
        self._composites = tf.constant(forms.composites)

    def __call__(self, codes: tf.Tensor, boundaries: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Folds a batch.

        Args:
            codes: Code points with a space before each text and after the last, int32
                `(num_symbols,)`.
            boundaries: The positions of those spaces, int32 `(batch + 1,)`.

        Returns:
            The folded code points, and the positions of the same spaces among them.
        """
        places = flatnonzero(codes >= FIRST_BEYOND_ASCII)
        chars = tf.gather(codes, places)
        rows = tf.searchsorted(self._codes, chars)
        is_changed = tf.gather(self._codes, rows) == chars
        places = places[is_changed]
        forms = tf.gather(self._forms, rows[is_changed])
        parts = tf.stack([places, places + 1], axis=1)
        texts = FlatTexts(codes, boundaries, boundaries)
        folded = replaced(texts, parts, forms)
        return self._composed(folded.symbols, folded.starts)

    def _composed(self, codes: tf.Tensor, boundaries: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Composes characters of the alphabet; drops the other marks after known characters."""
        places = self._places_of_marks(codes)
        bases, num_marks = _runs(places)
        letters, num_composed = self._composites_of(codes, bases, num_marks)
        codes = tf.tensor_scatter_nd_update(codes, column(bases), letters)
        # The letter that each mark belongs to.
        letter_of = tf.searchsorted(bases, places) - 1
        has_known_letter = self._symbols_of(letters) > OTHER_SYMBOL
        has_known_letter = tf.gather(has_known_letter, letter_of)
        marks = tf.gather(codes, places)
        is_unknown = self._symbols_of(marks) == OTHER_SYMBOL
        # Without its vowel, a Korean syllable would be another one.
        is_jamo = (marks >= FIRST_JAMO) & (marks < STOP_JAMO)
        is_dropped = has_known_letter & is_unknown & ~is_jamo
        is_optional = self._are_points(marks)
        written_letters = tf.gather(letters, letter_of)
        is_optional |= (written_letters >= GREEK[0]) & (written_letters < GREEK[1])
        is_dropped |= is_unknown & is_optional
        # The letter contains the marks that it is composed of.
        number = places - tf.gather(bases, letter_of)
        is_dropped |= number <= tf.gather(num_composed, letter_of)
        dropped = places[is_dropped]
        size = tf.shape(codes, tf.int64)
        is_true = tf.fill(tf.shape(dropped), True)
        drop = tf.scatter_nd(column(dropped), is_true, size)
        return without_few(codes, drop, boundaries)

    def _places_of_marks(self, codes: tf.Tensor) -> tf.Tensor:
        """Finds the marks of a batch; their positions are int64 `(num_marks,)`."""
        places = flatnonzero(codes >= FIRST_MARK)
        chars = tf.gather(codes, places)
        num_edges = tf.searchsorted(self._marks, chars, side="right")
        # Ranges of marks start and end by turns, so after an odd number of edges is a mark.
        return places[num_edges % 2 == 1]

    def _are_points(self, marks: tf.Tensor) -> tf.Tensor:
        """Returns whether marks are vowel points, bool `(num_marks,)`."""
        last = len(self._points) - 1
        rows = tf.minimum(tf.searchsorted(self._points, marks), last)
        return tf.gather(self._points, rows) == marks

    def _composites_of(
        self, codes: tf.Tensor, bases: tf.Tensor, num_marks: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Composes letters with as many of their marks as possible.

        Args:
            codes: Code points of a batch, int32 `(num_symbols,)`.
            bases: Positions of letters before marks, int64 `(num_letters,)`.
            num_marks: Number of marks after each letter, int64 `(num_letters,)`.

        Returns:
            The composed letters, int32 `(num_letters,)`, and the number of marks in each, int64
            `(num_letters,)`.
        """
        letters = tf.gather(codes, bases)
        num_composed = tf.zeros_like(bases)
        # Each pass appends a mark to the keys, as `key_of` does.
        keys = tf.cast(letters, tf.int64)
        last = tf.size(codes, tf.int64) - 1
        for length in range(1, MAX_MARKS + 1):
            places = tf.minimum(bases + length, last)
            marks = tf.gather(codes, places)
            keys = keys * FACTOR + tf.cast(marks, tf.int64)
            rows = tf.searchsorted(self._keys, keys)
            is_known = tf.gather(self._keys, rows) == keys
            is_known &= num_marks >= length
            composites = tf.gather(self._composites, rows)
            letters = tf.where(is_known, composites, letters)
            num_composed = tf.where(is_known, np.int64(length), num_composed)
        return letters, num_composed


def _runs(places: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Groups adjacent marks.

    Args:
        places: Positions of marks, ascending, int64 `(num_marks,)`.

    Returns:
        The position of the letter before each run of marks, and the number of marks in the run,
        both int64 `(num_runs,)`.
    """
    after_last = places[:-1] + 1
    # No mark is at -1, so the first mark begins a run.
    expected = tf.concat([[-1], after_last], axis=0)
    begins = flatnonzero(places != expected)
    firsts = tf.gather(places, begins)
    num_marks = tf.size(places, tf.int64)
    stops = tf.concat([begins[1:], [num_marks]], axis=0)
    return firsts - 1, stops - begins
