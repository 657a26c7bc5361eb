"""The script that averages weights."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from recipes.average import main
from tests.models.answers import parts
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.alphabet import Alphabet
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.vocabulary import NgramVocabulary


def saved(path, number, model=None):
    model = model or TextEmbedder(*parts())
    model.task = "words"
    random = np.random.default_rng(number)
    for weight in model.encoder.weights:
        weight.assign(random.normal(size=weight.shape))
    model.save(path)
    return model


def test_each_weight_is_the_mean(tmp_path):
    models = [saved(tmp_path / str(number), number) for number in range(3)]
    paths = [str(tmp_path / name) for name in ("average", "0", "1", "2")]
    assert main(paths) == 0
    average = TextEmbedder.load(tmp_path / "average")
    assert average.task == "words"
    for weight, *others in zip(
        average.encoder.weights, *(model.encoder.weights for model in models), strict=True
    ):
        assert_allclose(weight, np.mean([other.numpy() for other in others], axis=0), rtol=1e-5)


def test_a_model_with_one_more_character(tmp_path):
    """A model may have seen one more character in its pairs, without a row for it."""
    first = saved(tmp_path / "a", 0)
    vocabulary = first.vectorizer.vocabulary
    more = Alphabet([*vocabulary.alphabet.characters, ord("\N{SNOWMAN}")])
    other = NgramVocabulary(vocabulary.orders, more, vocabulary.keys, vocabulary.counts + 1)
    config = first.vectorizer.settings()
    vectorizer = type(first.vectorizer).from_state(config, other.to_arrays())
    saved(tmp_path / "b", 1, TextEmbedder(vectorizer, parts()[1]))
    assert main([str(tmp_path / name) for name in ("average", "a", "b")]) == 0


def test_models_of_other_ngrams(tmp_path, capsys):
    saved(tmp_path / "a", 0)
    vectorizer = NgramVectorizer.from_texts(["other", "texts"])
    encoder = type(parts()[1])(num_rows=vectorizer.num_rows, dim=3)
    saved(tmp_path / "b", 1, TextEmbedder(vectorizer, encoder))
    assert main([str(tmp_path / name) for name in ("average", "a", "b")]) == 1
    assert "b has other ids or other weights than" in capsys.readouterr().err
    assert not (tmp_path / "average").exists()
