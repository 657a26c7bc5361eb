"""What the tables are made from: trained runs, their scores and models, and the data."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tf_charagram.analysis.inputs import unit_embeds
from tf_charagram.analysis.pairs import without_other_scales
from tf_charagram.analysis.words import count_words
from tf_charagram.data.readers.scored import ScoredPairs, set_name
from tf_charagram.evaluation.scores import Embed
from tf_charagram.evaluation.sets import evaluation_sets
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.papers.sources import Source
from tf_charagram.papers.training import is_trained, run_folder


@dataclass(frozen=True, eq=False)
class Context:
    """Runs and data.

    Attributes:
        folder: The folder with all data.
        sources: What was found in it.
        out: The folder of all runs.
    """

    folder: Path
    sources: dict[str, Source]
    out: Path

    def is_trained(self, run: str) -> bool:
        """Returns whether a run has ended."""
        return is_trained(self.out, run)

    def metrics(self, run: str) -> dict[str, Any] | None:
        """Returns what `metrics.json` of a run has; `None` if it was not trained."""
        if not self.is_trained(run):
            return None
        return json.loads(run_folder(self.out, run).metrics.read_text(encoding="utf-8"))

    def scores(self, run: str) -> dict[str, Any]:
        """Returns the scores of a run by set; none if it was not trained."""
        return (self.metrics(run) or {"scores": {}})["scores"]

    def details(self, run: str, name: str) -> dict[str, Any]:
        """Returns all that is known of a score of a run; nothing if it was not trained."""
        details = (self.metrics(run) or {"details": []})["details"]
        return next((detail for detail in details if detail["name"] == name), {})

    def history(self, run: str) -> list[dict[str, Any]]:
        """Returns the evaluations of a run while it trained, in order; none if it has not ended."""
        return run_folder(self.out, run).read_history() if self.is_trained(run) else []

    def embedders(self, runs: dict[str, str]) -> dict[str, TextEmbedder]:
        """Returns the models of those runs that were trained.

        Args:
            runs: Label -> run.
        """
        return {
            label: _load(str(run_folder(self.out, run).path))
            for label, run in runs.items() if self.is_trained(run)
        }  # fmt: skip

    def embeds(self, runs: dict[str, str]) -> dict[str, Embed]:
        """Returns functions to vectors of unit length, as `embedders` returns models."""
        return unit_embeds(self.embedders(runs))

    @cached_property
    def all_sts_sets(self) -> list[ScoredPairs]:
        """The sets of STS, SICK and Twitter that are there."""
        return evaluation_sets(self.folder, kinds=("sts",), on_bad_line="skip")

    @cached_property
    def sts_sets(self) -> list[ScoredPairs]:
        """The sets of STS that are there, whose scores are all from 0 to 5."""
        return without_other_scales(self.all_sts_sets)

    def set_name(self, role: str) -> str:
        """Returns what the scores of runs call the set of a role; nothing if it is not there."""
        source = self.sources.get(role)
        return set_name(source.names[0]) if source else ""

    def pairs(self, *roles: str) -> list[tuple[str, str]]:
        """Returns the training pairs of some roles, but for those with an empty side."""
        return [
            pair
            for role in roles
            for pair in self.sources[role].pairs()
            if all(map(str.strip, pair))
        ]

    @cached_property
    def word_counts(self) -> Counter[str]:
        """How often each word occurs in the phrases and sentences that runs are trained on."""
        return count_words(text for pair in self.pairs("paraphrases") for text in pair)


@cache
def _load(folder: str) -> TextEmbedder:
    return TextEmbedder.load(folder)
