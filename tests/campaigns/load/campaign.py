"""A campaign: servers, clients, versions that change, and what is measured meanwhile."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.campaigns.load.clients import Client, Tally
from tests.campaigns.load.legs import DirectLeg, GrpcLeg, Leg, RestLeg
from tests.campaigns.load.measures import memory_mb
from tests.campaigns.load.models import export_models, make_pool
from tests.campaigns.load.pauses import Pauses
from tests.campaigns.load.report import Log, Plan, Report, Sample
from tests.campaigns.load.services import Service
from tests.campaigns.load.switching import Loaded, Switching
from tests.export.serving.servers import NAME
from tests.export.serving.versions import RUNTIMES, Versions
from tf_charagram.export.serving.folder import ServingFolder

DIRECT = "direct, c_library"
LEGS = {"rest": RestLeg, "grpc": GrpcLeg}
_SAMPLE_S = 10.0

#: Serves the versions in a folder by a runtime.
Serve = Callable[[Path, str], AbstractContextManager[Service]]


@dataclass
class Ways:
    """All ways to the model.

    Attributes:
        legs: Name -> makes a client's leg.
        processes: What runs -> its process.
    """

    legs: dict[str, Callable[[], Leg]] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)

    def add_service(self, service: Service) -> None:
        """Adds the legs to a server."""
        for kind, url in service.urls.items():
            self.legs[f"{kind}, {service.runtime}"] = partial(LEGS[kind], url)
        if service.pid != os.getpid():
            self.processes[f"server, {service.runtime}"] = service.pid

    def add_direct(self, versions: Versions) -> None:
        """Adds the C library in this process."""
        self.legs[DIRECT] = partial(DirectLeg, versions)
        self.processes["clients and C library"] = os.getpid()

    def loaded(self, stack: ExitStack) -> dict[str, Loaded]:
        """Returns what tells which versions each leg says are loaded."""
        watchers = {name: make() for name, make in self.legs.items()}
        for leg in watchers.values():
            stack.callback(leg.close)
        return {name: leg.versions for name, leg in watchers.items()}


def run_load(plan: Plan, folder: Path, serve: Serve, log: Log) -> Report:
    """Runs a campaign once.

    Args:
        plan: What to do.
        folder: Empty; for models.
        serve: Starts a server.
        log: Where lines go.
    """
    pool = make_pool(plan.seed)
    models = folder / NAME
    switching = Switching(models, export_models(folder, pool, plan.num_exports))
    ways = Ways()
    with ExitStack() as stack:
        for runtime in plan.runtimes:
            ways.add_service(stack.enter_context(serve(models, runtime)))
        direct = Versions(ServingFolder(models), RUNTIMES["c_library"])
        ways.add_direct(stack.enter_context(direct))
        loaded = ways.loaded(stack)
        switching.switch(loaded)
        pauses = stack.enter_context(Pauses())
        clients = [
            (
                name,
                Client(
                    ways.legs[name](),
                    pool,
                    switching,
                    pauses,
                    random.Random(f"{plan.seed} {number}"),
                    mean_pause_s=plan.num_clients / plan.rate,
                    share_bad=plan.share_bad,
                    tell=partial(log.failure, name),
                ),
            )
            for number in range(plan.num_clients)
            for name in [list(ways.legs)[number % len(ways.legs)]]
        ]
        report = Report(plan, tallies=partial(_tallies, clients))
        for _, client in clients:
            client.start()
        try:
            _watch(report, switching, loaded, ways.processes, log, pauses.clock)
        except (OSError, RuntimeError) as error:
            report.ended = f"{type(error).__name__}: {error}"
        finally:
            for _, client in clients:
                client.stop()
            for _, client in clients:
                client.join()
            report.paused_s = pauses.seconds
    return report


def _watch(
    report: Report,
    switching: Switching,
    loaded: dict[str, Loaded],
    processes: dict[str, int],
    log: Log,
    clock: Callable[[], float],
) -> None:
    """Switches versions and samples memory until the time is over."""
    start = clock()
    sample_at, switch_at = start, start + report.plan.switch_s
    end = start + report.plan.seconds
    try:
        while (now := clock()) < end:
            # Switching may take long: what was missed is not made up for.
            if now >= switch_at:
                switching.switch(loaded)
                report.num_switches += 1
                switch_at = max(switch_at + report.plan.switch_s, clock())
            elif now >= sample_at:
                memory = {name: memory_mb(pid) for name, pid in processes.items()}
                report.add(Sample(now - start, switching.newest, memory))
                log.write(report.progress())
                sample_at = max(sample_at + _SAMPLE_S, now)
            else:
                time.sleep(min(switch_at, sample_at, end) - now)
    finally:
        report.seconds = clock() - start


def _tallies(clients: list[tuple[str, Client]]) -> dict[str, Tally]:
    """Returns what the clients of each leg found together."""
    tallies: dict[str, Tally] = {}
    for name, client in clients:
        tallies[name] = tallies.get(name, Tally()) + client.tally
    return tallies
