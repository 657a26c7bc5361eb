"""`charagram evaluate`: scores models on pairs of texts, or on the files of their task."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

from rich.table import Table

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._common.reporting import table_console
from tf_charagram.cli._flags.corrections import (
    Corrections,
    add_corrections_flag,
    add_keep_words_flag,
)
from tf_charagram.cli._flags.flags import MODEL_HELP, Parser, tuple_of
from tf_charagram.cli._flags.table_flags import check_input_flags
from tf_charagram.data._tables.lines import BadLines
from tf_charagram.data.typos import KINDS
from tf_charagram.errors import ConfigError

# A thousand take about 2 s for 43,000 pairs; a bound then moves from seed to seed by some 2 % of
# the interval's width (standard error of the 2.5 % quantile of a normal distribution).
_NUM_RESAMPLES = 1000

#: The result that `--json` prints, and tables with the line to print above them.
_Output: TypeAlias = tuple[dict[str, Any], list[tuple[str, list[Table]]]]


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram evaluate", description=__doc__)
    parser.add_argument("model", nargs="*", metavar="MODEL", help=MODEL_HELP)
    parser.add_argument(
        "--baseline",
        choices=("tfidf",),
        help="also score a baseline: character n-grams weighted by tf-idf",
    )
    parser.add_argument(
        "--eval-data", help="folder or file to score on [the starter set and downloaded sets]"
    )
    parser.add_argument(
        "--columns",
        type=tuple_of(str),
        default=(),
        metavar="NAME,NAME[,NAME]",
        help="columns of the file of --eval-data: two texts and the score, or for models with "
        "labels, the texts and the label; names, or numbers from 1 [well-known names]",
    )
    parser.add_argument(
        "--no-header",
        action="store_true",
        help="the first line of a CSV or TSV file is a row, and columns have numbers from 1",
    )
    parser.add_argument(
        "--typos",
        type=_typos,
        default=0,
        metavar="N|KIND",
        help="score again with this many typos in each pair, or with two errors of a kind: "
        f"{', '.join(KINDS)}",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        help="resamples for intervals [1000 if two columns are compared, else none]",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of typos and resamples [0]")
    parser.add_argument("--on-bad-line", choices=BadLines.POLICIES, default="error")
    add_keep_words_flag(parser)
    add_corrections_flag(parser)
    parser.add_argument("--json", action="store_true", help="print one line of JSON, no tables")
    return parser


def _typos(value: str) -> int | str:
    if value in KINDS:
        return value
    try:
        return int(value)
    except ValueError:
        raise ArgumentTypeError(f"must be a number or {', '.join(KINDS)}: {value!r}") from None


def evaluate(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    values = parser.parse_args(arguments)
    if not (values.model or values.baseline):
        parser.error("the following arguments are required: model, or --baseline")
    for name in ("typos", "bootstrap", "seed"):
        value = getattr(values, name)
        # `--typos` can be the name of a kind, and `--bootstrap` can be missing.
        if isinstance(value, int) and value < 0:
            raise ConfigError(f"`{name}` must not be negative. Received: {name}={value}")
    check_input_flags(values, *([] if values.eval_data is None else [values.eval_data]))
    bad_lines = BadLines(values.on_bad_line)
    result, titled_tables = _evaluate(parser, values, bad_lines)
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


def _evaluate(parser: Parser, values: Any, bad_lines: BadLines) -> _Output:
    from tf_charagram.models._storage.locations import EMBEDDER, read_kind

    kinds = {model: read_kind(model) for model in values.model}
    if set(kinds.values()) <= {EMBEDDER}:
        return _evaluate_embedders(values, bad_lines)
    if len(set(kinds.values())) > 1:
        named = ", ".join(f"{model} ({kind})" for model, kind in kinds.items())
        raise ConfigError(f"Models of different kinds cannot be compared: {named}.")
    parser.refuse(values, ("typos", "baseline", "keep_words"), "is for models that embed texts")
    return _evaluate_labelled(values, bad_lines)


def _evaluate_embedders(values: Any, bad_lines: BadLines) -> _Output:
    from tf_charagram.evaluation._scores.embedders import (
        EvaluationSets,
        embedder_json,
        embedder_tables,
        evaluate_embeddings,
        tfidf_vectors,
    )
    from tf_charagram.models._storage.choice import load_embedder

    num_resamples = values.bootstrap
    if num_resamples is None:
        # A difference of two scores means little without an interval.
        num_columns = len(values.model) + (values.baseline is not None)
        is_comparison = num_columns == 2 or values.typos
        num_resamples = _NUM_RESAMPLES if is_comparison else 0
    sets = EvaluationSets.read(
        values.eval_data,
        typos=values.typos,
        bad_lines=bad_lines,
        seed=values.seed,
        columns=values.columns,
        header=not values.no_header,
    )
    resampling = {"num_resamples": num_resamples, "seed": values.seed}
    results = []
    for model in values.model:
        # Few texts: data sets for evaluation have some thousand pairs.
        embedder = load_embedder(model, 0, keep_words=values.keep_words)
        embed = partial(embedder.encode, normalize=True)
        results.append(evaluate_embeddings(model, embed, sets, **resampling))
        corrections = Corrections(embedder)
        for pairs in sets.clean:
            corrections.add([*pairs.left, *pairs.right])
        corrections.say(values.show_corrections, model)
    if values.baseline is not None:
        results.append(evaluate_embeddings(values.baseline, tfidf_vectors, sets, **resampling))
    return embedder_json(results), [("", embedder_tables(results))]


def _evaluate_labelled(values: Any, bad_lines: BadLines) -> _Output:
    """Scores models that answer with tags, scores or labels."""
    load_tensorflow()
    from tf_charagram.tasks._shared.labelled import (
        evaluate_labelled,
        labelled_json,
        labelled_tables,
    )

    num_resamples = _NUM_RESAMPLES if values.bootstrap is None else values.bootstrap
    results = []
    for model in values.model:
        result = evaluate_labelled(
            model,
            values.eval_data,
            bad_lines=bad_lines,
            num_resamples=num_resamples,
            seed=values.seed,
            columns=values.columns,
            header=not values.no_header,
        )
        results.append(result)
        # All models read the same files, so bad lines are counted for the first one only.
        bad_lines = BadLines(values.on_bad_line)
    return labelled_json(results), labelled_tables(results)
