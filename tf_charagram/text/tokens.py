"""Texts to tokens with their offsets, inside the graph: what a tagger reads.

Splitting maps code point to code point and puts only spaces between, so the characters of the
tokens are, in order, the visible characters of the text. A token of the visible characters `a` to
`b` starts where the `a`-th stands in the text and ends behind the `b`-th.
"""

from __future__ import annotations

import tensorflow as tf

from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.text.normalize import SPACE, decode
from tf_charagram.text.splitting import CONTRACTION, LETTER, TOKEN, fold, split_folded

# What the Penn Treebank splits without an apostrophe.
_PENN_SPLITS = (
    CONTRACTION,
    r"(?i)\b(can)(not)\b",
    r"(?i)\b(gon|wan)(na)\b",
    r"(?i)\b(got)(ta)\b",
)
# First match from the left, so that what is longer stands first.
_PENN_TOKEN = "|".join(
    (
        r"(?i:https?://|www\.)[^\s<>\"]*[\pL\pN/]",
        # Bounded, for else each letter of a long text would search to its end for the sign.
        r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@[\pL\pN.-]*[\pL\pN]",
        r"(?:\p{Nd}-)?(?:\p{Nd}{3}[.-]){1,2}\p{Nd}{4}\b",  # 713-555-0123
        r"\p{Nd}+(?:[.,:/]\p{Nd}+)+",  # 3.14, 1,000, 10:30 and 9/11
        r"(?:[A-Za-z]\.){2,}|[A-HJ-Z]\.",  # U.S., p.m. and J., but not I.
        r"(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Ltd|Co|Corp|Prof|Gen|Sen|Rep|Gov|Lt|Ft|Jan|Feb|Aug|Sept|Oct"
        r"|Nov|Dec|vs)\.",
        r"\p{Lu}+&\p{Lu}+",  # AT&T
        r"[:;=]'?-?[()DP]|\^_\^|<3",  # emoticons
        r"\.{2,}|[!?]+|-{2,}|={2,}|\*{2,}|_{2,}|~{2,}|<{2,}|>{2,}",
        # Prefixes stay with their words; other hyphens are tokens.
        rf"(?i:e|anti|ex|mid|multi|non|post|pre|pro|re|semi)-{LETTER}+",
        TOKEN,
    )
)
#: Expressions of what is split first, and of a token, by style.
STYLES = {"words": ((CONTRACTION,), TOKEN), "penn": (_PENN_SPLITS, _PENN_TOKEN)}


def split_tokens(
    texts: tf.Tensor, style: str = "words"
) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
    """Splits texts into tokens as they are written, with their offsets.

    Style `"words"` splits where `WordVectorizer` does. `"penn"` is nearer to English treebanks:
    addresses, telephone numbers, times, abbreviations such as `U.S.` and `Dr.`, emoticons, runs
    such as `...` and `?!`, and words with a prefix such as `e-mail` are one token, and `cannot` and
    `gonna` are two. In both, `don't` gives `do n't`, and other hyphens are tokens.

    All operations run on the CPU and contain no Python; tensorflow-text is needed also where an
    exported model is served.

    Args:
        texts: String tensor `(batch,)`, UTF-8; broken bytes are read as U+FFFD.
        style: `"words"` or `"penn"`.

    Returns:
        Tokens, `tf.RaggedTensor` of strings `(batch, None)`; where each starts and where it ends,
        both `tf.RaggedTensor` int32 `(batch, None)`: `text[start:end]` is the token, counted in
        code points. White space and control characters are in no token.

    Raises:
        ConfigError: `style` is unknown.
    """
    if style not in STYLES:
        raise ConfigError(unknown_name("token style", style, STYLES))
    with tf.device("CPU:0"):
        codes, boundaries = decode(texts)
        folded = fold(codes, lowercase=False)
        first, stop = boundaries[:-1] + 1, boundaries[1:]
        inside = tf.ragged.range(first, stop).with_row_splits_dtype(tf.int64)
        words = split_folded(inside.with_values(tf.gather(folded, inside.values)), *STYLES[style])
        visible = tf.cast(tf.where(tf.not_equal(folded, SPACE))[:, 0], tf.int32)
        behind = tf.cumsum(tf.strings.length(words.values, unit="UTF8_CHAR"))
        ends = tf.gather(visible, behind - 1) + 1
        starts = tf.gather(visible, tf.concat([[0], behind], axis=0)[:-1])
        positions = tf.ragged.range(starts, ends)
        tokens = tf.strings.unicode_encode(
            positions.with_values(tf.gather(codes, positions.values)), "UTF-8", errors="replace"
        )
        offset = tf.gather(first, words.value_rowids())
        return (
            words.with_values(tokens),
            words.with_values(starts - offset),
            words.with_values(ends - offset),
        )
