"""`charagram import-charagram`: a model of a list of n-grams and a table of their vectors.

That is what the authors of Charagram released (Wieting et al. 2016), once the table is taken out
of its pickle, which may run any code when it is loaded and is not read here.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tf_charagram.cli.commands import run_command
from tf_charagram.cli.flags import FlagParser
from tf_charagram.data.readers.lines import read_lines
from tf_charagram.errors import ConfigError, DataError, unknown_name

if TYPE_CHECKING:
    from tf_charagram.encoders.charagram import Activation
    from tf_charagram.models.embedder import TextEmbedder

_FORMATS = (".npy", ".npz", ".txt", ".tsv", ".gz")


class NgramTable(NamedTuple):
    """Vectors of n-grams.

    Attributes:
        vectors: float32 `(num_rows, dim)`.
        bias: float32 `(dim,)`, what is added to each sum.
    """

    vectors: NDArray[np.float32]
    bias: NDArray[np.float32]


def read_ngrams(path: str | Path, *, min_count: float = 0.0) -> list[str]:
    """Reads a list of n-grams, whose spaces count.

    Args:
        path: File, plain or gzip: an n-gram per line and nothing else; or, as the authors write it,
            an n-gram, one more character, a tab and its count. Of the second kind n-grams that come
            again have no row and are left out.
        min_count: Of lines with a count, the smallest that has a row.

    Raises:
        DataError: The file cannot be read, a line is bad, or there are no n-grams.
    """
    ngrams: list[str] = []
    counted: dict[str, None] = {}
    for number, text in read_lines(path):
        if "\t" in text:
            ngram, _, count = text.partition("\t")
            try:
                if float(count) >= min_count:
                    counted[ngram[:-1]] = None
            except ValueError:
                message = f"expected an n-gram, a tab and a count, found the count '{count}'"
                raise DataError(path, message, line=number) from None
        elif text:
            ngrams.append(text)
    if ngrams and counted:
        raise DataError(path, "expected a count on each line or on none; some have one")
    if not (ngrams or counted):
        raise DataError(path, "expected n-grams, one per line, found none")
    return ngrams or list(counted)


def read_table(path: str | Path) -> NgramTable:
    """Reads vectors of n-grams.

    Args:
        path: `FILE.npy`, an array `(num_rows, dim)`; `FILE.npz` with one such array and, if there
            is a bias, one `(dim,)`; or text, plain or gzip, with a row of numbers per line.

    Raises:
        DataError: The file cannot be read, or holds something else.
    """
    path = Path(path)
    if path.suffix not in _FORMATS:
        raise DataError(path, f"expected a table in a file {', '.join(_FORMATS)}")
    try:
        arrays = _arrays(path)
    except DataError:
        raise
    except Exception as error:  # A damaged file may raise anything.
        raise DataError(path, f"cannot be read as numbers: {error}") from error
    tables = [array for array in arrays if array.ndim == 2]
    biases = [array for array in arrays if array.ndim == 1]
    if len(tables) != 1 or len(biases) > 1 or len(arrays) > len(tables) + len(biases):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise DataError(path, f"expected a table and at most one bias, found arrays {shapes}")
    table = tables[0].astype(np.float32)
    bias = biases[0].astype(np.float32) if biases else np.zeros(table.shape[1], np.float32)
    if bias.shape != (table.shape[1],):
        raise DataError(
            path, f"a table {table.shape} needs a bias ({table.shape[1]},), found {bias.shape}"
        )
    if not (np.isfinite(table).all() and np.isfinite(bias).all()):
        raise DataError(path, "holds NaN or infinity")
    return NgramTable(table, bias)


def _arrays(path: Path) -> list[NDArray[np.floating]]:
    if path.suffix not in (".npy", ".npz"):
        return [np.loadtxt((text for _, text in read_lines(path)), np.float32, ndmin=2)]
    with open(path, "rb") as file:
        loaded = np.load(file, allow_pickle=False)
        arrays = [loaded] if path.suffix == ".npy" else list(loaded.values())
    if any(array.dtype.kind not in "fiu" for array in arrays):
        raise DataError(path, "expected arrays of numbers")
    return arrays


def import_charagram(
    ngrams: Sequence[str], table: NgramTable, *, activation: Activation = "linear"
) -> TextEmbedder:
    """Makes a model: h(b + sum of the vectors of the n-grams of a text).

    Texts are lower-cased unless an n-gram has a capital letter.

    Args:
        ngrams: Distinct n-grams, in the order of the rows.
        table: Their vectors. One row more than there are n-grams is one that the authors' models
            add to every text; it becomes part of the bias.
        activation: The non-linearity h: `"linear"`, `"tanh"` or `"relu"`.

    Raises:
        ConfigError: The numbers do not match, an n-gram is bad or there twice, or `activation` is
            unknown.
    """
    from tf_charagram.encoders.charagram import ACTIVATIONS, Charagram
    from tf_charagram.models.embedder import TextEmbedder
    from tf_charagram.text.vectorizer import NgramVectorizer
    from tf_charagram.text.vocabulary import NgramVocabulary

    vectors, bias = table
    if activation not in ACTIVATIONS:
        raise ConfigError(unknown_name("activation", activation, ACTIVATIONS))
    if len(vectors) == len(ngrams) + 1:
        vectors, bias = vectors[:-1], bias + vectors[-1]
    if len(vectors) != len(ngrams):
        raise ConfigError(
            f"Number of n-grams ({len(ngrams):,}) does not match number of rows "
            f"({len(vectors):,}). Give the list that the table was trained with, and its cutoff as "
            "`min_count`."
        )
    vectorizer = NgramVectorizer(
        vocabulary=NgramVocabulary.from_ngrams(ngrams),
        lowercase=not any(character.isupper() for ngram in ngrams for character in ngram),
    )
    encoder = Charagram(num_rows=len(vectors), dim=vectors.shape[1], activation=activation)
    encoder.ngram_table.assign(vectors)
    encoder.bias.assign(bias)
    return TextEmbedder(vectorizer, encoder)


def make_parser() -> FlagParser:
    """Returns the command line."""
    parser = FlagParser(prog="charagram import-charagram", description=__doc__)
    parser.add_argument(
        "--ngrams", type=str, required=True,
        help="file of n-grams, one per line, or as the authors write it, with counts",
    )  # fmt: skip
    parser.add_argument(
        "--table", type=str, required=True,
        help="FILE.npy, FILE.npz that also has the bias as an array, or text, one row per line",
    )  # fmt: skip
    parser.add_argument("--out", type=str, required=True, help="model folder to write")
    parser.add_argument(
        "--min-count", type=float, default=0.0, help="of n-grams with counts, the authors' cutoff"
    )
    parser.add_argument("--activation", type=str, default="linear", help="linear, tanh or relu")
    return parser


def import_command(arguments: Sequence[str]) -> int:
    """Runs the command; returns its exit status."""
    values = make_parser().parse_args(arguments)
    if Path(values.out).exists():
        raise ConfigError(f"{values.out} exists already. Name a new folder with --out.")
    ngrams = read_ngrams(values.ngrams, min_count=values.min_count)
    model = import_charagram(ngrams, read_table(values.table), activation=values.activation)
    model.save(values.out)
    sys.stderr.write(f"{len(ngrams):,} n-grams, {model.dim} dimensions -> {values.out}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(import_command, arguments)
