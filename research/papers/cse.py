"""The tables of the CSE paper of 2018: sums of filters over words."""

from __future__ import annotations

from typing import Any

import numpy as np

from research.analysis.disagreements import disagreements
from research.analysis.table import Cell
from research.papers.claims import all_above, is_above
from research.papers.context import Context
from research.papers.entry import Entry, Made
from research.papers.runs import NUM_SEEDS, UNTUNED
from research.papers.shapes import beside, last, sts_beside, years_beside

_TITLE = "Textual similarity, Pearson x 100"
_STAGES = {name: f"cse/{name}" for name in ("phrases", "sentences", "cumulative")}
_SEEDS = ("cse/phrases", *(f"cse/phrases-{seed}" for seed in range(1, NUM_SEEDS)))
_WIDTHS = ("1", "2", "3", "4", "1,2,3")
_NO_VECTORS = "Word vectors start at random: the paper's start from PARAGRAM-SL999."
_NOTES = (_NO_VECTORS, UNTUNED)


def _table_1(context: Context) -> Made:
    scores = {
        "word_average": context.scores("sentences/word_average"),
        "cse": _median([context.scores(run) for run in _SEEDS if context.is_trained(run)]),
    }
    ours, paper = sts_beside("cse-1", scores, _TITLE)
    claims = {"cse is above word_average in the mean": is_above(
        last(ours, "cse"), [last(ours, "word_average")]
    )}  # fmt: skip
    return Made(ours, paper, claims)


def _median(scores: list[dict[str, Any]]) -> dict[str, float]:
    """Returns the median of each score that all runs have."""
    scored = [{name for name, score in run.items() if score is not None} for run in scores]
    names = set.intersection(*scored) if scored else set()
    return {name: float(np.median([run[name] for run in scores])) for name in sorted(names)}


def _table_2(context: Context) -> Made:
    runs = {"cse": _STAGES["cumulative"], "gran": "cse/gran"}
    scores = {name: context.scores(run) for name, run in runs.items()}
    return Made(*sts_beside("cse-2", scores, _TITLE))


def _table_3(context: Context) -> Made:
    test = context.set_name("sick-test")
    ours: dict[str, dict[str, Cell]] = {"Pearson": {}, "Spearman": {}, "MSE": {}}
    for label, run in (
        ("word_average, universal", "similarity/word_average-universal"),
        ("gran, universal", "similarity/gran-universal"),
        ("cse", "similarity/cse"), ("cse, universal", "similarity/cse-universal"),
    ):  # fmt: skip
        details = context.details(run, test)
        for column, name in (("Pearson", "pearson"), ("Spearman", "spearman"), ("MSE", "mse")):
            ours[column][label] = details.get(name)
    claims = {"cse gains by starting from paraphrases": is_above(
        ours["Pearson"]["cse, universal"], [ours["Pearson"]["cse"]]
    )}  # fmt: skip
    return beside("cse-3", ours, "SICK similarity, supervised", claims)


def _table_4(context: Context) -> Made:
    scores = {name: context.scores(run) for name, run in _STAGES.items()}
    ours, paper = years_beside("cse-4", scores, _TITLE)
    claims = {"phrases, then sentences, are better than either": is_above(
        last(ours, "cumulative"), [last(ours, "phrases"), last(ours, "sentences")]
    )}  # fmt: skip
    return Made(ours, paper, claims)


def _table_5(context: Context) -> Made:
    scores = {widths: context.scores(f"cse/widths-{widths}") for widths in _WIDTHS}
    ours, paper = years_beside("cse-5", scores, _TITLE)
    means = [last(ours, widths) for widths in _WIDTHS]
    claims = {
        "widths 1 to 3 together are above each single width": all_above(means[-1:], means[:-1]),
        "width 1 is above widths 2 to 4": all_above(means[:1], means[1:4]),
    }
    return Made(ours, paper, claims)


def _table_6(context: Context) -> Made:
    runs = {"cse": _STAGES["cumulative"], "word_average": "sentences/word_average"}
    return Made(disagreements(context.embeds(runs), context.sts_sets, k=8))


ENTRIES = (
    Entry("cse/table-1", "textual similarity, trained on phrases", _table_1,
          ("sentences/word_average", *_SEEDS),
          (*_NOTES, "cse is the median of the seeds that were trained, five in the paper. "
           "word_average is trained on sentences, too.")),
    Entry("cse/table-2", "textual similarity, trained on phrases, then on sentences", _table_2,
          (_STAGES["cumulative"], "cse/gran"), _NOTES),
    Entry("cse/table-3", "SICK similarity, supervised", _table_3,
          ("similarity/word_average-universal", "similarity/gran-universal", "similarity/cse",
           "similarity/cse-universal"),
          _NOTES),
    Entry("cse/table-4", "phrases, sentences, or one after the other", _table_4,
          tuple(_STAGES.values()), _NOTES),
    Entry("cse/table-5", "filter widths", _table_5,
          tuple(f"cse/widths-{widths}" for widths in _WIDTHS), (_NO_VECTORS,)),
    Entry("cse/table-6", "pairs judged differently by cse and word_average", _table_6,
          (_STAGES["cumulative"], "sentences/word_average"), (_NO_VECTORS,), quotes_data=True),
)  # fmt: skip
