"""Experiments of Flowtune, section 5.1, on real hosts: Fig. 6 and Fig. 7.

Runs of the schemes alternate, so that what else the machine does meets all of them alike.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xoff.errors import RunError
from xoff.lab.deploy import Flowtune, senders
from xoff.lab.network import Setup
from xoff.lab.transfers import INTERVAL_NS, MS, Run, Sending, Transfer, phases
from xoff.series import MEASURES

Array = Any
Report = Callable[[str], None]

# The paper's: "eight senders start every 50 ms in sequence, and then finish similarly".
STAGGER_NS = 50 * MS
# The paper's 25 parallel transfers; 10 MB each at 10 Gb/s became 1 MB at 1 Gb/s.
TRANSFERS, TRANSFER_BYTES = 25, 1_000_000
COFLOW_LIMIT_S = 60.0
# Rates have converged when each is this close to an equal share of what may be allocated.
BAND = 0.02
# Payload of a full frame and what it takes of a link, as the allocator counts, and the share of a
# link that the allocator leaves free (section 5.3.2).
PAYLOAD_BYTES, FRAME_BYTES, FREE = 1448, 1538, 0.01

BASELINES = {"Cubic": "cubic", "BBR": "bbr"}
"""Schemes without an allocator, and what the kernel calls them."""


def controls(schemes: Sequence[str]) -> dict[str, str]:
    """Return the congestion control of each scheme; `default` is the one of the host's agent."""
    return {scheme: BASELINES.get(scheme, "default") for scheme in schemes}


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
                settling += settling_ms(with_agents, run, plan)
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


def settling_ms(deployed: Flowtune, run: Run, plan: Sequence[Sending]) -> list[float]:
    """Return for each start and end of a flowlet the time until enforced rates were equal.

    The rate of every active flowlet must be within `BAND` of its share.
    """
    capacity = deployed.setup.bottleneck_bps / 8 * PAYLOAD_BYTES / FRAME_BYTES * (1 - FREE)
    changes: list[tuple[int, str, tuple[int, int], float]] = []
    for host, agent in deployed.agents.items():
        for event in ("started", "rate", "ended"):
            for line in agent.lines(event):
                key = host, int(line["flowlet"])
                changes.append((int(line["ns"]), event, key, float(line["rate"] or 0)))
    last = max(each.last_ns for each in plan)
    own = [each for each in sorted(changes) if 0 <= each[0] - run.start_ns <= last + 20 * MS]
    active: dict[tuple[int, int], float] = {}
    waiting: list[int] = []
    found: list[float] = []
    for at, event, key, rate in own:
        if event == "ended":
            active.pop(key, None)
        elif event == "started" or key in active:
            active[key] = rate
        if event != "rate":
            waiting.append(at)
        rates = list(active.values())
        share = capacity / max(1, len(rates))
        if all(abs(each - share) <= BAND * share for each in rates):
            found += [(at - since) / MS for since in waiting]
            waiting = []
    return found


def fig07(setup: Setup, schemes: Sequence[str], runs: int, report: Report) -> dict[str, Any]:
    """Run Fig. 7 in turn with each scheme; return completion times of the coflow, in s."""
    plan = [Sending(host, TRANSFERS, TRANSFER_BYTES) for host in senders(setup)]
    completion: dict[str, list[float]] = {scheme: [] for scheme in schemes}
    deployed = Flowtune(setup)
    deployed.start()
    for number in range(runs):
        for scheme, name in controls(schemes).items():
            found = Run(setup, name, plan, COFLOW_LIMIT_S).finish()
            whole = [each for each in found if each.is_whole and each.size == TRANSFER_BYTES]
            if len(whole) != len(plan) * TRANSFERS:
                raise RunError(f"{scheme}: {len(whole)} of {len(plan) * TRANSFERS} transfers ended")
            completion[scheme].append(max(each.last_ns for each in found) * 1e-9)
            report(f"fig07 {number + 1}/{runs} {scheme}: {completion[scheme][-1]:.3f} s")
    deployed.stop()
    return {
        "completion_s": {scheme: percentiles(each) for scheme, each in completion.items()},
        "all_s": completion,
        "control": deployed.counters(),
        "runs": runs,
    }


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return the median, upper percentiles, extremes and spread."""
    if not values:
        return {"count": 0}
    shown = {f"p{part}": float(np.percentile(values, part)) for part in (50, 90, 95, 99)}
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return {"count": len(values), **shown, "max": max(values), "std": spread}


def _means(measures: Sequence[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.mean(each[key] for each in measures) for key in measures[0]}


def _shown(measured: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.4f}" for key, value in measured.items())
