"""Small sets for the supervised tasks that ship with the package: for first runs and tests.

Both tables were written by hand for this project. `inference.tsv` has pairs of everyday scenes
with a score and a label, with the pairs of one premise together; some neutral ones join the
sentences of two scenes. `sentiment.tsv` has short reviews, in turn ten that are positive and ten
that are negative.
"""

from __future__ import annotations

from importlib import resources

import numpy as np

from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.tasks.labelled_reader import LabelledPairs, LabelledTexts

SPLITS = ("train", "dev", "test")
#: Of ten premises, or ten reviews, the positions that are not for training.
_HELD_OUT = {8: "dev", 9: "test"}


def relatedness(split: str) -> ScoredPairs:
    """Returns pairs of sentences with their relatedness, from 1 to 5.

    Args:
        split: `"train"`, `"dev"` or `"test"`; no sentence is in two of them.

    Raises:
        ConfigError: `split` is unknown.
    """
    scores, left, right, _ = _pairs(split)
    return ScoredPairs(f"starter.{split}", left, right, np.array(scores, np.float64), "pearson")


def inference(split: str) -> LabelledPairs:
    """Returns the same pairs with `"ENTAILMENT"`, `"NEUTRAL"` or `"CONTRADICTION"` each.

    Splits and errors are those of `relatedness`.
    """
    _, left, right, labels = _pairs(split)
    return LabelledPairs(f"starter.{split}", left, right, labels)


def sentiment(split: str) -> LabelledTexts:
    """Returns reviews with `"0"`, negative, or `"1"`, positive, each.

    Splits and errors are those of `relatedness`.
    """
    _check(split)
    rows = [row for i, row in enumerate(_rows("sentiment.tsv")) if _split(i) == split]
    labels, texts = (list(column) for column in zip(*rows, strict=True))
    return LabelledTexts(f"starter.{split}", texts, labels)


def _pairs(split: str) -> tuple[list[str], ...]:
    """Returns scores, premises, hypotheses and labels."""
    _check(split)
    premises: dict[str, int] = {}
    rows = [
        row
        for row in _rows("inference.tsv")
        if _split(premises.setdefault(row[1], len(premises))) == split
    ]
    return tuple(list(column) for column in zip(*rows, strict=True))


def _rows(name: str) -> list[list[str]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def _split(index: int) -> str:
    return _HELD_OUT.get(index % 10, "train")


def _check(split: str) -> None:
    if split not in SPLITS:
        raise ConfigError(unknown_name("split", split, SPLITS))
