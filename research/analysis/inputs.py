"""Inputs of an analysis: models, sets and texts, read on first use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from research.analysis.pairs import without_other_scales
from research.analysis.words import count_words
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.embedders import model_labels
from tf_charagram.evaluation._scores.scores import Embed
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.texts import read_vocabulary
from tf_charagram.tasks.paraphrase._corpus.corpus import pairs_reader
from tf_charagram.tasks.tagging._conllu.data import read_tagged
from tf_charagram.training._loop.run_folder import RunFolder


@dataclass(frozen=True)
class Inputs:
    """The flags of `python -m research analyze`.

    Attributes:
        models: Run folders, model folders or names.
        eval_data: Folder or file of scored pairs.
        train_data: Training pairs, as `train --data` names them.
        texts: File of texts, one per line; see `search.texts.read_vocabulary`.
        tagged: File of tagged sentences.
        queries: Texts or n-grams to ask about.
        score: The score that curves follow.
        k: Number of results shown.
        bad_lines: Policy for bad lines.
    """

    models: Sequence[str]
    eval_data: str | None = None
    train_data: Sequence[str] = ()
    texts: str | None = None
    tagged: str | None = None
    queries: Sequence[str] = ()
    score: str | None = None
    k: int = 10
    bad_lines: BadLines = field(default_factory=lambda: BadLines("error"))

    @cached_property
    def embedders(self) -> dict[str, TextEmbedder]:
        """The models by short name."""
        labels = model_labels(self.models)
        return {
            label: TextEmbedder.load(model)
            for label, model in zip(labels, self.models, strict=True)
        }

    @cached_property
    def embeds(self) -> dict[str, Embed]:
        """Functions from texts to unit-length vectors, by model."""
        return unit_embeds(self.embedders)

    @cached_property
    def runs(self) -> dict[str, RunFolder]:
        """The run folders of the models, for their histories."""
        return {
            label: RunFolder(model)
            for label, model in zip(model_labels(self.models), self.models, strict=True)
        }

    def sets(self, *groups: str) -> list[ScoredPairs]:
        """Reads the scored pairs of some groups; see `evaluation_sets`.

        Raises:
            ConfigError: `--eval-data` is missing.
        """
        if self.eval_data is None:
            raise ConfigError("This analysis needs --eval-data: a folder or file of scored pairs.")
        return evaluation_sets(self.eval_data, kinds=groups, on_bad_line=self.bad_lines)

    @cached_property
    def sentence_sets(self) -> list[ScoredPairs]:
        """The sets of STS; without any, all sets with the scale of the first one."""
        sets = self.sets("sts")
        return without_other_scales(sets) or [one for one in sets if one.scale == sets[0].scale]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The training pairs, without those with an empty side.

        Raises:
            ConfigError: `--train-data` is missing.
        """
        if not self.train_data:
            raise ConfigError("This analysis needs --train-data: training pairs.")
        sources = (pairs_reader(name, header=False)(self.bad_lines) for name in self.train_data)
        return [pair for source in sources for pair in source if all(map(str.strip, pair))]

    @cached_property
    def word_counts(self) -> Counter[str]:
        """Counts of the words of the training pairs or, without pairs, of the texts.

        Raises:
            ConfigError: Both are given.
        """
        if self.train_data and self.texts is not None:
            raise ConfigError("Give one of --train-data and --texts: the words of one are counted.")
        if self.train_data:
            return count_words(text for pair in self.pairs for text in pair)
        return count_words(self.vocabulary)

    @cached_property
    def vocabulary(self) -> list[str]:
        """The texts of `--texts`, or the texts of the first model."""
        return read_vocabulary(self.texts, self.models[0])

    @cached_property
    def tags(self) -> list[list[tuple[str, str]]]:
        """The tagged sentences; empty without `--tagged`."""
        if self.tagged is None:
            return []
        sentences = read_tagged(Path(self.tagged), on_bad_line=self.bad_lines)
        return [list(zip(one.words, one.tags, strict=True)) for one in sentences]


def unit_embeds(embedders: Mapping[str, TextEmbedder]) -> dict[str, Embed]:
    """Returns functions from texts to unit-length vectors, by name of the embedder."""
    return {name: partial(_unit, embedder) for name, embedder in embedders.items()}


def _unit(embedder: TextEmbedder, texts: Sequence[str]) -> np.ndarray:
    return embedder.encode(texts, normalize=True)
