"""The same groups from a local cluster of two workers, one of which is killed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from tests.commands import environment
from tests.search.partitions.conftest import ON
from tf_charagram.search._partitions.tables import deduplicate_files

pytest.importorskip("ray", reason="Ray is not installed: pip install 'tf-charagram[ray]'")

# In a process of its own: Ray leaves threads, signal handlers and warnings behind.
SCRIPT = """
import json, sys, threading, time
from pathlib import Path
import ray
from ray.cluster_utils import Cluster
from tf_charagram.errors import DataError
from tf_charagram.search._partitions import in_memory
from tf_charagram.search._partitions.tables import deduplicate_files

# So few rows would be compared in memory, by one task.
in_memory.MAX_ROWS = 0
out, on, *paths = sys.argv[1:]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
cluster.wait_for_nodes()
killed = []


def kill():
    while not any(Path(out, "steps", "keys").glob("*.npy")):
        time.sleep(0.01)
    cluster.remove_node(workers[0], allow_graceful=False)
    killed.append(True)


thread = threading.Thread(target=kill, daemon=True)
thread.start()
options = {"on": on.split(","), "num_partitions": 6, "ray": cluster.address}
summary = deduplicate_files(paths, out, **options)
thread.join(60)
result = {"killed": killed, "num_rows": summary["num_rows"]}
Path(paths[0]).write_bytes(b"damaged")
try:
    deduplicate_files(paths, f"{out}-again", **options)
except DataError as error:
    result["error"] = str(error)
# Ray writes to standard output, too.
Path(f"{out}.json").write_text(json.dumps(result))
"""


def test_a_killed_worker(files, read, tmp_path):
    copies = []
    for path in files:
        copies.append(tmp_path / path.rpartition("/")[2])
        shutil.copy(path, copies[-1])
    deduplicate_files(files, tmp_path / "local", on=ON, num_partitions=1)
    # Ray keeps a token in the home folder.
    env = environment(HOME=str(tmp_path))
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "out"), ",".join(ON), *map(str, copies)]
    ended = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=400, check=False
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["killed"] == [True]
    assert result["num_rows"] == 500
    assert read(tmp_path / "out").equals(read(tmp_path / "local"))
    assert "part-0.parquet: cannot be read as Parquet" in result["error"]
