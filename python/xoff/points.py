"""Changes of an experiment's points: other settings, more seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xoff import api
from xoff.errors import ScenarioError, UsageError
from xoff.experiment import Point


def with_settings(
    points: Sequence[Point], overrides: Sequence[str]
) -> tuple[tuple[Point, ...], list[str]]:
    """Return the points with `--set` overrides after their own, and the labels left unchanged.

    A case whose scenario refuses the overrides keeps its settings: `hpcc.eta` means nothing to a
    case without HPCC. Raises `ScenarioError` if every case refuses them, `UsageError` if nothing
    is simulated.
    """
    simulated = [point for point in points if not point.compute]
    if not simulated:
        raise UsageError("--set changes simulations, and this experiment only computes")
    keys = {override.partition("=")[0] for override in overrides}
    for point in simulated:
        if point.seed is not None and point.seed_key in keys:
            raise UsageError(
                f"--set {point.seed_key}=... would be the seed of all runs, but cases of this "
                "experiment have several: use --seeds N"
            )
    changed: dict[Point, Point] = {}
    refused: ScenarioError | None = None
    for point in simulated:
        new = replace(point, overrides=(*point.overrides, *overrides))
        try:
            api.check(new.scenario, new.overrides)
        except ScenarioError as error:
            refused = refused or error
        else:
            changed[point] = new
    if not changed and refused is not None:
        raise refused
    left = [point.label for point in simulated if point not in changed]
    return tuple(changed.get(point, point) for point in points), list(dict.fromkeys(left))


def made_alike(points: Sequence[Point], overrides: Sequence[str]) -> list[str]:
    """Return the keys of `--set` overrides to which these points give different values."""
    keys = dict.fromkeys(override.partition("=")[0].strip() for override in overrides)
    return [key for key in keys if len({_value(point, key) for point in points}) > 1]


def _value(point: Point, key: str) -> str | None:
    values = (one.partition("=") for one in reversed(point.overrides))
    return next((value for own, _, value in values if own == key), None)


def with_seeds(points: Sequence[Point], counts: Mapping[str, int]) -> tuple[Point, ...]:
    """Return the points with at least `counts[label]` seeds each, continuing after the last.

    A simulation without a seed gets the seeds from 1 on. Labels that are not in `counts` stay as
    they are.
    """
    found = [_seeded(point) if point.label in counts else point for point in points]
    for label, count in counts.items():
        own = [point for point in found if point.label == label and point.seed is not None]
        if not own:
            continue
        last = max(point.seed or 0 for point in own)
        at = found.index(own[-1]) + 1
        more = [_reseeded(own[-1], last + i) for i in range(1, count - len(own) + 1)]
        found[at:at] = more
    return tuple(found)


def _seeded(point: Point) -> Point:
    """Return the point with a seed if it has none. A computation has no seed."""
    if point.seed is not None or point.compute:
        return point
    return replace(point, seed=1, overrides=(*point.overrides, f"{point.seed_key}=1"))


def _reseeded(point: Point, seed: int) -> Point:
    """Return the point with another seed. Settings of `--set` may follow its seed."""
    old, new = (f"{point.seed_key}={value}" for value in (point.seed, seed))
    overrides = tuple(new if one == old else one for one in point.overrides)
    return replace(point, seed=seed, overrides=overrides)


def seeds(points: Sequence[Point]) -> dict[str, list[int]]:
    """Return the seeds of every label that has any."""
    found: dict[str, list[int]] = {}
    for point in points:
        if point.seed is not None:
            found.setdefault(point.label, []).append(point.seed)
    return found
