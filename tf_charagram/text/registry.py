"""The vectorizers by the kind of ids they make, which is what an encoder says it takes."""

from __future__ import annotations

import keras

from tf_charagram.text.characters import CharacterVectorizer
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

VECTORIZERS: dict[str, type[keras.layers.Layer]] = {
    "ngrams": NgramVectorizer,
    "characters": CharacterVectorizer,
    "words": WordVectorizer,
}
