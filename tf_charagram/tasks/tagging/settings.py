"""Settings of a training run on tagged sentences: the task `pos`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tf_charagram._common.checks import check_at_least
from tf_charagram.data.starter import STARTER
from tf_charagram.encoders import vectorizer_of
from tf_charagram.settings import option
from tf_charagram.training.settings import LabelledConfig

_INPUT_DIM = 50
# A batch is padded to its longest word, which is often an address.
_MAX_CHARS = 30
# The starter set has a few hundred sentences, four batches of the paper's size.
_BATCH, _SMALL_BATCH = 100, 10


@dataclass(frozen=True)
class TaggingConfig(LabelledConfig):
    """Settings of a training run on tagged sentences (Charagram, section 4.2).

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("pos", "what to train")
    data: tuple[str, ...] = option(
        (),
        "sentences: CoNLL-U, word TAB tag, or starter; repeatable [starter]",
    )
    optimizer: Literal["adam", "adagrad", "sgd"] = option(
        "sgd", "adam and adagrad are row-sparse; sgd has momentum"
    )
    learning_rate: float = option(0.2, "step size")
    dim: int = option(150, "width of the word vectors, which are composed of characters")
    column: Literal["xpos", "upos"] = option("xpos", "tags of CoNLL-U to learn", "data")
    hidden_dim: int = option(
        150,
        "width of each direction of the LSTM over words, and of the tanh layer before the tags",
        "model",
    )
    use_capitals: bool | None = option(
        None,
        "lowercase words and mark those with a capital [yes for charagram, else no]",
        "text",
        is_file_only=True,
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_at_least(self, {"hidden_dim": 1})

    def _fill_in(self) -> None:
        super()._fill_in()
        if self.max_chars is None and vectorizer_of(self.encoder) == "characters":
            self._set(max_chars=_MAX_CHARS)
        if self.use_capitals is None:
            self._set(use_capitals=self.encoder == "charagram")

    def default_batch_size(self) -> int:
        """Returns fewer sentences for the starter set."""
        is_small = set(self.data) <= {STARTER}
        return _SMALL_BATCH if is_small else _BATCH

    def default_options(self) -> dict[str, Any]:
        """Returns narrow character embeddings: words are short."""
        is_of_characters = vectorizer_of(self.encoder) == "characters"
        return {"input_dim": _INPUT_DIM} if is_of_characters else {}
