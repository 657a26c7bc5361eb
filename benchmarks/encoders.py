"""Training of every encoder beside PyTorch, on the same batches; on a GPU also its launches.

    python benchmarks/encoders.py [--device cuda] [--peer-python PYTHON] [--cases "charagram;lstm"]

300 dimensions, margin loss with the most similar text of the batch, Adam. PyTorch has its batches
on the device before the clock starts, padded if its layers need that; on the CPU it gets one thread
or two, whichever is faster, and ours those of `charagram train`. Its LSTM has no peepholes.

With `--profile`, per step: `launches` of programs by the host, copies `to_host` and `from_host`,
`kernels`, `gpu_ms`, how long the GPU is busy, and the `slowest` kernels; on the CPU, operations.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import common
import numpy as np
import processes
import twins
from processes import Contender

DIM = 300
#: Files to take sentences from, and how many of each; together about 214 n-grams per sentence.
FILES = {
    "wikisplit-tune-val-test.tsv": 500,
    "bible-web-bbe.tsv": 3_000,
    "flickr30k-captions.tsv": 28_500,
}
_NUM_SLOWEST = 10


@dataclass(frozen=True)
class Case:
    """What is trained.

    Attributes:
        data: `"words"` or `"sentences"`.
        encoder: Name of the encoder.
        twin: Name of the twin in PyTorch.
        cpu_steps: Steps per call on the CPU.
        size: Pairs per batch.
        options: Options of the encoder.
    """

    data: str
    encoder: str
    twin: str
    cpu_steps: int
    size: int = 100
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Names the case in results."""
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"{self.data}, {self.encoder}, {self.size} pairs{options}"

    def steps(self, device: str, max_pairs: int) -> int:
        """Returns the number of steps per call."""
        if device == "cpu":
            return max(1, min(self.cpu_steps, max_pairs // self.size))
        return max(100, min(600, max_pairs // self.size))


_PLAIN = {"use_peepholes": False}
CASES = [
    Case("words", "charagram", "sum", 400, size=25),
    Case("words", "charagram", "sum", 400),
    Case("words", "charagram", "sum", 50, size=400),
    Case("words", "charagram", "sum", 12, size=1_600),
    Case("words", "charagram", "sum", 4, size=6_400),
    Case("words", "char_lstm", "lstm", 10, size=25),
    Case("sentences", "charagram", "sum", 60),
    Case("sentences", "word_average", "mean", 300),
    Case("sentences", "projection", "projection", 200),
    Case("sentences", "dan", "dan", 200),
    Case("sentences", "cse", "cse", 15),
    Case("sentences", "rnn", "rnn", 10),
    Case("sentences", "identity_rnn", "identity_rnn", 10),
    Case("sentences", "lstm", "lstm", 4),
    Case("sentences", "lstm", "lstm", 4, options=_PLAIN),
    Case("sentences", "gran", "gran", 4),
    Case("sentences", "gran", "gran", 4, options=_PLAIN),
    Case("sentences", "char_cnn", "char_cnn", 2),
    Case("sentences", "char_lstm", "lstm", 2),
    Case("sentences", "char_lstm", "lstm", 2, options=_PLAIN),
]


def sentence_pairs(folder: Path) -> list[tuple[str, str]]:
    """Returns sentences of the folder, or made-up ones of as many characters."""
    rng = random.Random(0)
    if all((folder / name).is_file() for name in FILES):
        pairs = [
            pair
            for name, number in FILES.items()
            for pair in rng.sample(common.word_pairs(str(folder / name)), number)
        ]
    else:
        words = ["".join(rng.choices(common.LETTERS, k=rng.randint(2, 9))) for _ in range(30_000)]
        ranks = np.minimum(np.random.default_rng(0).zipf(1.3, 800_000) - 1, len(words) - 1)
        drawn = iter(words[rank] for rank in ranks)
        texts = [" ".join(next(drawn) for _ in range(12)) for _ in range(64_000)]
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
    rng.shuffle(pairs)
    return pairs


def child(settings: str) -> None:
    """Trains the model of a case whenever it is told to.

    The job `prepare N FILE` builds case N and writes its batches; `run` trains; `profile FILE`
    writes the parts of a step.

    Args:
        settings: JSON with `words` and `sentences`, where the pairs are; `cases`; `device`; and
            `pairs` per call.
    """
    answers = processes.protocol_file()
    import fitting
    import tensorflow as tf

    from tf_charagram.encoders import encoder_class
    from tf_charagram.encoders.base import is_padded
    from tf_charagram.optimizers.registry import make_optimizer
    from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream
    from tf_charagram.tasks.paraphrase.model import ParaphraseModel
    from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
    from tf_charagram.training._loop.building import make_vectorizer
    from tf_charagram.training._loop.loop import STEPS_PER_EXECUTION
    from tf_charagram.training._loop.processor import set_threads

    given = json.loads(settings)
    cases = [Case(**case) for case in given["cases"]]
    readers = {
        "words": lambda: common.word_pairs(given["words"])[:190_000],
        "sentences": lambda: sentence_pairs(Path(given["sentences"])),
    }
    if given["device"] == "cpu":
        tf.config.set_visible_devices([], "GPU")
        # Threads are those of the process, so that it has one case.
        set_threads(ParaphraseConfig(task=cases[0].data, encoder=cases[0].encoder))
    pairs = {data: readers[data]() for data in {case.data for case in cases}}
    ids = {}
    rows = []
    for case in cases:
        key = case.data, encoder_class(case.encoder).vectorizer
        if key not in ids:
            config = ParaphraseConfig(encoder=case.encoder)
            vectorizer = make_vectorizer(config, common.texts_of(pairs[case.data]))
            ids[key] = vectorizer.num_rows, fitting.ids_of(pairs[case.data], vectorizer)
        rows.append(ids[key][0])
    state: dict = {}

    def prepare(number: str, file: str) -> None:
        case = cases[int(number)]
        encoder_type = encoder_class(case.encoder)
        num_rows, of_pairs = ids[case.data, encoder_type.vectorizer]
        stream = PairStream(
            len(pairs[case.data]), lambda: of_pairs, batch_size=case.size,
            bucket_by_length=is_padded(encoder_type),
        )  # fmt: skip
        steps = case.steps(given["device"], given["pairs"])
        model = ParaphraseModel(encoder_type(num_rows=num_rows, dim=DIM, **case.options))
        model.compile(
            make_optimizer("adam", 0.001),
            margin=twins.MARGIN, steps_per_execution=STEPS_PER_EXECUTION,
        )  # fmt: skip
        state.update(model=model, stream=stream, steps=steps)
        twins.write_batches(file, stream, steps)

    def run() -> None:
        fitting.train(state["model"], state["stream"], state["steps"])
        np.asarray(state["model"].trainable_variables[0][:1])

    def profile(file: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            run()
            tf.profiler.experimental.stop()
            facts = facts_of_profile(Path(folder), state["steps"])
            Path(file).write_text(json.dumps(facts), encoding="utf-8")

    jobs = {"prepare": prepare, "run": run, "profile": profile}

    def work(line: str) -> None:
        job, *arguments = line.split()
        jobs[job](*arguments)

    gpus = [
        tf.config.experimental.get_device_details(gpu).get("device_name")
        for gpu in tf.config.get_visible_devices("GPU")
    ]
    facts = {"rows": rows, "gpus": gpus, "tensorflow": tf.__version__}
    processes.serve(facts, work, answers)


def facts_of_profile(folder: Path, num_steps: int) -> dict[str, Any]:
    """Reads launches, copies and kernels per step from the profile of some steps."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (file,) = folder.rglob("*.xplane.pb")
    space = xplane_pb2.XSpace.FromString(file.read_bytes())
    counts = dict.fromkeys(("launches", "to_host", "from_host", "kernels"), 0)
    picoseconds: Counter[str] = Counter()
    host_picoseconds: Counter[str] = Counter()
    for plane in space.planes:
        for line in plane.lines:
            is_stream = "GPU" in plane.name and line.name.startswith("Stream")
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                counts["launches"] += name == "GpuExecutable::ExecuteThunks"
                if is_stream:
                    counts["to_host"] += name == "MemcpyD2H"
                    counts["from_host"] += name == "MemcpyH2D"
                    counts["kernels"] += not name.startswith("Mem")
                    picoseconds[name] += event.duration_ps
                elif _is_operation(name):
                    host_picoseconds[name.partition(":")[2]] += event.duration_ps
    facts = {name: round(count / num_steps, 3) for name, count in counts.items()}
    slowest = (picoseconds or host_picoseconds).most_common(_NUM_SLOWEST)
    return {
        **facts,
        "gpu_ms": _milliseconds(picoseconds.total(), num_steps),
        "slowest": {name: _milliseconds(total, num_steps) for name, total in slowest},
    }


def _is_operation(name: str) -> bool:
    """Returns whether an event of the host is an operation, `NODE:TYPE`."""
    return re.fullmatch(r"[\w/.>-]+:\w+", name) is not None


def _milliseconds(picoseconds: int, num_steps: int) -> float:
    return round(picoseconds / 1e9 / num_steps, 4)


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, rounds=5, peers=True)
    parser.add_argument("--sentences", default=str(common.SHARED / "sentences"), help="folder")
    parser.add_argument("--cases", help="parts of names of cases, separated by semicolons")
    parser.add_argument("--pairs", type=int, default=60_000, help="most pairs per call")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--profile", action="store_true", help="show the parts of a step")
    arguments = parser.parse_args()
    parts = (arguments.cases or "").split(";")
    cases = [case for case in CASES if any(part in case.name for part in parts)]
    found, facts = processes.peer_facts(arguments.peer_python, {"PyTorch": "torch"})
    result: dict = {"dim": DIM, **facts}
    # On a GPU, starting takes longer than measuring.
    groups = [cases] if arguments.device == "cuda" else [[case] for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        for group in groups:
            rows = measure_all(group, arguments, "torch" in found, Path(folder))
            result.update(rows)
    common.finish("encoders", result, arguments)


def measure_all(
    cases: list[Case], arguments: argparse.Namespace, has_torch: bool, folder: Path
) -> dict[str, Any]:
    """Measures cases in one process of ours; returns their results by name."""
    settings = {
        "words": arguments.data, "sentences": arguments.sentences, "device": arguments.device,
        "pairs": arguments.pairs, "cases": [asdict(case) for case in cases],
    }  # fmt: skip
    result: dict[str, Any] = {}
    with Contender([sys.executable, __file__, "--child", json.dumps(settings)]) as ours:
        result |= {"gpus": ours.facts["gpus"], "tensorflow": ours.facts["tensorflow"]}
        for number, (case, rows) in enumerate(zip(cases, ours.facts["rows"], strict=True)):
            try:
                row = measure(number, case, rows, ours, arguments, has_torch, folder)
            except processes.ContenderError as error:
                row = {"failed": str(error)}
            result[case.name] = row
            print(f"{case.name}: {row}", flush=True)
    return result


def measure(
    number: int, case: Case, num_rows: int, ours: Contender, arguments: argparse.Namespace,
    has_torch: bool, folder: Path,
) -> dict[str, Any]:  # fmt: skip
    """Returns the rates of a case and, with `--profile`, what its step does."""
    batches, facts = folder / "batches.npz", folder / "facts.json"
    ours(f"prepare {number} {batches}")
    runs = {"ours": lambda: ours("run")}
    row: dict[str, Any] = {}
    with ExitStack() as stack:
        if has_torch:
            twin = stack.enter_context(
                twins.torch_twin(
                    arguments.peer_python, case.twin, num_rows, DIM, batches, arguments.device
                )
            )
            row = {"num_rows": num_rows, **twin.facts}
            runs["torch"] = twin
        work = case.size * case.steps(arguments.device, arguments.pairs)
        rates = common.compare(arguments.rounds, runs, work, "pairs/s")
    if arguments.profile:
        ours(f"profile {facts}")
        row |= json.loads(facts.read_text(encoding="utf-8"))
    return {**row, **rates, "ms": 1e3 * case.size / rates["ours"].median}


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
