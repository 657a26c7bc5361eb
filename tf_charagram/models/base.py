"""The base of all models: saving and loading, Keras archives, SavedModels."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import keras
import tensorflow as tf
from keras.layers import Layer
from keras.saving import deserialize_keras_object, serialize_keras_object

from tf_charagram._files.writing import partial_folder, replaced_folder
from tf_charagram.encoders.base import check_num_ids
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._answers.answers import EmbeddingAnswers
from tf_charagram.models._encoding.prefix_sums import fold
from tf_charagram.models._storage.locations import check_path, read_config
from tf_charagram.models._storage.model_folder import load_model, save_model
from tf_charagram.models._storage.saved_model import write_saved_model
from tf_charagram.text._algorithm.symbols import Symbols
from tf_charagram.text.base import TextVectorizer, settings_of

#: Input signatures: a batch of texts, or of pairs of texts.
TEXTS = [tf.TensorSpec([None], tf.string, name="texts")]
TEXT_PAIRS = [tf.TensorSpec([None], tf.string, name=name) for name in ("texts_a", "texts_b")]

_SAVED_MODEL = "saved_model.pb"
# The constructor arguments of a model that are layers.
_PARTS = ("vectorizer", "encoder", "head")
# The process that made the first model. TensorFlow's threads do not survive a fork.
_process: int | None = None


def check_process() -> None:
    """Checks that this process was not forked from one that has used a model.

    Raises:
        RunError: It was, so TensorFlow would hang.
    """
    global _process
    if _process is None:
        _process = os.getpid()
    elif _process != os.getpid():
        raise RunError(
            f"Process {os.getpid()} was forked from process {_process}, which had loaded a model. "
            "TensorFlow does not work after a fork. Load models only in the child processes, or "
            "start these with the multiprocessing method 'spawn' or 'forkserver' (gunicorn: "
            "without --preload)."
        )


class TextModel(keras.Model):
    """The base class of models: a vectorizer and an encoder, raw texts in.

    A model is a Keras layer, too: it works in a `keras.Sequential`, in a functional model behind
    `keras.Input((), dtype="string")`, and in a subclassed model. A `.keras` archive of such a model
    contains everything.

    Attributes:
        kind: Name of the class in model folders and cards.
        purpose: Verb phrase for cards, such as `"Embeds texts"`.
        score_title: Unit of its scores, such as `"accuracy, %"`.
        gives_vectors: Whether its output is one vector per text. Then its run folder has texts to
            search, `export` can make it smaller, and `check` sends words instead of sentences.
        max_checked_bytes: Length of the longest text that `check` sends; `None` for no limit.
        head_class: Class of its head; `None` without a head.
        task: Name of the task it was trained for, or `None`.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: Keras layer from vectors to answers, a `head_class`; `None` if that is `None`.

    Raises:
        ConfigError: The vectorizer is of another class or has no vocabulary, the encoder has too
            few rows for it, or the head is of another class.
        RunError: This process was forked after another model was made.
    """

    kind: ClassVar[str]
    purpose: ClassVar[str]
    score_title: ClassVar[str]
    gives_vectors: ClassVar[bool] = False
    max_checked_bytes: ClassVar[int | None] = None
    head_class: ClassVar[type[Layer] | None] = None

    def __init__(
        self, vectorizer: Layer, encoder: Layer, head: Layer | None = None, **kwargs: Any
    ) -> None:
        if not isinstance(vectorizer, TextVectorizer):
            raise ConfigError(
                "`vectorizer` must be a layer from strings to ids, such as an NgramVectorizer. "
                f"Received: {type(vectorizer).__name__}"
            )
        check_process()
        check_num_ids(vectorizer.num_rows, encoder)
        if self.head_class is not None and not isinstance(head, self.head_class):
            raise ConfigError(
                f"The head of a {type(self).__name__} must be a {self.head_class.__name__}. "
                f"Received: {type(head).__name__}"
            )
        super().__init__(**kwargs)
        self.vectorizer = vectorizer
        self.encoder = encoder
        self.head: Any = head
        self.task: str | None = None
        self.built = True

    @property
    def compute_dtype(self) -> str:
        """`"string"`, from which `keras.Sequential` derives its input type."""
        return "string"

    @property
    def variable_dtype(self) -> str:
        """`"string"`; the variables belong to the parts and are float32."""
        return "string"

    @property
    def parts(self) -> tuple[Layer, ...]:
        """Vectorizer, encoder and, for some classes, head."""
        heads = () if self.head is None else (self.head,)
        return self.vectorizer, self.encoder, *heads

    @classmethod
    def from_parts(cls, *parts: Layer, task: str | None = None) -> Self:
        """Makes a model from its `parts` and the name of its task."""
        model = cls(*parts)
        model.task = task
        return model

    def folded(self) -> Self:
        """Returns an equivalent, faster model, or self if it cannot be folded.

        The answers differ by rounding only. The folded model reads one row per position instead of
        one per n-gram: the rows of an n-gram's prefixes are added to its row in advance. Folding
        takes a second and the memory of a second table. It loses the vectors of single n-grams, so
        a folded model can neither be trained nor explained.
        """
        vectorizer, encoder = fold(self.vectorizer, self.encoder)
        if encoder is self.encoder:
            return self
        return self.from_parts(vectorizer, encoder, *self.parts[2:], task=self.task)

    def save(
        self, path: str | Path, overwrite: bool = True, *, table_dtype: str = "float32"
    ) -> None:
        """Writes a model folder: JSON and NumPy arrays, no code. `load` reads it.

        Args:
            path: The folder. A name that ends in `.keras` writes a Keras archive instead, which
                `keras.models.load_model` reads.
            overwrite: Whether an older model may be replaced.
            table_dtype: `"float16"`, `"int8"` or `"int4"` store the embedding tables in a half, a
                quarter or an eighth of the size. `load` restores rounded float32 tables.

        Raises:
            ConfigError: `table_dtype` is unknown or does not fit the model, or `path` is not a
                path.
            RunError: The folder cannot be written, or exists and may not be replaced; existing
                files are unchanged.
        """
        check_path(path)
        path = Path(path)
        if path.exists() and not overwrite:
            raise RunError(f"{path} exists. Give another path, or overwrite=True.")
        if path.suffix != ".keras":
            save_model(path, self.parts, self.kind, self.task, table_dtype)
            return
        if table_dtype != "float32":
            raise ConfigError(
                "`table_dtype` must be float32 for a .keras archive. Received: "
                f"table_dtype={table_dtype}. Save a folder instead."
            )
        # The archive gets its name once it is complete.
        with partial_folder(path) as partial:
            super().save(partial / path.name)
            os.replace(partial / path.name, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        folded: bool = False,
        correct_spelling: bool = True,
        keep_words: str | Path | Iterable[str] | None = None,
        word_counts: Mapping[str, int] | None = None,
    ) -> Self:
        """Loads a saved model.

        Args:
            path: A model folder, a run folder, or the name of a model that ships with the package
                (`charagram models` lists them).
            folded: Return the folded model, which is faster and can neither be trained nor
                explained.
            correct_spelling: Let a model with a dictionary read misspelled words as known words.
                `read_as` shows the effect.
            keep_words: Correctly spelled words, or texts made of them, such as all texts that are
                searched; or the path of a UTF-8 file with such lines; or a mapping of words to
                their counts. These words are read as written, and misspelled words may be read as
                them.
            word_counts: How often words occur in the texts of a job. If the model weighs words,
                words that are rare in these texts count more.

        Raises:
            ConfigError: `keep_words` is neither a path nor a list of texts.
            RunError: The folder does not contain a model of this class, is damaged, or was written
                by a newer version; the file of words cannot be read; or this process was forked
                after another model was made.
        """
        check_process()
        parts = load_model(
            path,
            cls.kind,
            cls.head_class,
            correct_spelling=correct_spelling,
            keep_words=keep_words,
            word_counts=word_counts,
        )
        model = cls.from_parts(*parts, task=read_config(path).get("task"))
        return model.folded() if folded else model

    @classmethod
    def from_preset(cls, name: str | Path, **options: Any) -> Self:
        """Calls `load`; KerasHub users know it by this name."""
        return cls.load(name, **options)

    read_as = EmbeddingAnswers.read_as

    @property
    def symbols(self) -> Symbols:
        """Reads texts as symbols; without an alphabet, as lowercase code points."""
        return getattr(self.vectorizer, "reader", None) or Symbols(None)

    def signatures(self) -> dict[str, Any]:
        """Returns the signatures of the SavedModel: name -> `tf.function`."""
        raise NotImplementedError

    def reading_signature(self) -> dict[str, Any]:
        """Returns the signature `read_as` of a SavedModel; no signature without a dictionary.

        `read_as(texts) -> {"text": string (n,)}` returns texts as their n-grams see them: with
        misspelled words corrected, in lowercase, with single spaces, and cut after `max_chars`.
        Characters outside the alphabet become U+FFFD.
        """
        if self.vectorizer.dictionary is None:
            return {}

        @tf.function(input_signature=TEXTS, autograph=False)
        def read_as(texts: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"text": self.vectorizer.reader.strings(texts)}

        return {"read_as": read_as}

    def as_served(self) -> Self:
        """Returns the model that is exported: folded, with the same answers."""
        return self.folded()

    def export(self, path: str | Path) -> None:
        """Writes a SavedModel with `signatures()` and a `model_card.json`.

        The folder appears once it is complete. It replaces an older SavedModel, and nothing else.

        Raises:
            ConfigError: `path` is not a path.
            RunError: The folder cannot be written, or contains other files.
        """
        check_path(path)
        with replaced_folder(path, _SAVED_MODEL) as partial:
            self.write_saved_model(partial)

    def write_saved_model(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        """Writes a SavedModel into a new folder, file by file.

        Args:
            path: The folder, which must not exist.
            about: Additional entries of the card.

        Raises:
            RunError: The folder cannot be written.
        """
        served = self.as_served()
        about = {**self.card(), **(about or {})}
        write_saved_model(served.parts, served.signatures(), path, about)

    def card(self) -> dict[str, Any]:
        """Returns additional entries of the model card."""
        if self.head is None:
            return {}
        return {"kind": self.kind, "head": settings_of(self.head)}

    def get_config(self) -> dict[str, Any]:
        """Returns name, task and the configs of the parts; Keras stores vocabulary and weights."""
        config = {"name": self.name, "trainable": self.trainable, "task": self.task}
        # Not strict: a model without a head has no third part.
        for name, part in zip(_PARTS, self.parts, strict=False):
            config[name] = serialize_keras_object(part)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        """Makes a model from `get_config()`, with new weights."""
        configs = [config[name] for name in _PARTS if name in config]
        parts = [deserialize_keras_object(part, custom_objects) for part in configs]
        model = cls(*parts, name=config["name"])
        model.trainable = config["trainable"]
        model.task = config["task"]
        return model
