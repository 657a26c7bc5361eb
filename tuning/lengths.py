"""How long the trials of the papers are: what `tune --preset paper` takes for lengths left open.

Sources as in `grids`.
"""

from __future__ import annotations

from typing import NamedTuple

from tf_charagram.encoders import vectorizer_of


class TrialLength(NamedTuple):
    """The length of a trial.

    Attributes:
        epochs: Passes over what it trains on.
        examples: Pairs chosen at random to train on; `None` for all.
    """

    epochs: float
    examples: int | None = None


def paper_length(task: str, encoder: str, space: str, *, freeze: bool = False) -> TrialLength:
    """Returns the length of the trials of the papers.

    Args:
        task: A task with a grid in the papers.
        encoder: Name of the encoder.
        space: Name of the space; averages of words were tuned three times, each in its own way.
        freeze: Whether only a head is trained.
    """
    if task == "words":
        return TrialLength(1)  # C 4.1.3
    if task == "pos":
        return TrialLength(50)  # C 4.2
    if task != "sentences":
        return TrialLength(20 if freeze else 10)  # U 4.4.2, 4.4; S 4.2
    if vectorizer_of(encoder) != "words" or space == "charagram":
        return TrialLength(1)  # C 4.1.4: one pass through PPDB XL
    if encoder == "cse" or space == "paragram-xxl":
        return TrialLength(10)  # S 4.1; U 4.3
    return TrialLength(5, 100_000)  # U 4.2.1
