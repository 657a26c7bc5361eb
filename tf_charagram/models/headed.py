"""What models with a head share: its class, and what it adds to parts and card."""

from __future__ import annotations

from typing import Any, ClassVar

from keras.layers import Layer

from tf_charagram.errors import ConfigError
from tf_charagram.models.base import TextModel
from tf_charagram.models.parts import Parts
from tf_charagram.text.growing import settings_of


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
