"""Ways to simulate one world, which must have the same results."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

PARTS = (2, 3, 4, 5, 8)


@dataclass(frozen=True)
class Way:
    """A number of partitions and threads, and a seed of random delays in threads, if any.

    With `partitions` 0 the engine chooses the partitions.
    """

    partitions: int = 1
    threads: int = 1
    delay_seed: int | None = None

    def request(self) -> dict[str, Any]:
        """Return the way as part of a request to a worker."""
        overrides = [f"run.partitions={self.partitions}"]
        return {**asdict(self), "overrides": [*overrides, "run.check_invariants=true"]}

    def __str__(self) -> str:
        waits = "" if self.delay_seed is None else f", delays of seed {self.delay_seed}"
        cut = "default" if self.partitions == 0 else f"{self.partitions}"
        return f"partitions: {cut}, threads: {self.threads}{waits}"


WHOLE = Way()


def draw(rng: random.Random) -> list[Way]:
    """Draw four ways: one unpartitioned, three partitioned, two of these on several threads."""
    first, second = rng.sample(PARTS, 2)
    return [
        WHOLE,
        Way(first),
        Way(0, rng.randrange(2, 5)),
        Way(second, rng.randrange(2, 5), delay_seed=rng.randrange(1 << 32)),
    ]
