"""Losses, and what they are made of."""

from typing import TYPE_CHECKING

from tf_charagram._common.lazy import lazy_names

if TYPE_CHECKING:
    from tf_charagram.losses.cosine import normalize_rows, paired_cosine, swap_halves
    from tf_charagram.losses.labels import cross_entropy
    from tf_charagram.losses.margin import MarginLoss
    from tf_charagram.losses.negatives import candidate_mask
else:
    _HOMES = {
        "MarginLoss": "margin",
        "candidate_mask": "negatives",
        "cross_entropy": "labels",
        "normalize_rows": "cosine",
        "paired_cosine": "cosine",
        "swap_halves": "cosine",
    }
    __getattr__ = lazy_names(
        __name__,
        {name: f"{__name__}.{home}" for name, home in _HOMES.items()},
        needs_tensorflow=True,
    )

__all__ = [
    "MarginLoss",
    "candidate_mask",
    "cross_entropy",
    "normalize_rows",
    "paired_cosine",
    "swap_halves",
]
