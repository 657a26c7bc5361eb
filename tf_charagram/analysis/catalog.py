"""The analyses that `charagram analyze` knows, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tf_charagram.analysis import neighbors
from tf_charagram.analysis.disagreements import disagreements
from tf_charagram.analysis.inputs import Inputs
from tf_charagram.analysis.length import scores_by_length
from tf_charagram.analysis.margins import training_margins
from tf_charagram.analysis.norms import most_frequent_tags, ngram_norms, word_norms
from tf_charagram.analysis.parameters import active_parameters
from tf_charagram.analysis.runs import convergence, score_by_amount
from tf_charagram.analysis.shares import ngram_shares
from tf_charagram.analysis.table import Table
from tf_charagram.analysis.undertrained import scores_by_seldom_words
from tf_charagram.analysis.unknown import scores_by_unknown_ngrams, scores_by_unknown_words
from tf_charagram.errors import ConfigError


class Analysis(NamedTuple):
    """An analysis.

    Attributes:
        purpose: What it shows, and of which flags.
        make: Computes it.
    """

    purpose: str
    make: Callable[[Inputs], Table]


def _unknown_words(inputs: Inputs) -> Table:
    return scores_by_unknown_words(inputs.embeds, inputs.sentence_sets, inputs.word_counts)


def _unknown_ngrams(inputs: Inputs) -> Table:
    first = next(iter(inputs.embedders.values()))
    neighbors.ngram_vectors(first)
    return scores_by_unknown_ngrams(inputs.embeds, inputs.sentence_sets, first.vectorizer)


def _neighbors(inputs: Inputs) -> Table:
    queries = inputs.queries or (*neighbors.BIGRAMS, *neighbors.CHARAGRAM_WORDS)
    known = inputs.word_counts if inputs.train_data else ()
    return neighbors.nearest_texts(
        inputs.embeds, queries, inputs.vocabulary, k=inputs.k, known=known
    )


def _ngrams(inputs: Inputs) -> Table:
    return neighbors.nearest_ngrams(
        inputs.embedders, inputs.queries or neighbors.NGRAMS, k=inputs.k
    )


def _texts_or_queries(inputs: Inputs) -> list[str]:
    return list(inputs.queries) or inputs.vocabulary


def _shares(inputs: Inputs) -> Table:
    if not inputs.queries:
        raise ConfigError("This analysis needs --query: the texts to divide. Repeat it for more.")
    return ngram_shares(inputs.embedders, inputs.queries, k=inputs.k)


def _score(inputs: Inputs) -> str:
    if inputs.score is None:
        raise ConfigError("This analysis needs --score: a set of the history, such as SL999.")
    return inputs.score


ANALYSES = {
    "length": Analysis(
        "scores by number of words (--eval-data)",
        lambda inputs: scores_by_length(inputs.embeds, inputs.sentence_sets),
    ),
    "unknown-words": Analysis(
        "scores by number of words not in the training texts (--eval-data, --train-data)",
        _unknown_words,
    ),
    "unknown-ngrams": Analysis(
        "scores by number of n-grams the first model has no vector of (--eval-data)",
        _unknown_ngrams,
    ),
    "neighbors": Analysis(
        "nearest neighbours of words and bigrams (--query, --texts, --train-data)", _neighbors
    ),
    "ngrams": Analysis("nearest neighbours of n-grams by their own vectors (--query)", _ngrams),
    "word-norms": Analysis(
        "lengths of word vectors, frequency, parts of speech (--train-data, --tagged)",
        lambda inputs: word_norms(
            inputs.embedders, inputs.word_counts, most_frequent_tags(inputs.tags)
        ),
    ),
    "ngram-norms": Analysis(
        "lengths of n-gram vectors, frequency, order (--texts)",
        lambda inputs: ngram_norms(inputs.embedders, inputs.vocabulary),
    ),
    "shares": Analysis("how a text's vector divides among its n-grams (--query)", _shares),
    "margins": Analysis(
        "cosines of training pairs less those of their negatives (--train-data)",
        lambda inputs: training_margins(inputs.embeds, inputs.pairs),
    ),
    "seldom": Analysis(
        "scores by the share of words seldom seen in training (--eval-data, --train-data)",
        lambda inputs: scores_by_seldom_words(
            inputs.embeds, inputs.sets("sts"), inputs.word_counts
        ),
    ),
    "disagreements": Analysis(
        "pairs that two models judge most differently (--eval-data)",
        lambda inputs: disagreements(inputs.embeds, inputs.sentence_sets, k=inputs.k),
    ),
    "parameters": Analysis(
        "parameters in all and in use by a text (--query or --texts)",
        lambda inputs: active_parameters(inputs.embedders, _texts_or_queries(inputs)),
    ),
    "convergence": Analysis(
        "scores while runs trained, side by side (--score)",
        lambda inputs: convergence(inputs.runs, _score(inputs)),
    ),
    "amount": Analysis(
        "scores of runs by their amount of data (--score)",
        lambda inputs: score_by_amount(inputs.runs, _score(inputs)),
    ),
}
