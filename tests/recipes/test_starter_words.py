"""The word pairs of the starter set, made from tables."""

from __future__ import annotations

from itertools import chain

from recipes import starter_words


def test_the_package_has_the_pairs_that_the_script_writes():
    lines = (starter_words.STARTER / "words.tsv").read_text(encoding="utf-8").splitlines()
    pairs = list(starter_words.train_pairs())
    assert ["\t".join(pair) for pair in pairs] == lines
    heldout = set(chain.from_iterable(starter_words.heldout_pairs()))
    assert heldout and heldout.isdisjoint(chain.from_iterable(pairs))
