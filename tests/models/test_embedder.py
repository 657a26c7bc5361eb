"""Tests of `TextEmbedder`: encoding, similarity, neighbors, explanation, saving and loading."""

from __future__ import annotations

import itertools
import json
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.texts import NASTY, words
from tests.variants import some_now
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models._answers.explanation import BIAS
from tf_charagram.models._answers.vectors import unit_rows
from tf_charagram.models._storage.locations import FORMAT_VERSION
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["cat", "cats", "a cat", "dog", "hot dog", "caf\u00e9", *words(40)]
# Too many characters for exact keys of order 6, so keys are mixed.
MANY_CHARACTERS = ["".join(map(chr, range(i, i + 40))) for i in range(0x4E00, 0x5300, 40)]


def make_embedder(keys="exact", activation="linear", num_layers=1, dim=6, zero=False):
    if keys == "hash":
        vectorizer = NgramVectorizer(orders=(2, 3), hash_buckets=64, rows_per_ngram=2)
    elif keys == "mixed":
        vectorizer = NgramVectorizer.from_texts(TEXTS + MANY_CHARACTERS, orders=(2, 6))
    else:
        vectorizer = NgramVectorizer.from_texts(TEXTS)
    encoder = Charagram(
        num_rows=vectorizer.num_rows, dim=dim, activation=activation, num_layers=num_layers
    )
    draw = np.random.default_rng(5)
    for weight in encoder.weights:
        weight.assign(np.zeros(weight.shape) if zero else draw.normal(0, 0.3, weight.shape))
    return TextEmbedder(vectorizer, encoder)


@pytest.fixture(scope="module")
def embedder():
    return make_embedder()


@pytest.fixture(scope="module", params=some_now(["exact", "mixed", "hash"], "exact", "mixed"))
def any_embedder(request):
    return make_embedder(request.param, activation="tanh", num_layers=2)


class TestEncode:
    def test_list_and_generator(self, embedder):
        vectors = embedder.encode(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), embedder.dim)
        np.testing.assert_array_equal(embedder.encode(text for text in TEXTS), vectors)
        np.testing.assert_array_equal(embedder.encode(tuple(TEXTS)), vectors)
        np.testing.assert_array_equal(embedder.encode([text.encode() for text in TEXTS]), vectors)

    @pytest.mark.parametrize("kind", [np.array, tf.constant, tf.data.Dataset.from_tensor_slices])
    def test_array_tensor_and_data_set(self, embedder, kind):
        np.testing.assert_array_equal(embedder.encode(kind(TEXTS)), embedder.encode(TEXTS))
        found = embedder.neighbors("caf\u00e9", kind(TEXTS))
        assert found == embedder.neighbors("caf\u00e9", TEXTS)

    def test_called_with_a_list(self, embedder):
        vectors = embedder(TEXTS)
        np.testing.assert_array_equal(vectors, embedder(tf.constant(TEXTS)))
        ids = embedder.vectorizer(TEXTS)
        assert ids.to_list() == embedder.vectorizer(tf.constant(TEXTS)).to_list()

    @pytest.mark.parametrize("shape", [(), (1, 2)])
    def test_arrays_of_another_shape(self, embedder, shape):
        message = re.escape(f"`texts` must be texts (n,). Received: shape {shape}")
        for array in (np.full(shape, "cat"), tf.fill(shape, "cat")):
            with pytest.raises(ConfigError, match=message):
                embedder.encode(array)

    @pytest.mark.parametrize("batch_size", [None, 7])
    def test_normalize(self, embedder, batch_size):
        unit = embedder.encode(TEXTS, normalize=True, batch_size=batch_size)
        np.testing.assert_allclose(unit, unit_rows(embedder.encode(TEXTS)), atol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)

    def test_order_is_kept_over_batches_and_threads(self, embedder):
        # Threads embed batches of very different cost.
        texts = ["long " * 2_000 * (i % 7 == 0) + TEXTS[i % len(TEXTS)] for i in range(90)]
        together = embedder.encode(texts, batch_size=1000)
        for batch_size in (1, 2, 13, 90):
            vectors = embedder.encode(texts, batch_size=batch_size)
            np.testing.assert_allclose(vectors, together, rtol=0, atol=1e-6)

    @pytest.mark.skipif(bool(tf.config.list_physical_devices("GPU")), reason="reads from the CPU")
    def test_no_batch_copies_the_table_after_row_sparse_training(self):
        embedder = make_embedder()
        table = embedder.encoder.sum.table.value
        table.scatter_update(tf.IndexedSlices(tf.ones([1, embedder.dim]), [0]))
        embedder.encode(TEXTS)
        read = [np.asarray(memoryview(table.read_value())) for _ in range(2)]
        assert np.shares_memory(*read)

    def test_batches_of_a_stream(self, embedder):
        many = TEXTS * 200
        batches = list(embedder.encode_batches(iter(many)))
        assert [text for texts, _ in batches for text in texts] == many
        assert {len(texts) for texts, _ in batches[:-1]} == {4000}
        vectors = np.concatenate([vectors for _, vectors in batches])
        np.testing.assert_allclose(vectors, embedder.encode(many), rtol=0, atol=1e-6)

    def test_a_stream_is_read_only_as_far_as_needed(self, embedder):
        read = []

        def endless():
            while True:
                read.append(None)
                yield "cat"

        batches = embedder.encode_batches(endless())
        next(batches)
        batches.close()
        assert len(read) < 100_000

    def test_long_texts_make_batches_smaller(self, embedder):
        texts = ["x" * 1_500_000] * 5
        sizes = [len(batch) for batch, _ in embedder.encode_batches(texts)]
        assert sizes == [2, 2, 1]

    def test_columns_of_arrow(self, embedder):
        arrow = pytest.importorskip("pyarrow")
        expected = embedder.encode(["cat", "dog"])
        for column in (arrow.array(["cat", "dog"]), arrow.chunked_array([["cat"], ["dog"]])):
            np.testing.assert_array_equal(embedder.encode(column), expected)
        with pytest.raises(ConfigError, match=r"Row 1 is missing \(None\)"):
            embedder.encode(arrow.array(["cat", None]))

    @pytest.mark.parametrize("text", ["cat", b"cat"])
    def test_a_single_string_is_an_error(self, embedder, text):
        with pytest.raises(ConfigError, match=r"`texts` must be a list of texts.*single string"):
            embedder.encode(text)
        with pytest.raises(ConfigError, match=r"`texts` must be a list of texts.*single string"):
            embedder.encode_batches(text)

    @pytest.mark.parametrize(
        ("text", "found"),
        [(None, "missing (None)"), (float("nan"), "missing (nan)"), (["a"], "['a'] (list)")],
        ids=str,
    )
    def test_values_of_other_types(self, embedder, text, found):
        message = re.escape(f"`texts` must hold strings. Row 1 is {found}.")
        for kind in (list, iter, lambda texts: np.array([*texts, ""], object)[:2]):
            with pytest.raises(ConfigError, match=message):
                embedder.encode(kind(["cat", text]))

    def test_a_mapping_is_an_error(self, embedder):
        message = (
            r"`texts` must be a list of texts\. Received: dict\. Give one of its columns, such"
        )
        with pytest.raises(ConfigError, match=message):
            embedder.encode({"name": ["cat"]})

    def test_batch_size(self, embedder):
        with pytest.raises(ConfigError, match=r"`batch_size` must be at least 1.*batch_size=0"):
            embedder.encode(["cat"], batch_size=0)

    def test_other_texts_of_a_batch_change_nothing(self, any_embedder):
        alone = np.concatenate([any_embedder.encode([text]) for text in TEXTS])
        mixed = any_embedder.encode([*NASTY.values(), *TEXTS, "", "cat"])
        mixed = mixed[len(NASTY) : len(NASTY) + len(TEXTS)]
        np.testing.assert_allclose(mixed, alone, rtol=0, atol=1e-6)

    def test_all_calls_share_a_graph(self):
        embedder = make_embedder()
        embedder.encode(["cat"])
        embedder.encode(TEXTS, batch_size=3)
        assert embedder._embed.experimental_get_tracing_count() == 1


class TestSimilarity:
    def test_is_the_cosine(self, embedder):
        left, right = TEXTS[:10], TEXTS[10:20]
        a, b = (embedder.encode(texts).astype(np.float64) for texts in (left, right))
        expected = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        np.testing.assert_allclose(embedder.similarity(left, right), expected, atol=1e-6)
        np.testing.assert_allclose(embedder.similarity(left, left), 1, atol=1e-6)

    def test_lengths_differ(self, embedder):
        message = r"Number of left texts \(2\) does not match number of right texts \(3\)\."
        with pytest.raises(ConfigError, match=message):
            embedder.similarity(["a", "b"], ["a", "b", "c"])

    def test_a_zero_vector_gives_zero(self):
        embedder = make_embedder(zero=True)
        assert embedder.similarity(["cat", ""], ["cat", "dog"]).tolist() == [0, 0]
        assert embedder.similarity_matrix(["cat", ""]).tolist() == [[0, 0], [0, 0]]
        assert not embedder.encode(["cat"], normalize=True).any()
        assert all(found.cosine == 0 for found in embedder.neighbors("cat", TEXTS))

    def test_matrix(self, embedder):
        left, right = TEXTS[:3], TEXTS[10:20]
        matrix = embedder.similarity_matrix(left, right)
        assert (matrix.dtype, matrix.shape) == (np.float32, (3, 10))
        for row, text in zip(matrix, left, strict=True):
            np.testing.assert_allclose(row, embedder.similarity([text] * 10, right), atol=1e-6)
        np.testing.assert_array_equal(
            embedder.similarity_matrix(left), embedder.similarity_matrix(left, left)
        )
        assert embedder.similarity_matrix([], right).shape == (0, 10)

    def test_never_above_one(self):
        """Products of unit vectors in float32 are up to 1.0000002."""
        embedder = make_embedder(dim=70)
        texts = words(300)
        vectors = embedder.encode(texts, normalize=True)
        assert np.sum(vectors * vectors, axis=1).max() > 1
        assert embedder.similarity(texts, texts).max() == 1
        assert embedder.similarity_matrix(texts).max() == 1
        assert max(found[0].cosine for found in embedder.neighbors(texts, texts, 1)) == 1
        served = embedder.signatures()["similarity"](tf.constant(texts), tf.constant(texts))
        assert served["cosine"].numpy().max() == 1


class TestNeighbors:
    def test_exact(self, embedder):
        vectors = embedder.encode(TEXTS, normalize=True)
        cosines = vectors @ embedder.encode(["cast"], normalize=True)[0]
        best = np.argsort(-cosines, kind="stable")
        for k in (1, 5, len(TEXTS), len(TEXTS) + 10):
            found = embedder.neighbors("cast", TEXTS, k)
            assert [f.row for f in found] == best[:k].tolist()
            assert [f.text for f in found] == [TEXTS[i] for i in best[:k]]
            values = [f.cosine for f in found]
            np.testing.assert_allclose(values, cosines[best[:k]], atol=1e-6)

    def test_many_queries(self, embedder):
        queries = ["cast", "cat", b"dog", "cat"]
        found = embedder.neighbors(iter(queries), TEXTS, 5)
        for query, nearest in zip(queries, found, strict=True):
            alone = embedder.neighbors(query, TEXTS, 5)
            assert [f.row for f in nearest] == [f.row for f in alone]
            cosines = [f.cosine for f in alone]
            np.testing.assert_allclose([f.cosine for f in nearest], cosines, atol=1e-6)
        assert embedder.neighbors([], TEXTS) == []

    def test_a_single_string_is_an_error(self, embedder):
        with pytest.raises(ConfigError, match=r"`texts` must be a list of texts"):
            embedder.neighbors("cat", "cats")

    def test_empty_vocabulary(self, embedder):
        assert embedder.neighbors("cat", []) == []
        assert embedder.neighbors(["cat", "dog"], []) == [[], []]

    @pytest.mark.parametrize(("k", "rule"), [(0, "at least 1"), (1.5, "an integer")])
    def test_k(self, embedder, k, rule):
        with pytest.raises(ConfigError, match=f"`k` must be {rule}. Received: k={k}"):
            embedder.neighbors("cat", TEXTS, k)


class TestExplain:
    @pytest.mark.parametrize(
        ("keys", "activation", "num_layers"),
        some_now(
            [*itertools.product(["exact", "mixed", "hash"], ["linear", "tanh", "relu"], [1, 2])],
            ("exact", "linear", 1), ("mixed", "relu", 1), ("hash", "tanh", 2),
        ),
    )  # fmt: skip
    def test_contributions_sum_to_the_cosine(self, keys, activation, num_layers):
        embedder = make_embedder(keys, activation, num_layers)
        for left, right in [("cats", "cat"), ("hot dog", "a dog"), ("cat", "\u05d0"), ("", "cat")]:
            explanation = embedder.explain(left, right)
            cosine = embedder.similarity([left], [right])[0]
            shape = len(explanation.left), len(explanation.right)
            assert explanation.contributions.shape == shape
            assert explanation.left[-1] == explanation.right[-1] == BIAS
            np.testing.assert_allclose(explanation.contributions.sum(), cosine, atol=2e-5)
            np.testing.assert_allclose(explanation.cosine, cosine, atol=2e-5)

    def test_linear_contributions_are_products(self):
        """Contributions are dot products of n-gram vectors, divided by both lengths."""
        embedder = make_embedder()
        names = embedder.vectorizer.vocabulary.ngrams()
        table = embedder.encoder.sum.table.numpy().astype(np.float64)
        bias = embedder.encoder.bias.numpy().astype(np.float64)

        def vectors(text):
            padded = f" {text} "
            grams = [
                padded[start : start + n] for start in range(len(padded)) for n in (2, 3, 4)
                if start + n <= len(padded)
            ]  # fmt: skip
            known = [gram for gram in grams if gram in names]
            return [*known, BIAS], np.array([*(table[names.index(gram)] for gram in known), bias])

        (left, a), (right, b) = vectors("cats"), vectors("cat")
        scale = np.linalg.norm(a.sum(0)) * np.linalg.norm(b.sum(0))
        found = embedder.explain("cats", "cat")
        assert (found.left, found.right) == (left, right)
        np.testing.assert_allclose(found.contributions, a @ b.T / scale, atol=1e-6)

    def test_top_sums_equal_pairs(self):
        explanation = make_embedder().explain("cat cat", "cat")
        top = explanation.top(1000)
        assert len({pair[:2] for pair in top}) == len(top)
        values = [value for _, _, value in top]
        assert values == sorted(values, reverse=True)
        np.testing.assert_allclose(sum(values), explanation.cosine, atol=1e-9)
        assert explanation.top(3) == top[:3]

    def test_zero_vectors(self):
        explanation = make_embedder(zero=True).explain("cat", "dog")
        assert explanation.cosine == 0
        assert not explanation.contributions.any()

    def test_any_text(self, any_embedder):
        for name in NASTY.keys() - {"long", "long_word", "long_broken"}:
            explanation = any_embedder.explain(NASTY[name], "cat")
            assert np.isfinite(explanation.contributions).all()

    def test_a_folded_model(self):
        with pytest.raises(ConfigError, match="Use the model that is not folded"):
            make_embedder().folded().explain("cat", "cats")

    def test_another_encoder(self):
        embedder = make_embedder()
        embedder.encoder = embedder.vectorizer
        with pytest.raises(ConfigError, match="Only charagram encoders can be explained"):
            embedder.explain("cat", "dog")


def test_run_folder_or_model_folder(trained):
    run, model = (TextEmbedder.load(trained.folder / part) for part in ("", "model"))
    np.testing.assert_array_equal(run.encode(TEXTS), model.encode(TEXTS))


@pytest.fixture
def saved(tmp_path, embedder):
    embedder.save(tmp_path / "folder")
    return tmp_path / "folder"


class TestLoadErrors:
    @pytest.mark.parametrize("name", ["nothing", "file", "folder"])
    def test_not_a_model_folder(self, tmp_path, name):
        (tmp_path / "file").write_text("x")
        (tmp_path / "folder").mkdir()
        message = rf"{name} is not a model folder: it has no config\.json\. Give a run folder or"
        with pytest.raises(RunError, match=message):
            TextEmbedder.load(tmp_path / name)

    def test_a_run_without_a_model(self, trained, tmp_path):
        (tmp_path / "config.json").write_bytes((trained.folder / "config.json").read_bytes())
        with pytest.raises(RunError, match=r"has no model yet.*--resume"):
            TextEmbedder.load(tmp_path)

    def test_newer_format(self, saved):
        config = json.loads((saved / "config.json").read_text())
        config |= {"format_version": FORMAT_VERSION + 1, "tf_charagram": "9.8.7"}
        (saved / "config.json").write_text(json.dumps(config))
        message = (
            rf"format version {FORMAT_VERSION + 1}, written by tf-charagram 9\.8\.7.*"
            rf"reads up to {FORMAT_VERSION}.*Install a newer tf-charagram"
        )
        with pytest.raises(RunError, match=message):
            TextEmbedder.load(saved)

    @pytest.mark.parametrize("name", ["weights.npz", "vocabulary.npz"])
    def test_damaged_file(self, saved, name):
        whole = (saved / name).read_bytes()
        middle = len(whole) // 2
        changed = whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]
        for damaged in (b"", whole[:200], whole[:-1], changed):
            (saved / name).write_bytes(damaged)
            with pytest.raises(RunError, match=r"is damaged: .*Train again, or copy it again"):
                TextEmbedder.load(saved)
