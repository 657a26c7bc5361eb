"""Settings that all training runs have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tf_charagram.errors import ConfigError, unknown_name

_AT_LEAST = {
    "epochs": 1e-6, "batch_size": 1, "dim": 1, "evaluations_per_epoch": 1,
    "checkpoint_every_s": 0, "seed": 0,
}  # fmt: skip
_PENALTIES = ("l2", "l2_words", "l2_composition")
_DECAYS = ("none", "linear")
_LARGEST_SEED = 2**31 - 1
_UNICODE_FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")


def option(default: Any, text: str) -> Any:
    """Returns a field of settings: its default, and what `--help` says of it."""
    return field(default=default, metadata={"help": text})


def check_at_least(config: Any, least: Mapping[str, float], hint: str = "") -> None:
    """Checks that some settings are not below a number.

    Raises:
        ConfigError: One is.
    """
    for name, number in least.items():
        if not getattr(config, name) >= number:
            raise ConfigError(
                f"`{name}` must be at least {number:g}{hint}. "
                f"Received: {name}={getattr(config, name)}"
            )


@dataclass(frozen=True)
class RunConfig:
    """What any training run is told; each task adds its own, and the flags of `train` follow.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("words", "what to train")
    encoder: str = option("charagram", "how to read a text")
    data: tuple[str, ...] = option((), "what to train on: a file or `starter`; repeatable")
    out: str | None = option(None, "run folder [runs/TASK-ENCODER-N, the next free N]")
    init: str | None = option(
        None,
        "run or model folder to start the encoder from; its vocabulary grows with the new texts",
    )
    epochs: float = option(10, "passes over the data; may be a fraction")
    max_minutes: float | None = option(None, "stop after so many minutes of training")
    batch_size: int | None = option(None, "examples a batch")
    l2: float = option(0.0, "lambda of the L2 penalty on all weights")
    l2_words: float = option(0.0, "lambda_w: L2 pull of the word vectors to their initial values")
    l2_composition: float = option(0.0, "lambda_c: L2 penalty on all weights but the word vectors")
    dense_l2: bool = option(False, "penalize all rows at every step, not the touched ones")
    optimizer: str = option("adam", "adam or adagrad, both row-sparse, or sgd")
    learning_rate: float = option(0.001, "step size")
    momentum: float | None = option(None, "momentum of sgd [0.95]")
    decay: str = option("none", "learning rate: none, or linear, falling to 0 over --epochs")
    clip_norm: float | None = option(None, "largest global norm of the gradient")
    ngrams: tuple[int, ...] = option((2, 3, 4), "n-gram orders, for instance 2,3,4")
    min_count: int = option(1, "fewest occurrences an n-gram or a word needs for a row")
    max_per_order: int | None = option(None, "keep the k most frequent n-grams of each order")
    hash_buckets: int | None = option(None, "hash n-grams to so many rows, without a vocabulary")
    rows_per_ngram: int = option(1, "rows each n-gram is hashed to")
    unicode_form: str | None = option(None, "normalize first: NFC, NFD, NFKC, NFKD")
    max_chars: int | None = option(
        None, "characters after which a text is cut [10000; char_cnn, char_lstm: 1000, 30 for pos]"
    )
    word_vectors: str | None = option(
        None, "file of pretrained word vectors, word2vec or GloVe text, to start from"
    )
    vector_words: bool = option(
        False, "take all words of the vector file, not only those of the training text"
    )
    freeze_words: bool = option(False, "do not train the word vectors")
    word_dropout: float = option(0.0, "dropout on the word vectors")
    unknown_words: str = option(
        "shared", "vector of an unknown word: shared, or ngrams, the sum of its n-grams"
    )
    activation: str | None = option(
        None, "activation [charagram: linear, tanh for sentences; cse: linear; others: tanh]"
    )
    num_layers: int = option(1, "layers of charagram and dan: 1 or 2")
    filters: str | None = option(None, "filter set of char_cnn: small or kim [small]")
    dense: str | None = option(None, "last layer of char_cnn: tanh, linear, none [tanh]")
    dropout: float | None = option(None, "dropout before the last layer of char_cnn [0]")
    char_dim: int | None = option(
        None, "width of the character embeddings of char_cnn, char_lstm [300; 50 for pos]"
    )
    use_output_gate: bool = option(True, "output gate of char_lstm, lstm and gran")
    use_peepholes: bool = option(True, "peepholes of char_lstm, lstm and gran")
    dim: int = option(300, "width of the embedding")
    word_dim: int | None = option(
        None, "width of the word vectors of cse, dan, projection [that of --word-vectors, or --dim]"
    )
    evaluations_per_epoch: int = option(4, "evaluations each epoch")
    checkpoint_every_s: float = option(60.0, "seconds between checkpoints, after evaluations")
    select: str = option("last", "keep the weights with the best score on this set, or the last")
    on_bad_line: str = option("error", "error or skip")
    threads: int | None = option(
        None, "threads of one operation [1 for words and averages of words, else one a core]"
    )
    seed: int = option(0, "seed of weights, order and draws")

    def __post_init__(self) -> None:
        """Checks what no other part checks."""
        self._fill_in()
        check_at_least(self, _AT_LEAST)
        if self.decay not in _DECAYS:
            raise ConfigError(unknown_name("decay", self.decay, _DECAYS))
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"`threads` must be at least 1 or None. Received: {self.threads}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ConfigError(f"`max_minutes` must be above 0. Received: {self.max_minutes}")
        for name in ("epochs", "learning_rate", *_PENALTIES):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(
                    f"`{name}` must be a finite number. Received: {name}={getattr(self, name)}"
                )
        if self.seed > _LARGEST_SEED:
            raise ConfigError(f"`seed` must be at most {_LARGEST_SEED}. Received: seed={self.seed}")
        for name in _PENALTIES:
            if not getattr(self, name) >= 0.0:
                raise ConfigError(
                    f"`{name}` must not be negative. Received: {name}={getattr(self, name)}"
                )
        if not 0.0 <= self.word_dropout < 1.0:
            raise ConfigError(
                f"`word_dropout` must be in [0, 1). Received: word_dropout={self.word_dropout}"
            )
        if self.unicode_form not in _UNICODE_FORMS:
            raise ConfigError(
                "`unicode_form` must be None, NFC, NFD, NFKC or NFKD. "
                f"Received: {self.unicode_form!r}"
            )
        if self.hash_buckets is None and self.rows_per_ngram != 1:
            raise ConfigError(
                "`rows_per_ngram` is for `hash_buckets` only. "
                f"Received: rows_per_ngram={self.rows_per_ngram}"
            )
        if self.hash_buckets is not None and (self.min_count > 1 or self.max_per_order):
            raise ConfigError("`hash_buckets` has no vocabulary for `min_count`, `max_per_order`.")

    def _fill_in(self) -> None:
        """Sets what was left open to the defaults of the task."""

    def _set(self, **values: Any) -> None:
        """Sets fields that were left open."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as plain values."""
        return asdict(self)
