"""The numbers of the papers for each encoder, to print beside ours.

Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tf_charagram.data.readers.pavlick import NAME as PAVLICK
from tf_charagram.data.readers.sick import SICK_TEST
from tf_charagram.data.readers.sts import STS_SETS
from tf_charagram.data.readers.twitter import NAME as TWITTER

Numbers: TypeAlias = tuple[float, ...]

#: Names of the rows with the mean over the sets of C and U, and over those of S.
PAPER_MEAN, CSE_MEAN = "paper mean", "cse mean"

_YEARS = ("2012", "2013", "2014", "2015")
#: The 22 sets of C and U, in the order of their tables.
PAPER_SETS = (
    *(f"STS{year}.{name}" for year in _YEARS for name in STS_SETS[year]), SICK_TEST, TWITTER,
)  # fmt: skip
#: The 20 sets of S.
CSE_SETS = tuple(name for name in PAPER_SETS if name not in ("STS2013.SMT", TWITTER))


@dataclass(frozen=True)
class PaperScores:
    """What a paper reports for an encoder.

    Attributes:
        source: The encoder, and where its numbers are from.
        scores: Correlation x 100 by the name of the set or of the mean over sets.
        mean: Name of the mean over all sets of the paper.
        sets: These sets.
    """

    source: str
    scores: Mapping[str, float]
    mean: str = PAPER_MEAN
    sets: tuple[str, ...] = PAPER_SETS

    def mean_over(self, names: Iterable[str]) -> float | None:
        """Returns the mean of the numbers of some sets; `None` if one has no number."""
        names = list(names)
        values = [self.scores[name] for name in names if name in self.scores]
        return float(np.mean(values)) if values and len(values) == len(names) else None


# Pearson x 100, in the order of `PAPER_SETS`: a line for each year, then SICK and Twitter.
_C_TABLE_11: dict[str, Numbers] = {
    "char_cnn": (
        50.6, 72.2, 50.9, 61.8, 46.8,
        68.1, 54.4, 26.4, 42.0,
        45.6, 73.5, 67.4, 68.7, 66.8, 66.2,
        47.2, 75.0, 65.7, 72.2, 70.0,
        62.9, 48.6,
    ),
    "char_lstm": (
        23.6, 47.2, 38.5, 53.0, 38.3,
        54.4, 33.5, 10.6, 24.2,
        19.4, 54.6, 53.7, 53.6, 46.1, 53.6,
        27.3, 63.1, 22.6, 61.7, 52.8,
        50.3, 39.9,
    ),
    "word_average": (
        42.9, 76.1, 45.5, 70.7, 57.2,
        72.3, 70.5, 47.5, 40.3,
        50.2, 73.2, 69.1, 80.0, 79.9, 76.8,
        67.4, 78.3, 76.0, 74.5, 82.2,
        72.0, 52.7,
    ),
    "charagram": (
        59.7, 79.6, 57.2, 68.7, 65.2,
        75.0, 67.8, 42.3, 43.6,
        62.7, 77.0, 74.3, 77.6, 77.0, 79.1,
        61.5, 78.5, 77.2, 78.7, 84.4,
        70.0, 53.6,
    ),
}  # fmt: skip
_U_TABLE_2: dict[str, Numbers] = {
    "projection": (
        43.7, 74.0, 49.4, 70.1, 62.8,
        72.6, 68.0, 46.8, 39.8,
        51.1, 72.2, 70.8, 78.1, 79.5, 75.8,
        65.1, 77.8, 75.4, 75.2, 80.3,
        71.6, 52.8,
    ),
    "dan": (
        40.3, 70.0, 43.8, 65.9, 60.0,
        71.2, 64.1, 43.1, 38.3,
        49.0, 71.7, 69.2, 76.9, 75.7, 74.2,
        62.6, 78.1, 72.0, 73.5, 77.5,
        70.7, 53.7,
    ),
    "rnn": (
        18.6, 66.5, 40.9, 63.1, 51.3,
        59.5, 54.6, 30.9, 33.8,
        41.5, 53.7, 57.5, 67.6, 67.7, 58.0,
        32.8, 64.7, 51.9, 65.3, 71.4,
        61.2, 45.1,
    ),
    "identity_rnn": (
        43.4, 73.4, 47.1, 70.1, 58.1,
        72.8, 69.4, 45.3, 39.4,
        49.0, 72.4, 70.2, 78.2, 78.8, 76.9,
        67.4, 78.2, 75.9, 75.1, 81.1,
        71.2, 52.9,
    ),
    "lstm without output gate": (
        16.1, 71.3, 41.8, 65.2, 60.8,
        57.4, 68.5, 24.7, 30.1,
        44.2, 52.8, 57.5, 68.5, 76.9, 58.7,
        51.9, 71.5, 61.7, 64.0, 70.4,
        63.9, 47.6,
    ),
    "lstm": (
        9.3, 71.3, 44.3, 56.4, 51.0,
        48.5, 50.4, 38.4, 28.8,
        46.1, 39.1, 50.9, 62.9, 61.7, 48.2,
        50.7, 55.7, 52.6, 56.6, 64.2,
        59.0, 36.1,
    ),
}  # fmt: skip

# The same without SMT of 2013 and without Twitter.
_S_TABLES: dict[str, Numbers] = {
    "cse": (
        51.6, 79.8, 50.7, 69.9, 64.4,
        74.0, 72.1, 29.8,
        56.1, 70.0, 70.9, 81.6, 79.2, 74.6,
        66.2, 78.4, 68.5, 76.5, 82.9,
        71.9,
    ),
    "gran": (
        47.7, 85.2, 49.3, 71.5, 58.7,
        76.1, 81.4, 55.6,
        55.7, 77.1, 72.8, 85.8, 85.1, 78.7,
        73.1, 72.9, 78.0, 78.6, 85.8,
        72.9,
    ),
}  # fmt: skip
_S_2016: Numbers = (59.3, 75.5, 82.6, 81.4, 73.2)

#: The means that the papers state, for the years from 2012 on and for all sets. That of S for 2013
#: is over three of the four sets.
_C_MEANS: dict[str, Numbers] = {
    "char_cnn": (56.5, 47.7, 64.7, 66.0, 59.2),
    "char_lstm": (40.1, 30.7, 46.8, 45.5, 41.9),
    "word_average": (58.5, 57.7, 71.5, 75.7, 66.2),
    "charagram": (66.1, 57.2, 74.7, 76.1, 68.7),
}
_U_MEANS: dict[str, Numbers] = {
    "projection": (60.0, 56.8, 71.3, 74.8),
    "dan": (56.0, 54.2, 69.5, 72.7),
    "rnn": (48.1, 44.7, 57.7, 57.2),
    "identity_rnn": (58.4, 56.7, 70.9, 75.6),
    "lstm without output gate": (51.0, 45.2, 59.8, 63.9),
    "lstm": (46.4, 41.5, 51.5, 56.0),
}
_S_MEANS: dict[str, dict[str, float]] = {
    "cse": {
        "STS2012": 63.3, "STS2014": 72.1, "STS2015": 74.5, "STS2016": 74.4, CSE_MEAN: 68.5,
        **dict(zip((f"STS2016.{name}" for name in STS_SETS["2016"]), _S_2016, strict=True)),
    },
    "gran": {"STS2012": 62.5, "STS2014": 75.9, "STS2015": 77.7},
}  # fmt: skip

#: Spearman x 100, each chosen by the set it is for: C, tables 1 and 2 and section 4.1.3.
_C_WORDS: dict[str, dict[str, float]] = {
    "charagram": {"SL999": 70.6, "WS353": 58.35, "RW": 47.1},
    "char_cnn": {"SL999": 30.64, "WS353": 33.19},
    "char_lstm": {"SL999": 54.54, "WS353": 51.43},
}
#: Spearman x 100 on the phrases that the models were chosen by: U, table 3, oracle.
_U_PHRASES = {
    "word_average": 60.3, "projection": 61.0, "dan": 60.9, "rnn": 60.5, "identity_rnn": 60.3,
    "lstm without output gate": 61.6, "lstm": 61.5,
}  # fmt: skip
_C, _U, _S = "Charagram (2016)", "Universal (2016)", "CSE (2018)"
_SOURCES = {
    "word_average": f"{_C}, table 11; phrases: {_U}, table 3",
    "cse": f"{_S}, table 1; STS2016: table 2",
    "gran": f"{_S}, table 2",
    **dict.fromkeys(_C_WORDS, f"{_C}, tables 1, 2 and 11"),
    **dict.fromkeys(_U_TABLE_2, f"{_U}, tables 2 and 3"),
}


def paper_scores(encoder: str, options: Mapping[str, Any]) -> PaperScores | None:
    """Returns what the papers report for an encoder; `None` if none has it.

    Args:
        encoder: Its name.
        options: Its options; an LSTM without output gate has numbers of its own.
    """
    if encoder == "lstm" and options.get("use_output_gate") is False:
        encoder = "lstm without output gate"
    source = f"{encoder}: {_SOURCES.get(encoder)}"
    if encoder in _S_TABLES:
        scores = {**_by_name(CSE_SETS, _S_TABLES[encoder]), **_S_MEANS[encoder]}
        return PaperScores(source, scores, CSE_MEAN, CSE_SETS)
    tables = {**_C_TABLE_11, **_U_TABLE_2}
    if encoder not in tables:
        return None
    scores = _by_name(PAPER_SETS, tables[encoder])
    means = {**_C_MEANS, **_U_MEANS}[encoder]
    scores |= dict(zip([*(f"STS{year}" for year in _YEARS), PAPER_MEAN], means, strict=False))
    scores |= _C_WORDS.get(encoder, {})
    if encoder in _U_PHRASES:
        scores[PAVLICK] = _U_PHRASES[encoder]
    return PaperScores(source, scores)


def _by_name(names: Sequence[str], numbers: Numbers) -> dict[str, float]:
    return dict(zip(names, numbers, strict=True))
