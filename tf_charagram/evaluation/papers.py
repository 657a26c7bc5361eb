"""The numbers of the Charagram paper (Wieting et al. 2016), to print beside ours."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tf_charagram.data.readers.sick import SICK_TEST
from tf_charagram.data.readers.sts import STS_SETS
from tf_charagram.data.readers.twitter import NAME as TWITTER

#: Name of the row with the mean over the paper's sets.
PAPER_MEAN = "paper mean"

#: The 22 sets of its table 3, in its order.
PAPER_SETS = (
    *(f"STS{year}.{name}" for year in ("2012", "2013", "2014", "2015") for name in STS_SETS[year]),
    SICK_TEST,
    TWITTER,
)

# Pearson x 100 of charagram-phrase, last column of table 11, in the order of `PAPER_SETS`.
_PHRASE = (
    59.7, 79.6, 57.2, 68.7, 65.2,
    75.0, 67.8, 42.3, 43.6,
    62.7, 77.0, 74.3, 77.6, 77.0, 79.1,
    61.5, 78.5, 77.2, 78.7, 84.4,
    70.0, 53.6,
)  # fmt: skip

#: Correlation x 100 of the best charagram. Words (Spearman): tables 1 and 2 and section 4.1.3.
#: Sentences (Pearson): tables 3 and 11.
PAPER: dict[str, float] = {
    "SL999": 70.6, "WS353": 58.35, "RW": 47.1,
    **dict(zip(PAPER_SETS, _PHRASE, strict=True)),
    "STS2012": 66.1, "STS2013": 57.2, "STS2014": 74.7, "STS2015": 76.1, PAPER_MEAN: 68.7,
}  # fmt: skip


def paper_mean(names: Iterable[str]) -> float | None:
    """Returns the mean of the paper's numbers over some sets; `None` if one has no number."""
    names = list(names)
    values = [PAPER[name] for name in names if name in PAPER]
    return float(np.mean(values)) if values and len(values) == len(names) else None
