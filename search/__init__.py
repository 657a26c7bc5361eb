"""Search, match and deduplicate lists of texts."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names, names_in

if TYPE_CHECKING:
    from tf_charagram.search._pairs.grouping import Group, WeakLink
    from tf_charagram.search._pairs.learning import Learned
    from tf_charagram.search._partitions.arrow import RowFunctions
    from tf_charagram.search._partitions.tables import deduplicate_files, match_files
    from tf_charagram.search.growing import Added, GroupedRows
    from tf_charagram.search.linkage._columns.kinds import ColumnKind
    from tf_charagram.search.linkage._fellegi_sunter.linking import Evidence
    from tf_charagram.search.linkage.answers import Duplicates, Match, Matches
    from tf_charagram.search.linkage.estimates import Estimate
    from tf_charagram.search.linkage.linker import Linker
    from tf_charagram.search.matching import deduplicate, match
    from tf_charagram.search.scoring import TextScorer
    from tf_charagram.search.statistics import TextStatistics
    from tf_charagram.search.text_index import Hit, TextIndex
    from tf_charagram.search.tfidf import CharacterTfidf
else:
    _HOMES = {
        "_pairs.grouping": ["Group", "WeakLink"],
        "growing": ["Added", "GroupedRows"],
        "_pairs.learning": ["Learned"],
        "linkage.answers": ["Duplicates", "Match", "Matches"],
        "linkage.estimates": ["Estimate"],
        "linkage._columns.kinds": ["ColumnKind"],
        "linkage.linker": ["Linker"],
        "linkage._fellegi_sunter.linking": ["Evidence"],
        "matching": ["deduplicate", "match"],
        "_partitions.arrow": ["RowFunctions"],
        "_partitions.tables": ["deduplicate_files", "match_files"],
        "scoring": ["TextScorer"],
        "statistics": ["TextStatistics"],
        "text_index": ["Hit", "TextIndex"],
        "tfidf": ["CharacterTfidf"],
    }
    __getattr__ = lazy_names(__name__, names_in(__name__, _HOMES))

__all__ = [
    "Added",
    "CharacterTfidf",
    "ColumnKind",
    "Duplicates",
    "Estimate",
    "Evidence",
    "Group",
    "GroupedRows",
    "Hit",
    "Learned",
    "Linker",
    "Match",
    "Matches",
    "RowFunctions",
    "TextIndex",
    "TextScorer",
    "TextStatistics",
    "WeakLink",
    "deduplicate",
    "deduplicate_files",
    "match",
    "match_files",
]
