"""All tables and figures, in the papers' order."""

from __future__ import annotations

from research.papers import charagram, cse, in_text, universal

ENTRIES = {
    entry.name: entry
    for entry in (
        *charagram.ENTRIES, in_text.CHARAGRAM, *universal.ENTRIES, in_text.UNIVERSAL, *cse.ENTRIES,
    )
}  # fmt: skip
#: Paper -> its title, in the order of the catalog.
PAPERS = {
    "charagram": "Wieting et al. 2016, Charagram",
    "universal": "Wieting et al. 2016, Towards Universal Paraphrastic Sentence Embeddings",
    "cse": "A simple convolutional sentence encoder, 2018",
}
