"""Words that two texts have in common, and words in which they differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extractOne

from tf_charagram.search._pairs.flat_arrays import Floats, Ids, ones_of
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.names import COLORS
from tf_charagram.search.linkage._columns.values import folded

# Sizes, numerals, types, and words with digits: texts that differ in these are different things.
_CODE_LIKE = re.compile(r"\w{1,2}|x*[sml]|[ivx]+|\w*\d\w*")
# In longer texts, such as authors and titles of papers, short words are initials and prepositions.
_MAX_WORDS = 8
_OPPOSITES = ("un", "non", "in", "im", "dis")
# Words that negate the next one: "not" is left out, as it rarely tells things apart.
_NEGATIONS = frozenset("non without ohne senza".split())
# A quantity and its unit: 250 ml, 16gb.
_QUANTITY = re.compile(
    r"(?<!\S)(\d+) ?(ml|cl|l|kg|g|mg|oz|lbs?|gb|tb|mb|cm|mm|inch|in|ft|w|v|hp|mah|mhz|ghz|mp|pack|"
    r"pcs|tablets|capsules)(?!\S)"
)
_SIZES = frozenset("xs s m l xl xxl xxxl".split())
# The size of a garment stands at the end, next to its color.
_NUM_LAST = 3
# Words without digits are alike if so many percent of their letters are common, in their order.
_MIN_ALIKE = 60
# Pairs whose words are compared at the same time.
_BATCH = 50_000


class SharedWords:
    """Compares texts by the words that both have.

    Args:
        texts: Texts. Pairs name them by their positions; position -1 is an empty text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [[*dict.fromkeys(folded(text).split())] for text in texts]
        lists = WordLists.of_bags([*bags, []])
        # Words can be told from each other even if no text has any.
        num_words = max(len(lists.words), 1)
        self._words = ones_of(lists.ids, lists.splits, num_words)
        counts = np.bincount(lists.ids, minlength=num_words)
        idf = np.log1p(len(lists) / np.maximum(counts, 1))
        # The rarest word of all weighs 1.
        self._weights = (idf / np.log1p(len(lists))).astype(np.float32)
        self._is_number = np.zeros(num_words, np.float32)
        for number, word in enumerate(lists.words):
            self._is_number[number] = any(map(str.isdigit, word))
        self._totals = self._words @ self._weights
        self._num_numbers = self._words @ self._is_number
        # Texts without words differ from all others.
        self._first = np.full(len(lists), -1, np.int64)
        starts = lists.splits[:-1]
        has_words = starts < lists.splits[1:]
        self._first[has_words] = lists.ids[starts[has_words]]

    def features(self, left: Ids, right: Ids) -> Floats:
        """Compares pairs of texts, float32 `(num_pairs, 5)`.

        The common words over all words, by weight; the weight of the rarest common word; the
        common numbers over the fewer numbers; whether both have numbers of their own; and whether
        the first words are equal. Products of the same brand have different numbers.
        """
        blocks = [np.zeros((0, 5), np.float32)]
        for start in range(0, len(left), _BATCH):
            block = slice(start, start + _BATCH)
            blocks.append(self._block(left[block], right[block]))
        return np.concatenate(blocks)

    def _block(self, left: Ids, right: Ids) -> Floats:
        common = self._words[left].multiply(self._words[right]).tocsr()
        shared = common @ self._weights
        either = self._totals[left] + self._totals[right] - shared
        rarest = common.multiply(self._weights[np.newaxis]).max(axis=1).toarray()
        num_shared = common @ self._is_number
        fewer = np.minimum(self._num_numbers[left], self._num_numbers[right])
        has_others = fewer > num_shared
        first = self._first[left]
        has_first = (first == self._first[right]) & (first >= 0)
        features = [
            shared / np.maximum(either, 1e-6),
            rarest.ravel(),
            num_shared / np.maximum(fewer, 1),
            has_others,
            has_first,
        ]
        return np.stack(features, axis=1).astype(np.float32)


def contradict(left: str, right: str) -> bool:
    """Tells whether texts differ in codes only, or in opposite or negated words.

    Args:
        left: Words in lowercase, without accents and marks.
        right: The same.

    Examples:
        >>> contradict("aspirin 100 mg", "aspirin 500 mg"), contradict("drill 12 v", "drill 12v")
        (True, False)
        >>> contradict("t shirt l", "t shirt xl"), contradict("rocky ii", "rocky iii")
        (True, True)
        >>> contradict("butter salted", "unsalted butter")
        True
        >>> contradict("organic red ale", "red ale non organic")
        True
        >>> contradict("soap mint 250 ml", "soap 400ml lime"), contradict("red hat", "hat")
        (True, False)
    """
    left_words = left.split()
    right_words = right.split()
    left_set, right_set = {*left_words}, {*right_words}
    rest = left_set ^ right_set
    if not COLORS.isdisjoint(rest) and _are_different(COLORS, left_words, right_words):
        return True
    if _are_different(_SIZES, left_words[-_NUM_LAST:], right_words[-_NUM_LAST:]):
        return True
    if _have_other_amounts(left, right):
        return True
    if any(prefix + word in rest for word in rest for prefix in _OPPOSITES):
        return True
    if not _NEGATIONS.isdisjoint(rest):
        for words, others in ((left_words, right_set), (right_words, left_set)):
            for negation in _NEGATIONS.intersection(words) - others:
                following = words[words.index(negation) + 1 :]
                if following and following[0] in others:
                    return True
    left_rest = _others(left_words, right_set)
    right_rest = _others(right_words, left_set)
    # 12 V is 12V.
    is_same = "".join(left_rest) == "".join(right_rest)
    if is_same or not left_rest or not right_rest:
        return False
    if len(left_words) + len(right_words) > 2 * _MAX_WORDS:
        return all(any(map(str.isdigit, word)) for word in rest)
    return all(map(_CODE_LIKE.fullmatch, rest))


def are_all_alike(left: str, right: str) -> bool:
    """Tells whether each word of two texts is like a word of the other one, or a part of it.

    Args:
        left: Words in lowercase, without accents and marks.
        right: The same.

    Examples:
        >>> are_all_alike("anna smith berlin", "ana smiht berlin"), are_all_alike("anna", "dr anna")
        (True, False)
    """
    left_words = [*dict.fromkeys(left.split())]
    right_words = [*dict.fromkeys(right.split())]
    left_rest = _others(left_words, right_words)
    right_rest = _others(right_words, left_words)
    return _have_alike(left_rest, right_rest) and _have_alike(right_rest, left_rest)


def _others(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Returns the words that another text does not have."""
    return [word for word in words if word not in known]


def _have_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    """Tells whether each of some words has one that is like it among other ones."""
    joined = "".join(others)
    for word in words:
        # A space may be missing, or too much.
        if word in joined or any(other in word for other in others):
            continue
        if any(map(str.isdigit, word)):
            return False
        if extractOne(word, others, scorer=ratio, score_cutoff=_MIN_ALIKE) is None:
            return False
    return True


def _are_different(known: frozenset[str], left: list[str], right: list[str]) -> bool:
    """Tells whether both texts have known words, such as colors, and no equal one."""
    own = known.intersection(left)
    return bool(own) and not known.isdisjoint(right) and own.isdisjoint(right)


def _have_other_amounts(left: str, right: str) -> bool:
    """Tells whether both texts have an amount in a unit, and no equal one."""
    amounts: dict[str, set[str]] = {}
    for amount, unit in _QUANTITY.findall(left):
        amounts.setdefault(unit, set()).add(amount)
    for unit in amounts:
        others = {amount for amount, each in _QUANTITY.findall(right) if each == unit}
        if others and not others & amounts[unit]:
            return True
    return False
