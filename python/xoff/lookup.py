"""Numbers read from the summary of a run, without its tables (and so without numpy)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xoff.percentiles import BEYOND, permille
from xoff.result import Result

Group = Mapping[str, Any]


def class_entry(result: Result, name: str | None = None) -> Group | None:
    """Return the summary of a traffic class, by default the first that is not an incast.

    None if there is no class `name`, or no class at all.
    """
    entries = result.class_entries
    if name is not None:
        return next((e for e in entries if e.get("class") == name), None)
    plain = [e for e in entries if "incast" not in str(e.get("class", ""))]
    found = plain or entries
    return found[0] if found else None


def statistic(group: Group, name: str, unfinished: int | None = None) -> float | None:
    """Read one statistic of a group of flows.

    Returns None if there are too few samples, infinity if unfinished flows determine it (the
    summary has null despite enough samples). `unfinished` is the class's number of unfinished
    flows, used if the group has none of its own.
    """
    value = group.get(name)
    if value is not None:
        return float(value)
    flows = int(group.get("flows") or 0)
    left = group.get("unfinished", unfinished)
    if "finished" in group:
        left = flows - int(group["finished"])
    if flows == 0 or left == 0:
        return None
    if name.startswith("p") and flows * (1000 - permille(name)) < BEYOND * 1000:
        return None
    return math.inf


def bin_centre(group: Group) -> float:
    """Return the geometric mean of a size bin's limits, in bytes.

    A bin that starts at zero or has no upper limit is taken to span a decade.
    """
    low, high = group.get("low_bytes") or 0, group.get("high_bytes")
    if not high or math.isinf(high):
        return float(low) * math.sqrt(10)
    return math.sqrt(max(float(low), high / 10) * high)


def bins(result: Result, cls: str | None = None) -> list[Group]:
    """Return the size bins of a class, smallest sizes first."""
    entry = class_entry(result, cls)
    return list(entry.get("bins") or []) if entry else []


def bins_within_reach(
    found: Sequence[Group], low_bytes: float, high_bytes: float
) -> Iterator[tuple[int, Group]]:
    """Yield the size bins that overlap the sizes above `low_bytes`, up to `high_bytes`.

    Each comes with its index.
    """
    for index, one in enumerate(found):
        low, high = one.get("low_bytes") or 0, one.get("high_bytes") or math.inf
        if low <= high_bytes and high > low_bytes + 1:
            yield index, one


def bin_index(found: Sequence[Group], limits: Mapping[str, float]) -> int | None:
    """Return the index of the size bin with these limits, `low` and `high`; None if there is none.

    A limit that is not given matches any bin.
    """
    low, high = limits.get("low"), limits.get("high")
    for index, one in enumerate(found):
        if low in (None, one.get("low_bytes")) and high in (None, one.get("high_bytes")):
            return index
    return None


def lookup(summary: Any, path: str) -> float | None:
    """Read a number at a dotted path, e.g. `buffer.p99_bytes`, `monitors.long.delay_p99_ps`.

    A list element is selected by index, `name` or `class`; link delays by `link` and `packets`:
    `link_delays.spine-leaf scheduled.p99_ps`. None if the value is null or absent.
    """
    here = summary
    for part in path.split("."):
        if isinstance(here, list):
            here = _element(here, part)
        elif isinstance(here, dict):
            here = here.get(part)
        else:
            return None
    return float(here) if isinstance(here, (int, float)) else None


def _element(items: list[Any], part: str) -> Any:
    if part.isdigit():
        return items[int(part)] if int(part) < len(items) else None
    return next((e for e in items if isinstance(e, dict) and part in _names(e)), None)


def _names(element: dict[str, Any]) -> tuple[Any, ...]:
    """Return the names of a list element; link delays are named by link and kind of packets."""
    return (
        element.get("name"),
        element.get("class"),
        f"{element.get('link')} {element.get('packets')}",
    )
