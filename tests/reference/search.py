"""Similarities of two texts from their definitions, one pair at a time."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tests.reference.spelling import osa_distance

SIGNS = "+#*<>=~^$"


def words(text: str) -> list[str]:
    """Returns the lowercase words of a text with their signs, without accents.

    The signs are those of ASCII.

    Examples:
        >>> words("Café-Bar, 2!"), words(" !? "), words("C++ -5 +5 A-")
        (['cafe', 'bar', '2'], ['!?'], ['c++', '-5', '5', 'a-'])
    """
    letters = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    found = []
    for match in re.finditer(r"\w+", plain):
        start, end = match.span()
        word = match[0]
        run = re.search(rf"[-{re.escape(SIGNS)}]*$", plain[:start])[0]
        before = plain[: start - len(run)][-1:]
        if word[0] in "0123456789" and run and not re.match(r"\w", before or " "):
            word = ("" if run[-1] in "+#*" else run) + word
        rest = plain[end:]
        run = re.match(r"[+#*]+", rest) or re.match(r"[+#*<>=~^$]+(?!\w)", rest)
        if run is not None:
            word += run[0]
        elif end - start <= 3 and re.match(r"-(?!\w)", rest):
            word += "-"
        found.append(word)
    return found or plain.split()


def respelled(text: str, counted: Sequence[str]) -> list[str]:
    """Returns the words of a text, joined and split as the counted texts have them.

    Examples:
        >>> respelled("wal mart", ["Walmart"]), respelled("walmart", ["Wal-Mart"])
        (['walmart'], ['wal', 'mart'])
    """
    bags = [words(other) for other in counted]
    known = {word for bag in bags for word in bag}
    adjacent = {
        "".join(bag[start : start + n])
        for bag in bags
        for n in (2, 3)
        for start in range(len(bag) - n + 1)
    }
    left, joined = words(text), []
    while left:
        for count in (3, 2, 1):
            parts = left[:count]
            touches = any(a[-1].isdigit() and b[0].isdigit() for a, b in pairwise(parts))
            if count == 1 or (len(parts) == count and "".join(parts) in known and not touches):
                joined.append("".join(parts))
                del left[:count]
                break
    found = []
    for word in joined:
        splits = [[word]]
        if word not in known and word in adjacent:
            places = range(1, len(word))
            for one in places:
                splits.append([word[:one], word[one:]])
                splits += [[word[:one], word[one:two], word[two:]] for two in places if two > one]
        fitting = [parts for parts in splits if known.issuperset(parts)]
        found += fitting[0] if fitting else [word]
    return found


def ngrams(bag: Sequence[str]) -> Counter[str]:
    """Returns the n-grams of 2 and 3 characters of the words of a text, with their counts.

    Examples:
        >>> ngrams(["a", "a"])
        Counter({' a': 2, 'a ': 2, ' a ': 2})
    """
    padded = [f" {word} " for word in bag]
    return Counter(
        word[start : start + n]
        for word in padded
        for n in (2, 3)
        for start in range(len(word) - n + 1)
    )


def idf(count: float, num_texts: int) -> float:
    """Returns `1 + log((1 + n) / (1 + df))`."""
    return 1 + math.log((1 + num_texts) / (1 + count))


def word_counts(counted: Sequence[str]) -> Counter[str]:
    """Returns the number of texts with each word, also in two or three parts next to each other.

    Examples:
        >>> sorted(word_counts(["Walmart", "Wal-Mart"]).items())
        [('mart', 1), ('wal', 1), ('walmart', 2)]
    """
    bags = [words(text) for text in counted]
    counts = Counter(word for bag in bags for word in set(bag))
    joined = Counter(
        "".join(bag[start : start + n])
        for bag in bags
        for n in (2, 3)
        for start in range(len(bag) - n + 1)
    )
    return Counter({w: min(count + joined[w], len(bags)) for w, count in counts.items()})


def ngram_counts(counts: Counter[str], num_texts: int) -> dict[str, float]:
    """Returns the number of texts with each n-gram, if words are independent of each other."""
    absent: dict[str, float] = {}
    for word, count in counts.items():
        for ngram in ngrams([word]):
            absent[ngram] = absent.get(ngram, 1.0) * (1 - count / num_texts)
    return {ngram: num_texts * (1 - share) for ngram, share in absent.items()}


def tfidf(bag: Sequence[str], counts: Mapping[str, float], num_texts: int) -> dict[str, float]:
    """Returns the weights of the n-grams of words, of unit length, from counts of n-grams."""
    weights = {
        ngram: (1 + math.log(count)) * idf(counts[ngram], num_texts)
        for ngram, count in ngrams(bag).items()
        if ngram in counts
    }
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return {ngram: weight / length for ngram, weight in weights.items()}


def similarity(left: str, right: str) -> float:
    """Returns 1 - the edit distance over the length of the longer word.

    Examples:
        >>> similarity("teh", "the").__round__(2), similarity("", "")
        (0.67, 1.0)
    """
    return 1 - osa_distance(left, right) / max(len(left), len(right), 1)


def soft_tfidf(
    lefts: Sequence[str], rights: Sequence[str], counts: Counter[str], num_texts: int
) -> float:
    """Returns the part of the words that both have, similar ones squared.

    For words v of the first and w of the second, sum of idf(v)^2 max(sim(v, w))^2, or the same for
    words of the second if it is larger, over the product of the lengths of both idf vectors, at
    most 1; similarities below 0.6 are 0. If the longer text
    has n > 20 words, 1 - 20/n of it is the same over the square of the smaller length.
    """
    if not lefts or not rights:
        return 0.0
    totals = [0.0, 0.0]
    for side, (bag, others) in enumerate(((lefts, rights), (rights, lefts))):
        for word in bag:
            nearest = max(similarity(word, other) for other in others)
            totals[side] += idf(counts[word], num_texts) ** 2 * (nearest >= 0.6) * nearest**2
    total = max(totals)
    lengths = [
        math.hypot(*(idf(counts[word], num_texts) for word in bag)) for bag in (lefts, rights)
    ]
    part = max(1 - 20 / max(len(lefts), len(rights)), 0)
    of_both = total / math.prod(lengths)
    return min((1 - part) * of_both + part * total / min(lengths) ** 2, 1)


def rarest(left: str, right: str, counted: Sequence[str]) -> float:
    """Returns the weight of the rarest common word, 1 for a word of one text.

    The largest min(idf(v), idf(w)) sim(v, w)^2 of words v and w of both, over the idf of a word of
    one text, at most 1.
    """
    num_texts = len(counted)
    counts = word_counts(counted)
    found = 0.0
    for word in respelled(left, counted):
        for other in respelled(right, counted):
            weight = min(idf(counts[each], num_texts) for each in (word, other))
            alike = similarity(word, other)
            found = max(found, weight * (alike >= 0.6) * alike**2)
    return min(found / idf(1, num_texts), 1)


def codes(left: str, right: str) -> tuple[float, float]:
    """Returns the length of the longest common code over 10, and the share that differs.

    A code is a word of at least 4 characters with a digit, or a number of several parts without
    the characters between them; it is common if the other text has it too, or contains it without
    its spaces. The first result is reduced by the second.

    Examples:
        >>> codes("tv kd55x9000", "KD-55 X9000"), codes("tv ab12", "tv ab13"), codes("tv", "ab13")
        ((0.9, 0.0), (0.0, 1.0), (0.0, 0.0))
        >>> codes("1001 100.00 2024-01-05", "1001 100.00 2024-01-06"), codes("c++", "c")
        ((0.2666666666666667, 0.3333333333333333), (0.0, 1.0))
    """
    found = []
    for text in (left, right):
        those = {w for w in words(text) if len(w) >= 4 and re.search(r"\d", w)}
        those |= {w for w in words(text) if re.search(r"\w", w) and bare(w) != w}
        for number in re.findall(r"(?<!\w)\d+(?:[.,:/-]\d+)+(?!\w)", text):
            those -= set(re.findall(r"\d+", number))
            digits = re.sub(r"\D", "", number)
            if len(digits) >= 4:
                those.add(re.sub(r"\D", "", re.sub(r"\.00?$", "", number)))
        found.append(those)
    joined = ["".join(words(text)) for text in (left, right)]
    common = [set(), set()]
    for side in (0, 1):
        for code in found[side]:
            is_inside = code in joined[1 - side] and (len(code) >= 7 or not code.isdecimal())
            if code in found[1 - side] or is_inside:
                common[side].add(code)
    rest = [found[side] - common[side] for side in (0, 1)]
    signed = [w for side in (0, 1) for w in rest[side] if bare(w) != w]
    num_signed = sum(
        bare(w) in joined[1 - side] for side in (0, 1) for w in rest[side] if w in signed
    )
    num_different = max(min(map(len, rest)), num_signed)
    share = num_different / max(max(map(len, common)) + num_different, 1)
    longest = max(map(len, common[0] | common[1]), default=0)
    return min(longest / 10, 1) * (1 - share), share


def bare(word: str) -> str:
    """Returns a word without signs; dollars stay."""
    return re.sub(r"[^\w$]", "", word)


def score(
    left: str,
    right: str,
    counted: Sequence[str],
    cosine: float | None,
    long: Sequence[float],
    single: Sequence[float],
    step: float = 0.2,
    penalty: float = 0.3,
) -> float:
    """Returns the mixture of the four similarities, moved by codes.

    Args:
        left: A text.
        right: A text.
        counted: The texts to count n-grams and words in.
        cosine: Cosine of the vectors of both; `None` if there is no model.
        long: Weights of cosine, n-grams, words and letters in long texts.
        single: Weights in single words.
        step: How far a common code moves a score to 1.
        penalty: How far different codes move it to 0.
    """
    written = words(left), words(right)
    if written[0] and written[0] == written[1] and (cosine is None or cosine >= 1 - 1e-5):
        return 1.0
    if written[0] and left == right:
        return 1.0
    num_texts = len(counted)
    counts = word_counts(counted)
    of_ngrams = ngram_counts(counts, num_texts)
    lefts, rights = (respelled(text, counted) for text in (left, right))
    one, other = (tfidf(bag, of_ngrams, num_texts) for bag in (lefts, rights))
    similarities = (
        cosine or 0.0,
        sum(weight * other.get(ngram, 0) for ngram, weight in one.items()),
        soft_tfidf(lefts, rights, counts, num_texts),
        similarity(*map(" ".join, written)) if written[0] else 0.0,
    )
    share = 1 / max(len(lefts), len(rights), 1)
    total = 0.0
    for weights, part in ((long, 1 - share), (single, share)):
        used = [0.0 if cosine is None else weights[0], *weights[1:]]
        total += part * sum(w * s for w, s in zip(used, similarities, strict=True)) / sum(used)
    total = min(max(total, 0), 1)
    common, differ = codes(left, right)
    total += step * common * (1 - total)
    return total * (1 - penalty * differ)
