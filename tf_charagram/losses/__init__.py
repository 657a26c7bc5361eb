"""Losses, and the functions that they share."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names, names_in

if TYPE_CHECKING:
    from tf_charagram.losses.cosine import normalize_rows, paired_cosine, swap_halves
    from tf_charagram.losses.labels import cross_entropy
    from tf_charagram.losses.margin import MarginLoss
    from tf_charagram.losses.negatives import candidate_mask
else:
    _HOMES = {
        "cosine": ["normalize_rows", "paired_cosine", "swap_halves"],
        "labels": ["cross_entropy"],
        "margin": ["MarginLoss"],
        "negatives": ["candidate_mask"],
    }
    __getattr__ = lazy_names(__name__, names_in(__name__, _HOMES), needs_tensorflow=True)

__all__ = [
    "MarginLoss",
    "candidate_mask",
    "cross_entropy",
    "normalize_rows",
    "paired_cosine",
    "swap_halves",
]
