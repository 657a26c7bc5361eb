"""Counting n-grams on a Ray cluster: nodes count whole files, this process adds up what they found.

Every node must see the files under the same paths.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tf_charagram.bulk.ray_engine import ray_errors, start_ray
from tf_charagram.bulk.text_sources import TextSource
from tf_charagram.data.bad_lines import BadLines
from tf_charagram.errors import DataError, RunError
from tf_charagram.text.counting import CountSettings, NgramCounter, NgramCounts

# Keys sent at a time, 16 bytes each.
_MOST_SENT = 500_000


def count_on_ray(
    counter: NgramCounter,
    sources: Sequence[TextSource],
    bad_lines: BadLines,
    workers: int | None,
    advance: Callable[[int], None],
) -> None:
    """Counts texts on Ray, each source in a task with a core of its own.

    Args:
        counter: Adds up the counts.
        sources: Where the texts come from.
        bad_lines: What to do about bad lines; gets those that the tasks skipped.
        workers: Most tasks at the same time; `None` for as many as there are cores.
        advance: Called with the number of texts in a source that was counted.

    Raises:
        RunError: Reading or counting failed somewhere, or counts cannot be spilled to disk.
    """
    settings, policy = counter.settings, bad_lines.on_bad_line

    def count(row: dict[str, Any]) -> Iterator[dict[str, bytes]]:
        try:
            yield from (
                {"sent": pickle.dumps(sent)}
                for sent in _counts(sources[row["item"]], settings, policy)
            )
        except DataError as error:  # Its constructor is not the one that unpickling calls.
            raise RunError(str(error)) from None

    ray, data, context = start_ray()
    with data.DataContext.current(context):
        numbers = data.from_items(range(len(sources)), override_num_blocks=len(sources))
        rows = numbers.flat_map(count, num_cpus=1, concurrency=workers)
    with ray_errors(ray):
        for row in rows.iter_rows():
            sent = pickle.loads(row["sent"])
            if isinstance(sent, NgramCounts):
                counter.add(sent)
            else:
                num_texts, skipped = sent
                advance(num_texts)
                bad_lines.add(skipped)


def _counts(
    source: TextSource, settings: CountSettings, policy: str
) -> Iterator[NgramCounts | tuple[int, BadLines]]:
    """Counts a source; yields the counts in parts, then the number of texts and of bad lines."""
    bad_lines, num_texts = BadLines(policy), 0

    def texts() -> Iterator[str]:
        nonlocal num_texts
        for text in source.texts(bad_lines):
            num_texts += 1
            yield text

    with NgramCounter(settings) as counter:
        counter.count(texts(), num_threads=1)
        for part in counter.parts():
            for start in range(0, len(part.counted.keys), _MOST_SENT):
                yield part._replace(counted=part.counted.part(start, start + _MOST_SENT))
    yield num_texts, bad_lines
