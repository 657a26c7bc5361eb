"""One vectorizer of each kind, for the tests that all kinds must pass."""

from __future__ import annotations

import numpy as np

from tests.text.strategies import CJK_126
from tf_charagram.text._spelling.dictionary import Dictionary
from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.words import WordVectorizer

TEXTS = ["", "Cat", "the cats, the cat", "\u4e2d\u4e01", " ", "dog's", "catz dogg"]
#: Some errors are surer than others.
SURENESS = np.array([*range(2000, 5800, 200), 100, -100, 50], np.int32)
#: From texts to a vectorizer; hashing ignores the texts.
KINDS = {
    "exact": lambda texts: NgramVectorizer.from_texts(texts, orders=(1, 2, 3)),
    "mixed": lambda texts: NgramVectorizer.from_texts([*texts, CJK_126], orders=(2, 8)),
    "longest": lambda texts: NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(texts), longest_only=True
    ),
    "hash": lambda texts: NgramVectorizer(
        orders=[2], hash_buckets=50, rows_per_ngram=3, max_chars=3, lowercase=False
    ),
    "dictionary": lambda texts: NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(texts, orders=[1, 3]),
        dictionary=Dictionary({"cats": 5, "doggy": 1}),
    ),
    "unsure": lambda texts: NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(texts),
        dictionary=Dictionary({"cats": 5, "doggy": 1}, sureness=SURENESS),
    ),
    "one form": lambda texts: NgramVectorizer(
        vocabulary=NgramVocabulary.from_texts(texts),
        dictionary=Dictionary({"caf\u00e9": 5}),
        fold_characters=True,
        unknown_rows=9,
    ),
    "characters": lambda texts: CharacterVectorizer.from_texts(texts, max_chars=7),
    "words": WordVectorizer.from_texts,
}
