"""Runs every benchmark against every package it finds, and writes a page of the results.

    python benchmarks/all.py [--peer-python PYTHON] [--rounds 5] [--only embed,train_step]
    python benchmarks/all.py --compare OLD.json        # and says what got slower
    python benchmarks/all.py --page [--compare OLD.json]    # runs nothing

Each benchmark is a script of this folder that can be run by itself; `suite/settings.py` has the
settings it is run with here. The results go to `benchmarks.json`, the page to `benchmarks.md` and a
picture to `benchmarks.svg`, in `--out`. Benchmarks that are not run keep their results there.

Peers: PyTorch, fastText, model2vec, sentence-transformers with all-MiniLM-L6-v2, scikit-learn and
gensim. `--peer-python` names an interpreter that has them, for not all go together with TensorFlow;
those that it lacks are left out. Exit status: 1 if a benchmark failed or something got slower.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import common
import processes
from embed import MINILM, PEERS
from suite import machine, page, results, running, settings

from tf_charagram._files.json_files import write_json
from tf_charagram._files.writing import whole_file


def make_parser() -> argparse.ArgumentParser:
    """Returns the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is timed")
    parser.add_argument(
        "--only", help="names, separated by commas: " + ", ".join(settings.BENCHMARKS)
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run: its numbers say nothing")
    parser.add_argument("--out", help="folder [research; runs/benchmarks with --quick]")
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--compare", metavar="OLD.json", help="say what got slower since")
    parser.add_argument("--peer-python", default=sys.executable, help="has the other packages")
    parser.add_argument("--minilm", default=MINILM, help="name or folder of all-MiniLM-L6-v2")
    parser.add_argument(
        "--model2vec", default="runs/peers/model2vec",
        help="folder of the model of model2vec; distilled from the MiniLM if it is not there",
    )  # fmt: skip
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for a benchmark")
    return parser


def run_all(arguments: argparse.Namespace, file: Path) -> dict[str, Any]:
    """Runs the benchmarks, and writes the file after each."""
    found: dict[str, Any] = {"machine": machine.describe(), "benchmarks": {}}
    if file.is_file():
        kept = results.read(file)
        if kept["machine"] != found["machine"]:
            raise SystemExit(
                f"{file} is of another machine or other versions: give another folder with --out, "
                "or remove it."
            )
        found["benchmarks"] = kept["benchmarks"]
    chosen = settings.names(arguments)
    processes.versions(arguments.peer_python, ("torch", *dict.fromkeys(PEERS.values())))
    with tempfile.TemporaryDirectory() as folder:
        places = settings.places(arguments, common.SHARED, Path(folder))
        running.write_small_data(Path(folder))
        for number, name in enumerate(chosen, start=1):
            print(f"[{number}/{len(chosen)}] {name}", end=" ", flush=True)
            record = running.run(name, places, arguments.rounds, arguments.quick, arguments.timeout)
            found["benchmarks"][name] = record
            write_json(file, found)
            problem = [f"{key}: {record[key]}" for key in ("skipped", "failed") if key in record]
            left_out = record.get("result", {}).get("left_out")
            notes = [f"{record['seconds']} s"] if not problem else problem
            notes += [f"without {', '.join(left_out)}"] if left_out else []
            print(*notes, sep=", ", flush=True)
    return found


def write_page(found: dict[str, Any], folder: Path) -> None:
    """Writes the page and, where there is matplotlib and something to draw, the picture."""
    embedding = found["benchmarks"].get("embed", {}).get("result", {})
    picture = None
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: no picture. pip install matplotlib")
    elif any(embedding.get(kind) for kind in ("words", "sentences")):
        from suite.chart import draw_rates

        picture = "benchmarks.svg"
        draw_rates(embedding, folder / picture)
    with whole_file(folder / "benchmarks.md", "w") as file:
        file.write(page.text(found, picture))
    print(folder / "benchmarks.md")


def main() -> int:
    """Runs the benchmarks; returns the exit status."""
    parser = make_parser()
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be at least 1. Received: {arguments.rounds}")
    unknown = [name for name in settings.names(arguments) if name not in settings.BENCHMARKS]
    if unknown:
        known = ", ".join(settings.BENCHMARKS)
        parser.error(f"--only knows no {unknown[0]!r}. Available: {known}")
    old = results.read(arguments.compare) if arguments.compare else None
    folder = Path(arguments.out or ("runs/benchmarks" if arguments.quick else "research"))
    file = folder / "benchmarks.json"
    found = results.read(file) if arguments.page else run_all(arguments, file)
    write_page(found, folder)
    chosen = [] if arguments.page else settings.names(arguments)
    status = int(any("failed" in found["benchmarks"][name] for name in chosen))
    if old is not None:
        changes = results.changes(old, found)
        print(page.changes_text(changes, old["machine"] == found["machine"]))
        status |= any(change.is_clear and change.factor < 1 for change in changes)
    return status


if __name__ == "__main__":
    sys.exit(main())
