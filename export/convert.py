"""`charagram convert`: writes word vectors for gensim and spaCy, or makes a model from a table.

With MODEL and `--texts`, vectors of words become word2vec text. With `--ngrams` and `--table`, a
list of n-grams and a table of their vectors become a model folder.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tf_charagram._common.lazy import load_tensorflow
from tf_charagram._files.writing import check_output
from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import check_not_read
from tf_charagram.data._tables.lines import read_lines
from tf_charagram.errors import ConfigError, DataError, RunError

if TYPE_CHECKING:
    from tf_charagram.models._storage.choice import Embedder
    from tf_charagram.models.embedder import TextEmbedder


def write_word2vec(embedder: Embedder, words: Iterable[str], path: str | Path) -> int:
    """Writes the vectors of words as word2vec text: a header, then a line per word.

    White space inside a word is written as `_`, as in the phrases of word2vec: `new york` is
    embedded as it is and written as `new_york`. Duplicates and blank words are skipped.

    Args:
        embedder: The model.
        words: The words.
        path: The file, compressed if it ends in `.gz`.

    Returns:
        The number of words written.

    Raises:
        ConfigError: There are no words.
        RunError: The file cannot be written.
    """
    from tf_charagram._files.writing import whole_file

    # Name in the file -> the first word of that name.
    written: dict[str, str] = {}
    for word in words:
        written.setdefault(_written(word), word)
    # The name of blank words.
    written.pop("", None)
    if not written:
        raise ConfigError("There are no words to write.")
    with ExitStack() as stack:
        file: Any = stack.enter_context(whole_file(path))
        if Path(path).suffix == ".gz":
            # Without the time, equal vectors make equal files.
            file = stack.enter_context(gzip.GzipFile(fileobj=file, mode="wb", mtime=0))
        file.write(f"{len(written)} {embedder.dim}\n".encode())
        for batch, vectors in embedder.encode_batches(written.values()):
            for word, vector in zip(batch, vectors.tolist(), strict=True):
                numbers = " ".join(f"{value:.6g}" for value in vector)
                line = f"{_written(word)} {numbers}\n"
                # Broken UTF-8 in an argument is a lone surrogate here.
                file.write(line.encode("utf-8", "replace"))
    return len(written)


def _written(word: str) -> str:
    """Returns a word as the file has it, in which spaces separate numbers."""
    return "_".join(word.split())


def read_ngrams(path: str | Path, *, min_count: float = 0.0) -> list[str]:
    """Reads a list of n-grams, in which spaces count.

    Args:
        path: File with an n-gram per line; or, in the authors' format, an n-gram, one more
            character, a tab and its count. Duplicates in the authors' format have no row and are
            skipped. May be gzip.
        min_count: The smallest count that has a row.

    Raises:
        DataError: The file cannot be read, a line is malformed, or there are no n-grams.
    """
    ngrams: list[str] = []
    # A dictionary keeps the order of the first of duplicates.
    counted: dict[str, None] = {}
    for number, text in read_lines(path):
        if "\t" in text:
            ngram, _, count = text.partition("\t")
            try:
                has_row = float(count) >= min_count
            except ValueError:
                message = f"expected an n-gram, a tab and a count, found the count '{count}'"
                raise DataError(path, message, line=number) from None
            if has_row:
                # The authors' files have one more character after the n-gram.
                counted[ngram[:-1]] = None
        elif text:
            ngrams.append(text)
    if ngrams and counted:
        raise DataError(path, "expected a count on each line or on none")
    if not (ngrams or counted):
        raise DataError(path, "expected n-grams, one per line, found none")
    return ngrams or list(counted)


def read_table(path: str | Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Reads vectors of n-grams from NumPy's formats.

    Args:
        path: `FILE.npy` with an array `(num_rows, dim)`; or `FILE.npz` with one such array and
            optionally a bias `(dim,)`, which is added to each sum.

    Returns:
        The vectors and the bias, float32.

    Raises:
        DataError: The file cannot be read, or holds something else.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
        arrays = [loaded] if isinstance(loaded, np.ndarray) else list(loaded.values())
        arrays = [array.astype(np.float32) for array in arrays]
    except Exception as error:  # NumPy may raise anything for a damaged file.
        raise DataError(path, f"cannot be read as NumPy arrays of numbers: {error}") from error
    # Names in a file are free: the bias is the array of one axis.
    arrays.sort(key=lambda array: -array.ndim)
    shapes = [array.shape for array in arrays]
    if len(arrays) == 1:
        arrays.append(np.zeros(shapes[0][1:], np.float32))
    vectors, *biases = arrays
    if vectors.ndim != 2 or [bias.shape for bias in biases] != [vectors.shape[1:]]:
        found = ", ".join(map(str, shapes))
        raise DataError(
            path, f"expected arrays (num_rows, dim) and at most one (dim,), found {found}"
        )
    [bias] = biases
    if not (np.isfinite(vectors).all() and np.isfinite(bias).all()):
        raise DataError(path, "holds NaN or infinity")
    return vectors, bias


def model_from_table(
    ngrams: Sequence[str],
    vectors: NDArray[np.float32],
    bias: NDArray[np.float32],
    *,
    activation: Literal["linear", "tanh", "relu"] = "linear",
) -> TextEmbedder:
    """Makes a model that computes h(bias + sum of the vectors of the n-grams of a text).

    Texts are lowercased unless an n-gram has a capital letter.

    Args:
        ngrams: Distinct n-grams, in the order of the rows.
        vectors: Their vectors, `(num_ngrams, dim)`. One extra row, which the authors' models add
            to every text, becomes part of the bias.
        bias: Added to each sum, `(dim,)`.
        activation: The non-linearity h: `"linear"`, `"tanh"` or `"relu"`.

    Raises:
        ConfigError: The numbers of n-grams and rows do not match, an n-gram is malformed or
            duplicated, or `activation` is unknown.
    """
    from tf_charagram.encoders.charagram import Charagram
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.text.vectorizer import NgramVectorizer
    from tf_charagram.text.vocabulary import NgramVocabulary

    if len(vectors) == len(ngrams) + 1:
        bias = bias + vectors[-1]
        vectors = vectors[:-1]
    if len(vectors) != len(ngrams):
        raise ConfigError(
            f"Number of n-grams ({len(ngrams):,}) does not match number of rows "
            f"({len(vectors):,}). Give the list that the table was trained with, and the authors' "
            "cutoff with --min-count."
        )
    has_capitals = any(character.isupper() for character in "".join(ngrams))
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_ngrams(ngrams), lowercase=not has_capitals
    )
    encoder = Charagram(num_rows=len(vectors), dim=vectors.shape[1], activation=activation)
    encoder.ngram_table.assign(vectors)
    encoder.bias.assign(bias)
    return TextEmbedder(vectorizer, encoder)


def _make_parser() -> Parser:
    """Returns the command line."""
    parser = Parser(prog="charagram convert", description=__doc__)
    parser.add_argument("model", nargs="?", help=f"to word2vec: {MODEL_HELP}")
    parser.add_argument(
        "--texts",
        help="to word2vec: file of words, one per line; - is stdin [those the run was trained on]",
    )
    parser.add_argument(
        "--ngrams",
        help="from a table: file of n-grams, one per line, or with counts as the authors write it",
    )
    parser.add_argument(
        "--table",
        help="vectors of the n-grams: FILE.npy, or FILE.npz with an optional bias",
    )
    parser.add_argument("--min-count", type=float, default=0.0, help="the authors' cutoff")
    parser.add_argument("--activation", type=str, default="linear", help="linear, tanh or relu")
    parser.add_argument(
        "--output",
        type=str,
        required=True,
        help="FILE.txt or FILE.txt.gz; or model folder to write",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
    return parser


def convert(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    parser = _make_parser()
    values = parser.parse_args(arguments)
    unused = ("texts",) if values.model is None else ("min_count", "activation")
    parser.refuse(values, unused, "does not go with a model" if values.model else "is for a model")
    sources = [values.texts, values.ngrams, values.table]
    check_not_read(values.output, [path for path in sources if path is not None])
    parts = [part for part in (values.ngrams, values.table) if part]
    if values.model is None and len(parts) == 2:
        _make_model(values)
    elif values.model is not None and not parts:
        _write_words(values)
    else:
        raise ConfigError("Give a model, or both --ngrams and --table.")
    return 0


def _make_model(values: Any) -> None:
    load_tensorflow()
    if Path(values.output).exists() and not values.overwrite:
        raise RunError(f"{values.output} exists. Add --overwrite to replace it, or name another.")
    ngrams = read_ngrams(values.ngrams, min_count=values.min_count)
    vectors, bias = read_table(values.table)
    model = model_from_table(ngrams, vectors, bias, activation=values.activation)
    model.save(values.output)
    sys.stderr.write(f"{len(ngrams):,} n-grams, {model.dim} dimensions -> {values.output}\n")


def _write_words(values: Any) -> None:
    from tf_charagram.models._storage.choice import load_embedder, num_chars_of
    from tf_charagram.search.texts import read_vocabulary

    check_output(values.output, values.overwrite)
    words = read_vocabulary(values.texts, values.model)
    embedder = load_embedder(values.model, num_chars_of(words))
    number = write_word2vec(embedder, words, values.output)
    sys.stderr.write(f"{number:,} words -> {values.output}\n")
