"""Options of the encoders: arguments of their constructors that a user can set.

They import without TensorFlow, so that `--help` and errors about flags come at once. The
constructors take their defaults from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tf_charagram.checks import check_values
from tf_charagram.settings import option


@dataclass(frozen=True)
class EncoderOptions:
    """Base of the options of an encoder.

    Attributes:
        vectorizer: Kind of ids that the encoder takes, a key of `text.VECTORIZERS`.
        training_only: Options without effect on a trained model, which a second stage can change.

    Raises:
        ConfigError: An option has a value that it does not allow.
    """

    vectorizer: ClassVar[str]
    training_only: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Checks the values."""
        check_values(self)


@dataclass(frozen=True)
class CharagramOptions(EncoderOptions):
    """Options of `Charagram`."""

    vectorizer = "ngrams"
    activation: Literal["linear", "tanh", "relu"] = option("linear", "non-linearity of the sum")
    num_layers: Literal[1, 2] = option(1, "how often it is applied; 2 adds a dense layer")


@dataclass(frozen=True)
class CharCnnOptions(EncoderOptions):
    """Options of `CharCnn`."""

    vectorizer = "characters"
    training_only = ("dropout",)
    char_dim: int = option(300, "width of the character embeddings")
    activation: Literal["relu", "tanh"] = option("relu", "non-linearity of the filters")
    dense: Literal["tanh", "linear", "none"] = option("tanh", "layer after the pooling")
    filters: Literal["small", "kim"] = option(
        "small",
        "small: 175 filters of each width 2 to 4; kim: 25 of width 1, 50 of 2, ... 150 of 6",
    )
    dropout: float = option(0.0, "share of the pooled filters dropped in training")


@dataclass(frozen=True)
class CharLstmOptions(EncoderOptions):
    """Options of `CharLstm`."""

    vectorizer = "characters"
    char_dim: int = option(300, "width of the character embeddings")
    use_output_gate: bool = option(True, "LSTM with an output gate")
    use_peepholes: bool = option(True, "gates of the LSTM see the cell state")


@dataclass(frozen=True)
class WordOptions(EncoderOptions):
    """Options of `WordAverage` and `IdentityRnn`, and of all encoders of words."""

    vectorizer = "words"
    training_only = ("word_dropout",)
    word_dropout: float = option(0.0, "share of the numbers in word vectors dropped in training")


@dataclass(frozen=True)
class ProjectionOptions(WordOptions):
    """Options of `Projection`."""

    word_dim: int | None = option(None, "width of the word vectors [--dim]")


@dataclass(frozen=True)
class DanOptions(ProjectionOptions):
    """Options of `Dan`."""

    activation: Literal["tanh", "relu"] = option("tanh", "non-linearity of the layers")
    num_layers: Literal[1, 2] = option(1, "number of layers")


@dataclass(frozen=True)
class RnnOptions(WordOptions):
    """Options of `Rnn`."""

    activation: Literal["tanh", "relu"] = option("tanh", "non-linearity of the state")


@dataclass(frozen=True)
class LstmOptions(WordOptions):
    """Options of `Lstm` and `Gran`."""

    use_output_gate: bool = option(True, "LSTM with an output gate")
    use_peepholes: bool = option(True, "gates of the LSTM see the cell state")


@dataclass(frozen=True)
class CseOptions(ProjectionOptions):
    """Options of `Cse`."""

    widths: tuple[int, ...] = option((1, 2, 3), "distinct filter widths")
    activation: Literal["linear", "tanh"] = option("linear", "non-linearity of the filters")
