"""Readers of data sets that only the papers use; importing this registers their formats."""

from __future__ import annotations

from research.readers import annotated_ppdb, pavlick, twitter
from tf_charagram.data.sets import register_format

register_format(twitter.FORMAT)
register_format(pavlick.FORMAT)
register_format(annotated_ppdb.FORMAT)
