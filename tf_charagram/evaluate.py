"""`charagram evaluate`: scores models on pairs of texts, or on misspellings."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

from rich.table import Table

from tf_charagram.bad_lines import BadLines
from tf_charagram.cli.flags import MODEL_HELP, FlagParser, flag_of, run_command
from tf_charagram.errors import ConfigError
from tf_charagram.reporting.console import table_console

# A thousand take about 2 s for 43,000 pairs; a bound then moves from seed to seed by some 2 % of
# the interval's width (standard error of the 2.5 % quantile of a normal distribution).
_NUM_RESAMPLES = 1000

#: What `--json` prints, and tables with what is printed above them.
_Output: TypeAlias = tuple[dict[str, Any], list[tuple[str, list[Table]]]]


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram evaluate", description=__doc__)
    parser.add_argument("model", type=str, nargs="+", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--eval-data", type=str | None, default=None,
        help="folder or file to score on [the starter set and what was downloaded before]",
    )  # fmt: skip
    parser.add_argument(
        "--misspellings", type=str | None, default=None,
        help="list of wrong and right forms: recall of the right ones in place of the sets",
    )  # fmt: skip
    parser.add_argument(
        "--vocabulary", type=str | None, default=None,
        help="words that --misspellings looks among, one per line, most frequent first [those of "
        "the first model, as `neighbors` has them]",
    )  # fmt: skip
    parser.add_argument(
        "--fasttext", type=str | None, default=None,
        help="model of fastText, FILE.bin, to compare with on --misspellings",
    )  # fmt: skip
    parser.add_argument(
        "--typos", type=int, default=0,
        help="score again with this many typing errors in one text of each pair",
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
    parser.choices["on_bad_line"] = BadLines.POLICIES
    return parser


def evaluate(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    for name in ("typos", "bootstrap", "seed"):
        if (values[name] or 0) < 0:
            raise ConfigError(f"`{name}` must not be negative. Received: {name}={values[name]}")
    _check_flags(values)
    run = _evaluate_misspellings if values.misspellings is not None else _evaluate_pairs
    bad_lines = BadLines(values.on_bad_line)
    result, titled_tables = run(values, bad_lines)
    if bad_lines.count:
        sys.stderr.write(f"{bad_lines.summary()}\n")
    if values.json:
        sys.stdout.write(json.dumps(result) + "\n")
        return 0
    console = table_console()
    for title, tables in titled_tables:
        if title:
            sys.stdout.write(f"{title}\n")
        for table in tables:
            console.print(table)
    return 0


def _check_flags(values: Any) -> None:
    """Raises an error for flags that do not go together."""
    if values.misspellings is None:
        wrong, rule = ("vocabulary", "fasttext"), "is for --misspellings"
    else:
        wrong, rule = ("eval_data", "typos"), "does not go with --misspellings"
    for name in wrong:
        if values[name]:
            raise ConfigError(f"{flag_of(name)} {rule}. Leave it out.")


def _evaluate_misspellings(values: Any, bad_lines: BadLines) -> _Output:
    from tf_charagram.scoring.misspellings import evaluate_misspellings
    from tf_charagram.serialization.model_folder import EMBEDDER, read_kind

    for model in values.model:
        if (kind := read_kind(model)) != EMBEDDER:
            raise ConfigError(
                f"--misspellings is for models that embed texts. {model} is of the kind '{kind}'."
            )
    result = evaluate_misspellings(
        values.model, values.misspellings, values.vocabulary, fasttext=values.fasttext,
        bad_lines=bad_lines, seed=values.seed,
        num_resamples=_NUM_RESAMPLES if values.bootstrap is None else values.bootstrap,
    )  # fmt: skip
    return result.to_dict(), [("", result.tables())]


def _evaluate_pairs(values: Any, bad_lines: BadLines) -> _Output:
    from tf_charagram.serialization.model_folder import EMBEDDER, read_kind

    kinds = {model: read_kind(model) for model in values.model}
    if set(kinds.values()) == {EMBEDDER}:
        return _evaluate_embedders(values, bad_lines)
    return _evaluate_labelled(values, kinds, bad_lines)


def _evaluate_embedders(values: Any, bad_lines: BadLines) -> _Output:
    from tf_charagram.scoring.embedders import embedder_json, embedder_tables, evaluate_embedders

    num_resamples = values.bootstrap
    if num_resamples is None:
        is_comparison = len(values.model) == 2 or values.typos
        num_resamples = _NUM_RESAMPLES if is_comparison else 0
    results = evaluate_embedders(
        values.model, values.eval_data, typos=values.typos, bad_lines=bad_lines,
        num_resamples=num_resamples, seed=values.seed,
    )  # fmt: skip
    return embedder_json(results), [("", embedder_tables(results))]


def _evaluate_labelled(values: Any, kinds: dict[str, str], bad_lines: BadLines) -> _Output:
    """Scores models that answer with tags, scores or labels; arguments as the flags."""
    if len(set(kinds.values())) > 1:
        named = ", ".join(f"{model} ({kind})" for model, kind in kinds.items())
        raise ConfigError(f"Models of different kinds cannot be compared: {named}.")
    if values.typos:
        raise ConfigError("`typos` is for models that embed texts. Leave it out.")
    from tf_charagram.scoring.labelled import evaluate_labelled, labelled_json, labelled_tables

    num_resamples = _NUM_RESAMPLES if values.bootstrap is None else values.bootstrap
    results = [
        evaluate_labelled(
            model, values.eval_data, bad_lines=bad_lines, num_resamples=num_resamples,
            seed=values.seed,
        )
        for model in values.model
    ]  # fmt: skip
    return labelled_json(results), labelled_tables(results)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(evaluate, arguments)


if __name__ == "__main__":
    sys.exit(main())
