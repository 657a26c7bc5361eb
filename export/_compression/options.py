"""Settings that make an exported model smaller."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tf_charagram._common.checks import check_values
from tf_charagram.errors import ConfigError, check_positive
from tf_charagram.settings import option


@dataclass(frozen=True)
class ShrinkOptions:
    """How to make a model smaller; flags of `charagram export` are made from it.

    Raises:
        ConfigError: A value is out of range, or `max_mb` is combined with another option.
    """

    dtype: Literal["float32", "float16", "int8"] = option("float32", "type of the table")
    max_ngrams: int | None = option(None, "keep only the most important n-grams")
    dim: int | None = option(None, "project embeddings onto their first principal directions")
    max_mb: float | None = option(
        None, "size limit of the exported version in 10^6 bytes; chooses the other three"
    )

    def __post_init__(self) -> None:
        """Validates values that do not depend on the model."""
        check_values(self)
        given = {"max_ngrams": self.max_ngrams, "dim": self.dim}
        check_positive(**{name: value for name, value in given.items() if value is not None})
        if self.max_mb is None:
            return
        if not 0 < self.max_mb < math.inf:
            raise ConfigError(
                f"`max_mb` must be above 0 and finite. Received: max_mb={self.max_mb}"
            )
        if (self.dtype, self.max_ngrams, self.dim) != ("float32", None, None):
            raise ConfigError(
                "`max_mb` chooses `dtype`, `max_ngrams` and `dim`, and cannot be combined with "
                f"them. Received: {self}"
            )
