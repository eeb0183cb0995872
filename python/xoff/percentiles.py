"""Names of percentiles, and the number of samples that they need."""

from __future__ import annotations

# Smallest number of samples beyond a percentile for the percentile to be reported.
BEYOND = 10


def permille(name: str) -> int:
    """Return the thousandths of a percentile: 500 of `p50`, 999 of `p999`."""
    return int(name[1:].ljust(3, "0"))


def has_samples(count: float, share: int) -> bool:
    """Return whether `count` samples are enough for a percentile of `share` permille."""
    return share <= 500 or count * (1000 - share) >= BEYOND * 1000
