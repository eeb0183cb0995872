"""`xoff bench control`: what the allocator's daemon sustains."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from xoff import engine
from xoff.bench_alloc import CASES
from xoff.text import fixed, table

Figures = dict[str, Any]

# Starts and ends of flowlets per second.
EVENTS = (200, 2_000)

# Nanoseconds between two iterations, by number of endpoints: about what one core can do.
ITERATION_NS = {384: 1_000_000, 1_536: 10_000_000, 4_608: 10_000_000}
SECONDS = 3.0

HEADER = (
    "endpoints",
    "flowlets",
    "events/s",
    "processed/s",
    "in/s",
    "out/s",
    "rates/s",
    "processor (%)",
    "events/cpu s",
    "p50 (us)",
    "p99 (us)",
    "p99.9 (us)",
    "resends",
)


def measure(repeat: int) -> Iterator[Figures]:
    """Yield the figures of each network and load; those of several runs are medians."""
    for endpoints, flowlets in CASES:
        for events in EVENTS:
            runs = [_run(endpoints, flowlets, events) for _ in range(repeat)]
            yield {"runs": repeat, **{key: _median([run[key] for run in runs]) for key in runs[0]}}


def _run(endpoints: int, flowlets: int, events: int) -> Figures:
    iteration = ITERATION_NS[endpoints]
    found: Figures = json.loads(
        engine.bench_control(endpoints, flowlets, events, iteration, polls=False, seconds=SECONDS)
    )
    return found


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if len(values) > 1 else values[0]


def table_text(measured: Sequence[Figures]) -> str:
    """Format the figures as a table."""
    return table(HEADER, [_row(found) for found in measured])


def _row(found: Figures) -> list[str]:
    return [
        *(f"{found[key]:,.0f}" for key in ("endpoints", "flowlets", "intended_events_per_second")),
        f"{found['events_per_second']:,.0f}",
        f"{found['received_per_second']:,.0f}",
        f"{found['sent_per_second']:,.0f}",
        f"{found['rates_per_second']:,.0f}",
        fixed(100 * found["cpu_share"], 1),
        f"{found['events_per_cpu_second']:,.0f}",
        f"{found['latency_p50_us']:,.0f}",
        f"{found['latency_p99_us']:,.0f}",
        f"{found['latency_p999_us']:,.0f}",
        f"{found['resends']:,.0f}",
    ]
