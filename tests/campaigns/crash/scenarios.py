"""What is run: each command that writes something worth keeping."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.crash.teacher import stand_in

#: Stands for the folder of the inputs in a command line.
INPUTS = "INPUTS"
#: Where the commands write, in the folder they run in.
OUT = "out"
#: In the folder of the inputs: a finished run, for the commands that need a model.
RUN = "run"
#: Likewise: versions of that model as they are served.
VERSIONS = "models"


@dataclass(frozen=True)
class Scenario:
    """A command, and how it is given again after it was stopped.

    Attributes:
        line: The command line of `charagram`; `INPUTS` stands for the folder of the inputs.
        weight: How often, relative to the others.
        resume: What is added to go on.
        before: Puts into the folder what is there before the command; given that of the inputs.
        prepare: Called in the process before the command.
        is_for_one: Whether a second process is refused while one is at work.
        is_final: Whether the command refuses to run once its output is there.
        num_kept: How many of the numbered folders under `out` the command leaves.
        in_interpreter: Whether it can run in a new interpreter.
        starts_others: Whether other processes do the work, so that its own processor time does not
            say how far it is.
    """

    line: str
    weight: float = 1.0
    resume: str = ""
    before: Callable[[Path, Path], None] = lambda inputs, folder: None
    prepare: Callable[[], None] | None = None
    is_for_one: bool = True
    is_final: bool = False
    num_kept: int | None = None
    in_interpreter: bool = True
    starts_others: bool = False

    def arguments(self, inputs: Path, *, again: bool) -> list[str]:
        """Returns the arguments of `charagram`."""
        line = f"{self.line} {self.resume}" if again else self.line
        return [part.replace(INPUTS, str(inputs)) for part in line.split()]


def _train(line: str, weight: float = 1.0, **kwargs: object) -> Scenario:
    common = f"--seed 3 --checkpoint-every-s 0 --out {OUT}"
    return Scenario(f"train {line} {common}", weight, resume="--resume", **kwargs)  # type: ignore[arg-type]


_SCORED = f"--eval-data {INPUTS}/scored.tsv"
_GRADED = f"--eval-data {INPUTS}/graded.tsv"
_PAIRS = f"--data {INPUTS}/pairs.tsv {_SCORED}"
_SENTENCES = f"--task sentences --data {INPUTS}/sentences.tsv {_GRADED}"
_DISTILL = f"--task distill --data {INPUTS}/lines.txt {_SCORED} --epochs 2"
_TEACHER = "--teacher sentence-transformers:any --teacher-cache cache"
_LABELLED = "--dim 8 --hidden-dim 6 --epochs 1 --evaluations-per-epoch 2"
_LINES = f"{INPUTS}/{RUN} --input {INPUTS}/lines.txt"
_TUNE = (
    f"tune {_PAIRS} --dim 6 --batch-size 300 --evaluations-per-epoch 2 --select scored "
    "--negatives max --trial-epochs 1 --keep 1 --checkpoint-every-s 0 --max-trials 3 "
    f"--finish 1 --out {OUT}"
)


def _copy_versions(inputs: Path, folder: Path) -> None:
    shutil.copytree(inputs / VERSIONS, folder / OUT)


SCENARIOS: dict[str, Scenario] = {
    "words": _train(
        f"{_PAIRS} --dim 8 --epochs 2 --evaluations-per-epoch 3 --batch-size 50 --negatives mix "
        "--activation tanh --num-layers 2 --l2 1e-4",
        3,
    ),
    "words, best kept": _train(
        f"{_PAIRS} --dim 8 --epochs 2 --evaluations-per-epoch 5 --batch-size 50 --select scored", 2
    ),
    "words, cse": _train(f"{_PAIRS} --encoder cse --dim 9 --epochs 1 --batch-size 100", 0.5),
    "sentences": _train(
        f"{_SENTENCES} --dim 8 --epochs 3 --batch-size 50 --augment-typos 0.3 --mega-batches 2", 2
    ),
    "sentences, word average": _train(
        f"{_SENTENCES} --encoder word_average --dim 8 --epochs 3 --batch-size 50", 1
    ),
    "pos": _train(
        f"--task pos --data {INPUTS}/tagged.tsv --eval-data {INPUTS}/tagged.tsv --dim 8 "
        "--lstm-dim 4 --hidden-dim 4 --epochs 2 --batch-size 20",
        1,
    ),
    "similarity": _train(f"--task similarity {_LABELLED}"),
    "entailment": _train(f"--task entailment {_LABELLED}"),
    "sentiment": _train("--task sentiment --dim 8 --epochs 1 --evaluations-per-epoch 2"),
    "distill": _train(
        f"{_DISTILL} --teacher {INPUTS}/vectors.npy --batch-size 100 --pairs {INPUTS}/pairs.tsv "
        "--pair-batch-size 50 --neighbor-batch-size 20 --num-neighbors 4"
    ),
    "distill, teacher": _train(
        f"{_DISTILL} {_TEACHER} --batch-size 100", 1.5, prepare=stand_in, in_interpreter=False
    ),
    "train, 2 workers": _train(
        f"{_PAIRS} --dim 8 --epochs 1 --batch-size 50 --workers 2", 0.15, starts_others=True
    ),
    "tune": Scenario(_TUNE, 1, resume="--resume"),
    "tune, 2 workers": Scenario(
        f"{_TUNE} --workers 2", 0.15, resume="--resume", starts_others=True
    ),
    "embed, shards": Scenario(
        f"embed {_LINES} --output {OUT}/ --shard-lines 20", 2, resume="--resume"
    ),
    "embed, parquet": Scenario(
        f"embed {_LINES} --output {OUT}/ --shard-lines 20 --format parquet", 1, resume="--resume"
    ),
    **{
        f"embed, {kind}": Scenario(
            f"embed {_LINES} --output {OUT}/vectors.{kind} --batch-size 10", 0.7, is_for_one=False
        )
        for kind in ("npy", "tsv", "jsonl")
    },
    "index": Scenario(
        f"index {INPUTS}/{RUN} --texts {INPUTS}/lines.txt --out {OUT} --batch-size 50", 1,
        is_final=True,
    ),
    "export": Scenario(
        f"export {INPUTS}/{RUN} --to {OUT}/words --keep 2 --dtype int8", 1.5,
        before=_copy_versions, is_for_one=False, num_kept=2,
    ),
}  # fmt: skip
