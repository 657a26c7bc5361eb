"""What a step costs by batch, length of texts and table, and what follows beyond this machine.

    python benchmarks/scale.py

Times steps of `charagram` with one thread on made-up ids (Zipf), fits four constants to half of the
settings, compares the model with the other half, and then says what 10^9 pairs take here, and would
take elsewhere: estimates, from bandwidths that makers state.
"""

from __future__ import annotations

import itertools
import statistics
import time
from typing import NamedTuple

import common
import fitting
import numpy as np
import scipy.optimize
import tensorflow as tf

from tf_charagram.encoders.charagram import Charagram
from tf_charagram.optimizers.registry import make_optimizer
from tf_charagram.tasks.paraphrase._corpus.pair_stream import Pairs, PairStream
from tf_charagram.tasks.paraphrase.model import ParaphraseModel

DIM, NUMBER = 300, 4
_STEPS = 20
PAIRS = 1e9


class Step(NamedTuple):
    """What is counted in a step.

    Attributes:
        ids: n-grams of all texts.
        rows: Different ones among them.
        texts: Texts.
    """

    ids: float
    rows: float
    texts: float

    def features(self) -> list[float]:
        """Returns the terms of the time: a constant, rows summed, rows updated, cosines."""
        return [1.0, self.ids, self.rows, self.texts**2]

    def bytes(self) -> float:
        """Returns the bytes that have to be moved at least.

        A row is read for each id, there and back; for each different one its gradient is written
        and read, and weights and two moments are read and written.
        """
        return NUMBER * DIM * (2 * self.ids + 10 * self.rows)

    def flops(self) -> float:
        """Returns the operations of the cosines of all texts with all."""
        return 2 * DIM * self.texts**2


def steps_of(batch: int, length: int, num_rows: int) -> tuple[PairStream, Step]:
    """Returns batches of random texts and the contents of one."""
    rng = np.random.default_rng(0)
    num_texts = 20 * batch
    ids = rng.zipf(1.1, 2 * num_texts * length)
    ids = (ids[ids <= num_rows][: num_texts * length] - 1).astype(np.int32)
    splits = np.linspace(0, len(ids), num_texts + 1).astype(np.int64)
    ragged = tf.RaggedTensor.from_row_splits(tf.constant(ids), tf.constant(splits))
    keys = tf.range(num_texts, dtype=tf.int64)
    stream = PairStream(num_texts // 2, lambda: Pairs(ragged, keys), batch_size=batch)
    first = next(iter(stream.dataset(next(stream.segments(0, 1)))))[0]
    counted = Step(len(first.values), len(np.unique(first.values)), 2 * batch)
    return stream, counted


def measured(batch: int, length: int, num_rows: int, rounds: int) -> tuple[Step, float]:
    """Returns the contents and the seconds of a step."""
    stream, counted = steps_of(batch, length, num_rows)
    model = ParaphraseModel(Charagram(num_rows=num_rows, dim=DIM))
    model.compile(make_optimizer("adam", 0.001), steps_per_execution=5)
    fitting.train(model, stream, 5)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        fitting.train(model, stream, _STEPS)
        times.append((time.perf_counter() - start) / _STEPS)
    return counted, statistics.median(times)


class Machine(NamedTuple):
    """A device as its maker describes it; all per second.

    Attributes:
        bytes: Of memory.
        flops: Of matrix products.
        launches: Operations that can be started.
    """

    bytes: float
    flops: float
    launches: float


GPU = Machine(3.35e12, 60e12, 2e5)
_OPERATIONS = 200
_SHARE = 0.5  # Of what makers state, that programs like this one reach.


def estimate(step: Step, machine: Machine) -> float:
    """Estimates the seconds of a step on a device."""
    busy = step.bytes() / machine.bytes + step.flops() / machine.flops
    return busy / _SHARE + _OPERATIONS / machine.launches


def main() -> None:
    """Prints measurements, the fit and its predictions."""
    parser = common.make_parser(__doc__, rounds=5)
    parser.add_argument("--small", action="store_true", help="few settings, to see that it works")
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    sizes = ((25, 50), (20,)) if arguments.small else ((50, 100, 250, 500), (20, 100, 250))
    settings = [*itertools.product(*sizes, (20_000, 200_000))]
    found = {each: measured(*each, arguments.rounds) for each in settings}
    names = list(found)
    features = np.array([found[each][0].features() for each in names])
    seconds = np.array([found[each][1] for each in names])
    # Every other one, of both tables.
    fitted = (np.arange(len(names)) + np.arange(len(names)) // 2) % 2 == 0
    # Relative errors count.
    weights = 1 / seconds[:, np.newaxis]
    constants, _ = scipy.optimize.nnls((features * weights)[fitted], np.ones(fitted.sum()))
    errors = features @ constants / seconds - 1
    for each, error, is_fitted in zip(names, errors, fitted, strict=True):
        step, spent = found[each]
        print(
            f"batch {each[0]:4} ids per text {each[1]:4} table {each[2]:8,}: {step.ids:8,.0f} ids "
            f"{step.rows:7,.0f} rows {1000 * spent:7.2f} ms, model {100 * error:+4.0f} %"
            f"{' (fitted)' if is_fitted else ''}"
        )
    print(
        f"per step {1e3 * constants[0]:.2f} ms, per id {1e9 * constants[1]:.0f} ns, per row "
        f"{1e9 * constants[2]:.0f} ns, per cosine {1e9 * constants[3]:.1f} ns; error of the others "
        f"median {100 * np.median(np.abs(errors[~fitted])):.0f} %, largest "
        f"{100 * np.abs(errors[~fitted]).max():.0f} %"
    )
    # The mean batch of 500 pairs of sentences of all files.
    step = Step(258_849, 20_472, 1000)
    here = float(np.dot(step.features(), constants))
    print(
        f"500 pairs of sentences: {1e3 * here:.1f} ms; 10^9 pairs {PAIRS / 500 * here / 3600:.0f} h"
    )
    spent = estimate(step, GPU)
    print(f"estimate, 1 GPU: {1e3 * spent:.2f} ms; 10^9 pairs {PAIRS / 500 * spent / 3600:.2f} h")
    error = common.Sample((100 * np.abs(errors[~fitted])).tolist(), "% off")
    common.finish("scale", {"constants": constants.tolist(), "error": error}, arguments)


if __name__ == "__main__":
    main()
