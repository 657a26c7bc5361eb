"""Base of the tasks that train an embedder: how it is scored, shown and saved."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from rich.table import Table

from tf_charagram.data.sets import evaluation_sets
from tf_charagram.evaluation.scores import SetScore, mean_members, score_names, score_sets
from tf_charagram.evaluation.tables import neighbor_table, score_table
from tf_charagram.files.writing import whole_file
from tf_charagram.losses.negatives import NegativeSampler
from tf_charagram.models.embedder import TextEmbedder, unit_rows
from tf_charagram.optimizers.exchange import Exchange
from tf_charagram.tasks.paraphrase.settings import EmbedderConfig
from tf_charagram.training.run_folder import RunFolder
from tf_charagram.training.task import Scoring, Task

# Texts that the sample of neighbors is searched in.
_NUM_SEARCHED = 20_000
_NUM_QUERIES = 5


class EmbedderTask(Task):
    """A task that trains an embedder; a subclass defines the training data.

    Attributes:
        set_groups: The sets it is scored on while it trains; see `evaluation_sets`.
    """

    model_class = TextEmbedder
    num_resamples = 0
    set_groups: ClassVar[tuple[str, ...]]

    def find_sets(self) -> list[str]:
        """Reads the sets; returns their names and the names of their means."""
        self.sets = evaluation_sets(
            self.config.eval_data, kinds=self.set_groups, on_bad_line=self.bad_lines
        )
        return score_names(self.sets)

    def checksum_of_set(self, name: str) -> str:
        """Returns a checksum of a set, or of the sets of a mean; see `Task.checksum_of_set`."""
        members = mean_members(self.sets).get(name, [name])
        read = [
            [pairs.name, pairs.left, pairs.right, pairs.scores.tolist()]
            for pairs in self.sets
            if pairs.name in members
        ]
        return hashlib.sha256(json.dumps(read).encode()).hexdigest()

    @abstractmethod
    def texts(self) -> Sequence[str]:
        """Returns distinct texts of the training data; call `read` first."""

    def load(self, path: str | Path) -> TextEmbedder:
        """Loads the embedder with folded n-grams, because it embeds many texts."""
        return TextEmbedder.load(path, folded=True)

    def score(self, model: TextEmbedder, scoring: Scoring) -> dict[str, SetScore]:
        """Scores an embedder on the sets and their means; see `Task.score`."""

        def embed(texts: Sequence[str]) -> np.ndarray:
            scoring.check()
            return unit_rows(model.encode(texts))

        scores = score_sets(
            embed, self.sets, num_resamples=scoring.num_resamples, seed=scoring.seed
        )
        return {score.name: score for score in scores}

    def value(self, score: SetScore) -> float | None:
        """Returns the correlation x 100."""
        return score.value

    def tables(self, scores: Mapping[str, SetScore]) -> list[Table]:
        """Returns a table with one row per set."""
        return [score_table(list(scores.values()))]

    def sample_tables(self, model: TextEmbedder) -> list[Table]:
        """Returns a table of neighbors of some texts."""
        texts = self.texts()[:_NUM_SEARCHED]
        return [neighbor_table(model, sample_queries(texts), texts)]

    def write_extras(self, folder: RunFolder) -> list[str]:
        """Writes the texts for `neighbors`."""
        with whole_file(folder.texts, "w") as file:
            file.writelines(f"{' '.join(text.split())}\n" for text in self.texts())
        return ["texts"]


def negative_sampler(config: EmbedderConfig, exchange: Exchange) -> NegativeSampler:
    """Returns the sampler of negatives that the settings ask for."""
    return NegativeSampler(
        config.negatives,
        mask_duplicates=config.mask_duplicates,
        num_groups=exchange.size if config.negatives_from == "worker" else 1,
        seed=config.seed,
        exchange=exchange,
    )


def sample_queries(texts: Sequence[str]) -> Sequence[str]:
    """Returns up to five texts, evenly spaced."""
    step = max(1, len(texts) // _NUM_QUERIES)
    return texts[step // 2 :: step][:_NUM_QUERIES]
