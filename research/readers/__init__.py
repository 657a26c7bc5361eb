"""Readers of data sets that only the papers use; importing this registers their formats."""

from __future__ import annotations

from collections.abc import Sequence

from research.readers import annotated_ppdb, pavlick, twitter
from tf_charagram.data.sets import register_format

register_format(twitter.FORMAT)
register_format(pavlick.FORMAT)
register_format(annotated_ppdb.FORMAT)


def run(arguments: Sequence[str]) -> int:
    """Runs a command of the package, which then finds these data sets, too."""
    from tf_charagram.cli import main

    return main(arguments)
