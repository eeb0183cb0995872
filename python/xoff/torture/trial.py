"""Runs one world in several ways and compares the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xoff.torture.pool import Worker
from xoff.torture.ways import Way
from xoff.torture.worlds import World

VIOLATION = "violates an invariant"
"""The outcome of a run in which a check failed."""
# Outcomes that are no fault of the engine. A run can get stuck: pauses can deadlock.
SOUND = frozenset({"ran", "stuck", "refused", "over budget"})


@dataclass(frozen=True)
class Failure:
    """A failure of a world and the ways that show it."""

    kind: str
    detail: str
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a world."""

    status: str
    message: str
    failure: Failure | None
    hops: int = 0
    wall_s: float = 0.0

    @property
    def rate(self) -> float:
        """Packet-hops per second on one thread."""
        return self.hops / self.wall_s if self.wall_s > 0 else 0.0


def run(worker: Worker, world: World, ways: Sequence[Way], budget_s: float) -> Outcome:
    """Run a world in each way; all must agree with the first."""
    first = worker.run(world, ways[0], budget_s)
    status, message = first["status"], first["message"]
    if status not in SOUND:
        return Outcome(status, message, Failure(status, message, (ways[0],)))
    hops, wall_s = first.get("hops", 0), first.get("wall_s", 0.0)
    failure = None
    if status in ("ran", "stuck"):
        failure = _compare(worker, world, ways, first, budget_s)
    return Outcome(status, message, failure, hops, wall_s)


def _compare(
    worker: Worker, world: World, ways: Sequence[Way], first: dict[str, Any], budget_s: float
) -> Failure | None:
    for way in ways[1:]:
        other = worker.run(world, way, budget_s)
        if other["status"] not in SOUND:
            return Failure(other["status"], other["message"], (way,))
        if other["status"] == "over budget":
            continue
        difference = differs(first, other)
        if difference is not None:
            return Failure("differs", difference, (ways[0], way))
    return None


def differs(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    """Describe the most significant difference of two answers; None if there is none."""
    for key in ("status", "digest", "message"):
        if one.get(key) != other.get(key):
            return f"{key}: {one.get(key)} and {other.get(key)}"
    for name in sorted({*one.get("tables", {}), *other.get("tables", {})}):
        if one["tables"].get(name) != other["tables"].get(name):
            return f"equal digests, but column {name} differs"
    return _first_difference(one.get("summary"), other.get("summary"), "summary")


def _first_difference(one: Any, other: Any, place: str) -> str | None:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            found = _first_difference(one.get(key), other.get(key), f"{place}.{key}")
            if found is not None:
                return found
        return None
    return None if one == other else f"equal digests, but {place} differs: {one} and {other}"


def compare_builds(
    worker: Worker, other: Worker, world: World, way: Way, budget_s: float
) -> Outcome:
    """Run a world on two builds; if both finish it, their digests must agree."""
    one = worker.run(world, way, budget_s, tables=False)
    two = other.run(world, way, budget_s, tables=False)
    failure = None
    ended = {"ran", "stuck"}
    if one["status"] not in SOUND:
        failure = Failure(one["status"], one["message"], (way,))
    elif {one["status"], two["status"]} <= ended and one["digest"] != two["digest"]:
        digests = f"digest: {one['digest']} here, {two['digest']} with the other build"
        failure = Failure("differs", digests, (way,))
    hops, wall_s = one.get("hops", 0), one.get("wall_s", 0.0)
    return Outcome(one["status"], one["message"], failure, hops, wall_s)
