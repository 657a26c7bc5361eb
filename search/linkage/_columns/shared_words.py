"""Words that two texts have in common, and words in which they differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import ratio
from rapidfuzz.process import cpdist, extractOne

from tf_charagram.search._pairs.flat_arrays import (
    Flags,
    Floats,
    Ids,
    blocks,
    distinct_integers,
    lengths_of,
    list_numbers,
    numbered,
    ones_of,
    runs_of,
)
from tf_charagram.search._pairs.similarities import MAX_SPELLED_WORDS
from tf_charagram.search._pairs.word_lists import WordLists
from tf_charagram.search.linkage._columns.names import COLORS
from tf_charagram.search.linkage._columns.values import abbreviates, folded, has_digit
from tf_charagram.text._algorithm.arrays import positions

# Sizes, numerals, types, and words with digits: texts that differ in these are different things.
_CODE_LIKE = re.compile(r"\w{1,2}|x*[sml]|[ivx]+|\w*\d\w*")
# In longer texts, such as authors and titles of papers, short words are initials and prepositions.
_MAX_WORDS = 8
_OPPOSITES = ("un", "non", "in", "im", "dis")
# Numbers of later parts: the first one often lacks it.
_NUMERALS = frozenset("ii iii iv vi vii viii ix".split())
# Words that negate the next one: "not" is left out, as it rarely tells things apart.
_NEGATIONS = frozenset("non without ohne senza".split())
# A quantity and its unit: 250 ml, 16gb.
_UNIT = (
    "(ml|cl|l|kg|g|mg|oz|lbs?|gb|tb|mb|cm|mm|inch|in|ft|w|v|hp|mah|mhz|ghz|mp|pack|pcs|tablets|"
    "capsules)"
)
_QUANTITY = re.compile(rf"(?<!\S)(\d+) ?{_UNIT}(?!\S)")
_ENDS_QUANTITY = re.compile(rf"\d*{_UNIT}")
_SIZES = frozenset("xs s m l xl xxl xxxl".split())
# The size of a garment stands at the end, next to its color.
_NUM_LAST = 3
# Words without digits are alike if so many percent of their letters are common, in their order.
_MIN_ALIKE = 60
# Words of left texts that are compared with all words of the right ones at once.
_MAX_LEFTS = 20_000
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
        self._is_number[: len(lists.words)] = list(map(has_digit, lists.words))
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
        parts = [np.zeros((0, 5), np.float32)]
        for block in blocks(len(left), _BATCH):
            parts.append(self._block(left[block], right[block]))
        return np.concatenate(parts)

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


class OtherWords:
    """The words of pairs of texts that only one text of the pair has.

    Most pairs are decided by numbers of words, which takes a tenth of the time of strings.

    Args:
        lists: The words of texts.
        pairs: Rows of texts, `(num_pairs, 2)`.
    """

    def __init__(self, lists: WordLists, pairs: NDArray[np.integer]) -> None:
        self._lists = lists
        self._pairs = pairs
        num_words = max(len(lists.words), 1)
        keys = []
        for side, rows in enumerate(pairs.T):
            starts = lists.splits[rows]
            stops = lists.splits[rows + 1]
            words = lists.ids[positions(starts, stops)]
            keys.append(2 * (list_numbers(stops - starts) * num_words + words) + side)
        word_keys, sides = np.divmod(distinct_integers(np.concatenate(keys)), 2)
        starts, stops = runs_of(word_keys)
        alone = starts[stops - starts == 1]
        # The pair of each word, ascending, and the side that has it.
        self._owners, words = np.divmod(word_keys[alone], num_words)
        self._is_right = sides[alone] == 1
        used, self._places = numbered(words)
        self._words = [lists.words[word] for word in used.tolist()]
        self._has_digit = self._are(has_digit)

    def _are(self, is_wanted: Callable[[str], Any]) -> Flags:
        """Tells for each word whether a function is true for it; each string is looked at once."""
        are_wanted = np.array([bool(is_wanted(word)) for word in self._words], bool)
        return are_wanted[self._places]

    def _have(self, chosen: Flags) -> Flags:
        """Tells for each pair whether it has one of some words."""
        return np.bincount(self._owners[chosen], minlength=len(self._pairs)) > 0

    def may_contradict(self) -> Flags:
        """Finds pairs that may differ in codes or in telling words, as flags `(num_pairs,)`."""
        known = {*self._words}
        telling = COLORS | _NEGATIONS | _NUMERALS

        def is_telling(word: str) -> bool:
            if not word.startswith(_OPPOSITES):
                return word in telling
            rests = (word.removeprefix(prefix) for prefix in _OPPOSITES)
            return not known.isdisjoint({*rests} - {word}) or word in telling

        is_code = self._has_digit | self._are(_CODE_LIKE.fullmatch)
        differ_in_codes = self._have(self._is_right) & self._have(~self._is_right)
        differ_in_codes &= ~self._have(~is_code)
        return differ_in_codes | self._have(self._are(is_telling))

    def are_unlike(self) -> tuple[Flags, Flags]:
        """Finds texts with a word that is like no word of the other text, `(num_pairs,)` each.

        Words are alike if most letters are equal, or one has the letters of the other one.
        """
        lefts = np.flatnonzero(~self._is_right)
        rights = np.flatnonzero(self._is_right)
        starts = self._owners[rights].searchsorted(self._owners[lefts])
        stops = self._owners[rights].searchsorted(self._owners[lefts], "right")
        is_alike = np.zeros(len(self._owners), bool)
        for block in blocks(len(lefts), _MAX_LEFTS):
            # One item for each left and right word of each pair.
            own = lefts[block].repeat(stops[block] - starts[block])
            others = rights[positions(starts[block], stops[block])]
            are_alike = self._are_alike(own, others)
            is_alike[own[are_alike]] = True
            is_alike[others[are_alike]] = True
        return self._have(~is_alike & ~self._is_right), self._have(~is_alike & self._is_right)

    def _are_alike(self, lefts: Ids, rights: Ids) -> Flags:
        """Tells whether words are alike, `(num_items,)`; each two strings are compared once."""
        num_words = max(len(self._words), 1)
        keys, places = numbered(self._places[lefts] * num_words + self._places[rights])
        words = np.array(self._words, object)
        own, others = (words[side].tolist() for side in np.divmod(keys, num_words))
        are_near = cpdist(own, others, scorer=ratio) >= _MIN_ALIKE
        are_parts = np.array([*map(_is_part, own, others)], bool)
        has_digit = self._has_digit[lefts] | self._has_digit[rights]
        are_alike: Flags = are_near[places] & ~has_digit | are_parts[places]
        return are_alike


def are_sized(lists: WordLists) -> Flags:
    """Finds texts that may have a size or an amount, or more words than are compared, as flags.

    Only two such texts may contradict each other if they have the same words.
    """
    is_size = np.array([_is_size(word) for word in lists.words], bool)
    are_sized = lengths_of(lists.splits) >= MAX_SPELLED_WORDS
    are_sized[lists.rows()[is_size[lists.ids]]] = True
    return are_sized


def _is_size(word: str) -> bool:
    """Tells whether a word is a size, or may end an amount in a unit."""
    return word in _SIZES or _ENDS_QUANTITY.fullmatch(word) is not None


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
        >>> contradict("rocky", "rocky part ii"), contradict("rocky part 2", "rocky ii")
        (True, False)
    """
    left_words = left.split()
    right_words = right.split()
    left_set, right_set = {*left_words}, {*right_words}
    rest = left_set ^ right_set
    if _is_sequel(left_set - right_set, right_set - left_set):
        return True
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
    left_rest, right_rest = _others(left_words, right_words)
    # 12 V is 12V.
    is_same = "".join(left_rest) == "".join(right_rest)
    if is_same or not left_rest or not right_rest:
        return False
    if len(left_words) + len(right_words) > 2 * _MAX_WORDS:
        return all(map(has_digit, rest))
    return all(map(_CODE_LIKE.fullmatch, rest))


def _is_sequel(left: set[str], right: set[str]) -> bool:
    """Tells whether words that only one of two texts has say that it is a later part."""
    numerals = [not _NUMERALS.isdisjoint(words) for words in (left, right)]
    if numerals[0] == numerals[1]:
        return False
    # Part 2 is Part II.
    return not any(map(has_digit, left | right))


def are_all_alike(left: str, right: str) -> bool:
    """Tells whether each word of two texts is like a word of the other one, or a part of it.

    Args:
        left: Words in lowercase, without accents and marks.
        right: The same.

    Examples:
        >>> are_all_alike("anna smith berlin", "ana smiht berlin"), are_all_alike("anna", "dr anna")
        (True, False)
    """
    left_rest, right_rest = _others(left.split(), right.split())
    return _have_alike(left_rest, right_rest) and _have_alike(right_rest, left_rest)


def differ_by_typos(left: str, right: str) -> bool:
    """Tells whether two texts have the same words but for typos, and do not contradict."""
    return are_all_alike(left, right) and not contradict(left, right)


def pairs_that(
    test: Callable[[str, str], bool], texts: Sequence[str], pairs: NDArray[np.integer]
) -> Flags:
    """Tells for which pairs of texts a function of `folded` texts is true, `(num_pairs,)`.

    Args:
        test: Such as `contradict`.
        texts: Texts.
        pairs: Their positions, `(num_pairs, 2)`.
    """
    # A text is in many pairs.
    words = {place: folded(texts[place]) for place in {*pairs.ravel().tolist()}}
    return np.array([test(words[left], words[right]) for left, right in pairs.tolist()], bool)


def _is_part(left: str, right: str) -> bool:
    """Tells whether the letters of one word are in the other one, next to each other, or in order.

    A space may be missing, or the word abbreviated.
    """
    return left in right or right in left or abbreviates(left, right) or abbreviates(right, left)


def _others(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the words of each of two texts that the other one does not have."""
    left_rest = [word for word in left if word not in right]
    return left_rest, [word for word in right if word not in left]


def _have_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    """Tells whether each of some words has one that is like it among other ones."""
    joined = "".join(others)
    for word in words:
        # A space may be missing, or too much.
        if word in joined or any(other in word for other in others):
            continue
        if has_digit(word):
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
