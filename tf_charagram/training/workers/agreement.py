"""Makes sure, before the first step, that all workers are about to train the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tf_charagram.errors import CharagramError, ConfigError
from tf_charagram.optimizers.exchange import Exchange

_MOST_SHOWN = 8


@contextmanager
def failing_together(exchange: Exchange) -> Iterator[dict[str, Any]]:
    """Runs what each worker prepares for itself, and then compares what the workers have.

    Yields:
        A dictionary to fill with what is to be the same on all workers, as JSON.

    Raises:
        ConfigError: A worker failed, or has something else than the chief; the chief says which
            and what.
        CharagramError: This one failed.
    """
    facts: dict[str, Any] = {}
    try:
        yield facts
    except CharagramError as error:
        exchange.json({"error": str(error)})
        raise
    answers = exchange.json({"facts": facts})
    problems = [
        f"worker {rank}: {problem}"
        for rank, answer in enumerate(answers)
        for problem in _problems(answer, answers[0])
    ]
    if problems:
        shown = "\n".join(f"  {problem}" for problem in problems[:_MOST_SHOWN])
        more = len(problems) - _MOST_SHOWN
        rest = f"\n  and {more} more" if more > 0 else ""
        raise ConfigError(
            f"The {exchange.size} workers cannot train together; worker 0 is the chief:\n"
            f"{shown}{rest}\nGive all of them the same flags, files and versions."
        )


def _problems(answer: Mapping[str, Any], chief: Mapping[str, Any]) -> list[str]:
    """Returns what is wrong with a worker, compared with the chief."""
    if "error" in answer:
        return [answer["error"]]
    own, expected = answer["facts"], chief.get("facts", answer["facts"])
    return [
        f"{name} is {_shown(own.get(name))}, the chief has {_shown(expected.get(name))}"
        for name in sorted({*own, *expected})
        if own.get(name) != expected.get(name)
    ]


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)
