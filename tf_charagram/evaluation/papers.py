"""The numbers of the papers for each encoder, to print beside ours.

Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_charagram.data.readers.pavlick import NAME as PAVLICK
from tf_charagram.data.readers.sick import SICK_TEST
from tf_charagram.data.readers.sts import STS_SETS
from tf_charagram.data.readers.twitter import NAME as TWITTER
from tf_charagram.evaluation.paper_tables import paper_table

#: Names of the rows with the mean over the sets of C and U, and over those of S.
PAPER_MEAN, CSE_MEAN = "paper mean", "cse mean"
#: Label of the row with the mean over all sets in a table of a paper.
MEAN = "mean"

_YEARS = ("2012", "2013", "2014", "2015")
#: The 22 sets of C and U, in the order of their tables.
PAPER_SETS = (
    *(f"STS{year}.{name}" for year in _YEARS for name in STS_SETS[year]), SICK_TEST, TWITTER,
)  # fmt: skip
#: The 20 sets of S.
CSE_SETS = tuple(name for name in PAPER_SETS if name not in ("STS2013.SMT", TWITTER))

_C, _U, _S = "Charagram (2016)", "Universal (2016)", "CSE (2018)"
#: Encoder -> the table with its sets, and where its numbers are from.
_TABLES = {
    **dict.fromkeys(
        ("charagram", "char_cnn", "char_lstm"), ("charagram-11", f"{_C}, tables 1, 2 and 11")
    ),
    "word_average": ("charagram-11", f"{_C}, table 11; phrases: {_U}, table 3"),
    **dict.fromkeys(
        ("projection", "dan", "rnn", "identity_rnn", "lstm"),
        ("universal-2", f"{_U}, tables 2 and 3"),
    ),
    "cse": ("cse-1", f"{_S}, table 1; STS2016: table 2"),
    "gran": ("cse-2", f"{_S}, table 2"),
}
#: What words are scored on, each chosen by the set itself.
_WORD_SETS = ("SL999", "WS353")


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


def paper_scores(encoder: str, options: Mapping[str, Any]) -> PaperScores | None:
    """Returns what the papers report for an encoder; `None` if none has it.

    Args:
        encoder: Its name.
        options: Its options; an LSTM without output gate has numbers of its own.
    """
    if encoder not in _TABLES:
        return None
    table, source = _TABLES[encoder]
    is_ungated = encoder == "lstm" and options.get("use_output_gate") is False
    column = "lstm, no gate" if is_ungated else encoder
    scores = paper_table(table).numbers(column)
    named = "lstm without output gate" if is_ungated else encoder
    if table.startswith("cse"):
        # The mean of S for 2013 is over three of the four sets.
        del scores["STS2013"]
        if encoder == "cse":
            later = paper_table("cse-2").numbers(column)
            scores |= {name: value for name, value in later.items() if name.startswith("STS2016")}
        return PaperScores(f"{named}: {source}", _with_mean(scores, CSE_MEAN), CSE_MEAN, CSE_SETS)
    scores = _with_mean(scores, PAPER_MEAN) | _of_words(encoder) | _of_phrases(column)
    return PaperScores(f"{named}: {source}", scores)


def _with_mean(scores: dict[str, float], name: str) -> dict[str, float]:
    """Returns scores with the mean over all sets under another name."""
    return {name if label == MEAN else label: value for label, value in scores.items()}


def _of_words(encoder: str) -> dict[str, float]:
    """Returns Spearman x 100 on words: C, tables 1 and 2 and section 4.1.3."""
    table = paper_table("charagram-1")
    scores = {name: table.numbers(name).get(f"{encoder}, {name}") for name in _WORD_SETS}
    if encoder == "charagram":
        scores |= {"SL999": paper_table("charagram-2").numbers("SL999")["charagram, large"]}
        scores["RW"] = 47.1
    return {name: value for name, value in scores.items() if value is not None}


def _of_phrases(column: str) -> dict[str, float]:
    """Returns Spearman x 100 on the phrases that models were chosen by: U, table 3, oracle."""
    numbers = paper_table("universal-3").numbers("Pavlick et al., best")
    return {PAVLICK: numbers[column]} if column in numbers else {}
