"""A curve drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# A character is two points high; by whether the upper and the lower one are set.
_BLOCKS = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
_ASCII = {pair: " *"[any(pair)] for pair in _BLOCKS}


def draw_curve(
    xs: Sequence[float],
    ys: Sequence[float],
    *,
    width: int,
    height: int = 6,
    is_ascii: bool = False,
) -> list[str]:
    """Returns a curve as lines of text, with the range of its values beside.

    Args:
        xs: Where the values are, rising; at least one.
        ys: The values, finite; as many.
        width: Characters of the longest line; the curve itself has at least ten.
        height: Lines of the curve.
        is_ascii: Use no blocks, for a terminal that cannot show them.

    Example:
        >>> lines = draw_curve([0, 1, 2], [1.0, 3.0, 2.0], width=20, height=3, is_ascii=True)
        >>> print(*lines, sep=chr(10))
        3.000 |     *****
              |  ***     ***
        1.000 |**
               0           2
    """
    low, high = min(ys), max(ys)
    labels = [f"{high:.3f}", *[""] * (height - 2), f"{low:.3f}"]
    margin = max(map(len, labels))
    columns = max(width - margin - 2, 10)
    levels = np.interp(np.linspace(xs[0], xs[-1], columns), xs, ys) - low
    levels = levels / ((high - low) or 1.0) * (2 * height - 1)
    # What is half way between two levels falls on the same side on every machine.
    levels = np.rint(np.round(levels, 9)).astype(int)
    points = np.zeros((2 * height, columns), bool)
    for column, level in enumerate(levels):
        # Down or up to the level before, so that a steep curve is one line.
        before = levels[max(column - 1, 0)]
        points[min(level, before + 1) : max(level, before - 1) + 1, column] = True
    blocks = _ASCII if is_ascii else _BLOCKS
    lines = []
    for row, label in enumerate(labels):
        upper, lower = points[2 * (height - row) - 1], points[2 * (height - row) - 2]
        text = "".join(blocks[bool(up), bool(down)] for up, down in zip(upper, lower, strict=True))
        lines.append(f"{label:>{margin}} {'|' if is_ascii else '│'}{text}".rstrip())
    first, last = f"{xs[0]:.4g}", f"{xs[-1]:.4g}"
    return [*lines, f"{'':{margin}}  {first}{last:>{columns - len(first)}}"]
