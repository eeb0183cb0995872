"""Short scenarios in which settings have an effect (`sweep.py`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

# A network without hosts, whose links have the settings' rate and delay.
RING = Path(__file__).parent / "data/networks/ring.edges"

# Paths over one spine have half the capacity of those over the other.
UNEVEN = Path(__file__).parents[2] / "scenarios/networks/half-failed.toml"

# Presets whose packet processor and headroom are sized for links of 1 Gb/s.
GIGABIT = ("detail*", "capfc-*", "pfc-w*")

# Presets whose switches have PFC, on fast links.
PFC = (
    *("dctcp", "dctcp-ss", "dctcp-classes", "dcqcn", "dcqcn-rdma15", "hpcc", "hpcc-classes"),
    *("hpcc-pint", "pfc", "pfc-gbn", "pfc-dcqcn-w", "timely", "powertcp", "theta-powertcp"),
)


@dataclass(frozen=True)
class World:
    """A scenario without a scheme.

    For a preset, the first of `texts` with the first of `rescues` (overrides) that is legal is
    used. The first accepted overrides of each of the `wishes` are added. `presets` and `without`
    (patterns) and `sections` restrict the world to some presets and settings.
    """

    name: str
    texts: list[str]
    wishes: tuple[list[list[str]], ...] = ()
    rescues: tuple[list[str], ...] = ([], ["traffic.1.labelled=true"])
    presets: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    def takes(self, preset: str) -> bool:
        """Return whether this world is for a preset."""
        named = not self.presets or any(fnmatch(preset, one) for one in self.presets)
        return named and not any(fnmatch(preset, one) for one in self.without)

    def asks(self, section: str) -> bool:
        """Return whether this world is for the settings of a section."""
        return not self.sections or section.split(".")[0] in self.sections


def wish(*overrides: str) -> list[list[str]]:
    """Return a wish with these overrides as alternatives; the first legal one is added."""
    return [[one] for one in overrides]


FABRIC = """
[leaf_spine]
leaves = 4
spines = 4
hosts_per_leaf = 4
"""

# Paths that bounce off a leaf once two links are down, and a core faster than the hosts.
THIN = """
[leaf_spine]
leaves = 4
spines = 2
hosts_per_leaf = 6
spine_rate = "200Gbps"
"""

BURSTS = """
[run]
warmup = "0us"
measure = "60us"
drain = "2ms"
[[traffic]]
kind = "open-loop"
load = 0.8
stop = "60us"
[[traffic]]
kind = "incast"
degree = 12
bytes = "400KB"
period = "30us"
start = "5us"
stop = "60us"
[[traffic]]
kind = "incast"
victims = "0-7"
degree = 3
bytes = "60KB"
period = "10us"
stop = "60us"
"""

# What most recoveries need where links lose packets.
TIMEOUT = '[transport]\ntimeout = "500us"\n'

LOSS = '[[fault]]\nkind = "loss"\nshare = 0.02\n'


def down(link: str) -> str:
    """Return a link that is down for a while."""
    times = 'at = "10us"\nuntil = "50us"\ndetection = "10us"\n'
    return f'[[fault]]\nkind = "link-down"\nlink = "{link}"\n{times}'


DOWN = down("leaf:0,spine:0") + down("leaf:1,spine:1")

LONG = """
[leaf_spine]
leaves = 4
spines = 4
hosts_per_leaf = 4
host_rate = "10Gbps"
spine_rate = "10Gbps"
[run]
warmup = "0us"
measure = "5ms"
drain = "50us"
grid = "50us"
[[traffic]]
kind = "long"
src = 6
dst = 0
bytes = "20MB"
[[traffic]]
kind = "incast"
victims = "0"
senders = "1-8"
degree = 6
flows_per_sender = 3
bytes = "600KB"
period = "700us"
stop = "1500us"
"""

# More than 12 MB to one host.
OVERFLOW = """
[run]
warmup = "0us"
measure = "10us"
drain = "3ms"
flows = "none"
[[traffic]]
kind = "incast"
victims = "0"
degree = 15
flows_per_sender = 10
bytes = "24MB"
period = "1s"
[[traffic]]
kind = "incast"
victims = "0"
degree = 15
bytes = "1MB"
period = "1s"
"""

SLOW = """
[leaf_spine]
leaves = 4
spines = 2
hosts_per_leaf = 4
host_rate = "900Mbps"
spine_rate = "900Mbps"
host_delay = "6600ns"
spine_delay = "6600ns"
[run]
warmup = "0us"
measure = "3ms"
drain = "3ms"
grid = "50us"
[[traffic]]
kind = "open-loop"
sizes = "hadoop"
load = 0.8
stop = "3ms"
[[traffic]]
kind = "incast"
victims = "0-2"
degree = 14
bytes = "1MB"
period = "1ms"
stop = "3ms"
[[traffic]]
kind = "incast"
victims = "0-2"
degree = 4
bytes = "300KB"
period = "400us"
stop = "3ms"
"""

# The kinds of traffic that are not in the other worlds.
KINDS = """
[run]
warmup = "0us"
measure = "100us"
drain = "2ms"
[[traffic]]
kind = "queries"
workflow = "sequential"
queries = "2,3"
rate = 20000.0
burst_rate = 80000.0
burst = "10us"
period = "40us"
stop = "100us"
[[traffic]]
kind = "successive"
bytes = "30KB"
stop = "100us"
[[traffic]]
kind = "permutation"
bytes = "50KB"
[[traffic]]
kind = "staggered"
interval = "10us"
bytes = "200KB"
[[traffic]]
kind = "elephants"
count = 4
senders = "0-7"
receivers = "8-15"
"""


def fabric(topology: str, settings: str) -> str:
    """Return a small fabric with flows between its hosts."""
    return f"""
[network]
topology = "{topology}"
[{topology.replace("-", "_")}]
{settings}
[run]
warmup = "0us"
measure = "60us"
drain = "2ms"
[[traffic]]
kind = "open-loop"
load = 0.6
load_on = "hosts"
stop = "60us"
"""


def uneven(rate: str, delay: str, traffic: str) -> str:
    """Return a scenario whose paths have different capacities."""
    file = f"file = {json.dumps(str(UNEVEN))}"
    network = f'[network]\ntopology = "graph"\n[graph]\n{file}\n'
    return f'{network}rate = "{rate}"\ndelay = "{delay}"\n{traffic}'


def balanced(balance: str, section: str, settings: str = "") -> World:
    """Return a world for the settings of a load balancer."""
    chosen = f'[switch]\nbalance = "{balance}"\n{settings}'
    text = uneven("100Gbps", "1us", chosen + BURSTS.replace("load = 0.8", "load = 0.6"))
    return World(balance, [text], presets=("dctcp",), sections=(section,))


def released(action: str) -> World:
    """Return a world in which a watchdog of PFC acts on queues that stay paused."""
    times = ["pfc.watchdog_detection=4us", "pfc.watchdog_restoration=4us"]
    buffers = wish(*(f"buffer.size={kb}KB" for kb in (100, 200, 400, 800, 1600)))
    return World(
        f"a watchdog of PFC: {action}",
        [FABRIC + BURSTS + TIMEOUT],
        wishes=(buffers, [[f"pfc.watchdog={action}", *times]]),
        presets=PFC,
        sections=("pfc",),
    )


PRIORITIES = (wish("traffic.1.priority=2"), wish("traffic.2.priority=1"))

WORLDS = [
    World("bursts", [FABRIC + BURSTS], PRIORITIES, without=GIGABIT),
    World(
        "losses",
        [FABRIC + BURSTS + LOSS, FABRIC + BURSTS + LOSS + TIMEOUT, FABRIC + BURSTS],
        wishes=(
            wish("faults.control_loss=0.05"),
            [["sfc.target=10KB", "sfc.trigger=30KB"]],
            wish("buffer.size=20KB", "buffer.size=200KB", "buffer.size=600KB"),
            wish("transport.timeout=50us"),
            wish("transport.timeout_low=20us"),
            [["tcp.min_rto=20us", "tcp.initial_rto=50us", "tcp.max_rto=200us"]],
            wish("sfc.filter_cells=4"),
            wish("sfc.cache_entries=4"),
            wish("flowtune.stop_at=20us"),
            wish("traffic.0.priority=1"),
        ),
        without=GIGABIT,
    ),
    World(
        "failures",
        [THIN + BURSTS + DOWN, THIN + BURSTS + DOWN + TIMEOUT, THIN + BURSTS],
        wishes=(*PRIORITIES, wish(*(f"buffer.size={kb}KB" for kb in (100, 200, 400, 800, 1600)))),
        without=GIGABIT,
    ),
    World(
        "long flows",
        [LONG],
        wishes=(
            wish("dcqcn_rdma15.byte_counter=20KB"),
            wish("tcp.initial_window_packets=40"),
        ),
        without=GIGABIT,
    ),
    World(
        "long flows between short pauses",
        [LONG],
        wishes=(wish("ecn.kmin=60KB"), wish("ecn.kmax=120KB")),
        presets=("sfc-*",),
    ),
    World(
        "long flows that lose packets",
        [LONG + LOSS],
        wishes=(wish("cubic.scale=1e12"),),
        presets=("tcp-cubic", "sfqcodel"),
        sections=("cubic",),
    ),
    World(
        "short control intervals",
        [FABRIC + BURSTS],
        wishes=(
            [["xcp.initial_interval=10us", "xcp.min_interval=2us"]],
            wish("xcp.min_queue_interval=3us"),
        ),
        presets=("ns2-xcp",),
        sections=("xcp",),
    ),
    World(
        "timeouts that reset the window",
        [FABRIC + BURSTS + LOSS],
        wishes=(wish("swift.retx_reset_threshold=1"), wish("buffer.size=200KB")),
        presets=("swift",),
        sections=("swift",),
    ),
    World(
        "overflow",
        [FABRIC + OVERFLOW],
        without=GIGABIT,
        sections=("buffer", "transport", "switch", "sfc", "trim"),
    ),
    released("drop"),
    released("forward"),
    # The effect of these does not depend on the scheme.
    World("kinds of traffic", [FABRIC + KINDS], presets=("dctcp",), sections=("traffic",)),
    *(
        World(
            topology,
            [fabric(topology, settings)],
            presets=("dctcp",),
            sections=("network", topology.replace("-", "_")),
        )
        for topology, settings in (
            ("fat-tree", "k = 4"),
            ("clos", "pods = 2"),
            ("star", "hosts = 8"),
            ("dumbbell", "left_hosts = 3\nright_hosts = 3\nside_hosts = 2"),
            ("torus", "rows = 3\ncolumns = 4\nplanes = 2"),
            ("dragonfly", "groups = 5"),
            ("rail", "pods = 2\nservers_per_pod = 2\ngpus_per_server = 3\nspines = 2"),
            ("graph", f"file = {json.dumps(str(RING))}\nhosts_per_switch = 2"),
            ("two-dc", 'leaves = 2\nspines = 4\nhosts_per_leaf = 3\ninterconnect_delay = "20us"'),
        )
    ),
    World(
        "paths of different capacity",
        [uneven("100Gbps", "1us", BURSTS), FABRIC + BURSTS],
        rescues=([], ["traffic.1.labelled=true"], ["tofino.pipelines=1"]),
        without=GIGABIT,
        sections=("switch",),
    ),
    World(
        "slow paths of different capacity",
        [uneven("900Mbps", "6600ns", SLOW[SLOW.index("[run]") :])],
        presets=GIGABIT,
        sections=("switch",),
    ),
    balanced("letflow", "flowlets", '[flowlets]\ntimeout = "2us"\n'),
    balanced(
        "conga", "conga", '[flowlets]\ntimeout = "2us"\n[conga]\ntau = "10us"\naging = "20us"\n'
    ),
    balanced("wcmp", "wcmp", "[wcmp]\nentries = 8\n"),
    World("slow", [SLOW], PRIORITIES, presets=GIGABIT),
    World(
        "slow losses",
        [SLOW + LOSS],
        wishes=(
            wish("tcp.initial_window_packets=60"),
            wish("pipeline.packet_rate=150000"),
            [["tcp.min_rto=200us", "tcp.initial_rto=500us", "tcp.max_rto=2ms"]],
            wish("traffic.0.priority=1"),
        ),
        presets=GIGABIT,
    ),
]

# Below the rate of host links, as required, but high enough to be reached in short runs.
MIN_RATES = ["90Gbps", "9Gbps", "900Mbps"]
BY_HAND: dict[str, list[Any]] = {
    **{
        f"{control}.min_rate": MIN_RATES
        for control in ("dctcp", "dcqcn", "dcqcn_rdma15", "hpcc", "powertcp", "theta_powertcp")
    },
    "name": ["other"],
    "graph.file": [str(RING.with_name("line.edges"))],
    "run.monitor": ["0"],
    "run.capture": ["0"],
    "run.watchdog": ["1ps"],
    "nic.receive_rate": ["5Gbps", "500Mbps"],
    "transport.nack_interval": ["5us", "2us"],
    "bfc.classes": [4, 8],
    "crossbar.classes": [2, 8],
    "crossbar.ingress_size": ["2KB", "1MB"],
    "cubic.scale": [1e10, 1e13],
    "bfc.sampling": [0.5, 0.25],
    "buffer.by_class": [
        "0: alpha 0.01, 1: alpha 0.02 reserve 2KB, 2: alpha 0.01",
        "0: headroom 2KB, 1: alpha 0.01",
        "0: lossy alpha 0.01, 1: lossy alpha 0.01, 2: lossy alpha 0.01",
    ],
    "ecn.by_class": ["0: 10KB-20KB, 1: 5KB-5KB, 2: never", "0: 100KB-200KB 0.5"],
    "ets.strict": ["0,1", ""],
    "ets.weights": ["1,9,1,1,1,1,1,1"],
    "tcp.duplicate_acks": [3, 0],
    "xcp.alpha": [0.401],
    "xcp.beta": [0.2264],
    "homa.cutoffs": ["500,4000"],
    "capfc.warn": ["22KB", "45KB"],
    "pause.xoff": ["8KB", "16KB", "25KB", "45KB"],
    "fault.link-down.link": ["leaf:2,spine:1"],
    "fault.loss.link": ["leaf:0,spine:0"],
    "pipeline.port_max": ["81KB", "90KB"],
    "flowtune.resume_at": ["40us"],
    "traffic.open-loop.sizes": ["hadoop", "google"],
    "traffic.open-loop.senders": ["0-9"],
    "traffic.open-loop.receivers": ["0-9"],
    "traffic.open-loop.class": ["other"],
    "traffic.incast.victims": ["1,5"],
    "traffic.incast.senders": ["0-3,5-10"],
    "traffic.incast.class": ["other"],
    "traffic.queries.clients": ["0-9"],
    "traffic.queries.servers": ["0-9"],
    "traffic.queries.queries": ["2,4"],
    "traffic.queries.sizes": ["4KB"],
    "traffic.queries.priorities": ["0,3"],
    "traffic.successive.senders": ["0-9"],
    "traffic.successive.receivers": ["0-9"],
    "traffic.staggered.senders": ["1-4"],
    "traffic.staggered.receiver": [9],
    "traffic.elephants.senders": ["0-3"],
    "traffic.elephants.receivers": ["9-15"],
    **{f"traffic.{kind}.class": ["other"] for kind in ("long", "queries", "successive")},
    **{f"traffic.{kind}.class": ["other"] for kind in ("permutation", "staggered", "elephants")},
}
