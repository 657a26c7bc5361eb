"""`charagram neighbors`: finds the nearest texts, exactly or by an index, or corrects words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.corrections import Corrections, add_corrections_flag
from tf_charagram.cli.flags import MODEL_HELP, Parser
from tf_charagram.errors import ConfigError
from tf_charagram.reporting import load_tensorflow

if TYPE_CHECKING:
    from tf_charagram.models.embedder import Neighbor, TextEmbedder
    from tf_charagram.search.spelling import Correction

    Search = Callable[[str, int], list[Neighbor] | list[Correction]]

PROMPT = "text> "


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="charagram neighbors", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("query", nargs="*", help="texts [asks for them at a prompt]")
    parser.add_argument(
        "--texts",
        help="file of texts to search, one per line [those the run was trained on, or the words of "
        "a shipped model]",
    )  # fmt: skip
    parser.add_argument(
        "--index",
        help="folder of `charagram index`: approximate search, for many texts",
    )  # fmt: skip
    parser.add_argument(
        "--spelling", nargs="*", metavar="WORD",
        help="correct the spelling of words: the nearest by vectors, edits and frequency together, "
        "with probabilities; --texts has words, most frequent first",
    )  # fmt: skip
    parser.add_argument("--k", type=int, default=10, help="neighbors shown [10]")
    add_corrections_flag(parser)
    parser.add_argument("--json", action="store_true", help="one line of JSON for each query")
    return parser


def neighbors(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    has_index = values.index is not None
    if has_index and values.texts is not None:
        raise ConfigError("Give one of --texts and --index: an index has its texts.")
    is_spelling = values.spelling is not None
    if is_spelling and has_index:
        raise ConfigError("--spelling does not go with --index. Give words with --texts.")
    load_tensorflow()
    search = _spelling if is_spelling else _index_search if has_index else _exact_search
    neighbors_of, embedder = search(values.model, values.index if has_index else values.texts)
    for query in [*values.query, *(values.spelling or [])] or _prompt():
        nearest = neighbors_of(query, values.k)
        corrections = Corrections(embedder)
        corrections.add([query])
        corrections.say(values.show_corrections, query)
        if values.json:
            name = "corrections" if is_spelling else "neighbors"
            result = {
                "query": query,
                name: [[text, round(value, 6)] for text, value, *_ in nearest],
            }
            sys.stdout.write(json.dumps(result, ensure_ascii=False) + "\n")
        else:
            rows = "".join(f"  {value:6.3f}  {text}\n" for text, value, *_ in nearest)
            sys.stdout.write(f"{query}\n{rows}")
        sys.stdout.flush()
    return 0


def _index_search(model: str, folder: str) -> tuple[Search, TextEmbedder]:
    from tf_charagram.search.text_index import TextIndex

    index = TextIndex.load(folder, model)
    return index.neighbors, index.embedder


def _exact_search(model: str, texts_file: str | None) -> tuple[Search, TextEmbedder]:
    from tf_charagram.models.embedder import TextEmbedder, unit_rows
    from tf_charagram.search.texts import read_vocabulary

    texts = read_vocabulary(texts_file, model)
    if not texts:
        raise ConfigError("There is no text to search among.")
    embedder = TextEmbedder.load(model)
    vectors = unit_rows(embedder.encode(texts))
    # A word should not find itself; in a file, the same text is a result.
    is_search = texts_file is not None

    def neighbors_of(query: str, k: int) -> list[Neighbor]:
        return embedder.neighbors(query, texts, k, vectors, include_query=is_search)

    return neighbors_of, embedder


def _spelling(model: str, words_file: str | None) -> tuple[Search, TextEmbedder]:
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search.spelling import SpellingCorrector, read_words

    words = read_words(words_file, model)
    embedder = TextEmbedder.load(model, folded=True, correct_spelling=False)
    return SpellingCorrector(embedder, words).correct, embedder


def _prompt() -> Iterator[str]:
    """Yields the nonempty lines of standard input, after a prompt on a terminal."""
    while True:
        if sys.stdin.isatty():
            sys.stderr.write(PROMPT)
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip("\r\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(neighbors, arguments)
