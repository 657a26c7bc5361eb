"""The task `sentiment`: what a text says, such as whether it praises."""

from __future__ import annotations

from tf_charagram.data.pipeline.sources import labelled_file
from tf_charagram.data.readers.labelled import LabelledTexts, read_labelled_texts
from tf_charagram.data.starter import supervised as starter
from tf_charagram.models.text_classifier import TextClassifier
from tf_charagram.training.tasks.supervised import LabelTask


class Sentiment(LabelTask):
    """Labels texts."""

    model_class = TextClassifier

    def read_set(self, path: str, split: str, name: str) -> LabelledTexts:
        """Reads texts with labels."""
        file = labelled_file(path)
        if file is None:
            return starter.sentiment(split)
        return read_labelled_texts(
            file,
            fine_labels=self.config.fine_labels,
            # A set to score on has sentences.
            phrases=self.config.phrases and split == "train",
            name=name,
            **self.table_options,
        )

    def sides(self, examples: LabelledTexts) -> tuple[list[str], ...]:
        """Returns the texts."""
        return (examples.texts,)
