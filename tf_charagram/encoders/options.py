"""Options of the encoders: arguments of their constructors that a user can set.

They import without TensorFlow, so that `--help` and errors about flags come at once. The
constructors take their defaults from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from tf_charagram._common.checks import check_values
from tf_charagram.errors import ConfigError
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
class _CharacterOptions(EncoderOptions):
    """Options of all encoders of characters."""

    vectorizer = "characters"
    input_dim: int = option(300, "width of the character embeddings")


@dataclass(frozen=True)
class _DropoutOptions:
    """Options of all encoders with dropout."""

    training_only: ClassVar[tuple[str, ...]] = ("dropout",)
    dropout: float = option(
        0.0,
        "share of the numbers in word vectors, for char_cnn of the pooled filters, dropped in "
        "training",
    )


@dataclass(frozen=True)
class _GateOptions:
    """Options of all encoders with an LSTM."""

    use_output_gate: bool = option(True, "LSTM with an output gate", is_file_only=True)
    use_peepholes: bool = option(True, "gates of the LSTM see the cell state", is_file_only=True)


@dataclass(frozen=True)
class _InputOptions:
    """Options of all encoders whose word vectors can have another width than the embedding."""

    input_dim: int | None = option(None, "width of the word vectors [--dim]")


@dataclass(frozen=True)
class CharagramOptions(EncoderOptions):
    """Options of `Charagram`."""

    vectorizer = "ngrams"
    activation: Literal["linear", "tanh", "relu"] = option("linear", "non-linearity of the sum")
    num_layers: Literal[1, 2] = option(1, "how often it is applied; 2 adds a dense layer")


@dataclass(frozen=True)
class CharCnnOptions(_DropoutOptions, _CharacterOptions):
    """Options of `CharCnn`."""

    activation: Literal["relu", "tanh"] = option("relu", "non-linearity of the filters")
    dense: Literal["tanh", "relu", "linear", "none"] = option(
        "tanh", "layer after the pooling", is_file_only=True
    )
    filters: str = option(
        "small",
        "small: 175 filters of each width 2 to 4; kim: 25 of width 1, 50 of 2, ... 150 of 6; or "
        "width:number of each width, as in 3:100,5:200",
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        filter_widths(self.filters)


@dataclass(frozen=True)
class CharLstmOptions(_GateOptions, _CharacterOptions):
    """Options of `CharLstm`."""


@dataclass(frozen=True)
class WordOptions(_DropoutOptions, EncoderOptions):
    """Options of `WordAverage` and `IdentityRnn`, and of all encoders of words."""

    vectorizer = "words"


@dataclass(frozen=True)
class ProjectionOptions(_InputOptions, WordOptions):
    """Options of `Projection`."""


@dataclass(frozen=True)
class DanOptions(_InputOptions, WordOptions):
    """Options of `Dan`."""

    activation: Literal["tanh", "relu"] = option("tanh", "non-linearity of the layers")
    num_layers: Literal[1, 2] = option(1, "number of layers")


@dataclass(frozen=True)
class RnnOptions(WordOptions):
    """Options of `Rnn`."""

    activation: Literal["tanh", "relu"] = option("tanh", "non-linearity of the state")


@dataclass(frozen=True)
class LstmOptions(_GateOptions, WordOptions):
    """Options of `Lstm` and `Gran`."""


@dataclass(frozen=True)
class CseOptions(_InputOptions, WordOptions):
    """Options of `Cse`."""

    widths: tuple[int, ...] = option((1, 2, 3), "distinct filter widths")
    activation: Literal["linear", "tanh"] = option("linear", "non-linearity of the filters")


#: Name of filters -> number of filters of each width (Charagram, section 4.1.3).
_FILTERS = {
    "small": {2: 175, 3: 175, 4: 175},
    "kim": {width: 25 * width for width in range(1, 7)},
}


def filter_widths(filters: str) -> dict[int, int]:
    """Returns the number of filters of each width, given the option `filters` of `CharCnn`.

    Raises:
        ConfigError: It is neither a name nor a list of `width:number`.
    """
    if filters in _FILTERS:
        return _FILTERS[filters]
    pairs = [part.split(":") for part in filters.split(",")]
    if all(len(pair) == 2 and all(map(str.isdecimal, pair)) for pair in pairs):
        widths = {int(width): int(number) for width, number in pairs}
        if len(widths) == len(pairs) and all(min(item) > 0 for item in widths.items()):
            return widths
    raise ConfigError(
        "`filters` must be small, kim, or width:number of different widths, as in 3:100,5:200. "
        f"Received: filters={filters!r}"
    )
