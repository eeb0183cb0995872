"""The summary of a run as plain, aligned text for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xoff import numerical
from xoff.lookup import Group, lookup, statistic
from xoff.result import Result
from xoff.text import byte_text, count_text, fixed, table, time_text

SHOWN = ("mean", "p50", "p95", "p99")
HEADER = ("size (bytes)", "flows", *SHOWN)
BFC = (
    ("pauses", "BFC frames that pause a queue"),
    ("resumes", "BFC frames that resume a queue"),
    ("refreshes", "BFC frames that refresh pauses"),
    ("assignments", "BFC assignments of a flow to a queue"),
    ("collisions", "BFC assignments to a queue in use"),
    ("table_collisions", "BFC packets whose table entry was in use"),
)
"""Counts of BFC and their titles."""
USED = ("utilisation", "utilisation, {} links")
LOAD = ("load", "load, {}")
BOTH = """
utilisation, load wire: bytes that links carried, both ways, with headers and acknowledgements
load nominal, load payload: payload asked for and of the measured flows, as if all crossed the core
(without a core: the hosts' links); flows within a rack do not, so the core can carry less"""


def render(result: Result) -> str:
    """Format the summary: slowdown by size and class, buffers, pauses, drops, monitors."""
    if engine := numerical.engine_of(result.summary):
        rows = list(zip(numerical.titles(engine), numerical.values(result.summary), strict=True))
        parts = [_head(result.summary, result.digest), table((engine, "value"), rows)]
        return "\n\n".join([*parts, *_warnings(result.summary)]) + "\n"
    parts = [_head(result.summary, result.digest)]
    parts += [_class_table(entry) for entry in result.class_entries]
    parts.append(_collectives(result.summary))
    parts.append(_fabric(result.summary))
    parts += [_monitors(result.summary)] if result.summary.get("monitors") else []
    parts += _warnings(result.summary)
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(summary: Mapping[str, Any], digest: str) -> str:
    name, by = summary.get("name", "run"), f"scheme {summary.get('scheme', '?')}"
    if engine := numerical.engine_of(summary):
        by = f"engine {engine}"
    lines = [f"{name}: {by}, seed {summary.get('seed', '?')}, digest {digest}"]
    times: list[Any] = [summary.get(f"{name}_ps") for name in ("sim", "warmup", "measured")]
    if None not in times:
        simulated, warmup, measured = map(int, times)
        drain = simulated - warmup - measured
        named = ((warmup, "warm-up"), (measured, "measured"), (drain, "drain"))
        spans = ", ".join(f"{time_text(time)} {name}" for time, name in named if time > 0)
        lines.append(f"simulated {time_text(simulated)}: {spans}")
        if summary.get("packet_hops") is not None:
            lines[-1] += f"; {count_text(summary['packet_hops'])} packet-hops"
    return "\n".join(lines)


def _warnings(summary: Mapping[str, Any]) -> list[str]:
    return [f"warning: {text}" for text in summary.get("warnings") or []]


def _class_table(entry: Group) -> str:
    left = entry.get("unfinished") or 0
    title = f"FCT slowdown of class {entry.get('class', '?')} ({entry.get('flows', 0):,} flows"
    title += f", {left:,} unfinished, counted as infinite)" if left else ")"
    rows = [_row(_size(group), group, left) for group in entry.get("bins") or []]
    ranges = entry.get("ranges") or {}
    rows += [_row(name, ranges[name], left) for name in ranges if ranges[name]]
    if entry.get("all"):
        rows.append(_row("all", entry["all"], left))
    rows = [row for row in rows if row[1] != "0"]
    if not rows:
        return f"{title}\nno flows measured"
    note = ""
    if any("-" in row[2:] for row in rows):
        note = "\n-: fewer than 10 flows beyond the percentile"
    return f"{title}\n{table(HEADER, rows)}{note}"


def _row(name: str, group: Group, unfinished: int) -> list[str]:
    values = [fixed(statistic(group, stat, unfinished)) for stat in SHOWN]
    return [name, f"{group.get('flows') or 0:,}", *values]


def _size(group: Group) -> str:
    low, high = group.get("low_bytes") or 0, group.get("high_bytes")
    return f"{low:,.0f} - {high:,.0f}" if high is not None else f"{low:,.0f} and more"


def _collectives(summary: Mapping[str, Any]) -> str:
    """Format what became of jobs: a row for each."""
    header = ("job", "ranks", "rounds", "mean", "longest", "waited", "bus bandwidth")
    rows = [
        [
            str(job.get("class", "?")),
            f"{job['ranks']:,}",
            f"{job['finished']:,} of {job['rounds']:,}",
            *(_us(job.get(key)) for key in ("mean_us", "max_us", "waited_us")),
            "-" if job.get("bus_gbytes_per_s") is None else f"{job['bus_gbytes_per_s']:.4g} GB/s",
        ]
        for job in summary.get("jobs") or []
    ]
    note = "\nwaited: mean time that a rank waits for the last rank at the end of a round"
    return table(header, rows) + note if rows else ""


def _us(value: float | None) -> str:
    return "-" if value is None else time_text(round(value * 1e6))


def _fabric(summary: Mapping[str, Any]) -> str:
    rows = [*_buffer(summary), *_pauses(summary)]
    by_watchdog = lookup(summary, "pfc.watchdog.dropped_packets") or 0
    for path, name, apart in (
        ("pfc.watchdog.stuck_queues", "queues found stuck by PFC's watchdog, whole run", 0),
        ("pfc.watchdog.dropped_packets", "packets dropped by PFC's watchdog, whole run", 0),
        ("drops_packets", "packets without room, whole run", by_watchdog),
        ("dropped.packets", "packets lost in the measured time, failed links included", 0),
        ("retransmitted_packets", "packets retransmitted, whole run", 0),
    ):
        if (found := lookup(summary, path)) is not None:
            rows.append([name, f"{int(found - apart):,}"])
    used, load = (_shares(summary, *one) for one in (USED, LOAD))
    rows += used + load
    if not rows:
        return ""
    return table(("fabric", "value"), rows) + (BOTH if used and load else "")


def _buffer(summary: Mapping[str, Any]) -> list[list[str]]:
    names = (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99.9"), ("max", "max"))
    found = [(name, lookup(summary, f"buffer.{key}_bytes")) for key, name in names]
    found.append(("highest in the run", lookup(summary, "buffer_watermark.run_max_bytes")))
    return [
        [f"switch buffer, {name}", byte_text(value)] for name, value in found if value is not None
    ]


def _pauses(summary: Mapping[str, Any]) -> list[list[str]]:
    pfc, bfc, rows = summary.get("pfc") or {}, summary.get("bfc") or {}, []
    if pfc.get("pause_frames") is not None:
        rows.append(["PFC pause frames", f"{pfc['pause_frames']:,}"])
    rows += _time_paused("time paused by PFC", pfc, "pause_time_share")
    rows += _time_paused("time with a queue paused by BFC", bfc, "some_queue_paused_share")
    rows += [[title, f"{bfc[key]:,}"] for key, title in BFC if bfc.get(key) is not None]
    if bfc.get("frame_bytes_share") is not None:
        rows.append(["BFC frames, share of all bytes sent", f"{bfc['frame_bytes_share']:.3%}"])
    return rows


def _time_paused(title: str, found: Mapping[str, Any], key: str) -> list[list[str]]:
    """Return the share of time of all ports, and those of kinds of links that were paused."""
    if found.get(key) is None:
        return []
    by_link = found.get(f"{key}_by_link") or {}
    links = [[f"  {link} links", f"{share:.3%}"] for link, share in by_link.items() if share]
    return [[title, f"{found[key]:.3%}"], *links]


def _shares(summary: Mapping[str, Any], key: str, words: str) -> list[list[str]]:
    found = summary.get(key) or {}
    return [
        [words.format(name), f"{value:.1%}"]
        for name, value in found.items()
        if isinstance(value, (int, float))
    ]


def _monitors(summary: Mapping[str, Any]) -> str:
    rows = []
    for monitor in summary["monitors"]:
        share = monitor.get("utilisation")
        rows.append(
            [
                str(monitor.get("name", "?")),
                "-" if share is None else f"{share:.1%}",
                time_text(monitor.get("delay_p50_ps")),
                time_text(monitor.get("delay_p99_ps")),
            ]
        )
    return table(("monitor", "link in use", "delay p50", "delay p99"), rows)
