"""`charagram search`: finds the most similar texts of a list, or corrects the spelling of words."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tf_charagram._files.writing import check_free, check_local, to_stdout
from tf_charagram.cli._flags.corrections import Corrections, add_corrections_flag
from tf_charagram.cli._flags.flags import Parser
from tf_charagram.cli._flags.table_flags import (
    INPUT_FLAGS,
    add_input_flags,
    add_output_flags,
    check_input_flags,
    check_table_output,
    column_names,
    read_input,
    texts_of,
)
from tf_charagram.data._tables.lines import STDIN
from tf_charagram.data._tables.tables import quoted
from tf_charagram.errors import ConfigError, check_fraction, check_positive, unknown_name
from tf_charagram.models._storage.locations import read_config, shipped_models

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.data._tables.tables import Table
    from tf_charagram.models._storage.choice import Embedder
    from tf_charagram.search.text_index import Hit

    Find = Callable[[Sequence[str], int], list[list[Hit]]]

PROMPT = "text> "
_LIST_HEADER = "   score     row  text\n"
_CSV_HEADER = "query,row,score,text\n"
# Corrections that would be shown as 0.000 are left out.
_MIN_PROBABILITY = 0.0005
_CHUNK_BYTES = 2**16


def _make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram search", description=__doc__)
    parser.add_argument(
        "source",
        help="what to search: a file of texts or a table; a folder of --save; or a model, whose "
        "known words or training texts are searched",
    )
    parser.add_argument("query", nargs="*", help="texts [lines of standard input]")
    add_scoring_flags(parser)
    parser.add_argument("--k", type=int, default=10, help="texts found per query [10]")
    parser.add_argument("--threshold", type=float, default=0.0, help="minimum score [0]")
    parser.add_argument("--save", metavar="FOLDER", help="save the index, to search it faster")
    parser.add_argument(
        "--spelling",
        action="store_true",
        help="correct the spelling of words, with probabilities; the source has words, most "
        "frequent first",
    )
    add_corrections_flag(parser)
    parser.add_argument("--json", action="store_true", help="one line of JSON for each query")
    parser.add_argument(
        "--csv", action="store_true", help="CSV with a header [unless the output is a terminal]"
    )
    text = "FILE.csv, .tsv, .jsonl or .parquet for the found rows with all their columns"
    add_output_flags(parser, None, text)
    add_input_flags(parser)
    return parser


def add_scoring_flags(parser: Parser) -> None:
    """Adds the flags that say which columns are compared, and how."""
    parser.add_argument(
        "--on",
        type=column_names,
        default=[],
        metavar="A,B,...",
        help="columns to compare, by name or number from 1; a name with a comma is "
        "in double quotes [the only one, or text, name, ...]",
    )
    parser.add_argument(
        "--model",
        default="english",
        help="run folder, model folder, a name that charagram models lists, or none to compare "
        "letters only [english]",
    )
    parser.add_argument(
        "--vectors-only", action="store_true", help="compare only vectors, by their cosine"
    )


def search(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    values = parser.parse_args(arguments)
    check_positive(k=values.k)
    check_fraction("threshold", values.threshold)
    _check_flags(parser, values)
    if values.save:
        # Before texts are embedded, which can take minutes.
        check_local(values.save)
        check_free(Path(values.save))
    if values.output:
        check_table_output(values, values.source)
    source = values.source
    models = shipped_models()
    if source != STDIN and not Path(source).exists() and source not in models:
        raise ConfigError(unknown_name("file, index or model", source, models))
    make_search = _speller if values.spelling else _searcher
    find, embedder, table = make_search(values)
    answers: list[tuple[str, list[Hit]]] = []
    to_answer: Callable[[str, Sequence[Hit]], str] = _json
    header = ""
    if not values.json:
        is_listed = sys.stdout.isatty() and not values.csv
        to_answer = _listed if is_listed else _csv
        header = _LIST_HEADER if is_listed else _CSV_HEADER
    for batch in _batches(values, sys.stdin.isatty()):
        if embedder is not None:
            corrections = Corrections(embedder)
            corrections.add(batch)
            corrections.say(values.show_corrections, batch[0] if len(batch) == 1 else "")
        found = list(zip(batch, find(batch, values.k), strict=True))
        if values.output:
            answers += found
            continue
        to_stdout(header + "".join(to_answer(query, hits) for query, hits in found))
        header = ""
        sys.stdout.flush()
    if values.output:
        _to_table(answers, table).write(values.output)
    return 0


def _check_flags(parser: Parser, values: Namespace) -> None:
    """Checks that each flag has an effect on the source.

    Raises:
        ConfigError: A flag has no effect.
    """
    from tf_charagram.search.text_index import SETTINGS

    source = values.source
    is_file = _is_file(source)
    others: tuple[str, ...]
    if values.spelling:
        others = ("save", "on", "vectors_only", "show_corrections", *INPUT_FLAGS)
        parser.refuse(values, others, "does not go with --spelling, which takes a list of words")
    elif not is_file:
        others = ("on", "vectors_only", *INPUT_FLAGS)
        parser.refuse(values, others, f"is for a file: {source} is an index or model")
    if not is_file and not (Path(source) / SETTINGS).is_file():
        parser.refuse(values, ("model",), f"is for a file or index: {source} is a model")
    if values.output:
        parser.refuse(values, ("json", "csv"), "does not go with --output")
    else:
        parser.refuse(values, ("overwrite",), "is for --output")
    if values.json:
        parser.refuse(values, ("csv",), "does not go with --json")


def _to_table(answers: Sequence[tuple[str, Sequence[Hit]]], table: Table | None) -> Table:
    """Returns a row for each hit: its query, row and score, and the columns of the found row."""
    from tf_charagram.data._tables.tables import Table

    queries = []
    found: list[Hit] = []
    for query, hits in answers:
        queries += [_printable(query)] * len(hits)
        found += hits
    rows = [hit.row for hit in found]
    scores = [round(hit.score, 4) for hit in found]
    written = Table(["query", "row", "score"], [queries, rows, scores])
    if table is None:
        written.add("text", [hit.text for hit in found])
        return written
    written.add_columns_of(table.take(rows))
    return written


def _batches(values: Namespace, is_terminal: bool) -> Iterator[list[str]]:
    """Yields the queries of the command line, or the nonempty lines of standard input."""
    if values.query:
        yield values.query
        return
    # Somebody who saves an index on a terminal does not wait for a prompt.
    if values.save and is_terminal:
        return
    for lines in _arriving_lines(PROMPT if is_terminal else ""):
        queries = [line for line in lines if line.strip()]
        if queries:
            yield queries


def _arriving_lines(prompt: str) -> Iterator[list[str]]:
    """Yields the lines of standard input as they arrive: at once the lines that wait already.

    Many queries take much less time at once, but the other end of a pipe may wait for each answer.
    """
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    rest = b""
    while True:
        sys.stderr.write(prompt)
        sys.stderr.flush()
        chunk = stream.read1(_CHUNK_BYTES)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk:
            lines = [rest]
        yield [line.decode("utf-8", "replace").strip("\r") for line in lines]
        if not chunk:
            return


def _printable(text: str) -> str:
    """Replaces bytes of an argument that are not UTF-8 by `?`."""
    return text.encode("utf-8", "replace").decode()


def _json(query: str, found: Sequence[Hit]) -> str:
    hits = [{**hit._asdict(), "score": round(hit.score, 6)} for hit in found]
    return json.dumps({"query": _printable(query), "hits": hits}, ensure_ascii=False) + "\n"


def _csv(query: str, found: Sequence[Hit]) -> str:
    lines = []
    for hit in found:
        cells = [_printable(query), str(hit.row), f"{hit.score:.4f}", hit.text]
        lines.append(",".join(quoted(cell, ",") for cell in cells) + "\n")
    return "".join(lines)


def _listed(query: str, found: Sequence[Hit]) -> str:
    lines = [_printable(query)]
    for hit in found:
        # A cell of a table can have several lines.
        text = " ".join(hit.text.split())
        lines.append(f"  {hit.score:6.3f}  {hit.row:6}  {text}")
    return "\n".join([*lines, ""])


def _is_file(source: str) -> bool:
    """Tells files of texts and tables from folders and names of models."""
    path = Path(source)
    return source == STDIN or (path.exists() and not path.is_dir())


def _searcher(values: Namespace) -> tuple[Find, Embedder | None, Table | None]:
    """Returns the search, the model whose corrections are reported, and the searched table."""
    from tf_charagram.search.text_index import SETTINGS, TextIndex
    from tf_charagram.search.texts import read_vocabulary

    source = values.source
    is_model = False
    table = None
    if _is_file(source):
        check_input_flags(values, source)
        table = read_input(source, values, values.on)
        texts = texts_of(table, values.on)
        index = TextIndex(texts, model_of(values), lexical=not values.vectors_only)
    elif (Path(source) / SETTINGS).is_file():
        index = TextIndex.load(source, values.model)
    else:
        is_model = True
        words = read_vocabulary(None, source, f"`search FILE --model {source}`")
        index = TextIndex(words, source, lexical=False)
    if values.save:
        index.save(values.save)
        sys.stderr.write(f"{len(index):,} texts -> {values.save}\n")

    def find(queries: Sequence[str], k: int) -> list[list[Hit]]:
        if not is_model:
            return index.search(queries, k, values.threshold)
        # A word of a model should not find itself, so one more is searched.
        answers = []
        found = index.search(queries, k + 1, values.threshold)
        for query, hits in zip(queries, found, strict=True):
            others = [hit for hit in hits if hit.text != query]
            answers.append(others[:k])
        return answers

    return find, index.scorer.embedder, table


def _speller(values: Namespace) -> tuple[Find, Embedder, None]:
    from tf_charagram.models._storage.choice import load_embedder, num_chars_of
    from tf_charagram.search._pairs.spelling import SpellingCorrector, read_words
    from tf_charagram.search.text_index import Hit

    is_file = Path(values.source).is_file()
    model = values.model if is_file else values.source
    flag = f"`search FILE --spelling --model {model}`"
    words = read_words(values.source if is_file else None, model, flag)
    # The model itself must not correct the words that are to be corrected here.
    embedder = load_embedder(model, num_chars_of(words), correct_spelling=False)
    corrector = SpellingCorrector(embedder, words)
    rows = {word: row for row, word in enumerate(corrector.words)}
    min_probability = max(values.threshold, _MIN_PROBABILITY)

    def find(queries: Sequence[str], k: int) -> list[list[Hit]]:
        answers = []
        for query in queries:
            corrections = corrector.correct(query, k)
            hits = [Hit(rows[word], probability, word) for word, probability in corrections]
            answers.append([hit for hit in hits if hit.score >= min_probability])
        return answers

    return find, embedder, None


def model_of(values: Namespace) -> str | None:
    """Returns the value of `--model`, `None` to compare letters only.

    Raises:
        RunError: There is no such model.
    """
    if values.model == "none":
        return None
    read_config(values.model)
    return str(values.model)
