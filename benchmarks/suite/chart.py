"""Draws how fast texts are embedded, by package, as an SVG with the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

OURS, OTHERS = "#c2410c", "#475569"
_OUR_NAMES = ("encode", "SavedModel", "english")


def save(figure: Figure, path: str | Path) -> None:
    """Writes a figure."""
    # Texts are text, and the same numbers give the same file.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "benchmarks"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def draw_rates(result: dict[str, Any], path: str | Path) -> None:
    """Draws the rates of `embed.py`, words beside sentences, the fastest first.

    Dots, for the bars of a logarithmic scale would begin anywhere.
    """
    kinds = [kind for kind in ("words", "sentences") if result.get(kind)]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        rates = {
            name: sample for name, sample in result[kind].items()
            if "/" not in name and "unit" in sample
        }  # fmt: skip
        ordered = sorted(rates, key=lambda name: rates[name]["median"])
        for row, name in enumerate(ordered):
            rate = rates[name]
            color = OURS if name.startswith(_OUR_NAMES) else OTHERS
            axes.plot([rate["low"], rate["high"]], [row, row], color=color, lw=2)
            axes.plot(rate["median"], row, "o", color=color, ms=8)
            axes.annotate(
                f"{rate['median']:,.0f}", (rate["high"], row), (8, 0),
                textcoords="offset points", va="center", fontsize=9,
            )  # fmt: skip
        axes.set_yticks(range(len(ordered)), ordered)
        axes.set_xscale("log")
        axes.margins(x=0.25)
        axes.grid(alpha=0.25)
        axes.set_xlabel(f"{kind} per second")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    save(figure, path)
