"""Word vectors in all formats, and what is wrong with files of them."""

from __future__ import annotations

import gzip
import pickle
import resource

import numpy as np
import pytest

from tests.baselines.files import FORMATS, VECTORS, WORDS, binary, gensim
from tf_charagram.data.readers.gensim_vectors import scan_gensim_vectors
from tf_charagram.data.readers.word2vec_binary import is_word2vec_binary
from tf_charagram.data.readers.word_vector_file import scan_vectors
from tf_charagram.errors import DataError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors"


@pytest.mark.parametrize("content", FORMATS.values(), ids=FORMATS)
def test_formats(path, content):
    path.write_bytes(content())
    words, vectors = zip(*scan_vectors(path), strict=True)
    assert list(words) == WORDS
    np.testing.assert_array_equal(np.stack(vectors), VECTORS)
    found = list(scan_vectors(path, {"dog"}))
    assert [vector is None for _, vector in found] == [True, True, True, False]
    np.testing.assert_array_equal(found[3][1], VECTORS[3])


@pytest.mark.parametrize("dim", [1, 2, 50, 300])
def test_text_and_binary_are_told_apart(dim):
    vectors = np.random.default_rng(dim).normal(size=(4, dim)).astype(np.float32)
    assert is_word2vec_binary(binary(vectors=vectors)[:1000])
    rows = (f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, vectors, strict=True))
    accented = f"4 {dim}\n{''.join(rows)}".replace("cat", "caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert not is_word2vec_binary(accented.encode()[:1000])
    assert not is_word2vec_binary(b"two words\nthe \xff\xff\xff\xff")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary()[:-9], r"is cut short at word 4 of 4\. Get the file again"),
        (binary(vectors=VECTORS * np.nan), "the vector of 'the' is not finite"),
        (binary(vectors=VECTORS + np.float32([0, 0, np.inf])), "the vector of 'the' is not finite"),
        (gensim(vectors=VECTORS[:2]), r"a vector for each of its 4 words, found an array \(2, 3\)"),
        (gensim(index_to_key=None), "expected a list of words in it, found none"),
        (gensim(vectors=None), "has no vectors in it"),
        (pickle.dumps(WORDS), "holds an object of the type list, no KeyedVectors"),
        (
            gzip.compress(b"the 1 2\n", mtime=0)[:10] + b"\xff" * 50,
            "cannot be read: .* Check the path",
        ),
        (gensim()[:-20], "cannot be read as KeyedVectors of gensim"),
    ],
)
def test_errors(path, content, message):
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(scan_vectors(path))


class TestGensim:
    def test_large_arrays_are_beside(self, path):
        path.write_bytes(gensim(vectors=None, __numpys=["vectors"]))
        with pytest.raises(
            DataError, match=r"vectors\.vectors\.npy: the vectors of vectors cannot"
        ):
            list(scan_gensim_vectors(path))
        np.save(path.with_name("vectors.vectors.npy"), VECTORS)
        np.testing.assert_array_equal([row for _, row in scan_gensim_vectors(path)], VECTORS)

    def test_no_code_runs(self, path, tmp_path):
        class Harmful:
            def __reduce__(self):
                return (open, (str(tmp_path / "harm"), "w"))

        path.write_bytes(gensim(extra=Harmful()))
        with pytest.raises(DataError, match=r"names (_?io)\.open, which word vectors do not need"):
            list(scan_gensim_vectors(path))
        assert not (tmp_path / "harm").exists()

    @pytest.mark.parametrize("name", ["numpy.loadtxt", "gensim.models.word2vec.Word2Vec"])
    def test_only_what_vectors_need(self, path, name):
        module, _, function = name.rpartition(".")
        path.write_bytes(f"\x80\x02c{module}\n{function}\n.".encode("latin-1"))
        with pytest.raises(DataError, match=rf"names {name}, which .*Where you trust it, convert"):
            list(scan_gensim_vectors(path))

    @pytest.mark.parametrize(
        "pickled",
        [
            # A place in the memory of what was read, from which the C unpickler takes its size.
            b"\x80\x02]r\xff\xff\xff\xff.",
            b"\x80\x02X\xff\xff\xff\xfftoo short",
            b"\x80\x04\x8e" + (2**60).to_bytes(8, "little") + b"too short",
            # An array of 2^40 objects.
            b"\x80\x02cnumpy\nndarray\nI1099511627776\n\x85cnumpy\ndtype\nX\x01\0\0\0O\x85R\x86R.",
            gensim(vectors=np.array([[1, "a"]], object)),
            gensim(vectors=np.array(["text"])),
        ],
    )
    def test_memory_and_types(self, path, pickled):
        path.write_bytes(pickled)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(DataError, match=r"vectors: (cannot be read as Key|is a pickle|holds )"):
            list(scan_gensim_vectors(path))
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 500_000

    def test_the_flags_of_a_type_are_not_taken(self, path):
        """NumPy would take numbers for addresses of objects."""
        state = b"(K\x03X\x01\0\0\0<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x3ft"
        raw = gensim(protocol=2)
        start = raw.index(b"(K\x03X\x01\0\0\0<")
        stop = raw.index(b"t", start) + 1
        path.write_bytes(raw[:start] + state + raw[stop:])
        np.testing.assert_array_equal([row for _, row in scan_gensim_vectors(path)], VECTORS)

    def test_numbers_that_are_not_finite(self, path):
        path.write_bytes(gensim(vectors=VECTORS.astype(float) * 1e300))
        with pytest.raises(DataError, match=r"the vector of '.*' is not finite"):
            list(scan_gensim_vectors(path))

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_file_of_gensim(self, path):
        models = pytest.importorskip("gensim.models")
        vectors = models.KeyedVectors(3)
        vectors.add_vectors(WORDS, VECTORS)
        for limit in (1, 10**6):
            vectors.save(str(path), sep_limit=limit)
            words, rows = zip(*scan_vectors(path), strict=True)
            assert list(words) == WORDS
            np.testing.assert_array_equal(np.stack(rows), VECTORS)
