"""Splits strings into words, inside the graph.

First, code points are folded: lowercased, white space and invisible separators to single spaces,
typographic apostrophes to ASCII ones. Then a regular expression puts spaces around words and
punctuation marks, at which tensorflow-text's `WhitespaceTokenizer` splits. (Its
`UnicodeScriptTokenizer` keeps "1999," together, because digits and punctuation share a script, and
splits "don't" and a letter with a combining accent.)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tf_charagram._common.devices import on_cpu
from tf_charagram._common.flat import between
from tf_charagram._common.lazy import tensorflow_text
from tf_charagram.text._algorithm import graph
from tf_charagram.text._algorithm.code_points import SPACE, normalized_code_points
from tf_charagram.text._algorithm.flat import collapse, decode, shortened

_APOSTROPHES = (0x2019, 0x02BC, 0xFF07)
# Control characters, marks of text direction, zero-width spaces, the byte order mark.
_SEPARATORS = (
    *range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
    0x2060, *range(0x2066, 0x206A), 0xFEFF,
)  # fmt: skip

# Letters, marks and digits except Chinese characters. RE2 has no difference of classes.
_LETTER = r"[^\pP\pS\pZ\p{Cc}\p{Cf}\p{Han}]"
_TOKEN = "|".join(
    (
        r"\p{Nd}+(?:[.,]\p{Nd}+)+",  # 3.14 and 1,000
        r"\p{Han}\pM*",  # Chinese is written without spaces: each character is a word
        # Persian and Indic words contain joiners; o'clock contains an apostrophe.
        rf"{_LETTER}(?:{_LETTER}|\p{{Cf}}+{_LETTER})*(?:'{_LETTER}+)*",
        r"(?i:'(?:s|re|ve|ll|d|m))\b",
        r"\x{FFFD}+",
        r"[\pP\pS](?:[\pM\x{1F3FB}-\x{1F3FF}]|\x{200D}\pS)*",  # an emoji with its parts
    )
)
_CONTRACTION = rf"(?i)({_LETTER})(n't|'(?:s|re|ve|ll|d|m))\b"

# Contractions of the Penn Treebank, also those without an apostrophe.
_PENN_SPLITS = (
    _CONTRACTION,
    r"(?i)\b(can)(not)\b",
    r"(?i)\b(gon|wan)(na)\b",
    r"(?i)\b(got)(ta)\b",
)
# The first alternative that matches wins, so longer ones come first.
_PENN_TOKEN = "|".join(
    (
        r"(?i:https?://|www\.)[^\s<>\"]*[\pL\pN/]",
        # Bounded, because otherwise each letter of a long text would search for the @ to its end.
        r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[\pL\pN.-]*[\pL\pN]",
        r"(?:\p{Nd}-)?(?:\p{Nd}{3}[.-]){1,2}\p{Nd}{4}\b",  # 713-555-0123
        r"\p{Nd}+(?:[.,:/]\p{Nd}+)+",  # 3.14, 1,000, 10:30 and 9/11
        r"(?:[A-Za-z]\.){2,}|[A-HJ-Z]\.",  # U.S., p.m. and J., but not I.
        r"(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Ltd|Co|Corp|Prof|Gen|Sen|Rep|Gov|Lt|Ft|Jan|Feb|Aug|Sept|Oct"
        r"|Nov|Dec|vs)\.",
        r"\p{Lu}+&\p{Lu}+",  # AT&T
        r"[:;=]'?-?[()DP]|\^_\^|<3",  # emoticons
        r"\.{2,}|[!?]+|-{2,}|={2,}|\*{2,}|_{2,}|~{2,}|<{2,}|>{2,}",
        # Prefixes belong to their words; other hyphens are tokens.
        rf"(?i:e|anti|ex|mid|multi|non|post|pre|pro|re|semi)-{_LETTER}+",
        _TOKEN,
    )
)


def split_words(
    texts: tf.Tensor, lowercase: bool, unicode_form: str | None, max_chars: int | None
) -> tf.RaggedTensor:
    """Splits texts into words, halves of English contractions, and single punctuation marks.

    Args:
        texts: String tensor `(batch,)`, UTF-8.
        lowercase: Whether texts are lowercased.
        unicode_form: Unicode normalization form, applied first, or `None`.
        max_chars: Maximum length of a text, or `None`.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    texts = shortened(graph, texts, max_chars)
    codes, boundaries = decode(graph, texts, unicode_form)
    flat = collapse(graph, _fold(codes, lowercase), boundaries, SPACE, max_chars)
    # Texts may share a space, and truncated parts lie between them.
    return _split_folded(between(flat.symbols, flat.starts, flat.ends))


@on_cpu
def split_tokens(
    texts: tf.Tensor,
) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
    """Splits texts into tokens as they are written, with their offsets, as a tagger reads them.

    Tokens follow English treebanks: addresses, telephone numbers, times, abbreviations such as
    `U.S.` and `Dr.`, emoticons, runs such as `...` and `?!`, and words with a prefix such as
    `e-mail` are one token, `cannot` and `gonna` are two, `don't` gives `do n't`, and other hyphens
    are tokens.

    All operations run on the CPU and contain no Python. Needs tensorflow-text, also to serve an
    exported model.

    Args:
        texts: String tensor `(batch,)`, UTF-8; broken bytes are read as U+FFFD.

    Returns:
        Tokens, `tf.RaggedTensor` of strings `(batch, None)`; their starts and ends, both
        `tf.RaggedTensor` int32 `(batch, None)`: `text[start:end]` is the token, in code points.
        White space and control characters are in no token.
    """
    codes, boundaries = graph.decode(texts)
    folded = _fold(codes, lowercase=False)
    first = boundaries[:-1] + 1
    inside = between(folded, first, boundaries[1:])
    words = _split_folded(inside, _PENN_SPLITS, _PENN_TOKEN)
    # Folding maps code point to code point and splitting only adds spaces, so the characters of
    # the tokens are, in order, the visible characters of the text.
    visible = tf.cast(graph.positions_of_true(folded != SPACE), tf.int32)
    lengths = tf.strings.length(words.values, unit="UTF8_CHAR")
    num_before = graph.splits_of(lengths)
    starts = tf.gather(visible, num_before[:-1])
    ends = tf.gather(visible, num_before[1:] - 1) + 1
    # The tokens as written, not as folded.
    tokens = tf.strings.unicode_encode(between(codes, starts, ends), "UTF-8", errors="replace")
    offset = tf.gather(first, words.value_rowids())
    return (
        words.with_values(tokens),
        words.with_values(starts - offset),
        words.with_values(ends - offset),
    )


def _fold(codes: tf.Tensor, lowercase: bool) -> tf.Tensor:
    """Folds code points, int32 of any shape, one to one."""
    table = _folded_code_points(lowercase)
    folded = graph.take_clipped(tf.constant(table), codes)
    # Code points past the table are folded already.
    return tf.where(codes < len(table), folded, codes)


def _split_folded(
    codes: tf.RaggedTensor, splits: Sequence[str] = (_CONTRACTION,), token: str = _TOKEN
) -> tf.RaggedTensor:
    """Splits folded texts; only spaces are lost.

    Args:
        codes: Folded code points of each text, int32 `(batch, None)`.
        splits: Expressions of two groups to insert a space between; applied first, in order.
        token: Expression of a token in a string without spaces.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    texts = tf.strings.unicode_encode(codes, "UTF-8", errors="replace")
    for pattern in splits:
        texts = tf.strings.regex_replace(texts, pattern, r"\1 \2")
    texts = tf.strings.regex_replace(texts, token, r" \0 ")
    return _whitespace_tokenizer().tokenize(texts)


@functools.cache
def _folded_code_points(lowercase: bool) -> np.ndarray:
    """Returns a table from code points to folded ones, int32 `(table_size,)`.

    White space and invisible separators become U+0020, apostrophes U+0027.
    """
    table = normalized_code_points(lowercase).copy()
    table[list(_SEPARATORS)] = SPACE
    table[list(_APOSTROPHES)] = ord("'")
    table.setflags(write=False)
    return table


@functools.cache
def _whitespace_tokenizer() -> Any:
    return tensorflow_text().WhitespaceTokenizer()
