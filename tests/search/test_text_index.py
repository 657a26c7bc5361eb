"""Tests of `TextIndex`: agreement with exact search, folders, errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.search.conftest import TEXTS
from tf_charagram.errors import ConfigError, RunError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.search.text_index import TextIndex

pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def index(model):
    return TextIndex.build(model, TEXTS)


@pytest.fixture
def saved(index, tmp_path):
    index.save(tmp_path / "index")
    return tmp_path / "index"


class TestSearch:
    @pytest.mark.parametrize("k", [1, 10, len(TEXTS) + 1])
    def test_agrees_with_exact_search(self, index, model, k):
        embedder = TextEmbedder.load(model)
        num_found = num_expected = 0
        for query in [*TEXTS[::40], "dogg", "kat 3"]:
            expected = {n.text: n.cosine for n in embedder.neighbors(query, TEXTS, k)}
            found = index.neighbors(query, k)
            cosines = [neighbor.cosine for neighbor in found]
            assert cosines == sorted(cosines, reverse=True)
            others = index.neighbors(query, k, include_query=False)
            assert query not in {neighbor.text for neighbor in others}
            assert len(found) == len(expected)
            num_expected += len(expected)
            for text, cosine, row in found:
                assert index.texts[row] == text
                num_found += text in expected
                if text in expected:
                    assert cosine == pytest.approx(expected[text], abs=1e-5)
        assert num_found >= (0.95 if k < 100 else 1) * num_expected

    def test_queries_without_ngrams(self, index):
        assert all(np.isfinite(found.cosine) for found in index.neighbors("", 5))

    def test_bad_values(self, index, model):
        with pytest.raises(ConfigError, match=r"`k` must be at least 1\. Received: k=0"):
            index.neighbors("cat", 0)
        with pytest.raises(ConfigError, match=r"There is no text to index."):
            TextIndex.build(model, [])
        with pytest.raises(ConfigError, match=r"`texts` must be a list of texts.* single string"):
            TextIndex.build(model, "cat")

    def test_bytes_and_repeated_texts(self, model, tmp_path):
        index = TextIndex.build(model, [b"cat", "dog", "cat"])
        assert index.texts == ["cat", "dog"]
        assert [found.text for found in index.neighbors(b"cat", 5)] == ["cat", "dog"]
        assert [found.text for found in index.neighbors(b"cat", 5, include_query=False)] == ["dog"]
        index.save(tmp_path / "index")
        assert TextIndex.load(tmp_path / "index", model).texts == ["cat", "dog"]

    @pytest.mark.parametrize("show_progress", [True, False])
    def test_progress_on_a_terminal(self, model, capsys, monkeypatch, show_progress):
        TextIndex.build(model, ["cat", "dog"], show_progress=show_progress)
        assert capsys.readouterr() == ("", "")
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        TextIndex.build(model, ["cat", "dog"], show_progress=show_progress)
        streams = capsys.readouterr()
        assert ("2 texts" in streams.err and "100%" in streams.err) == show_progress
        assert not streams.out


class TestFolder:
    def test_round_trip(self, index, saved, model):
        loaded = TextIndex.load(saved, model)
        assert loaded.texts == TEXTS
        for query in ("cat 7", "birds"):
            expected, found = index.neighbors(query, 9), loaded.neighbors(query, 9)
            assert [n.text for n in found] == [n.text for n in expected]

    def test_any_text(self, model, tmp_path):
        texts = ["two\nlines", "cr\r", "\udc80", "\N{PILE OF POO}"]
        TextIndex.build(model, texts).save(tmp_path / "index")
        assert TextIndex.load(tmp_path / "index", model).texts == texts

    def test_another_model(self, saved, other_model):
        with pytest.raises(RunError, match=r"was built with another model than .*other"):
            TextIndex.load(saved, other_model)

    @pytest.mark.parametrize("name", ["graph.faiss", "texts.json"])
    def test_cut_short_changed_or_missing(self, saved, model, name):
        raw = (saved / name).read_bytes()
        for content in (raw[: len(raw) // 2], raw[:-20] + bytes([raw[-20] ^ 1]) + raw[-19:]):
            (saved / name).write_bytes(content)
            with pytest.raises(RunError, match=f"is damaged: {name} has another .* Build it again"):
                TextIndex.load(saved, model)
        (saved / name).unlink()
        with pytest.raises(RunError, match=rf"is damaged: .*No such file.*{name}.* Build it again"):
            TextIndex.load(saved, model)

    @pytest.mark.parametrize("raw", [b"", b"[]", b'{"sha256": {}}'])
    def test_damaged_settings(self, saved, model, raw):
        (saved / "index.json").write_bytes(raw)
        with pytest.raises(RunError, match=r"index is damaged: .* Build it again"):
            TextIndex.load(saved, model)

    def test_no_index(self, model, tmp_path):
        with pytest.raises(RunError, match=r"is not an index: it has no index.json"):
            TextIndex.load(tmp_path / "nothing", model)

    def test_existing_folder_is_kept(self, index, tmp_path):
        (tmp_path / "mine").write_text("text")
        with pytest.raises(RunError, match=r"exists. Delete it, or give another folder."):
            index.save(tmp_path / "mine")
        assert (tmp_path / "mine").read_text() == "text"

    @pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), RuntimeError("x")])
    def test_failed_save_leaves_nothing(self, index, tmp_path, monkeypatch, problem):
        def fail(*arguments):
            raise problem

        monkeypatch.setattr("faiss.write_index", fail)
        with pytest.raises(RunError, match=r"Cannot write .*index: "):
            index.save(tmp_path / "index")
        assert not list(tmp_path.iterdir())


def test_without_faiss(model, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "faiss", None)
    message = r"faiss cannot be imported .*pip install 'tf-charagram\[search\]'"
    with pytest.raises(ConfigError, match=message):
        TextIndex.build(model, TEXTS)
    with pytest.raises(ConfigError, match=message):
        TextIndex.load(tmp_path, model)
