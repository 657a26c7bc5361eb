"""Writes the score of each pair by each model, to look at single examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tf_charagram._files.writing import whole_file
from tf_charagram.data._tables.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation._scores.embedders import (
    EmbedderEvaluation,
    EvaluationSets,
    evaluation_labels,
)


def save_pairs(
    path: str | Path, sets: EvaluationSets, results: Sequence[EmbedderEvaluation]
) -> int:
    """Writes a row for each pair.

    The columns are `set`, `typos` (the number of typos in `right`), `left`, `right`, `gold` and,
    for each model or baseline, `NAME cosine` and `NAME score`: the cosine on the scale of `gold`,
    see `on_gold_scale`.

    Args:
        path: `FILE.tsv` or `FILE.jsonl`; see `write_rows`.
        sets: The sets.
        results: The results of all models on these sets.

    Returns:
        The number of rows.

    Raises:
        ConfigError: The suffix is unknown.
        RunError: The file cannot be written.
    """
    rows = list(_rows(sets, results))
    write_rows(path, rows)
    return len(rows)


def _rows(sets: EvaluationSets, results: Sequence[EmbedderEvaluation]) -> Iterator[dict[str, Any]]:
    labels = evaluation_labels(results)
    for variant, of_variant in enumerate(sets.variants):
        num_typos = sets.num_typos if variant else 0
        for number, pairs in enumerate(of_variant):
            columns: dict[str, list[float]] = {}
            for label, result in zip(labels, results, strict=True):
                cosines = np.asarray(result.cosines[variant][number], np.float64)
                columns[f"{label} cosine"] = np.round(cosines, 6).tolist()
                columns[f"{label} score"] = np.round(on_gold_scale(cosines, pairs), 4).tolist()
            gold = pairs.scores.tolist()
            for i, (left, right) in enumerate(zip(pairs.left, pairs.right, strict=True)):
                yield {
                    "set": pairs.name, "typos": num_typos, "left": left, "right": right,
                    "gold": gold[i], **{name: values[i] for name, values in columns.items()},
                }  # fmt: skip


def on_gold_scale(cosines: NDArray[np.float64], pairs: ScoredPairs) -> NDArray[np.float64]:
    """Returns cosines `(num_pairs,)` on the scale of a set's human scores, such as 0 to 5 for STS.

    If the files of the set do not define a scale, it is the range of the scores.
    """
    low, high = pairs.scale or (float(pairs.scores.min()), float(pairs.scores.max()))
    return on_scale(cosines, low, high)


def on_scale(cosines: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Maps cosines `(num_pairs,)` linearly to a scale, as CSE does for its table 6.

    The smallest becomes `low` and the largest `high`; if all are equal, they become the middle.
    """
    width = np.ptp(cosines)
    share = (cosines - cosines.min()) / width if width > 0 else np.full(len(cosines), 0.5)
    return low + share * (high - low)


def write_rows(path: str | Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows with the same columns; the file appears only once it is complete.

    Args:
        path: `FILE.tsv`, with a header, and white space inside a text as one space; or
            `FILE.jsonl`, an object per line.
        rows: Column -> value; at least one row.

    Raises:
        ConfigError: The suffix is unknown.
        RunError: The file cannot be written.
    """
    if Path(path).suffix not in (".tsv", ".jsonl"):
        raise ConfigError(f"The file must end in .tsv or .jsonl. Received: {path}")
    with whole_file(path, "w") as file:
        if Path(path).suffix == ".tsv":
            for cells in (rows[0], *(row.values() for row in rows)):
                file.write("\t".join(map(_one_line, cells)) + "\n")
        else:
            file.writelines(json.dumps(dict(row), ensure_ascii=False) + "\n" for row in rows)


def _one_line(text: Any) -> str:
    # A tab or a line end inside a text would start the next column or row.
    return " ".join(str(text).split())
