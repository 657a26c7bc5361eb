"""Killed as by the system, at no particular moment."""

from __future__ import annotations

import random
import subprocess
import time

import pytest

from tests.bulk.conftest import check_complete, records_of
from tests.commands import environment, process, run


@pytest.mark.campaign
def test_kill_9(model, tmp_path):
    lines = [f"line {number}" for number in range(30_000)]
    path = tmp_path / "lines.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    out = tmp_path / "out"
    arguments = ["--input", path, "--output", f"{out}/", "--shard-lines", 100, "--resume"]
    command = process("embed", model, *arguments)
    rng = random.Random(0)
    num_kills = 0
    before = 0
    while num_kills < 3:
        with subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) as child:
            while child.poll() is None:
                if (out / "shards.jsonl").exists() and len(records_of(out)) > before:
                    time.sleep(rng.random() * 0.05)
                    child.kill()
                    break
                time.sleep(0.005)
        assert child.returncode == -9
        num_kills += 1
        before = len(records_of(out))
    ended = run(command, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert f"; {before} shards were there" in ended.stderr
    check_complete(out, model, [str(path)], [lines])
