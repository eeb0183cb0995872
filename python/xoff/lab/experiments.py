"""Experiments of Flowtune, section 5.1, on real hosts: Fig. 6 and Fig. 7.

Runs of the schemes alternate, so that what else the machine does meets all of them alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xoff.errors import RunError
from xoff.lab import tcp_counters
from xoff.lab.deploy import Flowtune, senders
from xoff.lab.network import Setup
from xoff.lab.percentiles import percentiles
from xoff.lab.schemes import controls
from xoff.lab.settling import settled
from xoff.lab.transfers import INTERVAL_NS, MS, Run, Sending, Transfer, phases
from xoff.series import MEASURES

Array = Any
Report = Callable[[str], None]

# The paper's: "eight senders start every 50 ms in sequence, and then finish similarly".
STAGGER_NS = 50 * MS
# The paper's 25 parallel transfers; 10 MB each at 10 Gb/s became 1 MB at 1 Gb/s.
TRANSFERS, TRANSFER_BYTES = 25, 1_000_000
COFLOW_LIMIT_S = 60.0


def staggered(setup: Setup, stagger_ns: int = STAGGER_NS) -> list[Sending]:
    """Return the traffic of Fig. 6: a sender starts each `stagger_ns`, then one stops."""
    hosts = senders(setup)
    last = len(hosts) * stagger_ns
    return [
        Sending(host, first_ns=at * stagger_ns, last_ns=last + (at + 1) * stagger_ns)
        for at, host in enumerate(hosts)
    ]


def fairness(
    setup: Setup, control: str, plan: Sequence[Sending]
) -> tuple[dict[str, float], Run, list[Transfer]]:
    """Run Fig. 6 once; return its measures, the run and the transfers."""
    run = Run(setup, control, plan, limit_s=(plan[-1].last_ns + 2000 * MS) * 1e-9)
    found = run.finish()
    if len(found) != len(plan):
        raise RunError(f"{len(found)} of {len(plan)} connections came")
    all_phases = phases(setup, plan, found)
    shared = [phase for phase in all_phases if len(phase.flows) > 1]
    # Equal shares of what all got: how full the link is counts apart.
    ratios = [phase.received[1:] / phase.received[1:].mean() for phase in shared]
    means = np.concatenate([np.abs(ratio.mean(axis=0) - 1) for ratio in ratios])
    spread = np.concatenate([ratio.ravel() for ratio in ratios])
    measures = {
        "deviation_mean": float(means.mean()),
        "deviation_max": float(means.max()),
        "rate_std": float(spread.std()),
        "swing_mean": float(MEASURES["swing"](shared, 0).mean()),
        "utilisation_mean": float(MEASURES["utilisation"](all_phases, 0).mean()),
    }
    return measures, run, found


def rates_over_time(found: Sequence[Transfer]) -> dict[str, list[list[float]]]:
    """Return (ms, Mbit/s) of each host."""
    scale = 8e3 / INTERVAL_NS
    return {
        str(each.host): [
            [at * INTERVAL_NS / MS, round(size * scale, 2)] for at, size in each.intervals.items()
        ]
        for each in sorted(found, key=lambda each: each.host)
    }


def fig06(setup: Setup, schemes: Sequence[str], runs: int, report: Report) -> dict[str, Any]:
    """Run Fig. 6 in turn with each scheme; return measures, and series of the first runs."""
    measures: dict[str, list[dict[str, float]]] = {scheme: [] for scheme in schemes}
    series: dict[str, Any] = {}
    settling: list[float] = []
    plan = staggered(setup)
    with_agents = Flowtune(setup, trace=True)
    with_agents.start()
    for number in range(runs):
        for scheme, name in controls(schemes).items():
            measured, run, found = fairness(setup, name, plan)
            if scheme == "Flowtune":
                settling += [each.took_ms for each in settled(with_agents, run, plan)]
            measures[scheme].append(measured)
            series.setdefault(scheme, rates_over_time(found))
            report(f"fig06 {number + 1}/{runs} {scheme}: {_shown(measured)}")
    with_agents.stop()
    return {
        "measures": {scheme: _means(each) for scheme, each in measures.items()},
        "settling_ms": percentiles(settling),
        "control": with_agents.counters(),
        "series": series,
        "runs": runs,
    }


def fig07(setup: Setup, schemes: Sequence[str], runs: int, report: Report) -> dict[str, Any]:
    """Run Fig. 7 in turn with each scheme; return completion times of the coflow, in s."""
    plan = [Sending(host, TRANSFERS, TRANSFER_BYTES) for host in senders(setup)]
    completion: dict[str, list[float]] = {scheme: [] for scheme in schemes}
    counted: dict[str, list[dict[str, int]]] = {scheme: [] for scheme in schemes}
    starts: list[float] = []
    deployed = Flowtune(setup)
    deployed.start()
    for number in range(runs):
        for scheme, name in controls(schemes).items():
            before = tcp_counters.read(setup)
            found = Run(setup, name, plan, COFLOW_LIMIT_S).finish()
            counted[scheme].append(tcp_counters.since(before, tcp_counters.read(setup)))
            whole = [each for each in found if each.is_whole and each.size == TRANSFER_BYTES]
            if len(whole) != len(plan) * TRANSFERS:
                raise RunError(f"{scheme}: {len(whole)} of {len(plan) * TRANSFERS} transfers ended")
            completion[scheme].append(max(each.last_ns for each in found) * 1e-9)
            starts.append(max(each.first_ns for each in found) / MS)
            report(f"fig07 {number + 1}/{runs} {scheme}: {completion[scheme][-1]:.3f} s")
    deployed.stop()
    return {
        "completion_s": {scheme: percentiles(each) for scheme, each in completion.items()},
        "all_s": completion,
        "last_start_ms": percentiles(starts),
        "tcp": {scheme: _medians(each) for scheme, each in counted.items()},
        "control": deployed.counters(),
        "runs": runs,
    }


def _medians(counts: Sequence[dict[str, int]]) -> dict[str, float]:
    return {key: statistics.median(each[key] for each in counts) for key in counts[0]}


def _means(measures: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.mean(each[key] for each in measures) for key in measures[0]}


def _shown(measured: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.4f}" for key, value in measured.items())
