"""Settings that all training runs have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, get_type_hints

from tf_charagram.checks import check_at_least, check_clip_norm, check_penalty, check_values
from tf_charagram.encoders.options import encoders_with, option_error, options_of
from tf_charagram.errors import ConfigError, unknown_name
from tf_charagram.settings import option, typed
from tf_charagram.tasks.presets import PRESETS, check_preset
from tf_charagram.text.validation import UNICODE_FORMS
from tf_charagram.training.text_ids import check_text_ids

_AT_LEAST = {
    "epochs": 1e-6, "batch_size": 1, "dim": 1, "evaluations_per_epoch": 1,
    "checkpoint_every_s": 0, "seed": 0,
}  # fmt: skip
_PENALTIES = ("l2", "l2_words", "l2_composition")
_DECAYS = ("none", "linear")
#: `precision` -> `dtype` of a run.
PRECISIONS = {"float32": "float32", "mixed_bfloat16": "bfloat16"}
_LARGEST_SEED = 2**31 - 1

# Older files hold the options of all encoders. Those that an encoder lacks are `None` or these.
_SAYS_NOTHING = {
    "word_dropout": 0.0, "num_layers": 1, "use_output_gate": True, "use_peepholes": True,
}  # fmt: skip


@dataclass(frozen=True)
class RunConfig:
    """What any training run is told; each task adds its own, and the flags of `train` follow.

    Attributes:
        encoder_options: The options of the encoder, see `encoders.options`. All have values, except
            in a run that starts from a model: what is left open there is taken from the model.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    task: str = option("words", "what to train", "model", is_common=True)
    encoder: str = option("charagram", "how to read a text", "model", is_common=True)
    data: tuple[str, ...] = option(
        (), "what to train on: a file or `starter`; repeatable", "data", is_common=True
    )
    out: str | None = option(
        None, "run folder [runs/TASK-ENCODER-N, the next free N]", "run", is_common=True
    )
    preset: str | None = option(
        None,
        "named settings in place of the defaults, which other flags override: paper; or, with "
        "--init, fine-tune, which learns slowly and keeps what the model knows",
        "run",
        choices=tuple(PRESETS),
    )
    init: str | None = option(
        None,
        "run folder, model folder or name of the model to start the encoder from; its vocabulary "
        "grows with the new texts",
        "model",
        is_common=True,
    )
    epochs: float = option(
        10, "passes over the data; may be a fraction", "optimization", is_common=True
    )
    max_minutes: float | None = option(
        None, "minutes of training after which to stop", "optimization"
    )
    batch_size: int | None = option(None, "examples per batch", "optimization")
    l2: float = option(0.0, "lambda of the L2 penalty on all weights", "objective")
    l2_words: float = option(
        0.0, "lambda_w: L2 pull of the word vectors to their initial values", "objective"
    )
    l2_composition: float = option(
        0.0, "lambda_c: L2 penalty on all weights but the word vectors", "objective"
    )
    dense_l2: bool = option(
        False, "penalize all rows at every step, not only the touched ones", "objective"
    )
    optimizer: str = option(
        "adam",
        "adam or adagrad, both row-sparse, or sgd",
        "optimization",
        choices=("adam", "adagrad", "sgd"),
    )
    learning_rate: float = option(0.001, "step size", "optimization")
    momentum: float | None = option(None, "momentum of sgd [0.95]", "optimization")
    initial_accumulator: float | None = option(
        None, "adagrad: where the sums of squared gradients start [1e-6]", "optimization"
    )
    decay: str = option(
        "none",
        "decay of the learning rate: none, or linear to 0 over --epochs",
        "optimization",
        choices=_DECAYS,
    )
    clip_norm: float | None = option(None, "largest global norm of the gradient", "optimization")
    precision: str = option(
        "float32",
        "float32; or mixed_bfloat16: tables and their moments in bfloat16, which halves their "
        "memory, and products too where the processor is faster at them",
        "optimization",
        choices=tuple(PRECISIONS),
    )
    ngrams: tuple[int, ...] = option((2, 3, 4), "n-gram orders, for instance 2,3,4", "text")
    min_count: int = option(1, "fewest occurrences an n-gram or a word needs for a row", "text")
    max_per_order: int | None = option(
        None, "keep the k most frequent n-grams of each order", "text"
    )
    dictionary: tuple[str, ...] = option(
        (),
        "read misspelled words as known ones: a file with a word and its count per line, or with "
        "texts whose words are counted; repeatable",
        "text",
    )
    hash_buckets: int | None = option(
        None, "hash n-grams to this many rows, without a vocabulary", "text"
    )
    rows_per_ngram: int = option(1, "rows each n-gram is hashed to", "text")
    unicode_form: str | None = option(
        None, "normalize first: NFC, NFD, NFKC, NFKD", "text", choices=UNICODE_FORMS
    )
    max_chars: int | None = option(
        None,
        "characters after which a text is cut [10000; char_cnn, char_lstm: 1000, 30 for pos]",
        "text",
    )
    word_vectors: str | None = option(
        None,
        "file of pretrained word vectors, word2vec or GloVe text, to start from",
        "word vectors",
    )
    vector_words: bool = option(
        False,
        "take all words of the vector file, not only those of the training text",
        "word vectors",
    )
    freeze_words: bool = option(False, "do not train the word vectors", "word vectors")
    unknown_words: str = option(
        "shared",
        "vector of an unknown word: shared, or ngrams, the sum of its n-grams",
        "word vectors",
        choices=("shared", "ngrams"),
    )
    dim: int | None = option(300, "width of the embedding", "model", is_common=True)
    evaluations_per_epoch: int = option(4, "evaluations per epoch", "run")
    checkpoint_every_s: float = option(
        60.0, "seconds between checkpoints, after evaluations", "run"
    )
    select: str = option(
        "last",
        "keep the weights with the best score on this set, or the last",
        "run",
        is_common=True,
    )
    on_bad_line: str = option("error", "error or skip", "data", choices=("error", "skip"))
    threads: int | None = option(
        None, "threads of one operation [1 for words and word averages, else one per core]", "run"
    )
    seed: int = option(0, "seed of weights, order and random choices", "run")
    encoder_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: Names of the fields that were left open, and filled in.
    _filled_in: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Checks what no other part checks."""
        check_values(self)
        check_preset(self.preset)
        self._fill_in()
        self._check_encoder_options()
        check_at_least(self, _AT_LEAST)
        if self.dim is None and type(self).dim is not None:
            raise ConfigError("`dim` must be a number. Received: dim=None")
        if self.decay not in _DECAYS:
            raise ConfigError(unknown_name("decay", self.decay, _DECAYS))
        if self.precision not in PRECISIONS:
            raise ConfigError(unknown_name("precision", self.precision, PRECISIONS))
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"`threads` must be at least 1 or None. Received: {self.threads}")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ConfigError(f"`max_minutes` must be above 0. Received: {self.max_minutes}")
        for name in ("epochs", "learning_rate"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(
                    f"`{name}` must be a finite number. Received: {name}={getattr(self, name)}"
                )
        if self.seed > _LARGEST_SEED:
            raise ConfigError(f"`seed` must be at most {_LARGEST_SEED}. Received: seed={self.seed}")
        for name in _PENALTIES:
            check_penalty(name, getattr(self, name))
        check_clip_norm(self.clip_norm)
        check_text_ids(self)

    def _fill_in(self) -> None:
        """Sets what was left open to the defaults of the task."""

    def _set(self, **values: Any) -> None:
        """Sets fields that were left open; which these are is known to `replace`."""
        object.__setattr__(self, "_filled_in", (*self._filled_in, *values))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_options(self, **values: Any) -> None:
        """Sets options that were left open, if the encoder has them."""
        has = options_of(self.encoder)
        given = {name: value for name, value in self.encoder_options.items() if value is not None}
        values = {name: value for name, value in values.items() if name in has}
        self._set(encoder_options={**values, **given})

    def _check_encoder_options(self) -> None:
        """Checks the names of the options, and fills in defaults unless a model has others."""
        options = options_of(self.encoder)
        given = {name: value for name, value in self.encoder_options.items() if value is not None}
        for name, value in given.items():
            if name not in options:
                raise option_error(self.encoder, name, value)
        self._set(
            encoder_options={
                name: typed(given.get(name, declared.default), declared.type)
                for name, declared in options.items()
                if name in given or self.init is None
            }
        )

    def replace(self, **values: Any) -> Self:
        """Returns the same settings with other values, of fields or of options of the encoder.

        With another encoder, its options are at their defaults, and with another encoder or task
        what was left open before.

        Raises:
            ConfigError: As the constructor.
            TypeError: A name is neither that of a field nor that of an option.
        """
        settings = self.to_dict()
        for name in values:
            if name not in settings and not encoders_with(name):
                raise TypeError(f"{type(self).__name__} has no setting `{name}`.")
        is_other_encoder = values.get("encoder", self.encoder) != self.encoder
        if is_other_encoder:
            settings = {name: settings[name] for name in _flat_names(self)}
        if is_other_encoder or values.get("task", self.task) != self.task:
            # What was left open is filled in again.
            for name in self._filled_in:
                settings.pop(name, None)
        return type(self).from_dict({**settings, **values})

    @property
    def dtype(self) -> str:
        """Type of tables and moments while they are trained, and of products where it is faster."""
        return PRECISIONS[self.precision]

    def update_options(self) -> dict[str, Any]:
        """Returns the arguments of `StepModel.compile` that all runs have."""
        names = ("l2", "l2_words", "l2_composition", "dense_l2", "clip_norm")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings as plain values, the options of the encoder beside the others."""
        return {**{name: getattr(self, name) for name in _flat_names(self)}, **self.encoder_options}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """Returns the settings that `to_dict` gave, a file holds or flags say.

        What else is there is left out, and so are options of other encoders that say nothing, for
        files of earlier versions hold the options of all encoders.

        Raises:
            ConfigError: As the constructor, or an option of another encoder says something.
        """
        types = get_type_hints(cls)
        names = _flat_names(cls)
        values = {name: typed(settings[name], types[name]) for name in names if name in settings}
        own = options_of(values.get("encoder", cls.encoder))
        options = {
            name: value
            for name, value in settings.items()
            if name in own or (name not in names and _is_set(name, value))
        }
        return cls(**values, encoder_options=options)


def _flat_names(config: RunConfig | type[RunConfig]) -> list[str]:
    """Returns the names of the settings that all encoders have."""
    return [declared.name for declared in fields(config) if declared.name != "encoder_options"]


def _is_set(name: str, value: Any) -> bool:
    """Returns whether a value says something of an option that some encoders have."""
    return bool(encoders_with(name)) and value not in (None, _SAYS_NOTHING.get(name))
