"""`charagram search`: finds the most similar texts of a list, or corrects the spelling of words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tf_charagram.cli.corrections import Corrections, add_corrections_flag
from tf_charagram.cli.flags import Parser
from tf_charagram.data.readers.lines import STDIN
from tf_charagram.errors import ConfigError, check_positive, unknown_name
from tf_charagram.files.writing import check_free, check_local
from tf_charagram.models.locations import shipped_models
from tf_charagram.reporting import load_tensorflow

if TYPE_CHECKING:
    from argparse import Namespace

    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search.text_index import Hit

    Find = Callable[[Sequence[str], int], list[list[Hit]]]

PROMPT = "text> "
_BATCH = 1000


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
    return parser


def add_scoring_flags(parser: Parser) -> None:
    """Adds the flags that say which columns are compared, and how."""
    parser.add_argument(
        "--on",
        type=lambda names: names.split(","),
        default=[],
        metavar="A,B,...",
        help="columns to compare, by name or number from 1 [the only one, or text, name, ...]",
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
    values = _make_parser().parse_args(arguments)
    check_positive(k=values.k)
    if values.spelling and (values.save or values.on):
        raise ConfigError("--spelling takes a file of words. Leave out --save and --on.")
    if values.save:
        # Before texts are embedded, which can take minutes.
        check_local(values.save)
        check_free(Path(values.save))
    source = values.source
    models = shipped_models()
    if source != STDIN and not Path(source).exists() and source not in models:
        raise ConfigError(unknown_name("file, index or model", source, models))
    load_tensorflow()
    make_search = _speller if values.spelling else _searcher
    find, embedder = make_search(values)
    is_terminal = sys.stdin.isatty()
    # Many queries take much less time at once; a person waits for each answer.
    batch_size = 1 if is_terminal else _BATCH
    queries = _queries(values, is_terminal)
    while True:
        batch = list(islice(queries, batch_size))
        if not batch:
            break
        if embedder is not None:
            corrections = Corrections(embedder)
            corrections.add(batch)
            corrections.say(values.show_corrections, batch[0] if len(batch) == 1 else "")
        for query, found in zip(batch, find(batch, values.k), strict=True):
            answer = _json(query, found) if values.json else _listed(query, found)
            sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    return 0


def _queries(values: Namespace, is_terminal: bool) -> Iterator[str]:
    """Yields the queries of the command line, or the lines of standard input."""
    if values.query:
        yield from values.query
    elif not (values.save and is_terminal):
        # Somebody who saves an index on a terminal does not wait for a prompt.
        yield from _prompt(is_terminal)


def _json(query: str, found: Sequence[Hit]) -> str:
    hits = [{**hit._asdict(), "score": round(hit.score, 6)} for hit in found]
    return json.dumps({"query": query, "hits": hits}, ensure_ascii=False)


def _listed(query: str, found: Sequence[Hit]) -> str:
    lines = [query]
    for hit in found:
        # A cell of a table can have several lines.
        text = " ".join(hit.text.split())
        lines.append(f"  {hit.score:6.3f}  {text}")
    return "\n".join(lines)


def _searcher(values: Namespace) -> tuple[Find, TextEmbedder | None]:
    """Returns the search, and the model whose corrections are reported."""
    from tf_charagram.data.tables import Table
    from tf_charagram.search.text_index import SETTINGS, TextIndex
    from tf_charagram.search.texts import read_vocabulary

    source = values.source
    is_file = source == STDIN or (Path(source).exists() and not Path(source).is_dir())
    if not is_file and (values.on or values.vectors_only):
        raise ConfigError(f"--on and --vectors-only are for a file. {source} is an index or model.")
    is_model = False
    if is_file:
        texts = Table.read(source, values.on).text_of(values.on)
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

    return find, index.scorer.embedder


def _speller(values: Namespace) -> tuple[Find, TextEmbedder]:
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search.spelling import SpellingCorrector, read_words
    from tf_charagram.search.text_index import Hit

    is_file = Path(values.source).is_file()
    model = values.model if is_file else values.source
    flag = f"`search FILE --spelling --model {model}`"
    words = read_words(values.source if is_file else None, model, flag)
    # The model itself must not correct the words that are to be corrected here.
    embedder = TextEmbedder.load(model, folded=True, correct_spelling=False)
    corrector = SpellingCorrector(embedder, words)
    rows = {word: row for row, word in enumerate(corrector.words)}

    def find(queries: Sequence[str], k: int) -> list[list[Hit]]:
        answers = []
        for query in queries:
            corrections = corrector.correct(query, k)
            hits = [Hit(rows[word], probability, word) for word, probability in corrections]
            answers.append(hits)
        return answers

    return find, embedder


def model_of(values: Namespace) -> str | None:
    """Returns the value of `--model`, `None` to compare letters only."""
    return None if values.model == "none" else values.model


def _prompt(is_terminal: bool) -> Iterator[str]:
    """Yields the nonempty lines of standard input, after a prompt on a terminal."""
    while True:
        if is_terminal:
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip("\r\n")
