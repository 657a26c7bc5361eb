"""Strings to words, inside the graph.

Texts become words in two steps. On code points: lower-case, white space and invisible separators to
single spaces, typographic apostrophes to ASCII ones. On strings: a space around every word and
punctuation mark by a regular expression, then tensorflow-text's `WhitespaceTokenizer`. (Its
`UnicodeScriptTokenizer` leaves "1999," one token, since digits and punctuation have the same
script, and takes "don't" and a letter with a combining accent apart.)
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import tensorflow as tf

from tf_charagram.text.batches import bounded_batches
from tf_charagram.text.normalize import SPACE, collapse, decode, normalized_code_points
from tf_charagram.text.tensors import string_tensor

_BATCH_TEXTS, _BATCH_CHARS = 10_000, 4_000_000
_APOSTROPHES = (0x2019, 0x02BC, 0xFF07)
# Control characters, marks of text direction, zero-width spaces, the byte order mark.
_SEPARATORS = (
    *range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
    0x2060, *range(0x2066, 0x206A), 0xFEFF,
)  # fmt: skip

# RE2, first match from the left. It has no difference of classes, hence the negated one: letters,
# marks and digits without Chinese characters.
LETTER = r"[^\pP\pS\pZ\p{Cc}\p{Cf}\p{Han}]"
TOKEN = "|".join(
    (
        r"\p{Nd}+(?:[.,]\p{Nd}+)+",  # 3.14 and 1,000
        r"\p{Han}\pM*",  # Chinese is written without spaces: each character is a word
        # Joiners stand inside words of Persian and of India; an apostrophe in o'clock.
        rf"{LETTER}(?:{LETTER}|\p{{Cf}}+{LETTER})*(?:'{LETTER}+)*",
        r"(?i:'(?:s|re|ve|ll|d|m))\b",
        r"\x{FFFD}+",
        r"[\pP\pS](?:[\pM\x{1F3FB}-\x{1F3FF}]|\x{200D}\pS)*",  # an emoji with its parts
    )
)
CONTRACTION = rf"(?i)({LETTER})(n't|'(?:s|re|ve|ll|d|m))\b"


def split_words(
    texts: tf.Tensor, lowercase: bool, unicode_form: str | None, max_chars: int | None
) -> tf.RaggedTensor:
    """Splits texts into words; see `WordVectorizer`.

    Args:
        texts: String tensor `(batch,)`, UTF-8.
        lowercase: Lower-case the texts.
        unicode_form: `None`, or a normalization form applied first.
        max_chars: Longest text that is kept, in characters, or `None`.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    codes, boundaries = decode(texts, unicode_form)
    flat = collapse(fold(codes, lowercase), boundaries, SPACE, max_chars)
    # Texts may overlap in a space, and truncated parts lie between them.
    inside = tf.ragged.range(flat.starts, flat.ends)
    inside = inside.with_row_splits_dtype(tf.int64)
    return split_folded(inside.with_values(tf.gather(flat.symbols, inside.values)))


def split_texts(
    texts: Iterable[str | bytes], *, lowercase: bool, max_chars: int | None = None
) -> Iterator[list[str]]:
    """Yields the words of each of some texts, which are read as a stream.

    Args:
        texts: The texts.
        lowercase: As for `split_words`.
        max_chars: As for `split_words`.
    """
    for batch in bounded_batches(texts, _BATCH_TEXTS, _BATCH_CHARS):
        for words in split_words(string_tensor(batch), lowercase, None, max_chars).to_list():
            yield [word.decode() for word in words]


def fold(codes: tf.Tensor, lowercase: bool) -> tf.Tensor:
    """Maps code points to those that texts are split by, one to one.

    White space and invisible separators become U+0020, apostrophes ASCII ones.

    Args:
        codes: int32, of any shape.
        lowercase: Lower-case them.
    """
    table = _folded_code_points(lowercase)
    folded = tf.gather(tf.constant(table), tf.minimum(codes, len(table) - 1))
    return tf.where(codes < len(table), folded, codes)


def split_folded(
    codes: tf.RaggedTensor, splits: Sequence[str] = (CONTRACTION,), token: str = TOKEN
) -> tf.RaggedTensor:
    """Splits folded texts; only spaces are lost.

    Args:
        codes: Code points of each text as `fold` gives them, int32 `(batch, None)`.
        splits: Expressions of two groups, between which a space is put; applied first, in order.
        token: Expression of a token inside what stands between two spaces.

    Returns:
        `tf.RaggedTensor` of strings `(batch, None)`, int64 row splits.
    """
    clean = tf.strings.unicode_encode(codes, "UTF-8", errors="replace")
    for pattern in splits:
        clean = tf.strings.regex_replace(clean, pattern, r"\1 \2")
    clean = tf.strings.regex_replace(clean, token, r" \0 ")
    return _whitespace_tokenizer().tokenize(clean)


@functools.cache
def _folded_code_points(lowercase: bool) -> np.ndarray:
    table = normalized_code_points(lowercase).copy()
    table[list(_SEPARATORS)] = SPACE
    table[list(_APOSTROPHES)] = ord("'")
    table.setflags(write=False)
    return table


@functools.cache
def _whitespace_tokenizer():  # type: ignore[no-untyped-def]
    if sys.platform == "win32":
        raise ImportError("Word encoders need tensorflow-text, which has no Windows build.")
    import tensorflow_text

    return tensorflow_text.WhitespaceTokenizer()
