"""All encoders on the same pairs for the same time, as a table in Markdown.

    python benchmarks/encoder_table.py --minutes 3 --eval-data SETS --data PAIRS [--data PAIRS ...]

Every encoder is trained by `python -m tf_charagram.train --task sentences` in a process of its own.
What is not known to this script is handed on: `--batch-size 100`, `--seed 0` and so on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import common

from tf_charagram.encoders import ENCODERS

SHOWN = ("STS2012", "STS2013", "STS2016", "STS", "SICK.test", "pavlick", "SL999", "WS353")
_NUM_TEXTS, _BATCH = 2_000, 100


def train(encoder: str, out: Path, minutes: float, rest: list[str]) -> dict:
    """Trains one encoder, unless its run is complete; returns what `metrics.json` holds."""
    if (out / "metrics.json").is_file():
        return json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "tf_charagram.train", "--task", "sentences"]
    command += ["--encoder", encoder, "--output", str(out), "--max-minutes", str(minutes)]
    done = subprocess.run([*command, "--overwrite", *rest], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(f"{encoder} failed: exit status {done.returncode}")
    return json.loads((out / "metrics.json").read_text(encoding="utf-8"))


def speed(saved_model: Path, texts: list[str], rounds: int) -> common.Sample:
    """Returns the speed of a SavedModel in batches of 100 texts."""
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  # registers the operations that split words

    embed = tf.saved_model.load(str(saved_model)).signatures["serving_default"]
    batches = [tf.constant(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH)]

    def run() -> None:
        for batch in batches:
            embed(texts=batch)

    return common.compare(rounds, {"run": run}, len(texts), "texts/s")["run"]


def main() -> None:
    """Runs the benchmark."""
    parser = common.make_parser(__doc__, rounds=3)
    parser.add_argument("--encoders", default=",".join(ENCODERS))
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--out", default="runs/encoders")
    arguments, rest = parser.parse_known_args()
    rows, result = [], {}
    for encoder in arguments.encoders.split(","):
        out = Path(arguments.out) / encoder
        metrics = train(encoder, out, arguments.minutes, rest)
        texts = (out / "texts.txt").read_text(encoding="utf-8").split("\n")[:_NUM_TEXTS]
        saved = out / "saved_model" / "1"
        size = sum(path.stat().st_size for path in saved.rglob("*") if path.is_file())
        rate = speed(saved, texts, arguments.rounds)
        cells = [
            f"{metrics['num_parameters'] / 1e6:.1f}", f"{size / 1e6:.0f}",
            f"{metrics['pairs_per_second']:,.0f}", f"{rate.median:,.0f}", f"{metrics['steps']:,}",
        ]  # fmt: skip
        result[encoder] = {
            "training": common.Sample([metrics["pairs_per_second"]], "pairs/s"),
            "SavedModel": rate, "size": common.Sample([size / 1e6], "MB"),
        }  # fmt: skip
        scores = (metrics["scores"].get(name) for name in SHOWN)
        row = [encoder, *("-" if score is None else f"{score:.1f}" for score in scores), *cells]
        rows.append("| " + " | ".join(row) + " |")
        print(rows[-1], flush=True)
    head = ["encoder", *SHOWN, "parameters, M", "SavedModel, MB", "pairs/s", "texts/s", "steps"]
    table = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1), *rows]
    print("\n".join(table))
    common.finish("encoder_table", result, arguments)


if __name__ == "__main__":
    main()
