"""A small model, files of lines, and what must come of them."""

from __future__ import annotations

import functools
import gzip
import json
from itertools import groupby

import numpy as np
import pytest

from tf_charagram.bulk._shards.inputs import find_inputs
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.encoders.charagram import Charagram
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Returns a model folder."""
    vectorizer = NgramVectorizer.from_texts([f"line {number}" for number in range(1000)])
    encoder = Charagram(num_rows=vectorizer.num_rows, dim=4, seed=1)
    folder = tmp_path_factory.mktemp("bulk") / "model"
    TextEmbedder(vectorizer, encoder).save(folder)
    return folder


@pytest.fixture(scope="session")
def embedders(model):
    """Returns a function that loads the model, once plain and once folded."""
    return functools.cache(functools.partial(TextEmbedder.load, model))


@pytest.fixture(autouse=True)
def loaded_once(request, monkeypatch):
    """Lets the tests share one model, with its traced functions."""
    if "model" not in request.fixturenames:
        return
    model, embedders = map(request.getfixturevalue, ("model", "embedders"))
    load = TextEmbedder.load

    def load_once(path, *, folded=False, **options):
        if str(path) == str(model) and not any(options.values()):
            return embedders(folded=folded)
        return load(path, folded=folded, **options)

    monkeypatch.setattr(TextEmbedder, "load", load_once)


@pytest.fixture
def files(tmp_path):
    """Returns three files and their lines: 25 plain, none, 12 in gzip; other breaks are no ends."""
    lines = [[f"line {number}" for number in range(25)], [], [f"gz {n}" for n in range(12)]]
    # Ray's own `read_text` breaks lines there, and drops empty ones.
    lines[2][3:7] = ["gz\u00853", "gz\u20284", "gz\x0c5", ""]
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.gz")]
    for path, texts in zip(paths, lines, strict=True):
        raw = "".join(f"{text}\n" for text in texts).encode()
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return [str(path) for path in paths], lines


@pytest.fixture
def make_job(model, files, tmp_path):
    """Returns a function that makes the job of embedding these files, ten lines a shard."""

    def make(**settings):
        inputs = tuple(find_inputs(files[0]))
        defaults = {"model": str(model), "inputs": inputs, "output": str(tmp_path / "out")}
        return EmbedJob(**{**defaults, "shard_lines": 10, **settings})

    return make


def records_of(folder):
    return [json.loads(line) for line in (folder / "shards.jsonl").read_text().splitlines()]


def check_complete(folder, model, paths, lines, is_complete=True):
    """Checks that each line of each file was embedded once, and that nothing else is there."""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["is_complete"] is is_complete
    assert list(manifest["data_files"]) == paths
    records = records_of(folder)
    names = {"manifest.json", "shards.jsonl", *(record["name"] for record in records)}
    assert {path.name for path in folder.glob("[!.]*")} == names
    embedder = TextEmbedder.load(model)
    found = dict.fromkeys(paths, 0)
    for path, shards in groupby(records, key=lambda record: record["input"]):
        texts = lines[paths.index(path)]
        for record in shards:
            assert record["first_line"] == found[path] + 1
            vectors = np.load(folder / record["name"])
            expected = embedder.encode(texts[found[path] : found[path] + record["num_lines"]])
            np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
            found[path] += len(vectors)
    assert list(found.values()) == list(map(len, lines))
