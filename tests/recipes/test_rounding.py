"""Tables rounded for texts: as a search number by number has it, and nearer than the nearest."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from recipes.rounding import count_ids, main, rounded_for_sums, rounded_for_texts
from tests.reference.joint_rounding import objective, round_for_sums
from tests.texts import words
from tf_charagram.encoders.averaging import WordAverage
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError
from tf_charagram.models._storage.stored_tables import stored_table
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = [" ".join(words(6, seed=seed)) for seed in range(200)]


def sums(num_texts=9, num_rows=6, dim=4, seed=0):
    """Returns a table, and how often each of its rows is read in each text."""
    draw = np.random.default_rng(seed)
    table = draw.normal(size=(num_rows, dim)).astype(np.float32)
    counts = draw.integers(0, 3, (num_texts, num_rows)).astype(np.float32)
    counts[:, 0] += 1
    return table, counts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("num_sweeps", [1, 2])
@pytest.mark.parametrize("strength", [0.01, 3.0])
def test_is_what_trying_all_numbers_finds(seed, num_sweeps, strength):
    table, counts = sums(seed=seed)
    rounding = rounded_for_sums(table, sparse.csr_matrix(counts), "int4", num_sweeps, strength)
    expected = round_for_sums(table, counts, 7, num_sweeps, strength)
    assert_allclose(rounding.table, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("table_dtype", ["int8", "int4"])
def test_changes_sums_less_and_is_stored_as_it_is(table_dtype):
    table, counts = sums(num_texts=60, num_rows=30, dim=16)
    rounding = rounded_for_sums(table, sparse.csr_matrix(counts), table_dtype)
    nearest = stored_table(table, table_dtype).restored(16)
    errors = [
        np.sqrt(objective(table, rounded, counts, strength=0) / len(counts))
        for rounded in (rounding.table, nearest)
    ]
    assert_allclose((rounding.error, rounding.nearest_error), errors, rtol=1e-3)
    assert rounding.error < 0.7 * rounding.nearest_error
    assert_array_equal(stored_table(rounding.table, table_dtype).restored(16), rounding.table)


def test_rows_that_no_text_has_are_rounded_to_the_nearest():
    table, counts = sums()
    counts[:, 3] = 0
    table[4] = 0
    rounded = rounded_for_sums(table, sparse.csr_matrix(counts)).table
    nearest = stored_table(table, "int4").restored(4)
    assert_array_equal(rounded[[3, 4]], nearest[[3, 4]])
    assert not np.array_equal(rounded, nearest)


def test_a_model_in_four_bits_is_nearer_to_what_it_was(tmp_path, capsys):
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    embedder = TextEmbedder(vectorizer, Charagram(num_rows=vectorizer.num_rows, dim=16))
    embedder.save(tmp_path / "whole")
    embedder.save(tmp_path / "nearest", table_dtype="int4")
    (tmp_path / "texts").write_text("\n".join(TEXTS) + "\n\n\0\n")
    texts = ["--texts", str(tmp_path / "texts")]
    assert main([str(tmp_path / "whole"), str(tmp_path / "rounded"), *texts]) == 0
    assert "int4: sums of 202 texts are off by " in capsys.readouterr().out
    before = embedder.encode(TEXTS, normalize=True)
    nearest, rounded = (
        np.linalg.norm(TextEmbedder.load(tmp_path / name).encode(TEXTS, normalize=True) - before)
        for name in ("nearest", "rounded")
    )
    assert rounded < 0.5 * nearest


def test_ids_are_counted():
    vectorizer = NgramVectorizer.from_texts(["aa", "ab"], orders=(2,))
    counts = count_ids(vectorizer, ["aa aa", "", "zz"]).toarray()
    ids = vectorizer(np.array(["aa aa"])).values.numpy()
    assert_array_equal(counts[0], np.bincount(ids, minlength=vectorizer.num_rows))
    assert counts[0].max() == 2 and not counts[1:].any()


def test_what_cannot_be_rounded():
    vectorizer = NgramVectorizer.from_texts(TEXTS)
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=4)
    with pytest.raises(ConfigError, match=r"one of int8, int4\. Received: float16"):
        rounded_for_texts(vectorizer, encoder, TEXTS, "float16")
    with pytest.raises(ConfigError, match="No text has an n-gram"):
        rounded_for_texts(vectorizer, encoder, [""])
    with pytest.raises(ConfigError, match="Received: word_average"):
        rounded_for_texts(vectorizer, WordAverage(num_rows=9, dim=4), TEXTS)
