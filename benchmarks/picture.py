"""Draws quality against speed, one dot per model, from the results of `peers.py`.

python benchmarks/picture.py models.json models.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from suite.chart import OTHERS, OURS, save


def main(results: str, picture: str) -> None:
    """Draws the picture: a filled dot is clean text, the hollow one below it text with typos."""
    models = json.loads(Path(results).read_text(encoding="utf-8"))
    plt.rcParams.update({"font.size": 11})
    figure, axes = plt.subplots(figsize=(7.5, 5.2))
    speeds = [model["texts_per_second"] for model in models.values()]
    for name, model in models.items():
        color = OURS if "english" in name else OTHERS
        speed = model["texts_per_second"]
        is_inner = min(speeds) < speed < max(speeds)
        axes.plot([speed, speed], [model["clean"], model["typos"]], color=color, lw=1.2)
        axes.plot(speed, model["clean"], "o", color=color, ms=9)
        axes.plot(speed, model["typos"], "o", mfc="white", mec=color, mew=1.6, ms=9)
        # The lower of two dots beside each other has its name below.
        is_below = any(
            abs(other["texts_per_second"] / speed - 1) < 0.2
            and 0 < other["clean"] - model["clean"] < 2
            for other in models.values()
        )
        axes.annotate(
            name, (speed, model["clean"]), (-9 if is_inner else 9, -7 if is_below else 0),
            color=color, va="center",
            ha="right" if is_inner else "left", textcoords="offset points",
        )  # fmt: skip
    axes.plot([], [], "o", color=OTHERS, label="clean")
    axes.plot([], [], "o", mfc="white", mec=OTHERS, label="two typing errors in one text")
    axes.set_xscale("log")
    axes.set_xlabel("texts per second on two cores")
    axes.set_ylabel("Pearson x 100, mean of 11 STS sets")
    axes.margins(0.25, 0.12)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower left", frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    save(figure, picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
