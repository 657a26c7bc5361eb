"""What is fuzzed: a name, how its cases are made, and what runs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.campaigns.fuzz.mutations import mutated

#: Runs one case; returns in a word what came of it.
Run = Callable[[bytes], str]

RESULT = "result"


class WrongError(Exception):
    """A case did not end as it should: what it gave is wrong, or its error is not one of ours."""


@dataclass(frozen=True)
class Target:
    """One thing that takes bytes.

    Attributes:
        name: Its name; what is before the first dot is its group.
        open: Given a folder of its own, gives what runs a case; called where the cases run.
        seeds: Valid inputs, or what makes them, called where the cases run.
        tokens: Pieces that mean something in the format.
        in_message: What the message of an error must name, such as the file.
        share: Part of the bytes of a campaign.
        least_cases: Cases in a campaign of however few bytes.
        needs_tensorflow: Whether TensorFlow is imported before the cases run.
        make: Makes a case in another way than by changes to a seed.
    """

    name: str
    open: Callable[[Path], AbstractContextManager[Run]]
    seeds: Sequence[bytes] | Callable[[], Sequence[bytes]] = ()
    tokens: Sequence[bytes] = ()
    in_message: str = ""
    share: float = 0.0005
    least_cases: int = 30
    needs_tensorflow: bool = False
    make: Callable[[Random, Sequence[bytes]], bytes] | None = None

    def valid(self) -> Sequence[bytes]:
        """Returns the valid inputs."""
        return self.seeds() if callable(self.seeds) else self.seeds

    def cases(self, seed: int, first: int) -> Iterator[bytes]:
        """Yields the cases of a campaign from one on; each depends on its number and the seed."""
        seeds = self.valid()
        number = first
        while True:
            random = Random(f"{self.name} {seed} {number}")
            if self.make is not None:
                yield self.make(random, seeds)
            else:
                yield mutated(seeds, self.tokens, random)
            number += 1


def simple(prepare: Callable[[Path], Run]) -> Callable[[Path], AbstractContextManager[Run]]:
    """Returns an `open` for what needs nothing to be closed."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        yield prepare(folder)

    return opened


def check(condition: object, problem: str) -> None:
    """Raises `WrongError` with the problem unless a condition holds."""
    if not condition:
        raise WrongError(problem)
