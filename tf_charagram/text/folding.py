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

from tf_charagram.text.dictionary import unicode_ranges
from tf_charagram.text.keys import MAX_CODE_POINT, OTHER_SYMBOL, Alphabet
from tf_charagram.text.normalize import FIRST_BEYOND_ASCII, FlatTexts, replaced, without_few

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
_FIRST_MARK = 0x300
# Korean vowels and final consonants follow their syllable like marks.
_JAMO = (0x1160, 0x1200)
# No character decomposes into a letter and more marks.
_MAX_MARKS = 3
_FACTOR = 0x9E3779B97F4A7C15 - 2**64
_SEPARATOR = 0x0A


class CharacterFolder:
    """Maps code points to one form.

    Every character that the alphabet lacks, or that has another compatibility form (NFKC), becomes
    its decomposed form (NFKD) with `PLAIN` letters. Then a letter with its marks becomes the
    character of the alphabet for the letter and as many of them as possible; a mark that the
    alphabet lacks is dropped after a character that it has.

    Args:
        alphabet: The characters that have symbols, lowercase.
        symbols_of: Maps code points to symbols, of any shape.
    """

    def __init__(self, alphabet: Alphabet, symbols_of: Callable[[tf.Tensor], tf.Tensor]) -> None:
        self._symbols_of = symbols_of
        known = [*map(chr, alphabet.characters.tolist())]
        known += [upper for char in known if len(upper := char.upper()) == 1]
        kept = {char for char in known if normalize("NFKC", char) == char}
        plain = {ord(letter): other for letter, other in PLAIN.items() if letter not in kept}
        is_changed = np.zeros(MAX_CODE_POINT + 1, bool)
        is_changed[_in_ranges(unicode_ranges()["decomposed"])] = True
        is_changed[[*map(ord, kept)]] = False
        is_changed[[*plain, *INVISIBLE]] = True
        codes = np.flatnonzero(is_changed).astype(np.int32)
        lines = np.stack([codes, np.full_like(codes, _SEPARATOR)], axis=1).tobytes()
        # The acute accent would become a space and a mark.
        text = normalize("NFKD", lines.decode("utf-32-le").replace("\u00b4", "'"))
        text = text.translate({**plain, **dict.fromkeys(INVISIBLE)})
        forms = np.frombuffer(text.encode("utf-32-le"), np.int32)
        is_end = forms == _SEPARATOR
        splits = np.append(0, np.flatnonzero(is_end) - np.arange(len(codes)))
        decomposed = {char: normalize("NFD", char) for char in kept}
        composites = {_key(parts): ord(char) for char, parts in decomposed.items() if parts[1:]}
        keys = sorted(composites)
        # Tensors: constants in each function would be saved with each. The last keys are unused.
        self._codes = tf.constant(np.append(codes, np.int32(2**31 - 1)))
        self._forms = tf.RaggedTensor.from_row_splits(
            tf.constant(forms[~is_end]), tf.constant(splits), validate=False
        )
        self._marks = tf.constant(np.sort([*unicode_ranges()["marks"], *_JAMO]).astype(np.int32))
        self._keys = tf.constant([*keys, 2**63 - 1], tf.int64)
        self._composites = tf.constant([*map(composites.__getitem__, keys), 0])

    def __call__(self, codes: tf.Tensor, boundaries: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Folds a batch; arguments and result are those of `normalize.decode`."""
        places = tf.where(codes >= FIRST_BEYOND_ASCII)[:, 0]
        chars = tf.gather(codes, places)
        rows = tf.searchsorted(self._codes, chars)
        is_changed = tf.gather(self._codes, rows) == chars
        places, rows = places[is_changed], rows[is_changed]
        folded = replaced(
            FlatTexts(codes, boundaries, boundaries),
            tf.stack([places, places + 1], axis=1),
            tf.gather(self._forms, rows),
        )
        return self._composed(folded.symbols, folded.starts)

    def _composed(self, codes: tf.Tensor, boundaries: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Composes characters of the alphabet; drops the other marks after known characters."""
        places = tf.where(codes >= _FIRST_MARK)[:, 0]
        ranges = tf.searchsorted(self._marks, tf.gather(codes, places), side="right")
        places = places[ranges % 2 == 1]
        # Runs of marks, each with the character before it.
        previous = tf.concat([[-1], places[:-1] + 1], axis=0)
        begins = tf.where(places != previous)[:, 0]
        bases = tf.gather(places, begins) - 1
        runs = tf.searchsorted(bases, places) - 1
        lengths = tf.concat([begins[1:], [tf.size(places, tf.int64)]], axis=0) - begins
        letters = tf.gather(codes, bases)
        keys, num_composed = tf.cast(letters, tf.int64), tf.zeros_like(bases)
        for length in range(1, _MAX_MARKS + 1):
            marks = tf.gather(codes, tf.minimum(bases + length, tf.size(codes, tf.int64) - 1))
            keys = keys * _FACTOR + tf.cast(marks, tf.int64)
            rows = tf.searchsorted(self._keys, keys)
            is_known = (tf.gather(self._keys, rows) == keys) & (lengths >= length)
            letters = tf.where(is_known, tf.gather(self._composites, rows), letters)
            num_composed = tf.where(is_known, np.int64(length), num_composed)
        codes = tf.tensor_scatter_nd_update(codes, bases[:, tf.newaxis], letters)
        marks = tf.gather(codes, places)
        is_jamo = (marks >= _JAMO[0]) & (marks < _JAMO[1])
        has_known_base = tf.gather(self._symbols_of(letters) > OTHER_SYMBOL, runs)
        is_dropped = has_known_base & (self._symbols_of(marks) == OTHER_SYMBOL) & ~is_jamo
        is_dropped |= places - tf.gather(bases, runs) <= tf.gather(num_composed, runs)
        dropped = places[is_dropped][:, tf.newaxis]
        drop = tf.scatter_nd(
            dropped, tf.ones_like(dropped[:, 0], tf.bool), tf.shape(codes, tf.int64)
        )
        return without_few(codes, drop, boundaries)


def _in_ranges(edges: np.ndarray) -> np.ndarray:
    """Returns the code points between edges, at which ranges start and end by turns."""
    flags = np.zeros(edges[-1] + 1, bool)
    flags[edges] = True
    return np.flatnonzero(np.logical_xor.accumulate(flags))


def _key(chars: str) -> int:
    """Returns the key of a letter with its marks, a polynomial modulo 2^64 as an int64."""
    key = 0
    for char in chars:
        key = key * _FACTOR + ord(char)
    return (key + 2**63) % 2**64 - 2**63
