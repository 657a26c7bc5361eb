"""`charagram embed`: embeds the lines of files of any size, in constant memory.

The vectors go to one file, or to a folder of shards, where `--resume` goes on after a stop.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from tf_charagram.cli.commands import check_not_read
from tf_charagram.cli.corrections import Corrections, add_corrections_flag, add_keep_words_flag
from tf_charagram.cli.flags import MODEL_HELP, Parser, flag_of
from tf_charagram.cli.table_flags import add_input_flags, column_names, read_input
from tf_charagram.errors import ConfigError
from tf_charagram.files.writing import check_output
from tf_charagram.reporting import load_tensorflow

if TYPE_CHECKING:
    from tf_charagram.bulk.inputs import InputFile
    from tf_charagram.models.embedder import TextEmbedder

_JOB_FLAGS = ("format", "shard_lines")
_RUN_FLAGS = ("resume", "overwrite", "engine", "workers")
_FILES = (".npy", ".tsv", ".jsonl")
_FEW_LINES = 1000
# Threads of one operation, because batches are embedded in parallel.
_THREADS = 1


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram embed", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument(
        "--input",
        action="append",
        help="file, plain or .gz, or a pattern such as 'logs/*.gz'; repeatable [-, stdin]",
    )
    parser.add_argument(
        "--output",
        default="-",
        help="FILE.npy, FILE.tsv or FILE.jsonl; or FOLDER/ for shards [-, stdout, as tsv]",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
    parser.add_argument(
        "--on",
        type=column_names,
        default=[],
        metavar="A,B,...",
        help="columns of a table, by name or number from 1, which are joined [whole lines]",
    )
    add_keep_words_flag(parser)
    add_corrections_flag(parser)
    shards = parser.add_argument_group("for a folder of shards")
    shards.add_argument("--format", choices=("npy", "parquet"), help="[npy]")
    shards.add_argument("--shard-lines", type=int, help="lines of a shard [50000]")
    shards.add_argument("--resume", action="store_true", help="keep finished shards in the folder")
    shards.add_argument("--engine", choices=("local", "ray"), help="[local]")
    shards.add_argument("--workers", type=int, help="actors of ray [one per core]")
    add_input_flags(parser)
    return parser


def embed(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = vars(make_parser().parse_args(arguments))
    load_tensorflow()
    from tf_charagram.bulk.inputs import find_inputs

    files = find_inputs(values["input"] or ["-"], are_lines=not values["on"])
    check_not_read(values["output"], [file.path for file in files])
    given = {}
    for name in _JOB_FLAGS + _RUN_FLAGS:
        value = values[name]
        # A flag that is not given is `None`, or `False` for a switch.
        if value is not None and value is not False:
            given[name] = value
    output = values["output"]
    is_file = output == "-" or output.endswith(_FILES)
    if output.endswith("/") or os.path.isdir(output) or (given and not is_file):
        if values["on"]:
            raise ConfigError(f"--on is for a file: {' '.join(_FILES)}. Received: {output}")
        _embed_to_shards(files, values, given)
        return 0
    given.pop("overwrite", None)
    if given:
        flag = flag_of(next(iter(given)))
        raise ConfigError(f"{flag} is for shards: give a folder with --output. Received: {output}")
    _embed_to_file(files, values)
    return 0


def _embed_to_shards(files: list[InputFile], values: dict[str, Any], given: dict[str, Any]) -> None:
    from tf_charagram.bulk.inputs import read_texts
    from tf_charagram.bulk.run import EmbedJob, embed_files
    from tf_charagram.training.processor import limit_threads

    limit_threads(_THREADS)
    job_options = {name: given[name] for name in _JOB_FLAGS if name in given}
    run_options = {name: given[name] for name in _RUN_FLAGS if name in given}
    job = EmbedJob(
        values["model"],
        tuple(files),
        values["output"],
        keep_words=values["keep_words"],
        **job_options,
    )
    embed_files(job, **run_options)
    first = list(islice(read_texts(files), _FEW_LINES))
    _say_corrections(job.embedder, first, values)


def _embed_to_file(files: list[InputFile], values: dict[str, Any]) -> None:
    from tf_charagram.bulk.inputs import LineProgress, to_text
    from tf_charagram.data.writers import check_vector_file, open_vector_file
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.models.locations import read_config
    from tf_charagram.training.processor import limit_threads

    limit_threads(_THREADS)
    model, output = values["model"], values["output"]
    # Errors before standard input is awaited.
    read_config(model)
    check_vector_file(output)
    check_output(output, values["overwrite"])
    lines = _texts(files, values)
    first = list(islice(lines, _FEW_LINES))
    # For a few texts, folding takes longer than it saves.
    is_long = len(first) == _FEW_LINES
    embedder = TextEmbedder.load(model, folded=is_long, keep_words=values["keep_words"])
    batches = embedder.encode_batches(chain(first, lines))
    with (
        open_vector_file(output, embedder.dim) as write,
        LineProgress(files) as progress,
    ):
        for texts, vectors in batches:
            write(texts, vectors)
            progress.advance(len(texts), len(to_text(texts)))
    progress.say(progress.summary())
    _say_corrections(embedder, first, values)


def _texts(files: list[InputFile], values: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of all files, or the texts of the rows of tables."""
    from tf_charagram.bulk.inputs import read_texts

    columns = values["on"]
    if not columns:
        yield from read_texts(files)
        return
    for file in files:
        table = read_input(file.path, Namespace(**values), columns)
        yield from table.text_of(columns)


def _say_corrections(embedder: TextEmbedder, first: list[str], values: dict[str, Any]) -> None:
    """Reports how the first lines were read."""
    corrections = Corrections(embedder)
    corrections.add(first)
    is_long = len(first) == _FEW_LINES
    corrections.say(values["show_corrections"], f"first {_FEW_LINES:,} lines" if is_long else "")
