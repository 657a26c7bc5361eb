"""`python -m tf_charagram.evaluate`: scores a model on word similarity sets."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rich.console import Console

from tf_charagram.flags import FlagParser, run_command


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="python -m tf_charagram.evaluate", description=__doc__)
    parser.add_argument("model", type=str, help="run folder or model folder")
    parser.add_argument(
        "--eval-data", type=str | None, default=None,
        help="folder or file to score on [the starter set and what was downloaded before]",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def evaluate(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.evaluation.scores import score_sets
    from tf_charagram.evaluation.sets import evaluation_sets
    from tf_charagram.models.embedder import TextEmbedder, unit_rows
    from tf_charagram.tables import score_table

    embedder = TextEmbedder.load(values.model)
    sets = evaluation_sets(values.eval_data)
    scores = score_sets(lambda texts: unit_rows(embedder.encode(texts)), sets)
    if values.json:
        result = {
            "model": values.model,
            "scores": {score.name: score.spearman for score in scores},
            "details": [score.to_dict() for score in scores],
        }
        sys.stdout.write(json.dumps(result) + "\n")
    else:
        Console(highlight=False).print(score_table(scores))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(evaluate, arguments)


if __name__ == "__main__":
    sys.exit(main())
