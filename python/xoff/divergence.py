"""Where two runs part: the first step, the nodes concerned, and the first packet that differs.

Two runs that should agree are advanced together, one step of the grid at a time, and the hash
chains of their nodes compared. Then both are run again up to that step, and all packets that
ports send in it are recorded and compared in the order (time, port).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xoff import engine
from xoff.errors import UsageError
from xoff.text import table

if TYPE_CHECKING:
    from xoff._native import Run, Sent

BEFORE = 8
AFTER = 4


@dataclass(frozen=True)
class Side:
    """One way to run a scenario: what is overridden, threads, delays between threads."""

    text: str
    file: str
    overrides: tuple[str, ...] = ()
    threads: int = 1
    delay_seed: int | None = None

    def open(self) -> Run:
        """Build the run. Raises `ScenarioError`; `UsageError` where it has no packets."""
        run = engine.open_run(self.text, self.file, self.overrides, self.threads, self.delay_seed)
        if not hasattr(run, "node_digests"):
            raise UsageError("this scenario has no packets, so there is nothing to compare")
        return run


@dataclass
class Divergence:
    """The first difference of two runs. Times in picoseconds of simulated time."""

    step: int
    begin_ps: int
    end_ps: int
    nodes: list[str]
    packets: tuple[Sent | None, Sent | None] = (None, None)
    context: tuple[list[Sent], list[Sent]] = field(default_factory=lambda: ([], []))
    names: dict[int, str] = field(default_factory=dict)


def find(one: Side, other: Side, tick: Callable[[int], None] | None = None) -> Divergence | None:
    """Return where two runs part; None if every node does the same in both until the end.

    `tick` is told the simulated time (ps) after each step. Raises `RunError` if a run is stuck
    before they part.
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
        # A run that ends sooner than the other has parted from it, too.
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
    return sorted(run.take_sends(), key=lambda sent: (sent["time_ps"], sent["node"], sent["port"]))


def _first_packet(found: Divergence, run: Run, one: list[Sent], other: list[Sent]) -> None:
    place = next(
        (i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )
    pair = tuple(sends[place] if place < len(sends) else None for sends in (one, other))
    first = min(
        (sent for sent in pair if sent is not None),
        key=lambda sent: (sent["time_ps"], sent["node"], sent["port"]),
        default=None,
    )
    if first is None:
        return
    found.packets = pair[0], pair[1]
    found.context = _around(one, first), _around(other, first)
    nodes = {sent[end] for side in found.context for sent in side for end in ("node", "peer")}
    found.names = {node: run.node_name(node) for node in nodes}


def _around(sends: Sequence[Sent], first: Sent) -> list[Sent]:
    """Pick what the node of a packet sent, and what was sent to it, just before and after."""
    near = [sent for sent in sends if first["node"] in (sent["node"], sent["peer"])]
    begin = sum(sent["time_ps"] < first["time_ps"] for sent in near)
    return near[max(0, begin - BEFORE) : begin + AFTER]


def render(found: Divergence, titles: tuple[str, str]) -> str:
    """Describe a difference for a reader."""
    lines = [
        f"the runs part in step {found.step}, between {_us(found.begin_ps)} and "
        f"{_us(found.end_ps)} us",
        f"nodes that differ: {', '.join(found.nodes) or 'none: one run ends sooner'}",
    ]
    if found.packets == (None, None):
        lines.append(
            "all packets of this step are the same: what differs is a packet that was dropped, "
            "or when a flow ended"
        )
        return "\n".join(lines) + "\n"
    lines.append("the first packet that differs, with what its node sent and was sent:")
    for title, first, near in zip(titles, found.packets, found.context, strict=True):
        lines += ["", f"{title}:"]
        header = ("", "sent at (us)", "from", "port", "to", "kind", "flow", "seq", "bytes")
        rows = [_row(sent, found.names, sent == first) for sent in near]
        lines.append(table(header, rows, left=1) if rows else "  nothing")
    return "\n".join(lines) + "\n"


def _row(sent: Sent, names: dict[int, str], first: bool) -> list[str]:
    ends = [names[sent["node"]], str(sent["port"]), names[sent["peer"]]]
    what = [sent["kind"], str(sent["flow"]), str(sent["seq"]), str(sent["bytes"])]
    return [">" if first else "", _us(sent["time_ps"]), *ends, *what]


def _us(ps: int) -> str:
    return f"{ps / 1e6:.6f}"
