"""Rounding the rows of a table for the sums they are read in, number by number."""

from __future__ import annotations

import numpy as np


def objective(table: np.ndarray, rounded: np.ndarray, counts: np.ndarray, strength: float) -> float:
    """Returns the squared changes of all sums over their squared norms, and those of the rows.

    Args:
        table: `(num_rows, dim)`.
        rounded: The same, rounded.
        counts: `(num_texts, num_rows)`; texts whose sum is 0 do not matter.
        strength: In how many texts of mean norm each row is read once more, by itself.
    """
    total, weights = 0.0, []
    for text in counts:
        norm = np.linalg.norm(sum(count * row for count, row in zip(text, table, strict=True)))
        if norm > 0:
            change = sum(
                count * (old - new) for count, old, new in zip(text, table, rounded, strict=True)
            )
            total += float(np.sum((change / norm) ** 2))
            weights.append(norm**-2.0)
    return total + strength * float(np.mean(weights)) * float(np.sum((table - rounded) ** 2))


def round_for_sums(
    table: np.ndarray, counts: np.ndarray, largest: int, num_sweeps: int, strength: float
) -> np.ndarray:
    """Returns the table with every number the best of all, tried one by one.

    Args:
        table: `(num_rows, dim)`; as others, the largest number of a row becomes `largest`.
        counts: `(num_texts, num_rows)`.
        largest: Numbers are whole ones up to this, times a scale per row.
        num_sweeps: How often.
        strength: As for `objective`.
    """
    table = table.astype(np.float64)
    scales = np.abs(table).max(axis=1) / largest
    rounded = np.round(table / scales[:, None]) * scales[:, None]
    sums = counts @ table
    shares = counts / np.linalg.norm(sums, axis=1)[:, None]
    for _ in range(num_sweeps):
        for row in np.argsort(-np.sum(shares**2, axis=0), kind="stable"):
            for column in range(table.shape[1]):
                if column == np.abs(table[row]).argmax():
                    continue
                tried = []
                for number in range(-largest, largest + 1):
                    rounded[row, column] = number * scales[row]
                    tried.append(objective(table, rounded, counts, strength))
                rounded[row, column] = (int(np.argmin(tried)) - largest) * scales[row]
    return rounded
