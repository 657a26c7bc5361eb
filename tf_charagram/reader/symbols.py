"""Reads texts as symbols of an alphabet, with misspelled words corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tf_charagram.reader.characters import Folder
from tf_charagram.reader.flat import Batch, Ints, Readings, certain, collapse, decode
from tf_charagram.reader.spelling import Corrector
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.letters import REPLACEMENT, changed_words, marked_symbols
from tf_charagram.text._spelling.sureness import MIN_SHARE, SHOWN_SHARE
from tf_charagram.text.alphabet import OTHER_SYMBOL, SPACE_SYMBOL, UNKNOWN, Alphabet
from tf_charagram.text.code_points import SPACE, normalized_code_points
from tf_charagram.text.word_boundaries import SYMBOL, replaced_words, words_of_prose


class Symbols:
    """Turns texts into symbols of an alphabet, or into code points.

    Args:
        alphabet: The characters that have symbols; `None` for code points.
        dictionary: The words that misspelled ones are corrected to, or `None`. With a dictionary,
            typographic apostrophes are read as ASCII ones.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.
        fold_characters: Whether texts and dictionary are folded. Only with an alphabet.
        keep_unknown: Whether the symbol of a character outside the alphabet is `UNKNOWN` plus its
            code point, and not `OTHER_SYMBOL`. Only with an alphabet.
    """

    def __init__(
        self,
        alphabet: Alphabet | None,
        dictionary: Dictionary | None,
        *,
        lowercase: bool,
        unicode_form: str | None,
        max_chars: int | None,
        fold_characters: bool = False,
        keep_unknown: bool = False,
    ) -> None:
        self._alphabet = alphabet
        self._unicode_form = unicode_form
        self.max_chars = max_chars
        self._keep_unknown = keep_unknown
        self._normalized = normalized_code_points(lowercase)
        if alphabet is None:
            self._space = SPACE
            symbols = self._normalized
            codes = np.arange(len(symbols))
        else:
            self._space = SPACE_SYMBOL
            symbols = alphabet.symbol_table(lowercase)
            codes = alphabet.symbol_codes()
        if dictionary is not None:
            symbols = marked_symbols(symbols, codes, has_alphabet=alphabet is not None)
        self._symbols = symbols.astype(np.int64)
        self._fold = None
        if fold_characters and alphabet is not None:
            self._fold = Folder(alphabet, self._unmarked)
        self._corrector = None
        if dictionary is not None:
            if self._fold is not None:
                dictionary = dictionary.respelled(self.folded)
            self._corrector = Corrector(dictionary, codes)

    def __call__(self, texts: Sequence[str | bytes]) -> Batch:
        """Reads a batch of texts."""
        return self.readings(texts, SHOWN_SHARE).read

    def readings(self, texts: Sequence[str | bytes], min_share: float = MIN_SHARE) -> Readings:
        """Reads a batch of texts, also with words that may well be right.

        Args:
            texts: The texts.
            min_share: The share that a reading must exceed.
        """
        codes, boundaries = self._codes(texts)
        symbols = self._marked(codes)
        if self._alphabet is None:
            # Code points past the table are normalized already.
            symbols = np.where(codes < len(self._symbols), symbols, codes)
        if self._keep_unknown:
            places = np.flatnonzero((symbols & SYMBOL) == OTHER_SYMBOL)
            chars = codes[places]
            # Characters outside the alphabet were not lowercased by the table of symbols.
            last = len(self._normalized) - 1
            lowered = self._normalized[np.minimum(chars, last)]
            chars = np.where(chars <= last, lowered, chars)
            symbols[places] += chars + (UNKNOWN - OTHER_SYMBOL)
        batch = collapse(symbols, boundaries, self._space, self.max_chars)
        if self._corrector is None:
            return certain(batch)
        return self._corrector(batch, min_share)

    def _codes(self, texts: Sequence[str | bytes]) -> tuple[Ints, Ints]:
        """Returns the code points of a batch, and the spaces between the texts."""
        codes, boundaries = decode(texts, self._unicode_form)
        if self._fold is None:
            return codes, boundaries
        return self._fold(codes, boundaries)

    def _marked(self, codes: Ints) -> Ints:
        """Returns the symbols of code points, with marks if there is a dictionary."""
        last = len(self._symbols) - 1
        return self._symbols[np.minimum(codes, last)]

    def _unmarked(self, codes: Ints) -> Ints:
        """Returns the symbols of code points."""
        return self._marked(codes) & SYMBOL

    def known_share(self, texts: Sequence[str | bytes]) -> NDArray[np.float32]:
        """Returns the share of visible characters that have symbols, float32 `(batch,)`.

        It is 1 for a text without visible characters, and without an alphabet.
        """
        symbols, starts, ends = self(texts)
        # The space before a text is not one of its characters.
        firsts = starts + 1
        num_spaces = _num_between(symbols == self._space, firsts, ends)
        num_visible = np.maximum(ends - firsts - num_spaces, 1)
        if self._alphabet is None:
            return np.ones(len(starts), np.float32)
        is_unknown = (symbols == OTHER_SYMBOL) | (symbols >= UNKNOWN)
        num_unknown = _num_between(is_unknown, firsts, ends)
        unknown_share = num_unknown / num_visible
        return 1 - unknown_share.astype(np.float32)

    def read_as(self, texts: Sequence[str]) -> list[str]:
        """Folds texts and replaces misspelled words; the rest stays as it is written."""
        texts = self.folded(texts)
        changed = self.corrections(words_of_prose(texts))
        return [replaced_words(text, changed) for text in texts] if changed else texts

    def corrections(self, words: Iterable[str]) -> dict[str, str]:
        """Maps lowercase words that are read as other words to these; skips all other words."""
        if self._corrector is None:
            return {}
        return changed_words(words, self._read_words)

    def folded(self, texts: Sequence[str]) -> list[str]:
        """Folds texts; returns them unchanged if texts are not folded."""
        if self._fold is None:
            return list(texts)
        codes, boundaries = self._codes(texts)
        starts = boundaries[:-1] + 1
        ends = boundaries[1:]
        return _strings(codes, starts, ends)

    def string(self, batch: Batch) -> str:
        """Returns a single text as its n-grams see it, with a space at both ends."""
        codes = self._code_points(batch.symbols)
        [text] = _strings(codes, batch.starts, batch.ends + 1)
        return text

    def _read_words(self, words: list[str]) -> list[str]:
        """Corrects lowercase words; joined words get spaces between them.

        A word with a character that has no symbol is returned as it is.
        """
        symbols, starts, ends = self(words)
        codes = self._code_points(symbols)
        firsts = np.minimum(starts + 1, ends)
        strings = _strings(codes, firsts, ends)
        read = []
        for word, other in zip(words, strings, strict=True):
            read.append(word if REPLACEMENT in other else other)
        return read

    def _code_points(self, symbols: Ints) -> Ints:
        """Returns the code points of symbols."""
        if self._alphabet is None:
            return symbols
        is_known = symbols < UNKNOWN
        known = np.where(is_known, symbols, OTHER_SYMBOL)
        codes = self._alphabet.code_points(known)
        return np.where(is_known, codes, symbols - UNKNOWN)


def _strings(codes: Ints, starts: Ints, ends: Ints) -> list[str]:
    """Cuts texts out of code points."""
    chars = codes.astype("<u4").tobytes().decode("utf-32-le")
    places = zip(starts.tolist(), ends.tolist(), strict=True)
    return [chars[start:end] for start, end in places]


def _num_between(mask: NDArray[np.bool_], starts: Ints, ends: Ints) -> Ints:
    """Counts the true values of a mask from each start to before each end."""
    places = np.flatnonzero(mask)
    return np.searchsorted(places, ends) - np.searchsorted(places, starts)
