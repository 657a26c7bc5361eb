r"""Multiplies the vectors of kinds of n-grams by factors.

    python recipes/scale_ngrams.py runs/average runs/scaled \
        --factors start=1.25,across=0.8,digit=1.5,punctuation=0.64

An n-gram is of the first kind that fits: with a `digit`; with `punctuation`, which is anything but
letters and spaces; `across` a space between words; at the `start` or the `end` of a word, or a
`whole` word; else `inside` a word. Other kinds keep their vectors. With `--rarity 0.1`, vectors are
also multiplied by the information of their n-grams to this power.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import numpy as np

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import ConfigError, unknown_name

KINDS = ("digit", "punctuation", "across", "whole", "start", "end", "inside")


def kind_of(ngram: str) -> str:
    """Returns the kind of an n-gram, one of `KINDS`."""
    if any(char.isdigit() for char in ngram):
        return "digit"
    if not all(char.isalpha() or char == " " for char in ngram):
        return "punctuation"
    letters = ngram.strip(" ")
    if " " in letters or not letters:
        return "across"
    is_start, is_end = ngram.startswith(" "), ngram.endswith(" ")
    if is_start and is_end:
        return "whole"
    if is_start:
        return "start"
    return "end" if is_end else "inside"


def parsed_factors(text: str) -> dict[str, float]:
    """Parses `"start=1.25,digit=1.5"`.

    Raises:
        ConfigError: A kind is unknown, or a factor is not a positive number.
    """
    factors = {}
    for entry in text.split(","):
        kind, _, number = entry.partition("=")
        if kind not in KINDS:
            raise ConfigError(unknown_name("kind of n-grams", kind, KINDS))
        try:
            factors[kind] = float(number)
        except ValueError:
            factors[kind] = 0.0
        if not 0.0 < factors[kind] < np.inf:
            raise ConfigError(f"Factors must be positive numbers. Received: {entry}")
    return factors


def factor_of_rows(ngrams: Sequence[str], factors: Mapping[str, float]) -> np.ndarray:
    """Returns the factor of each n-gram, float32 `(len(ngrams),)`."""
    return np.array([factors.get(kind_of(ngram), 1.0) for ngram in ngrams], np.float32)


def factor_of_rarity(counts: np.ndarray, power: float) -> np.ndarray:
    """Returns a factor of each n-gram that grows with its rarity, float32 `(num_ngrams,)`.

    Args:
        counts: Occurrences of each n-gram, `(num_ngrams,)`.
        power: Power of the information; 0 gives 1.
    """
    # The information of an n-gram that starts at every 20th position is 0.
    information = np.log(counts.sum() / (20 * np.maximum(counts, 1)))
    return ((np.maximum(information, 0.5) / 8) ** power).astype(np.float32)


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/scale_ngrams.py", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", help="model folder to write")
    parser.add_argument("--factors", help="KIND=FACTOR, separated by commas [1]")
    parser.add_argument("--rarity", type=float, default=0.0, help="power of the information [0]")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.models.embedder import TextEmbedder

    model = TextEmbedder.load(values.model)
    vocabulary = model.vectorizer.vocabulary
    factors = factor_of_rarity(vocabulary.counts, values.rarity)
    if values.factors is not None:
        factors *= factor_of_rows(vocabulary.ngrams(), parsed_factors(values.factors))
    table = model.encoder.ngram_table.numpy()
    # Rows after those of the n-grams are for unknown characters.
    table[: len(factors)] *= factors[:, None]
    model.encoder.ngram_table.assign(table)
    model.save(values.out)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
