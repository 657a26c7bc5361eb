"""The sets that models are scored on, clean and with typing errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from tf_charagram.data.bad_lines import BadLines
from tf_charagram.data.pipeline.typos import with_typos
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.data.sets import evaluation_sets


@dataclass(frozen=True)
class EvaluationSets:
    """The same sets, clean and with typing errors.

    Attributes:
        clean: The sets.
        mistyped: The same with typing errors in one text of each pair, if asked for.
        num_typos: Errors per text there.
    """

    clean: list[ScoredPairs]
    mistyped: list[ScoredPairs] | None = None
    num_typos: int = 0

    @classmethod
    def read(cls, eval_data: str | None, *, typos: int, bad_lines: BadLines, seed: int) -> Self:
        """Reads the sets.

        Args:
            eval_data: Folder or file to score on; see `evaluation_sets`.
            typos: Typing errors in one text of each pair, for a second score; 0 for none.
            bad_lines: What to do about bad lines.
            seed: Seed of the typing errors.

        Raises:
            DataError: A file cannot be used.
        """
        sets = evaluation_sets(eval_data, on_bad_line=bad_lines)
        mistyped = [with_typos(pairs, typos, seed) for pairs in sets] if typos else None
        return cls(sets, mistyped, typos)

    @property
    def variants(self) -> list[list[ScoredPairs]]:
        """The clean sets and, if asked for, those with typing errors."""
        return [self.clean] if self.mistyped is None else [self.clean, self.mistyped]

    def texts(self) -> Iterator[str]:
        """Yields all texts."""
        for sets in self.variants:
            for pairs in sets:
                yield from pairs.left
                yield from pairs.right
