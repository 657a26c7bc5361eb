"""The sources of the tables: trained runs, their scores and models, and the data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from research.analysis.inputs import unit_embeds
from research.analysis.runs import scored_history
from research.analysis.words import count_words
from research.paper_numbers import PAPER_SETS
from research.papers.runs import Run, Subset
from research.papers.sources import RoleData
from research.papers.training import is_trained, run_folder
from tf_charagram._files.json_files import read_json
from tf_charagram.data._tables.scored import ScoredPairs, set_name
from tf_charagram.data.sets import evaluation_sets
from tf_charagram.evaluation._scores.scores import Embed
from tf_charagram.models.embedder import TextEmbedder


@dataclass(frozen=True, eq=False)
class Context:
    """Runs and data.

    Attributes:
        folder: The folder with all data.
        sources: The data found there, by role.
        out: The folder of all runs.
    """

    folder: Path
    sources: dict[str, RoleData]
    out: Path

    def is_trained(self, run: str) -> bool:
        """Returns whether a run has finished."""
        return is_trained(self.out, run)

    def metrics(self, run: str) -> dict[str, Any] | None:
        """Returns `metrics.json` of a run; `None` if it was not trained."""
        if not self.is_trained(run):
            return None
        return read_json(run_folder(self.out, run).metrics)

    def scores(self, run: str) -> dict[str, Any]:
        """Returns the scores of a run by set; empty if it was not trained."""
        return (self.metrics(run) or {"scores": {}})["scores"]

    def details(self, run: str, name: str) -> dict[str, Any]:
        """Returns the details of a score of a run; empty if it was not trained."""
        details = (self.metrics(run) or {"details": []})["details"]
        return next((detail for detail in details if detail["name"] == name), {})

    def history(self, run: str) -> list[dict[str, Any]]:
        """Returns the evaluations during a run, in order; empty if it has not finished."""
        return scored_history(run_folder(self.out, run)) if self.is_trained(run) else []

    def embedders(self, runs: dict[str, str]) -> dict[str, TextEmbedder]:
        """Loads the models of the runs that were trained.

        Args:
            runs: Label -> run.
        """
        return {
            label: _load(str(run_folder(self.out, run).path))
            for label, run in runs.items() if self.is_trained(run)
        }  # fmt: skip

    def embeds(self, runs: dict[str, str]) -> dict[str, Embed]:
        """Returns functions to unit-length vectors of the runs that were trained."""
        return unit_embeds(self.embedders(runs))

    @cached_property
    def all_sts_sets(self) -> list[ScoredPairs]:
        """The available sets of STS, SICK and Twitter."""
        return evaluation_sets(self.folder, kinds=("sts",), on_bad_line="skip")

    @cached_property
    def sts_sets(self) -> list[ScoredPairs]:
        """The sets of STS 2012 to 2015, which the papers pool; all scores are from 0 to 5."""
        return [
            pairs
            for pairs in self.all_sts_sets
            if pairs.name in PAPER_SETS and pairs.name.startswith("STS")
        ]

    def set_name(self, role: str) -> str:
        """Returns the name of the set of a role; empty if it is missing."""
        source = self.sources.get(role)
        return set_name(source.names[0]) if source else ""

    def pairs(self, role: str) -> list[tuple[str, str]]:
        """Returns the training pairs of a role, without those with an empty side."""
        return _pairs(self.sources[role])

    def is_needed(self, run: Run) -> bool:
        """Returns whether a run has any pairs: few pairs cannot be halved often."""
        subset = run.data
        if not isinstance(subset, Subset) or subset.role not in self.sources:
            return True
        return subset.size(_num_pairs(self.sources[subset.role])) > 0

    def word_counts(self, role: str) -> Counter[str]:
        """Counts the words of the training pairs of a role."""
        return _word_counts(self.sources[role])


@cache
def _load(folder: str) -> TextEmbedder:
    return TextEmbedder.load(folder)


def _pairs(source: RoleData) -> list[tuple[str, str]]:
    return [pair for pair in source.pairs() if all(map(str.strip, pair))]


@cache
def _num_pairs(source: RoleData) -> int:
    return sum(1 for _ in source.pairs())


@cache
def _word_counts(source: RoleData) -> Counter[str]:
    return count_words(text for pair in _pairs(source) for text in pair)
