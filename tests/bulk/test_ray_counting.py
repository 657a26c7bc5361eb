"""The same vocabulary from a local Ray of two workers."""

from __future__ import annotations

import subprocess

import pytest

from tests.commands import environment, process
from tests.text.test_vocabulary import assert_same
from tf_charagram.text.vocabulary import NgramVocabulary
from tf_charagram.text.vocabulary_file import load_vocabulary

pytest.importorskip("ray", reason="Ray is not installed: pip install 'tf-charagram[ray]'")
pytest.importorskip("ray.data")
pytestmark = pytest.mark.slow


def test_two_workers(files, tmp_path):
    paths, lines = files
    (tmp_path / "pairs.tsv").write_text("a\tb\nbad\n\u4e2d\u6587\tc\n", encoding="utf-8")
    arguments = ["--engine", "ray", "--workers", 2, "--data", tmp_path / "pairs.tsv"]
    inputs = [part for path in paths for part in ("--input", path)]
    out = tmp_path / "v.npz"

    def run(policy):
        command = process("vocabulary", *arguments, *inputs, "--out", out, "--on-bad-line", policy)
        # In a process of its own: Ray leaves threads and signal handlers, and a token at home.
        env = environment(HOME=str(tmp_path), TF_CPP_MIN_LOG_LEVEL="2")
        return subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=400, check=False
        )

    failed = run("error")
    assert failed.returncode == 1 and not out.exists()
    assert "pairs.tsv:2: " in failed.stderr and "Traceback" not in failed.stderr
    ended = run("skip")
    assert ended.returncode == 0, ended.stderr
    assert "skipped 1 bad line; first: " in ended.stderr
    assert "41 texts in " in ended.stderr
    texts = ["a", "b", "\u4e2d\u6587", "c", *(line for some in lines for line in some)]
    assert_same(load_vocabulary(out).vocabulary, NgramVocabulary.from_texts(texts))
