"""The starter sets: small English sets that ship with the package, for first runs and tests.

They were written by hand for this project and are not for publishing results. `words.tsv` has the
training pairs that `recipes/starter_words.py` grows from hand-written tables, most confident first;
`graded.tsv` has held-out word pairs with a similarity from 0 (unrelated) to 10 (the same word in
another spelling). The sets of the supervised tasks have a file per split: `inference` (relatedness
from 1 to 5, premise, hypothesis, label), `sentiment` (1 is positive, then the text) and `tagged`
(word and tag of the Penn Treebank as the English Web Treebank uses it).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

#: Name of the set in `--data` and `--eval-data`.
STARTER = "starter"
_FOLDER = Path(__file__).parent


def train_pairs() -> Iterator[tuple[str, str]]:
    """Yields the training pairs of words, most confident first.

    Yields:
        Two different lowercase words. No pair comes twice, in either order, and no word is in
        `graded_pairs()`.

    Examples:
        >>> next(train_pairs())
        ('begin', 'start')
    """
    for line in _lines("words.tsv"):
        first, second = line.split("\t")
        yield first, second


def graded_pairs() -> list[tuple[str, str, float]]:
    """Returns the held-out pairs: word, word, similarity from 0 to 10."""
    pairs = []
    for line in _lines("graded.tsv"):
        first, second, score = line.split("\t")
        pairs.append((first, second, float(score)))
    return pairs


def sentences() -> list[str]:
    """Returns the distinct sentences of `inference`, held-out sentences first."""
    texts: list[str] = []
    for split in ("dev", "test", "train"):
        for line in _lines(f"inference.{split}.tsv"):
            _, premise, hypothesis, _ = line.split("\t")
            texts += (premise, hypothesis)
    return list(dict.fromkeys(texts))


def starter_file(name: str, split: str) -> Path:
    """Returns the file of a set of a supervised task.

    Args:
        name: `"inference"`, `"sentiment"` or `"tagged"`.
        split: `"train"`, `"dev"` or `"test"`. No text is in two splits.
    """
    return _FOLDER / f"{name}.{split}.tsv"


def _lines(name: str) -> list[str]:
    return (_FOLDER / name).read_text(encoding="utf-8").splitlines()
