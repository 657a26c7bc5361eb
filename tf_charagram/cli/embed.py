"""`charagram embed`: embeds the lines of files of any size, in constant memory.

The vectors go to one file, or to a folder of shards, where `--resume` goes on after a stop.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tf_charagram._files.json_files import to_json_lines
from tf_charagram._files.writing import check_output, to_stdout, whole_file
from tf_charagram.cli._flags.corrections import (
    Corrections,
    add_corrections_flag,
    add_keep_words_flag,
)
from tf_charagram.cli._flags.flags import MODEL_HELP, Parser, flag_of
from tf_charagram.cli._flags.table_flags import (
    INPUT_FLAGS,
    add_input_flags,
    check_input_flags,
    column_names,
    read_input,
)
from tf_charagram.cli.commands import check_not_read
from tf_charagram.data._tables.tables import quoted
from tf_charagram.errors import ConfigError

if TYPE_CHECKING:
    from tf_charagram.bulk._shards.inputs import InputFile
    from tf_charagram.models._storage.choice import Embedder

# Writes one batch: texts, and their embeddings, float32 `(len(texts), dim)`.
_WriteVectors: TypeAlias = Callable[[Sequence[str], np.ndarray], None]

_SHARD_FLAGS = ("shard_lines", "resume", "overwrite", "ray")
_PARQUET = ".parquet"
_FILES = (".npy", ".tsv", ".jsonl")
_FEW_LINES = 1000
# Threads of one operation of TensorFlow, because batches are embedded in parallel.
_THREADS = "1"


def _make_parser() -> Parser:
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
        help="FILE.npy, FILE.tsv or FILE.jsonl; or a folder of shards: FOLDER/ in NumPy's format, "
        "FOLDER.parquet in Parquet [-, stdout, as tsv]",
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
    parser.add_argument(
        "--own-weights",
        action="store_true",
        help="weigh words by their rarity in the texts, too; in all of a large file, by its start",
    )
    add_corrections_flag(parser)
    shards = parser.add_argument_group("for a folder of shards")
    shards.add_argument("--shard-lines", type=int, help="lines of a shard [50000]")
    shards.add_argument("--resume", action="store_true", help="keep finished shards in the folder")
    shards.add_argument(
        "--ray",
        nargs="?",
        type=int,
        const=0,
        metavar="N",
        help="embed on a Ray cluster, with N actors [one per core]",
    )
    add_input_flags(parser)
    return parser


def _say_tables(paths: Sequence[str]) -> None:
    """Says on standard error that tables are read as lines."""
    from tf_charagram.data._tables.table_reading import format_of

    if tables := [path for path in paths if format_of(path)]:
        sys.stderr.write(f"{tables[0]}: each line is a text; for columns, name them with --on\n")


def embed(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    parsed = parser.parse_args(arguments)
    if not parsed.on:
        parser.refuse(parsed, INPUT_FLAGS, "is for tables: name their columns with --on")
    values = vars(parsed)
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", _THREADS)
    from tf_charagram.bulk._shards.inputs import find_inputs

    inputs = values["input"] or ["-"]
    if not parsed.on and (tables := [path for path in inputs if path.endswith(_PARQUET)]):
        raise ConfigError(f"{tables[0]} is a table: name the columns of the texts with --on.")
    files = find_inputs(inputs, are_lines=not values["on"])
    paths = [file.path for file in files]
    check_not_read(values["output"], paths)
    if parsed.on:
        check_input_flags(parsed, *paths)
    else:
        _say_tables(paths)
    given = {}
    for name in _SHARD_FLAGS:
        value = values[name]
        # A flag that is not given is `None`, or `False` for a switch.
        if value is not None and value is not False:
            given[name] = value
    output = values["output"]
    is_file = output == "-" or output.endswith(_FILES)
    is_folder = output.endswith(("/", _PARQUET)) or os.path.isdir(output)
    if is_folder or (given and not is_file):
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
    from tf_charagram.bulk._shards.inputs import read_texts
    from tf_charagram.bulk.job import EmbedJob
    from tf_charagram.bulk.run import embed_files

    is_parquet = values["output"].rstrip("/").endswith(_PARQUET)
    job_options: dict[str, Any] = {"format": "parquet"} if is_parquet else {}
    run_options = dict(given)
    if "shard_lines" in run_options:
        job_options["shard_lines"] = run_options.pop("shard_lines")
    job = EmbedJob(
        values["model"],
        tuple(files),
        values["output"],
        keep_words=values["keep_words"],
        own_weights=values["own_weights"],
        **job_options,
    )
    embed_files(job, **run_options)
    first = list(islice(read_texts(files), _FEW_LINES))
    _say_corrections(job.embedder, first, values)


def _embed_to_file(files: list[InputFile], values: dict[str, Any]) -> None:
    from tf_charagram.bulk._shards.inputs import LineProgress, to_text
    from tf_charagram.models._storage.choice import first_texts, load_embedder, num_chars_of
    from tf_charagram.models._storage.locations import read_config
    from tf_charagram.models._storage.own_words import word_options

    model, output = values["model"], values["output"]
    # Errors before standard input is awaited.
    read_config(model)
    _check_vector_file(output)
    check_output(output, values["overwrite"])
    lines = _texts(files, values)
    first = first_texts(lines)
    options = word_options(model, first, values["keep_words"], values["own_weights"])
    embedder = load_embedder(model, num_chars_of(first), **options)
    batches = embedder.encode_batches(chain(first, lines))
    with (
        _open_vector_file(output, embedder.dim) as write,
        LineProgress(files) as progress,
    ):
        for texts, vectors in batches:
            write(texts, vectors)
            progress.advance(len(texts), len(to_text(texts)))
    progress.say(progress.summary())
    _say_corrections(embedder, first[:_FEW_LINES], values)


def _texts(files: list[InputFile], values: dict[str, Any]) -> Iterator[str]:
    """Yields the lines of all files, or the texts of the rows of tables."""
    from tf_charagram.bulk._shards.inputs import read_texts

    columns = values["on"]
    if not columns:
        yield from read_texts(files)
        return
    for file in files:
        table = read_input(file.path, Namespace(**values), columns)
        yield from table.text_of(columns)


def _say_corrections(embedder: Embedder, first: list[str], values: dict[str, Any]) -> None:
    """Reports how the first lines were read."""
    corrections = Corrections(embedder)
    corrections.add(first)
    is_long = len(first) == _FEW_LINES
    corrections.say(values["show_corrections"], f"first {_FEW_LINES:,} lines" if is_long else "")


@contextmanager
def _open_vector_file(path: str | Path, dim: int) -> Iterator[_WriteVectors]:
    """Opens a file for embeddings, which appears only once it is complete.

    Args:
        path: `FILE.npy`: one array; `FILE.tsv`: the text, then the numbers; `FILE.jsonl`: objects
            with `text` and `embedding`; `-`: standard output, as tsv.
        dim: Width of the embeddings.

    Raises:
        ConfigError: The suffix is unknown.
        RunError: The file cannot be written.
    """
    _check_vector_file(path)
    suffix = Path(path).suffix
    if str(path) == "-":
        yield _line_writer(to_stdout, _to_tsv)
    elif suffix == ".npy":
        with whole_file(path) as file, _open_array(file, dim) as write:
            yield write
    else:
        with whole_file(path, "w") as file:
            to_line = _to_tsv if suffix == ".tsv" else _to_json_line
            yield _line_writer(file.write, to_line)


def _check_vector_file(path: str | Path) -> None:
    """Checks the name of a file for embeddings before they are computed.

    Raises:
        ConfigError: `_open_vector_file` cannot write such a file.
    """
    if str(path) != "-" and Path(path).suffix not in (".npy", ".tsv", ".jsonl"):
        raise ConfigError(
            "--output must end in .npy, .tsv or .jsonl, be -, or end in / for a folder of shards. "
            f"Received: {path}"
        )


def _line_writer(
    write_text: Callable[[str], object], to_line: Callable[[str, list[str]], str]
) -> _WriteVectors:
    def write(texts: Sequence[str], vectors: np.ndarray) -> None:
        for text, vector in zip(texts, vectors.tolist(), strict=True):
            numbers = [f"{value:.6g}" for value in vector]
            write_text(to_line(text, numbers))

    return write


def _to_tsv(text: str, numbers: list[str]) -> str:
    return "\t".join([quoted(text, "\t"), *numbers]) + "\n"


def _to_json_line(text: str, numbers: list[str]) -> str:
    return to_json_lines([{"text": text, "embedding": list(map(float, numbers))}])


@contextmanager
def _open_array(file: IO[bytes], dim: int) -> Iterator[_WriteVectors]:
    """Appends rows after a header, in which NumPy leaves room for the final number of rows."""
    num_rows = 0

    def write(texts: Sequence[str], vectors: np.ndarray) -> None:
        nonlocal num_rows
        num_rows += len(texts)
        file.write(np.ascontiguousarray(vectors, "<f4").tobytes())

    def write_header() -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": (num_rows, dim)}
        np.lib.format.write_array_header_1_0(file, header)

    write_header()
    yield write
    # The number of rows is known only now; the header has the same length as before.
    file.seek(0)
    write_header()
    file.seek(0, os.SEEK_END)
