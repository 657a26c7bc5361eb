"""Search, match and deduplicate lists of texts."""

from typing import TYPE_CHECKING

from tf_charagram.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.search.matching import deduplicate, match
    from tf_charagram.search.scoring import TextScorer
    from tf_charagram.search.text_index import TextIndex
    from tf_charagram.search.tfidf import CharacterTfidf
else:
    __getattr__ = lazy_names(
        __name__,
        {
            "CharacterTfidf": "tf_charagram.search.tfidf",
            "TextScorer": "tf_charagram.search.scoring",
            "TextIndex": "tf_charagram.search.text_index",
            "deduplicate": "tf_charagram.search.matching",
            "match": "tf_charagram.search.matching",
        },
    )

__all__ = ["CharacterTfidf", "TextIndex", "TextScorer", "deduplicate", "match"]
