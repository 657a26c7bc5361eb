"""What every model that a user holds shares: what it is, how it is kept, and how it is served."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar, Self

import keras
import tensorflow as tf
from keras.layers import Layer
from keras.saving import deserialize_keras_object, serialize_keras_object

from tf_charagram.encoders.base import check_num_ids
from tf_charagram.errors import ConfigError
from tf_charagram.files.writing import partial_folder
from tf_charagram.models.locations import check_path, read_config
from tf_charagram.models.model_folder import load_model, save_model
from tf_charagram.models.parts import Parts
from tf_charagram.models.prefix_sums import fold, fold_into, foldable_prefixes
from tf_charagram.models.saved_model import replaced_folder, write_saved_model
from tf_charagram.text.base import TextVectorizer
from tf_charagram.text.growing import settings_of

#: Inputs of the signatures: any number of texts, or of pairs of texts.
TEXTS = [tf.TensorSpec([None], tf.string, name="texts")]
TEXT_PAIRS = [tf.TensorSpec([None], tf.string, name=name) for name in ("texts_a", "texts_b")]


# The file that makes a folder a SavedModel.
_SAVED_MODEL = "saved_model.pb"


class TextModel(keras.Model):
    """Raw texts in, vectors or answers out: a vectorizer and an encoder.

    What is true of every model of a class, and what others ask it for, are attributes of the class.

    Attributes:
        kind: Its name in folders and model cards.
        purpose: What it does, such as `"Embeds texts"`.
        score_title: What its scores are, such as `"accuracy, %"`.
        reads: What its texts are: `"words"`, `"sentences"`, `"reviews"` or `"pairs"`.
        reads_run_texts: Whether `texts.txt` of its run holds texts as it reads them.
        gives_vectors: Whether it answers with vectors, one per text.
        can_shrink: Whether it can be made smaller for serving.
        max_checked_bytes: Longest text that is worth trying on an exported model; `None` for any.
        head_class: The class of its head; `None` if it has none.
        task: Name of the task it was trained for, if that is known; saved with it.

    It is a layer too: in a `keras.Sequential`, in a functional model with `keras.Input((),
    dtype="string")`, in a subclassed one. A `.keras` archive of such a model holds all of it.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.

    Raises:
        ConfigError: The vectorizer is none, or has no vocabulary, or the encoder has too few rows
            for it.
    """

    kind: ClassVar[str]
    purpose: ClassVar[str]
    score_title: ClassVar[str]
    reads: ClassVar[str]
    reads_run_texts: ClassVar[bool] = False
    gives_vectors: ClassVar[bool] = False
    can_shrink: ClassVar[bool] = False
    max_checked_bytes: ClassVar[int | None] = None
    head_class: ClassVar[type[Layer] | None] = None

    def __init__(self, vectorizer: Layer, encoder: Layer, **kwargs: Any) -> None:
        if not isinstance(vectorizer, TextVectorizer):
            raise ConfigError(
                "`vectorizer` must be a layer from strings to ids, such as an NgramVectorizer. "
                f"Received: {type(vectorizer).__name__}"
            )
        check_num_ids(vectorizer.num_rows, encoder)
        super().__init__(**{"name": self.kind, **kwargs})
        self.vectorizer = vectorizer
        self.encoder = encoder
        self.task: str | None = None
        self.built = True

    @property
    def compute_dtype(self) -> str:
        """What it takes, which is how a `keras.Sequential` finds out what its input is."""
        return "string"

    @property
    def variable_dtype(self) -> str:
        """The same; all variables are those of its parts, and float32."""
        return "string"

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return Parts(self.vectorizer, self.encoder)

    @classmethod
    def from_parts(cls, parts: Parts, task: str | None = None) -> Self:
        """Makes a model of a vectorizer, an encoder and, where it has one, a head."""
        model = cls(*(part for part in parts if part is not None))
        model.task = task
        return model

    def folded(self) -> Self:
        """Returns a model that gives the same answers faster, but for rounding; or this one.

        A text is read with one row per position instead of one per n-gram, see
        `serialization.prefix_sums`. For many texts, and for those only: folding takes a second and
        the memory of another table, single n-grams can no longer all be told apart, and training on
        would not be the same.
        """
        vectorizer, encoder = fold(self.vectorizer, self.encoder)
        if encoder is self.encoder:
            return self
        parts = self.parts._replace(vectorizer=vectorizer, encoder=encoder)
        return self.from_parts(parts, self.task)

    def save(
        self, path: str | Path, *args: Any, table_dtype: str = "float32", **kwargs: Any
    ) -> None:
        """Writes the folder that `load` reads: JSON and NumPy arrays, no code.

        Args:
            path: The folder. A name that ends in `.keras` gives a Keras archive instead, to be read
                by `keras.models.load_model`.
            *args: For an archive, what `keras.Model.save` takes besides, and so are `**kwargs`. A
                folder takes `overwrite=True` alone, for callbacks of Keras say that.
            table_dtype: `"float16"`, `"int8"` or `"int4"` for a folder of half, a quarter or an
                eighth of the size, or less: see `save_model`. What `load` makes of it is float32
                again, and rounded.
            **kwargs: See `*args`.

        Raises:
            ConfigError: There is no such `table_dtype`, or the model cannot be stored in it; or an
                argument is not one of those, or `path` is no path.
            RunError: It cannot be written; what was there is untouched.
        """
        check_path(path)
        if str(path).endswith(".keras"):
            if table_dtype != "float32":
                raise ConfigError(
                    "`table_dtype` must be float32 for a .keras archive. Received: "
                    f"table_dtype={table_dtype}. Save a folder, or write the archive as it is."
                )
            self._save_archive(Path(path), *args, **kwargs)
            return
        _check_nothing_else("save", args, kwargs, overwrite=True)
        save_model(path, self.parts, self.kind, self.task, table_dtype)

    def _save_archive(
        self, path: Path, overwrite: bool = True, zipped: bool | None = None, **kwargs: Any
    ) -> None:
        """Writes a Keras archive, which appears only once it is complete."""
        if zipped is False or (path.exists() and not overwrite):
            # A folder, or a question: both are for Keras.
            super().save(path, overwrite, zipped, **kwargs)
            return
        with partial_folder(path) as partial:
            super().save(partial / path.name, overwrite, zipped, **kwargs)
            os.replace(partial / path.name, path)

    @classmethod
    def load(cls, path: str | Path, *, folded: bool = False, correct_spelling: bool = True) -> Self:
        """Loads what `save` wrote, the `model` folder of a run folder, or a model by its name.

        Args:
            path: The folder; or the name of a model that ships with the package, see `charagram
                models`, unless there is a folder of that name.
            folded: Fold it, as `folded()` does, without the memory of another table.
            correct_spelling: Whether a model that has a dictionary reads misspelled words as known
                ones. Without, words such as names of products are never taken for others.

        Raises:
            RunError: The folder is not such a model, is damaged, or is from a newer version.
        """
        parts = load_model(path, cls.kind, cls.head_class, correct_spelling=correct_spelling)
        prefixes = foldable_prefixes(parts.vectorizer, parts.encoder) if folded else None
        if prefixes is not None:
            parts = parts._replace(vectorizer=fold_into(parts.vectorizer, parts.encoder, prefixes))
        return cls.from_parts(parts, read_config(path).get("task"))

    @classmethod
    def from_preset(cls, name: str | Path, **options: bool) -> Self:
        """Does the same as `load`, under the name that KerasHub has for it."""
        return cls.load(name, **options)

    def signatures(self) -> dict[str, Any]:
        """Returns what an exported model answers: name -> `tf.function` with input signature."""
        raise NotImplementedError

    def as_served(self) -> Self:
        """Returns the model that is written for serving: it gives the same answers."""
        return self.folded()

    def export(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Writes a SavedModel with `signatures()`, and `model_card.json` in it.

        The folder appears only once it is complete. It replaces an older SavedModel, and nothing
        else.

        Args:
            path: The folder.
            *args: For `keras.Model.export`, which has a format and what to print; and so are
                `**kwargs`.
            **kwargs: See `*args`.

        Raises:
            ConfigError: Another format is asked for, or what it does not have, or `path` is no
                path.
            RunError: It cannot be written, for instance because the disk is full; or there is a
                folder with other files.
        """
        check_path(path)
        _check_nothing_else("export", args, kwargs, format="tf_saved_model", verbose=None)
        with replaced_folder(path, _SAVED_MODEL) as partial:
            self.write_saved_model(partial)

    def write_saved_model(self, path: str | Path, about: dict[str, Any] | None = None) -> None:
        """Writes the same into a folder that nobody reads yet, file by file.

        Args:
            path: The folder, which does not exist.
            about: What the card says besides.

        Raises:
            RunError: It cannot be written.
        """
        served = self.as_served()
        about = {**self.card(), **(about or {})}
        write_saved_model(served.parts, served.signatures(), path, about)

    def card(self) -> dict[str, Any]:
        """Returns what the card of an exported model says besides the usual."""
        return {}

    def get_config(self) -> dict[str, Any]:
        """Returns name, task and the configs of the parts; Keras stores vocabulary and weights."""
        parts = self.parts._asdict().items()
        return {
            "name": self.name,
            "trainable": self.trainable,
            "task": self.task,
            **{name: serialize_keras_object(part) for name, part in parts if part is not None},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        """Restores a model from `get_config()`, with new weights."""
        names = [name for name in Parts._fields if name in config]
        parts = [deserialize_keras_object(config[name], custom_objects) for name in names]
        model = cls(*parts, name=config["name"])
        model.trainable = config["trainable"]
        model.task = config["task"]
        return model

    def summary(self, *args: Any, **kwargs: Any) -> None:
        """Prints the parts with their shapes and numbers of parameters.

        Args:
            *args: As for `keras.Model.summary`, and so are `**kwargs`.
            **kwargs: See `*args`.
        """
        inputs, outputs = self.symbolic()
        keras.Model(inputs, outputs, name=self.name).summary(*args, **kwargs)

    def symbolic(self) -> tuple[Any, Any]:
        """Returns symbolic inputs, and what the parts make of them, one after the other."""
        texts = keras.Input((), dtype="string", name="texts")
        return texts, self.encoder(self.vectorizer(texts))


def _check_nothing_else(
    method: str, args: tuple[Any, ...], kwargs: dict[str, Any], **allowed: Any
) -> None:
    """Checks that a method was given no more than Keras may say, where it means what is done.

    Args:
        method: Its name, for the message.
        args: What it was given by place.
        kwargs: What it was given by name.
        **allowed: What it may be given by name, and the value that does; `None` for any.

    Raises:
        ConfigError: It was given more, or another value.
    """
    others = [str(value) for value in args] + [
        f"{name}={value!r}"
        for name, value in kwargs.items()
        if name not in allowed or (allowed[name] is not None and value != allowed[name])
    ]
    if others:
        raise ConfigError(f"`{method}` does not take {', '.join(others)}.")


class HeadedModel(TextModel):
    """A model whose head turns vectors into answers.

    Args:
        vectorizer: Keras layer from strings `(batch,)` to ragged ids.
        encoder: Keras layer from ragged ids to float32 `(batch, dim)`.
        head: Keras layer from vectors to answers, a `head_class`.

    Raises:
        ConfigError: As for `TextModel`; or the head is of another class.
    """

    head_class: ClassVar[type[Layer]]

    def __init__(self, vectorizer: Layer, encoder: Layer, head: Layer, **kwargs: Any) -> None:
        super().__init__(vectorizer, encoder, **kwargs)
        if not isinstance(head, self.head_class):
            raise ConfigError(
                f"The head of a {type(self).__name__} must be a {self.head_class.__name__}. "
                f"Received: {type(head).__name__}"
            )
        self.head = head

    @property
    def parts(self) -> Parts:
        """What it is made of."""
        return Parts(self.vectorizer, self.encoder, self.head)

    def symbolic(self) -> tuple[Any, Any]:
        """Returns symbolic inputs, and what the parts make of them, one after the other."""
        texts, vectors = super().symbolic()
        return texts, self.head(vectors)

    def card(self) -> dict[str, Any]:
        """Returns what the card of an exported model says besides the usual."""
        return {"kind": self.kind, "head": settings_of(self.head)}
