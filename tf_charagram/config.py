"""Settings of a training run: one frozen dataclass, checked, the only source of defaults."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from tf_charagram.errors import ConfigError, unknown_name

Task = Literal["words", "sentences"]
TASKS: tuple[str, ...] = get_args(Task)


_AT_LEAST = {
    "epochs": 1e-6, "batch_size": 2, "mega_batches": 1, "max_ids_in_memory": 1, "dim": 1,
    "evaluations_per_epoch": 1, "checkpoint_every_s": 0, "seed": 0,
}  # fmt: skip
_DECAYS = ("none", "linear")
_LARGEST_SEED = 2**31 - 1
_UNICODE_FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class TrainConfig:
    """Everything that decides a training run; the flags of `train` are made from it.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = _option("words", f"what to train: {', '.join(TASKS)}")
    encoder: str = _option("charagram", "how to read a text")
    data: tuple[str, ...] = _option(
        (), "training pairs: a file, `starter`, or a name to download; repeatable [words: starter]"
    )
    eval_data: str | None = _option(
        None, "folder or file to score on [the starter set and what was downloaded before]"
    )
    out: str | None = _option(None, "run folder [runs/TASK-ENCODER-N, the next free N]")
    data_weights: tuple[float, ...] = _option(
        (), "how often the pairs of each --data count, comma-separated, for instance 1,0.5,2 [1]"
    )
    init: str | None = _option(
        None, "run or model folder to go on from; its vocabulary grows with the new texts"
    )
    augment_typos: float = _option(
        0.0, "share of the pairs to add once more, with typing errors in one side"
    )
    epochs: float = _option(10, "passes over the pairs; may be a fraction")
    max_minutes: float | None = _option(None, "stop after so many minutes of training")
    batch_size: int | None = _option(None, "pairs a batch [25; 100 for sentences]")
    negatives: str = _option("max", "how negatives are chosen: max, mix, random")
    mega_batches: int = _option(1, "batches whose texts are searched together for negatives")
    mask_duplicates: bool = _option(True, "never take a text of the own pair as its negative")
    mask_related: bool = _option(False, "nor a text that is paired with one of the own pair")
    margin: float = _option(0.4, "margin m of the loss")
    l2: float = _option(0.0, "lambda of the L2 penalty on all weights")
    l2_words: float = _option(0.0, "lambda_w: L2 pull of the word vectors to their initial values")
    l2_composition: float = _option(0.0, "lambda_c: L2 penalty on all weights but the word vectors")
    dense_l2: bool = _option(False, "penalize all rows at every step, not the touched ones")
    optimizer: str = _option("adam", "adam or adagrad, both row-sparse")
    learning_rate: float = _option(0.001, "step size")
    decay: str = _option("none", "learning rate: none, or linear, falling to 0 over --epochs")
    clip_norm: float | None = _option(None, "largest global norm of the gradient")
    ngrams: tuple[int, ...] = _option((2, 3, 4), "n-gram orders, for instance 2,3,4")
    min_count: int = _option(1, "fewest occurrences an n-gram or a word needs for a row")
    max_per_order: int | None = _option(None, "keep the k most frequent n-grams of each order")
    hash_buckets: int | None = _option(None, "hash n-grams to so many rows, without a vocabulary")
    rows_per_ngram: int = _option(1, "rows each n-gram is hashed to")
    unicode_form: str | None = _option(None, "normalize first: NFC, NFD, NFKC, NFKD")
    max_chars: int | None = _option(
        None, "characters after which a text is cut [10000; 1000 for char_cnn, char_lstm]"
    )
    word_vectors: str | None = _option(
        None, "file of pretrained word vectors, word2vec or GloVe text, to start from"
    )
    vector_words: bool = _option(
        False, "take all words of the vector file, not only those of the training text"
    )
    freeze_words: bool = _option(False, "do not train the word vectors")
    word_dropout: float = _option(0.0, "dropout on the word vectors")
    unknown_words: str = _option(
        "shared", "vector of an unknown word: shared, or ngrams, the sum of its n-grams"
    )
    activation: str | None = _option(
        None, "activation [charagram: linear, tanh for sentences; cse: linear; others: tanh]"
    )
    num_layers: int = _option(1, "layers of charagram and dan: 1 or 2")
    filters: str | None = _option(None, "filter set of char_cnn: small or kim [small]")
    dense: str | None = _option(None, "last layer of char_cnn: tanh, linear, none [tanh]")
    dropout: float | None = _option(None, "dropout before the last layer of char_cnn [0]")
    use_output_gate: bool = _option(True, "output gate of char_lstm, lstm and gran")
    use_peepholes: bool = _option(True, "peepholes of char_lstm, lstm and gran")
    dim: int = _option(300, "width of the embedding")
    file_order_first: bool = _option(False, "keep the order of the file in the first epoch")
    max_ids_in_memory: int = _option(
        64_000_000,
        "about so many ids of texts are held at a time, the others in files",
    )
    evaluations_per_epoch: int = _option(4, "evaluations each epoch")
    checkpoint_every_s: float = _option(60.0, "seconds between checkpoints, after evaluations")
    select: str = _option("last", "keep the weights with the best score on this set, or the last")
    on_bad_line: str = _option("error", "error or skip")
    min_score: float | None = _option(None, "smallest PPDB2.0Score to keep")
    entailment: tuple[str, ...] = _option((), "PPDB 2.0 entailment types to keep, comma-separated")
    threads: int | None = _option(
        None, "threads of one operation [1 for words and averages of words, else one a core]"
    )
    seed: int = _option(0, "seed of weights, order and draws")

    def __post_init__(self) -> None:
        """Checks what no other part checks."""
        if self.task not in TASKS:
            raise ConfigError(unknown_name("task", self.task, TASKS))
        self._fill_in()
        for name, least in _AT_LEAST.items():
            if not getattr(self, name) >= least:
                hint = "; the negatives of a pair come from the others of its batch"
                raise ConfigError(
                    f"`{name}` must be at least {least:g}{hint if name == 'batch_size' else ''}. "
                    f"Received: {name}={getattr(self, name)}"
                )
        if self.decay not in _DECAYS:
            raise ConfigError(unknown_name("decay", self.decay, _DECAYS))
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"`threads` must be at least 1 or None. Received: {self.threads}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ConfigError(f"`max_minutes` must be above 0. Received: {self.max_minutes}")
        for weight in self.data_weights:
            if not 0.0 < weight < math.inf:
                raise ConfigError(f"`data_weights` must be above 0 and finite. Received: {weight}")
        if self.data_weights and len(self.data_weights) != len(self.data):
            raise ConfigError(
                f"`data_weights` must have one number for each --data. Received: "
                f"{len(self.data_weights)} weights for {len(self.data)} --data."
            )
        for name in ("epochs", "l2", "l2_words", "l2_composition", "learning_rate"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(
                    f"`{name}` must be a finite number. Received: {name}={getattr(self, name)}"
                )
        if self.seed > _LARGEST_SEED:
            raise ConfigError(f"`seed` must be at most {_LARGEST_SEED}. Received: seed={self.seed}")
        if not 0.0 <= self.margin <= 2.0:
            raise ConfigError(f"`margin` must be in [0, 2]. Received: margin={self.margin}")
        for name in ("l2", "l2_words", "l2_composition"):
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
        if self.batch_size is None:
            object.__setattr__(self, "batch_size", {"words": 25, "sentences": 100}[self.task])
        is_charagram = (self.task, self.encoder) == ("sentences", "charagram")
        if self.activation is None and is_charagram and self.init is None:
            object.__setattr__(self, "activation", "tanh")

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as plain values."""
        return asdict(self)
