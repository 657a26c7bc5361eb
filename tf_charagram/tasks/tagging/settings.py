"""Settings of a training run on tagged sentences: the task `pos`."""

from __future__ import annotations

from dataclasses import dataclass

from tf_charagram.checks import check_at_least, check_penalty
from tf_charagram.encoders.options import vectorizer_of
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import option
from tf_charagram.training.settings import RunConfig

_COLUMNS = ("xpos", "upos")
_CHAR_DIM = 50
# A batch is padded to its longest word, which is often an address.
_MAX_CHARS = 30
# The starter set has a few hundred sentences, four batches of the paper's size.
_STARTER = "starter"
_BATCH, _SMALL_BATCH = 100, 10


@dataclass(frozen=True)
class TaggingConfig(RunConfig):
    """Everything that decides a training run on tagged sentences (Charagram, section 4.2).

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("pos", "what to train")
    data: tuple[str, ...] = option(
        (),
        "sentences: CoNLL-U, word TAB tag, word/TAG, trees, FOLDER:train of the Penn Treebank, or "
        "starter; repeatable [starter]",
    )
    eval_data: tuple[str, ...] = option(
        (),
        "what to score on, as --data; repeatable [with the starter set: its other sentences]",
        "data",
        is_common=True,
    )
    epochs: float = option(10, "passes over the sentences; may be a fraction")
    batch_size: int | None = option(None, "sentences per batch [100; 10 for starter]")
    optimizer: str = option("sgd", "sgd, with momentum, or adam or adagrad, both row-sparse")
    learning_rate: float = option(0.2, "step size")
    dim: int = option(150, "width of the word vectors, which are composed of characters")
    evaluations_per_epoch: int = option(1, "evaluations per epoch")
    column: str = option("xpos", "tags of CoNLL-U to learn: xpos or upos", "data", choices=_COLUMNS)
    lstm_dim: int = option(150, "width of each direction of the LSTM over words", "model")
    hidden_dim: int = option(150, "width of the tanh layer before the tags", "model")
    use_word_peepholes: bool = option(
        False, "peepholes in the LSTM over words, which is slower", "model"
    )
    use_capitals: bool | None = option(
        None, "lower-case words and mark those with a capital [for charagram alone]", "text"
    )
    l2_head: float = option(
        0.0, "lambda_s: L2 penalty on all weights above the word vectors", "objective"
    )
    batches_by_length: bool = option(
        True, "batches of sentences of similar length: faster", "objective"
    )

    def __post_init__(self) -> None:
        """Checks what no other part checks."""
        super().__post_init__()
        check_at_least(self, {"lstm_dim": 1, "hidden_dim": 1})
        check_penalty("l2_head", self.l2_head)
        if self.column not in _COLUMNS:
            raise ConfigError(unknown_name("column", self.column, _COLUMNS))

    def _fill_in(self) -> None:
        if self.batch_size is None:
            is_small = set(self.data) <= {_STARTER}
            self._set(batch_size=_SMALL_BATCH if is_small else _BATCH)
        if self.init is not None:
            return  # What is left open is that of the model.
        if self.max_chars is None and vectorizer_of(self.encoder) == "characters":
            self._set(max_chars=_MAX_CHARS)
        self._set_options(char_dim=_CHAR_DIM)
        if self.use_capitals is None:
            self._set(use_capitals=self.encoder == "charagram")
