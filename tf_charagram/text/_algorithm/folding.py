"""Brings texts to one form, so that a word has the same n-grams however it is encoded.

Compatibility characters become plain ones (full-width letters, ligatures, circled digits), accents
are separate or part of a letter as in the alphabet, characters without width are dropped, and
letters that the alphabet lacks become similar ones that it has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tf_charagram.text._algorithm.code_points import FIRST_BEYOND_ASCII
from tf_charagram.text._algorithm.flat import (
    Array,
    Batch,
    OnExecutor,
    Ops,
    Rows,
    all_selected,
    is_in_ranges,
    replaced,
    rows_in,
    rows_of,
)
from tf_charagram.text._algorithm.forms import (
    FACTOR,
    FIRST_JAMO,
    FIRST_MARK,
    GREEK,
    MAX_MARKS,
    STOP_JAMO,
    CharacterForms,
)
from tf_charagram.text.alphabet import OTHER_SYMBOL, Alphabet


class CharacterFolder(OnExecutor):
    """Maps code points to one form.

    Every character that the alphabet lacks, or that has another compatibility form (NFKC), becomes
    its decomposed form (NFKD) with `PLAIN` letters. Then a letter with its marks becomes the
    character of the alphabet for the letter and as many of them as possible; a mark that the
    alphabet lacks is dropped after a character that it has. Vowel points of Arabic and Hebrew, and
    Greek accents, are dropped if the alphabet lacks them, whatever is before.

    Args:
        alphabet: The characters that have symbols, lowercase.
        symbols_of: Maps code points to symbols, of any shape.
        ops: Operations.
    """

    def __init__(self, alphabet: Alphabet, symbols_of: Callable[[Array], Array], ops: Ops) -> None:
        self._ops = ops
        self._symbols_of = symbols_of
        forms = CharacterForms.of(alphabet)
        self._codes = ops.constant(forms.codes)
        self._forms = Rows(ops.constant(forms.values), ops.constant(forms.splits))
        self._mark_edges = ops.constant(forms.mark_edges)
        self._points = ops.constant(forms.points)
        self._keys = ops.constant(forms.keys)
        self._composites = ops.constant(forms.composites)

    def __call__(self, codes: Array, boundaries: Array) -> tuple[Array, Array]:
        """Folds a batch.

        Args:
            codes: Code points with a space before each text and after the last, int32
                `(num_symbols,)`.
            boundaries: The positions of those spaces, `(batch + 1,)`.

        Returns:
            The folded code points, and the positions of the same spaces among them.
        """
        ops = self._ops
        places = ops.positions_of_true(codes >= FIRST_BEYOND_ASCII)
        chars = ops.take(codes, places)
        rows, is_changed = rows_in(ops, self._codes, chars)
        places, rows = all_selected(ops, is_changed, places, rows)
        forms, lengths = rows_of(ops, self._forms, ops.with_axis(rows, 1))
        texts = Batch(codes, boundaries, boundaries)
        folded = replaced(ops, texts, places, places + 1, forms, lengths)
        return self._composed(folded.symbols, folded.starts)

    def _composed(self, codes: Array, boundaries: Array) -> tuple[Array, Array]:
        """Composes characters of the alphabet; drops the other marks after known characters."""
        ops = self._ops
        places = self._places_of_marks(codes)
        bases, num_marks = self._runs(places)
        letters, num_composed = self._composites_of(codes, bases, num_marks)
        codes = ops.put(codes, bases, letters)
        # The letter that each mark belongs to.
        letter_of = ops.searchsorted(bases, places) - 1
        is_known_letter = self._symbols_of(letters) > OTHER_SYMBOL
        has_known_letter = ops.take(is_known_letter, letter_of)
        marks = ops.take(codes, places)
        is_unknown = self._symbols_of(marks) == OTHER_SYMBOL
        # Without its vowel, a Korean syllable would be another one.
        is_jamo = (marks >= FIRST_JAMO) & (marks < STOP_JAMO)
        is_dropped = has_known_letter & is_unknown & ~is_jamo
        letters_of_marks = ops.take(letters, letter_of)
        is_greek = (letters_of_marks >= GREEK[0]) & (letters_of_marks < GREEK[1])
        _, is_point = rows_in(ops, self._points, marks)
        is_dropped |= is_unknown & (is_point | is_greek)
        # The letter contains the marks that it is composed of.
        number = places - ops.take(bases, letter_of)
        is_dropped |= number <= ops.take(num_composed, letter_of)
        dropped_places = ops.selected(places, is_dropped)
        return ops.dropped(codes, dropped_places, boundaries)

    def _places_of_marks(self, codes: Array) -> Array:
        """Finds the marks of a batch; their positions are int64 `(num_marks,)`."""
        ops = self._ops
        places = ops.positions_of_true(codes >= FIRST_MARK)
        chars = ops.take(codes, places)
        is_mark = is_in_ranges(ops, chars, self._mark_edges)
        return ops.selected(places, is_mark)

    def _runs(self, places: Array) -> tuple[Array, Array]:
        """Groups adjacent marks.

        Args:
            places: Positions of marks, ascending, int64 `(num_marks,)`.

        Returns:
            The position of the letter before each run of marks, and the number of marks in the run,
            both int64 `(num_runs,)`.
        """
        ops = self._ops
        # No mark is at -1, so the first mark begins a run.
        after = ops.padded(places + 1, 1, 0, -1)
        begins = ops.positions_of_true(places != after[:-1])
        num_marks = ops.reshape(ops.size(places), [1])
        stops = ops.concat([begins[1:], num_marks])
        # Without a mark there is no run, and so no end of one.
        stops = stops[: ops.size(begins)]
        bases = ops.take(places, begins) - 1
        return bases, stops - begins

    def _composites_of(self, codes: Array, bases: Array, num_marks: Array) -> tuple[Array, Array]:
        """Composes letters with as many of their marks as possible.

        Args:
            codes: Code points of a batch, int32 `(num_symbols,)`.
            bases: Positions of letters before marks, int64 `(num_letters,)`.
            num_marks: Number of marks after each letter, int64 `(num_letters,)`.

        Returns:
            The composed letters, int32 `(num_letters,)`, and the number of marks in each, int64
            `(num_letters,)`.
        """
        ops = self._ops
        letters = ops.take(codes, bases)
        num_composed = ops.full_like(bases, 0, np.int64)
        # Each pass appends a mark to the keys, as `key_of` does.
        keys = ops.int64(letters)
        last = ops.size(codes) - 1
        for length in range(1, MAX_MARKS + 1):
            places = ops.minimum(bases + length, last)
            marks = ops.take(codes, places)
            keys = keys * FACTOR + ops.int64(marks)
            rows, is_known = rows_in(ops, self._keys, keys)
            is_known &= num_marks >= length
            composites = ops.take(self._composites, rows)
            letters = ops.where(is_known, composites, letters)
            num_composed = ops.where(is_known, np.int64(length), num_composed)
        return letters, num_composed
