"""The analyses that `charagram analyze` knows, by name.

Each loads its module when it is called: listing them needs no TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tf_charagram.errors import ConfigError

if TYPE_CHECKING:
    from research.analysis.inputs import Inputs
    from research.analysis.table import Table


class Analysis(NamedTuple):
    """An analysis.

    Attributes:
        purpose: What it shows.
        make: Computes it.
        flags: The settings that it reads, besides the models and `--on-bad-line`.
    """

    purpose: str
    make: Callable[[Inputs], Table]
    flags: tuple[str, ...]


def _length(inputs: Inputs) -> Table:
    from research.analysis.length import scores_by_length

    return scores_by_length(inputs.embeds, inputs.sentence_sets)


def _unknown_words(inputs: Inputs) -> Table:
    from research.analysis.unknown import scores_by_unknown_words

    return scores_by_unknown_words(inputs.embeds, inputs.sentence_sets, inputs.word_counts)


def _unknown_ngrams(inputs: Inputs) -> Table:
    from research.analysis.neighbors import ngram_vectors
    from research.analysis.unknown import scores_by_unknown_ngrams

    first = next(iter(inputs.embedders.values()))
    ngram_vectors(first)  # raises an error for a model without n-grams
    return scores_by_unknown_ngrams(inputs.embeds, inputs.sentence_sets, first.vectorizer)


def _neighbors(inputs: Inputs) -> Table:
    from research.analysis.neighbors import BIGRAMS, CHARAGRAM_WORDS, nearest_texts
    from research.analysis.words import seen_in

    queries = inputs.queries or (*BIGRAMS, *CHARAGRAM_WORDS)
    known = None
    if inputs.train_data:
        known = seen_in(queries, (text for pair in inputs.pairs for text in pair))
    return nearest_texts(inputs.embeds, queries, inputs.vocabulary, k=inputs.k, known=known)


def _ngrams(inputs: Inputs) -> Table:
    from research.analysis.neighbors import NGRAMS, nearest_ngrams

    return nearest_ngrams(inputs.embedders, inputs.queries or NGRAMS, k=inputs.k)


def _word_norms(inputs: Inputs) -> Table:
    from research.analysis.norms import most_frequent_tags, word_norms

    tags = most_frequent_tags(inputs.tags)
    return word_norms(inputs.embedders, inputs.word_counts, tags, k=inputs.k)


def _ngram_norms(inputs: Inputs) -> Table:
    from research.analysis.norms import ngram_norms

    return ngram_norms(inputs.embedders, inputs.vocabulary, k=inputs.k)


def _shares(inputs: Inputs) -> Table:
    from research.analysis.shares import ngram_shares

    if not inputs.queries:
        raise ConfigError("This analysis needs --query: the texts to divide. Repeat it for more.")
    return ngram_shares(inputs.embedders, inputs.queries, k=inputs.k)


def _margins(inputs: Inputs) -> Table:
    from research.analysis.margins import training_margins

    return training_margins(inputs.embeds, inputs.pairs)


def _seldom(inputs: Inputs) -> Table:
    from research.analysis.undertrained import scores_by_seldom_words

    return scores_by_seldom_words(inputs.embeds, inputs.sets("sts"), inputs.word_counts)


def _disagreements(inputs: Inputs) -> Table:
    from research.analysis.disagreements import disagreements

    return disagreements(inputs.embeds, inputs.sentence_sets, k=inputs.k)


def _parameters(inputs: Inputs) -> Table:
    from research.analysis.parameters import active_parameters

    if inputs.queries and inputs.texts is not None:
        raise ConfigError("Give one of --query and --texts.")
    return active_parameters(inputs.embedders, list(inputs.queries) or inputs.vocabulary)


def _convergence(inputs: Inputs) -> Table:
    from research.analysis.runs import convergence

    return convergence(inputs.runs, _score(inputs))


def _amount(inputs: Inputs) -> Table:
    from research.analysis.runs import score_by_amount

    return score_by_amount(inputs.runs, _score(inputs))


def _score(inputs: Inputs) -> str:
    if inputs.score is None:
        raise ConfigError("This analysis needs --score: a set of the history, such as SL999.")
    return inputs.score


#: Where the words of training come from.
_SEEN = ("train_data", "texts")

ANALYSES = {
    "length": Analysis("scores by number of words", _length, ("eval_data",)),
    "unknown-words": Analysis(
        "scores by number of words not in the training texts", _unknown_words,
        ("eval_data", *_SEEN),
    ),
    "unknown-ngrams": Analysis(
        "scores by number of n-grams the first model has no vector of", _unknown_ngrams,
        ("eval_data",),
    ),
    "neighbors": Analysis(
        "nearest neighbours of words and bigrams", _neighbors, ("query", *_SEEN, "k")
    ),
    "ngrams": Analysis(
        "nearest neighbours of n-grams by their own vectors", _ngrams, ("query", "k")
    ),
    "word-norms": Analysis(
        "lengths of word vectors, frequency, parts of speech", _word_norms,
        (*_SEEN, "tagged", "k"),
    ),
    "ngram-norms": Analysis(
        "lengths of n-gram vectors, frequency, order", _ngram_norms, ("texts", "k")
    ),
    "shares": Analysis("how a text's vector divides among its n-grams", _shares, ("query", "k")),
    "margins": Analysis(
        "cosines of training pairs less those of their negatives", _margins, ("train_data",)
    ),
    "seldom": Analysis(
        "scores by the share of words seldom seen in training", _seldom, ("eval_data", *_SEEN)
    ),
    "disagreements": Analysis(
        "pairs that two models judge most differently", _disagreements, ("eval_data", "k")
    ),
    "parameters": Analysis(
        "parameters in all and in use by a text", _parameters, ("query", "texts")
    ),
    "convergence": Analysis(
        "scores while runs trained, side by side", _convergence, ("score", "plot")
    ),
    "amount": Analysis("scores of runs by their amount of data", _amount, ("score", "plot")),
}  # fmt: skip
