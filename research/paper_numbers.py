"""The numbers of the papers for each encoder, to print next to ours.

Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.paper_tables import paper_table
from research.readers.pavlick import NAME as PAVLICK
from research.readers.twitter import NAME as TWITTER
from tf_charagram.data.readers.sts import SICK_TEST, STS_SETS

#: Names of the means over the sets of C and U, and over those of S.
PAPER_MEAN, CSE_MEAN = "paper mean", "cse mean"
#: Label of the mean over all sets in a table of a paper.
MEAN = "mean"

_YEARS = ("2012", "2013", "2014", "2015")
#: The 22 sets of C and U, in the order of their tables.
PAPER_SETS = (
    *(f"STS{year}.{name}" for year in _YEARS for name in STS_SETS[year]), SICK_TEST, TWITTER,
)  # fmt: skip
#: The 20 sets of S.
CSE_SETS = tuple(name for name in PAPER_SETS if name not in ("STS2013.SMT", TWITTER))
#: Mean -> its sets.
MEANS = {PAPER_MEAN: PAPER_SETS, CSE_MEAN: CSE_SETS}

_C, _U, _S = "Charagram (2016)", "Universal (2016)", "CSE (2018)"
#: Encoder -> the table with its sets, and the source of its numbers.
_TABLES = {
    **dict.fromkeys(
        ("charagram", "char_cnn", "char_lstm"), ("charagram-11", f"{_C}, tables 1 and 11")
    ),
    "word_average": ("charagram-11", f"{_C}, table 11; phrases: {_U}, table 3"),
    **dict.fromkeys(
        ("projection", "dan", "rnn", "identity_rnn", "lstm"),
        ("universal-2", f"{_U}, tables 2 and 3"),
    ),
    "cse": ("cse-1", f"{_S}, table 1; STS2016: table 2"),
    "gran": ("cse-2", f"{_S}, table 2"),
}


def sets_of_mean(name: str) -> tuple[str, ...]:
    """Returns the names of all sets of a mean of the papers, or of a year of STS."""
    of_year = STS_SETS.get(name.removeprefix("STS"), ())
    return MEANS.get(name, tuple(f"{name}.{part}" for part in of_year))


@dataclass(frozen=True)
class PaperScores:
    """The numbers of a paper for an encoder.

    Attributes:
        source: The encoder and the tables.
        scores: Correlation x 100 by the name of the set or mean.
    """

    source: str
    scores: Mapping[str, float]

    def mean_over(self, names: Iterable[str]) -> float | None:
        """Averages the numbers of some sets; `None` if one has no number."""
        values = [self.scores.get(name) for name in names]
        numbers = [value for value in values if value is not None]
        return float(np.mean(numbers)) if numbers and len(numbers) == len(values) else None


def paper_scores(encoder: str, options: Mapping[str, Any]) -> PaperScores | None:
    """Returns the numbers of the papers for an encoder; `None` if they do not have it.

    Args:
        encoder: Its name.
        options: Its options; an LSTM without output gate has numbers of its own.
    """
    if encoder not in _TABLES:
        return None
    table, source = _TABLES[encoder]
    column, named = encoder, encoder
    if encoder == "lstm" and options.get("use_output_gate") is False:
        column, named = "lstm, no gate", "lstm without output gate"
    elif encoder == "charagram" and options.get("num_layers") == 2:
        return None  # only as a tagger
    scores = paper_table(table).numbers(column)
    if table.startswith("cse"):
        # The mean of S for 2013 is over three of the four sets.
        del scores["STS2013"]
        scores = _with_mean(scores, CSE_MEAN)
        if encoder == "cse":
            later = paper_table("cse-2").numbers(column)
            scores |= {name: value for name, value in later.items() if name.startswith("STS2016")}
    else:
        scores = _with_mean(scores, PAPER_MEAN) | _of_words(encoder) | _of_phrases(column)
    return PaperScores(f"{named}: {source}", scores)


def _with_mean(scores: dict[str, float], name: str) -> dict[str, float]:
    """Renames the mean over all sets."""
    return {name if label == MEAN else label: value for label, value in scores.items()}


def _of_words(encoder: str) -> dict[str, float]:
    """Returns Spearman x 100 on words of the model chosen by SL999: C, table 1, section 4.1.3."""
    scores = paper_table("charagram-1").row_numbers(f"{encoder}, SL999")
    return scores | ({"RW": 47.1} if encoder == "charagram" else {})


def _of_phrases(column: str) -> dict[str, float]:
    """Returns Spearman x 100 on the phrases that models were chosen by: U, table 3, oracle."""
    numbers = paper_table("universal-3").numbers("Pavlick et al., best")
    return {PAVLICK: numbers[column]} if column in numbers else {}


def with_means(scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Adds the papers' means, each over those of its sets that have a score."""
    means = {}
    for mean, members in MEANS.items():
        values = [value for name in members if (value := scores.get(name)) is not None]
        if values:
            means[mean] = round(float(np.mean(values)), 2)
    return {**scores, **means}
