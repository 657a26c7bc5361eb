"""The task `entailment`: what a sentence says about another."""

from __future__ import annotations

from tf_charagram.data.pipeline.sources import labelled_file
from tf_charagram.data.readers.labelled import LabelledPairs, read_labelled_pairs
from tf_charagram.data.starter import supervised as starter
from tf_charagram.models.pair_models import PairClassifier
from tf_charagram.training.tasks.supervised import LabelTask


class Entailment(LabelTask):
    """Labels pairs of sentences."""

    model_class = PairClassifier

    def read_set(self, path: str, split: str, name: str) -> LabelledPairs:
        """Reads pairs with labels."""
        file = labelled_file(path)
        if file is None:
            return starter.inference(split)
        return read_labelled_pairs(file, split=split, name=name, **self.table_options)

    def sides(self, examples: LabelledPairs) -> tuple[list[str], ...]:
        """Returns lefts and rights."""
        return examples.left, examples.right
