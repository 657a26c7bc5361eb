r"""Weighs the words of the dictionary of a model, for `recipes/ship.py --word-weights`.

    python recipes/word_weights.py runs/english weights.tsv

Rare words count more, and so do numbers and words that negate; articles count less. The constants
were chosen on SICK's training and trial parts, and on headlines of 2013.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tf_charagram.cli._flags.flags import MODEL_HELP, Parser
from tf_charagram.cli.commands import run_command
from tf_charagram.errors import ConfigError
from tf_charagram.text._spelling.dictionary import MAX_BITS, MIN_BITS, WEIGHT_POWER

#: The entry of the words that are not in the dictionary.
OTHER = "*"
# Bits of information of a word with weight 1. Unknown words have `MAX_BITS`.
_USUAL_BITS = 10.0
_FACTORS = {
    0.8: "a an the",
    1.4: "one two three four five six seven eight nine ten eleven twelve hundred thousand million "
    "billion",
    # As dictionaries have no apostrophes, "isn't" begins with "isn".
    1.6: "not no never "
    "none nobody nothing neither nor nowhere cannot without isn aren wasn weren "
    "don doesn didn won wouldn couldn shouldn hasn haven hadn ain",
}


def weights_of(words: Sequence[str], log_counts: np.ndarray) -> dict[str, float]:
    """Returns the weight of each word, and of all others as `OTHER`.

    Args:
        words: The words.
        log_counts: Binary logarithms of their counts, `(num_words,)`.
    """
    total = np.log2(np.exp2(log_counts.astype(np.float64)).sum())
    bits = np.append(np.clip(total - log_counts, MIN_BITS, MAX_BITS), MAX_BITS)
    values = (bits / _USUAL_BITS) ** WEIGHT_POWER
    weights = dict(zip([*words, OTHER], values.tolist(), strict=True))
    for factor, special in _FACTORS.items():
        for word in special.split():
            if word in weights:
                weights[word] *= factor
    return weights


def make_parser() -> Parser:
    """Returns the parser."""
    parser = Parser(prog="python recipes/word_weights.py", description=__doc__)
    parser.add_argument("model", help=MODEL_HELP)
    parser.add_argument("out", help="file to write: a word and its weight per line")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Runs the script; returns its exit status."""
    values = make_parser().parse_args(arguments)
    from tf_charagram.models._storage.stored_model import read_dictionary

    dictionary = read_dictionary(values.model)
    if dictionary is None:
        raise ConfigError(f"{values.model} has no dictionary.")
    weights = weights_of(dictionary.words, dictionary.log_counts)
    lines = [f"{word}\t{weight:.4f}\n" for word, weight in weights.items()]
    Path(values.out).write_text("".join(lines), encoding="utf-8")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run_command(run, arguments)


if __name__ == "__main__":
    sys.exit(main())
