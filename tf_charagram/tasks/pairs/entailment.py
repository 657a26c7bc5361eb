"""The task `entailment`: what a sentence says about another."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.data.starter import STARTER, starter_file
from tf_charagram.tasks.labelled_reader import LabelledPairs, read_labelled_pairs
from tf_charagram.tasks.pairs.models import PairClassifier
from tf_charagram.tasks.supervised import LabelTask


class Entailment(LabelTask):
    """Labels pairs of sentences."""

    model_class = PairClassifier

    def read_file(self, path: Path, split: str, name: str) -> LabelledPairs:
        """Reads pairs with labels."""
        return read_labelled_pairs(path, split=split, name=name, **self.table_options)

    def starter_set(self, split: str) -> LabelledPairs:
        """Returns pairs with labels."""
        return read_labelled_pairs(starter_file("inference", split), name=f"{STARTER}.{split}")

    def sides(self, examples: LabelledPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right
