"""Transfers on the hosts of the laboratory, as the receiver saw them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xoff.errors import RunError
from xoff.lab.deploy import TRANSFER_PRIORITY
from xoff.lab.network import Setup, address, inside
from xoff.series import Phase

SCRIPT = Path(__file__).with_name("traffic.py")
PORT = 5000
MS = 1_000_000
# Time until all processes have started.
START_NS = 1_500 * MS
INTERVAL_NS = 5 * MS
# Payload of a full frame, and what the shaper counts of it: without preamble, gap and checksum.
PAYLOAD_BYTES, SHAPED_BYTES = 1448, 1514


@dataclass(frozen=True)
class Sending:
    """What a host sends: connections of `size` bytes, or of unlimited size until `last_ns`.

    Times count from the start of the run.
    """

    host: int
    connections: int = 1
    size: int = 0
    first_ns: int = 0
    last_ns: int = 0


@dataclass(frozen=True)
class Transfer:
    """A connection at the receiver. Times count from the start of the run."""

    host: int
    first_ns: int
    last_ns: int
    size: int
    is_whole: bool
    longest_gap_ns: int
    intervals: dict[int, int]


class Run:
    """A receiver and senders that are running."""

    def __init__(self, setup: Setup, control: str, plan: Sequence[Sending], limit_s: float) -> None:
        self.start_ns = (time.monotonic_ns() + START_NS) // INTERVAL_NS * INTERVAL_NS
        stop_ns = self.start_ns + int(limit_s * 1e9)
        to = [address(setup.receiver), str(PORT)]
        script = [*TRANSFER_PRIORITY, sys.executable, "-I", str(SCRIPT)]
        expected = sum(each.connections for each in plan)
        receive = [*script, "receive", *to, str(stop_ns), str(INTERVAL_NS), str(expected)]
        self.receiver = subprocess.Popen(
            inside(setup.receiver, receive), stdout=subprocess.PIPE, text=True
        )
        assert self.receiver.stdout is not None
        if self.receiver.stdout.readline() != "listening\n":
            raise RunError("the receiver did not start")
        self.senders = []
        for each in plan:
            times = [str(self.start_ns + at) for at in (each.first_ns, each.last_ns)]
            send = ["send", *to, control, *times, str(each.connections), str(each.size)]
            command = inside(each.host, [*script, *send, str(each.host)])
            self.senders.append(subprocess.Popen(command))

    def finish(self) -> list[Transfer]:
        """Wait for the end; return the transfers. Raises `RunError`."""
        output, _ = self.receiver.communicate()
        for sender in self.senders:
            if self.receiver.returncode != 0:
                sender.kill()
            sender.wait()
        codes = [self.receiver.returncode, *(sender.returncode for sender in self.senders)]
        if any(codes):
            raise RunError(f"receiver and senders ended with {codes}")
        return [self._transfer(json.loads(line)) for line in output.splitlines()]

    def _transfer(self, row: dict[str, Any]) -> Transfer:
        first = self.start_ns // INTERVAL_NS
        return Transfer(
            host=int(row["name"].partition(".")[0]),
            first_ns=row["first_ns"] - self.start_ns,
            last_ns=row["last_ns"] - self.start_ns,
            size=row["bytes"],
            is_whole=row["is_whole"],
            longest_gap_ns=row["longest_gap_ns"],
            intervals={at - first: size for at, size in row["intervals"]},
        )


def full_bytes(setup: Setup, interval_ns: int) -> float:
    """Return the payload that the bottleneck carries in an interval."""
    return setup.bottleneck_bps / 8 * PAYLOAD_BYTES / SHAPED_BYTES * interval_ns * 1e-9


def phases(setup: Setup, plan: Sequence[Sending], found: Sequence[Transfer]) -> list[Phase]:
    """Return the phases between starts and ends of the plan, which has one connection a host."""
    of_host = {each.host: each.intervals for each in found}
    changes = sorted({at for each in plan for at in (each.first_ns, each.last_ns)})
    result = []
    for first_ns, end_ns in itertools.pairwise(changes):
        active = [each.host for each in plan if each.first_ns <= first_ns < each.last_ns]
        times = range(first_ns // INTERVAL_NS, end_ns // INTERVAL_NS)
        rows = [[of_host.get(host, {}).get(at, 0) for host in active] for at in times]
        received = np.array(rows, dtype=float)
        full = full_bytes(setup, INTERVAL_NS)
        result.append(Phase(tuple(active), INTERVAL_NS * 1e-3, full, received, received))
    return result
