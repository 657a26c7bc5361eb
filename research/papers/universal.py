"""The tables and the figure of Wieting et al. 2016, *Universal Paraphrastic Embeddings*."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from research.analysis import neighbors
from research.analysis.length import UNIVERSAL_BINS, scores_by_length
from research.analysis.runs import score_by_amount
from research.analysis.table import Cell, Table
from research.papers.claims import all_above, is_above, is_above_throughout, is_within
from research.papers.context import Context
from research.papers.entry import Entry, Made
from research.papers.runs import (
    FEATURES,
    FEWER_PAIRS,
    LABELLED,
    NUM_HALVINGS,
    RUNS,
    UNTUNED,
    WORD_ENCODERS,
)
from research.papers.shapes import (
    beside,
    is_set,
    paper_numbers,
    sts_beside,
    with_columns,
    with_paper,
)
from research.papers.training import run_folder
from research.readers.annotated_ppdb import NAME as ANNOTATED_PPDB

_MODELS = {
    **{name: f"sentences/{name}" for name in WORD_ENCODERS},
    "lstm, no gate": "sentences/lstm-no-gate",
}
_AVERAGES = ("word_average", "projection")
_LSTMS = ("lstm", "lstm, no gate")
#: As in the paper, the candidates are the most common words.
_NUM_WORDS = 10_000
_BY_LENGTH = ("word_average", *_LSTMS)
_NO_VECTORS = (
    "Word vectors start at random: the paper's start from PARAGRAM-SL999, which was trained on far "
    "more text."
)
_NOTES = (_NO_VECTORS, UNTUNED, FEWER_PAIRS)


def _table_1(context: Context) -> Made:
    sizes = {"SICK.test": "SICK 2014", "Twitter": "Twitter 2015"}
    counts: dict[str, Cell] = {}
    for pairs in context.all_sts_sets:
        label = sizes.get(pairs.name) or (pairs.group or "").replace("STS", "STS ")
        if label:
            counts[label] = int(counts.get(label) or 0) + len(pairs)
    paper = paper_numbers("universal-1")
    rows = tuple((label, counts.get(str(label)), *numbers) for label, *numbers in paper.rows)
    columns = ("shared task", "pairs here", "teams, paper", "submissions, paper")
    return Made(Table("Sizes of the shared tasks", columns, rows))


def _sts_table(number: str, runs: dict[str, str], context: Context) -> Made:
    scores = {name: context.scores(run) for name, run in runs.items()}
    ours, paper = sts_beside(number, scores, "Textual similarity, Pearson x 100")
    return Made(ours, paper)


def _table_2(context: Context) -> Made:
    made = _sts_table("universal-2", _MODELS, context)
    means = {
        name: _mean_of_sets([row[made.ours.columns.index(name)] for row in made.ours.rows],
                            made.ours)
        for name in _MODELS
    }  # fmt: skip
    others = [means[name] for name in ("dan", "rnn", "identity_rnn", *_LSTMS)]
    claims = {
        "word_average and projection are above all other encoders": all_above(
            [means[name] for name in _AVERAGES], others
        ),
        "lstm is better without its output gate": is_above(means["lstm, no gate"], [means["lstm"]]),
        "identity_rnn is third": is_above(
            means["identity_rnn"], [means[name] for name in ("dan", "rnn", *_LSTMS)]
        ),
    }
    return Made(made.ours, made.paper, claims)


def _mean_of_sets(cells: Sequence[Cell], table: Table) -> float | None:
    """Returns the mean over the rows of single sets."""
    values = [cell for cell, row in zip(cells, table.rows, strict=True) if is_set(str(row[0]))]
    if not values or not all(isinstance(value, float | int) for value in values):
        return None
    return float(np.mean(values))  # type: ignore[arg-type]


def _table_3(context: Context) -> Made:
    best: dict[str, Cell] = {}
    final: dict[str, Cell] = {}
    annotated: dict[str, Cell] = {}
    for label, run in _MODELS.items():
        values = [record["scores"].get("pavlick") for record in context.history(run)]
        best[label] = max((value for value in values if value is not None), default=None)
        final[label] = context.scores(run).get("pavlick")
        annotated[label] = context.scores(run).get(f"{ANNOTATED_PPDB}.test")
    claims = {
        "the encoders are within 2 points of each other": is_within(list(best.values()), 2.0),
        "lstm without its gate is above all encoders but lstm": all_above(
            [best["lstm, no gate"]], [value for name, value in best.items() if name not in _LSTMS]
        ),
    }
    ours = {
        "Pavlick et al., best": best, "Pavlick et al.": final, "Annotated-PPDB": annotated,
    }  # fmt: skip
    return beside("universal-3", ours, "Phrases of PPDB, Spearman x 100", claims)


def _table_4(context: Context) -> Made:
    return _sts_table("universal-4", {"word_average": "sentences/word_average-xxl"}, context)


def _labelled_score(context: Context, task: str, run: str) -> Cell:
    """Returns a run's score on the task's test set: Pearson x 100 or accuracy."""
    test = context.set_name("sst-test" if task == "sentiment" else "sick-test")
    return context.scores(run).get(test)


def _table_5(context: Context) -> Made:
    ours: dict[str, dict[str, Cell]] = {}
    for column in paper_numbers("universal-5").columns[1:]:
        for task in LABELLED:
            encoder = {"lstm, no gate": "lstm-no-gate"}.get(column, column)
            if column == "universal":
                best = "lstm" if task == "sentiment" else "word_average"
                encoder = f"{best}-universal"
            ours.setdefault(column, {})[task] = _labelled_score(context, task, f"{task}/{encoder}")
    others = [name for name in ours if name not in ("word_average", "universal")]
    claims = {
        "word_average is the best encoder trained from scratch on similarity": is_above(
            ours["word_average"]["similarity"], [ours[name]["similarity"] for name in others]
        ),
        "an lstm is best on sentiment": all_above(
            [ours["lstm"]["sentiment"]],
            [ours[name]["sentiment"] for name in ours if name not in (*_LSTMS, "universal")],
        ),
        "starting from paraphrases helps similarity": is_above(
            ours["universal"]["similarity"], [ours["word_average"]["similarity"]]
        ),
        "starting from paraphrases does not help sentiment": is_above(
            ours["lstm"]["sentiment"], [ours["universal"]["sentiment"]]
        ),
    }
    return beside("universal-5", ours, "Supervised tasks: Pearson x 100, accuracy", claims)


def _table_6(context: Context) -> Made:
    ours = {
        str(dim): {
            task: _labelled_score(context, task, f"{task}/frozen-{dim}") for task in LABELLED
        }
        for dim in FEATURES
    }
    claims = {
        f"more dimensions help {task}": is_above(ours["2400"][task], [ours["300"][task]])
        for task in ("similarity", "entailment")
    }
    title = "Frozen sentence vectors as features: Pearson x 100, accuracy"
    return beside("universal-6", ours, title, claims)


def _table_7(context: Context) -> Made:
    embeds = context.embeds({name: _MODELS[name] for name in _BY_LENGTH})
    table = scores_by_length(embeds, context.sts_sets, bins=UNIVERSAL_BINS)
    claims = {}
    if len(embeds) == len(_BY_LENGTH):
        claims = {
            "word_average is above both lstms at all lengths": is_above_throughout(
                *(table.column(name).values() for name in _BY_LENGTH)
            )
        }
    paper = paper_numbers("universal-7")
    with_pairs = Table(
        table.title, ("words", "pairs", *paper.columns[1:]),
        tuple((row[0], None, *row[1:]) for row in paper.rows),
    )  # fmt: skip
    return Made(with_columns(table, with_pairs), with_pairs, claims)


def _table_8(context: Context) -> Made:
    words = [word for word, _ in context.word_counts("paraphrases").most_common(_NUM_WORDS)]
    embeds = context.embeds({"word_average": "sentences/word_average"})
    table = neighbors.nearest_texts(embeds, neighbors.UNIVERSAL_WORDS, words, k=7)
    return Made(with_paper(table, "universal-8"))


def _figure_1(context: Context) -> Made:
    score = "paper mean"
    runs = {
        name.removeprefix("amount/"): run_folder(context.out, name)
        for name in _AMOUNTS if context.is_trained(name)
    }  # fmt: skip
    table = score_by_amount(runs, score)
    lines = table.curves.lines if table.curves else {}
    claims = {}
    needed = [name for name in _AMOUNTS if context.is_needed(RUNS[name])]
    if set(lines) == {"ordered", "random"} and len(runs) == len(needed):
        random, ordered = (np.array([y for _, y in lines[name]]) for name in ("random", "ordered"))
        claims = {
            "more data are better: the largest amount is best": bool(
                random.argmax() == len(random) - 1 and ordered.argmax() == len(ordered) - 1
            ),
            "random pairs are better than the first ones, in the mean": bool(
                random.mean() > ordered.mean()
            ),
        }
    return Made(table, claims=claims)


_AMOUNTS = tuple(
    f"amount/{order}-{halvings}"
    for order in ("ordered", "random") for halvings in range(NUM_HALVINGS + 1)
)  # fmt: skip

ENTRIES = (
    Entry("universal/table-1", "the shared tasks", _table_1),
    Entry("universal/table-2", "textual similarity of encoders over words", _table_2,
          tuple(_MODELS.values()), _NOTES),
    Entry("universal/table-3", "phrase similarity of encoders over words", _table_3,
          tuple(_MODELS.values()), _NOTES),
    Entry("universal/table-4", "word_average trained on more data", _table_4,
          ("sentences/word_average-xxl",), _NOTES),
    Entry("universal/table-5", "supervised tasks", _table_5,
          tuple(f"{task}/{name}" for task in LABELLED
                for name in (*WORD_ENCODERS, "lstm-no-gate",
                             "lstm-universal" if task == "sentiment" else "word_average-universal")
                if name != "identity_rnn"),
          _NOTES),
    Entry("universal/table-6", "frozen sentence vectors as features", _table_6,
          tuple(f"{task}/frozen-{dim}" for task in LABELLED for dim in FEATURES), _NOTES),
    Entry("universal/table-7", "scores by length", _table_7,
          tuple(_MODELS[name] for name in _BY_LENGTH), _NOTES),
    Entry("universal/table-8", "nearest words", _table_8, ("sentences/word_average",),
          _NOTES),
    Entry("universal/figure-1", "score against amount of data", _figure_1, _AMOUNTS,
          (_NO_VECTORS, UNTUNED)),
)  # fmt: skip
