"""Scores of predicted tags: accuracy, each tag, and the most frequent mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from tf_charagram._common.reporting import INTERVAL, interval, make_table, number
from tf_charagram.evaluation._scores.statistics import Floats, intervals_of
from tf_charagram.evaluation.classification import LabelScore, score_labels

if TYPE_CHECKING:
    from tf_charagram.tasks.tagging._conllu.data import TaggedSentence
    from tf_charagram.tasks.tagging.model import TaggedToken

Tags = Sequence[Sequence[str]]

_NUM_MISTAKES_SHOWN = 10


@dataclass(frozen=True)
class TaggingScore:
    """The score of a tagger on a set; accuracies x 100.

    Attributes:
        num_sentences: Sentences scored.
        num_tokens: Words scored.
        accuracy: Share of words with the right tag.
        interval: 95 % interval of `accuracy` by bootstrap of the sentences, if asked for.
        num_known: Words that occur in the training data.
        known_accuracy: Accuracy on them, or `None`.
        num_unknown: The other words.
        unknown_accuracy: Accuracy on them, or `None`.
        sentence_accuracy: Share of sentences with only right tags.
        tags: The score of each tag that occurs or was predicted, by name.
        mistakes: `(tag, predicted, count)` of wrong tags, most frequent first.
        raw_token_f1: F1 of the tokens that the tagger finds in the texts, or `None`.
        raw_tag_f1: The same of tokens with the right tag, as at CoNLL 2018.
    """

    num_sentences: int
    num_tokens: int
    accuracy: float
    interval: tuple[float, float] | None
    num_known: int
    known_accuracy: float | None
    num_unknown: int
    unknown_accuracy: float | None
    sentence_accuracy: float
    tags: tuple[LabelScore, ...]
    mistakes: tuple[tuple[str, str, int], ...]
    raw_token_f1: float | None = None
    raw_tag_f1: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes, for JSON."""
        return asdict(self)


def score_tags(
    gold: Tags,
    predicted: Tags,
    words: Tags,
    known: Collection[str],
    *,
    num_resamples: int = 1000,
    seed: int = 0,
) -> TaggingScore:
    """Scores the tags of sentences that have at least one word each.

    Args:
        gold: The gold tags, one sequence per sentence.
        predicted: The predicted tags, of the same shape.
        words: The words, of the same shape.
        known: The words of the training data.
        num_resamples: Bootstrap resamples for the interval; 0 for no interval.
        seed: Seed of the resamples.
    """
    lengths = np.array([len(tags) for tags in gold], np.int64)
    gold_tags = list(chain(*gold))
    found_tags = list(chain(*predicted))
    known = frozenset(known)
    pairs = list(zip(gold_tags, found_tags, strict=True))
    is_right = np.array([gold_tag == tag for gold_tag, tag in pairs])
    is_known = np.array([word in known for word in chain(*words)])
    first_tokens = np.cumsum(lengths) - lengths
    # Right tags per sentence. `reduceat` would be wrong for an empty sentence.
    num_right = np.add.reduceat(is_right, first_tokens, dtype=np.int64)
    sums = np.stack([num_right, lengths], axis=1).astype(np.float64)

    def resampled(counts: Floats) -> list[Floats]:
        # Sentences are resampled, not words, because the tags of a sentence depend on each other.
        num_right_drawn, num_drawn = (counts @ sums).T
        return [100 * num_right_drawn / num_drawn]

    intervals = intervals_of(
        ["accuracy"], len(lengths), resampled, num_resamples=num_resamples, seed=seed
    )
    mistakes = Counter(pair for pair in pairs if pair[0] != pair[1])
    # Ties in the order of the tags, so that the table does not depend on the sentences' order.
    most_frequent = sorted(mistakes.items(), key=lambda item: (-item[1], item[0]))
    label_scores = score_labels(
        gold_tags, found_tags, sorted({*gold_tags, *found_tags}), num_resamples=0
    )
    return TaggingScore(
        num_sentences=len(lengths),
        num_tokens=len(pairs),
        accuracy=100 * float(np.mean(is_right)),
        interval=intervals.get("accuracy"),
        num_known=int(np.sum(is_known)),
        known_accuracy=_accuracy(is_right[is_known]),
        num_unknown=int(np.sum(~is_known)),
        unknown_accuracy=_accuracy(is_right[~is_known]),
        sentence_accuracy=100 * float(np.mean(num_right == lengths)),
        tags=label_scores.labels,
        mistakes=tuple((*pair, count) for pair, count in most_frequent),
    )


def score_raw(
    sentences: Iterable[TaggedSentence], tagged: Iterable[Sequence[TaggedToken]]
) -> tuple[float, float]:
    """Scores the tokens and tags that a tagger finds in texts (Zeman et al. 2018).

    A token is right if its characters are those of a gold word, however much space is around it.

    Args:
        sentences: The gold sentences.
        tagged: The tokens found in the text of each sentence, with their offsets.

    Returns:
        F1 x 100 of the tokens, and of tokens with the right tag.
    """
    gold: Counter[tuple[int, int, int, str]] = Counter()
    found: Counter[tuple[int, int, int, str]] = Counter()
    for place, (sentence, tokens) in enumerate(zip(sentences, tagged, strict=True)):
        # Places are counted without spaces, because a word may have one.
        before = [0, *accumulate(not letter.isspace() for letter in sentence.text)]
        for token in tokens:
            found[place, before[token.start or 0], before[token.end or 0], token.tag] += 1
        end = 0
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            start, end = end, end + len("".join(word.split()))
            gold[place, start, end, tag] += 1
    total = (gold.total() + found.total()) / 2
    places = [Counter(token[:3] for token in counts) for counts in (gold, found)]
    token_f1 = 100 * (places[0] & places[1]).total() / total
    return token_f1, 100 * (gold & found).total() / total


def _accuracy(is_right: NDArray[np.bool_]) -> float | None:
    return 100 * float(np.mean(is_right)) if len(is_right) else None


def tagging_tables(name: str, score: TaggingScore) -> list[Table]:
    """Returns tables of the accuracies, of each tag, and of the most frequent mistakes, if any.

    Args:
        name: Name of the set, which begins the titles.
        score: Its score.
    """
    accuracies = make_table("Accuracy x 100", ["of"], ["count", "accuracy", INTERVAL])
    bounds = interval(score.interval)
    for unit, count, accuracy, interval_text in (
        ("all words", score.num_tokens, score.accuracy, bounds),
        ("known words", score.num_known, score.known_accuracy, "-"),
        ("unknown words", score.num_unknown, score.unknown_accuracy, "-"),
        ("whole sentences", score.num_sentences, score.sentence_accuracy, "-"),
        ("raw text: tokens, F1", score.num_tokens, score.raw_token_f1, "-"),
        ("raw text: tags, F1", score.num_tokens, score.raw_tag_f1, "-"),
    ):
        accuracies.add_row(unit, f"{count:,}", number(accuracy), interval_text)
    tags = make_table("Tags", ["tag"], ["count", "precision", "recall", "F1"])
    for tag in sorted(score.tags, key=lambda tag: -tag.support):
        rates = [number(rate) for rate in (tag.precision, tag.recall, tag.f1)]
        tags.add_row(escape(tag.label), f"{tag.support:,}", *rates)
    tables = [accuracies, tags]
    if score.mistakes:
        mistakes = make_table("Most frequent mistakes", ["tag", "predicted"], ["count"])
        for gold, predicted, count in score.mistakes[:_NUM_MISTAKES_SHOWN]:
            mistakes.add_row(escape(gold), escape(predicted), f"{count:,}")
        tables.append(mistakes)
    for table in tables:
        table.title = f"{escape(name)}: {table.title}"
    return tables
