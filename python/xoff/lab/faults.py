"""Rates while control messages are lost and come in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xoff.lab.deploy import Faults, Flowtune
from xoff.lab.experiments import fairness, staggered
from xoff.lab.network import Setup
from xoff.lab.percentiles import percentiles
from xoff.lab.settling import settled
from xoff.lab.transfers import MS

LOSSES = (0.0, 0.1, 0.3, 0.5)
# Of the messages that are not lost, this share comes 1 ms to 5 ms late.
REORDERED = 0.2
# Longer than in Fig. 6, so that rates settle before the next change.
STAGGER_NS = 400 * MS


def faults(setup: Setup, runs: int, seed: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Run Fig. 6 for each share of lost messages; return how long rates took to be equal."""
    found: dict[str, Any] = {}
    problems: list[str] = []
    plan = staggered(setup, STAGGER_NS)
    for loss in LOSSES:
        deployed = Flowtune(setup, trace=True, faults=Faults(loss, REORDERED, seed))
        deployed.start()
        settling: list[float] = []
        deviations: list[float] = []
        for _ in range(runs):
            measured, run, _ = fairness(setup, "default", plan)
            settling += [each.took_ms for each in settled(deployed, run, plan)]
            deviations.append(measured["deviation_mean"])
        deployed.stop()
        found[f"{loss:.0%}"] = {
            "settling_ms": percentiles(settling),
            "deviation_mean": sum(deviations) / len(deviations),
        }
        if not settling:
            problems.append(f"{loss:.0%} lost: rates never became equal")
        report(f"faults {loss:.0%} lost: {found[f'{loss:.0%}']}")
    return {"reordered": REORDERED, "losses": found, "runs": runs, "problems": problems}
