"""Reads texts as symbols of an alphabet, with misspelled words corrected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tf_charagram.text._algorithm import arrays
from tf_charagram.text._algorithm.code_points import (
    FIRST_BEYOND_ASCII,
    PAST_CODES,
    SPACE,
    normalized_code_points,
)
from tf_charagram.text._algorithm.flat import (
    Array,
    Batch,
    OnExecutor,
    Ops,
    Readings,
    certain,
    collapse,
    decode,
    num_between,
    rows_in,
    shortened,
)
from tf_charagram.text._algorithm.folding import CharacterFolder
from tf_charagram.text._algorithm.word_boundaries import SYMBOL, replaced_words, words_of_prose
from tf_charagram.text._spelling.correction import WordCorrector
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text._spelling.letters import REPLACEMENT, changed_words, marked_symbols
from tf_charagram.text._spelling.sureness import MIN_SHARE, SHOWN_SHARE
from tf_charagram.text.alphabet import OTHER_SYMBOL, SPACE_SYMBOL, UNKNOWN, Alphabet


class Symbols(OnExecutor):
    """Turns texts into symbols of an alphabet, or into code points.

    Args:
        alphabet: The characters that have symbols; `None` for code points.
        dictionary: The words that misspelled ones are corrected to, or `None`. With a dictionary,
            typographic apostrophes are read as ASCII ones.
        ops: Operations.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.
        fold_characters: Whether `CharacterFolder` folds texts and the dictionary. Only with an
            alphabet.
        keep_unknown: Whether the symbol of a character outside the alphabet is `UNKNOWN` plus its
            code point, and not `OTHER_SYMBOL`. Only with an alphabet.

    Call arguments:
        texts: UTF-8 texts `(batch,)`, a list; or a tensor if `ops` are of TensorFlow.

    Returns:
        The normalized texts in one vector, a `Batch`.
    """

    def __init__(
        self,
        alphabet: Alphabet | None,
        dictionary: Dictionary | None = None,
        ops: Ops = arrays,
        *,
        lowercase: bool = True,
        unicode_form: str | None = None,
        max_chars: int | None = None,
        fold_characters: bool = False,
        keep_unknown: bool = False,
    ) -> None:
        self._ops = ops
        self._unicode_form = unicode_form
        self.max_chars = max_chars
        self._alphabet = alphabet
        self._keep_unknown = keep_unknown and alphabet is not None
        normalized = normalized_code_points(lowercase)
        if self._keep_unknown:
            is_changed = normalized != np.arange(len(normalized))
            capitals = np.flatnonzero(is_changed)
            small = normalized[capitals]
            capitals = np.append(capitals, PAST_CODES).astype(np.int32)
            self._capitals = ops.constant(capitals)
            self._small = ops.constant(np.append(small, np.int32(SPACE)))
        if alphabet is None:
            self._space = SPACE
            symbols = normalized
            codes = np.arange(len(symbols))
        else:
            self._space = SPACE_SYMBOL
            symbols = alphabet.symbol_table(lowercase)
            codes = alphabet.symbol_codes()
            every_symbol = np.arange(len(codes))
            self._code_points = ops.constant(alphabet.code_points(every_symbol))
        if dictionary is not None:
            symbols = marked_symbols(symbols, codes, has_alphabet=alphabet is not None)
        self._symbols = ops.constant(symbols)
        self._fold = None
        if fold_characters and alphabet is not None:
            self._fold = CharacterFolder(alphabet, self._unmarked, ops)
        self._corrector = None
        #: Lookup tables, which a SavedModel must track.
        self.resources: list[Any] = []
        if dictionary is not None:
            if self._fold is not None:
                dictionary = dictionary.respelled(self.folded)
            self._corrector = WordCorrector(dictionary, codes, ops)
            self.resources = self._corrector.resources

    def __call__(self, texts: Any) -> Batch:
        """Reads a batch of texts."""
        return self.readings(texts, SHOWN_SHARE).read

    def readings(self, texts: Any, min_share: float = MIN_SHARE) -> Readings:
        """Reads a batch of texts, also with words that may well be right.

        Args:
            texts: The texts.
            min_share: The share that a reading must exceed.
        """
        return self._read(texts, min_share)

    def _read(self, texts: Any, min_share: Array) -> Readings:
        ops = self._ops
        texts = shortened(ops, texts, self.max_chars)
        codes, boundaries = self._codes(texts)
        symbols = self._marked(codes)
        if self._alphabet is None:
            # Code points past the table are normalized already.
            symbols = ops.where(codes < len(self._symbols), symbols, codes)
        if self._keep_unknown:
            symbols = self._with_unknown(symbols, codes)
        batch = collapse(ops, symbols, boundaries, self._space, self.max_chars)
        if self._corrector is None:
            return certain(ops, batch)
        return self._corrector(batch, min_share)

    def _codes(self, texts: Any) -> tuple[Array, Array]:
        """Returns the code points of a batch, and the spaces between the texts."""
        ops = self._ops
        codes, boundaries = decode(ops, texts, self._unicode_form)
        fold = self._fold
        if fold is None:
            return codes, boundaries
        return ops.cond(
            ops.any_of(codes >= FIRST_BEYOND_ASCII),
            lambda: fold(codes, boundaries),
            lambda: (codes, boundaries),
        )

    def _marked(self, codes: Array) -> Array:
        """Returns the symbols of code points, with marks if there is a dictionary."""
        return self._ops.take_clipped(self._symbols, codes)

    def _unmarked(self, codes: Array) -> Array:
        """Returns the symbols of code points."""
        return self._marked(codes) & SYMBOL

    def _with_unknown(self, symbols: Array, codes: Array) -> Array:
        """Adds the code points of unknown characters to their symbols."""
        ops = self._ops
        is_unknown = (symbols & SYMBOL) == OTHER_SYMBOL

        def added() -> Array:
            places = ops.positions_of_true(is_unknown)
            chars = ops.take(codes, places)
            # Characters outside the alphabet were not lowercased by the table of symbols.
            rows, is_capital = rows_in(ops, self._capitals, chars)
            small = ops.take(self._small, rows)
            chars = ops.where(is_capital, small, chars)
            marks = ops.take(symbols, places)
            # In place of the symbol that all unknown characters share.
            unknown = marks + chars + (UNKNOWN - OTHER_SYMBOL)
            return ops.put(symbols, places, unknown)

        return ops.cond(ops.any_of(is_unknown), added, lambda: symbols)

    def strings(self, texts: Any) -> Any:
        """Returns texts as their n-grams see them, a list or a string tensor `(batch,)`.

        They are normalized, folded, corrected and cut, without the spaces at both ends. Characters
        that all have one symbol are U+FFFD.
        """
        symbols, starts, ends, _ = self(texts)
        firsts = self._ops.minimum(starts + 1, ends)
        return self._ops.encode(self._code_points_of(symbols), firsts, ends)

    def string(self, batch: Batch) -> str:
        """Returns the first text of a batch as its n-grams see it, with a space at both ends."""
        # Truncated parts follow the space at the end.
        symbols = batch.symbols[: batch.ends[0] + 1]
        codes = np.asarray(self._code_points_of(symbols))
        return "".join(map(chr, codes.tolist()))

    def folded(self, texts: Sequence[str]) -> list[str]:
        """Folds texts with `fold_characters`; returns them unchanged without it."""
        if self._fold is None:
            return list(texts)
        ops = self._ops
        codes, boundaries = self._codes(ops.text_batch(texts))
        # Without the space before each text.
        starts = boundaries[:-1] + 1
        written = ops.encode(codes, starts, boundaries[1:])
        return ops.text_list(written)

    def _code_points_of(self, symbols: Array) -> Array:
        """Returns the code points of symbols, int32 `(num_symbols,)`."""
        ops = self._ops
        if self._alphabet is None:
            return symbols
        is_known = symbols < UNKNOWN
        known = ops.where(is_known, symbols, OTHER_SYMBOL)
        codes = ops.take(self._code_points, known)
        return ops.where(is_known, codes, symbols - UNKNOWN)

    def known_share(self, texts: Any) -> Array:
        """Returns the share of visible characters that have symbols, float32 `(batch,)`.

        It is 1 for a text without visible characters, and without an alphabet.
        """
        ops = self._ops
        symbols, starts, ends, _ = self(ops.text_batch(texts))
        if self._alphabet is None:
            return ops.full_like(starts, 1, np.float32)
        # The space before a text is not one of its characters.
        firsts = starts + 1
        num_spaces = num_between(ops, symbols == self._space, firsts, ends)
        num_visible = ops.maximum(ends - firsts - num_spaces, 1)
        is_unknown = (symbols == OTHER_SYMBOL) | (symbols >= UNKNOWN)
        num_unknown = num_between(ops, is_unknown, firsts, ends)
        unknown_share = ops.cast_to(num_unknown / num_visible, "float32")
        return 1 - unknown_share

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

    def _read_words(self, words: list[str]) -> list[str]:
        """Corrects lowercase words; joined words get spaces between them.

        A word with a character that has no symbol is returned as it is.
        """
        ops = self._ops
        strings = self.strings(ops.text_batch(words))
        read = []
        for word, other in zip(words, ops.text_list(strings), strict=True):
            read.append(word if REPLACEMENT in other else other)
        return read
