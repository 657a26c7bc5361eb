"""Averages the weights of models that were trained on from the same one.

python recipes/average.py runs/average runs/a runs/b runs/c
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import ConfigError


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/average.py", description=__doc__)
    parser.add_argument("out", help="model folder to write")
    parser.add_argument("models", nargs="+", help="run folders or model folders of embedders")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.models.embedder import TextEmbedder

    average = TextEmbedder.load(values.models[0])
    sums = [weight.numpy() for weight in average.encoder.weights]
    for path in values.models[1:]:
        model = TextEmbedder.load(path)
        if not _are_alike(average, model):
            raise ConfigError(
                f"{path} has other ids or other weights than {values.models[0]}. Only models that "
                "were trained on from the same one can be averaged."
            )
        for total, weight in zip(sums, model.encoder.weights, strict=True):
            total += weight.numpy()
    for weight, total in zip(average.encoder.weights, sums, strict=True):
        weight.assign(total / len(values.models))
    average.save(values.out)
    return 0


def _are_alike(first: Any, second: Any) -> bool:
    """Returns whether the rows of two embedders stand for the same units."""
    shapes = [[weight.shape for weight in model.encoder.weights] for model in (first, second)]
    return (
        type(first.encoder) is type(second.encoder)
        and shapes[0] == shapes[1]
        and first.vectorizer.settings() == second.vectorizer.settings()
        and _units(first.vectorizer) == _units(second.vectorizer)
    )


def _units(vectorizer: Any) -> Any:
    """Returns the units of the rows, without counts."""
    if getattr(vectorizer, "vocabulary", None) is not None:
        return vectorizer.vocabulary.ngrams()
    return {name: array.tolist() for name, array in vectorizer.state().items() if name != "counts"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
