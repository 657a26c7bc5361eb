"""Settings that all training runs have, and those of runs on labelled examples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, Self

from tf_charagram._common.checks import (
    changed,
    check_at_least,
    check_clip_norm,
    check_penalty,
    check_values,
)
from tf_charagram.encoders import make_options, options_class, vectorizer_of
from tf_charagram.errors import ConfigError
from tf_charagram.settings import described, option, typed, types_of

_AT_LEAST = {
    "epochs": 1e-6,
    "batch_size": 1,
    "dim": 1,
    "evaluations_per_epoch": 1,
    "checkpoint_every_s": 0,
    "seed": 0,
}
#: Value of `select` that keeps the last weights.
LAST = "last"
_PENALTIES = ("l2", "l2_words", "l2_composition")
_NGRAM_SETTINGS = (
    "ngrams",
    "max_per_order",
    "dictionary",
    "hash_buckets",
    "rows_per_ngram",
)
_WORD_SETTINGS = ("word_vectors", "l2_words")
# Settings that do not apply to encoders of some ids.
_WITHOUT_USE = {
    "ngrams": _WORD_SETTINGS,
    "words": _NGRAM_SETTINGS,
    "characters": (*_NGRAM_SETTINGS, "min_count", *_WORD_SETTINGS),
}
_MAX_SEED = 2**31 - 1


@dataclass(frozen=True)
class RunConfig:
    """Settings of any training run; each task adds its own.

    A run that starts from a model, `init`, must have the settings of that model; `make_settings` of
    `tasks` fills them in.

    Attributes:
        encoder_options: Options of the encoder, its class in `encoders.options`. They can be given
            as a mapping of some of them; the others have their defaults.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    #: Whether `freeze` can be `encoder`.
    can_freeze_encoder: ClassVar[bool] = False

    task: str = option("words", "what to train", "model")
    encoder: str = option("charagram", "how to read a text", "model")
    data: tuple[str, ...] = option(
        (), "what to train on: a file or `starter`; repeatable", "data", is_repeatable=True
    )
    output: str | None = option(
        None, "run folder [runs/TASK-ENCODER-N with the next free N]", "run"
    )
    preset: Literal["fine-tune"] | None = option(
        None, "fine-tune: other defaults, to learn slowly from --init and forget little", "run"
    )
    init: str | None = option(
        None,
        "run folder, model folder or name of the model to start the encoder from; its vocabulary "
        "grows with the new texts",
        "model",
    )
    epochs: float = option(10, "passes over the data; can be a fraction", "optimization")
    max_minutes: float | None = option(
        None, "minutes of training after which to stop", "optimization"
    )
    batch_size: int | None = option(
        None,
        "examples per batch [25; sentences: 100; pos: 100, 10 for starter; distill: 500 lines and "
        "500 pairs]",
        "optimization",
    )
    l2: float = option(0.0, "lambda of the L2 penalty on all weights", "objective")
    l2_words: float = option(
        0.0, "lambda_w: L2 pull of the word vectors to their initial values", "objective"
    )
    l2_composition: float = option(
        0.0, "lambda_c: L2 penalty on all weights except the word vectors", "objective"
    )
    dense_l2: bool = option(
        False,
        "penalize all rows at every step, not only the touched ones",
        "objective",
        is_file_only=True,
    )
    optimizer: Literal["adam", "adagrad", "sgd"] = option(
        "adam", "adam and adagrad are row-sparse; sgd has momentum", "optimization"
    )
    learning_rate: float = option(0.001, "step size", "optimization")
    decay: Literal["none", "linear"] = option(
        "none", "decay of the learning rate: linear goes to 0 over --epochs", "optimization"
    )
    clip_norm: float | None = option(None, "maximum global norm of the gradient", "optimization")
    ngrams: tuple[int, ...] = option((2, 3, 4), "n-gram orders, for instance 2,3,4", "text")
    min_count: int = option(1, "minimum occurrences of an n-gram or a word with a row", "text")
    max_per_order: int | None = option(
        None, "keep the k most frequent n-grams of each order", "text"
    )
    dictionary: tuple[str, ...] = option(
        (),
        "read misspelled words as known ones: a file with a word and its count per line, or with "
        "texts whose words are counted; repeatable",
        "text",
        is_repeatable=True,
    )
    hash_buckets: int | None = option(
        None, "hash n-grams to this many rows, without a vocabulary", "text"
    )
    rows_per_ngram: int = option(1, "rows each n-gram is hashed to", "text")
    unicode_form: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = option(
        None, "Unicode normalization of the texts", "text"
    )
    max_chars: int | None = option(
        None,
        "characters after which a text is cut [10000; char_cnn, char_lstm: 1000, 30 for pos]",
        "text",
    )
    word_vectors: str | None = option(
        None,
        "file of pretrained word vectors to start from, word2vec or GloVe text",
        "word vectors",
    )
    freeze: Literal["words", "encoder"] | None = option(
        None,
        "weights that are not trained; words: the word vectors; encoder, for tasks with labels: "
        "all but the head, on vectors of --init computed once",
        "optimization",
    )
    dim: int | None = option(300, "width of the embedding", "model")
    evaluations_per_epoch: int = option(4, "evaluations per epoch", "run")
    checkpoint_every_s: float = option(
        60.0, "seconds between checkpoints, after evaluations", "run"
    )
    select: str = option(
        LAST, "keep the weights with the best score on this set, or the last ones", "run"
    )
    on_bad_line: Literal["error", "skip"] = option("error", "what to do about a bad line", "data")
    seed: int = option(0, "seed of weights, order and random choices", "run")
    encoder_options: Any = None

    def __post_init__(self) -> None:
        """Fills in defaults that depend on other settings, and checks the values."""
        self._fill_in()
        check_values(self)
        check_at_least(self, _AT_LEAST)
        if self.dim is None and type(self).dim is not None:
            raise ConfigError("`dim` must be a number. Received: dim=None")
        if self.max_minutes is not None and not self.max_minutes > 0:
            raise ConfigError(f"`max_minutes` must be above 0. Received: {self.max_minutes}")
        for name in ("epochs", "learning_rate"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(
                    f"`{name}` must be a finite number. Received: {name}={getattr(self, name)}"
                )
        if self.seed > _MAX_SEED:
            raise ConfigError(f"`seed` must be at most {_MAX_SEED}. Received: seed={self.seed}")
        for name in _PENALTIES:
            check_penalty(name, getattr(self, name))
        check_clip_norm(self.clip_norm)
        _check_text_settings(self)

    def _fill_in(self) -> None:
        """Sets defaults that depend on other settings."""
        if type(self.encoder_options) is not options_class(self.encoder):
            given = {**self.default_options(), **(self.encoder_options or {})}
            self._set(encoder_options=make_options(self.encoder, given))
        if self.batch_size is None:
            self._set(batch_size=self.default_batch_size())

    @classmethod
    def option_classes(cls, settings: Mapping[str, Any]) -> dict[str, type]:
        """Returns the classes of further settings that some settings choose, by the latter.

        The field `encoder_options` has the ones that `encoder` chooses, and so on.

        Raises:
            ConfigError: A name is unknown.
        """
        return {"encoder": options_class(settings.get("encoder", cls.encoder))}

    def default_batch_size(self) -> int:
        """Returns the number of examples per batch in this task."""
        return 25

    def default_options(self) -> dict[str, Any]:
        """Returns encoder options that have another default in this task."""
        return {}

    def _set(self, **values: Any) -> None:
        # The way around `frozen`, for `__post_init__` only.
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def replace(self, **values: Any) -> Self:
        """Returns the same settings with other values, also of options of the encoder.

        The options of another encoder, or of another loss, have their defaults.

        Raises:
            ConfigError: A name is unknown, a value is out of range, or two do not go together.
        """
        settings = self.to_dict()
        for chooser in self.option_classes(settings):
            old = getattr(self, chooser)
            if values.get(chooser, old) != old:
                for name in asdict(getattr(self, f"{chooser}_options")):
                    del settings[name]
        return type(self).from_dict({**settings, **values})

    def update_options(self) -> dict[str, Any]:
        """Returns the arguments of `StepModel.compile` that all runs have."""
        names = ("l2", "l2_words", "l2_composition", "dense_l2", "clip_norm")
        return {name: getattr(self, name) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Returns the settings by name, with the options of the encoder next to the others."""
        settings = {name: getattr(self, name) for name in described(type(self))}
        for chooser in self.option_classes(settings):
            settings |= asdict(getattr(self, f"{chooser}_options"))
        return settings

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Self:
        """Returns the settings from values by name, as `to_dict`, JSON or flags give them.

        Raises:
            ConfigError: A name is unknown, a value is out of range, or two do not go together.
        """
        types = types_of(cls)
        names = described(cls)
        classes = cls.option_classes(settings)
        values: dict[str, Any] = {f"{chooser}_options": {} for chooser in classes}
        for name, value in settings.items():
            if name in names:
                values[name] = typed(name, value, types[name])
                continue
            # The constructor reports an unknown name as an option that the encoder lacks.
            owners = [chooser for chooser in classes if name in types_of(classes[chooser])]
            owner = owners[0] if owners else "encoder"
            values[f"{owner}_options"][name] = value
        return cls(**values)


@dataclass(frozen=True)
class TableConfig:
    """Settings of a training run whose data may be tables; comes before `RunConfig` as a base."""

    columns: tuple[str, ...] = option(
        (),
        "columns of tables: one or two texts, then the label or score, or for pairs, 1 or 0 for "
        "whether they mean the same; names, or numbers from 1 [well-known names]",
        "data",
    )
    header: bool = option(
        True, "whether the first line of CSV and TSV has the names of the columns", "data"
    )


@dataclass(frozen=True)
class LabelledConfig(RunConfig):
    """Settings of a training run on labelled examples, also of words.

    Raises:
        ConfigError: A value is out of range, or two do not go together.
    """

    eval_data: tuple[str, ...] = option(
        (),
        "data to score on, like --data; repeatable [with the starter set: its other sentences]",
        "data",
        is_repeatable=True,
    )
    evaluations_per_epoch: int = option(1, "evaluations per epoch")
    l2_head: float = option(
        0.0, "lambda_s: L2 penalty on all weights above the encoder", "objective"
    )

    def __post_init__(self) -> None:
        """Checks the values."""
        super().__post_init__()
        check_penalty("l2_head", self.l2_head)


def _check_text_settings(config: RunConfig) -> None:
    """Checks that the settings of n-grams and word vectors suit the encoder and each other."""
    for name in changed(config, _WITHOUT_USE[vectorizer_of(config.encoder)]):
        raise ConfigError(
            f"`{name}` is not an option of the encoder '{config.encoder}'. "
            f"Received: {name}={getattr(config, name)!r}"
        )
    if config.hash_buckets is None and config.rows_per_ngram != 1:
        raise ConfigError(
            "`rows_per_ngram` is for `hash_buckets` only. "
            f"Received: rows_per_ngram={config.rows_per_ngram}"
        )
    is_chosen = config.min_count > 1 or bool(config.max_per_order)
    if config.hash_buckets is not None and is_chosen:
        raise ConfigError(
            "`min_count` and `max_per_order` choose the n-grams of a vocabulary, which "
            "`hash_buckets` replaces. Leave out these two, or `hash_buckets`."
        )
    _check_freeze(config)


def _check_freeze(config: RunConfig) -> None:
    """Checks that the weights to freeze exist and are not penalized."""
    if config.freeze == "encoder" and not config.can_freeze_encoder:
        raise ConfigError(
            f"`freeze` can be encoder for tasks with labels only. Received: task={config.task}"
        )
    if config.freeze != "words":
        return
    if vectorizer_of(config.encoder) != "words":
        raise ConfigError(
            f"The encoder '{config.encoder}' has no word vectors. Received: freeze=words"
        )
    if config.l2_words:
        raise ConfigError(
            "`l2_words` is for word vectors that are trained, not for `freeze` words. Leave one of "
            f"them out. Received: l2_words={config.l2_words}"
        )
    if config.word_vectors is None and config.init is None:
        raise ConfigError(
            "`freeze` words needs `word_vectors` or `init`: without them, words are random."
        )
