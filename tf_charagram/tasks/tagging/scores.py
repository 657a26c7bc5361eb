"""Scores of predicted tags: accuracy, each tag, and the most frequent mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from tf_charagram.evaluation.bootstrap import Floats, interval, resample_counts
from tf_charagram.reporting.console import INTERVAL, make_table, number
from tf_charagram.reporting.console import interval as interval_cell

Tags = Sequence[Sequence[str]]
Ints = NDArray[np.int64]

_NUM_MISTAKES_SHOWN = 10


@dataclass(frozen=True)
class TagScore:
    """The score of one tag; rates x 100.

    Attributes:
        tag: The tag.
        count: Number of words that have the tag.
        num_predicted: Number of words it was predicted for.
        precision: Share of `num_predicted` that is right; `None` if it was never predicted.
        recall: Share of `count` that is right; `None` if no word has it.
        f1: Harmonic mean of the two; 0 if nothing is right.
    """

    tag: str
    count: int
    num_predicted: int
    precision: float | None
    recall: float | None
    f1: float


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
        confusions: `(gold, predicted, count)` of wrong tags, most frequent first.
        unseen_tags: `(tag, count)` of tags that the training data lack, most frequent first. The
            tagger cannot predict them.
        draws: `"accuracy"` in the resamples, `(num_resamples,)`, if asked for.
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
    tags: tuple[TagScore, ...]
    confusions: tuple[tuple[str, str, int], ...]
    unseen_tags: tuple[tuple[str, int], ...]
    draws: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @property
    def metrics(self) -> dict[str, float | None]:
        """The numbers by which two models are compared."""
        return {
            "accuracy": self.accuracy,
            "known_accuracy": self.known_accuracy,
            "unknown_accuracy": self.unknown_accuracy,
            "sentence_accuracy": self.sentence_accuracy,
        }

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes except the draws, for JSON."""
        attributes = {name: _as_json(value) for name, value in asdict(self).items()}
        del attributes["draws"]
        return attributes


def score_tags(
    gold: Tags,
    predicted: Tags,
    words: Tags,
    known: Collection[str],
    *,
    known_tags: Collection[str],
    num_resamples: int = 1000,
    seed: int = 0,
) -> TaggingScore:
    """Scores the tags of sentences, none of which is empty.

    Args:
        gold: The gold tags, one sequence per sentence.
        predicted: The predicted tags, of the same shape.
        words: The words, of the same shape.
        known: The words of the training data.
        known_tags: The tags of the training data.
        num_resamples: Bootstrap resamples for the interval; 0 for none.
        seed: Seed of the resamples.
    """
    lengths = np.array([len(tags) for tags in gold], np.int64)
    pairs = list(zip(chain(*gold), chain(*predicted), strict=True))
    known = frozenset(known)
    is_right = np.array([gold_tag == tag for gold_tag, tag in pairs])
    is_known = np.array([word in known for word in chain(*words)])
    num_right = np.add.reduceat(is_right, np.cumsum(lengths) - lengths, dtype=np.int64)
    draws = _draws(num_right, lengths, num_resamples, seed) if num_resamples else None
    tags = tuple(_tag_scores(pairs))
    wrong = Counter((gold_tag, tag) for gold_tag, tag in pairs if gold_tag != tag)
    unseen = [tag for tag in tags if tag.count and tag.tag not in known_tags]
    return TaggingScore(
        num_sentences=len(lengths),
        num_tokens=len(pairs),
        accuracy=100 * float(np.mean(is_right)),
        interval=None if draws is None else interval(draws),
        num_known=int(np.sum(is_known)),
        known_accuracy=_accuracy(is_right[is_known]),
        num_unknown=int(np.sum(~is_known)),
        unknown_accuracy=_accuracy(is_right[~is_known]),
        sentence_accuracy=100 * float(np.mean(num_right == lengths)),
        tags=tags,
        confusions=tuple((*names, count) for names, count in _most_frequent(wrong)),
        unseen_tags=tuple(_most_frequent({tag.tag: tag.count for tag in unseen})),
        draws={} if draws is None else {"accuracy": draws},
    )


def _most_frequent(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Returns names and counts by descending count, then by name."""
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def _tag_scores(pairs: Sequence[tuple[str, str]]) -> Iterator[TagScore]:
    counts = Counter(gold for gold, _ in pairs)
    num_predicted = Counter(tag for _, tag in pairs)
    num_right = Counter(tag for gold, tag in pairs if gold == tag)
    for tag in sorted(counts | num_predicted):
        count, predicted, right = counts[tag], num_predicted[tag], num_right[tag]
        yield TagScore(
            tag=tag,
            count=count,
            num_predicted=predicted,
            precision=100 * right / predicted if predicted else None,
            recall=100 * right / count if count else None,
            f1=200 * right / (count + predicted),
        )


def _draws(num_right: Ints, lengths: Ints, num_resamples: int, seed: int) -> Floats:
    """Returns the accuracy over resampled sentences, `(num_resamples,)`."""
    sums = np.stack([num_right, lengths], axis=1).astype(np.float64)
    random = np.random.default_rng(seed)
    chunks = [counts @ sums for counts in resample_counts(len(lengths), num_resamples, random)]
    right, total = np.concatenate(chunks).T
    return 100 * right / total


def _accuracy(is_right: NDArray[np.bool_]) -> float | None:
    return 100 * float(np.mean(is_right)) if len(is_right) else None


def _as_json(value: Any) -> Any:
    return [_as_json(part) for part in value] if isinstance(value, tuple) else value


def tagging_tables(name: str, score: TaggingScore) -> list[Table]:
    """Returns tables of the accuracies, of each tag, and of the most frequent mistakes, if any.

    Args:
        name: Name of the set, which begins the titles.
        score: Its score.
    """
    tables = [_accuracy_table(score), _tag_table(score)]
    if score.confusions:
        tables.append(_mistake_table(score))
    for table in tables:
        table.title = f"{escape(name)}: {table.title}"
    return tables


def _accuracy_table(score: TaggingScore) -> Table:
    table = make_table("Accuracy x 100", ["of"], ["count", "accuracy", INTERVAL])
    bounds = interval_cell(score.interval)
    table.add_row("all words", f"{score.num_tokens:,}", number(score.accuracy), bounds)
    table.add_row("known words", f"{score.num_known:,}", number(score.known_accuracy), "-")
    table.add_row("unknown words", f"{score.num_unknown:,}", number(score.unknown_accuracy), "-")
    table.add_section()
    table.add_row(
        "whole sentences", f"{score.num_sentences:,}", number(score.sentence_accuracy), "-"
    )
    return table


def _tag_table(score: TaggingScore) -> Table:
    table = make_table("Tags", ["tag"], ["count", "predicted", "precision", "recall", "F1"])
    for tag in sorted(score.tags, key=lambda tag: -tag.count):
        table.add_row(
            escape(tag.tag), f"{tag.count:,}", f"{tag.num_predicted:,}",
            number(tag.precision), number(tag.recall), number(tag.f1),
        )  # fmt: skip
    if score.unseen_tags:
        names = ", ".join(f"{tag} ({count:,})" for tag, count in score.unseen_tags)
        table.caption = escape(f"Not seen in training, so always wrong: {names}.")
    return table


def _mistake_table(score: TaggingScore) -> Table:
    table = make_table("Most frequent mistakes", ["tag", "predicted"], ["count", "share"])
    num_wrong = sum(count for _, _, count in score.confusions)
    for gold, predicted, count in score.confusions[:_NUM_MISTAKES_SHOWN]:
        table.add_row(
            escape(gold), escape(predicted), f"{count:,}", f"{100 * count / num_wrong:.1f} %"
        )
    return table
