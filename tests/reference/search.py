"""Similarities of two texts from their definitions, one pair at a time."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from tests.reference.spelling import osa_distance


def words(text: str) -> list[str]:
    """Returns the lowercase words of a text, without accents.

    Example:
        >>> words("Café-Bar, 2!"), words(" !? ")
        (['cafe', 'bar', '2'], ['!?'])
    """
    letters = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.findall(r"\w+", plain) or plain.split()


def ngrams(text: str) -> Counter[str]:
    """Returns the n-grams of 2 and 3 characters of the words of a text, with their counts.

    Example:
        >>> ngrams("a a")
        Counter({' a': 2, 'a ': 2, ' a ': 2})
    """
    padded = [f" {word} " for word in words(text)]
    return Counter(
        word[start : start + n]
        for word in padded
        for n in (2, 3)
        for start in range(len(word) - n + 1)
    )


def idf(unit: str, bags: Sequence[Sequence[str] | Counter[str]]) -> float:
    """Returns `1 + log((1 + n) / (1 + df))`."""
    return 1 + math.log((1 + len(bags)) / (1 + sum(unit in bag for bag in bags)))


def tfidf(text: str, counted: Sequence[str]) -> dict[str, float]:
    """Returns the weights of the n-grams of a text, of unit length, counted in some texts."""
    bags = [ngrams(other) for other in counted]
    weights = {
        ngram: (1 + math.log(count)) * idf(ngram, bags)
        for ngram, count in ngrams(text).items()
        if any(ngram in bag for bag in bags)
    }
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return {ngram: weight / length for ngram, weight in weights.items()}


def similarity(left: str, right: str) -> float:
    """Returns 1 - the edit distance over the length of the longer word.

    Example:
        >>> similarity("teh", "the").__round__(2), similarity("", "")
        (0.67, 1.0)
    """
    return 1 - osa_distance(left, right) / max(len(left), len(right), 1)


def soft_tfidf(left: str, right: str, counted: Sequence[str]) -> float:
    """Returns the part of the words of `left` that `right` has, similar ones squared.

    For words v of `left` and w of `right`, sum of idf(v)^2 max(sim(v, w))^2 over the product of
    the lengths of both idf vectors, at most 1; similarities below 0.6 are 0.
    """
    bags = [words(other) for other in counted]
    lefts, rights = words(left), words(right)
    if not lefts or not rights:
        return 0.0
    total = 0.0
    for word in lefts:
        nearest = max(similarity(word, other) for other in rights)
        total += idf(word, bags) ** 2 * (nearest**2 if nearest >= 0.6 else 0)
    lengths = [math.hypot(*(idf(word, bags) for word in bag)) for bag in (lefts, rights)]
    return min(total / math.prod(lengths), 1)


def codes(left: str, right: str) -> tuple[float, bool]:
    """Returns the length of the longest common code over 10, and whether all codes differ.

    A code is a word of at least 4 characters with a digit; it is common if the other text, without
    its spaces, contains it.

    Example:
        >>> codes("tv kd55x9000", "KD-55 X9000"), codes("tv ab12", "tv ab13"), codes("tv", "ab13")
        ((0.9, False), (0.0, True), (0.0, False))
    """
    found = [
        [w for w in words(text) if len(w) >= 4 and re.search(r"\d", w)] for text in (left, right)
    ]
    joined = ["".join(words(text)) for text in (left, right)]
    common = [code for side in (0, 1) for code in found[side] if code in joined[1 - side]]
    differ = bool(found[0] and found[1] and not common)
    return min(max(map(len, common), default=0) / 10, 1), differ


def score(
    left: str,
    right: str,
    counted: Sequence[str],
    cosine: float | None,
    long: Sequence[float],
    single: Sequence[float],
    step: float = 0.2,
) -> float:
    """Returns the mixture of the four similarities, moved by codes.

    Args:
        left: A text.
        right: A text.
        counted: The texts to count n-grams and words in.
        cosine: Cosine of the vectors of both; `None` if there is no model.
        long: Weights of cosine, n-grams, words and letters in long texts.
        single: Weights in single words.
        step: How far codes move a score.
    """
    one, other = tfidf(left, counted), tfidf(right, counted)
    bags = words(left), words(right)
    similarities = (
        cosine or 0.0,
        sum(weight * other.get(ngram, 0) for ngram, weight in one.items()),
        soft_tfidf(left, right, counted),
        similarity(*map(" ".join, bags)) if bags[0] else 0.0,
    )
    share = 1 / max(*map(len, bags), 1)
    total = 0.0
    for weights, part in ((long, 1 - share), (single, share)):
        used = [0.0 if cosine is None else weights[0], *weights[1:]]
        total += part * sum(w * s for w, s in zip(used, similarities, strict=True)) / sum(used)
    total = min(max(total, 0), 1)
    common, differ = codes(left, right)
    total += step * common * (1 - total)
    return total * (1 - step * differ)
