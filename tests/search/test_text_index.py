"""`TextIndex`: exact rankings, equal texts, adding, saving, damaged folders."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest

from tests.reference import search as reference
from tests.search.conftest import TEXTS
from tests.texts import NASTY, words
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.search import TextIndex, TextScorer
from tf_charagram.search.scoring import LONG, SINGLE
from tf_charagram.search.statistics import TextStatistics
from tf_charagram.search.text_index import SETTINGS
from tf_charagram.text._spelling.dictionary import Dictionary

QUERIES = ["cat 3", "dogedly 4", "hoarse 1 horse", "byrd", "zzz", ""]


@pytest.fixture(scope="module")
def index(embedder):
    return TextIndex([*TEXTS, *TEXTS[:3]], embedder)


@pytest.fixture(scope="module")
def saved(index, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "index"
    index.save(folder)
    return folder


def rows(hits):
    return [hit.row for hit in hits]


@pytest.mark.parametrize("has_model", [False, True])
def test_equals_comparing_all_pairs(embedder, has_model):
    texts = TEXTS[::13]
    index = TextIndex(texts, embedder if has_model else None)
    for query, hits in zip(QUERIES, index.search(QUERIES, k=99), strict=True):
        cosines = embedder.similarity([query] * len(texts), texts).tolist()
        scores = [
            reference.score(query, text, texts, cosine if has_model else None, LONG, SINGLE)
            for text, cosine in zip(texts, cosines, strict=True)
        ]
        best = sorted(range(len(texts)), key=lambda row: (-round(scores[row], 5), row))
        # Without vectors, candidates share n-grams.
        known = [row for row in best if scores[row] > 0 and (has_model or rows(hits).count(row))]
        assert rows(hits)[:5] == known[:5] and sorted(rows(hits)) == sorted(known)
        assert has_model or not hits or rows(hits)[0] == best[0]
        np.testing.assert_allclose(
            [hit.score for hit in hits], [scores[row] for row in known], atol=1e-5
        )
        assert all(hit.text == texts[hit.row] for hit in hits)


def test_queries_and_limits(index):
    assert index.search([]) == [] and index.search("") == [] and len(index) == len(TEXTS) + 3
    hits = index.search("cat 3")
    assert index.search(["cat 3", b"cat 3"]) == [hits, hits] and len(hits) == 10
    assert index.search("cat 3", k=4) == hits[:4]
    found = rows(index.search("cat 3", k=10_000))
    assert 100 < len(found) == len({*found}) <= len(index)
    best = index.search("cat 3", min_score=hits[2].score)
    assert best == hits[: len(best)] and len(best) >= 3
    found = index.search(list(NASTY.values()))
    assert all(0 < hit.score <= 1 for hits in found for hit in hits)
    for k in (0, -1, 2.5):
        with pytest.raises(ConfigError, match=rf"`k` must be .*Received: k={k}"):
            index.search("cat", k=k)
    for score in (-0.1, 1.1, float("nan")):
        with pytest.raises(ConfigError, match=rf"`min_score` must be in \[0, 1\].* {score}"):
            index.search("cat", min_score=score)
    with pytest.raises(ConfigError, match="`queries`"):
        index.search(["cat", None])
    with pytest.raises(ConfigError, match=r"`texts` must be a list of texts.* single string"):
        TextIndex("cat", None)


def test_of_equal_scores_the_same_text_comes_first_then_the_lower_row(index):
    assert rows(index.search(TEXTS[1], k=2)) == [1, len(TEXTS) + 1]
    forms = TextIndex(["Cat", "dog", "cat", "CAT", "Cat", "c\u00e1t"], None)
    assert rows(forms.search("cat")) == [2, 0, 3, 4, 5]
    assert rows(forms.search("cat", k=3)) == [2, 0, 3]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("is_one_text", [False, True])
def test_equal_vectors_hide_no_text(embedder, seed, is_one_text):
    """The model knows none of these letters, so 500 texts have one vector."""
    draw = np.random.default_rng(seed)
    codes = draw.choice(np.arange(0x4E00, 0x5E00), (500, 2), replace=False)
    equal = ["\u4e00"] * 500 if is_one_text else ["".join(map(chr, pair)) for pair in codes]
    texts = draw.permutation([*equal, *words(100, seed)]).tolist()
    index = TextIndex(texts, embedder)
    vectors = embedder.encode(equal)
    assert np.ptp(vectors, axis=0).max() < 1e-6
    assert [hits[0].text for hits in index.search(texts, k=1)] == texts


def test_a_text_whose_ngrams_are_all_frequent():
    texts = [*(f"item {number}" for number in range(6000)), "item"]
    assert TextIndex(texts, None).search("item", k=1)[0].row == 6000


@pytest.mark.parametrize("has_model", [False, True])
def test_adding_is_building_again(embedder, has_model):
    model = embedder if has_model else None
    index = TextIndex([], model)
    assert index.search("cat") == []
    for start in range(0, 120, 40):
        index.add([*TEXTS[start : start + 60], b"new"])
    index.add([])
    again = TextIndex(index.texts, model)
    for found, expected in zip(index.search(QUERIES), again.search(QUERIES), strict=True):
        assert rows(found) == rows(expected)
        np.testing.assert_allclose(
            *([h.score for h in hits] for hits in (found, expected)), atol=1e-6
        )


def test_few_texts_are_added_without_counting_again(tmp_path):
    index = TextIndex([f"{word} street {number}" for number, word in enumerate(words(60, 3))], None)
    statistics = index.scorer.statistics
    before = index.search("street 7")
    index.add(["zebra square", "zebra square"])
    assert index.scorer.statistics is statistics
    assert index.search("street 7") == before
    assert rows(index.search("zebar square", k=2)) == [60, 61]
    # None of their n-grams were counted.
    index.add(["\u03b1\u03b2\u03b3"])
    assert index.scorer.statistics.num_texts == 63
    assert rows(index.search("\u03b1\u03b2\u03b4", k=1)) == [62]
    index.add(["quartz road"])
    index.save(tmp_path / "index")
    again = TextIndex.load(tmp_path / "index", None)
    assert again.search("quarz road") == index.search("quarz road")
    for grown in (index, again):
        grown.add([f"lane {number}" for number in range(7)])
        assert grown.scorer.statistics.num_texts == 71


@pytest.mark.parametrize("num_others", [5, 500])
def test_counts_of_another_list_are_kept(num_others, tmp_path):
    streets = [f"{word} street" for word in words(50, 3)]
    others = TextStatistics.of_texts(words(num_others, 4))
    index = TextIndex(streets, None, statistics=others)
    index.add(["zebra square"])
    index.save(tmp_path / "index")
    for grown in (index, TextIndex.load(tmp_path / "index", None)):
        grown.add(["quartz square"])
        assert grown.scorer.statistics.num_texts == num_others
        grown.add(streets[:10])
        # Only added texts are counted as well.
        assert grown.scorer.statistics.num_texts == num_others + 12


def learned(model):
    scorer = TextScorer(["other", "words"], model)
    scorer.learn(TEXTS[:9], [*TEXTS[:5], *TEXTS[-4:]], [1] * 5 + [0] * 4)
    return scorer


@pytest.mark.parametrize("options", [
    {}, {"lexical": False}, {"model": None}, {"scorer": True, "model": "english"}, {"texts": []},
], ids=str)  # fmt: skip
def test_loading(embedder, options, tmp_path):
    options = {"texts": ["\0", "a\ud800", "", *TEXTS[::9]], "model": embedder} | options
    scorer = learned(embedder) if options.get("scorer") else None
    index = TextIndex(**options | {"scorer": scorer})
    index.save(tmp_path / "index")
    loaded = TextIndex.load(tmp_path / "index", embedder)
    assert loaded.texts == index.texts
    assert loaded.search(QUERIES) == index.search(QUERIES)
    loaded.add(["cat horse"])
    assert rows(loaded.search("cat horse", k=1)) == [len(index)]
    loaded.save(tmp_path / "index")
    again = TextIndex.load(tmp_path / "index", embedder)
    assert again.search(QUERIES) == loaded.search(QUERIES)
    # Only the folder of the index is replaced.
    with pytest.raises(RunError, match="index exists"):
        TextIndex(["cat"], None).save(tmp_path / "index")


def test_an_interrupted_save_loses_nothing(tmp_path, monkeypatch):
    index = TextIndex(TEXTS, None)
    index.save(tmp_path / "index")
    index.add(["cat horse"])
    with monkeypatch.context() as patch, pytest.raises(RunError, match="Cannot write"):
        patch.setattr(TextStatistics, "save", Mock(side_effect=OSError("no room")))
        index.save(tmp_path / "index")
    assert TextIndex.load(tmp_path / "index").texts == TEXTS
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_learned_scorer_counts_words_in_the_texts(embedder):
    scorer = learned(embedder)
    before = scorer.score(QUERIES, QUERIES[::-1])
    index = TextIndex(TEXTS, scorer=scorer)
    index.add(["new"])
    np.testing.assert_array_equal(scorer.score(QUERIES, QUERIES[::-1]), before)
    assert index.scorer.settings() == scorer.settings()


@pytest.mark.parametrize("content", [b"[]", b"{}", b"{", b'{"scorer": {}, "sha256": []}'])
def test_damaged_settings(saved, model, tmp_path, content):
    folder = shutil.copytree(saved, tmp_path / "index")
    (folder / SETTINGS).write_bytes(content)
    with pytest.raises(RunError, match=r"index is damaged: .* Build the index again\."):
        TextIndex.load(folder, model)


@pytest.mark.parametrize("name", ["texts.json", "vectors.npy"])
def test_damaged_files(saved, model, tmp_path, name):
    folder = shutil.copytree(saved, tmp_path / "index")
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RunError, match=rf"index is damaged: {name} has another checksum"):
        TextIndex.load(folder, model)
    (folder / name).unlink()
    with pytest.raises(RunError, match=rf"index is damaged: .*{name}"):
        TextIndex.load(folder, model)


def header(shape, kind="<f4"):
    """Returns an `.npy` file that announces an array, without its bytes."""
    file = io.BytesIO()
    announced = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, announced)
    return file.getvalue()


def npy(vectors):
    file = io.BytesIO()
    np.save(file, vectors, allow_pickle=True)
    return file.getvalue()


def scorer(**settings):
    plain = {"lexical": True, "learned": None, "own_words": {}, "word_counts": {}}
    return json.dumps({**plain, **settings})


def hostile_files(saved):
    """Returns files with another content, and a part of the error message."""
    vectors = np.load(saved / "vectors.npy")
    texts = json.loads((saved / "texts.json").read_text())
    damaged = {value: vectors.copy() for value in (np.nan, np.inf, 1e30)}
    for value, array in damaged.items():
        array[1, 2] = value
    return [
        *[("vectors.npy", npy(array), "unit length") for array in damaged.values()],
        ("vectors.npy", npy(vectors[1:]), "one per distinct text"),
        ("vectors.npy", npy(vectors[:, 0]), "one per distinct text"),
        ("vectors.npy", npy(vectors.astype("f8")), "one per distinct text"),
        ("vectors.npy", npy(vectors.astype(int)), "expected numbers"),
        ("vectors.npy", npy(vectors.astype(object)), "expected numbers"),
        ("vectors.npy", npy(vectors[..., np.newaxis]), "one per distinct text"),
        ("vectors.npy", header((10**9, 350)), "announces 1,400,000,000,000 bytes and has 0"),
        ("vectors.npy", header((-1, 5)), "announces -20 bytes and has 0"),
        ("vectors.npy", b"", "index is damaged"),
        ("vectors.npy", b"\x93NUMPY\x01\x00\xff\xff{", "index is damaged"),
        ("vectors.npy", "/dev/zero", "not a regular file"),
        ("texts.json", "/dev/zero", "not a regular file"),
        ("texts.json", json.dumps([*texts, "more"]).encode(), "one per distinct text"),
        ("texts.json", json.dumps([*texts[1:], None]).encode(), "not a list of texts"),
        ("texts.json", json.dumps(dict.fromkeys(texts)).encode(), "not a list of texts"),
        ("texts.json", json.dumps("".join(texts)).encode(), "not a list of texts"),
        ("texts.json", b"[" * 100_000, "nested too deep"),
        ("texts.json", b"\xff", "index is damaged"),
        *[
            (SETTINGS, scorer(**settings), message)
            for settings, message in [
                ({"lexical": "yes"}, "`lexical` must be True or False"),
                ({"lexical": 1}, "`lexical` must be True or False"),
                ({"learned": [1.0]}, "11 finite weights"),
                ({"learned": [float("nan")] * 11}, "11 finite weights"),
                ({"learned": [[0.0] * 11]}, "11 finite weights"),
                ({"learned": [10**400] * 11}, "index is damaged"),
                ({"learned": "x"}, "index is damaged"),
                ({"learned": {"a": 1}}, "index is damaged"),
                ({"own_words": "/dev/zero"}, "index is damaged"),
                ({"own_words": {"a": 0}}, "index is damaged"),
                ({"own_words": {"a": None}}, "index is damaged"),
                ({"own_words": {"1": 1}}, "at least one word of letters"),
                ({"word_counts": [1]}, "index is damaged"),
                ({"word_counts": {"the": "often"}}, "index is damaged"),
            ]
        ],
        (SETTINGS, "[]", "index is damaged"),
        (SETTINGS, '"x"', "index is damaged"),
    ]


def test_indexes_of_strangers(saved, model, tmp_path):
    """The checksums are right, because who damages a file on purpose changes them, too."""
    for number, (name, content, message) in enumerate(hostile_files(saved)):
        folder = shutil.copytree(saved, tmp_path / str(number) / "index")
        settings = json.loads((folder / SETTINGS).read_text())
        if name == SETTINGS:
            settings["scorer"] = json.loads(content)
        elif isinstance(content, str):
            (folder / name).unlink()
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)
            settings["sha256"][name] = hashlib.sha256(content).hexdigest()
        (folder / SETTINGS).write_text(json.dumps(settings))
        with pytest.raises(RunError, match="index is damaged: ") as error:
            TextIndex.load(folder, model)
        assert message in str(error.value)


@pytest.mark.parametrize("number", [-1, 10**9, "1", None])
def test_impossible_number_of_counted_texts(saved, model, number, tmp_path):
    folder = shutil.copytree(saved, tmp_path / "index")
    settings = json.loads((folder / SETTINGS).read_text())
    (folder / SETTINGS).write_text(json.dumps({**settings, "num_counted": number}))
    with pytest.raises(RunError, match=f"is damaged: `num_counted` is {number!r}"):
        TextIndex.load(folder, model)


def test_other_models_and_folders(saved, other_model, tmp_path):
    for model in (other_model, "english"):
        with pytest.raises(RunError, match=r"was built with another model than .*Give that model"):
            TextIndex.load(saved, model)
    with pytest.raises(RunError, match=r"is not an index: it has no index\.json"):
        TextIndex.load(tmp_path)
    with pytest.raises(RunError, match="nothing is not a model folder"):
        TextIndex.load(saved, tmp_path / "nothing")
    assert json.loads((saved / SETTINGS).read_text())["scorer"] == {
        "lexical": True,
        "learned": None,
        "own_words": {},
        "word_counts": {},
    }


def test_frequent_words_are_right(tmp_path):
    pytest.importorskip("tensorflow")
    from tf_charagram import NgramVectorizer, TextEmbedder
    from tf_charagram.encoders.charagram import Charagram

    known = Dictionary({"line": 900, "time": 900, "password": 90, "with": 9000})
    vectorizer = NgramVectorizer(hash_buckets=1000, dictionary=known)
    model = tmp_path / "model"
    TextEmbedder(vectorizer, Charagram(num_rows=1000, dim=12)).save(model)
    texts = [f"linq with {number}" for number in range(20)]
    index = TextIndex([*texts, "a line with pasword"], model)
    assert index.scorer.embedder.read_as(["linq pasword"]) == ["linq password"]
    # Vectors of the first texts stay, so the words do.
    index.add(f"timex with {number}" for number in range(20))
    index.save(tmp_path / "index")
    loaded = TextIndex.load(tmp_path / "index", model)
    assert loaded.scorer.settings() == index.scorer.settings()
    assert loaded.scorer.settings()["word_counts"]["with"] == 21
    assert loaded.scorer.embedder.read_as(["linq timex"]) == ["linq time"]
    queries = ["linqq", "timex", "line"]
    assert loaded.search(queries) == index.search(queries)
    others = TextIndex(["line"], scorer=loaded.scorer)
    assert others.scorer.settings() == index.scorer.settings()


@pytest.mark.parametrize("has_model", [False, True])
def test_pickled(embedder, has_model):
    index = TextIndex(TEXTS, embedder if has_model else None)
    loaded = pickle.loads(pickle.dumps(index))
    assert loaded.search(TEXTS, k=2) == index.search(TEXTS, k=2)
    scorer = pickle.loads(pickle.dumps(index.scorer))
    np.testing.assert_array_equal(
        scorer.score(TEXTS, TEXTS[::-1]), index.scorer.score(TEXTS, TEXTS[::-1])
    )


def test_searched_while_texts_are_added():
    index = TextIndex(["text 0"], None)

    def search(_):
        hits = index.search(["text 3", "nothing"], k=5)
        return all(hit.text == index.texts[hit.row] for found in hits for hit in found)

    with ThreadPoolExecutor(3) as pool:
        searches = pool.map(search, range(60))
        for number in range(1, 20):
            index.add([f"text {number}"])
        assert all(searches)
    assert index.search("text 3", k=1)[0].row == 3


def test_a_model_is_needed_for_vectors(saved):
    with pytest.raises(ConfigError, match=r"was built with a model.*Give `model`"):
        TextIndex.load(saved, model=None)
