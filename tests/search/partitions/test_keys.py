"""Keys by which rows are paired in partitions."""

from __future__ import annotations

import numpy as np

from tests.texts import words
from tf_charagram.search._partitions.files import COUNTS, Counts, records_of
from tf_charagram.search._partitions.keys import atom_counts, keys_of, slots_of


def test_lists_of_frequent_words_are_paired():
    draw = np.random.default_rng(0)
    every = words(100, 0)
    lists = [draw.choice(every, 7, replace=False).tolist() for _ in range(4000)]
    # Copies have their words in another order, without one, and another number.
    lists += [draw.permutation(each)[:-1].tolist() for each in lists[:500]]
    columns = [[" ".join(each) for each in lists], draw.integers(20, size=4500).astype(str)]
    slots = slots_of(columns, ("text", "number"))
    atoms, numbers = atom_counts(slots)
    counts = Counts(records_of(COUNTS, atoms, numbers, np.zeros_like(numbers)))
    rows, keys = keys_of(slots, counts, 4500)
    keys_of_row = [set(keys[rows == row].tolist()) for row in range(4500)]
    num_paired = sum(not keys_of_row[row].isdisjoint(keys_of_row[4000 + row]) for row in range(500))
    assert num_paired > 400
