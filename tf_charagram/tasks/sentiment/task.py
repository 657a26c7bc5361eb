"""The task `sentiment`: labels texts, for example as positive or negative."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.data.readers.columns import Labelled
from tf_charagram.tasks.sentiment.data import read_labelled_texts
from tf_charagram.tasks.sentiment.model import TextClassifier
from tf_charagram.tasks.supervised import LabelTask


class Sentiment(LabelTask):
    """Labels texts."""

    model_class = TextClassifier
    starter = "sentiment"
    example_columns = ("text", "label")

    def read_file(self, path: Path, split: str, name: str) -> Labelled:
        """Reads texts with labels."""
        return read_labelled_texts(
            path,
            fine_labels=self.config.fine_labels,
            phrases=self.config.phrases and split == "train",  # Sets to score on have sentences.
            name=name,
            **self.table_options(name),
        )
