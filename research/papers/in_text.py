"""The numbers in the text of Charagram and of Universal, which have no table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from research.analysis.margins import training_margins
from research.analysis.norms import word_norms
from research.analysis.parameters import active_parameters
from research.analysis.table import Cell
from research.analysis.undertrained import SELDOM, scores_by_seldom_words
from research.analysis.words import words_of
from research.baselines.word_average import WordVectorAverage
from research.baselines.word_tables import VectorsInMemory
from research.paper_numbers import PAPER_MEAN, PAPER_SETS, with_means
from research.papers.charagram import best_scores
from research.papers.claims import is_above, is_within
from research.papers.context import Context
from research.papers.entry import Entry, Made
from research.papers.runs import UNTUNED
from research.papers.shapes import beside
from tf_charagram.evaluation._scores.scores import score_sets
from tf_charagram.models._answers.vectors import unit_rows

_CHARACTERS = ("char_cnn", "char_lstm")
_MARGINS = {
    "word_average": "sentences/word_average", "projection": "sentences/projection",
    "lstm": "sentences/lstm", "lstm, no gate": "sentences/lstm-no-gate",
}  # fmt: skip
#: Number of training pairs whose margins are computed.
_NUM_PAIRS = 20_000
#: The run whose vectors of words stand in for PARAGRAM-SL999.
_FIRST_VECTORS = "words/charagram"
_WORD_AVERAGE = {"word_average": "sentences/word_average"}


def _charagram(context: Context) -> Made:
    best = best_scores(context.history(_FIRST_VECTORS), "SL999")
    ours: dict[str, Cell] = {"Rare Words, Spearman x 100, chosen by SL999": best.get("RW")}
    words = context.embedders({name: f"words/{name}" for name in _CHARACTERS})
    for name, count in active_parameters(words, ["a text"]).column("parameters").items():
        ours[f"parameters of {name}, words"] = count
    if context.is_trained("sentences/charagram"):
        texts = [text for pairs in context.sts_sets for text in (*pairs.left, *pairs.right)]
        table = active_parameters(context.embedders({"": "sentences/charagram"}), texts)
        (used,) = table.column("by one of 100 characters").values()
        ours["parameters of charagram in use by a sentence of 100 characters"] = used
    return beside("charagram-text", {"value": ours}, "Numbers in the text")


def _universal(context: Context) -> Made:
    ours: dict[str, Cell] = {}
    counts = context.word_counts("paraphrases")
    ours["words of the training pairs"] = len(counts)
    ours["words that occur more than 100 times"] = sum(n > SELDOM for n in counts.values())
    margins = training_margins(context.embeds(_MARGINS), context.pairs("paraphrases")[:_NUM_PAIRS])
    for name in margins.columns[1:]:
        ours[f"margin of the training pairs, x 100: {name}"] = margins.rows[-1][
            margins.columns.index(name)
        ]
    if context.is_trained("sentences/word_average"):
        ours |= _of_word_average(context, counts)
    start, learned, by_frequency = (ours.get(f"mean of STS: {name}") for name in _WEIGHTS)
    claims = {
        "the encoders have margins within 2": is_within(
            [ours.get(f"margin of the training pairs, x 100: {name}") for name in _MARGINS], 2.0
        ),
        "more seldom seen words go with lower scores": is_above(
            0.0, [ours.get("share of seldom seen words and score, Spearman x 100")]
        ),
        "vectors scaled by the lengths that training gives words are better than before": is_above(
            learned, [start]
        ),
        "inverse frequency is a worse weight than none": is_above(start, [by_frequency]),
    }
    return beside("universal-text", {"value": ours}, "Numbers in the text", claims)


_WEIGHTS = (
    "word vectors at the start", "scaled by the lengths that word_average learned",
    "scaled by inverse frequency",
)  # fmt: skip


def _of_word_average(context: Context, counts: dict[str, int]) -> dict[str, Cell]:
    """Returns the numbers of sections 5.1 and 6."""
    sets = [pairs for pairs in context.all_sts_sets if pairs.name in PAPER_SETS]
    seldom = scores_by_seldom_words(context.embeds(_WORD_AVERAGE), sets, counts).rows[-1][-1]
    texts = [text for pairs in sets for text in (*pairs.left, *pairs.right)]
    words = list(dict.fromkeys(chain.from_iterable(words_of(texts))))
    embedders = context.embedders({"start": _FIRST_VECTORS, **_WORD_AVERAGE})
    vectors = {name: embedder.encode(words) for name, embedder in embedders.items()}
    trained = {word: counts[word] for word in words if counts.get(word, 0) >= SELDOM}
    scores = context.scores("sentences/word_average")
    norms = word_norms({"": embedders["word_average"]}, trained, k=5).column("")
    ours: dict[str, Cell] = {
        "share of seldom seen words and score, Spearman x 100": seldom,
        "mean of STS: word_average": with_means(scores)[PAPER_MEAN],
        "longest vectors": norms["longest"],
        "shortest vectors": norms["shortest"],
    }
    if "start" in vectors:
        weights = (
            np.ones(len(words)),
            np.abs(vectors["word_average"]).sum(axis=1),
            1 / np.array([max(1, counts.get(word, 0)) for word in words]),
        )
        for name, weight in zip(_WEIGHTS, weights, strict=True):
            scaled = (weight[:, np.newaxis] * vectors["start"]).astype(np.float32)
            average = WordVectorAverage(VectorsInMemory(words, scaled))

            def embed(texts: Sequence[str], average: WordVectorAverage = average) -> np.ndarray:
                return unit_rows(average.encode(texts))

            scored = {score.name: score.value for score in score_sets(embed, sets)}
            ours[f"mean of STS: {name}"] = with_means(scored)[PAPER_MEAN]
    return ours


CHARAGRAM = Entry(
    "charagram/text", "numbers in the text", _charagram,
    (_FIRST_VECTORS, *(f"words/{name}" for name in _CHARACTERS), "sentences/charagram"),
    ("Parameters of char_cnn are of the small filters; the paper's are the most that it tried.",),
)  # fmt: skip
UNIVERSAL = Entry(
    "universal/text", "numbers in the text", _universal, (*_MARGINS.values(), _FIRST_VECTORS),
    ("Vectors of words of words/charagram stand in for PARAGRAM-SL999 at the start.",
     "Means are over the sets that are here, the paper's over all 22.",
     f"Margins are of {_NUM_PAIRS:,} pairs. Vectors are of words of STS that occur {SELDOM} times.",
     UNTUNED),
)  # fmt: skip
