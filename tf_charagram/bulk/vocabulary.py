"""Counting the n-grams of many files from start to end, with either engine."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence

from tf_charagram.bulk.counting_settings import VocabularyConfig
from tf_charagram.bulk.ray_counting import count_on_ray
from tf_charagram.bulk.ray_engine import check_ray
from tf_charagram.bulk.text_sources import TextSource, find_sources
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.reporting.progress import ProgressLine
from tf_charagram.text.counting import CountSettings, NgramCounter
from tf_charagram.text.validation import check_counting
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary

logger = logging.getLogger(__name__)

# Texts after which the line of progress moves.
_STEP = 10_000


def count_vocabulary(config: VocabularyConfig) -> NgramVectorizer:
    """Counts n-grams, and makes a vectorizer of those that are frequent enough.

    Args:
        config: What is counted, and how.

    Raises:
        ConfigError: A setting is out of range, Ray is not installed, or no n-gram is left.
        DataError: A file cannot be read, or has a bad line.
        RunError: Counts cannot be spilled to disk, or a task of Ray failed.
    """
    check_counting(config.min_count, max_per_order=config.max_per_order)
    settings = CountSettings(
        config.ngrams, unicode_form=config.unicode_form, max_chars=config.max_chars
    )
    if config.engine == "ray":
        check_ray(config.workers)
    count = count_on_ray if config.engine == "ray" else count_here
    sources, bad_lines = find_sources(config), BadLines(config.on_bad_line)
    with NgramCounter(settings) as counter, _Progress() as progress:
        count(counter, sources, bad_lines, config.workers, progress.advance)
        if bad_lines.count:
            logger.warning("%s", bad_lines.summary())
        vocabulary = NgramVocabulary.from_counter(counter, config.min_count, config.max_per_order)
        progress.finish(len(vocabulary))
    return NgramVectorizer(
        vocabulary=vocabulary, unicode_form=config.unicode_form, max_chars=config.max_chars
    )


def count_here(
    counter: NgramCounter,
    sources: Sequence[TextSource],
    bad_lines: BadLines,
    workers: int | None,
    advance: Callable[[int], None],
) -> None:
    """Counts texts in threads of this process.

    Args:
        counter: Counts them.
        sources: Where they come from.
        bad_lines: What to do about bad lines.
        workers: Number of threads; `None` for one per core.
        advance: Called with the number of texts that were read since the last call.

    Raises:
        DataError: A file cannot be read, or has a bad line.
        RunError: Counts cannot be spilled to disk.
    """

    def texts() -> Iterator[str]:
        unreported = 0
        for source in sources:
            for text in source.texts(bad_lines):
                yield text
                unreported += 1
                if unreported == _STEP:
                    advance(unreported)
                    unreported = 0
        advance(unreported)

    counter.count(texts(), num_threads=workers)


class _Progress:
    """How many texts were counted, and how fast."""

    def __init__(self) -> None:
        self._num_texts = 0
        self._start = time.perf_counter()
        self._line = ProgressLine(None)

    def __enter__(self) -> _Progress:
        self._line.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(*error)

    def advance(self, num_texts: int) -> None:
        """Adds texts."""
        self._num_texts += num_texts
        speed = self._num_texts / max(time.perf_counter() - self._start, 1e-9)
        self._line.update(f"{self._num_texts:,} texts", [f"{speed:,.0f} texts/s"])

    def finish(self, num_ngrams: int) -> None:
        """Prints the line at the end."""
        seconds = time.perf_counter() - self._start
        self._line.say(f"{self._num_texts:,} texts in {seconds:,.1f} s: {num_ngrams:,} n-grams")
