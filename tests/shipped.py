"""A small model in the form of those that ship."""

from __future__ import annotations

from pathlib import Path

from recipes.ship import ship
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder

NAME = "tiny-english"
WORDS = ["the", "cat", "cats", "dog", "dogs"]
FACTS = {
    "summary": "Cats and dogs",
    "licence": "Apache-2.0",
    "data": [{"name": "Cats", "licence": "CC0"}, {"name": "Dogs", "licence": "CC BY 4.0"}],
    "scores": {"STS": 71.5},
    "recipe": "charagram train --config recipes/tiny.yaml",
}


def ship_tiny(folder: Path, dim: int = 6) -> TextEmbedder:
    """Writes a small shipped model into a folder; returns the embedder."""
    embedder = TextEmbedder(*parts(dim=dim))
    ship(embedder, NAME, WORDS, FACTS, folder)
    return embedder
