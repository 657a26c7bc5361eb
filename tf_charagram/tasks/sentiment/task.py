"""The task `sentiment`: what a text says, such as whether it praises."""

from __future__ import annotations

from pathlib import Path

from tf_charagram.data.starter import STARTER, starter_file
from tf_charagram.tasks.labelled_reader import LabelledTexts, read_labelled_texts
from tf_charagram.tasks.sentiment.classifier import TextClassifier
from tf_charagram.tasks.supervised import LabelTask


class Sentiment(LabelTask):
    """Labels texts."""

    model_class = TextClassifier

    def read_file(self, path: Path, split: str, name: str) -> LabelledTexts:
        """Reads texts with labels."""
        return read_labelled_texts(
            path,
            fine_labels=self.config.fine_labels,
            # A set to score on has sentences.
            phrases=self.config.phrases and split == "train",
            name=name,
            **self.table_options,
        )

    def starter_set(self, split: str) -> LabelledTexts:
        """Returns texts with labels."""
        return read_labelled_texts(starter_file("sentiment", split), name=f"{STARTER}.{split}")

    def sides(self, examples: LabelledTexts) -> tuple[list[str], ...]:
        """Returns the texts."""
        return (examples.texts,)
