"""The scales of a random world, from which its traffic and its times follow."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fabric:
    """Properties of the network that traffic and times depend on, from an effective scenario."""

    hosts: int
    racks: int
    spines: int
    host_rate: float
    round_trip_ps: float


@dataclass(frozen=True)
class Times:
    """The times of a run, in picoseconds."""

    warmup: float
    measure: float
    drain: float
    grid: float

    @property
    def end(self) -> float:
        """End of the measured time."""
        return self.warmup + self.measure
