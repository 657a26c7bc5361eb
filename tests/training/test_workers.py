"""Several workers: `TF_CONFIG`, their agreement, their launcher, and the weights of runs."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call, environment, process, run, saved_weights
from tf_charagram.errors import ConfigError, DataError
from tf_charagram.optimizers.exchange import ALONE, Exchange
from tf_charagram.tasks.distillation.settings import DistillConfig
from tf_charagram.training.run_folder import run_config
from tf_charagram.training.workers import (
    VARIABLE,
    Cluster,
    cluster_of,
    comparable,
    failing_together,
    local_clusters,
)

TWO = {"worker": ["a:1", "b:2"]}


def found(config):
    return cluster_of({VARIABLE: config if isinstance(config, str) else json.dumps(config)})


@pytest.mark.parametrize(
    "config", ["", "  ", {}, {"cluster": {}}, {"cluster": {"chief": ["a:1"]}, "task": {}}], ids=str
)
def test_one_process_is_alone(config):
    assert found(config) is None


def test_clusters():
    config = {"cluster": TWO, "task": {"type": "worker", "index": 1}}
    assert found(config) == Cluster(("a:1", "b:2"), 1)
    cluster = {"worker": ["b:2", "c:3"], "chief": ["a:1"]}
    assert found({"cluster": cluster, "task": {"type": "chief", "index": 0}}).rank == 0
    second = Cluster(("a:1", "b:2", "c:3"), 1)
    assert found({"cluster": cluster, "task": {"type": "worker", "index": 0}}) == second
    local = local_clusters(2)
    assert [found(one.to_json()) for one in local] == local
    assert (local[1].rank, local[1].num_local, second.num_local) == (1, 2, 1)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("{", "Expecting property name"),
        ("[1]", "'list' object has no attribute"),
        ({"cluster": {**TWO, "ps": ["c:3"]}}, "unknown role ps"),
        ({"cluster": {"worker": "a:1"}}, "'a' is not host:port"),
        ({"cluster": {"worker": ["a", "b:2"]}}, "'a' is not host:port"),
        ({"cluster": {"worker": [1, "b:2"]}}, "expected string"),
        ({"cluster": {"worker": ["a:1", "a:1"]}}, "an address is repeated"),
        (
            {"cluster": TWO, "task": {"type": "worker", "index": 2}},
            "2. is not in list",
        ),
        ({"cluster": TWO, "task": {"type": "chief", "index": 0}}, "0. is not in list"),
        ({"cluster": TWO, "task": {"index": [0]}}, "is not in list"),
    ],
    ids=str,
)
def test_bad_clusters(config, reason):
    with pytest.raises(ConfigError, match=rf"`TF_CONFIG` must be JSON such as .*\(.*{reason}.*\)"):
        found(config)


class Answers(Exchange):
    """Has the answers of the others, and records that of this worker."""

    def __init__(self, *others, rank=0):
        super().__init__(rank, len(others) + 1)
        self.others = list(others)

    def json(self, value):
        self.said = value
        return [*self.others[: self.rank], value, *self.others[self.rank :]]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"facts": {"seed": 2}}, "worker 1: seed is 2, the chief has 1\n"),
        ({"facts": {}}, "worker 1: seed is None, the chief has 1\n"),
        ({"facts": {"seed": 1, "keras (version)": "3.9"}}, "keras .version. is 3.9, the chief has"),
        ({"error": "b.tsv: cannot be read"}, "worker 1: b.tsv: cannot be read\nGive all of them"),
        ({"facts": dict.fromkeys(map(str, range(19)), 0)}, "and 12 more\nGive all"),
    ],
    ids=str,
)
def test_workers_that_differ(other, message):
    with pytest.raises(ConfigError, match=message), failing_together(Answers(other)) as facts:
        facts["seed"] = 1


def test_workers_that_agree():
    for exchange in (ALONE, Answers({"facts": {"seed": 1}})):
        with failing_together(exchange) as facts:
            facts["seed"] = 1


def test_others_hear_of_an_error():
    answers = Answers({"facts": {}}, rank=1)
    with pytest.raises(DataError, match="missing"), failing_together(answers):
        raise DataError("a.tsv", "is missing.")
    assert answers.said == {"error": "a.tsv: is missing."}


FILES = ("x/train.tsv", "y/train.tsv", "x/vectors.npy")


def facts_of(root, **settings):
    """Returns the facts that a worker compares, for a worker with its own folder of files."""
    config = DistillConfig(**{
        "data": (f"{root}/x/train.tsv", f"{root}/y/train.tsv"),
        "teacher": ("vectors.npy",),
        "misspellings": f"{root}/misspellings.txt",
        "typos": 0.1, "neighbor_batch_size": 9, **settings,
    })  # fmt: skip
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return comparable(run_config(config.to_dict(), files), files)


@pytest.fixture
def roots(tmp_path):
    """Returns two folders with equal files."""
    for root in ("a", "b"):
        for name in FILES:
            path = tmp_path / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    return tmp_path / "a", tmp_path / "b"


def test_files_are_compared_by_content(roots):
    first, second = map(facts_of, roots)
    assert first == second
    for name in FILES:
        (roots[1] / name).write_text("other")
        second = facts_of(roots[1])
        (changed,) = [key for key in first if first[key] != second[key]]
        assert changed.endswith(f", {Path(name).name} (sha256)")
        (roots[1] / name).write_text(name)


@pytest.mark.parametrize(
    "settings",
    [
        {"teacher": ("sentence-transformers:other",)},
        {"temperature": 0.3},
    ],
    ids=str,
)
def test_another_setting(roots, settings):
    first, second = facts_of(roots[0]), facts_of(roots[1], **settings)
    (name,) = settings
    assert [key for key in first if first[key] != second[key]] == [f"--{name.replace('_', '-')}"]


START = """
    import os, signal, sys, time
    from tf_charagram.training.workers import cluster_of
    rank = cluster_of().rank
"""
LAUNCH = """
    import sys
    from tf_charagram.training import workers
    workers._GRACE_S = float(sys.argv[2])
    sys.exit(workers.Launcher([sys.executable, "-c", sys.argv[1]], 3).run())
"""


def launch(code, grace_s=0.5):
    code = textwrap.dedent(START) + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LAUNCH), code, str(grace_s)],
        env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(code, grace_s=0.5):
    launched = launch(code, grace_s)
    output, errors = launched.communicate(timeout=240)
    return launched.returncode, output, errors


def test_output_of_the_chief():
    assert ended("print(rank); print(rank, file=sys.stderr)") == (0, "0\n", "0\n")
    code = "print('wrong flag', file=sys.stderr)\nsys.exit(2) if rank == 0 else time.sleep(600)"
    assert ended(code) == (2, "", "wrong flag\n")


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9"),
        ("sys.exit('error: no such file')", "exit status 1"),
    ],
)
def test_a_lost_worker_ends_all(end, how):
    status, _, errors = ended(f"if rank == 2: {end}\nelse: time.sleep(600)")
    assert status == 1
    assert f"error: worker 2 of 3 was lost ({how})" in errors
    assert "with the same command and --resume" in errors
    assert ("worker 2: error: no such file" in errors) == ("status" in how)


def test_an_error_of_all_is_no_loss():
    """Even if the chief is not the first to end."""
    code = "time.sleep(rank == 0)\nsys.exit(f'error: no such file for {rank}')"
    status, _, errors = ended(code, grace_s=60)
    assert status == 1 and errors.startswith("error: no such file for 0\n")
    assert "was lost" not in errors and "--resume" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_goes_to_the_chief(number):
    launched = launch(f"""
        if rank == 0:
            signal.signal({number:d}, lambda *_: sys.exit(130))
            print("ready", flush=True)
        time.sleep(600)
    """)
    assert launched.stdout.readline() == "ready\n"
    launched.send_signal(number)
    _, errors = launched.communicate(timeout=240)
    assert (launched.returncode, errors) == (130, "")


def test_a_killed_launcher_leaves_no_worker():
    launched = launch("""
        from tf_charagram.training.workers import end_with
        print(os.getpid(), flush=True)
        end_with(cluster_of().launcher)
    """)
    chief = int(launched.stdout.readline())
    launched.kill()
    launched.communicate(timeout=240)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{chief}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the chief still runs")


# Runs.

SMALL = ("--dim", "32", "--evaluations-per-epoch", "2", "--batch-size", "20")
STARTER = ("--data", "starter", *SMALL)


def difference(one, other):
    """Returns the largest difference between the weights of two runs."""
    first, second = saved_weights(one), saved_weights(other)
    assert first.keys() == second.keys()
    return max(np.abs(first[name] - second[name]).max() for name in first)


def trained(folder, *flags, workers=2):
    command = process("train", *flags, "--workers", workers, "--out", folder, "--quiet")
    result = run(command, cwd=folder.parent)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.usefixtures("unexported")
def test_weights_of_two_are_those_of_one(tmp_path):
    """After 130 steps with clipping and mined negatives, which depend on the rows of all workers.

    If two candidates are equally near, rounding may choose another: later the difference is larger.
    """
    flags = (*STARTER, "--negatives", "mix", "--clip-norm", "0.1", "--l2", "1e-3")
    one, two = tmp_path / "one", tmp_path / "two"
    assert call("train", *flags, "--epochs", 0.2, "--out", one) == 0
    trained(two, *flags, "--epochs", 0.2)
    assert 0 < difference(one, two) < 1e-5
    metrics = json.loads((two / "metrics.json").read_text())
    assert metrics["num_workers"] == 2
    assert (
        metrics["scores"].keys() == json.loads((one / "metrics.json").read_text())["scores"].keys()
    )
    # A checkpoint does not depend on the number of workers.
    history = (two / "history.jsonl").read_text().splitlines()
    assert call("train", *flags, "--epochs", 0.2, "--out", two, "--resume") == 0
    assert (two / "history.jsonl").read_text().splitlines() == history
    assert difference(one, two) < 1e-5


@pytest.mark.long
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(("--task", "pos", "--encoder", "char_cnn"), marks=pytest.mark.variant),
        ("--negatives", "random"),
        ("--dense-l2", "--l2", "1e-3", "--clip-norm", "0.1"),
        ("--encoder", "dan", "--l2-words", "0.01"),
    ],
    ids=str,
)
def test_tasks_and_settings(flags, tmp_path):
    # Adam makes large steps of small gradients, and so of their rounding.
    settings = ("--optimizer", "sgd", "--learning-rate", "0.05", "--epochs", "0.05")
    flags = (*STARTER, *settings, *flags)
    trained(tmp_path / "one", *flags, workers=1)
    trained(tmp_path / "two", *flags)
    assert difference(tmp_path / "one", tmp_path / "two") < 1e-5


@pytest.mark.long
def test_bfloat16(tmp_path):
    """Rows are rounded as in one process."""
    flags = (*STARTER, "--precision", "mixed_bfloat16", "--clip-norm", "0.1", "--epochs", 0.1)
    two = saved_weights(trained(tmp_path / "two", *flags))
    for name, array in saved_weights(trained(tmp_path / "one", *flags, workers=1)).items():
        # Sums in another order round a few numbers to the other neighbour.
        assert np.mean(np.isclose(two[name], array, rtol=0, atol=1e-7)) > 0.9


KILLED = (*STARTER, "--epochs", 0.5, "--seed", 1, "--checkpoint-every-s", 0)


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("workers") / "run", *KILLED)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(int(os.environ.get("KILLS", "1"))))
def test_a_worker_is_killed_at_a_random_moment(seed, left_alone, tmp_path):
    """Twice; resumed, the weights are to the bit those of two workers that were left alone."""
    folder = tmp_path / "killed"
    command = process("train", *KILLED, "--workers", 2, "--out", folder, "--resume", "--quiet")
    draw = random.Random(seed)
    for _ in range(2):
        with subprocess.Popen(
            command, env=environment(), stderr=subprocess.PIPE, text=True
        ) as launched:
            time.sleep(draw.uniform(4.0, 12.0))
            children = Path(f"/proc/{launched.pid}/task/{launched.pid}/children")
            if workers := children.read_text().split() if children.exists() else []:
                os.kill(int(draw.choice(workers)), signal.SIGKILL)
            _, errors = launched.communicate(timeout=300)
        if launched.returncode:
            assert "was lost (killed by signal 9)" in errors
            assert "--resume" in errors
    assert run(command, cwd=tmp_path).returncode == 0
    assert difference(left_alone, folder) == 0


def ended_by_addresses(commands):
    """Starts two workers as on two machines; returns exit statuses and standard errors."""
    processes = [
        subprocess.Popen(
            command, env=environment(**{VARIABLE: Cluster(cluster.addresses, rank).to_json()}),
            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for rank, (command, cluster) in enumerate(zip(commands, local_clusters(2), strict=True))
    ]  # fmt: skip
    errors = [one.communicate(timeout=200)[1] for one in processes]
    return [one.returncode for one in processes], errors


@pytest.mark.long
def test_as_on_two_machines(left_alone, tmp_path):
    command = process("train", *KILLED, "--out", tmp_path / "run", "--quiet")
    codes, errors = ended_by_addresses([command] * 2)
    assert codes == [0, 0], errors
    assert difference(left_alone, tmp_path / "run") == 0


@pytest.mark.long
def test_workers_with_other_flags(tmp_path):
    command = process("train", *STARTER, "--out", tmp_path / "run")
    codes, errors = ended_by_addresses([command, [*command, "--margin", "0.5"]])
    assert codes == [1, 1]
    assert "worker 1: --margin is 0.5, the chief has 0.4" in errors[0]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flags", "variables", "message"),
    [
        (("--workers", "0"), {}, "`workers` must be at least 1. Received: workers=0"),
        ((), {VARIABLE: "{"}, "`TF_CONFIG` must be JSON"),
        (
            ("--workers", "2"),
            {VARIABLE: '{"cluster": {"worker": ["a:1", "b:2"]}, "task": {"index": 1}}'},
            "this process is one of 2 already. Leave out one of the two",
        ),
    ],
)
def test_flags_that_cannot_be(flags, variables, message, monkeypatch, capsys, tmp_path):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert call("train", *STARTER, *flags, "--out", tmp_path / "run") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ("--task", "similarity", "--init", "english", "--freeze", "--dim", "384"),
            "`workers` share the work of an encoder that is trained",
        ),
        ((), "`workers` must be at most the number of examples, 2. Received: 3"),
    ],
    ids=str,
)
def test_nothing_to_share(flags, message, tmp_path):
    data = tmp_path / "pairs.tsv"
    data.write_text("1\ta cat\tcats\n2\tmice\ta mouse\n" if flags else "a cat\tcats\nmice\tmouse\n")
    flags = ("--data", data, *SMALL, "--workers", 3, "--out", tmp_path / "run", *flags)
    result = run(process("train", *flags), cwd=tmp_path)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (tmp_path / "run").exists()
