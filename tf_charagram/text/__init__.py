"""Text becomes ids, inside the graph: normalization, n-gram keys, vocabularies, vectorizers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tf_charagram.text.base import TextVectorizer

#: Kind of ids, which an encoder asks for -> module and class of the vectorizer.
VECTORIZERS = {
    "ngrams": "tf_charagram.text.vectorizer:NgramVectorizer",
    "characters": "tf_charagram.text.characters:CharacterVectorizer",
    "words": "tf_charagram.text.words:WordVectorizer",
}


def vectorizer_class(kind: str) -> type[TextVectorizer]:
    """Returns the class of the vectorizers that make a kind of ids."""
    module, _, name = VECTORIZERS[kind].partition(":")
    return getattr(import_module(module), name)
