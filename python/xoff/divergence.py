"""The first difference of two runs: grid step, nodes, and first packet that differs.

Both runs advance together, one grid step at a time, until the hash chains of their nodes differ.
Then both run again up to that step. The packets that ports send in it are recorded and compared
in the order (time, node, port).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from xoff import engine
from xoff.errors import UsageError
from xoff.text import table

if TYPE_CHECKING:
    from xoff._native import Run, Sent

BEFORE = 8
AFTER = 4


@dataclass(frozen=True)
class Side:
    """One of the two runs: scenario, overrides, threads, seed of delays between threads."""

    text: str
    file: str
    overrides: tuple[str, ...] = ()
    threads: int = 1
    delay_seed: int | None = None

    def open(self) -> Run:
        """Build the run. Raises `ScenarioError`, or `UsageError` if it simulates no packets."""
        run = engine.open_run(
            self.text, self.file, self.overrides, self.threads, delay_seed=self.delay_seed
        )
        if not hasattr(run, "node_digests"):
            raise UsageError("this scenario simulates no packets; there is nothing to compare")
        return run


Context: TypeAlias = "list[tuple[Sent, bool]]"
"""Packets near the first difference; True marks a packet missing in the other run."""


@dataclass
class Divergence:
    """The first difference of two runs. Times are in picoseconds of simulated time.

    `context` holds, for each run, packets sent by and to one node; None if no packet differs.
    `names` maps the node numbers in `context` to node names.
    """

    step: int
    begin_ps: int
    end_ps: int
    nodes: list[str]
    context: tuple[Context, Context] | None = None
    names: dict[int, str] = field(default_factory=dict)


def find(one: Side, other: Side, tick: Callable[[int], None] | None = None) -> Divergence | None:
    """Return the first difference of two runs; None if all nodes agree until the end.

    Calls `tick` with the simulated time (ps) after each step. Raises `RunError` if a run stops
    making progress before the runs differ.
    """
    found = _first_step(one.open(), other.open(), tick)
    if found is None:
        return None
    sends = [_sends_of_step(side, found.step) for side in (one, other)]
    _first_packet(found, one.open(), sends[0], sends[1])
    return found


def _first_step(one: Run, other: Run, tick: Callable[[int], None] | None) -> Divergence | None:
    step, begin_ps = 0, 0
    more = True
    while more:
        # `|`, not `or`: both runs must step. A run that ends first differs from the other.
        more = one.step_once() | other.step_once()
        end_ps = one.progress()["sim_ps"]
        if tick is not None:
            tick(end_ps)
        pairs = zip(one.node_digests(), other.node_digests(), strict=True)
        differ = [node for node, (left, right) in enumerate(pairs) if left != right]
        if differ or end_ps != other.progress()["sim_ps"]:
            names = [one.node_name(node) for node in differ]
            return Divergence(step, begin_ps, end_ps, names)
        step, begin_ps = step + 1, end_ps
    return None


def _sends_of_step(side: Side, step: int) -> list[Sent]:
    run = side.open()
    for _ in range(step):
        run.step_once()
    run.record_sends()
    run.step_once()
    return sorted(run.take_sends(), key=_order)


def _first_packet(found: Divergence, run: Run, one: list[Sent], other: list[Sent]) -> None:
    place = next(
        (i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
    differing = [sends[place] for sends in (one, other) if place < len(sends)]
    if not differing:
        return
    first = min(differing, key=_order)
    known = [set(map(_key, one)), set(map(_key, other))]
    found.context = (
        [(sent, _key(sent) not in known[1]) for sent in _around(one, first)],
        [(sent, _key(sent) not in known[0]) for sent in _around(other, first)],
    )
    near = [sent for side in found.context for sent, _ in side]
    nodes = {node for sent in near for node in (sent["node"], sent["peer"])}
    found.names = {node: run.node_name(node) for node in nodes}


def _order(sent: Sent) -> tuple[int, int, int]:
    return sent["time_ps"], sent["node"], sent["port"]


def _key(sent: Sent) -> tuple[object, ...]:
    return tuple(sent.values())


def _around(sends: Sequence[Sent], first: Sent) -> list[Sent]:
    """Select packets sent by and to the node of `first`, shortly before and after it."""
    near = [sent for sent in sends if first["node"] in (sent["node"], sent["peer"])]
    begin = sum(sent["time_ps"] < first["time_ps"] for sent in near)
    return near[max(0, begin - BEFORE) : begin + AFTER]


def render(found: Divergence, titles: tuple[str, str]) -> str:
    """Format a difference as text; `titles` name the two runs."""
    lines = [
        f"the runs first differ in step {found.step}, between {_us(found.begin_ps)} and "
        f"{_us(found.end_ps)} us",
        f"nodes that differ: {', '.join(found.nodes) or 'none: one run ends earlier'}",
    ]
    if found.context is None:
        lines.append(
            "all packets sent in this step are identical: the runs differ in a dropped packet "
            "or in the end of a flow"
        )
        return "\n".join(lines) + "\n"
    lines.append("packets of one node near the first difference; `>`: missing in the other run")
    for title, near in zip(titles, found.context, strict=True):
        lines += ["", f"{title}:"]
        header = ("", "sent at (us)", "from", "port", "to", "kind", "flow", "seq", "bytes")
        rows = [_row(sent, found.names, differs) for sent, differs in near]
        lines.append(table(header, rows, left=1) if rows else "  nothing")
    return "\n".join(lines) + "\n"


def _row(sent: Sent, names: dict[int, str], differs: bool) -> list[str]:
    ends = [names[sent["node"]], str(sent["port"]), names[sent["peer"]]]
    what = [sent["kind"], str(sent["flow"]), str(sent["seq"]), str(sent["bytes"])]
    return [">" if differs else "", _us(sent["time_ps"]), *ends, *what]


def _us(ps: int) -> str:
    return f"{ps / 1e6:.6f}"
