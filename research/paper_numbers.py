"""The numbers of the papers for each encoder, to print beside ours.

Sources: C is Charagram (2016), U Towards Universal Paraphrastic Sentence Embeddings (2016), S CSE
(2018).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from research.paper_tables import paper_table
from research.readers.pavlick import NAME as PAVLICK
from research.readers.twitter import NAME as TWITTER
from tf_charagram.data.readers.sick import SICK_TEST
from tf_charagram.data.readers.sts import STS_SETS

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
_SICK_TEST = re.compile(r"SICK[._-]test(_annotated)?", re.IGNORECASE)
#: Labelled task -> names of the set that the papers test on, and the table with what they report.
_LABELLED = {
    "pos": (re.compile(".*:test"), "charagram-4", "accuracy", f"{_C}, table 4"),
    "similarity": (_SICK_TEST, "universal-5", "similarity", f"{_U}, table 5"),
    "entailment": (_SICK_TEST, "universal-5", "entailment", f"{_U}, table 5"),
    "sentiment": (re.compile(r"sst\.binary\.test"), "universal-5", "sentiment", f"{_U}, table 5"),
}


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
    column, named = _names(encoder, options)
    if column not in paper_table(table).columns:
        return None
    scores = paper_table(table).numbers(column)
    if table.startswith("cse"):
        # The mean of S for 2013 is over three of the four sets.
        del scores["STS2013"]
        if encoder == "cse":
            later = paper_table("cse-2").numbers(column)
            scores |= {name: value for name, value in later.items() if name.startswith("STS2016")}
        return PaperScores(f"{named}: {source}", _with_mean(scores, CSE_MEAN), CSE_MEAN, CSE_SETS)
    scores = _with_mean(scores, PAPER_MEAN) | _of_words(encoder) | _of_phrases(column)
    return PaperScores(f"{named}: {source}", scores)


class PaperNumber(NamedTuple):
    """What a paper reports for an encoder on the test set of a labelled task.

    Attributes:
        value: Accuracy, or Pearson's r, x 100.
        source: The encoder, and where the number is from.
    """

    value: float
    source: str


def paper_number(
    task: str, set_name: str, encoder: str, options: Mapping[str, Any]
) -> PaperNumber | None:
    """Returns what the papers report on a set of a labelled task; `None` if nothing.

    Args:
        task: Name of the task.
        set_name: Name of the set; numbers are of SICK's test set, that of SST, and sections 22 to
            24 of the Penn Treebank.
        encoder: As for `paper_scores`.
        options: As for `paper_scores`.
    """
    pattern, table, name, source = _LABELLED.get(task, (None, "", "", ""))
    if pattern is None or not pattern.fullmatch(set_name):
        return None
    column, named = _names(encoder, options)
    if task == "similarity" and encoder == "cse":
        table, name, source = "cse-3", "Pearson", f"{_S}, table 3"
    # That table alone has a row for each task.
    is_row = table == "universal-5"
    numbers = paper_table(table).row_numbers(name) if is_row else paper_table(table).numbers(name)
    value = numbers.get(column)
    return None if value is None else PaperNumber(value, f"{named}: {source}")


def _names(encoder: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """Returns what the tables call an encoder, and what we call it."""
    if encoder == "lstm" and options.get("use_output_gate") is False:
        return "lstm, no gate", "lstm without output gate"
    if encoder == "charagram" and options.get("num_layers") == 2:
        return "charagram, 2 layers", "charagram of 2 layers"
    return encoder, encoder


def _with_mean(scores: dict[str, float], name: str) -> dict[str, float]:
    """Returns scores with the mean over all sets under another name."""
    return {name if label == MEAN else label: value for label, value in scores.items()}


def _of_words(encoder: str) -> dict[str, float]:
    """Returns Spearman x 100 on words of the model chosen by SL999: C, table 1, section 4.1.3."""
    scores = paper_table("charagram-1").row_numbers(f"{encoder}, SL999")
    return scores | ({"RW": 47.1} if encoder == "charagram" else {})


def _of_phrases(column: str) -> dict[str, float]:
    """Returns Spearman x 100 on the phrases that models were chosen by: U, table 3, oracle."""
    numbers = paper_table("universal-3").numbers("Pavlick et al., best")
    return {PAVLICK: numbers[column]} if column in numbers else {}
