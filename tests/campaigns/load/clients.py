"""Clients that ask at random times, and compare what is answered with what must be."""

from __future__ import annotations

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc
import numpy as np

from tests.campaigns.load.legs import DESERVED, UNANSWERED, Leg
from tests.campaigns.load.measures import Latencies
from tests.campaigns.load.models import TOLERANCE, Exported, Pool, differs
from tests.campaigns.load.pauses import Pauses
from tests.campaigns.load.switching import Switching
from tf_charagram.export.serving.client import ServerError

#: How often each kind of text is asked for, and how many at most at once.
_KINDS = {"words": (0.5, 32), "sentences": (0.35, 16), "odd": (0.15, 3)}
#: Tells of a request that went wrong: what kind of request, and what happened.
Tell = Callable[[str, str], None]


@dataclass
class Tally:
    """What the requests of a client, or of several, came to.

    Attributes:
        good: Good requests that were answered right.
        failed: Those that were not.
        bad: Bad requests of each kind that were refused as they deserve.
        wrong: Those that were not.
        interrupted: Requests whose connection did not outlive a pause. Good ones are asked again.
        difference: Largest difference of an answer; see `models.differs`.
        latencies: Of good requests that were answered right, and not held up by a pause.
    """

    good: int = 0
    failed: int = 0
    bad: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    interrupted: int = 0
    difference: float = 0.0
    latencies: Latencies = field(default_factory=Latencies)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.good + other.good,
            self.failed + other.failed,
            self.bad + other.bad,
            self.wrong + other.wrong,
            self.interrupted + other.interrupted,
            max(self.difference, other.difference),
            self.latencies + other.latencies,
        )


class Client(threading.Thread):
    """Asks over one leg until it is told to stop.

    Args:
        leg: The way to the model.
        pool: Texts to ask about.
        switching: Tells which versions may answer.
        pauses: Tells when nothing ran.
        rng: Decides what is asked when.
        mean_pause_s: Between requests, drawn from an exponential distribution.
        share_bad: Share of bad requests.
        tell: Called for each request that goes wrong.
    """

    def __init__(
        self, leg: Leg, pool: Pool, switching: Switching, pauses: Pauses, rng: random.Random, *,
        mean_pause_s: float, share_bad: float, tell: Tell,
    ) -> None:  # fmt: skip
        super().__init__()
        self._leg, self._pool, self._switching, self._rng = leg, pool, switching, rng
        self._pauses = pauses
        self._mean_pause_s, self._share_bad, self._tell = mean_pause_s, share_bad, tell
        self._bad = leg.bad()
        self._stop_asking = threading.Event()
        self.tally = Tally()

    def stop(self) -> None:
        """Ends the client after the request it is at."""
        self._stop_asking.set()

    def run(self) -> None:
        due = time.monotonic()
        while True:
            # Who is late does not make up for it: a server that was stopped is not flooded.
            due = max(due + self._rng.expovariate(1 / self._mean_pause_s), time.monotonic())
            if self._stop_asking.wait(due - time.monotonic()):
                return self._leg.close()
            if self._rng.random() < self._share_bad:
                self._ask_badly()
            else:
                self._ask()

    def _ask_badly(self) -> None:
        kind = self._rng.choice(list(self._bad))
        start = time.monotonic()
        try:
            answer = self._bad[kind](self._rng)
        except Exception as error:
            answer = (type(error).__name__, str(error))
        if _is_deserved(kind, answer):
            self.tally.bad[kind] += 1
        elif self._pauses.any_since(start):
            self.tally.interrupted += 1
        else:
            self.tally.wrong += 1
            self._tell(kind, f"answered {answer}")

    def _ask(self) -> None:
        weights = [weight for weight, _ in _KINDS.values()]
        (kind,) = self._rng.choices(list(_KINDS), weights)
        most = _KINDS[kind][1]
        number = 1 if self._rng.random() < 0.7 else self._rng.randint(0, most)
        rows = self._rng.choices(self._pool.kinds[kind], k=number)
        ask = self._rng.choices([self._latest, self._one_version, self._similarity], [7, 2, 1])[0]
        start = time.monotonic()
        try:
            difference, seconds = self._unless_interrupted(ask, rows)
        except Exception as error:
            self.tally.failed += 1
            seconds = time.monotonic() - start
            problem = f"{type(error).__name__}: {error} after {seconds:.1f} s"
            return self._tell(f"{number} {kind}", problem)
        if difference > TOLERANCE:
            self.tally.failed += 1
            return self._tell(f"{number} {kind}", f"differs by {difference:.2g} at {rows}")
        self.tally.good += 1
        self.tally.difference = max(self.tally.difference, difference)
        if not self._pauses.any_since(start):
            self.tally.latencies.add(seconds)

    def _unless_interrupted(
        self, ask: Callable[[list[int]], tuple[float, float]], rows: list[int]
    ) -> tuple[float, float]:
        """Asks again what a pause interrupted: gRPC gives up what is silent for a minute."""
        start = time.monotonic()
        try:
            return ask(rows)
        except (ServerError, grpc.RpcError):
            if not self._pauses.any_since(start):
                raise
            self.tally.interrupted += 1
            return ask(rows)

    def _latest(self, rows: list[int]) -> tuple[float, float]:
        return self._compared(
            lambda: self._leg.embed(self._texts(rows), None), lambda model: model.vectors[rows]
        )

    def _one_version(self, rows: list[int]) -> tuple[float, float]:
        with self._switching.use() as version:
            start = time.monotonic()
            vectors = self._leg.embed(self._texts(rows), version)
            seconds = time.monotonic() - start
        return differs(vectors, self._switching.export(version).vectors[rows]), seconds

    def _similarity(self, rows: list[int]) -> tuple[float, float]:
        others = rows[::-1]

        def cosines(model: Exported) -> np.ndarray:
            return np.einsum("ij,ij->i", model.units[rows], model.units[others])

        return self._compared(
            lambda: self._leg.similarity(self._texts(rows), self._texts(others)), cosines
        )

    def _texts(self, rows: list[int]) -> list[bytes]:
        return [self._pool.texts[row] for row in rows]

    def _compared(
        self, ask: Callable[[], np.ndarray], expected: Callable[[Exported], np.ndarray]
    ) -> tuple[float, float]:
        """Returns the difference from the version that answered, and how long it took, in seconds.

        The latest version answers, and versions differ by far more than rounding: the one whose
        answer is nearest is the one that answered, and it must be one that could.
        """
        start = time.monotonic()
        answer = ask()
        end = time.monotonic()
        models = [self._switching.export(n) for n in self._switching.may_answer(start, end)]
        nearest = min((differs(answer, expected(model)) for model in models), default=np.inf)
        return nearest, end - start


def _is_deserved(kind: str, answer: tuple[str, str] | None) -> bool:
    if answer is None or kind not in DESERVED:
        return answer is None and kind in UNANSWERED
    status, message = DESERVED[kind]
    return answer[0] == status and re.search(message, answer[1]) is not None
