"""Search, match and deduplicate lists of texts."""

from tf_charagram.lazy import lazy_names

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
