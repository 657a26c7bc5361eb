"""The same shards from a local Ray of two workers."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.bulk.conftest import check_complete
from tests.commands import environment

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'tf-charagram[ray]'")
pytest.importorskip("ray.data")

# In a process of its own: Ray leaves threads, signal handlers and warnings behind.
SCRIPT = """
import json, sys
import ray
from tf_charagram.bulk._shards.inputs import find_inputs
from tf_charagram.bulk.job import EmbedJob
from tf_charagram.bulk.run import embed_files
from tf_charagram.errors import RunError

model, out, *paths = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)


def make_job():
    return EmbedJob(model, tuple(find_inputs(paths)), out, shard_lines=10)


job = make_job()
folder = embed_files(job, ray=2)
(folder.path / "part-00000-00001.npy").write_bytes(b"damaged")
folder = embed_files(job, ray=2, resume=True)
result = {"damaged": len(folder.damaged)}
with open(paths[0], "r+b") as file:
    file.write(b"X")
try:
    embed_files(make_job(), ray=2, resume=True)
except RunError as error:
    result["error"] = str(error)
print(json.dumps(result))
"""


def test_two_workers(model, files, tmp_path):
    paths, lines = files
    command = [sys.executable, "-c", SCRIPT, str(model), str(tmp_path / "out"), *paths]
    # Ray keeps a token in the home folder.
    env = environment(HOME=str(tmp_path), TF_CPP_MIN_LOG_LEVEL="2")
    ended = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=400, check=False
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout.splitlines()[-1])
    assert result["damaged"] == 1
    assert "a.txt:1: has changed since it was embedded" in result["error"]
    assert result["error"].endswith("or give another --output.")
    # The third run has found its input changed and written no shard.
    check_complete(tmp_path / "out", model, paths, lines, is_complete=False)
