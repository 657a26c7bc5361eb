"""Scores of predicted tags: accuracy, each tag, and the confusions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.bootstrap import Floats, interval, resample_counts

Tags = Sequence[Sequence[str]]
Ints = NDArray[np.int64]
Row = TypeVar("Row", bound=tuple[Any, ...])


@dataclass(frozen=True)
class TagScore:
    """The score of one tag; numbers x 100.

    Attributes:
        tag: The tag.
        count: Words that have it.
        num_predicted: Words it was predicted for.
        precision: Share of those that have it, `None` if there are none.
        recall: Share it was predicted for of those that have it, `None` if there are none.
        f1: Harmonic mean of the two; 0 where nothing is right.
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
        num_sentences: Sentences scored, without empty ones.
        num_tokens: Words scored.
        accuracy: Share of the words whose tag is right.
        interval: 95 % interval of `accuracy`, by bootstrap of the sentences, where asked for.
        num_known: Words that were seen in training.
        known_accuracy: Accuracy on them, `None` if there are none.
        num_unknown: The other words.
        unknown_accuracy: Accuracy on them, `None` if there are none.
        sentence_accuracy: Share of the sentences whose tags are all right.
        tags: The score of each tag that occurs or was predicted, in the order of names.
        confusions: `(gold, predicted, count)` of wrong tags, most frequent first.
        unseen_tags: `(tag, count)` of tags that were not seen in training, most frequent first:
            words that no tagger trained so can get right.
        draws: `"accuracy"` in the resamples, `(num_resamples,)`, where asked for.
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
    unseen_tags: tuple[tuple[str, int], ...] = ()
    draws: dict[str, Floats] = field(default_factory=dict, repr=False, compare=False)

    @property
    def metrics(self) -> dict[str, float | None]:
        """The numbers that two systems are compared by."""
        return {
            "accuracy": self.accuracy,
            "known_accuracy": self.known_accuracy,
            "unknown_accuracy": self.unknown_accuracy,
            "sentence_accuracy": self.sentence_accuracy,
        }

    def top_confusions(self, k: int = 10) -> tuple[tuple[str, str, int], ...]:
        """Returns the `k` most frequent mistakes as `(gold, predicted, count)`."""
        return self.confusions[:k]

    def to_dict(self) -> dict[str, Any]:
        """Returns the attributes, but for the draws, as lists, dictionaries and numbers."""
        attributes = {name: _as_json(value) for name, value in asdict(self).items()}
        del attributes["draws"]
        return attributes


def score_tags(
    gold: Tags,
    predicted: Tags,
    words: Tags,
    known: Collection[str],
    *,
    known_tags: Collection[str] | None = None,
    num_resamples: int = 1000,
    seed: int = 0,
) -> TaggingScore:
    """Scores the tags of sentences.

    A tag counts as right if it equals the gold tag, so a word whose gold tag was not seen in
    training counts as wrong.

    Args:
        gold: The gold tags, one sequence per sentence.
        predicted: The predicted tags, as many for each sentence.
        words: The words, as many for each sentence.
        known: The words seen in training, as they are written in `words`.
        known_tags: The tags seen in training. Default: those of `gold` all are.
        num_resamples: Bootstrap resamples for the interval; 0 for none.
        seed: Seed of the resamples.

    Raises:
        ConfigError: The numbers of sentences or words differ, or there is no word.
    """
    lengths = _common_lengths(gold, predicted, words)
    names = sorted({*chain(*gold), *chain(*predicted)})
    index = {name: i for i, name in enumerate(names)}
    gold_ids = _flat(index.__getitem__, gold, lengths)
    ids = _flat(index.__getitem__, predicted, lengths)
    is_known = _flat(frozenset(known).__contains__, words, lengths).astype(bool)
    is_right = gold_ids == ids
    num_right = np.add.reduceat(is_right, np.cumsum(lengths) - lengths, dtype=np.int64)
    draws = _draws(num_right, lengths, num_resamples, seed) if num_resamples else None
    tags = tuple(_tag_scores(names, gold_ids, ids))
    unseen = () if known_tags is None else set(names).difference(known_tags)
    return TaggingScore(
        num_sentences=len(lengths),
        num_tokens=len(ids),
        accuracy=100 * float(np.mean(is_right)),
        interval=None if draws is None else interval(draws),
        num_known=int(np.sum(is_known)),
        known_accuracy=_accuracy(is_right[is_known]),
        num_unknown=int(np.sum(~is_known)),
        unknown_accuracy=_accuracy(is_right[~is_known]),
        sentence_accuracy=100 * float(np.mean(num_right == lengths)),
        tags=tags,
        confusions=_confusions(names, gold_ids[~is_right], ids[~is_right]),
        unseen_tags=_most_frequent(
            (score.tag, score.count) for score in tags if score.count and score.tag in unseen
        ),
        draws={} if draws is None else {"accuracy": draws},
    )


def _common_lengths(gold: Tags, predicted: Tags, words: Tags) -> Ints:
    """Returns the number of words of each sentence, without empty ones."""
    sides = {"gold": gold, "predicted": predicted, "words": words}
    counts = {name: len(rows) for name, rows in sides.items()}
    what = "sentences"
    if len(set(counts.values())) == 1:
        for i, rows in enumerate(zip(gold, predicted, words, strict=True)):
            counts = dict(zip(sides, map(len, rows), strict=True))
            if len(set(counts.values())) > 1:
                what = f"words in sentence {i}"
                break
    if len(set(counts.values())) > 1:
        received = ", ".join(f"{count} in `{name}`" for name, count in counts.items())
        raise ConfigError(f"The numbers of {what} must be equal. Received: {received}")
    lengths = np.array([len(row) for row in gold if len(row)], np.int64)
    if not len(lengths):
        raise ConfigError("There is no word to score. Received: no sentence, or empty ones only")
    return lengths


def _flat(of: Callable[[str], int], rows: Tags, lengths: Ints) -> Ints:
    """Returns a number for each string of all sentences, `(num_tokens,)`."""
    return np.fromiter(map(of, chain.from_iterable(rows)), np.int64, int(lengths.sum()))


def _tag_scores(names: Sequence[str], gold: Ints, ids: Ints) -> Iterator[TagScore]:
    sides = (gold, ids, gold[gold == ids])
    counts = (np.bincount(side, minlength=len(names)).tolist() for side in sides)
    for name, count, predicted, right in zip(names, *counts, strict=True):
        yield TagScore(
            tag=name,
            count=count,
            num_predicted=predicted,
            precision=100 * right / predicted if predicted else None,
            recall=100 * right / count if count else None,
            f1=200 * right / (count + predicted),
        )


def _confusions(names: Sequence[str], gold: Ints, ids: Ints) -> tuple[tuple[str, str, int], ...]:
    pairs, counts = np.unique(gold * len(names) + ids, return_counts=True)
    of_gold, of_predicted = np.divmod(pairs, len(names))
    return _most_frequent(
        (names[first], names[second], int(count))
        for first, second, count in zip(of_gold, of_predicted, counts, strict=True)
    )


def _most_frequent(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Returns rows whose last part is a count in the order of counts, then of names."""
    return tuple(sorted(rows, key=lambda row: (-row[-1], row)))


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
