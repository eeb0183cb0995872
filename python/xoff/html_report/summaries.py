"""What the page shows of a run's summary: slowdowns, buffers and key figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xoff.budget import EarlyEnd
from xoff.lookup import Group, bin_centre, lookup, statistic
from xoff.text import byte_text, fixed, time_text

STATISTICS = ("mean", "p50", "p95", "p99", "p999")
POINTS = 400
"""Points of a distribution, at most."""


def slowdowns(classes: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the slowdowns of each class with flows, by bin of sizes."""
    found = []
    for entry in classes:
        if not entry.get("flows"):
            continue
        groups = [group for group in entry.get("bins") or [] if group.get("flows")]
        found.append(
            {
                "class": str(entry.get("class")),
                "flows": int(entry["flows"]),
                "unfinished": int(entry.get("unfinished") or 0),
                "bins": [_bin(group) for group in groups],
            }
        )
    return found


def _bin(group: Group) -> dict[str, Any]:
    return {
        "low": group.get("low_bytes") or 0,
        "high": group.get("high_bytes"),
        "bytes": round(bin_centre(group), 1),
        "flows": int(group["flows"]),
        # None, and not drawn, where there are too few flows or unfinished ones decide.
        **{stat: group.get(stat) for stat in STATISTICS},
    }


def buffer_cdf(summary: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the distribution of bytes in a switch's buffer: `bytes` and `share`."""
    points = (summary.get("buffer") or {}).get("cdf") or []
    step = -(-len(points) // POINTS) if points else 1
    kept = points[::step]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    return {"bytes": [x for x, _ in kept], "share": [round(y, 6) for _, y in kept]}


def key_figures(
    summary: Mapping[str, Any], unfinished: str = "unfinished"
) -> list[tuple[str, str]]:
    """Return the rows of the table of key figures: a name and a value with its unit.

    `unfinished` names the flows that have not ended.
    """
    rows = [
        ("scheme", str(summary.get("scheme", "?"))),
        ("seed", str(summary.get("seed", "?"))),
        ("measured time", time_text(summary.get("measured_ps"))),
    ]
    if early := EarlyEnd.read(summary):
        rows.insert(0, ("part of a run", early.text))
    for entry in summary.get("classes") or []:
        if entry.get("flows"):
            rows += _of_class(entry, unfinished)
    for name, path in (
        ("switch buffer, p50", "buffer.p50_bytes"),
        ("switch buffer, p99", "buffer.p99_bytes"),
        ("switch buffer, highest in the run", "buffer_watermark.run_max_bytes"),
    ):
        rows.append((name, byte_text(lookup(summary, path))))
    for name, path in (
        ("time paused by PFC, mean over ports", "pfc.pause_time_share"),
        ("time with a queue paused by BFC, mean over ports", "bfc.some_queue_paused_share"),
        ("utilisation, links between switches", "utilisation.core"),
        ("utilisation, links of hosts", "utilisation.hosts"),
    ):
        value = lookup(summary, path)
        rows.append((name, "-" if value is None else f"{value:.2%}"))
    lost = lookup(summary, "dropped.packets")
    rows.append(("packets lost, measured time", "-" if lost is None else f"{int(lost):,}"))
    return rows


def _of_class(entry: Group, unfinished: str) -> list[tuple[str, str]]:
    name, left = entry.get("class"), int(entry.get("unfinished") or 0)
    whole = entry.get("all") or {}
    flows = f"{entry['flows']:,}" + (f", {left:,} {unfinished}" if left else "")
    slow = [fixed(statistic(whole, stat, left)) for stat in ("p50", "p99")]
    return [
        (f"flows, {name}", flows),
        (f"slowdown p50, {name}", slow[0]),
        (f"slowdown p99, {name}", slow[1]),
    ]
