"""`python -m tf_charagram.train`: trains a model and leaves a run folder with a SavedModel."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence

import jsonargparse
from rich.console import Console

from tf_charagram.config import TrainConfig
from tf_charagram.flags import (
    FlagParser,
    add_fields,
    file_first,
    from_flags,
    repeatable,
    run_command,
)

# Texts among which the sample neighbours are searched.
_NUM_SEARCHED = 20_000


def make_parser() -> FlagParser:
    """Returns the command line; its flags are the fields of `TrainConfig` and a few more."""
    parser = FlagParser(prog="python -m tf_charagram.train", description=__doc__)
    parser.add_argument("--config", action=jsonargparse.ActionConfigFile)
    add_fields(parser, TrainConfig)
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument("--overwrite", action="store_true", help="replace the run in --out")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    return parser


def train(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(file_first(repeatable(arguments, "--data"))).as_dict()
    config = from_flags(TrainConfig, values)
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    from tf_charagram.tables import neighbor_table, score_table
    from tf_charagram.training.paraphrase import ParaphraseRun, sample_queries
    from tf_charagram.training.threads import set_threads

    runs = {"words": ParaphraseRun, "sentences": ParaphraseRun}

    set_threads(config)
    console = Console(stderr=values["json"], highlight=False)
    run = runs[config.task](config, resume=values["resume"], overwrite=values["overwrite"])
    console.print(
        f"{run.corpus.num_pairs:,} pairs, {run.embedder.vectorizer.num_rows:,} rows "
        f"-> {run.folder.path}"
    )
    try:
        metrics = run.run(resume=values["resume"])
    except KeyboardInterrupt:
        console.print(
            f"\nStopped at step {run.loop.step:,} of {run.loop.total_steps:,}; the state is saved. "
            f"Go on with the same command and --out {run.folder.path} --resume"
        )
        return 130
    console.print(score_table(run.scores))
    texts = run.corpus.listed[:_NUM_SEARCHED]
    console.print(neighbor_table(run.embedder, sample_queries(texts), texts))
    for name, path in metrics["paths"].items():
        console.print(f"{name:12} {path}", soft_wrap=True)
    if values["json"]:
        sys.stdout.write(json.dumps(metrics) + "\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(train, arguments)


if __name__ == "__main__":
    sys.exit(main())
