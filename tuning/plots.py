"""Pictures of a search: all trials as lines over all fields, and the score over each field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tf_charagram.files.writing import whole_file
from tf_charagram.tuning.results import Result
from tf_charagram.tuning.search import Search
from tf_charagram.tuning.spaces import label

_COLORS = "viridis"
_MOST_COLUMNS = 4
_JITTER = 0.08


def write_plots(folder: Path, search: Search, results: Sequence[Result]) -> list[Path]:
    """Writes `parallel.png` and `scores.png`; nothing if no trial has a score.

    Args:
        folder: Where to.
        search: The search.
        results: Those of its trials.

    Returns:
        The files.

    Raises:
        RunError: A file cannot be written.
    """
    scored = [result for result in results if result.score is not None]
    if not scored:
        return []
    figures = {"parallel": _parallel(search, scored), "scores": _scores(search, scored)}
    paths = [folder / f"{name}.png" for name in figures]
    for path, figure in zip(paths, figures.values(), strict=True):
        with whole_file(path) as file:
            figure.savefig(file, format="png", dpi=120)
    return paths


def _value_indices(search: Search, name: str, results: Sequence[Result]) -> np.ndarray:
    """Returns which of a field's values each trial has, by number, `(num_trials,)`."""
    labels = [label(choice) for choice in search.space[name]]
    return np.array([labels.index(label(result.values[name])) for result in results], float)


def _score_values(results: Sequence[Result]) -> np.ndarray:
    return np.array([result.score for result in results], float)


def _parallel(search: Search, results: Sequence[Result]) -> Figure:
    """Draws one axis per field and one for the score; each trial is a line across them."""
    scores = _score_values(results)
    low, span = scores.min(), np.ptp(scores) or 1.0
    columns = [
        _value_indices(search, name, results) / max(1, len(choices) - 1)
        for name, choices in search.space.items()
    ]
    lines = np.stack([*columns, (scores - low) / span], axis=1)
    figure = Figure(figsize=(2 + 1.6 * lines.shape[1], 5), layout="constrained")
    axes = figure.add_subplot()
    shift = np.linspace(-0.02, 0.02, len(lines)) if len(lines) > 1 else np.zeros(1)
    colors = matplotlib.colormaps[_COLORS]((scores - low) / span)
    for index in np.argsort(scores):
        line = lines[index].copy()
        # Lines through the same values lie side by side.
        line[:-1] += shift[index]
        axes.plot(line, color=colors[index], linewidth=1.2)
    for column, choices in enumerate(search.space.values()):
        for number, choice in enumerate(choices):
            height = number / max(1, len(choices) - 1)
            _write(axes, column, height, label(choice))
    for height, value in ((0.0, low), (1.0, low + span)):
        _write(axes, lines.shape[1] - 1, height, f"{value:.2f}")
    axes.set_xticks(range(lines.shape[1]), [*search.space, search.config.select], rotation=20)
    axes.set_xlim(-0.2, lines.shape[1] - 0.4)
    axes.set_yticks([])
    axes.grid(axis="x")
    return figure


def _write(axes: Axes, column: int, height: float, text: str) -> None:
    """Writes beside an axis, without moving the others away."""
    axes.text(column, height, f" {text}", fontsize=8, va="center", in_layout=False)


def _scores(search: Search, results: Sequence[Result]) -> Figure:
    """Draws the score over each field, the mean of each value as a bar."""
    scores = _score_values(results)
    num_columns = min(_MOST_COLUMNS, len(search.space))
    num_rows = -(-len(search.space) // num_columns)
    figure = Figure(figsize=(3.2 * num_columns, 3 * num_rows), layout="constrained")
    grid = figure.subplots(num_rows, num_columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(search.space) :]:
        axes.set_visible(False)
    jitter = np.random.default_rng(0).uniform(-_JITTER, _JITTER, len(scores))
    for axes, (name, choices) in zip(grid.flat, search.space.items(), strict=False):
        indices = _value_indices(search, name, results)
        axes.scatter(indices + jitter, scores, s=14, alpha=0.6)
        for number in range(len(choices)):
            if (indices == number).any():
                mean = scores[indices == number].mean()
                axes.plot([number - 0.25, number + 0.25], [mean, mean], color="black")
        axes.set_xticks(range(len(choices)), [label(choice) for choice in choices], rotation=20)
        axes.set_title(name)
    for axes in grid[:, 0]:
        axes.set_ylabel(search.config.select)
    return figure
