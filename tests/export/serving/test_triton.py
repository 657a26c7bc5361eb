"""`charagram export --triton`: the files, the program with a stand-in for Triton, and Triton."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tf_charagram
from tests.commands import call
from tf_charagram.encoders import encoder_class
from tf_charagram.errors import ConfigError
from tf_charagram.export._serving.triton import write_triton
from tf_charagram.models.embedder import TextEmbedder
from tf_charagram.text.vectorizer import NgramVectorizer

TEXTS = ["colour", "", "Grüße", "a cat and a dog"]
# Of PyPI's nvidia-pytriton, and a folder of packages with a NumPy before 2.
SERVER = os.environ.get("TRITON_SERVER", "")
PACKAGES = os.environ.get("TRITON_PACKAGES", "")


@pytest.fixture(scope="module")
def repository(trained, tmp_path_factory):
    repository = tmp_path_factory.mktemp("triton")
    assert call("export", trained.folder, "--output", repository / "words", "--triton") == 0
    return repository


@pytest.fixture(scope="module")
def expected(trained):
    return TextEmbedder.load(trained.folder).encode(TEXTS)


def test_files(repository, expected):
    config = (repository / "words" / "config.pbtxt").read_text()
    assert f"dims: [ {expected.shape[1]} ]" in config
    names = sorted(path.name for path in (repository / "words" / "1").iterdir())
    assert names == ["model", "model.py"]


def test_program(repository, expected, monkeypatch):
    stand_in = SimpleNamespace(
        get_input_tensor_by_name=lambda request, name: request[name],
        Tensor=lambda name, array: (name, array),
        InferenceResponse=list,
    )
    monkeypatch.setitem(sys.modules, "triton_python_backend_utils", stand_in)
    program = runpy.run_path(str(repository / "words" / "1" / "model.py"))
    model = program["TritonPythonModel"]()
    model.initialize({"model_repository": str(repository / "words"), "model_version": "1"})
    requests = []
    for texts in (TEXTS[:1], TEXTS[1:]):
        array = np.array([[text.encode()] for text in texts], object)
        requests.append({"texts": SimpleNamespace(as_numpy=lambda array=array: array)})
    responses = model.execute(requests)
    [(name, first)], [(_, second)] = responses
    assert name == "embedding"
    np.testing.assert_allclose(np.concatenate([first, second]), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(not SERVER, reason="Set TRITON_SERVER to the folder of tritonserver.")
def test_triton_server(repository, expected, tmp_path):
    program = repository / "words" / "1" / "model.py"
    # Triton's Python ignores PYTHONPATH.
    paths = [PACKAGES, str(Path(tf_charagram.__file__).parents[1])]
    first = "from pathlib import Path"
    with_paths = f"import sys; sys.path[:0] = {paths}\n{first}"
    program.write_text(program.read_text().replace(first, with_paths))
    server = Path(SERVER)
    stubs = server / "python_backend_stubs" / f"3.{sys.version_info.minor}"
    command = [
        str(server / "bin" / "tritonserver"),
        f"--model-repository={repository}",
        f"--backend-directory={server / 'backends'}",
        "--http-port=18000", "--allow-grpc=false", "--allow-metrics=false",
    ]  # fmt: skip
    (server / "backends" / "python" / "triton_python_backend_stub").unlink(missing_ok=True)
    (server / "backends" / "python" / "triton_python_backend_stub").symlink_to(
        stubs / "triton_python_backend_stub"
    )
    libraries = os.pathsep.join([f"{sys.base_prefix}/lib", os.environ.get("LD_LIBRARY_PATH", "")])
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=environment)
    try:
        vectors = _ask("http://127.0.0.1:18000/v2/models/words/infer", process, log)
    finally:
        process.terminate()
        process.wait(60)
    np.testing.assert_allclose(vectors, expected, rtol=1e-5, atol=1e-6)


def _ask(url, process, log):
    entry = {"name": "texts", "datatype": "BYTES", "shape": [len(TEXTS), 1], "data": TEXTS}
    body = json.dumps({"inputs": [entry]}).encode()
    for _ in range(120):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, body) as response:
                [output] = json.load(response)["outputs"]
                return np.array(output["data"]).reshape(output["shape"])
        except OSError:
            time.sleep(1)
    raise AssertionError(log.read_text())


def test_other_encoders_are_refused(tmp_path):
    vectorizer = NgramVectorizer.from_texts(["cat"], orders=(1,))
    encoder = encoder_class("char_cnn")(num_rows=vectorizer.num_rows, dim=4)
    with pytest.raises(ConfigError, match="sum n-grams"):
        write_triton(TextEmbedder(vectorizer, encoder), tmp_path / "words")


def test_flags_that_have_no_effect_are_refused(trained, tmp_path, capsys):
    folder = tmp_path / "words"
    assert call("export", trained.folder, "--output", folder, "--triton", "--keep", 2) != 0
    assert "combined only with `dtype`" in capsys.readouterr().err
    assert not folder.exists()


def test_other_files_are_refused(trained, tmp_path, capsys):
    (tmp_path / "notes.txt").touch()
    assert call("export", trained.folder, "--output", tmp_path, "--triton") != 0
    assert "holds other files and no config.pbtxt" in capsys.readouterr().err
