"""Averages of word vectors, worked by hand, and where the frequencies of words are from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from research.baselines.frequencies import WordFrequencies, zipf
from research.baselines.word_average import WordVectorAverage
from research.baselines.word_tables import FastTextTable, VectorsInMemory
from tf_charagram.errors import ConfigError, DataError

WORDS = ["the", "cat", "Ann", "dog"]
VECTORS = np.array([[1, 0.25, 0], [0, 1, -0.5], [0.5, 0, 3], [-1, 2, 0.125]], np.float32)
THE, CAT, ANN, DOG = VECTORS
TEXTS = ["The cat", "the dog, the dog", "Ann", "xyz", ""]


@pytest.fixture
def table():
    return VectorsInMemory(WORDS, VECTORS)


@pytest.fixture
def file(tmp_path):
    """Returns a file of these vectors."""
    rows = (" ".join([word, *map(str, row)]) for word, row in zip(WORDS, VECTORS, strict=True))
    (tmp_path / "vectors").write_text("\n".join(["4 3", *rows, ""]))
    return tmp_path / "vectors"


class TestMean:
    @pytest.mark.parametrize("texts", [None, TEXTS], ids=["all words", "some words"])
    def test_by_hand(self, file, texts):
        """Words that the file lacks, the comma too, are no part of the mean."""
        found = WordVectorAverage.load(file, texts=texts).encode(TEXTS)
        assert found.dtype == np.float32
        zeros = np.zeros(3)
        assert_allclose(found, [(THE + CAT) / 2, (THE + DOG) / 2, ANN, zeros, zeros], rtol=1e-6)

    @pytest.mark.parametrize("name", ["v.bin", "v.kv"])
    def test_files_of_gensim(self, tmp_path, name):
        keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors(3)
        keyed_vectors.add_vectors(WORDS, VECTORS)
        if name == "v.bin":
            keyed_vectors.save_word2vec_format(str(tmp_path / name), binary=True)
        else:
            keyed_vectors.save(str(tmp_path / name))
        found = WordVectorAverage.load(tmp_path / name, texts=["dog"]).encode(["dog", "the"])
        assert_allclose(found, [DOG, np.zeros(3)])

    def test_notes(self, table):
        average = WordVectorAverage(table)
        average.encode(["the cat"])
        assert average.notes() == []
        average.encode(TEXTS)
        assert average.notes() == ["2 of 7 words have no vector: ,, xyz"]

    def test_no_texts_and_no_known_word(self, table):
        assert WordVectorAverage(table).encode([]).shape == (0, 3)
        assert_allclose(WordVectorAverage(table).encode(["", "x"]), np.zeros((2, 3)))

    def test_errors(self, table, file, tmp_path):
        with pytest.raises(ConfigError, match=r"Unknown weighting 'sff'\. Did you mean 'sif'\?"):
            WordVectorAverage(table, weighting="sff")
        with pytest.raises(
            ConfigError, match=r"`smoothing` must be above 0. Received: smoothing=0"
        ):
            WordVectorAverage(table, smoothing=0)
        with pytest.raises(DataError, match=r"cannot be read: .*Check the path"):
            WordVectorAverage.load(tmp_path / "none")
        with pytest.raises(DataError, match="words in the texts, found none among 4 words"):
            WordVectorAverage.load(file, texts=["xyz"])


class TestWeightings:
    def test_inverse_frequency_by_hand(self, table):
        """p is 3/6 of `the` and 1/6 of `cat`, so that they count twice and six times."""
        frequencies = WordFrequencies({"the": 2, "The": 1, "cat": 1, "other": 2})
        average = WordVectorAverage(table, weighting="inverse-frequency", frequencies=frequencies)
        assert_allclose(average.encode(["The cat"]), [(2 * THE + 6 * CAT) / 2], rtol=1e-6)
        # A word without a count counts as if it occurred once.
        assert_allclose(average.encode(["dog"]), [6 * DOG], rtol=1e-6)

    def test_zipf_by_hand(self, table):
        """1 + 1/2 + 1/3 + 1/4 is 25/12: `the` has p = 12/25, `dog`, the fourth, 3/25."""
        assert_allclose(zipf(np.array([1, 4]), 4), [12 / 25, 3 / 25])
        average = WordVectorAverage(table, weighting="inverse-frequency")
        assert_allclose(
            average.encode(["the dog"]), [(25 / 12 * THE + 25 / 3 * DOG) / 2], rtol=1e-5
        )

    def test_ranks_are_those_of_the_file(self, file):
        whole, part = (
            WordVectorAverage.load(file, weighting="inverse-frequency", texts=texts)
            for texts in (None, ["dog"])
        )
        assert_allclose(part.encode(["dog"]), whole.encode(["dog"]))

    def test_sif_by_hand(self, table):
        """Weights a / (a + p), then the rows without their first right singular vector."""
        frequencies = WordFrequencies({"the": 3, "cat": 1})
        average = WordVectorAverage(table, weighting="sif", frequencies=frequencies, smoothing=0.25)
        rows = np.stack([(0.25 * THE + 0.5 * CAT) / 2, 0.25 * THE, 0.5 * CAT])
        direction = np.linalg.svd(rows)[2][0]
        texts = ["the cat", "the", "cat"]
        average.fit(texts)
        assert_allclose(
            average.encode(texts), rows - np.outer(rows @ direction, direction), atol=1e-6
        )
        assert_allclose(average.encode(texts) @ direction, np.zeros(3), atol=1e-6)

    def test_sif_needs_texts(self, table):
        with pytest.raises(ConfigError, match="`fit` it on them first"):
            WordVectorAverage(table, weighting="sif").encode(["the"])


class TestFrequencies:
    @pytest.mark.parametrize(
        "content", ["the 3\ncat\t1\n\n", "the cat the\nThe\n"], ids=["counts", "corpus"]
    )
    def test_load(self, tmp_path, content):
        (tmp_path / "f").write_text(content)
        frequencies = WordFrequencies.load(tmp_path / "f")
        assert_allclose(frequencies.probabilities(["THE", "cat", "new"]), [0.75, 0.25, 0.25])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("the 0\n", "expected words that occur, found none"),
            ("the 3\n" * 20 + "cat\n", r"f:21: expected a word and its count"),
        ],
    )
    def test_errors(self, tmp_path, content, message):
        (tmp_path / "f").write_text(content)
        with pytest.raises(DataError, match=message):
            WordFrequencies.load(tmp_path / "f")


class FakeFastText:
    """A model of two words, whose vectors of others are the number of their letters."""

    def __init__(self, words):
        self.words = words

    def get_dimension(self):
        return 1

    def get_words(self, on_unicode_error):
        return self.words

    def get_word_vector(self, word):
        return np.array([100.0 if word in self.words else len(word) + word.islower() / 2])


class TestFastText:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [(["the", "cat"], [100, 100, 3.5, 3.5]), (["the", "Cat"], [100, 3.5, 3.5, 3])],
        ids=["lower case", "both"],
    )
    def test_case(self, words, expected):
        found = FastTextTable(FakeFastText(words)).look_up(["The", "cat", "dog", "Dog"])
        assert_allclose(found.vectors[:, 0], expected)
        assert found.is_known.all()
        assert found.ranks.tolist()[::3] == [1, 3]
