"""`max_mb` holds on disk, wastes little, and gives an error where it cannot hold."""

import functools
import re

import numpy as np
import pytest

from tests.texts import words
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.export._compression import shrinking
from tf_charagram.export._compression.options import ShrinkOptions
from tf_charagram.export._compression.shrinking import fitting_options, saved_model_bytes, shrink
from tf_charagram.models._storage.stored_tables import SERVED_DTYPES as DTYPES
from tf_charagram.text.vectorizer import NgramVectorizer
from tf_charagram.text.words import WordVectorizer

WORDS = words(2_000)
SHRUNK_ONCE = functools.cache(shrinking.shrink)
WRITTEN_ONCE = functools.cache(shrinking.saved_model_bytes)


@pytest.fixture(autouse=True)
def measured_once(monkeypatch):
    """Lets the tests share the sizes of the smallest models, which takes an export each."""
    monkeypatch.setattr(shrinking, "shrink", SHRUNK_ONCE)
    monkeypatch.setattr(shrinking, "saved_model_bytes", WRITTEN_ONCE)


@pytest.fixture(scope="module")
def vectorizer():
    return NgramVectorizer.from_texts(WORDS)


@pytest.fixture(scope="module")
def linear(vectorizer):
    return Charagram(num_rows=vectorizer.num_rows, dim=80)


def folder_bytes(vectorizer, encoder, options):
    """Returns the size of the shrunk SavedModel."""
    return saved_model_bytes(*shrink(vectorizer, encoder, options))


def check(vectorizer, encoder, max_mb):
    """Checks that a budget is kept and nearly used up; returns the options."""
    options = fitting_options(vectorizer, encoder, max_mb)
    size = folder_bytes(vectorizer, encoder, options)
    assert 0.97 * max_mb * 1e6 < size <= max_mb * 1e6
    return options


def test_the_first_numbers_that_fit(vectorizer, linear):
    sizes = {name: folder_bytes(vectorizer, linear, ShrinkOptions(name)) / 1e6 for name in DTYPES}
    assert sizes["float32"] > sizes["float16"] > sizes["int8"]
    for name, size in sizes.items():
        assert fitting_options(vectorizer, linear, size + 0.016) == ShrinkOptions(name)
        assert fitting_options(vectorizer, linear, size - 0.001) != ShrinkOptions(name)


def test_shrink_takes_the_budget(vectorizer, linear):
    options = fitting_options(vectorizer, linear, 0.8)
    small, encoder = shrink(vectorizer, linear, ShrinkOptions(max_mb=0.8))
    num_ngrams = options.max_ngrams or vectorizer.num_rows
    # The size of a folder changes by a few bytes with the names of its layers.
    assert encoder.dim == options.dim and abs(small.num_rows - num_ngrams) < 10
    assert saved_model_bytes(small, encoder) <= 0.8e6


@pytest.mark.parametrize("max_mb", [0.66, pytest.param(0.75, marks=pytest.mark.variant)])
def test_a_hundred_ngrams_a_dimension(vectorizer, linear, max_mb):
    options = check(vectorizer, linear, max_mb)
    assert options.dtype == "int8"
    assert 100 <= options.max_ngrams / options.dim < 103


def test_ngrams_only_where_the_encoder_is_not_linear(vectorizer):
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=80, activation="tanh")
    options = check(vectorizer, encoder, 0.8)
    assert options.dim is None and 5_000 <= options.max_ngrams < vectorizer.num_rows


@pytest.mark.long
def test_dimensions_only_where_there_is_no_vocabulary():
    vectorizer = NgramVectorizer(hash_buckets=8_000)
    encoder = Charagram(num_rows=8_000, dim=80)
    full = folder_bytes(vectorizer, encoder, ShrinkOptions("int8")) / 1e6
    options = check(vectorizer, encoder, full - 0.1)
    assert options.max_ngrams is None and 50 <= options.dim < 80


def test_dimensions_only_where_ngrams_are_folded(vectorizer, linear):
    options = fitting_options(*shrink(vectorizer, linear, ShrinkOptions()), 0.8)
    assert options.max_ngrams is None and 50 <= options.dim < 80


@pytest.mark.long
def test_words():
    vectorizer = WordVectorizer.from_texts(WORDS)
    encoder = WordAverage(num_rows=vectorizer.num_rows, dim=300)
    full = folder_bytes(vectorizer, encoder, ShrinkOptions("int8")) / 1e6
    options = check(vectorizer, encoder, full - 0.2)
    assert options.max_ngrams is None and 150 < options.dim < 250


@pytest.mark.parametrize("activation", ["linear", pytest.param("tanh", marks=pytest.mark.variant)])
def test_the_smallest_size_is_named_and_holds(vectorizer, activation):
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=80, activation=activation)
    with pytest.raises(ConfigError, match=r"5,000 rows of \d+ int8. Received: max_mb=0.1") as error:
        fitting_options(vectorizer, encoder, 0.1)
    smallest = float(re.search(r"at least ([\d.]+)", str(error.value))[1])
    assert check(vectorizer, encoder, smallest).max_ngrams >= 5_000
    with pytest.raises(ConfigError, match="must be at least"):
        fitting_options(vectorizer, encoder, smallest - 0.001)
    with pytest.raises(ConfigError, match=f"must be at least {smallest + 0.5:.3f} .*max_mb=0.1"):
        fitting_options(vectorizer, encoder, 0.1, extra_bytes=500_000)


def test_a_small_model_stays_as_it_is():
    vectorizer = NgramVectorizer.from_texts(WORDS[:20])
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=4)
    assert fitting_options(vectorizer, encoder, 10) == ShrinkOptions()
    before = encoder.get_weights()
    with pytest.raises(ConfigError, match=rf"{vectorizer.num_rows} rows of 4 int8"):
        fitting_options(vectorizer, encoder, 0.01)
    np.testing.assert_array_equal(encoder.get_weights()[0], before[0])
