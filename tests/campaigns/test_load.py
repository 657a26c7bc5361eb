"""The load campaign in short, and whether it would find what it looks for."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("tensorflow_serving.apis")

from tests.campaigns.load import switching
from tests.campaigns.load.campaign import run_load
from tests.campaigns.load.clients import Client
from tests.campaigns.load.legs import CANCELLED, CUT, DESERVED
from tests.campaigns.load.measures import Latencies, memory_mb, slope_per_hour
from tests.campaigns.load.models import Exported, Pool, differs
from tests.campaigns.load.pauses import Pauses
from tests.campaigns.load.report import Log, Plan, Report, Sample, sum_of
from tests.campaigns.load.services import server_here
from tests.campaigns.load.switching import Switching
from tests.commands import run
from tests.export.serving import versions
from tf_charagram.export.serving.client import ServerError

ROOT = Path(__file__).parents[2]
PLAN = Plan(
    seconds=4, num_clients=10, rate=60, share_bad=0.3, switch_s=1.5, num_exports=2,
    runtimes=("c_library", "python_here"),
)  # fmt: skip


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """Returns the report of a few seconds, and what they wrote."""
    folder = tmp_path_factory.mktemp("load")
    log = Log(folder / "log.jsonl")
    report = run_load(PLAN, folder, server_here, log)
    lines = (folder / "log.jsonl").read_text().splitlines()
    return report, log, [json.loads(line) for line in lines]


def test_nothing_is_wrong(short):
    report, log, _ = short
    assert (report.problems, log.failures) == ([], [])
    assert "nothing wrong" in str(report)


def test_every_way_was_asked_while_versions_changed(short):
    report, _, lines = short
    tallies = report.tallies()
    assert set(tallies) == {
        *(f"{kind}, {runtime}" for kind in ("rest", "grpc") for runtime in PLAN.runtimes),
        "direct, c_library",
    }
    assert all(tally.good > 5 and tally.bad.total() for tally in tallies.values())
    assert report.num_switches >= 1
    assert lines and lines[-1]["memory_mb"].keys() == {"clients and C library"}


@pytest.mark.campaign
def test_some_seconds(tmp_path):
    log = tmp_path / "log.jsonl"
    command = ("load", "--minutes", "0.2", "--seed", "1", "--bad", "0.2", "--switch-s", "4",
               "--log", str(log))  # fmt: skip
    done = run([sys.executable, "-m", "tests.campaigns", *command], cwd=ROOT, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    last = json.loads(log.read_text().splitlines()[-1])
    assert last["all"]["good"] > 100 and last["switches"] >= 1
    assert set(last["all"]["bad"]) == {*DESERVED, CUT}


class Wrong:
    """A runtime whose answers are a little wrong."""

    def __init__(self, runtime):
        self._runtime = runtime

    def run(self, signature, inputs):
        outputs = self._runtime.run(signature, inputs)
        return {name: values + 2e-5 for name, values in outputs.items()}

    def close(self):
        self._runtime.close()


def test_wrong_answers_are_found(tmp_path, monkeypatch):
    load = versions.RUNTIMES["c_library"]
    monkeypatch.setitem(versions.RUNTIMES, "wrong", lambda folder: Wrong(load(folder)))
    plan = Plan(seconds=1, num_clients=6, rate=60, share_bad=0, num_exports=1, runtimes=("wrong",))
    log = Log()
    report = run_load(plan, tmp_path, server_here, log)
    tallies = report.tallies()
    assert tallies.pop("direct, c_library").failed == 0
    # But for requests without texts.
    assert all(tally.failed > tally.good for tally in tallies.values())
    assert report.problems == [f"{sum_of(tallies).failed} good requests failed"]
    assert "differs by 2e-05" in log.failures[0]


class TestClient:
    """A seed with which one text is asked for, whose vector is 1; the leg answers as told."""

    @pytest.fixture
    def make(self):
        model = Exported(Path(), np.ones((1, 1)), np.ones((1, 1)))
        always_1 = SimpleNamespace(
            export=lambda version: model,
            may_answer=lambda sent, answered: [1],
            use=lambda: nullcontext(1),
        )

        def make(answers, *, is_paused, bad="missing model"):
            def answer(*_):
                value = answers.pop(0)
                if isinstance(value, Exception):
                    raise value
                return value

            leg = SimpleNamespace(
                embed=answer,
                similarity=lambda *_: answer()[:, 0],
                bad=lambda: {bad: answer},
            )
            pauses = SimpleNamespace(any_since=lambda start: is_paused)
            pool = Pool([b"a"], dict.fromkeys(("words", "sentences", "odd"), range(1)))
            settings = {"mean_pause_s": 1, "share_bad": 0, "tell": lambda *_: None}
            return Client(leg, pool, always_1, pauses, random.Random(3), **settings)

        return make

    @pytest.mark.parametrize(
        ("is_paused", "counts"), [(True, (1, 0, 1)), (False, (0, 1, 0))], ids=["paused", "not"]
    )
    def test_a_connection_that_breaks(self, make, is_paused, counts):
        client = make([ServerError("no connection"), np.ones((1, 1))], is_paused=is_paused)
        client._ask()
        tally = client.tally
        assert (tally.good, tally.failed, tally.interrupted) == counts

    @pytest.mark.parametrize("is_paused", [True, False])
    def test_a_wrong_answer(self, make, is_paused):
        client = make([np.full((1, 1), 1.1)], is_paused=is_paused)
        client._ask()
        assert (client.tally.good, client.tally.failed) == (0, 1)

    @pytest.mark.parametrize(
        ("answer", "is_paused", "counts"),
        [
            (("NOT_FOUND", "Latest(nope)"), False, (1, 0, 0)),
            (("NOT_FOUND", "Latest(nope)"), True, (1, 0, 0)),
            (("NOT_FOUND", "another"), False, (0, 1, 0)),
            (("UNAVAILABLE", "nope"), False, (0, 1, 0)),
            (("UNAVAILABLE", "nope"), True, (0, 0, 1)),
            (None, False, (0, 1, 0)),
        ],
    )
    def test_a_bad_request(self, make, answer, is_paused, counts):
        client = make([answer], is_paused=is_paused)
        client._ask_badly()
        tally = client.tally
        assert (tally.bad["missing model"], tally.wrong, tally.interrupted) == counts

    @pytest.mark.parametrize("kind", [CUT, CANCELLED])
    @pytest.mark.parametrize(("answer", "counts"), [(None, (1, 0)), (("OK", ""), (0, 1))])
    def test_a_bad_request_without_an_answer(self, make, kind, answer, counts):
        client = make([answer], is_paused=False, bad=kind)
        client._ask_badly()
        assert (client.tally.bad[kind], client.tally.wrong) == counts


def test_a_version_that_is_not_served_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(switching, "PATIENCE_S", 0.2)
    folder = tmp_path / "export"
    folder.mkdir()
    found = Switching(tmp_path / "words", [Exported(folder, np.ones((1, 1)), np.ones((1, 1)))])
    with pytest.raises(RuntimeError, match=r"rest did not serve version 1 within 0\.2 s"):
        found.switch({"rest": set})

    def gone():
        raise OSError("nobody there")

    with pytest.raises(RuntimeError, match=r"grpc did not serve version 2 .*: nobody there"):
        found.switch({"grpc": gone})


def test_what_ended_too_early_is_a_problem():
    report = Report(PLAN, tallies=dict, ended="OSError: gone")
    assert report.problems == ["ended too early: OSError: gone"]


def test_pauses(monkeypatch):
    monkeypatch.setattr("tests.campaigns.load.pauses._LONGEST_S", 50.0)
    pauses = Pauses()
    pauses._tick -= 100  # As if it had been stopped.
    assert pauses.any_since(time.monotonic())
    with pauses:
        while not pauses.seconds:
            time.sleep(0.01)
        assert pauses.seconds == pytest.approx(100, abs=5)
        assert not pauses.any_since(time.monotonic())
        assert time.monotonic() - pauses.clock() == pytest.approx(pauses.seconds, abs=5)


class TestMeasures:
    def test_percentiles(self):
        latencies = Latencies()
        for milliseconds in range(1, 1001):
            latencies.add(milliseconds / 1000)
        for percent in (50, 95, 99):
            assert latencies.percentile_ms(percent) == pytest.approx(10 * percent, rel=0.011)

    def test_slope(self):
        """2 MB an hour, up and down by 3 MB: the mean of 2 n such errors has a spread of zero."""
        seconds = np.arange(0, 3600, 10)
        noise = np.where(np.arange(360) % 2, 3.0, -3.0)
        slope, error = slope_per_hour(seconds, 100 + 2 * seconds / 3600 + noise)
        assert slope == pytest.approx(2, abs=0.06) and error == pytest.approx(0.55, abs=0.01)

    def test_memory_of_a_process_and_its_child(self):
        script = "import os, sys; block = b'x' * 50_000_000; os.fork(); print(flush=True); input()"
        command = [sys.executable, "-c", script]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            for _ in range(2):
                child.stdout.readline()
            assert 100 < memory_mb(child.pid) < 150
            child.communicate("\n\n")

    @pytest.mark.parametrize(("growth", "problems"), [(0.9, 0), (1.1, 1)])
    def test_growing_memory_is_a_problem(self, growth, problems):
        report = Report(PLAN, tallies=dict, seconds=3600)
        for seconds in range(0, 3600, 10):
            # The first ten minutes do not count.
            memory = 100 + growth * seconds / 3600 - 50 * (seconds < 600)
            report.add(Sample(seconds, 1, {"server": memory}))
        assert len(report.problems) == problems
        assert f"server: memory +{growth:.2f} MB an hour" in str(report)

    def test_differs(self):
        expected = np.array([[1000.0, 0], [0.5, 0]])
        assert differs(expected + 0.001, expected) == pytest.approx(1e-3)
        assert differs(expected[:1] + 0.001, expected[:1]) == pytest.approx(1e-6)
        assert differs(expected[:1], expected) == differs(expected * np.nan, expected) == np.inf


def test_the_command_asks_for_a_name():
    done = run([sys.executable, "-m", "tests.campaigns"], cwd=ROOT)
    assert done.returncode == 2 and "NAME" in done.stderr
