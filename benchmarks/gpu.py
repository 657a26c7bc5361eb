"""Training on a GPU: whole segments against PyTorch on the same batches, and its launches.

    python benchmarks/gpu.py [--words PAIRS] [--sentences PAIRS] [--peer-python PYTHON]

300 dimensions, margin loss with the most similar text of the batch, Adam. PyTorch has its batches
on the GPU before the clock starts, padded if its layers need that. Per step, from a profile:
`launches` of programs by the host, copies `to_host` and `from_host`, `kernels`, and `gpu_ms`, how
long the GPU is busy.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import common
import processes
from processes import Contender

DIM = 300
SENTENCES = "sentences/flickr30k-captions.tsv"
#: Data, encoder, pairs per batch, and the twin in PyTorch, if there is one.
CASES = [
    ("words", "charagram", 25, "sum"),
    ("words", "charagram", 100, "sum"),
    ("words", "charagram", 400, "sum"),
    ("words", "charagram", 1600, "sum"),
    ("words", "charagram", 6400, "sum"),
    ("sentences", "charagram", 100, "sum"),
    ("sentences", "word_average", 100, "mean"),
    ("sentences", "projection", 100, None),
    ("sentences", "dan", 100, None),
    ("sentences", "char_cnn", 100, "char_cnn"),
    ("sentences", "cse", 100, "cse"),
    ("sentences", "rnn", 100, "rnn"),
    ("sentences", "lstm", 100, "lstm"),
    ("sentences", "gran", 100, None),
    ("words", "char_lstm", 25, None),
]
_PROFILED_STEPS = 200


def child(files: str, cases: str, max_pairs: str) -> None:
    """Trains the model of a case whenever it is told to.

    The job `prepare N FILE` builds case N and writes its batches; `run` trains; `profile FILE`
    writes launches and copies of a step.

    Args:
        files: JSON with the file of pairs of each kind of data.
        cases: JSON with the cases.
        max_pairs: Pairs per call.
    """
    answers = processes.protocol_file()
    import fitting
    import numpy as np
    import tensorflow as tf
    import twins

    from tf_charagram.encoders import encoder_class
    from tf_charagram.encoders.base import is_padded
    from tf_charagram.optimizers.registry import make_optimizer
    from tf_charagram.tasks.paraphrase._corpus.pair_stream import PairStream
    from tf_charagram.tasks.paraphrase.model import ParaphraseModel
    from tf_charagram.tasks.paraphrase.settings import ParaphraseConfig
    from tf_charagram.training._loop.building import make_vectorizer

    pairs = {kind: common.word_pairs(path)[:190_000] for kind, path in json.loads(files).items()}
    cases = json.loads(cases)
    ids = {}
    rows = []
    for kind, name, *_ in cases:
        key = kind, encoder_class(name).vectorizer
        if key not in ids:
            config = ParaphraseConfig(encoder=name)
            vectorizer = make_vectorizer(config, common.texts_of(pairs[kind]))
            ids[key] = vectorizer.num_rows, fitting.ids_of(pairs[kind], vectorizer)
        rows.append(ids[key][0])
    state: dict = {}

    def prepare(number: str, file: str) -> None:
        kind, name, size, twin = cases[int(number)]
        encoder_type = encoder_class(name)
        num_rows, of_pairs = ids[kind, encoder_type.vectorizer]
        stream = PairStream(
            len(pairs[kind]), lambda: of_pairs, batch_size=size,
            bucket_by_length=is_padded(encoder_type),
        )  # fmt: skip
        steps = num_steps(size, int(max_pairs))
        model = ParaphraseModel(encoder_type(num_rows=num_rows, dim=DIM))
        model.compile(make_optimizer("adam", 0.001), margin=twins.MARGIN)
        state.update(model=model, stream=stream, steps=steps)
        if twin:
            twins.write_batches(file, stream, steps)

    def run(steps: int | None = None) -> None:
        fitting.train(state["model"], state["stream"], steps or state["steps"])
        np.asarray(state["model"].trainable_variables[0][:1])

    def profile(file: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            run(_PROFILED_STEPS)
            tf.profiler.experimental.stop()
            Path(file).write_text(
                json.dumps(facts_of_profile(Path(folder), _PROFILED_STEPS)), encoding="utf-8"
            )

    jobs = {"prepare": prepare, "run": run, "profile": profile}

    def work(line: str) -> None:
        job, *arguments = line.split()
        jobs[job](*arguments)

    gpus = [
        tf.config.experimental.get_device_details(gpu).get("device_name")
        for gpu in tf.config.list_physical_devices("GPU")
    ]
    facts = {"rows": rows, "gpus": gpus, "tensorflow": tf.__version__}
    processes.serve(facts, work, answers)


def num_steps(size: int, max_pairs: int) -> int:
    """Returns the number of steps of a call."""
    return max(100, min(600, max_pairs // size))


def facts_of_profile(folder: Path, num_steps: int) -> dict[str, float]:
    """Reads launches, copies and kernels per step from the profile of some steps."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (file,) = folder.rglob("*.xplane.pb")
    space = xplane_pb2.XSpace.FromString(file.read_bytes())
    counts = dict.fromkeys(("launches", "to_host", "from_host", "kernels"), 0)
    picoseconds = 0
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
                    picoseconds += event.duration_ps
    facts = {name: round(count / num_steps, 3) for name, count in counts.items()}
    return {**facts, "gpu_ms": round(picoseconds / 1e9 / num_steps, 4)}


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, data=common.WORDS, rounds=5, peers=True)
    parser.add_argument("--sentences", default=str(common.SHARED / SENTENCES))
    parser.add_argument("--cases", help="numbers of cases, such as 0,1,5; default: all")
    parser.add_argument("--pairs", type=int, default=60_000, help="pairs per call")
    arguments = parser.parse_args()
    numbers = map(int, arguments.cases.split(",")) if arguments.cases else range(len(CASES))
    cases = [CASES[number] for number in numbers]
    files = {"words": arguments.data, "sentences": arguments.sentences}
    command = [
        sys.executable, __file__, "--child", json.dumps(files), json.dumps(cases), arguments.pairs,
    ]  # fmt: skip
    found, facts = processes.peer_facts(arguments.peer_python, {"PyTorch": "torch"})
    result: dict = {"dim": DIM, **facts}
    with tempfile.TemporaryDirectory() as folder, Contender(command) as ours:
        result |= {"gpus": ours.facts["gpus"], "tensorflow": ours.facts["tensorflow"]}
        print(result, flush=True)
        for number, (case, rows) in enumerate(zip(cases, ours.facts["rows"], strict=True)):
            try:
                row = measure(number, case, rows, ours, arguments, "torch" in found, Path(folder))
            except processes.ContenderError as error:
                row = {"failed": str(error)}
            name = f"{case[0]}, {case[1]}, {case[2]} pairs"
            result[name] = row
            print(f"{name}: {row}", flush=True)
    common.finish("gpu", result, arguments)


def measure(
    number: int, case: tuple, num_rows: int, ours: Contender, arguments: argparse.Namespace,
    has_torch: bool, folder: Path,
) -> dict:  # fmt: skip
    """Returns the rates of a case and what its step does."""
    _, _, size, twin = case
    batches, facts = folder / "batches.npz", folder / "facts.json"
    ours(f"prepare {number} {batches}")
    runs = {"ours": lambda: ours("run")}
    with ExitStack() as stack:
        if twin and has_torch:
            script = Path(__file__).with_name("torch_twin.py")
            peer = [arguments.peer_python, script, twin, num_rows, DIM, batches, "cuda"]
            runs["torch"] = stack.enter_context(Contender(peer))
        work = size * num_steps(size, arguments.pairs)
        rates = common.compare(arguments.rounds, runs, work, "pairs/s")
    ours(f"profile {facts}")
    milliseconds = 1e3 * size / rates["ours"].median
    return {**rates, "ms": milliseconds, **json.loads(facts.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    child(*sys.argv[2:]) if sys.argv[1:2] == ["--child"] else main()
