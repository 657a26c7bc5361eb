"""`charagram vectors`: the vectors of words as word2vec text, which gensim and spaCy read."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.cli.index import add_model_and_texts
from tf_charagram.cli.outputs import check_not_read
from tf_charagram.errors import ConfigError

if TYPE_CHECKING:
    from tf_charagram.models.embedder import TextEmbedder


def write_word2vec(embedder: TextEmbedder, words: Iterable[str], path: str | Path) -> int:
    """Writes a header, the number of words and the width, and a line for each word.

    White space inside a word becomes `_`, as in the phrases of word2vec, for it ends a word there:
    `new york` is embedded as it is, and written as `new_york`. Of words that are then equal the
    first counts; those of white space are left out.

    Args:
        embedder: The model.
        words: The words.
        path: The file; gzip if it ends in `.gz`. It appears once it is complete.

    Returns:
        The number of words written.

    Raises:
        ConfigError: There are no words.
        RunError: The file cannot be written.
    """
    from tf_charagram.files.writing import whole_file

    written: dict[str, str] = {}
    for word in words:
        written.setdefault("_".join(word.split()), word)
    written.pop("", None)
    if not written:
        raise ConfigError("There are no words to write.")
    names = iter(written)
    with ExitStack() as stack:
        file: Any = stack.enter_context(whole_file(path))
        if Path(path).suffix == ".gz":
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        file.write(f"{len(written)} {embedder.dim}\n".encode())
        for batch, vectors in embedder.encode_batches(written.values()):
            for name, vector in zip(islice(names, len(batch)), vectors.tolist(), strict=True):
                line = " ".join([name, *(f"{value:.6g}" for value in vector)])
                file.write(f"{line}\n".encode("utf-8", "replace"))
    return len(written)


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram vectors", description=__doc__)
    add_model_and_texts(parser, "words")
    parser.add_argument("--out", type=str, required=True, help="FILE.txt or FILE.txt.gz")
    return parser


def vectors(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    check_not_read(values.out, [] if values.texts is None else [values.texts])
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.search.texts import read_vocabulary

    words = read_vocabulary(values.texts, values.model)
    embedder = TextEmbedder.load(values.model, folded=True)
    number = write_word2vec(embedder, words, values.out)
    sys.stderr.write(f"{number:,} words -> {values.out}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(vectors, arguments)
