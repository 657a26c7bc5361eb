"""Model folders made to do harm: nothing runs, nothing is written, memory stays bounded.

Each case changes a saved model, and loading it must be an error that names the folder. Changes that
nobody thought of are for `tests.campaigns.fuzz`.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.models.answers import parts
from tests.models.hostile import code, edit, edit_arrays, header, pickled
from tf_charagram.errors import RunError
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.models.registry import load_any

CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.npz", "weights.npz"
TABLE = "ngrams/table"
MORE_BYTES = 400 << 20


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Returns a folder of saved models."""
    folder = tmp_path_factory.mktemp("saved")
    TextEmbedder(*parts(dim=4)).save(folder / "ngrams")
    TextEmbedder(*parts("cse")).save(folder / "words")
    return folder


@pytest.fixture
def model(saved, tmp_path):
    """Returns a copy of the model of n-grams, to be changed."""
    return shutil.copytree(saved / "ngrams", tmp_path / "outside" / "hostile")


@pytest.fixture
def words(saved, tmp_path):
    """Returns a copy of the model of words."""
    return shutil.copytree(saved / "words", tmp_path / "outside" / "hostile")


@pytest.fixture
def little_memory():
    """Lets this process have little more memory than it has."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def set_encoder(**settings):
    return lambda config: config["encoder"]["config"].update(settings)


def set_vectorizer(**settings):
    return lambda config: config["vectorizer"].update(settings)


def assert_refused(model, message):
    """Loads a folder, which must be an error, and leave everything as it was."""
    before = listing(model.parent.parent)
    with pytest.raises(RunError, match=message) as caught:
        load_any(model)
    assert "hostile" in str(caught.value)
    assert len(str(caught.value)) < 2000
    assert listing(model.parent.parent) == before


def listing(folder):
    return sorted((str(path), path.lstat().st_mtime_ns) for path in folder.rglob("*"))


CONFIGS = {
    "lists": ("[" * 1_000_000, "config.json is damaged.*nested too deep"),
    "objects": ('{"a":' * 1_000_000, "config.json is damaged.*nested too deep"),
    "a list": ("[]", "config.json is damaged"),
    "NUL": ("\0" * 1000, "config.json is damaged"),
}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.usefixtures("little_memory")
def test_config_that_is_none(model, name):
    text, message = CONFIGS[name]
    (model / CONFIG).write_text(text)
    assert_refused(model, message)


SETTINGS = {
    "too large a table": (set_encoder(num_rows=2**31 - 1), r"'ngrams/table' is .* is expected"),
    "too wide a table": (set_encoder(dim=2**31 - 1), r"'ngrams/table' is .* is expected"),
    "more than an integer": (set_encoder(num_rows=2**63), "`num_rows` .* wrong type"),
    "negative": (set_encoder(num_rows=-5), "`num_rows` must be at least 1"),
    "infinite": (set_encoder(num_rows=float("inf")), "`num_rows` .* wrong type"),
    "a text": (set_encoder(dim="4"), "`dim` .* wrong type"),
    "yes": (set_encoder(dim=True), "`dim` .* wrong type"),
    "unknown": (set_encoder(callback="os.system"), "is damaged"),
    "function": (set_encoder(activation=code("canary")), "`activation` .* wrong type"),
    "class": (set_encoder(dtype={"module": "os", "class_name": "system", "config": "true"}),
              "`dtype` must be one of"),
    "lambda": (set_encoder(dtype=code("canary")), "`dtype` must be one of"),
    "layer": (set_vectorizer(dtype={"module": "keras.layers", "class_name": "Lambda",
                                    "config": {"function": code("canary")}}), "`dtype` must be"),
    "other type": (set_encoder(dtype="float64"), "`dtype` must be float32"),
    "no name": (lambda config: config["encoder"].pop("name"), "is damaged: 'name'"),
    "module": (lambda config: config["encoder"].update(name="os:system"), "Unknown encoder"),
    "other encoder": (lambda config: config["encoder"].update(name="cse"), "is damaged"),
    "other kind": (lambda config: config.update(kind="../../x"), "Unknown kind of model"),
    "a tagger": (lambda config: config.update(kind="tagger"), "is damaged: 'head'"),
    "version": (lambda config: config.update(format_version=1e999), "config.json is damaged"),
    "newer": (lambda config: config.update(format_version=99), "hostile has format version 99"),
    "texts": (set_vectorizer(max_chars=2**40), "`max_chars` .* wrong type"),
    "no texts": (set_vectorizer(max_chars=-1), "`max_chars` must be in"),
    "form": (set_vectorizer(unicode_form="../x"), "`unicode_form` must be"),
    "rows": (set_vectorizer(hash_buckets=7), "Give only one of"),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.usefixtures("little_memory")
def test_settings(model, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    change, message = SETTINGS[name]
    edit(model / CONFIG, change)
    assert_refused(model, message)
    assert not Path("canary").exists()


def test_an_encoder_of_a_million_parts(words):
    edit(words / CONFIG, set_encoder(widths=list(range(1, 1_000_000))))
    assert_refused(words, "`widths` of the Cse has 999,999 elements")


MEMBERS = {
    "2^60 rows": (header((2**60,), "<i8"), r"announces [\d,]+ bytes and has 0"),
    "overflow": (header((2**62, 2**62), "<i8"), r"announces [\d,]+ bytes and has 0"),
    "negative": (header((-1, 4)), "is damaged"),
    "a long header": (header((1,) * 4000), "is damaged"),
    "no array": (b"import os", "is damaged"),
    "texts": (header((0,), "<U4"), "holds <U4, expected numbers"),
    "pickle": (pickled("canary"), "holds object, expected numbers"),
    "fields": (header((0,), [("a", "<f4")]), "expected numbers"),
}


@pytest.mark.parametrize("file", [VOCABULARY, WEIGHTS])
@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.usefixtures("little_memory")
def test_member(model, file, name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    data, message = MEMBERS[name]
    with zipfile.ZipFile(model / file, "a") as archive:
        archive.writestr("added.npy", data)
    assert_refused(model, message)
    assert not Path("canary").exists()


@pytest.mark.parametrize("name", ["../../out.npy", "/tmp/charagram-out.npy", "a/../../../out.npy"])
def test_names_that_lead_elsewhere(model, name, tmp_path):
    """Members are read by name, never unpacked: those that no weight asks for are nothing."""
    link = zipfile.ZipInfo("ngrams/link.npy")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(model / WEIGHTS, "a") as archive:
        archive.writestr(name, header((0,)))
        archive.writestr(link, header((0,)))
    # As one who wants them read would do: an earlier version wrote no checksums of the files.
    config = json.loads((model / CONFIG).read_text())
    del config["arrays"]
    (model / CONFIG).write_text(json.dumps(config))
    before = listing(tmp_path)
    assert np.isfinite(TextEmbedder.load(model).encode(["a cat"])).all()
    assert listing(tmp_path) == before and not Path("/tmp/charagram-out.npy").exists()


@pytest.mark.parametrize("file", [VOCABULARY, WEIGHTS])
@pytest.mark.usefixtures("little_memory")
def test_bomb(model, file):
    """Of zeros that take a thousandth of their size."""
    with zipfile.ZipFile(model / file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("keys.npy", "w") as member:
            member.write(header((80 << 20,), "<i4"))
            for _ in range(80):
                member.write(bytes(4 << 20))
    assert (model / file).stat().st_size < 1 << 20
    assert_refused(model, r"its arrays would take [\d,]+ bytes, but the file has only")


def test_twice(model):
    with pytest.warns(UserWarning, match="Duplicate"):
        with zipfile.ZipFile(model / WEIGHTS, "a") as archive:
            archive.writestr(f"{TABLE}.npy", header((0,)))
    assert_refused(model, "'ngrams/table' is there twice")


ARRAYS = {
    "keys past the table": (
        VOCABULARY,
        lambda a: a.update(keys=np.arange(1, 9999), counts=np.ones(9998, int)),
        "`num_rows` of the encoder must be at least the number of ids of the vectorizer, 9998",
    ),
    "lengths": (VOCABULARY, lambda a: a.update(counts=a["counts"][1:]), "as many counts as keys"),
    "negative keys": (VOCABULARY, lambda a: a.update(keys=-a["keys"]), "must have keys above 0"),
    "equal keys": (VOCABULARY, lambda a: a.update(keys=a["keys"] * 0 + 5), "is damaged"),
    "no keys": (VOCABULARY, lambda a: a.update(keys=a["keys"][:0], counts=a["counts"][:0]),
                "must have keys above 0"),
    "tables": (VOCABULARY, lambda a: a.update(keys=a["keys"][None], counts=a["counts"][None]),
               "must have a list of orders"),
    "orders": (VOCABULARY, lambda a: a.update(orders=np.array([2, 99])), "orders must be integers"),
    "characters": (VOCABULARY, lambda a: a.update(alphabet=np.array([2**30])), "of code points"),
    "negative characters": (VOCABULARY, lambda a: a.update(alphabet=np.array([-1])), "of code po"),
    "many characters": (VOCABULARY, lambda a: a.update(alphabet=np.arange(10**6)), "too many for"),
    "floats": (VOCABULARY, lambda a: a.update(keys=a["keys"] * 0.5), "holds float64, expected num"),
    "NaN": (WEIGHTS, lambda a: a[TABLE].fill(np.nan), "'ngrams/table' holds nan"),
    "one NaN": (WEIGHTS, lambda a: a[TABLE].put([7], np.nan), "'ngrams/table' holds nan"),
    "infinity": (WEIGHTS, lambda a: a[TABLE].put([7], -np.inf), "'ngrams/table' holds inf"),
    "too large": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].astype(float) + 1e300}),
                  r"holds 1e.300, too large"),
    "shape": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].T}), "'ngrams/table' is .* is expected"),
    "less": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE][1:]}), "'ngrams/table' is .*expected"),
    "missing": (WEIGHTS, lambda a: a.pop(TABLE), "weights.npz lacks the array 'ngrams/table'"),
    "complex": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE] * 1j}), "holds complex"),
    "no scales": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].astype("i1")}), "table/scales"),
    "scales": (WEIGHTS, lambda a: a.update({TABLE: a[TABLE].astype("i1"),
                                            f"{TABLE}/scales": np.ones((1, 1), "f4")}), "scales"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.usefixtures("little_memory")
def test_arrays(model, name):
    file, change, message = ARRAYS[name]
    edit_arrays(model / file, change)
    assert_refused(model, message)


OFFSETS = {
    "overlapping": lambda a: a.update(offsets=np.tile([0, len(a["utf8"])], 50_000)),
    "past the end": lambda a: a["offsets"].put([-1], 10**6),
    "negative": lambda a: a["offsets"].put([1], -3),
    "wrapping": lambda a: a.update(offsets=a["offsets"].astype("u8")[::-1]),
    "none": lambda a: a.update(offsets=a["offsets"][:0]),
}


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.usefixtures("little_memory")
def test_words_that_overlap(words, name):
    edit_arrays(words / VOCABULARY, OFFSETS[name])
    assert_refused(words, "offsets of the words must ascend from their first byte to their last")


def test_words_in_broken_utf8(words):
    edit_arrays(words / VOCABULARY, lambda arrays: arrays["utf8"].fill(0xFF))
    assert_refused(words, "is damaged: .*codec can't decode")


@pytest.mark.parametrize("file", [CONFIG, VOCABULARY, WEIGHTS])
@pytest.mark.parametrize("kind", ["pipe", "device", "loop", "folder", "missing", "nowhere"])
@pytest.mark.usefixtures("little_memory")
def test_what_is_no_file(model, file, kind):
    path = model / file
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind != "missing":
        path.symlink_to({"device": "/dev/zero", "loop": path.name, "nowhere": "nothing"}[kind])
    assert_refused(model, file)


def test_a_large_file_that_is_no_config(model):
    with open(model / CONFIG, "wb") as file:
        file.truncate(1 << 40)
    assert_refused(model, r"config.json is damaged: .*1,099,511,627,776 bytes")


def test_a_folder_in_itself(tmp_path):
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile" / "model").symlink_to(".")
    with pytest.raises(RunError, match=r"hostile(/model)? is not a model folder"):
        load_any(tmp_path / "hostile")


def test_other_files_are_not_looked_at(model, tmp_path):
    """As a folder of the Hub may have them."""
    text = f"open({str(tmp_path / 'canary')!r}, 'w')"
    for name in ("__init__.py", "modeling.py", "config.py", "keras.py", "numpy.py"):
        (model / name).write_text(text)
    (model / "pytorch_model.bin").write_bytes(pickled(tmp_path / "canary"))
    assert TextEmbedder.load(model).dim == 4
    assert not (tmp_path / "canary").exists()
