"""What a run is expected to cost, before it starts: packet-hops, and the time on one core.

The flows of the measured time are drawn as `xoff check` draws them. Their bytes on each kind of
link, divided by the size of a packet, are packets that are sent; most have an acknowledgement. The
warm-up is taken to be as busy as the measured time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xoff.text import count_text, time_text
from xoff.toml_text import parse_toml

if TYPE_CHECKING:
    from xoff._native import Run

DEFAULT_ARCHITECTURE = "output-queued"
HOPS_PER_S = {DEFAULT_ARCHITECTURE: 8e6, "crossbar": 2.5e6, "pipelined": 3.0e6}
"""Packet-hops per second and core, by `switch.architecture`: `xoff bench` has 7 to 10 million on a
quiet core of 2.6 GHz, and 3 to 7 million in networks of thousands of hosts. Inside a crossbar or a
pipelined switch a packet has events of its own."""

SHORT_S = 1.5
"""Below this a time has no number."""

# Packets of any kind for a packet of data: 1.7 to 2.3 in nine of ten recorded runs of the papers.
PACKETS_PER_DATA = 2.05
# A flow's last packet is not full: this is the part of a packet that it lacks, on average.
LACKS = 0.7
# With a longer warm-up, in measured times, what is drawn says too little about the run.
MOST_WARMUP = 1.5
# Kinds of traffic whose messages follow each other: how many fit into the time is not known.
PROGRAMS = frozenset({"chakra", "collective", "dependent", "goal", "pipeline"})

_BYTES = {"B": 1, "KB": 1e3, "MB": 1e6}

Explanation = tuple[str, dict[str, Any]] | None


@dataclass(frozen=True)
class Estimate:
    """Expected cost up to the end of the measured time; `drain_ps` is the longest drain after it.

    Of 829 recorded runs of the papers, 84 % had `packet_hops` within a factor of two, and none had
    less than 0.68 of it. The others, with up to 4.6 times as many, had traffic in a long drain.
    """

    packet_hops: float
    drain_ps: int
    architecture: str = DEFAULT_ARCHITECTURE

    @property
    def seconds(self) -> float:
        """Time on one core."""
        return self.packet_hops / HOPS_PER_S[self.architecture]

    @property
    def text(self) -> str:
        """Say it in a line."""
        most = "" if self.seconds < SHORT_S else ", perhaps half or twice that"
        drain = ""
        if self.drain_ps:
            drain = f"; the drain adds up to {time_text(self.drain_ps)} of simulated time"
        return (
            f"some {count_text(self.packet_hops)} packet-hops until the measured time ends, "
            f"{duration_text(self.seconds)} on one core{most}{drain}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it for `xoff check --json`."""
        return {
            "packet_hops": round(self.packet_hops),
            "seconds_on_one_core": float(f"{self.seconds:.3g}"),
            "longest_drain_ps": self.drain_ps,
        }


def duration_text(seconds: float) -> str:
    """Format a rough time in words: `about 3 minutes`, `about 2.5 hours`."""
    if seconds < SHORT_S:
        return "about a second or less"
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * size:
            return f"about {float(f'{seconds / size:.2g}'):g} {name}"
    return f"about {float(f'{seconds:.1g}'):g} seconds"


def _bytes(text: str) -> float:
    """Return a size of the effective scenario, such as `1KB`. (`xoff.units` imports NumPy.)"""
    return float(text.rstrip("KMB")) * _BYTES[text.lstrip("0123456789.")]


def of(run: Run, explain: Callable[[], Explanation], least_s: float = 0.0) -> Estimate | None:
    """Return what a run is expected to cost; None where that cannot be known.

    It cannot for flows without a size or that follow others, for programs, for flows that do not
    fit into the time, and for engines without packets. The answer is None, too, for a run of less
    than `least_s`; `explain` is not called where even full links would take less.
    """
    if not hasattr(run, "ports"):
        return None
    at, effective, carries = run.progress(), parse_toml(run.effective()), _capacities(run)
    if "frame" not in effective:
        return None  # a case of the HPCC simulator, whose settings are its own
    frame = {key: _bytes(effective["frame"][key]) for key in ("payload", "header")}
    packet = frame["payload"] + frame["header"]
    full = PACKETS_PER_DATA * sum(carries.values()) / 8 * at["end_ps"] * 1e-12 / packet
    kinds = {source.get("kind") for source in effective.get("traffic", [])}
    architecture = effective["switch"]["architecture"]
    if full / HOPS_PER_S[architecture] < least_s or kinds & PROGRAMS or not (found := explain()):
        return None
    load = found[1]["offered_load"]
    drain_ps = max(0, at["drain_end_ps"] - at["end_ps"])
    if not _is_known(load, at["end_ps"], drain_ps):
        return None
    time_s = (load["until_ps"] - load["from_ps"]) * 1e-12
    sent = {
        kind: one["mean"] * carries.get(kind, 0) / 8 * time_s
        for kind, one in load["by_link"].items()
    }
    by_hosts = sum(size for kind, size in sent.items() if kind.startswith("host-"))
    if by_hosts <= 0:
        return None
    links = sum(sent.values()) / by_hosts
    data = (sum(sent.values()) + LACKS * load["flows"] * links * frame["payload"]) / packet
    packet_hops = PACKETS_PER_DATA * data * at["end_ps"] * 1e-12 / time_s
    whole = Estimate(packet_hops, drain_ps, architecture)
    return whole if whole.seconds >= least_s else None


def _is_known(load: Mapping[str, Any], end_ps: int, drain_ps: int) -> bool:
    """Return whether the flows drawn tell what the run does."""
    time_ps = load["until_ps"] - load["from_ps"]
    if not load["flows"] or load["flows_of_any_rate"] or time_ps <= 0:
        return False
    # Of very many flows, the first million is drawn: the rest is taken to be like it.
    if load["from_ps"] > MOST_WARMUP * (end_ps - load["from_ps"]):
        return False
    busiest = max((one["busiest"] or 0.0 for one in load["by_link"].values()), default=0.0)
    return bool(busiest * time_ps <= time_ps + drain_ps)


def _capacities(run: Run) -> Mapping[str, int]:
    """Return the bit/s of all links of each kind together."""
    from xoff.tables import as_batch

    # Arrow's own sums import NumPy, which takes longer than a short run.
    ports, sums = as_batch(run.ports()), Counter[str]()
    links, rates = (ports.column(key).to_pylist() for key in ("link", "rate_bps"))
    for link, rate in zip(links, rates, strict=True):
        sums[link] += rate
    return sums
