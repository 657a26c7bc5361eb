"""Keeps the n-grams of a model that matter most, as a model folder to train on from.

python recipes/prune.py runs/whole runs/pruned --max-ngrams 72000 --count-power 0.35
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli.commands import run_command


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/prune.py", description=__doc__)
    parser.add_argument("model", help="run folder or model folder of an embedder")
    parser.add_argument("out", help="model folder to write")
    parser.add_argument("--max-ngrams", type=int, required=True, help="keep this many")
    parser.add_argument(
        "--count-power", type=float, default=1.0,
        help="n-grams matter by count to this power, times norm [1]",
    )  # fmt: skip
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.export._compression.shrinking import pruned
    from tf_charagram.models.embedder import TextEmbedder

    model = TextEmbedder.load(values.model)
    parts = pruned(model.vectorizer, model.encoder, values.max_ngrams, values.count_power)
    TextEmbedder.from_parts(*parts, task=model.task).save(values.out)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
