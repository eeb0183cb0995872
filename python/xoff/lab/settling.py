"""When rates are equal after a flowlet has started or ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xoff.lab.deploy import Flowtune
from xoff.lab.transfers import MS, Run, Sending

# Rates have converged when each is this close to an equal share of what may be allocated.
BAND = 0.02
# Payload of a full frame and what it takes of a link, as the allocator counts, and the share of a
# link that the allocator leaves free (section 5.3.2).
PAYLOAD_BYTES, FRAME_BYTES, FREE = 1448, 1538, 0.01


@dataclass(frozen=True)
class Settled:
    """A flowlet started or ended, and all enforced rates were equal. Times in ns.

    `is_alone` says whether nothing else changed meanwhile.
    """

    since: int
    host: int
    at: int
    is_alone: bool = True

    @property
    def took_ms(self) -> float:
        """The time between both."""
        return (self.at - self.since) / MS


def settled(deployed: Flowtune, run: Run, plan: Sequence[Sending]) -> list[Settled]:
    """Return for each start and end of a flowlet when enforced rates were equal.

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
    waiting: list[tuple[int, int]] = []
    found: list[Settled] = []
    for at, event, key, rate in own:
        if event == "ended":
            active.pop(key, None)
        elif event == "started" or key in active:
            active[key] = rate
        if event != "rate":
            waiting.append((at, key[0]))
        rates = list(active.values())
        share = capacity / max(1, len(rates))
        if all(abs(each - share) <= BAND * share for each in rates):
            found += [Settled(since, host, at, len(waiting) == 1) for since, host in waiting]
            waiting = []
    return found
