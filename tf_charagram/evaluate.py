"""`python -m tf_charagram.evaluate`: scores models on pairs of words, phrases or sentences."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from tf_charagram.cli.flags import FlagParser, run_command
from tf_charagram.data.pipeline.typos import with_typos
from tf_charagram.data.readers.lines import BadLines
from tf_charagram.data.readers.scored import ScoredPairs
from tf_charagram.errors import ConfigError
from tf_charagram.evaluation.comparison import differences
from tf_charagram.evaluation.set_score import SetScore
from tf_charagram.reporting.console import table_console

# A thousand take about 2 s for 43,000 pairs; a bound then moves from seed to seed by some 2 % of
# the interval's width (standard error of the 2.5 % quantile of a normal distribution).
_NUM_RESAMPLES = 1000


@dataclass(frozen=True)
class Evaluated:
    """The scores of one model.

    Attributes:
        model: Its folder, as given.
        clean: Its scores.
        typos: Its scores with typing errors in one text of each pair, if asked for.
    """

    model: str
    clean: list[SetScore]
    typos: list[SetScore] | None

    def to_dict(self) -> dict[str, Any]:
        """Returns what `--json` prints."""
        result: dict[str, Any] = {"model": self.model, **_json(self.clean)}
        if self.typos is not None:
            changes = _dicts(self.clean, self.typos)
            result["typos"] = {**_json(self.typos), "differences": changes}
        return result


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="python -m tf_charagram.evaluate", description=__doc__)
    parser.add_argument(
        "model", type=str, nargs="+", metavar="MODEL", help="run folder or model folder"
    )
    parser.add_argument(
        "--eval-data", type=str | None, default=None,
        help="folder or file to score on [the starter set and what was downloaded before]",
    )  # fmt: skip
    parser.add_argument(
        "--typos", type=int, default=0,
        help="score once more with so many typing errors in one text of each pair",
    )  # fmt: skip
    parser.add_argument(
        "--bootstrap", type=int | None, default=None,
        help="resamples for intervals [1000 where two columns are compared, else none]",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of typing errors and resamples")
    parser.add_argument(
        "--on-bad-line", type=str, default="error", help="what to do about a bad line: error, skip"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no table")
    return parser


def evaluate(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    for name in ("typos", "bootstrap", "seed"):
        if (values[name] or 0) < 0:
            raise ConfigError(f"`{name}` must not be negative. Received: {name}={values[name]}")
    from tf_charagram.serialization.model_folder import EMBEDDER, read_kind

    kinds = {model: read_kind(model) for model in values.model}
    bad = BadLines(values.on_bad_line)
    if set(kinds.values()) != {EMBEDDER}:
        return _evaluate_labelled(values, kinds, bad)
    from tf_charagram.evaluation.sets import evaluation_sets

    sets = evaluation_sets(values.eval_data, on_bad_line=bad)
    if bad.count:
        sys.stderr.write(f"{bad.summary()}\n")
    mistyped = None
    if values.typos:
        mistyped = [with_typos(pairs, values.typos, values.seed) for pairs in sets]
    num_resamples = values.bootstrap
    if num_resamples is None:
        is_comparison = len(values.model) == 2 or mistyped is not None
        num_resamples = _NUM_RESAMPLES if is_comparison else 0
    results = [
        evaluate_model(model, sets, mistyped, num_resamples, values.seed) for model in values.model
    ]
    if values.json:
        sys.stdout.write(json.dumps(results_json(results)) + "\n")
    else:
        _print_tables(results_tables(results))
    return 0


def _evaluate_labelled(values: Any, kinds: dict[str, str], bad: BadLines) -> int:
    """Scores models that answer with tags, scores or labels; arguments as the flags."""
    if len(set(kinds.values())) > 1:
        named = ", ".join(f"{model} ({kind})" for model, kind in kinds.items())
        raise ConfigError(f"Models of different kinds cannot be compared: {named}.")
    if values.typos:
        raise ConfigError("`typos` is for models that embed texts. Leave it out.")
    from tf_charagram.reporting.supervised_tables import difference_table
    from tf_charagram.training.evaluation import evaluate_labelled, labelled_differences

    results = [
        evaluate_labelled(
            model, values.eval_data, bad_lines=bad, seed=values.seed,
            num_resamples=_NUM_RESAMPLES if values.bootstrap is None else values.bootstrap,
        )
        for model in values.model
    ]  # fmt: skip
    if bad.count:
        sys.stderr.write(f"{bad.summary()}\n")
    changes = labelled_differences(*results) if len(results) == 2 else {}
    if values.json:
        found: dict[str, Any] = results[0].to_dict()
        if len(results) > 1:
            found = {"models": [result.to_dict() for result in results]}
        if changes:
            found["differences"] = {
                name: [change.to_dict() for change in some] for name, some in changes.items()
            }
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    for result in results:
        if len(results) > 1:
            sys.stdout.write(f"{result.model}\n")
        _print_tables(result.tables())
    if changes:
        _print_tables([difference_table(name, some) for name, some in changes.items()])
    return 0


def _print_tables(tables: Iterable[Table]) -> None:
    console = table_console()
    for table in tables:
        console.print(table)


def evaluate_model(
    model: str,
    sets: Sequence[ScoredPairs],
    mistyped: Sequence[ScoredPairs] | None,
    num_resamples: int,
    seed: int,
) -> Evaluated:
    """Loads a model and scores it; arguments as the flags."""
    from tf_charagram.evaluation.scores import score_sets
    from tf_charagram.models.embedder import TextEmbedder, unit_rows

    embedder = TextEmbedder.load(model)

    def scores(some: Sequence[ScoredPairs]) -> list[SetScore]:
        return score_sets(
            lambda texts: unit_rows(embedder.encode(texts)),
            some,
            num_resamples=num_resamples,
            seed=seed,
        )

    return Evaluated(model, scores(sets), None if mistyped is None else scores(mistyped))


def results_json(results: Sequence[Evaluated]) -> dict[str, Any]:
    """Returns the results of one model; those of several under `models`, with differences of two.

    The differences are the second model's scores less the first's.
    """
    if len(results) == 1:
        return results[0].to_dict()
    found: dict[str, Any] = {"models": [result.to_dict() for result in results]}
    if len(results) == 2:
        first, second = results
        found["differences"] = _dicts(first.clean, second.clean)
        if first.typos is not None and second.typos is not None:
            found["differences_typos"] = _dicts(first.typos, second.typos)
    return found


def results_tables(results: Sequence[Evaluated]) -> list[Table]:
    """Returns the table of one model, or tables of the runs side by side with differences."""
    from tf_charagram.reporting.similarity_tables import comparison_table, score_table

    clean = [result.clean for result in results]
    typos = [result.typos for result in results if result.typos is not None]
    if len(results) == 1:
        if not typos:
            return [score_table(clean[0])]
        columns = [("clean", clean[0]), ("typos", typos[0])]
        return [
            comparison_table(clean[0], columns, [("difference", differences(clean[0], typos[0]))])
        ]
    labels = _labels(results)
    tables = []
    for title, runs in (("", clean), (", with typing errors", typos)):
        if runs:
            change = [("difference", differences(*runs))] if len(runs) == 2 else []
            columns = list(zip(labels, runs, strict=True))
            tables.append(comparison_table(runs[0], columns, change, title))
    if typos:
        changes = [differences(one, other) for one, other in zip(clean, typos, strict=True)]
        title = ", change by typing errors"
        tables.append(
            comparison_table(clean[0], [], list(zip(labels, changes, strict=True)), title)
        )
    return tables


def _labels(results: Sequence[Evaluated]) -> list[str]:
    """Returns a short name of each model: of its run folder, or the whole path if two are alike."""
    paths = [Path(result.model).absolute() for result in results]
    names = [path.parent.name if path.name == "model" else path.name for path in paths]
    counts = Counter(names)
    return [
        name if counts[name] == 1 else result.model
        for name, result in zip(names, results, strict=True)
    ]


def _json(scores: Sequence[SetScore]) -> dict[str, Any]:
    return {
        "scores": {score.name: score.value for score in scores},
        "details": [score.to_dict() for score in scores],
    }


def _dicts(first: Sequence[SetScore], second: Sequence[SetScore]) -> list[dict[str, Any]]:
    return [change.to_dict() for change in differences(first, second)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(evaluate, arguments)


if __name__ == "__main__":
    sys.exit(main())
