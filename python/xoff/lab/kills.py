"""Transfers go on while the allocator and agents are killed: `kill -9` at random moments."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from xoff.errors import RunError
from xoff.lab import deploy, network
from xoff.lab.deploy import Daemon, Flowtune, senders
from xoff.lab.network import Setup
from xoff.lab.transfers import MS, START_NS, Run, Sending

# Enough for about 0.7 s of transfers when all hosts send.
TRANSFER_BYTES = 10_000_000
LIMIT_S = 30.0
# TCP's retransmission timeout: at least 200 ms and a smoothed round trip, and then the way to the
# receiver. A longer silence is a stall.
RTO_MS = 250.0
VICTIMS = ("allocator", "agent", "worker", "both")


def kills(setup: Setup, rounds: int, seed: int, report: Callable[[str], None]) -> dict[str, Any]:
    """Kill parts `rounds` times; return what went wrong, and the longest silences.

    The victim is the allocator, an agent (both of its processes end), the process of an agent that
    talks to the allocator, or the allocator and an agent.
    """
    chance = random.Random(seed)
    deployed = Flowtune(setup)
    deployed.start()
    plan = [Sending(host, 1, TRANSFER_BYTES) for host in senders(setup)]
    problems: list[str] = []
    silences: dict[str, list[float]] = {victim: [] for victim in VICTIMS}
    for number in range(rounds):
        victim, host = VICTIMS[number % len(VICTIMS)], chance.choice(senders(setup))
        run = Run(setup, "default", plan, LIMIT_S)
        time.sleep((START_NS + chance.uniform(0, 600 * MS)) * 1e-9)
        _kill(deployed, victim, host)
        found = run.finish()
        whole = [each for each in found if each.is_whole and each.size == TRANSFER_BYTES]
        if len(whole) != len(plan):
            problems.append(f"round {number}, {victim}: {len(plan) - len(whole)} transfers failed")
        silence = max((each.longest_gap_ns for each in found), default=0) / MS
        silences[victim].append(silence)
        if silence > RTO_MS:
            problems.append(f"round {number}, {victim}: {silence:.0f} ms without a byte")
        problems += [
            f"round {number}, {victim}: {left}" for left in _restart(deployed, victim, host)
        ]
        report(f"kills {number + 1}/{rounds} {victim} of host {host}: {silence:.0f} ms")
    deployed.stop()
    problems += [f"after an orderly exit: {left}" for left in remains(deployed.agents)]
    return {
        "rounds": rounds,
        "problems": problems,
        "longest_silence_ms": {victim: max(each, default=0) for victim, each in silences.items()},
    }


def _kill(deployed: Flowtune, victim: str, host: int) -> None:
    agent = deployed.agents[host].process
    if victim in ("allocator", "both") and deployed.allocator:
        deployed.allocator.process.kill()
    if victim in ("agent", "both"):
        agent.kill()
    if victim == "worker":
        children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)


def _restart(deployed: Flowtune, victim: str, host: int) -> list[str]:
    """Clean up after a kill and start again; return what was left in spite of that."""
    left: list[str] = []
    agent = deployed.agents[host]
    if victim == "worker":
        # The keeper notices, restores the host and ends.
        agent.process.wait()
    elif victim in ("agent", "both"):
        agent.process.wait()
        deploy.clean_up()
    if victim != "allocator":
        left = remains({host: agent})
        deployed.start_agent(host)
    if victim in ("allocator", "both") and deployed.allocator:
        deployed.allocator.process.wait()
        deployed.start_allocator()
    deployed.wait_for(host)
    return left


def remains(agents: dict[int, Daemon]) -> list[str]:
    """Return what ended agents have left in the kernel."""
    names = [deploy.control(host) for host in agents]
    left = [each for each in deploy.remains() if each.split(",")[0] in names]
    running = sum(agent.process.poll() is None for agent in agents.values())
    if shutil.which("bpftool") and not running and len(agents) > 1:
        deadline = time.monotonic() + 3
        # The kernel frees programs some time after their last use.
        while (programs := _programs()) and time.monotonic() < deadline:
            time.sleep(0.1)
        if programs:
            left.append(f"{programs} eBPF programs")
    return left


def _programs() -> int:
    try:
        return network.call(["bpftool", "prog", "show"]).count(" name flowtune_")
    except RunError:
        return 0
