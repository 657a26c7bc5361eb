"""Text handling and character n-grams (Charagram, sections 3 and 4.1.2)."""

from collections import Counter
from collections.abc import Iterable, Sequence

WHITE_SPACE = frozenset(
    chr(code)
    for code in (
        *range(0x0009, 0x000E), 0x0020, 0x0085, 0x00A0, 0x1680, *range(0x2000, 0x200B), 0x2028,
        0x2029, 0x202F, 0x205F, 0x3000,
    )
)  # fmt: skip
"""Unicode's White_Space property. `str.isspace` is wider: it also takes U+001C to U+001F."""


def lower_char(char: str) -> str:
    """Lowercases one code point; U+0130, whose lowercase form has two, is unchanged."""
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char


def _collapse(text: str) -> str:
    """Replaces every run of white space by one space."""
    chars: list[str] = []
    in_white_space = False
    for char in text:
        if char not in WHITE_SPACE:
            chars.append(char)
        elif not in_white_space:
            chars.append(" ")
        in_white_space = char in WHITE_SPACE
    return "".join(chars)


def _strip(text: str) -> str:
    """Drops white space at both ends."""
    start, stop = 0, len(text)
    while start < stop and text[start] in WHITE_SPACE:
        start += 1
    while stop > start and text[stop - 1] in WHITE_SPACE:
        stop -= 1
    return text[start:stop]


def normalize(
    text: str | bytes,
    lower: bool = True,
    collapse: bool = True,
    strip: bool = True,
    pad: bool = True,
    max_chars: int | None = None,
) -> str:
    """Brings a text into the form whose n-grams are counted.

    The steps run in the order of the arguments, except that `max_chars` cuts before padding.

    Args:
        text: The text. Bytes are read as UTF-8, each bad sequence becoming U+FFFD.
        lower: Lower-case code point by code point, never changing the length. Because no
            neighbour is looked at, a capital sigma always becomes U+03C3, also at a word's end.
        collapse: Make every run of white space one space.
        strip: Drop white space at both ends, also where `max_chars` left some.
        pad: Put one space before and one after.
        max_chars: Keep this many code points, padding not counted; None keeps all.

    Returns:
        The text; empty if nothing but white space is left, padded or not.

    Examples:
        >>> normalize("  The  Cat ")
        ' the cat '
        >>> normalize(" ")
        ''
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    if lower:
        text = "".join(lower_char(char) for char in text)
    if collapse:
        text = _collapse(text)
    if strip:
        text = _strip(text)
    if max_chars is not None:
        text = text[:max_chars]
        if strip:
            text = _strip(text)
    if not _strip(text):
        return ""
    return f" {text} " if pad else text


def ngrams(text: str | bytes, orders: Iterable[int], **options) -> list[str]:
    """Lists all n-grams of a text, repeated ones as often as they occur.

    Args:
        text: The raw text. A text already normalized gives the same n-grams.
        orders: The lengths n, each at least 1; an order given twice counts once.
        **options: Passed to `normalize`.

    Returns:
        The n-grams by start position, and at one position by ascending n.

    Examples:
        >>> ngrams("ab", (2, 3))
        [' a', ' ab', 'ab', 'ab ', 'b ']
    """
    orders = sorted(set(orders))
    text = normalize(text, **options)
    return [
        text[start : start + n]
        for start in range(len(text))
        for n in orders
        if start + n <= len(text)
    ]


def count_ngrams(texts: Iterable[str | bytes], orders: Iterable[int], **options) -> Counter:
    """Counts n-grams over texts, every occurrence in every text."""
    orders = tuple(orders)
    counts: Counter = Counter()
    for text in texts:
        counts.update(ngrams(text, orders, **options))
    return counts


def vocabulary(
    texts: Iterable[str | bytes],
    orders: Sequence[int],
    min_count: int = 1,
    max_per_order: int | None = None,
    **options,
) -> list[str]:
    """Chooses the n-grams V a model has vectors for (Charagram 4.1.2 and 4.4).

    Args:
        texts: Raw texts.
        orders: The lengths n.
        min_count: The lowest count of an n-gram in V.
        max_per_order: Keep the most frequent of each order, of equally frequent ones the
            smaller in code point order, with the space first; None keeps all.
        **options: Passed to `normalize`.

    Returns:
        V by ascending n, then descending count, then code point order.
    """
    counts = count_ngrams(texts, orders, **options)
    chosen: list[str] = []
    for n in sorted(set(orders)):
        of_order = [ngram for ngram in counts if len(ngram) == n and counts[ngram] >= min_count]
        of_order.sort(key=lambda g: (-counts[g], [ord(c) if c != " " else -1 for c in g]))
        chosen += of_order if max_per_order is None else of_order[:max_per_order]
    return chosen
