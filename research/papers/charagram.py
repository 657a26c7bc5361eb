"""The tables and the figure of Wieting et al. 2016, *Charagram*."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from research.analysis import neighbors
from research.analysis.length import scores_by_length
from research.analysis.runs import convergence
from research.analysis.table import Cell, Table
from research.analysis.unknown import scores_by_unknown_words
from research.analysis.words import seen_in, words_of
from research.papers.claims import is_above, is_above_throughout, is_within
from research.papers.context import Context
from research.papers.entry import Entry, Made
from research.papers.runs import FEWER_PAIRS, ORDERS, SIZES
from research.papers.shapes import (
    beside,
    last,
    paper_numbers,
    sts_beside,
    with_columns,
    with_paper,
)
from research.papers.training import run_folder

_ENCODERS = ("char_cnn", "char_lstm", "charagram")
_SENTENCES = {
    **{name: f"sentences/{name}" for name in _ENCODERS},
    "word_average": "sentences/word_average-xxl",
}
_PAIRS = "paraphrases-xxl"
_COMPARED = {name: _SENTENCES[name] for name in ("word_average", "charagram")}
#: Number of candidate words of neighbours; the paper has 93,217, those of its data.
_NUM_WORDS = 50_000


def _table_1(context: Context) -> Made:
    ours: dict[str, dict[str, Cell]] = {"WS353": {}, "SL999": {}}
    for encoder in _ENCODERS:
        for chosen_by in ("SL999", "WS353"):
            best = best_scores(context.history(f"words/{encoder}"), chosen_by)
            for name in ours:
                ours[name][f"{encoder}, {chosen_by}"] = best.get(name)
    sl999 = [ours["SL999"][f"{encoder}, SL999"] for encoder in _ENCODERS]
    claims = {
        "charagram is above char_lstm and char_cnn on SL999": is_above(sl999[2], sl999[:2]),
        "char_lstm is above char_cnn on SL999": is_above(sl999[1], sl999[:1]),
    }
    return beside("charagram-1", ours, "Word similarity, Spearman x 100", claims)


def best_scores(history: list[dict[str, Any]], chosen_by: str) -> dict[str, float]:
    """Returns the scores of the evaluation that is best by one score; empty without it."""
    scored = [record["scores"] for record in _scored(history, chosen_by)]
    return max(scored, key=lambda scores: scores[chosen_by], default={})


def _scored(history: list[dict[str, Any]], score: str) -> list[dict[str, Any]]:
    """Returns the evaluations that have a score."""
    return [record for record in history if record["scores"].get(score) is not None]


def _table_2(context: Context) -> Made:
    best = best_scores(context.history("words/charagram-large"), "WS353")
    small = best_scores(context.history("words/charagram"), "SL999")
    ours = {"SL999": {"charagram, large": best.get("SL999")}}
    claims = {
        "more n-grams are better than those of table 1": is_above(
            best.get("SL999"), [small.get("SL999")]
        )
    }
    return beside("charagram-2", ours, "SL999, Spearman x 100", claims)


def _sts(number: str, context: Context) -> Made:
    scores = {name: context.scores(run) for name, run in _SENTENCES.items()}
    ours, paper = sts_beside(number, scores, "Textual similarity, Pearson x 100")
    means = {name: last(ours, name) for name in _SENTENCES}
    claims = {
        "charagram is above char_cnn and char_lstm in the mean": is_above(
            means["charagram"], [means["char_cnn"], means["char_lstm"]]
        ),
        "charagram is above word_average in the mean": is_above(
            means["charagram"], [means["word_average"]]
        ),
        "char_cnn is above char_lstm in the mean": is_above(
            means["char_cnn"], [means["char_lstm"]]
        ),
    }
    return Made(ours, paper, claims)


def _table_3(context: Context) -> Made:
    """Table 11 without the rows of single sets of STS."""
    made = _sts("charagram-11", context)
    return Made(_without_sets(made.ours), made.paper, made.claims)


def _without_sets(table: Table) -> Table:
    """Returns a table without the rows of single sets of STS."""
    rows = tuple(
        row for row in table.rows if not str(row[0]).startswith("STS20") or "." not in str(row[0])
    )
    return Table(table.title, table.columns, rows, table.notes)


_TAGGING = {
    "char_cnn": "tagging/char_cnn", "char_lstm": "tagging/char_lstm",
    "charagram": "tagging/charagram", "charagram, 2 layers": "tagging/charagram-2",
}  # fmt: skip


def _table_4(context: Context) -> Made:
    test = context.set_name("tagged-test")
    ours = {label: context.scores(run).get(test) for label, run in _TAGGING.items()}
    claims = {
        "two layers are above one": is_above(ours["charagram, 2 layers"], [ours["charagram"]]),
        "char_cnn, char_lstm and charagram are within 0.2": is_within(
            [ours[name] for name in _ENCODERS], 0.2
        ),
    }
    return beside("charagram-4", {"accuracy": ours}, "Part-of-speech tagging, accuracy", claims)


def _table_5(context: Context) -> Made:
    dev = context.set_name("tagged-dev")
    ours: dict[str, dict[str, Cell]] = {orders: {} for orders in ORDERS}
    for orders in ORDERS:
        for size in SIZES:
            for task, score in (("tagging", dev), ("words", "SL999"), ("sentences", "paper mean")):
                history = context.history(f"sizes/{task}-{size}-{orders}")
                scores = history[-1]["scores"] if history else {}
                ours[orders][f"{task}, {size:,}"] = scores.get(score)
    claims = {
        f"{task}: 50,000 n-grams per order are above 1,000, and these above 100, for n = 2-4":
            is_above(large, [middle]) and is_above(middle, [small])
        for task in ("tagging", "words", "sentences")
        for small, middle, large in [[ours["2,3,4"][f"{task}, {size:,}"] for size in SIZES]]
    }  # fmt: skip
    title = "Numbers and orders of n-grams: accuracy; SL999; mean over sets of STS"
    return beside("charagram-5", ours, title, claims)


_SIZE_RUNS = tuple(
    f"sizes/{task}-{size}-{orders}"
    for task in ("tagging", "words", "sentences") for size in SIZES for orders in ORDERS
)  # fmt: skip


def _table_6(context: Context) -> Made:
    table = scores_by_unknown_words(
        context.embeds(_COMPARED), context.sts_sets, context.word_counts(_PAIRS)
    )
    paper = paper_numbers("charagram-6")
    claims = {}
    if {"charagram", "word_average"} <= set(table.columns):
        ours = {name: table.column(name) for name in ("charagram", "word_average")}
        claims = {
            "charagram is above word_average where a word is unknown": is_above(
                ours["charagram"][">= 1"], [ours["word_average"][">= 1"]]
            ),
            "word_average is worse with unknown words than without": is_above(
                ours["word_average"]["0"], [ours["word_average"][">= 1"]]
            ),
        }
    return Made(with_columns(table, paper), paper, claims)


def _table_7(context: Context) -> Made:
    table = scores_by_length(context.embeds(_COMPARED), context.sts_sets)
    paper = paper_numbers("charagram-7")
    claims = {}
    if {"charagram", "word_average"} <= set(table.columns):
        claims = {
            "charagram is above word_average at all lengths": is_above_throughout(
                table.column("charagram").values(), table.column("word_average").values()
            )
        }
    return Made(with_columns(table, paper), paper, claims)


def _words(context: Context) -> list[str]:
    return [word for word, _ in context.word_counts(_PAIRS).most_common(_NUM_WORDS)]


def _table_8(context: Context) -> Made:
    embeds = context.embeds({name: _SENTENCES[name] for name in ("charagram", "word_average")})
    table = neighbors.nearest_texts(embeds, neighbors.BIGRAMS, _words(context), k=3)
    claims = {}
    if "word_average" in embeds:
        nearest = [str(cell).split(", ")[0] for cell in table.column("word_average").values()]
        claims = {"for word_average the word nearest to each is not": set(nearest) == {"not"}}
    return Made(with_paper(table, "charagram-8"), None, claims)


def _table_9(context: Context) -> Made:
    texts = (text for pair in context.pairs(_PAIRS) for text in pair)
    scored = (text for pairs in context.all_sts_sets for text in (*pairs.left, *pairs.right))
    candidates = [*_words(context), *chain.from_iterable(words_of(scored))]
    table = neighbors.nearest_texts(
        context.embeds({"charagram": _SENTENCES["charagram"]}), neighbors.CHARAGRAM_WORDS,
        candidates, k=8, known=seen_in(neighbors.CHARAGRAM_WORDS, texts),
    )  # fmt: skip
    return Made(with_paper(table, "charagram-9"))


def _table_10(context: Context) -> Made:
    embedders = context.embedders({"charagram": _SENTENCES["charagram"]})
    return Made(with_paper(neighbors.nearest_ngrams(embedders, neighbors.NGRAMS), "charagram-10"))


def _figure_1(context: Context) -> Made:
    words = {
        name: run_folder(context.out, f"words/{name}")
        for name in _ENCODERS if context.is_trained(f"words/{name}")
    }  # fmt: skip
    table = convergence(words, "SL999", unit="examples")
    rows = [*table.rows, *_tagging_rows(context)]
    columns = ("run", "epochs", "pairs", "best", "at epoch", "last")
    claims = {"charagram learns words fastest": _is_fastest(context, "SL999")}
    title = "SL999 and tagging accuracy while training"
    return Made(Table(title, columns, tuple(rows), curves=table.curves), claims=claims)


def _tagging_rows(context: Context) -> Iterator[tuple[Cell, ...]]:
    dev = context.set_name("tagged-dev")
    for name, run in _TAGGING.items():
        history = _scored(context.history(run), dev)
        points = [(record["epoch"], record["scores"][dev]) for record in history]
        if points:
            at, best = max(points, key=lambda point: point[1])
            yield f"{name}, tagging", points[-1][0], None, best, at, points[-1][1]


def _is_fastest(context: Context, score: str) -> bool | None:
    """Returns whether charagram leads at the end of the shortest run; `None` without all runs."""
    histories = {name: _scored(context.history(f"words/{name}"), score) for name in _ENCODERS}
    if not all(histories.values()):
        return None
    end = min(history[-1]["examples"] for history in histories.values())
    at_end = {
        name: max(record["scores"][score] for record in history if record["examples"] <= end)
        for name, history in histories.items()
    }
    return max(at_end, key=lambda name: at_end[name]) == "charagram"


_WORD_RUNS = tuple(f"words/{name}" for name in _ENCODERS)
_OPEN_VOCABULARY = (
    "Words are unknown that do not occur in the training pairs; the paper's are those GloVe lacks."
)

_OF_WORDS = (
    "With half of our pairs, charagram loses 9.1 on SL999 and 6.2 on WS353 (results.md); the paper "
    "has four times as many as we."
)
_OF_TAGS = (
    "With half of the sentences, charagram loses 1.3 (results.md); the paper has three times as "
    "many as we."
)
_OF_SENTENCES = ("Settings were not tuned: charagram has those its authors released.", FEWER_PAIRS)

ENTRIES = (
    Entry("charagram/table-1", "word similarity of the character encoders", _table_1, _WORD_RUNS,
          ("Chosen by the best evaluation of one run; the paper also chose the settings.",
           _OF_WORDS)),
    Entry("charagram/table-2", "SL999 with more n-grams", _table_2,
          ("words/charagram-large", "words/charagram"), (_OF_WORDS,)),
    Entry("charagram/table-3", "textual similarity by year", _table_3,
          tuple(_SENTENCES.values()), _OF_SENTENCES),
    Entry("charagram/table-4", "part-of-speech tagging", _table_4, tuple(_TAGGING.values()),
          (_OF_TAGS,)),
    Entry("charagram/table-5", "numbers and orders of n-grams", _table_5, _SIZE_RUNS,
          ("The activation was not tuned: linear for words and tags, tanh for sentences.",)),
    Entry("charagram/table-6", "scores by unknown words", _table_6, tuple(_COMPARED.values()),
          (_OPEN_VOCABULARY, *_OF_SENTENCES)),
    Entry("charagram/table-7", "scores by length", _table_7, tuple(_COMPARED.values()),
          _OF_SENTENCES),
    Entry("charagram/table-8", "nearest words of bigrams with not", _table_8,
          tuple(_COMPARED.values()), _OF_SENTENCES),
    Entry("charagram/table-9", "nearest words of words, seen and unseen", _table_9,
          (_SENTENCES["charagram"],), _OF_SENTENCES),
    Entry("charagram/table-10", "nearest n-grams of n-grams", _table_10,
          (_SENTENCES["charagram"],), _OF_SENTENCES),
    Entry("charagram/table-11", "textual similarity by set",
          lambda context: _sts("charagram-11", context), tuple(_SENTENCES.values()),
          _OF_SENTENCES),
    Entry("charagram/figure-1", "scores while training", _figure_1,
          (*_WORD_RUNS, *_TAGGING.values())),
)  # fmt: skip
