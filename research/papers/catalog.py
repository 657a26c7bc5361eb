"""All tables and figures, in the papers' order."""

from __future__ import annotations

from research.papers import charagram, cse, universal

ENTRIES = {entry.name: entry for entry in (*charagram.ENTRIES, *universal.ENTRIES, *cse.ENTRIES)}
#: Paper -> its title, in the order of the catalog.
PAPERS = {
    "charagram": "Wieting et al. 2016, Charagram",
    "universal": "Wieting et al. 2016, Towards Universal Paraphrastic Sentence Embeddings",
    "cse": "A simple convolutional sentence encoder, 2018",
}
