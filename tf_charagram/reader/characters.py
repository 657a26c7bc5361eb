"""Brings characters to one form, and composes letters and marks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_charagram.reader.flat import Batch, Ints, Runs, replaced, rows_of
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

_LAST_ASCII = FIRST_BEYOND_ASCII - 1


class Folder:
    """Maps code points to one form, as `CharacterForms` has them.

    Args:
        alphabet: The characters that have symbols, lowercase.
        symbols_of: Maps code points to symbols.
    """

    def __init__(self, alphabet: Alphabet, symbols_of: Callable[[Ints], Ints]) -> None:
        self._symbols_of = symbols_of
        self._forms = CharacterForms.of(alphabet)

    def __call__(self, codes: Ints, boundaries: Ints) -> tuple[Ints, Ints]:
        """Folds a batch.

        Args:
            codes: Code points with a space before each text and after the last, `(num_symbols,)`.
            boundaries: The positions of those spaces, `(batch + 1,)`.

        Returns:
            The folded code points, and the positions of the same spaces among them.
        """
        forms = self._forms
        places = np.flatnonzero(codes > _LAST_ASCII)
        if not len(places):
            return codes, boundaries
        chars = codes[places]
        rows = np.searchsorted(forms.codes, chars)
        is_changed = forms.codes[rows] == chars
        places = places[is_changed]
        others = rows_of(Runs(forms.values, forms.splits), rows[is_changed])
        texts = Batch(codes, boundaries, boundaries)
        folded = replaced(texts, places, places + 1, others)
        return self._composed(folded.symbols, folded.starts)

    def _composed(self, codes: Ints, boundaries: Ints) -> tuple[Ints, Ints]:
        """Composes characters of the alphabet; drops the other marks after known characters."""
        places = self._places_of_marks(codes)
        if not len(places):
            return codes, boundaries
        # No mark is at -1, so the first mark begins a run.
        after_last = places[:-1] + 1
        expected = np.append(-1, after_last)
        begins = np.flatnonzero(places != expected)
        # The letter before each run of marks.
        bases = places[begins] - 1
        stops = np.append(begins, len(places))
        num_marks = np.diff(stops)
        letters, num_composed = self._composites_of(codes, bases, num_marks)
        codes = codes.copy()
        codes[bases] = letters
        index = np.arange(len(bases))
        # The letter that each mark belongs to.
        letter_of = np.repeat(index, num_marks)
        has_known_letter = self._symbols_of(letters) > OTHER_SYMBOL
        marks = codes[places]
        is_unknown = self._symbols_of(marks) == OTHER_SYMBOL
        # Without its vowel, a Korean syllable would be another one.
        is_jamo = (marks >= FIRST_JAMO) & (marks < STOP_JAMO)
        is_dropped = has_known_letter[letter_of] & is_unknown & ~is_jamo
        letters_of_marks = letters[letter_of]
        is_optional = np.isin(marks, self._forms.points)
        is_optional |= (letters_of_marks >= GREEK[0]) & (letters_of_marks < GREEK[1])
        is_dropped |= is_unknown & is_optional
        # The letter contains the marks that it is composed of.
        number = places - bases[letter_of]
        is_dropped |= number <= num_composed[letter_of]
        dropped = places[is_dropped]
        boundaries = boundaries - np.searchsorted(dropped, boundaries)
        return np.delete(codes, dropped), boundaries

    def _places_of_marks(self, codes: Ints) -> Ints:
        """Finds the marks of a batch, `(num_marks,)`."""
        places = np.flatnonzero(codes >= FIRST_MARK)
        num_edges = np.searchsorted(self._forms.mark_edges, codes[places], side="right")
        # Ranges of marks start and end by turns, so after an odd number of edges is a mark.
        return places[num_edges % 2 == 1]

    def _composites_of(self, codes: Ints, bases: Ints, num_marks: Ints) -> tuple[Ints, Ints]:
        """Composes letters with as many of their marks as possible.

        Args:
            codes: Code points of a batch, `(num_symbols,)`.
            bases: Positions of letters before marks, `(num_letters,)`.
            num_marks: Number of marks after each letter, `(num_letters,)`.

        Returns:
            The composed letters and the number of marks in each, `(num_letters,)`.
        """
        forms = self._forms
        letters = codes[bases]
        num_composed = np.zeros_like(bases)
        last = len(codes) - 1
        # Each pass appends a mark to the keys, as `key_of` does.
        keys = letters
        for length in range(1, MAX_MARKS + 1):
            places = np.minimum(bases + length, last)
            keys = keys * FACTOR + codes[places]
            rows = np.searchsorted(forms.keys, keys)
            is_known = forms.keys[rows] == keys
            is_known &= num_marks >= length
            letters = np.where(is_known, forms.composites[rows], letters)
            num_composed = np.where(is_known, length, num_composed)
        return letters, num_composed
