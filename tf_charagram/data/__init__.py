"""Files become texts and pairs."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names, names_in

if TYPE_CHECKING:
    from tf_charagram.data._tables.columns import Labelled, read_labelled, read_scored_pairs
    from tf_charagram.data._tables.lines import BadLines
    from tf_charagram.data._tables.scored import ScoredPairs, SetFormat, files_below, set_name
    from tf_charagram.data._tables.table_reading import read_table
    from tf_charagram.data._tables.tables import Table
    from tf_charagram.data.sets import evaluation_sets
    from tf_charagram.data.starter import graded_pairs, train_pairs
else:
    _HOMES = {
        "_tables.columns": ["Labelled", "read_labelled", "read_scored_pairs"],
        "_tables.lines": ["BadLines"],
        "_tables.table_reading": ["read_table"],
        "_tables.tables": ["Table"],
        "_tables.scored": ["ScoredPairs", "SetFormat", "files_below", "set_name"],
        "sets": ["evaluation_sets"],
        "starter": ["graded_pairs", "train_pairs"],
    }
    __getattr__ = lazy_names(__name__, names_in(__name__, _HOMES))

__all__ = [
    "BadLines",
    "Labelled",
    "ScoredPairs",
    "SetFormat",
    "Table",
    "evaluation_sets",
    "files_below",
    "graded_pairs",
    "read_labelled",
    "read_scored_pairs",
    "read_table",
    "set_name",
    "train_pairs",
]
