"""Draws curves as SVG, reproducibly to the byte."""

from __future__ import annotations

import io

from research.analysis.table import Curves
from tf_charagram._common.lazy import extra_module

_STYLE = {
    "svg.hashsalt": "tf-charagram", "svg.fonttype": "none", "font.size": 10,
    "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip


def svg(curves: Curves) -> str:
    """Returns a picture of curves, as an SVG element.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    matplotlib = extra_module("matplotlib", "plots")
    figure_module = extra_module("matplotlib.figure", "plots")
    with matplotlib.rc_context(_STYLE):
        figure = figure_module.Figure(figsize=(7, 4), layout="constrained")
        axes = figure.add_subplot()
        for name, points in curves.lines.items():
            x, y = zip(*points, strict=True)
            axes.plot(x, y, label=name, linewidth=1.6, marker="o" if len(x) < 20 else None)
        if curves.is_log:
            axes.set_xscale("log")
        axes.set_xlabel(curves.x_label)
        axes.set_ylabel(curves.y_label)
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)
        text = io.StringIO()
        figure.savefig(
            text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
    # Without the XML declaration, it can be part of a page.
    return text.getvalue()[text.getvalue().index("<svg") :]
