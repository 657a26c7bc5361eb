"""The analyses of `python -m research analyze`, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from research.analysis import neighbors, norms
from research.analysis.disagreements import disagreements
from research.analysis.inputs import Inputs
from research.analysis.length import scores_by_length
from research.analysis.margins import training_margins
from research.analysis.parameters import active_parameters
from research.analysis.runs import convergence, score_by_amount
from research.analysis.shares import ngram_shares
from research.analysis.table import Table
from research.analysis.undertrained import scores_by_seldom_words
from research.analysis.unknown import scores_by_unknown_ngrams, scores_by_unknown_words
from research.analysis.words import seen_in
from tf_charagram.errors import ConfigError


class Analysis(NamedTuple):
    """An analysis.

    Attributes:
        purpose: What it shows.
        make: Computes its table.
    """

    purpose: str
    make: Callable[[Inputs], Table]


def _unknown_words(inputs: Inputs) -> Table:
    return scores_by_unknown_words(inputs.embeds, inputs.sentence_sets, inputs.word_counts)


def _unknown_ngrams(inputs: Inputs) -> Table:
    first = next(iter(inputs.embedders.values()))
    neighbors.ngram_vectors(first)  # raises an error for a model without n-grams
    return scores_by_unknown_ngrams(inputs.embeds, inputs.sentence_sets, first.vectorizer)


def _neighbors(inputs: Inputs) -> Table:
    queries = inputs.queries or (*neighbors.BIGRAMS, *neighbors.CHARAGRAM_WORDS)
    known = None
    if inputs.train_data:
        known = seen_in(queries, (text for pair in inputs.pairs for text in pair))
    return neighbors.nearest_texts(
        inputs.embeds, queries, inputs.vocabulary, k=inputs.k, known=known
    )


def _ngrams(inputs: Inputs) -> Table:
    queries = inputs.queries or neighbors.NGRAMS
    return neighbors.nearest_ngrams(inputs.embedders, queries, k=inputs.k)


def _word_norms(inputs: Inputs) -> Table:
    tags = norms.most_frequent_tags(inputs.tags)
    return norms.word_norms(inputs.embedders, inputs.word_counts, tags, k=inputs.k)


def _shares(inputs: Inputs) -> Table:
    if not inputs.queries:
        raise ConfigError("This analysis needs --query: the texts to divide. Repeat it for more.")
    return ngram_shares(inputs.embedders, inputs.queries, k=inputs.k)


def _parameters(inputs: Inputs) -> Table:
    if inputs.queries and inputs.texts is not None:
        raise ConfigError("Give one of --query and --texts.")
    return active_parameters(inputs.embedders, list(inputs.queries) or inputs.vocabulary)


def _score(inputs: Inputs) -> str:
    if inputs.score is None:
        raise ConfigError("This analysis needs --score: a set of the history, such as SL999.")
    return inputs.score


ANALYSES = {
    "length": Analysis(
        "scores by number of words",
        lambda inputs: scores_by_length(inputs.embeds, inputs.sentence_sets),
    ),
    "unknown-words": Analysis(
        "scores by number of words that are not in the training texts", _unknown_words
    ),
    "unknown-ngrams": Analysis(
        "scores by number of n-grams without a vector in the first model", _unknown_ngrams
    ),
    "neighbors": Analysis("nearest neighbours of words and bigrams", _neighbors),
    "ngrams": Analysis("nearest neighbours of n-grams by their own vectors", _ngrams),
    "word-norms": Analysis("lengths of word vectors, frequency, parts of speech", _word_norms),
    "ngram-norms": Analysis(
        "lengths of n-gram vectors, frequency, order",
        lambda inputs: norms.ngram_norms(inputs.embedders, inputs.vocabulary, k=inputs.k),
    ),
    "shares": Analysis("shares of a text's n-grams in its vector", _shares),
    "margins": Analysis(
        "cosines of training pairs minus those of their negatives",
        lambda inputs: training_margins(inputs.embeds, inputs.pairs),
    ),
    "seldom": Analysis(
        "scores by the share of words seldom seen in training",
        lambda inputs: scores_by_seldom_words(
            inputs.embeds, inputs.sets("sts"), inputs.word_counts
        ),
    ),
    "disagreements": Analysis(
        "pairs that two models judge most differently",
        lambda inputs: disagreements(inputs.embeds, inputs.sentence_sets, k=inputs.k),
    ),
    "parameters": Analysis("parameters of a model, and those used by a text", _parameters),
    "convergence": Analysis(
        "scores during training, run by run",
        lambda inputs: convergence(inputs.runs, _score(inputs)),
    ),
    "amount": Analysis(
        "scores of runs by their amount of data",
        lambda inputs: score_by_amount(inputs.runs, _score(inputs)),
    ),
}
