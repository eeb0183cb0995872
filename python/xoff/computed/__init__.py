"""Cases computed in Python, for figures that need no packets: `compute` in an experiment.

A computation is a function of its settings. It returns numbers, which become the summary of a
`Result`, and a table, which becomes its samples; plots, columns and claims read them like those
of a run. It takes a few seconds at most and is not cached.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from xoff.computed import hashing, listed, sharing, sizes
from xoff.errors import UsageError
from xoff.result import Result
from xoff.text import suggestion

if TYPE_CHECKING:
    from xoff.computed.found import Found
    from xoff.experiment import Point

ENGINE = "computed"

COMPUTATIONS: Mapping[str, Callable[..., Found]] = {
    "active-flows": sharing.active_flows,
    "collisions": hashing.collisions,
    "fair-share": sharing.fair_share,
    "listed": listed.listed,
    "size-bytes": sizes.size_bytes,
}
"""Computations by their name in `compute`. Paths such as `file` are relative to the experiment."""


def arguments(point: Point) -> dict[str, Any]:
    """Return the arguments of a point's computation. Raises `UsageError` on a bad setting."""
    function = COMPUTATIONS[point.compute]
    kinds = get_type_hints(function)
    known = inspect.signature(function).parameters
    given: dict[str, Any] = {}
    for override in point.overrides:
        key, _, value = override.partition("=")
        if key not in known:
            raise UsageError(
                f"case `{point.title}`: `{point.compute}` has no setting `{key}`"
                f"{suggestion(key, known)}"
            )
        given[key] = _read(point, key, value, kinds[key])
    missing = [
        k for k, p in known.items() if p.default is inspect.Parameter.empty and k not in given
    ]
    if missing:
        raise UsageError(f"case `{point.title}`: `{point.compute}` requires `{missing[0]}`")
    return given


def _read(point: Point, key: str, value: str, kind: type) -> Any:
    if kind is Path:
        return point.scenario.parent / value
    try:
        return kind(value)
    except ValueError:
        raise UsageError(
            f"case `{point.title}`: `{key}` must be a {kind.__name__}, not {value!r}"
        ) from None


def results(points: Sequence[Point]) -> dict[str, Result]:
    """Compute each point, after checking the settings of all. Raises `UsageError`."""
    settings = {point.title: arguments(point) for point in points}
    return {point.title: _result(point, settings[point.title]) for point in points}


def _result(point: Point, given: Mapping[str, Any]) -> Result:
    import pyarrow as pa

    try:
        found = COMPUTATIONS[point.compute](**given)
    except UsageError as error:
        raise UsageError(f"case `{point.title}`: {error}") from None
    table = pa.table(dict(found.columns))
    shown = {key: str(value) for key, value in given.items() if not isinstance(value, Path)}
    summary = {"name": point.label, "engine": ENGINE, "compute": point.compute, "settings": shown}
    return Result({**summary, **found.numbers}, "", _digest(found), None, {"samples": table})


def _digest(found: Found) -> str:
    """Return a digest of the outcome, with nine digits: processors differ in the last ones."""
    columns = {name: [f"{x:.9g}" for x in column] for name, column in found.columns.items()}
    numbers = {name: f"{x:.9g}" for name, x in found.numbers.items()}
    return hashlib.sha256(json.dumps([numbers, columns]).encode()).hexdigest()[:16]
