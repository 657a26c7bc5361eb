"""Finds the pairs of texts of a list that have words in common by which few texts are told."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tf_charagram.search._pairs.flat_arrays import (
    NO_PAIRS,
    Flags,
    Ids,
    are_first,
    distinct_integers,
    keys_of_pairs,
    paired,
    pairs_of_keys,
    ranks,
    runs_of,
)
from tf_charagram.search._pairs.prepared import Texts
from tf_charagram.text._algorithm.arrays import positions

#: Texts of so many words may be similar although no two words are equal.
MAX_FEW_WORDS = 3
# Pairs have two of the rarest words of each text in common: all but so many, from 4 to 8. Of the
# similar pairs of firms with addresses, people, papers, questions and products, 99.7 % and more do.
_NUM_OTHER = 2
_MIN_WORDS = 4
_MAX_WORDS = 8
# Or they have a word in common that so many texts have; of texts of few words, so many.
_MAX_RARE = 8
_MAX_RARE_OF_FEW = 25
# Two words that more texts have in common tell too little.
_MAX_TEXTS = 40
# Shorter words that differ by one letter are different words.
_MIN_LETTERS = 4


class CommonWords(NamedTuple):
    """Pairs of texts of a list with rare words in common.

    Attributes:
        pairs: Their rows, `(num_pairs, 2)`, the smaller row first, sorted.
        num_texts: Number of texts with the rarest of these words, `(num_pairs,)`; at most 40.
        are_crowded: Whether the words of each text are mostly in too many texts, `(num_texts,)`.
    """

    pairs: Ids
    num_texts: Ids
    are_crowded: Flags


def common_words(texts: Texts) -> CommonWords:
    """Finds the pairs of texts that have two words, or a rare one, in common.

    Args:
        texts: Distinct texts.
    """
    num_texts = len(texts)
    if not texts.lists.words:
        return CommonWords(NO_PAIRS, NO_PAIRS[:, 0], np.zeros(num_texts, bool))
    rows, words, counts = _rarest_words(texts)
    max_rare = np.where(texts.num_words <= MAX_FEW_WORDS, _MAX_RARE_OF_FEW, _MAX_RARE)
    keys, firsts = _keys_of_words(rows, words, counts <= max_rare[rows])
    key_rows = rows[firsts]
    order = np.argsort(keys)
    starts, ends = runs_of(keys[order])
    sizes = ends - starts
    size_of_key = np.repeat(sizes, sizes)
    crowded = key_rows[order[size_of_key > _MAX_TEXTS]]
    num_crowded = np.bincount(crowded, minlength=num_texts)
    num_keys = np.bincount(key_rows, minlength=num_texts)
    order = order[(size_of_key > 1) & (size_of_key <= _MAX_TEXTS)]
    sizes = sizes[(sizes > 1) & (sizes <= _MAX_TEXTS)]
    # Each text of a key, with those after it.
    places = np.arange(len(order))
    stops = np.repeat(np.cumsum(sizes), sizes)
    lefts = order[np.repeat(places, stops - places - 1)]
    rights = order[positions(places + 1, stops)]
    pair_rows = np.sort(paired(key_rows[lefts], key_rows[rights]), axis=1)
    # Of each pair, the rarest word comes first.
    num_counts = _MAX_TEXTS + 1
    pair_counts = np.minimum(counts[firsts[lefts]], _MAX_TEXTS)
    found = distinct_integers(keys_of_pairs(pair_rows, num_texts) * num_counts + pair_counts)
    pair_keys, found_counts = np.divmod(found, num_counts)
    is_rarest = are_first(pair_keys)
    pairs = pairs_of_keys(pair_keys[is_rarest], num_texts)
    return CommonWords(pairs, found_counts[is_rarest], num_crowded > num_keys / 2)


def _keys_of_words(rows: Ids, words: Ids, are_rare: Flags) -> tuple[Ids, Ids]:
    """Returns one integer for each two words of a text, and for each rare word.

    Args:
        rows: Rows of the words, ascending.
        words: Words, rarest first.
        are_rare: Whether each is rare.

    Returns:
        The integers, and the place of the rarer word of each.
    """
    num_words = int(words.max(initial=0)) + 1
    # A rare word is a pair with itself.
    rare = words[are_rare]
    keys = [keys_of_pairs(paired(rare, rare), num_words)]
    places = [np.flatnonzero(are_rare)]
    for step in range(1, min(_MAX_WORDS, len(rows))):
        firsts = np.flatnonzero(rows[step:] == rows[:-step])
        both = np.sort(paired(words[firsts], words[firsts + step]), axis=1)
        keys.append(keys_of_pairs(both, num_words))
        places.append(firsts)
    return np.concatenate(keys), np.concatenate(places)


def _rarest_words(texts: Texts) -> tuple[Ids, Ids, Ids]:
    """Returns the rarest words of each text that other texts have, too.

    Returns:
        Rows, ascending; their words, rarest first, of which typos of another word are that word;
        and how many texts have these words.
    """
    num_words = len(texts.lists.words)
    spelled = _without_typos(texts)[texts.lists.ids]
    rows, words = np.divmod(distinct_integers(texts.lists.rows() * num_words + spelled), num_words)
    is_common = np.bincount(words, minlength=num_words)[words] > 1
    rows, words = rows[is_common], words[is_common]
    # Without typos of them, which weigh as much.
    counts = texts.num_texts_of_word[words].astype(np.int64)
    order = np.lexsort((counts, rows))
    num_kept = np.clip(texts.num_words - _NUM_OTHER, _MIN_WORDS, _MAX_WORDS)
    order = order[ranks(rows) < num_kept[rows]]
    return rows[order], words[order], counts[order]


def _without_typos(texts: Texts) -> Ids:
    """Returns for each word of one text the most frequent one that differs by one letter.

    Returns:
        The numbers of words, `(num_words,)`; all other words are themselves.
    """
    counts = texts.num_texts_of_word.astype(np.int64)
    num_words = len(counts)
    hashes, words = texts.sorted_deletions
    is_first = are_first(hashes)
    frequent = counts[words] * num_words + words
    best_of_hash = np.maximum.reduceat(frequent, np.flatnonzero(is_first))
    best = np.zeros(num_words, np.int64)
    np.maximum.at(best, words, best_of_hash[np.cumsum(is_first) - 1])
    _, lengths = texts.letter_sets
    is_typo = (counts == 1) & (lengths >= _MIN_LETTERS)
    return np.where(is_typo, best % num_words, np.arange(num_words))
