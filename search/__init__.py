"""Search, match and deduplicate lists of texts."""

from typing import TYPE_CHECKING

from tf_charagram.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.search.grouping import Group, WeakLink
    from tf_charagram.search.growing import Added, GroupedRows
    from tf_charagram.search.learning import Learned
    from tf_charagram.search.linkage.answers import Match, RecordGroups, RecordMatches
    from tf_charagram.search.linkage.estimates import Estimate
    from tf_charagram.search.linkage.kinds import ColumnKind
    from tf_charagram.search.linkage.linker import Linker
    from tf_charagram.search.linkage.linking import Evidence
    from tf_charagram.search.matching import Duplicates, Matches, deduplicate, match
    from tf_charagram.search.scoring import TextScorer
    from tf_charagram.search.statistics import TextStatistics
    from tf_charagram.search.text_index import Hit, TextIndex
    from tf_charagram.search.tfidf import CharacterTfidf
else:
    _HOMES = {
        "grouping": ["Group", "WeakLink"],
        "growing": ["Added", "GroupedRows"],
        "learning": ["Learned"],
        "linkage.answers": ["Match", "RecordGroups", "RecordMatches"],
        "linkage.estimates": ["Estimate"],
        "linkage.kinds": ["ColumnKind"],
        "linkage.linker": ["Linker"],
        "linkage.linking": ["Evidence"],
        "matching": ["Duplicates", "Matches", "deduplicate", "match"],
        "scoring": ["TextScorer"],
        "statistics": ["TextStatistics"],
        "text_index": ["Hit", "TextIndex"],
        "tfidf": ["CharacterTfidf"],
    }
    __getattr__ = lazy_names(
        __name__,
        {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names},
    )

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
    "RecordGroups",
    "RecordMatches",
    "TextIndex",
    "TextScorer",
    "TextStatistics",
    "WeakLink",
    "deduplicate",
    "match",
]
