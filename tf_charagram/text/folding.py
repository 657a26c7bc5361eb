"""Brings texts to one form, so that a word has the same n-grams however it is encoded.

Compatibility characters become plain ones (full-width letters, ligatures, circled digits), accents
are separate or part of a letter as in the alphabet, characters without width are dropped, and
letters that the alphabet lacks become similar ones that it has.
"""

from __future__ import annotations

from collections.abc import Callable
from unicodedata import normalize

import numpy as np
import tensorflow as tf

from tf_charagram.text.keys import MAX_CODE_POINT, OTHER_SYMBOL, Alphabet, signed
from tf_charagram.text.normalize import (
    FIRST_BEYOND_ASCII,
    SPACE,
    FlatTexts,
    normalized_code_points,
    replaced,
)
from tf_charagram.text.unicode import code_points_of, unicode_ranges, vowel_points
from tf_charagram.text.vectors import column, flatnonzero, ragged, without_few

#: Letters without a decomposition, and punctuation, in ASCII.
PLAIN = {
    "ß": "ss", "ẞ": "SS", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "đ": "d", "ł": "l", "ø": "o",
    "\u0131": "i", "ħ": "h", "ŧ": "t", "ŋ": "ng", "ĸ": "k", "ȷ": "j", "ə": "a", "ɓ": "b", "ɗ": "d",
    "ƙ": "k", "ɛ": "e", "ɔ": "o", "\u2044": "/", "\u00d7": "x",
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u02bb\u02bc", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}  # fmt: skip
PLAIN |= {
    letter.upper(): plain.upper()
    for letter, plain in PLAIN.items()
    if len(letter.upper()) == 1 and not letter.upper().isascii()
}
#: Code points without width: soft hyphen, joiners, direction marks, variation selectors, ...
INVISIBLE = (
    0xAD, 0x34F, 0x61C, *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F),
    *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, *range(0xE0100, 0xE01F0),
)  # fmt: skip
#: The Arabic letter that stretches words, and spells nothing.
TATWEEL = 0x640
# The Greek sigma at the end of a word, and everywhere else.
_FINAL_SIGMA, _SIGMA = "\u03c2", "\u03c3"
_GREEK = (0x370, 0x400)
_FIRST_MARK = 0x300
# Korean vowels and final consonants follow their syllable as marks follow a letter.
_FIRST_JAMO = 0x1160
_STOP_JAMO = 0x1200
# No character decomposes into a letter and more marks.
_MAX_MARKS = 3
_FACTOR = 0x9E3779B97F4A7C15 - 2**64
_SEPARATOR = 0x0A


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
        kept = _kept_characters(alphabet)
        codes, self._forms = _changed_forms(kept)
        # Tensors: constants in each function would be saved with each. The last code is unused, so
        # that a search never ends past the end.
        codes = np.append(codes, np.int32(2**31 - 1))
        self._codes = tf.constant(codes)
        edges = np.append(unicode_ranges()["marks"], [_FIRST_JAMO, _STOP_JAMO])
        edges.sort()
        self._marks = tf.constant(edges.astype(np.int32))
        self._points = tf.constant(vowel_points(), tf.int32)
        composites = {}
        for char in kept:
            parts = normalize("NFD", char)
            if len(parts) > 1:
                key = _key(parts)
                composites[key] = ord(char)
        # The last key is unused, too.
        composites[2**63 - 1] = 0
        keys = sorted(composites)
        letters = [composites[key] for key in keys]
        self._keys = tf.constant(keys, tf.int64)
        self._composites = tf.constant(letters)

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
        is_jamo = (marks >= _FIRST_JAMO) & (marks < _STOP_JAMO)
        is_dropped = has_known_letter & is_unknown & ~is_jamo
        is_optional = self._are_points(marks)
        written_letters = tf.gather(letters, letter_of)
        is_optional |= (written_letters >= _GREEK[0]) & (written_letters < _GREEK[1])
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
        places = flatnonzero(codes >= _FIRST_MARK)
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
        # Each pass appends a mark to the keys, as `_key` does.
        keys = tf.cast(letters, tf.int64)
        last = tf.size(codes, tf.int64) - 1
        for length in range(1, _MAX_MARKS + 1):
            places = tf.minimum(bases + length, last)
            marks = tf.gather(codes, places)
            keys = keys * _FACTOR + tf.cast(marks, tf.int64)
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


def _kept_characters(alphabet: Alphabet) -> set[str]:
    """Selects the characters of an alphabet, and their capitals, that are their own NFKC form."""
    known = alphabet.characters
    lowercase = normalized_code_points()
    # Not by `upper`, which makes "SS" of a sharp s.
    capitals = np.flatnonzero(np.isin(lowercase, known) & (lowercase != SPACE))
    candidates = map(chr, {*known.tolist(), *capitals.tolist()})
    return {char for char in candidates if normalize("NFKC", char) == char}


def _changed_forms(kept: set[str]) -> tuple[np.ndarray, tf.RaggedTensor]:
    """Lists the code points that folding changes, except for some characters.

    Returns:
        The code points, ascending, int32 `(num_changed,)`, and the code points that replace each,
        int32 `(num_changed, None)`.
    """
    forms_of: dict[int, str | None] = dict.fromkeys(INVISIBLE)
    for letter, plain in PLAIN.items():
        if letter not in kept:
            forms_of[ord(letter)] = plain
    if _FINAL_SIGMA not in kept:
        forms_of[ord(_FINAL_SIGMA)] = _SIGMA
    if chr(TATWEEL) not in kept:
        forms_of[TATWEEL] = None
    kept_codes = [ord(char) for char in kept]
    is_changed = np.zeros(MAX_CODE_POINT + 1, bool)
    is_changed[code_points_of("decomposed")] = True
    is_changed[kept_codes] = False
    is_changed[list(forms_of)] = True
    codes = np.flatnonzero(is_changed)
    codes = codes.astype(np.int32)
    # One string with a character a line is normalized much faster than single characters.
    separators = np.full_like(codes, _SEPARATOR)
    lines = np.stack([codes, separators], axis=1)
    text = lines.tobytes().decode("utf-32-le")
    # The acute accent would become a space and a mark.
    text = text.replace("\u00b4", "'")
    text = normalize("NFKD", text)
    text = text.translate(forms_of)
    forms = np.frombuffer(text.encode("utf-32-le"), np.int32)
    is_end = forms == _SEPARATOR
    # Without the separators, each end moves by the number of separators before it.
    num_separators = np.arange(len(codes))
    ends = np.flatnonzero(is_end) - num_separators
    splits = np.append(0, ends)
    values = forms[~is_end]
    return codes, ragged(tf.constant(values), tf.constant(splits))


def _key(chars: str) -> int:
    """Returns the key of a letter with its marks, a polynomial modulo 2^64 as an int64."""
    key = 0
    for char in chars:
        key = key * _FACTOR + ord(char)
    return signed(key % 2**64)
