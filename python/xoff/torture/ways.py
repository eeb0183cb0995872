"""The ways in which one world is simulated: they must give the same results."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

PARTS = (2, 3, 4, 5, 8)


@dataclass(frozen=True)
class Way:
    """A cut of the network, a number of threads, and whether threads wait for random times.

    With `partitions` 0 the engine cuts the network as it thinks best.
    """

    partitions: int = 1
    threads: int = 1
    delay_seed: int | None = None

    def request(self) -> dict[str, Any]:
        """Describe it to a worker."""
        return {**asdict(self), "overrides": [f"run.partitions={self.partitions}"]}

    def __str__(self) -> str:
        waits = "" if self.delay_seed is None else f", delays of seed {self.delay_seed}"
        cut = "as it thinks best" if self.partitions == 0 else f"in {self.partitions} parts"
        return f"{cut}, {self.threads} thread{'s' * (self.threads > 1)}{waits}"


WHOLE = Way()


def draw(rng: random.Random) -> list[Way]:
    """Draw ways: the whole network, and three cuts of it, two of them on several threads."""
    first, second = rng.sample(PARTS, 2)
    return [
        WHOLE,
        Way(first),
        Way(0, rng.randrange(2, 5)),
        Way(second, rng.randrange(2, 5), delay_seed=rng.randrange(1 << 32)),
    ]
