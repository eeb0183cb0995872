"""What takes the time until rates are equal after a flowlet has started or ended.

A change goes through three stages: its report travels to the allocator, the allocator iterates
until its rates are right, and the last of them comes into force at an agent.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xoff.errors import RunError
from xoff.lab.deploy import ALLOCATOR_PORT, PRIORITY, Flowtune
from xoff.lab.experiments import fairness, staggered
from xoff.lab.network import FILES, Setup, inside
from xoff.lab.percentiles import percentiles
from xoff.lab.settling import Settled, settled
from xoff.lab.transfers import MS

TAP = Path(__file__).with_name("tap.py")
ITERATION_NS = MS
# The paper's step of prices, and that of the allocator around a switch.
GAMMAS = (0.4, 0.7)


@dataclass(frozen=True)
class Message:
    """A control message with news at the allocator: a `report`, or `rates`."""

    at: int
    kind: str
    host: int


def stages(change: Settled, messages: Sequence[Message]) -> dict[str, float] | None:
    """Return the time of each stage in ms, and the allocator's iterations; None if one is missing.

    `wait` is the time from the report to the first rates of any endpoint: until the next iteration
    begins, and for it. After an end, rates can only grow once prices have fallen, in the iteration
    after that one. `iterations` are those from the report to the last rates, one each millisecond.
    """
    own = [each for each in messages if change.since <= each.at <= change.at]
    report = [each.at for each in own if each.kind == "report" and each.host == change.host]
    rates = [each.at for each in own if each.kind == "rates" and report and each.at > report[0]]
    if not rates:
        return None
    return {
        "report": (report[0] - change.since) / MS,
        "wait": (rates[0] - report[0]) / MS,
        "iterating": (rates[-1] - rates[0]) / MS,
        "enforcement": (change.at - rates[-1]) / MS,
        "iterations": float(math.ceil((rates[-1] - report[0]) / ITERATION_NS)),
    }


def settling(setup: Setup, runs: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Run Fig. 6 in turn with each step of prices; return the times of the stages.

    Stages are those of changes that were settled before the next one. There are more changes than
    the pattern has: a sender that gets no processor empties its buffer, which ends a flowlet.
    """
    plan = staggered(setup)
    took: dict[float, list[float]] = {gamma: [] for gamma in GAMMAS}
    parts: dict[float, list[dict[str, float]]] = {gamma: [] for gamma in GAMMAS}
    for number in range(runs):
        for gamma in GAMMAS:
            deployed = Flowtune(setup, trace=True, gamma=gamma)
            deployed.start()
            with tapped(setup) as messages:
                _, run, _ = fairness(setup, "default", plan)
            deployed.stop()
            found = settled(deployed, run, plan)
            took[gamma] += [each.took_ms for each in found]
            alone = [each for each in found if each.is_alone]
            parts[gamma] += [part for each in alone if (part := stages(each, messages))]
            shown = percentiles([each.took_ms for each in found])
            report(f"settling {number + 1}/{runs} gamma {gamma}: {shown}")
    result = {f"{gamma}": _summary(took[gamma], parts[gamma]) for gamma in GAMMAS}
    return {"gamma": result, "runs": runs}


def _summary(took: Sequence[float], parts: Sequence[dict[str, float]]) -> dict[str, Any]:
    names = ("report", "wait", "iterating", "enforcement", "iterations")
    within = [part["iterations"] <= 3 for part in parts]
    return {
        "settling_ms": percentiles(took),
        **{name: percentiles([part[name] for part in parts]) for name in names},
        "within_three_iterations": sum(within) / max(1, len(within)),
    }


@contextmanager
def tapped(setup: Setup) -> Iterator[list[Message]]:
    """Note control messages of the allocator; the list is filled at the end."""
    log = FILES / "tap.log"
    messages: list[Message] = []
    with log.open("w") as output:
        command = [*PRIORITY, sys.executable, "-I", str(TAP), str(ALLOCATOR_PORT)]
        process = subprocess.Popen(inside(setup.allocator, command), stdout=output)
        try:
            yield messages
        finally:
            process.terminate()
            process.wait()
    lines = log.read_text().splitlines()
    if lines[:1] != ["listening"]:
        raise RunError("the tap of control messages did not start")
    for line in lines[1:]:
        at, kind, host = line.split()
        messages.append(Message(int(at), kind, int(host)))
