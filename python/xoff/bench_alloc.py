"""`xoff bench alloc`: time per iteration of the parallel allocator."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Any

from xoff import engine
from xoff.errors import RunError
from xoff.text import fixed, table

Figures = dict[str, Any]

# Servers and flows.
CASES = ((384, 3_072), (1_536, 49_152), (4_608, 49_152))

# Flow updates per measurement: flows times iterations.
WORK = 100_000_000

# Microseconds per iteration by number of servers, from the conclusion of Flowtune's paper (NSDI
# 2017): on Intel E7-8870 processors; the number of cores is not stated there.
PAPER_US = {384: 8.29, 4_608: 30.71}

HEADER = (
    "nodes",
    "flows",
    "threads",
    "blocks",
    "iteration (us)",
    "fastest (us)",
    "slowest (us)",
    "ns/flow/core",
    "speed-up",
    "paper (us)",
    "of paper's",
    "digest",
)


def blocks_for(threads: int) -> int:
    """Return the smallest number of blocks with at least one FlowBlock per thread."""
    blocks = 1
    while blocks * blocks < threads:
        blocks *= 2
    return blocks


def measure(threads: Sequence[int], repeat: int) -> Iterator[Figures]:
    """Yield the figures of each network and number of threads.

    The runs alternate over networks and threads, so that machine noise affects all alike.
    Raises `RunError` if two runs that must agree have different rates.
    """
    pairs = [(case, count) for case in CASES for count in threads]
    runs: dict[tuple[tuple[int, int], int], list[Figures]] = {pair: [] for pair in pairs}
    digests: dict[tuple[tuple[int, int], int], str] = {}
    for _ in range(repeat):
        for case, count in pairs:
            found = _run(case, count)
            first = digests.setdefault((case, found["blocks"]), found["digest"])
            if first != found["digest"]:
                raise RunError(
                    f"two runs of bench alloc with {case[0]} nodes differ: "
                    f"digest {first} and {found['digest']}; this is a bug in xoff"
                )
            so_far = runs[case, count]
            so_far.append(found)
            if len(so_far) == repeat:
                yield _median(so_far)


def _run(case: tuple[int, int], threads: int) -> Figures:
    nodes, flows = case
    blocks = blocks_for(threads)
    used, median_ns, least_ns, most_ns, digest = engine.bench_alloc(
        nodes, flows, blocks, threads, WORK // flows
    )
    return {
        "nodes": nodes,
        "flows": flows,
        "threads": used,
        "blocks": blocks,
        "iteration_us": median_ns / 1e3,
        "fastest_us": least_ns / 1e3,
        "slowest_us": most_ns / 1e3,
        "ns_per_flow_per_core": median_ns * used / flows,
        "digest": f"{digest:016x}",
    }


def _median(runs: Sequence[Figures]) -> Figures:
    found = dict(runs[0])
    found["runs"] = len(runs)
    for key in ("iteration_us", "ns_per_flow_per_core"):
        found[key] = round(statistics.median(run[key] for run in runs), 4)
    found["fastest_us"] = min(run["fastest_us"] for run in runs)
    found["slowest_us"] = max(run["slowest_us"] for run in runs)
    return found


def table_text(measured: Sequence[Figures]) -> str:
    """Format the figures as a table; speed-up is relative to the first row of the same network."""
    firsts: dict[int, Figures] = {}
    return table(HEADER, [_row(firsts.setdefault(f["nodes"], f), f) for f in measured])


def _row(first: Figures, found: Figures) -> list[str]:
    paper = PAPER_US.get(found["nodes"])
    return [
        f"{found['nodes']:,}",
        f"{found['flows']:,}",
        str(found["threads"]),
        str(found["blocks"]),
        fixed(found["iteration_us"], 2),
        fixed(found["fastest_us"], 2),
        fixed(found["slowest_us"], 2),
        fixed(found["ns_per_flow_per_core"], 2),
        fixed(None if found is first else first["iteration_us"] / found["iteration_us"], 2),
        fixed(paper, 2),
        fixed(None if paper is None else found["iteration_us"] / paper, 2),
        found["digest"],
    ]
