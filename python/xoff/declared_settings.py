"""The settings of scenarios as types, as the engine declares them.

`make declared` writes this module from the schema. Sections and entries of lists are dicts with
these keys. `Settings` has the keyword arguments of `xoff.Scenario` and of `with_`: every section,
and every name that is the last part of a setting's path.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

Preset = Literal[
    "bfc",
    "bfc-128",
    "bfc-stochastic",
    "bfc-single",
    "bfc-cc",
    "bfc-sampling",
    "bfc-tofino",
    "bfc-switches",
    "bfc-strawman",
    "bfc-flow-id",
    "bfc-incast-label",
    "bfc-srf",
    "bfc-classes",
    "ideal-fq",
    "ideal-srf",
    "dctcp",
    "dctcp-ss",
    "dctcp-classes",
    "dcqcn",
    "dcqcn-rdma15",
    "hpcc",
    "hpcc-pfc",
    "hpcc-classes",
    "hpcc-pfc-dqa",
    "hpcc-pfc-sfq",
    "pfc",
    "irn",
    "sfc",
    "onramp",
    "irn-dcqcn",
    "sfc-dcqcn",
    "onramp-dcqcn",
    "pfc-gbn",
    "sfc-p",
    "pfc-dcqcn-w",
    "ndp",
    "homa",
    "homa-ecmp",
    "expresspass",
    "tcp-newreno",
    "tcp-cubic",
    "tcp-dctcp",
    "ns3-newreno",
    "ns3-cubic",
    "ns3-dctcp",
    "htsim-ndp",
    "htsim-eqds",
    "htsim-dctcp",
    "htsim-tcp",
    "htsim-swift",
    "xcp",
    "ns2-xcp",
    "ns2-newreno",
    "ns2-sack1",
    "sfqcodel",
    "pfabric",
    "flowtune",
    "pfc-wdrop",
    "pfc-wstop",
    "capfc-max",
    "capfc-cal",
    "pfc-wdrop-shared",
    "pfc-wstop-shared",
    "capfc-max-shared",
    "capfc-cal-shared",
    "detail-baseline",
    "detail-priority",
    "detail-fc",
    "detail-pfc",
    "detail",
    "swift",
    "timely",
    "powertcp",
    "theta-powertcp",
    "hpcc-pint",
]
"""The name of a built-in scheme."""


class Network(TypedDict, total=False):
    """The network."""

    topology: Literal[
        "leaf-spine",
        "fat-tree",
        "clos",
        "star",
        "dumbbell",
        "two-dc",
        "torus",
        "dragonfly",
        "rail",
        "graph",
    ]
    """Its shape. The section with that name has its sizes. Default: "leaf-spine"
    """
    rounding: Literal["1ps-up", "1ns-down"]
    """Rounding of serialisation times. Default: "1ps-up"
    """
    instants: Literal["phases", "as-set"]
    """Order of the events of one instant. Default: "phases"
    """


class LeafSpine(TypedDict, total=False):
    """A leaf-spine fabric (a two-layer Clos). The defaults are BFC's fabric (§6.2.1): 128 hosts, 8
    leaves, 8 spines, 100 Gb/s everywhere (2:1 over-subscription), 1 us per link.
    """

    leaves: int
    """Leaf (top-of-rack) switches. Default: 8"""
    spines: int
    """Spine switches. Default: 8"""
    hosts_per_leaf: int
    """Hosts on each leaf. Default: 16"""
    links: int
    """Parallel links between each leaf and each spine. Flows are balanced over them as over spines
    (SFC 5.2: 4 to one spine). Default: 1
    """
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    spine_rate: str
    """Rate of a link between leaf and spine. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    spine_delay: str
    """Propagation delay of a link between leaf and spine. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """


class FatTree(TypedDict, total=False):
    """A fat-tree: k pods, each of k/2 edge switches under k/2 aggregation switches, and (k/2)^2
    core switches, each linked to one aggregation switch of every pod. With k/2 hosts on each edge
    switch, all switches have k ports and no layer is over-subscribed: k^3/4 hosts. Results call the
    edge leaf and the aggregation spine, as in two-layer fabrics.
    """

    k: int
    """Pods, and ports of a switch: an even number from 2 to 128. Default: 8"""
    hosts_per_edge: int
    """Hosts on each edge switch; more than k/2 over-subscribe it. 0: k/2. Default: 0"""
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    aggregation_rate: str
    """Rate of a link between edge and aggregation. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    core_rate: str
    """Rate of a link between aggregation and core. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    aggregation_delay: str
    """Propagation delay of a link between edge and aggregation. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """
    core_delay: str
    """Propagation delay of a link between aggregation and core. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """


class Clos(TypedDict, total=False):
    """A Clos network in pods: in each pod every leaf is linked to every spine, and the spine with
    the same place in each pod is linked to the same cores. Core c belongs to the spines with place
    c mod `spines_per_pod`. Switches may have a latency, which a packet spends between its arrival
    and its egress queue. The defaults are a fat-tree of 4-port switches.
    """

    pods: int
    """Pods. Default: 4"""
    leaves_per_pod: int
    """Leaves (edge or top-of-rack switches) of a pod. Default: 2"""
    hosts_per_leaf: int
    """Hosts on each leaf. Default: 2"""
    spines_per_pod: int
    """Spines (aggregation switches) of a pod. Default: 2"""
    cores_per_spine: int
    """Cores that a spine is linked to; 0: none, which one pod allows. Default: 2"""
    spine_links: int
    """Parallel links between a leaf and a spine. Default: 1"""
    core_links: int
    """Parallel links between a spine and a core. Default: 1"""
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    spine_rate: str
    """Rate of a link between leaf and spine. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "100Gbps"
    """
    core_rate: str
    """Rate of a link between spine and core. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    spine_delay: str
    """Propagation delay of a link between leaf and spine. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """
    core_delay: str
    """Propagation delay of a link between spine and core. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """
    leaf_latency: str
    """Latency of a leaf. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    spine_latency: str
    """Latency of a spine. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    core_latency: str
    """Latency of a core. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """


class Star(TypedDict, total=False):
    """A single switch with hosts on it."""

    hosts: int
    """Hosts. Default: 16"""
    rate: str
    """Rate of each link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    first_rate: str
    """Rate of host 0's link, if it differs: a receiver behind a slower link. 0: the same. Expects a
    rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    delay: str
    """Propagation delay of each link. Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "1us"
    """


class Dumbbell(TypedDict, total=False):
    """Two switches joined by one link, with hosts on both. With `side_hosts`, a third switch is
    joined to the right one. BFC's testbed (§6.1, Fig. 6) has three: sender groups 1 and 2 on the
    left switch, group 3 on the side switch, both receivers on the right switch.
    """

    left_hosts: int
    """Hosts on the left switch (numbered first). Default: 2"""
    right_hosts: int
    """Hosts on the right switch (numbered next). Default: 2"""
    side_hosts: int
    """Hosts on a third switch linked to the right one (numbered last); 0: no such switch. Default:
    0
    """
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    right_rate: str
    """Rate of the right hosts' links, if it differs; 0: the same. Expects a rate with its unit
    (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    trunk_rate: str
    """Rate of a link between switches. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or
    bps), such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    trunk_delay: str
    """Propagation delay of a link between switches. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "1us"
    """


class TwoDc(TypedDict, total=False):
    """Two equal data centres, each with a gateway, and a link between the gateways. A gateway is
    linked to every spine of its data centre, so that flows from all leaves have the same number of
    paths to it as within the data centre. The defaults are BFC's (App. A.9): 64 hosts in each data
    centre, 100 Gb/s and 1 us per link, half of the leaves of §6.2.1 with the same number of uplinks
    (2:1 over-subscription), and 200 Gb/s and 200 us between the gateways.
    """

    leaves: int
    """Leaf (top-of-rack) switches of each data centre. Default: 4"""
    spines: int
    """Spine switches of each data centre. Default: 8"""
    hosts_per_leaf: int
    """Hosts on each leaf. Default: 16"""
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    spine_rate: str
    """Rate of a link between leaf and spine. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "100Gbps"
    """
    gateway_rate: str
    """Rate of a link between spine and gateway. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    interconnect_rate: str
    """Rate of the link between the gateways. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "200Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    spine_delay: str
    """Propagation delay of a link between leaf and spine. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """
    gateway_delay: str
    """Propagation delay of a link between spine and gateway. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "1us"
    """
    interconnect_delay: str
    """Propagation delay of the link between the gateways. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "200us"
    """


class Torus(TypedDict, total=False):
    """A torus of two or three dimensions: a grid of switches, each with hosts and with links to its
    two neighbours in each dimension. The last switch of a row is linked to its first one; so are
    the last switch of a column and, with several planes, the last plane. In a ring of two switches,
    two parallel links join them. Uniform traffic among the hosts of the default torus can use all
    of their links' rate.
    """

    rows: int
    """Rows of switches, 2 to 1024. Default: 4"""
    columns: int
    """Columns of switches, 2 to 1024. Default: 4"""
    planes: int
    """Planes of rows and columns, 1 to 1024. With 1, the torus has two dimensions. Default: 1"""
    hosts_per_switch: int
    """Hosts on each switch. Default: 2"""
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    link_rate: str
    """Rate of a link between switches. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or
    bps), such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    link_delay: str
    """Propagation delay of a link between switches. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "1us"
    """


class Dragonfly(TypedDict, total=False):
    """A dragonfly: the routers of a group are linked to each other, and each pair of groups has the
    same number of links, as many as the routers' links to other groups allow. Group i numbers its
    links to other groups, and router r has those from r times `global_links_per_router` on. They
    lead to the other groups in order, again and again (the absolute arrangement of Hastings et al.,
    "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015). The default is
    balanced as in §3.1: twice as many routers in a group as hosts on a router or links to other
    groups.
    """

    groups: int
    """Groups of routers. Default: 9"""
    routers_per_group: int
    """Routers of a group: a. Default: 4"""
    hosts_per_router: int
    """Hosts on each router: p. Default: 2"""
    global_links_per_router: int
    """Links of each router to other groups: h. Default: 2"""
    host_rate: str
    """Rate of a host's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Gbps"
    """
    local_rate: str
    """Rate of a link within a group. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps),
    such as "100Gbps". Default: "100Gbps"
    """
    global_rate: str
    """Rate of a link between groups. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps),
    such as "100Gbps". Default: "100Gbps"
    """
    host_delay: str
    """Propagation delay of a host's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    local_delay: str
    """Propagation delay of a link within a group. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "1us"
    """
    global_delay: str
    """Propagation delay of a link between groups. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "1us"
    """


class Rail(TypedDict, total=False):
    """A rail-optimised fabric. A host is a GPU with its NIC. The NICs at the same place of all
    servers of a pod share a leaf, their rail; spines join all leaves. The GPUs of a server also
    have a link each to a switch inside the server. Hosts are numbered server by server. Those of
    one server reach each other through its switch, those of one rail and pod through their leaf,
    all others through a spine. A GPU forwards nothing for others. So without spines, in a rail-only
    fabric, it reaches the GPUs of its server and of its rail only. Such a fabric carries jobs whose
    messages need no more, such as `kind = "collective"` with `algorithm = "hierarchical"`.
    """

    pods: int
    """Pods of servers. Default: 1"""
    servers_per_pod: int
    """Servers of a pod. Default: 16"""
    gpus_per_server: int
    """GPUs of a server, and rails of a pod. Default: 8"""
    spines: int
    """Spines, each with links to all leaves; 0: a rail-only fabric. Default: 16"""
    links_per_spine: int
    """Links from each leaf to each spine. Default: 1"""
    nic_rate: str
    """Rate of a NIC's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "400Gbps"
    """
    spine_rate: str
    """Rate of a link between leaf and spine. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "400Gbps"
    """
    server_rate: str
    """Rate of a GPU's link inside its server; 0bps: there is none. The default is NVLink's 450 GB/s
    each way (NVIDIA H100 data sheet). Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps),
    such as "100Gbps". Default: "3600Gbps"
    """
    nic_delay: str
    """Propagation delay of a NIC's link. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    spine_delay: str
    """Propagation delay of a link between leaf and spine. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """
    server_delay: str
    """Propagation delay of a link inside a server. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "100ns"
    """


class Graph(TypedDict, total=False):
    """A network of any shape. Packets take the paths of the lowest cost: the fewest links, unless
    the file gives links a cost. The name of the file decides how it is read: - `.toml`: `hosts` and
    `switches` list the names of nodes, `links` has tables with `ends` (two names, or two lists,
    whose nodes are linked each to each) and, if wanted, `rate`, `delay`, `cost`, and `count`, the
    number of parallel links. - `.graphml` or `.xml`: GraphML, without direction. Attributes of
    nodes: `kind` (`host` or `switch`), `label`. Attributes of edges: `rate` or `LinkSpeedRaw` (in
    bit/s, as in the Internet Topology Zoo), `delay`, and `cost` or `weight`. Others are not read. -
    any other: a list of edges, one in a line: two names, separated by blanks or a comma, then
    `rate`, `delay` and `cost=N` in any order. `#` begins a comment. Where nodes have no kind, those
    with one link are hosts, and all others are switches; with `hosts_per_switch`, all are switches.
    Hosts and switches are numbered in the order of the file. The layer of a switch is its distance
    from the nearest switch with hosts.
    """

    file: str | int | Sequence[int]
    """The path of the file. Default: ""
    """
    rate: str
    """Rate of links without one. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such
    as "100Gbps". Default: "100Gbps"
    """
    delay: str
    """Propagation delay of links without one. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "1us"
    """
    hosts_per_switch: int
    """Hosts to add to each switch of a graph that has only switches. Default: 0"""


class Run(TypedDict, total=False):
    """When and what to measure. Measured flows start in [warmup, warmup + measure). Arrivals
    continue until these flows have finished or `drain` has passed. A measured flow that has not
    finished then counts as infinitely slow.
    """

    warmup: str
    """Flows that start before this are not measured. Expects a duration with its unit (s, ms, us,
    ns or ps), such as "2us". Default: "1ms"
    """
    measure: str
    """Duration of the measurement. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "8ms"
    """
    drain: str
    """The longest wait after that for measured flows to finish. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "50ms"
    """
    grid: str
    """Interval of the grid: stop conditions are evaluated and samples taken at its multiples.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "10us"
    """
    watchdog: str
    """A run is stuck, which is an error, if flows wait and nothing is acknowledged for this time,
    or if paused queues wait for each other for it. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "50ms"
    """
    flows: Literal["all", "sample", "none"]
    """Which flows get a row in flows.parquet. Default: "all"
    """
    monitor: str | int | Sequence[int]
    """Hosts with a monitored access link, on the switch's side: every packet's queueing delay, and
    the queue length at every step of the grid. Written as "0" or "0-3,7"; empty: none. Default: ""
    """
    capture: str | int | Sequence[int]
    """Links with packets written to trace.pcapng, in both directions: the access links of hosts as
    "0" or "0-3,7", all links of switches as "leaf:0" or "spine:0-1"; empty: none. Default: ""
    """
    flow_series: str
    """Interval of flow_series.parquet: the bytes of each flow at its receiver in each interval.
    Each active flow adds a row per interval, so it suits a few flows or a short time. 0: none.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    port_samples: str
    """Interval of port_samples.parquet: the bytes in each port's queues, and its bytes sent and
    lost in the interval (Flowtune 5.3.3: 1 ms). 0: none. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """
    link_delays: bool
    """Record the queueing delays of all data packets at all ports of switches, by kind of link,
    such as spine-leaf (BFC App. A.2, Table 2). If unscheduled and scheduled packets have separate
    queues, also for each of them. Default: false
    """
    paths: bool
    """Record paths.parquet: the ports that each flow takes through the network. Every flow adds a
    row for each of its links. Needs a load balancer that gives a flow one path. Default: false
    """
    batches: int
    """Batches of equal length that the measured time is divided into, for batches.parquet:
    slowdowns and completion times of each batch, at any length of a run in bounded memory. At most
    1000. 0: none. Expects a whole number from 0 to 65535. Default: 0
    """
    partitions: int
    """Partitions of the network; 0: a number that suits the threads. Results do not depend on it.
    Expects a whole number from 0 to 65535. Default: 0
    """
    check_invariants: bool
    """Check invariants of the simulation's state as it advances, such as the bytes that queues and
    memories count. A violation ends the run. Results do not depend on it. Default: false
    """


class Frame(TypedDict, total=False):
    """Frame sizes. The defaults are those of the HPCC simulator: 1000 B of payload, 48 B of headers
    (14 PPP, 20 IP, 8 UDP, 6 sequence), a 60 B acknowledgement for every data packet, no preamble.
    """

    payload: str
    """Payload of a full packet. Expects a size with its unit (GB, MB, KB or B; powers of ten, or
    GiB, MiB, KiB), such as "12MB". Default: "1KB"
    """
    header: str
    """Headers of a data packet, without INT. Expects a size with its unit (GB, MB, KB or B; powers
    of ten, or GiB, MiB, KiB), such as "12MB". Default: "48B"
    """
    whole_packets: bool
    """The payload of a flow's last packet is padded to that of a full one, as in htsim. Rows have
    the size without padding, and ideal completion times count the padding. Default: false
    """
    ack: str
    """An acknowledgement, without INT (the smallest frame). Expects a size with its unit (GB, MB,
    KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "60B"
    """
    ack_header: str
    """Headers of an acknowledgement before padding. With INT an acknowledgement has the length of
    these headers and the INT header, and at least that of `ack` (the HPCC simulator: 88 B with 42 B
    of INT). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such
    as "12MB". Default: "46B"
    """


class Transport(TypedDict, total=False):
    """Transport of every flow."""

    kind: Literal["sender", "ndp", "homa", "expresspass", "eqds"]
    """Which end of a flow decides what is sent. Default: "sender"
    """
    congestion: Literal[
        "none",
        "dctcp",
        "dcqcn",
        "dcqcn-rdma15",
        "hpcc",
        "newreno",
        "cubic",
        "dctcp-tcp",
        "dctcp-htsim",
        "newreno-htsim",
        "xcp",
        "pfabric",
        "delay-window",
        "swift",
        "timely",
        "ns3-cubic",
        "ns3-dctcp",
        "powertcp",
        "theta-powertcp",
        "hpcc-pint",
    ]
    """Congestion control. Default: "none"
    """
    allocator: Literal["none", "flowtune"]
    """Allocator of rates, in addition to the congestion control. Default: "none"
    """
    window: Literal["bdp", "fixed", "unlimited"]
    """How much of a flow may be unacknowledged. Default: "bdp"
    """
    window_size: str
    """The window with `window = "fixed"`. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    base_rtt: str
    """Base RTT for the window and for controls that need one. 0: derived, two propagation delays of
    the longest path and the serialisation of one full packet at each of its links. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    base_rtt_of: Literal["longest", "pair"]
    """Path whose base RTT the window and the congestion control of a flow use: the longest path (as
    in the HPCC simulator), or the flow's own. Use the latter if paths differ much. Default:
    "longest"
    """
    window_follows_rate: bool
    """Scale the window by rate / line rate (HPCC and DCTCP of the HPCC simulator). Default: false
    """
    pacing: bool
    """Space the packets of a flow by its rate. Without pacing only the window limits a flow, and
    must follow the rate. Models a NIC that sends whole packets only, so that a flow never sends
    less than one packet a round trip (SFC §5.2: Intel's E810). Default: true
    """
    rate_bound: bool
    """Space packets by the flow's rate. Otherwise by the rate of its link, so that the rate only
    counts where the window follows it (the HPCC simulator's RATE_BOUND 0). Default: true
    """
    flow_control: Literal["none", "onramp-like"]
    """Flow control of the sender, in addition to its congestion control. Default: "none"
    """
    recovery: Literal["go-back-n", "perfect", "selective-repeat", "sack", "newreno", "sack1"]
    """Recovery from losses. Default: "go-back-n"
    """
    nack_interval: str
    """Least time between two requests for the same missing packet (HPCC simulator: 500 us). Expects
    a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    timeout: str
    """A flow without progress for this long goes back to its first unacknowledged byte. With
    selective repeat it skips what is known to have arrived; with NDP the sender repeats what its
    receiver has not answered; with Homa the receiver asks for what is missing. 0: never (right
    where nothing is lost). RoCE NICs use milliseconds; IRN's RTO_high is 320 us (IRN §4.1), and
    1350 us in ConWeave's simulator. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    timeout_low: str
    """The timeout of a flow with few packets in flight, with selective repeat: IRN's RTO_low is 100
    us (IRN §4.1), 454 us in ConWeave's simulator. 0: `timeout` for all. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "100us"
    """
    timeout_low_packets: int
    """Up to this many packets are few (IRN §4.1: N = 3). Expects a whole number from 0 to 65535.
    Default: 3
    """
    ack_class: Literal["data", "control"]
    """Where acknowledgements queue at switches and NICs. Default: "data"
    """
    round_robin: Literal["ready", "index", "posted", "shortest", "fifo"]
    """Order in which a NIC serves its flows. Default: "ready"
    """
    posted_acks: bool
    """Acknowledgements take turns with the flows that post packets. Otherwise they go first, in
    turns by flow. Default: true
    """
    posted_packets: int
    """Packets that a flow may have at the NIC, the one in service included (htsim: 3). Expects a
    whole number from 0 to 255. Default: 3
    """


class Switch(TypedDict, total=False):
    """The parts of every switch."""

    architecture: Literal["output-queued", "crossbar", "pipelined"]
    """The path of packets through a switch. Default: "output-queued"
    """
    balance: Literal["ecmp", "wcmp", "given", "adaptive", "spray", "letflow", "conga"]
    """The choice of a packet's port among equal-cost ports. Default: "ecmp"
    """
    symmetric_ecmp: bool
    """Both directions of a flow take the same links. Switches of a layer use the same hash, and
    hash the 5-tuple of either direction to the same value. Default: false
    """
    scheduler: Literal[
        "fifo",
        "drr",
        "per-flow",
        "srf",
        "per-flow-srf",
        "pfabric",
        "sfqcodel",
        "ets",
        "strict",
    ]
    """Scheduler of data queues. Default: "fifo"
    """
    quantum: str
    """Bytes per turn of round robin (one full packet, so that every turn sends one). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "1048B"
    """
    departure: Literal["start", "end"]
    """When a packet leaves its queue and its memory. If at the end of its transmission, it takes
    room from others until then, and `ecn.at = "dequeue"` sees the queue with the packet itself
    (htsim). Default: "start"
    """
    hop: Literal["none", "pfc", "bfc", "sfc"]
    """Hop-by-hop flow control. Default: "none"
    """
    elide: Literal["none", "cycles", "bounces"]
    """Packets without flow control (BFC App. B). They pause no neighbour, so they are dropped if
    there is no room, even under PFC. Default: "none"
    """
    overflow: Literal["drop", "trim"]
    """The fate of a data packet with a full queue. Default: "drop"
    """
    ecn: bool
    """Switches mark packets, as set in section `ecn`. Default: false"""


class Buffer(TypedDict, total=False):
    """A switch's packet buffer."""

    kind: Literal["shared", "unlimited", "dedicated"]
    """The kind of memory: shared by all ports with a dynamic threshold per queue, unlimited, or
    dedicated to a queue. Default: "shared"
    """
    size: str
    """Size of the memory (BFC §6.2.1: 12 MB). If dedicated: size per queue, or per port if the
    scheduler does not divide it. 0: with scheduler = "pfabric", two bandwidth-delay products of the
    base RTT and the hosts' rate (pFabric §5: 36 KB at 10 Gb/s). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "12MB"
    """
    gateway_size: str
    """Size of the memory at gateways between data centres; 0: as at other switches. PFC reserves
    the bytes in flight on every link, and a long link holds more than the memory of a switch.
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    alpha: float
    """Dynamic threshold: a queue may hold up to alpha x the free bytes; 0: no limit per queue. With
    1, a single queue gets half of the memory. Expects a non-negative number. Default: 1.0
    """
    by_class: str
    """Shares of single traffic classes, as "0: lossy alpha 1, 3: alpha 0.25 reserve 8KB headroom
    60KB". Under PFC, classes without the word `lossy` are lossless; without PFC all are lossy.
    `alpha` is the dynamic threshold, of a lossy class at each egress queue, of a lossless one at
    each ingress, where it pauses the neighbour. `reserve` is guaranteed to each such queue or
    ingress. `headroom` is that of each ingress, and `resume_offset` says when the neighbour is
    resumed. What a class does not name is that of all classes: `buffer.alpha` and no reserve if
    lossy, else the settings of `pfc`. SONiC has such profiles (BUFFER_PROFILE). Expects classes
    from 0 to 7, each once, with one or more of lossy, alpha A (0.000001 to 64), reserve SIZE,
    headroom SIZE and resume_offset SIZE, such as "0: lossy alpha 1, 3: alpha 0.25 reserve 8KB
    headroom 60KB". Default: ""
    """


class Flowtune(TypedDict, total=False):
    """Flowtune: rates from an allocator (NSDI 2017; defaults from its simulations, §5.3, unless
    noted).
    """

    link_rate: str
    """Rate of an allocator's link to each switch of the top layer. Larger networks need more (Fig.
    11: 1.13 % of 2048 links of 10 Gb/s are 231 Gb/s). Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "40Gbps"
    """
    control: Literal["tcp", "udp"]
    """The transport of messages between servers and allocators. Default: "tcp"
    """
    allocators: Literal["one", "per-pod"]
    """Number of allocators. Default: "one"
    """
    iteration: str
    """Time between iterations. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "10us"
    """
    compute_time: str
    """Time from the start of an iteration until its rates are sent. 0: at once, as in the paper's
    simulations. Its implementation takes 8.29 us for 384 servers and 30.71 us for 4608 (§8). The
    value must be at most `iteration`. Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "0ps"
    """
    optimizer: Literal["ned", "gradient", "fast-weighted-gradient", "newton-like", "newton"]
    """The rule that updates prices. Default: "ned"
    """
    gamma: float
    """Step size of the optimizer ("γ in the range [0.2, 1.5]" performs similarly). Expects a non-
    negative number. Default: 0.4
    """
    newton_interval: int
    """Iterations per measurement interval, with `optimizer = "newton-like"`. Default: 10"""
    utility: Literal["log", "alpha-fair"]
    """Utility of a flowlet's rate. Default: "log"
    """
    alpha: float
    """Exponent of `utility = "alpha-fair"`; 1 is "log". Expects a non-negative number. Default: 2.0
    """
    normalizer: Literal["f-norm", "f-norm-as-printed", "u-norm", "none"]
    """Normalisation of rates that exceed link capacities. Default: "f-norm"
    """
    threshold: float
    """Relative change at which a rate is reported again; links are allocated up to 1 - threshold of
    their capacity (§5.3.2). Expects a non-negative number. Default: 0.01
    """
    paths: Literal["known", "big-switch"]
    """The allocators' knowledge of paths. Default: "known"
    """
    transit_share: float
    """Maximum fraction of a link subtracted for flowlets from other pods, with `allocators = "per-
    pod"`. Expects a non-negative number. Default: 0.5
    """
    failures: Literal["known", "unknown"]
    """The allocators' knowledge of failed links. Default: "known"
    """
    path_discovery: str
    """Time from the switches' re-routing until the allocators know the new paths. Until then the
    failed link has no capacity, so that flowlets over it wait. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    reserve: float
    """Fraction of each link's capacity reserved for flows without a rate ("a small fraction of link
    capacity", §6). The paper's simulations reserve only the threshold. Expects a non-negative
    number. Default: 0.0
    """
    reserve_acks: bool
    """Subtract the acknowledgements of allocated flowlets from the capacities of the links on which
    they return, as external traffic (§6). Rates count bits on the wire, so headers are included in
    any case. Without this, acknowledgements would have to fit into `threshold`, although they take
    5 % of a link that is full in both directions. Default: true
    """
    start_before_allocation: bool
    """Flows start under their own congestion control before they have a rate. Default: true"""
    window_rtts: float
    """Window opened by a rate: the bytes sent at the rate in this many base RTTs. The flow's
    congestion control stays active below the rate, so that losses and marks close the window again
    until the next rate ("our implementation keeps those unchanged", §5.1). Expects a non-negative
    number. Default: 2.0
    """
    lifetime: str
    """Validity of a server's rates after the last message from the allocator ("every few tens of
    microseconds", §6). A server without a message for half of this time gets a renewal. When rates
    expire, `transport.congestion` takes over from the last rate. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "100us"
    """
    detection: Literal["send", "idle"]
    """Detection of the start and end of flowlets. Default: "send"
    """
    coalesce: bool
    """Let a flow join an existing flowlet between the same two servers, with `detection = "send"`.
    Flows of one flowlet are served in sequence. Default: false
    """
    idle_threshold: str
    """Time without a backlog that ends a flowlet, with `detection = "idle"`. The paper gives no
    value. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "50us"
    """
    advance_notice: str
    """Time before its last byte leaves at which a flowlet is reported as ended (§6: sizes are
    known). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    min_rto: str
    """Minimum retransmission timeout of the control connections. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "20us"
    """
    max_rto: str
    """Maximum retransmission timeout of the control connections. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "30us"
    """
    message_loss: float
    """Fraction of control packets, including acknowledgements, that are lost deliberately. Expects
    a non-negative number. Default: 0.0
    """
    stop_at: str
    """Time at which the allocators stop; 0: never. Their NICs keep acknowledging, but messages to
    them are lost. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "0ps"
    """
    resume_at: str
    """Time at which the allocators restart; 0: never. They then have no flowlets and request a
    report of all. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "0ps"
    """


class Nic(TypedDict, total=False):
    """Congestion at the NICs' end of the link."""

    pfc: bool
    """NICs obey pause frames from their switch (IEEE 802.1Qbb). Default: true"""
    receive_rate: str
    """Rate at which a host reads data frames from its NIC. 0: unlimited. Expects a rate with its
    unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    receive_xoff: str
    """XOFF threshold: with a larger backlog the NIC pauses the class of an arriving frame. No
    source. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "64KB"
    """
    receive_xon: str
    """XON threshold: with at most this backlog the NIC resumes all classes. No source. Expects a
    size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "32KB"
    """


class Ecn(TypedDict, total=False):
    """ECN marking at switches. BFC §6.2.1: Kmin 100 KB, Kmax 400 KB for DCQCN and DCTCP at 100
    Gb/s.
    """

    kmin: str
    """No packet is marked while its queue holds no more than this. Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "100KB"
    """
    kmax: str
    """Every packet is marked while its queue holds more than this. Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "400KB"
    """
    pmax: float
    """Marking probability at Kmax; linear from 0 at Kmin. Expects a non-negative number. Default:
    0.2
    """
    by_class: str
    """Thresholds of single traffic classes, as "3: 20KB-80KB, 5: never": Kmin and Kmax, then
    optionally the probability at Kmax, or `never`. Switches have such a profile for each of their
    queues. Classes that are not named have the thresholds above. Expects classes from 0 to 7, each
    once, with KMIN-KMAX, KMIN-KMAX PMAX or never, such as "3: 20KB-80KB 0.1, 5: never". Default: ""
    """
    at: Literal["dequeue", "enqueue"]
    """Whether the queue length is checked when a packet arrives or when it leaves. Default:
    "dequeue"
    """


class Faults(TypedDict, total=False):
    """Faults injected on purpose."""

    control_loss: float
    """Share of flow-control frames (pauses, resumes, bitmaps, signals to senders) that are lost.
    Expects a non-negative number. Default: 0.0
    """


class GoBackN(TypedDict, total=False):
    """Go-back-N."""

    ack_from: str
    """A receiver acknowledges nothing until this many bytes of a flow have arrived in order, except
    at the end of a chunk. From then on it acknowledges every packet (the HPCC simulator's
    L2_ACK_INTERVAL). A shorter flow ends only if its size is whole chunks. 0: every packet. Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    chunk: str
    """Bytes of a chunk (the HPCC simulator's L2_CHUNK_SIZE). Expects a size with its unit (GB, MB,
    KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "4KB"
    """
    back_to_zero: bool
    """A loss returns to the start of its chunk (the HPCC simulator's L2_BACK_TO_ZERO). Only whole
    chunks count as acknowledged: a flow ends only if its size is whole chunks. Default: false
    """


class Tcp(TypedDict, total=False):
    """TCP: its recovery (`transport.recovery = "sack"`, `"newreno"` or `"sack1"`) and the start of
    its windows.
    """

    initial_window_packets: int
    """First congestion window, in packets (RFC 6928: 10). Default: 10"""
    initial_ssthresh: str
    """First slow-start threshold. 0: slow start continues until the first loss. Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    window_validation: bool
    """The window grows only while at least half of it is used (RFC 7661). Without this the window
    of a flow limited by its own NIC grows without bound, as in ns-2 and ns-3. Default: true
    """
    increase: Literal["per-window", "per-ack", "per-ack-exact"]
    """Increase of the window in congestion avoidance (not of CUBIC's). Default: "per-window"
    """
    reduction: Literal["at-once", "prr"]
    """How the window falls after a loss or a mark. Default: "at-once"
    """
    halved: Literal["flight", "pipe", "window"]
    """The bytes that a loss halves, or reduces otherwise. Default: "flight"
    """
    handshake: bool
    """A flow begins with a packet of one byte, whose answer lets it send data (a SYN). Default:
    false
    """
    duplicate_acks: int
    """A packet is lost once this many later packets have arrived (RFC 6675: 3; more where packets
    overtake each other: Linux raises it to the longest overtaking it has seen, up to 127). 0: only
    timeouts detect losses. Expects a whole number from 0 to 65535. Default: 3
    """
    sack_bytes: Literal["none", "option", "blocks"]
    """Bytes that selective acknowledgements add to an acknowledgement. Default: "none"
    """
    min_rto: str
    """Least retransmission timeout. RFC 6298 has 1 s; published ns-2 scripts for data centres have
    1 ms with timers of high resolution. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1ms"
    """
    rto_floor: Literal["timeout", "variation"]
    """What `min_rto` bounds: the timeout (RFC 6298), or only its term of variation, to which the
    mean round trip is added (Linux). Default: "timeout"
    """
    timeout_scan: str
    """Timeouts are noticed at multiples of this interval only. A flow then sends after up to 1/200
    of the interval, the sooner the later it was noticed (htsim: 10 ms). 0: at once. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    max_rto: str
    """Longest retransmission timeout, also after doubling. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1s"
    """
    initial_rto: str
    """Retransmission timeout before the first measured round trip (RFC 6298: 1 s; the same scripts:
    the least timeout). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "1ms"
    """
    ecn: bool
    """NewReno: a marked packet halves the window, at most once a window (RFC 3168). Default: false
    """
    handshake_rtt: str
    """Round-trip time measured before the first data, by the handshake that opened the connection.
    0: none. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    limited_transmit: bool
    """The first duplicate acknowledgements, below `duplicate_acks`, let a packet of new data leave
    each (RFC 3042). With `recovery = "sack"` the packets they report make room. Default: true
    """
    rtt_samples: Literal["all", "one"]
    """Which acknowledgements measure the round trip. A timeout stays doubled until the next
    measurement. Default: "all"
    """
    after_recovery: Literal["threshold", "deflated", "flight"]
    """The congestion window after a recovery without selective acknowledgements. Default:
    "threshold"
    """
    newreno: Literal["rfc6582", "htsim"]
    """The rules of a recovery without selective acknowledgements. Default: "rfc6582"
    """
    probe_after: int
    """After this many timeouts in a row a sender probes: it sends one header at each timeout until
    one is answered (pFabric §4.2). 0: never. Expects a whole number from 0 to 65535. Default: 0
    """


class Dctcp(TypedDict, total=False):
    """DCTCP."""

    gain: float
    """Gain g of the moving average of the marked fraction (DCTCP paper: 1/16). Expects a non-
    negative number. Default: 0.0625
    """
    additive_increase: str
    """Increase of the rate per RTT without marks. 0: derived, one full payload per base RTT.
    Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    min_rate: str
    """Minimum rate (the HPCC simulator's run.py: 1 Gb/s). Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "1Gbps"
    """
    start: Literal["line-rate", "slow-start"]
    """Start of a flow. Default: "line-rate"
    """
    initial_window_packets: int
    """Initial window with slow start, in packets (BFC App. A.6: 10). Default: 10"""


class Dcqcn(TypedDict, total=False):
    """DCQCN, Mellanox form. Defaults: the HPCC simulator's run.py, "dcqcn", at 100 Gb/s."""

    gain: float
    """Gain g of alpha. Expects a non-negative number. Default: 0.00390625"""
    alpha_interval: str
    """Interval between updates of alpha. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "1us"
    """
    decrease_interval: str
    """Minimum interval between cuts of the rate. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "4us"
    """
    increase_interval: str
    """Interval between increases of the rate after a cut. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "300us"
    """
    fast_recovery_steps: int
    """Increases towards the target before the target itself is raised. Default: 1"""
    additive_increase: str
    """Additive increase of the target (5 Mb/s x 100 G / 25 G). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "20Mbps"
    """
    hyper_increase: str
    """Hyper increase of the target (50 Mb/s x 100 G / 25 G). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "200Mbps"
    """
    min_rate: str
    """Minimum rate. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "1Gbps"
    """
    clamp_target: bool
    """Set the target to the previous rate at every cut, not only at a cut after an increase.
    Default: false
    """


class DcqcnRdma15(TypedDict, total=False):
    """DCQCN, paper form. Defaults: the configuration in its authors' simulator (bobzhuyb/ns3-rdma,
    mix/config.txt).
    """

    notification_interval: str
    """Minimum interval between a receiver's notifications to one flow's sender (DCQCN §3.1, N).
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "50us"
    """
    alpha_interval: str
    """Interval between decays of alpha without notifications (DCQCN §3.1, K). Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "55us"
    """
    gain: float
    """Gain g of alpha. Expects a non-negative number. Default: 0.00390625"""
    initial_alpha: float
    """Alpha at the first notification. Expects a non-negative number. Default: 0.5"""
    timer: str
    """Interval between increases of the rate by the timer (DCQCN §3.1, T). Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "60us"
    """
    byte_counter: str
    """Bytes sent between increases of the rate by the byte counter (DCQCN §3.1, B). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "300MB"
    """
    fast_recovery_steps: int
    """Steps of fast recovery (DCQCN §3.1, F). Default: 5"""
    additive_increase: str
    """Additive increase of the target. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or
    bps), such as "100Gbps". Default: "40Mbps"
    """
    hyper_increase: str
    """Hyper increase of the target. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps),
    such as "100Gbps". Default: "200Mbps"
    """
    min_rate: str
    """Minimum rate. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "100Mbps"
    """


class Hpcc(TypedDict, total=False):
    """HPCC. Defaults: the parameters of its paper as repeated by the BFC paper (§6.2.1) and
    otherwise of its authors' simulator at 100 Gb/s.
    """

    target_utilisation: float
    """Target utilisation eta. Expects a non-negative number. Default: 0.95"""
    max_stage: int
    """Number of additive increases before the next multiplicative one (maxStage). Default: 5"""
    additive_increase: str
    """Additive increase of the rate (10 Mb/s x 100 G / 25 G). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "40Mbps"
    """
    min_rate: str
    """Minimum rate (the simulator's run.py: 1 Gb/s). Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "1Gbps"
    """
    int_overhead: str
    """Size of the INT header in every data packet: 80 B in the BFC paper (§6.3), 42 B in the
    simulator (5 hops x 8 + 2). Expects a size with its unit (GB, MB, KB or B; powers of ten, or
    GiB, MiB, KiB), such as "12MB". Default: "80B"
    """
    int_time_unit: str
    """Resolution of time stamps in INT; values are truncated (the simulator's header: 1 ns). 1 ps:
    exact. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "1ns"
    """
    int_bytes_unit: str
    """Resolution of byte counts in INT; values are truncated (the simulator's header: 128 B x 100 G
    / 25 G). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such
    as "12MB". Default: "512B"
    """
    int_queue_unit: str
    """Resolution of queue lengths in INT; values are truncated (the simulator's header: 80 B x 100
    G / 25 G). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such
    as "12MB". Default: "320B"
    """
    multi_rate: bool
    """Keep a rate for each hop, and send at the lowest. Otherwise one rate follows the most loaded
    hop (the simulator's MULTI_RATE). Default: false
    """
    fast_react: bool
    """React to every acknowledgement. Otherwise once a round trip (the simulator's FAST_REACT).
    Default: true
    """
    sample_feedback: bool
    """Between the updates of the reference rate, look only at hops with a queue (the simulator's
    SAMPLE_FEEDBACK). Default: false
    """


class Cubic(TypedDict, total=False):
    """CUBIC."""

    scale: float
    """The constant C, in packets per cubic second (RFC 9438 §5: 0.4). Expects a non-negative
    number. Default: 0.4
    """
    beta: float
    """Factor of the window after a loss (RFC 9438 §4.6: 0.7). Expects a non-negative number.
    Default: 0.7
    """
    fast_convergence: bool
    """Reduce W_max further if the window was larger before the previous loss, to free bandwidth for
    new flows (§4.7). Default: true
    """


class DctcpTcp(TypedDict, total=False):
    """DCTCP with TCP's window."""

    gain: float
    """Gain g of the moving average of the marked fraction (RFC 8257: 1/16). Expects a non-negative
    number. Default: 0.0625
    """
    initial_alpha: float
    """Estimated fraction of marked packets when a flow begins: 1 halves the window at the first
    mark (RFC 8257 §3.3), 0 ignores it (ns-2's DCTCP, of DCTCP's and pFabric's authors:
    `ecnhat_alpha_ 0.0`). Expects a non-negative number. Default: 1.0
    """


class DctcpHtsim(TypedDict, total=False):
    """DCTCP as in htsim. `tcp.initial_ssthresh` ends its slow start (htsim: 100 packets)."""

    gain: float
    """Gain of the moving average of the marked fraction. Expects a non-negative number. Default:
    0.0625
    """


class Xcp(TypedDict, total=False):
    """XCP, in switches and hosts. The gains are the paper's (§4: alpha 0.4, beta 0.226; §3.5.2: a
    tenth is shuffled). ns-2 and the draft have times in milliseconds; the defaults here suit a data
    centre.
    """

    alpha: float
    """Share of the spare bandwidth that is distributed in a control interval: more than 0, less
    than pi / (4 sqrt 2), about 0.555, below which the control is stable (§4). Expects a non-
    negative number. Default: 0.4
    """
    beta: float
    """Share of the persistent queue that is drained in a control interval. Stability requires
    alpha^2 sqrt 2 (§4); a deviation of up to 1 % is accepted. Expects a non-negative number.
    Default: 0.226
    """
    gamma: float
    """Least share of the traffic that is redistributed in a control interval, so that bandwidth
    moves to flows with less of it even on a full link (§3.5.2). Expects a non-negative number.
    Default: 0.1
    """
    initial_interval: str
    """Control interval of a port without a known RTT, also after an idle period; 0: derived, the
    base RTT. (ns-2: 50 ms.) Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    min_interval: str
    """Shortest control interval. (ns-2: 1 ms.) Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "1us"
    """
    min_queue_interval: str
    """Shortest search for the persistent queue; 0: `min_interval`. (ns-2: 2 ms.) Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    clocks: Literal["on-demand", "free"]
    """When the clocks of switches run. Default: "on-demand"
    """
    first_interval_end: str
    """End of the first control interval and of the first search, at all ports; 0: after
    `initial_interval`. (ns-2 draws it for each port.) Expects a duration with its unit (s, ms, us,
    ns or ps), such as "2us". Default: "0ps"
    """
    router: Literal["draft", "ns2"]
    """Arithmetic of switches. ns-2's divides a decrease among the bytes of all packets, counts the
    departing packet as queued, and divides an increase by 1 s where no packet of the interval knew
    its RTT. Default: "draft"
    """
    sender: Literal["draft", "ns2"]
    """Arithmetic of senders. ns-2's has windows of whole packets, takes feedback for a change of
    payload, not of bytes on the wire, at the sender's RTT, not the packet's, and asks for any rate.
    Default: "draft"
    """
    rtt_tick: str
    """Tick of the sender's clock, in which RTTs are whole numbers; 0: none. (ns-2: 10 ms unless
    set, and an RTT of 0 ticks counts as unknown.) Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "0ps"
    """
    initial_window_packets: int
    """First window of a flow (ns-2's TCP: 2 packets). Default: 2"""
    rtt_gain: float
    """Gain of the moving average of the RTT; 1: the last sample, which is exact here. TCP's 1/8
    (RFC 6298) lags by several RTTs with a window of a few packets, and the control then oscillates.
    Expects a non-negative number. Default: 1.0
    """
    header: str
    """Bytes of the congestion header, in data packets and acknowledgements (draft). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "20B"
    """


class Pfabric(TypedDict, total=False):
    """pFabric's hosts."""

    initial_window: str
    """Initial window: "all flows begin at line rate". 0: one bandwidth-delay product, rounded up to
    whole packets (pFabric §5: 12 packets of 1500 B at 10 Gb/s). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    rto: str
    """Fixed retransmission timeout. 0: three base RTTs (pFabric §4.2: "a small multiple of the
    round-trip time"; §5: 45 us). Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    probe_after: int
    """Number of consecutive timeouts after which a flow sends only headers until one is
    acknowledged (pFabric §4.2; 5 in published ns-2 scripts). 0: never. Expects a whole number from
    0 to 65535. Default: 5
    """


class DelayWindow(TypedDict, total=False):
    """A window that keeps round trips near a target."""

    target_rtts: float
    """The target in base RTTs (BFC App. A.1: 2.5, "to avoid hurting the throughput of long flows").
    Expects a non-negative number. Default: 2.5
    """
    max_window: str
    """Maximum window. 0: `target_rtts` bandwidth-delay products, the most that a flow at line rate
    can have in flight with its round trips on target. The paper has no maximum. There the window of
    a flow without queues grows without limit, so that it no longer restrains the flow once a queue
    builds up. The minimum is one packet. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """


class Swift(TypedDict, total=False):
    """Swift. Windows are in packets."""

    ai: float
    """Additive increment: packets per round trip (ai; htsim: 1). Expects a non-negative number.
    Default: 1.0
    """
    beta: float
    """Multiplicative decrease per relative excess of the delay over the target (beta; htsim: 0.8).
    Expects a non-negative number. Default: 0.8
    """
    max_mdf: float
    """Maximum share of the window that one decrease removes (max_mdf; htsim: 0.5). Expects a non-
    negative number. Default: 0.5
    """
    queueing: str
    """Queueing delay that the base target allows on top of the base RTT. 0: one base RTT of the
    longest path. The bottleneck then stays busy even when all windows halve: the base target is the
    least "required to provide 100% utilization" (§3.5). Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """
    fs_range: float
    """Maximum addition to the target for small windows, in multiples of `queueing` (fs_range;
    htsim: 5 base targets, which are 10 times the default of `queueing`). 0: no flow-based scaling.
    Expects a non-negative number. Default: 10.0
    """
    fs_min_cwnd: float
    """Windows up to this one get the whole addition (fs_min_cwnd; htsim: 0.1). Expects a non-
    negative number. Default: 0.1
    """
    fs_max_cwnd: float
    """Windows from this one up get none of it (fs_max_cwnd; htsim: 100). Expects a non-negative
    number. Default: 100.0
    """
    initial_cwnd: float
    """Initial window. 0: one bandwidth-delay product, rounded up to whole packets. The paper's
    flows are long-lived, so that it "has little effect" there (§3.2). Expects a non-negative
    number. Default: 0.0
    """
    min_cwnd: float
    """Minimum window (§3.4: 0.001). Below 1 a flow sends one packet per RTT / window. Expects a
    non-negative number. Default: 0.001
    """
    max_cwnd: float
    """Maximum window. 0: what a flow at line rate has in flight with its round trips at the base
    target. The paper has "a ceiling value" without a number (§3.3, footnote 3). Expects a non-
    negative number. Default: 0.0
    """
    whole_bytes: bool
    """Keep the window in whole bytes, and scale the target by the whole packets in it (htsim).
    Default: false
    """
    smoothed_rtt: bool
    """Least time between two decreases, and the RTT of pacing: the smoothed RTT, as in TCP (htsim).
    Otherwise the last measured one. Default: false
    """
    retx_reset_threshold: int
    """Number of consecutive timeouts after which the window falls to its minimum
    (RETX_RESET_THRESHOLD; htsim: 5). Default: 5
    """


class Timely(TypedDict, total=False):
    """TIMELY. Defaults: the HPCC simulator's, with the increments of its run.py at 100 Gb/s."""

    gain: float
    """Weight of a new difference of RTTs in the moving average (alpha). Expects a non-negative
    number. Default: 0.875
    """
    beta: float
    """Factor of decreases (beta). Expects a non-negative number. Default: 0.8"""
    low: str
    """RTT below which the rate grows, whatever the gradient (T_low). Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "50us"
    """
    high: str
    """RTT above which the rate falls, whatever the gradient (T_high). Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    min_rtt: str
    """RTT by which the gradient is normalised (minRTT). Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "20us"
    """
    additive_increase: str
    """Increase of the rate per round trip (delta). Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Mbps"
    """
    hyper_increase: str
    """The same after `steps_before_hyper` increases in a row (N delta, with N = 5). Expects a rate
    with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "500Mbps"
    """
    steps_before_hyper: int
    """Increases in a row after which the rate grows faster. Default: 5"""
    min_rate: str
    """Minimum rate. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as
    "100Gbps". Default: "1Gbps"
    """
    timestamp: str
    """Bytes of the timestamp in each packet. Expects a size with its unit (GB, MB, KB or B; powers
    of ten, or GiB, MiB, KiB), such as "12MB". Default: "8B"
    """


class Ns3Cubic(TypedDict, total=False):
    """CUBIC as ns-3 has it."""

    scale: float
    """The constant C, in packets per cubic second. Expects a non-negative number. Default: 0.4"""
    beta: float
    """Factor of the window after a loss. Expects a non-negative number. Default: 0.7"""
    hystart: bool
    """HyStart may end slow start before the first loss. Default: true"""
    hystart_window: int
    """HyStart acts from this window on, in packets. Default: 16"""
    hystart_gap: str
    """The longest gap between acknowledgements of one train. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "2ms"
    """
    hystart_delay: str
    """Least excess over the shortest round trip that ends slow start. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "4ms"
    """


class Ns3Dctcp(TypedDict, total=False):
    """DCTCP as ns-3 has it."""

    gain: float
    """Gain g of the moving average of the marked fraction. Expects a non-negative number. Default:
    0.0625
    """
    initial_alpha: float
    """Estimated fraction of marked packets when a flow begins. Expects a non-negative number.
    Default: 1.0
    """


class Powertcp(TypedDict, total=False):
    """PowerTCP with INT. The paper's parameters are `gamma` and `expected_flows`."""

    gamma: float
    """Weight of a new window in the moving average (gamma; the authors' kernel module and their
    simulator: 0.9). Expects a non-negative number. Default: 0.9
    """
    expected_flows: float
    """Expected number of flows that share a host's link (N). Each update adds beta = host bandwidth
    x tau / N to the window. The authors' kernel module: 10. Their simulator adds 150 Mb/s to the
    rate: N = 166.7 at 25 Gb/s. Expects a non-negative number. Default: 10.0
    """
    target_power: float
    """Normalised power at which a flow keeps its window, except beta (Algorithm 1: 1; the authors'
    simulator: 0.95). Expects a non-negative number. Default: 1.0
    """
    min_current: float
    """Minimum current, as a share of the link's rate (the authors' simulator: 0.5). 0: none, as
    printed in Algorithm 1. Expects a non-negative number. Default: 0.5
    """
    min_rate: str
    """Minimum rate (the authors' simulator: MIN_RATE 100 Mb/s). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "100Mbps"
    """
    int_overhead: str
    """Size of the INT header in every data packet: 5 hops x 8 B + 2 B in the authors' simulator, as
    in that of HPCC. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "42B"
    """
    int_time_unit: str
    """Resolution of time stamps in INT; values are truncated (that header: 1 ns). 1 ps: exact.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "1ns"
    """
    int_bytes_unit: str
    """Resolution of byte counts in INT; values are truncated (that header: 128 B). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "128B"
    """
    int_queue_unit: str
    """Resolution of queue lengths in INT; values are truncated (that header: 80 B). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "80B"
    """


class ThetaPowertcp(TypedDict, total=False):
    """Theta-PowerTCP: PowerTCP from round-trip times."""

    gamma: float
    """Weight of a new window in the moving average (gamma; the authors' kernel module: 0.9; their
    simulator: 0.7). Expects a non-negative number. Default: 0.9
    """
    expected_flows: float
    """Expected number of flows that share a host's link (N). Each update adds beta = host bandwidth
    x tau / N to the window. The authors' kernel module: 10. Their simulator adds 150 Mb/s to the
    rate: N = 166.7 at 25 Gb/s. Expects a non-negative number. Default: 10.0
    """
    target_power: float
    """Normalised power at which a flow keeps its window, except beta (Algorithm 2: 1; the authors'
    simulator: 1.05). Expects a non-negative number. Default: 1.0
    """
    min_current: float
    """Minimum current, which is 1 + the gradient of the RTT (the authors' simulator: 0.5). 0: none,
    as printed in Algorithm 2. Expects a non-negative number. Default: 0.5
    """
    min_rate: str
    """Minimum rate (the authors' simulator: MIN_RATE 100 Mb/s). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "100Mbps"
    """


class HpccPint(TypedDict, total=False):
    """HPCC with PINT. Defaults: those of section `hpcc`, and for PINT the HPCC simulator's
    (`scratch/third.cc`).
    """

    target_utilisation: float
    """Target utilisation eta. Expects a non-negative number. Default: 0.95"""
    max_stage: int
    """Number of additive increases before the next multiplicative one (maxStage). Default: 5"""
    additive_increase: str
    """Additive increase of the rate (10 Mb/s x 100 G / 25 G). Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "40Mbps"
    """
    min_rate: str
    """Minimum rate (the simulator's run.py: 1 Gb/s). Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "1Gbps"
    """
    log_base: float
    """Utilisations are rounded to powers of this base (the simulator's PINT_LOG_BASE). Expects a
    non-negative number. Default: 1.05
    """
    sampled: float
    """Share of the acknowledgements to which senders react, chosen at random (the simulator's
    PINT_PROB). Expects a non-negative number. Default: 1.0
    """
    header: str
    """Size of the header in every data packet. The simulator's has two bytes for any base. Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "2B"
    """
    interval: str
    """Time over which switches average (T). 0: the base RTT of the longest path. Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """


class Onramp(TypedDict, total=False):
    """Flow control by one-way delay, modelled on OnRamp."""

    threshold: str
    """One-way delay above which a flow is paused. 0: three quarters of the base RTT, which is 1.5
    times the delay without queues (not published; chosen so that the queue of "SFC", Fig. 1,
    converges near the 13 MB shown). Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    gain: float
    """Fraction of the excess delay that a pause makes up for (xoff's choice: all of it). Expects a
    non-negative number. Default: 1.0
    """


class Crossbar(TypedDict, total=False):
    """A switch with ingress and egress queues around a crossbar (`switch.architecture =
    "crossbar"`).
    """

    ingress_size: str
    """Memory of each port's ingress queues (DeTail §7.1: 128 KB). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "131072B"
    """
    egress_size: str
    """Memory of each port's egress queues (DeTail §7.1: 128 KB). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "131072B"
    """
    egress_overflow: Literal["hold", "drop", "push-out", "partition"]
    """What becomes of packets for a full egress: they wait at their ingress, or packets are dropped
    there. Default: "hold"
    """
    speedup: float
    """Rate of the crossbar's lines, as a multiple of that of the switch's fastest port (DeTail
    §7.1: 4). Expects a non-negative number. Default: 4.0
    """
    forwarding_delay: str
    """Time that the forwarding engine takes to find a packet's egress port (DeTail §7.1: 3.1 us).
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "3100ns"
    """
    iterations: int
    """Iterations of iSlip per matching: log2 of 16 ports. Expects a whole number from 0 to 255.
    Default: 4
    """
    classes: int
    """Classes at ingress, crossbar and egress, 1 to 8. Higher priorities count as the last class.
    1: switches ignore priorities. Expects a whole number from 0 to 255. Default: 8
    """
    rate_limit: float
    """Rate of an egress port, as a share of the line rate (DeTail §7.2.1, its software router:
    0.98). Expects a non-negative number. Default: 1.0
    """


class Pause(TypedDict, total=False):
    """Flow control of ingress queues, in a crossbar or a pipelined switch."""

    scope: Literal["none", "port", "class"]
    """The unit of a pause, or "none". Default: "none"
    """
    xoff: str
    """A class is paused when its drain bytes reach this. Drain bytes are the bytes of the class and
    of more important classes; in a pipelined switch, of the class alone. 0: the highest value that
    leaves room for the bytes that arrive until a pause takes effect. Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    xon: str
    """A class is resumed when its drain bytes fall below this. 0: the bytes that arrive until a
    resume takes effect, so that new packets arrive before the queue is empty (DeTail §6.1). Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    response: str
    """Time from the arrival of a frame until switches and NICs obey it: T_R, two times 512 bit
    times at 1 Gb/s (DeTail §6.1). Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "1024ns"
    """
    generation_delay: str
    """Time that a switch takes to put a frame at the head of its queue (DeTail §7.2.2, its software
    router: 48 us). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "0ps"
    """
    outstanding: str
    """Bytes in a switch's hardware, which it sends in spite of a pause (DeTail §7.2.2, its software
    router: 6 KB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB),
    such as "12MB". Default: "0B"
    """


class Pipeline(TypedDict, total=False):
    """A pipelined switch: its packet processor, and the memory of its queues. Each port has a queue
    per class at the ingress and at the egress.
    """

    packet_rate: float
    """Packets per second that the processor admits (CaPFC Table II: 1 or 0.5 Mpps). Expects a non-
    negative number. Default: 1000000.0
    """
    forwarding_delay: str
    """Time from a packet's admission until it joins its egress queue. A switch has 25 us in all
    (DeTail §7.1); a packet of 1530 B at 1 Gb/s and a link of 6.6 us leave 6.16 us. There the
    crossbar takes 3.06 us of it. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "6160ns"
    """
    on_full: Literal["drop", "stop"]
    """The fate of a packet with a full egress queue. Default: "drop"
    """
    memory: Literal["dedicated", "shared"]
    """The owner of memory. Default: "dedicated"
    """
    ingress_size: str
    """Dedicated memory: size of each ingress queue (Table II: 60 KB). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "60KB"
    """
    egress_size: str
    """Dedicated memory: size of each egress queue (Table II: 60 KB). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "60KB"
    """
    dedicated: str
    """Shared memory: each queue's own part (§IV-C-7: 8 KB). Expects a size with its unit (GB, MB,
    KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "8KB"
    """
    pool: str
    """Shared memory: the common part (§IV-C-7: 350 KB). Expects a size with its unit (GB, MB, KB or
    B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "350KB"
    """
    queue_max: str
    """Shared memory: the most of the pool for one queue (§IV-C-7: 80 KB). Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "80KB"
    """
    port_max: str
    """Shared memory: the most of the pool for the queues of one port and direction (§IV-C-7: 100
    KB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "100KB"
    """
    all_ingress_max: str
    """Shared memory: the most of the pool for all ingress queues; 0: all of it. Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    all_egress_max: str
    """Shared memory: the most of the pool for all egress queues; 0: all of it. Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """


class Capfc(TypedDict, total=False):
    """Requests of a pipelined switch's egress queues to its inputs (CaPFC). Sizes are bytes in one
    queue: one port and one class.
    """

    policy: Literal["none", "stop-max", "stop-calibrate"]
    """Which inputs are asked to pause their neighbours. Default: "none"
    """
    xoff: str
    """An egress queue blames inputs if it holds this much or more after an arrival (CaPFC Table II:
    25 KB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "25KB"
    """
    xon: str
    """It ends all blame once it holds no more than this (Table II: 20 KB). Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "20KB"
    """
    warn: str
    """It counts arrivals while it holds this much or more (Table II: 20 KB; "we set the WARN
    threshold the same value as the XON threshold", §III). Expects a size with its unit (GB, MB, KB
    or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "20KB"
    """
    cut: float
    """With "stop-calibrate": the share of all counts that the blamed inputs must exceed, more than
    0 and up to 1. 1 blames every input (Table II: 80 %). Expects a non-negative number. Default:
    0.8
    """


class Wcmp(TypedDict, total=False):
    """Weighted multi-path, where `switch.balance` is "wcmp"."""

    entries: int
    """The most table entries of a route. Weights that need more are rounded, to one entry or more
    for each port. The paper takes the size of the switch's table. Default: 128
    """


class Alb(TypedDict, total=False):
    """Adaptive load balancing."""

    favoured: str
    """Ports with fewer drain bytes are the most favoured (DeTail §6.2: 16 KB). Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "16384B"
    """
    second: str
    """Ports with fewer drain bytes are favoured if no acceptable port is most favoured (DeTail
    §6.2: 64 KB). 0: only one threshold. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "65536B"
    """


class Spray(TypedDict, total=False):
    """Packet spraying, where `switch.balance` is "spray"."""

    order: Literal["random", "round-robin"]
    """The order in which packets take the equal-cost ports. Default: "random"
    """


class Flowlets(TypedDict, total=False):
    """Flowlets, where `switch.balance` is "letflow" or "conga"."""

    timeout: str
    """A flow without packets for this time begins a new flowlet (CONGA §3.6: Tfl). Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    gaps: Literal["age-bit", "timestamp"]
    """The measurement of this time. Default: "age-bit"
    """
    entries: int
    """Entries of a switch's table. Flows with the same entry share their port, and a gap must be a
    gap of all of them (CONGA §3.4: 64K). Default: 65536
    """


class Conga(TypedDict, total=False):
    """CONGA, where `switch.balance` is "conga". A new flowlet takes the uplink with the least
    congested path.
    """

    tau: str
    """Time constant of the estimate of a link's load (CONGA §3.6: tau). Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "160us"
    """
    alpha: float
    """Share by which an estimate decays at each tick, one every `alpha` times `tau` (CONGA §3.2; it
    leaves the value open). Expects a non-negative number. Default: 0.1
    """
    bits: int
    """Bits of a congestion metric (CONGA §3.6: Q). The header has 8 bits for a metric and the tag
    of an uplink: with 3 bits, a leaf may have 32 uplinks. Default: 3
    """
    aging: str
    """A metric that has not been updated for this time is halved, again after each such time (CONGA
    §3.3: it decays gradually after "e.g., 10ms"). Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "10ms"
    """


class Ndp(TypedDict, total=False):
    """NDP's hosts, for `transport.kind` = "ndp"."""

    initial_window: str
    """Initial window, sent before the receiver's first reply, in whole packets. 0B: one bandwidth-
    delay product of base RTT and host rate (NDP's paper; the public NDP simulator of SFC's
    comparison: 32 packets). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB,
    MiB, KiB), such as "12MB". Default: "0B"
    """
    pull_rate: float
    """Rate of pulled packets, relative to that of the host's link. Below 1 the queue of the first
    window drains (htsim: 0.99). Expects a non-negative number. Default: 1.0
    """


class Homa(TypedDict, total=False):
    """Homa's hosts, for `transport.kind` = "homa"."""

    rtt_bytes: str
    """RTTbytes, in whole packets: the unscheduled bytes of a message, and the limit of its granted
    but missing bytes. 0B: one bandwidth-delay product of base RTT and host rate (BFC App. A.2:
    "first BDP of traffic"). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB,
    MiB, KiB), such as "12MB". Default: "0B"
    """
    priorities: int
    """Number of priorities at switches (BFC App. A.2: 32). Expects a whole number from 0 to 255.
    Default: 32
    """
    unscheduled_priorities: int
    """Number of priorities for unscheduled data, from the highest. 0: in proportion to its share of
    the workload's bytes (BFC App. A.2: "divided [...] based on the ratio of unscheduled and
    scheduled traffic"). Expects a whole number from 0 to 255. Default: 0
    """
    cutoffs: str | int | Sequence[int]
    """Longest message (bytes) of each unscheduled priority but the last, such as "300,2000". Empty:
    each priority gets an equal share of the workload's unscheduled bytes (Homa 3.4). Default: ""
    """
    overcommitment: int
    """Number of messages that a receiver grants at once. 0: the number of scheduled priorities (BFC
    App. A.2). Expects a whole number from 0 to 65535. Default: 0
    """
    boost_tail: bool
    """Give the last rtt_bytes of a longer message the priority of an unscheduled message of their
    remaining length. Homa's simulator has this option. The default is off because in BFC's
    comparison flows slightly longer than one bandwidth-delay product wait behind all unscheduled
    data. Default: false
    """


class Expresspass(TypedDict, total=False):
    """ExpressPass, for `transport.kind` = "expresspass": its hosts, and the credit shapers of
    ports.
    """

    alpha: float
    """Credit rate of a new flow, as a fraction of the maximum on its receiver's link (alpha; BFC
    §6.2.1: 0.5). Expects a non-negative number. Default: 0.5
    """
    small_flow: int
    """A flow of fewer packets starts at a proportionally lower rate, as in the authors' simulator.
    1: never. Default: 40
    """
    initial_weight: float
    """Initial weight: the fraction of the gap to the maximum rate that a round trip without
    congestion closes (w_init; BFC §6.2.1: 0.0625). Expects a non-negative number. Default: 0.0625
    """
    min_weight: float
    """Minimum weight (w_min of the authors' simulator). Expects a non-negative number. Default:
    0.01
    """
    max_weight: float
    """Maximum weight (w_max; the authors' simulator). Expects a non-negative number. Default: 0.5
    """
    weight_step: float
    """Increase of the weight per round trip without congestion, from the second consecutive one
    (the authors' simulator; in ExpressPass §3.2 the weight goes halfway to w_max). Expects a non-
    negative number. Default: 0.05
    """
    target_loss: float
    """Fraction of credits that may be lost without a sign of congestion, for a flow with a rate
    near zero; the allowance falls to zero at the maximum rate (the authors' simulator; ExpressPass
    §3.2 has a constant target loss of 10 %). Expects a non-negative number. Default: 0.125
    """
    early_stop: bool
    """Let a sender stop credits early: as soon as the credits of one round trip, which is the
    number in flight, cover its remaining data. This is the behaviour of later versions of the
    authors' simulator. If they do not suffice, the sender requests more after `transport.timeout`.
    BFC's ExpressPass has credits "for an additional RTT" (§6.2.2). Default: false
    """
    jitter: float
    """Jitter of the gap between two credits, as a fraction in either direction: "credits are
    jittered" so that one flow's credits are not all dropped (ExpressPass §3.1). Expects a non-
    negative number. Default: 0.1
    """
    credit_size: str
    """Mean size of a credit on the wire: the shortest Ethernet frame with preamble and gap. Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "84B"
    """
    credit_size_spread: str
    """Maximum deviation of a credit's size from the mean (ExpressPass §3.1; the authors' simulator:
    76 to 92 B). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB),
    such as "12MB". Default: "8B"
    """
    credit_queue: int
    """Maximum number of credits that wait at a port (BFC §6.2.1: 16). Default: 16"""
    credit_burst: int
    """Maximum burst of credits that a port sends after an idle period (ExpressPass §3.1: 2).
    Default: 2
    """


class Eqds(TypedDict, total=False):
    """EQDS's hosts, for `transport.kind` = "eqds"."""

    window: str
    """Speculative credit of a new flow, and the most credit that a sender asks for at once, in
    bytes on the wire. 0B: one bandwidth-delay product of base RTT and host rate. Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    quantum: str
    """Unit of pull targets and credits. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "512B"
    """
    pull_credit: str
    """Credit of one pull, rounded up to quanta. 0B: the payload of a full packet. Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    pull_bytes: str
    """The time between two pulls of a receiver is that of this many bytes on its link. 0B: a full
    packet on the wire. htsim: 4198 B, which is a packet of 4160 B with its preamble and gap.
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    pull_spacing: float
    """Factor of the time between two pulls. htsim multiplies this time by 0.99, not the rate.
    Expects a non-negative number. Default: 0.99
    """
    ack_bytes: str
    """A receiver acknowledges a packet after more than this many bytes on the wire since its last
    acknowledgement. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "16384B"
    """


class Trim(TypedDict, total=False):
    """Payload trimming at switches, where `switch.overflow` is "trim"."""

    header_bytes: str
    """Bytes left of a trimmed packet (NDP: headers of 64 B). Expects a size with its unit (GB, MB,
    KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "64B"
    """
    trim_arriving: float
    """Probability that the arriving packet is trimmed, and not the packet at the tail of the full
    queue: one half, against phase effects (NDP). 1 in the simulator of SFC's comparison. Expects a
    non-negative number. Default: 0.5
    """
    header_queue: str
    """Capacity of a port's control queue, for headers, acknowledgements and pulls; 0B: "NDP sets
    the size of control packet queue at 1x BDP" (SFC §B.4), of base RTT and host rate, and at least
    one packet. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB),
    such as "12MB". Default: "0B"
    """
    return_to_sender: bool
    """Return a header to its sender, once, if it finds the control queue full (NDP). Default: true
    """
    header_weight: int
    """Headers sent per data packet while both wait: ten to one (NDP); 0: headers always go first.
    Expects a whole number from 0 to 255. Default: 10
    """


class Pfc(TypedDict, total=False):
    """Priority flow control."""

    threshold: float
    """An ingress pauses its neighbour once it holds this share of the free pool. BFC §6.2.1: 11 %
    ("when traffic from an input port occupies more than 11% of the free buffer"); the HPCC
    simulator: 1/8. Expects a non-negative number. Default: 0.11
    """
    reserve: str
    """Guaranteed bytes of each ingress port, outside the pool (the HPCC simulator's 4 KiB). Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "4096B"
    """
    resume_offset: str
    """An ingress resumes its neighbour once it holds this much less than the threshold (the HPCC
    simulator's 3 KiB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "3072B"
    """
    headroom_factor: int
    """Headroom of an ingress, as a multiple of the rate x propagation delay of its link. Two cover
    the round trip of a pause; the third covers frames already being sent (the HPCC simulator's 3).
    On slow or short links they exceed it, and packets may be dropped: `xoff check` says how much a
    headroom has to hold. Default: 3
    """
    headroom_oversubscription: float
    """The headrooms of all ingresses and classes come from one pool that is this many times smaller
    than their sum (SONiC's `over_subscribe_ratio`, by default 2 there). A packet that finds the
    pool used up is dropped. 0: each has its headroom to itself. Expects a non-negative number.
    Default: 0.0
    """
    frame_size: str
    """Bytes of a pause or resume frame on the wire: the smallest Ethernet frame (IEEE 802.1Qbb), or
    43 as in the HPCC simulator (14 + 20 + 9). Expects a size with its unit (GB, MB, KB or B; powers
    of ten, or GiB, MiB, KiB), such as "12MB". Default: "64B"
    """
    threshold_follows_rate: bool
    """Double the threshold for each doubling of a port's rate over the hosts' rate, as the HPCC
    simulator does. Default: false
    """
    watchdog: Literal["off", "drop", "forward"]
    """What the PFC watchdog of switches does to a queue that stays paused. NICs have none. Default:
    "off"
    """
    watchdog_detection: str
    """Time for which a queue with packets must be paused before the watchdog releases it (SONiC's
    default). `run.watchdog` must be longer, or the run ends as stuck before that. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "200ms"
    """
    watchdog_restoration: str
    """Time without a pause after which the queue obeys pauses again (SONiC's default). Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "200ms"
    """


class Bfc(TypedDict, total=False):
    """Backpressure flow control, at switches and NICs."""

    queues: int
    """Queues of a port, including the control queue (§6.2.1: 32; Tofino2 has 128 at 400 Gb/s).
    Expects a whole number from 0 to 255. Default: 32
    """
    reserve_control_queue: bool
    """Reserve one queue for pause and resume frames: "this reduces the number of queues available
    for dynamic queue assignment by 1" (§3.3.2). Set it to false if classes divide all queues (App.
    A.3). Default: true
    """
    classes: int
    """Traffic classes, which divide the queues equally. Classes are served by strict priority, and
    queues of a class by fair queueing (App. A.3: 4). A packet's class is the priority of its
    traffic; larger priority numbers count as the last class. Expects a whole number from 0 to 255.
    Default: 1
    """
    assignment: Literal["dynamic", "stochastic", "single"]
    """How flows get their queues. Default: "dynamic"
    """
    empty_queue: Literal["rotating", "lowest"]
    """Order in which empty queues are taken. Default: "rotating"
    """
    table_factor: int
    """Flow-table entries of a port, for each of its queues (§3.3.1: 100). Default: 100"""
    sticky_hrtts: float
    """A flow keeps its queue for this many 1-hop RTTs after its last packet (§3.3.2: 2). Expects a
    non-negative number. Default: 2.0
    """
    backpressure: Literal["queues", "occupancy", "flows", "none"]
    """What a switch pauses when a queue grows long. Default: "queues"
    """
    threshold: Literal["active", "fixed"]
    """The rule for the pause threshold of a queue. Default: "active"
    """
    threshold_factor: float
    """Multiple of the threshold's 1-hop BDP (§3.3.2: 1). Expects a non-negative number. Default:
    1.0
    """
    hop_processing: str
    """Part of the 1-hop RTT in addition to the propagation delay of both directions, such as a
    pipeline's latency (§6.2.1: none; 2 us over links of 1 us). Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    refresh_period: str
    """Interval of the pause bitmap while a queue is paused, and for `empty_refreshes` bitmaps after
    that (§3.3.2: "periodically", without a figure). Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "10us"
    """
    empty_refreshes: int
    """Bitmaps sent after the last queue has resumed. They replace a resume frame that was lost, and
    may be lost themselves. The paper does not state when bitmaps end. Expects a whole number from 0
    to 65535. Default: 10
    """
    incast_queue: bool
    """Reserve one queue of every port, and of every NIC, for labelled flows: "BFC + IncastLabel
    assigns all the incast flows at an egress port to the same queue" (App. A.7). Default: false
    """
    hardware: Literal["ideal", "tofino"]
    """The hardware of switches. Default: "ideal"
    """
    sampling: float
    """Share of packets that count in their flow's size and in the pause counters, drawn for each
    packet (App. A.8: 0.5, if hardware cannot recirculate every packet). Expects a non-negative
    number. Default: 1.0
    """
    nics_obey: bool
    """Whether NICs obey pauses (App. A.8: they do not in "BFC - NIC"). Default: true"""


class Tofino(TypedDict, total=False):
    """Limits of Tofino2 (BFC §4, §6.1), with `bfc.hardware = "tofino"`."""

    pipelines: int
    """Ingress pipelines (§4: 4). Each has an equal share of a switch's ports, in order, and its
    part of the flow table. The number must divide the ports of every switch. Expects a whole number
    from 0 to 255. Default: 4
    """
    bitmap_period: str
    """Interval at which pipelines learn the empty queues (§4: "periodically", without a figure;
    this is half a 1-hop RTT of §6.2.1). 0: they always know them. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """
    recirculation_delay: str
    """Time of a packet's header from its egress back to its ingress, without waiting (not stated;
    §2.3 has some 500 ns for a pipeline). Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "500ns"
    """
    recirculation_share: float
    """Rate of a switch's recirculation, as a share of the rate of all its ports (§4: 12 %). Expects
    a non-negative number. Default: 0.12
    """
    recirculated_bytes: str
    """Bytes of a recirculated header (not stated; up to 60 B fit "for every packet" of "average
    packet size greater than 500 bytes", §4). 48 B are the headers of `frame.header`. Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "48B"
    """
    cell: str
    """Size of a memory cell: packets occupy whole cells, and queue lengths count cells (Fig. 7).
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "176B"
    """
    egress_fifo: str
    """The "small hardware queues after the egress pipeline" (§6.1, without a size) accept packets
    while they hold less than this: two full packets. 0: no such queues. Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "2KB"
    """


class Sfc(TypedDict, total=False):
    """Source flow control."""

    signal: Literal["ingress", "egress"]
    """Where a switch checks a queue. Default: "ingress"
    """
    deployment: Literal["tor", "all"]
    """Which switches run SFC. Default: "tor"
    """
    trigger: str
    """Depth above which a queue is congested (Q_Th); 0: two bandwidth-delay products of the hosts'
    rate and the base RTT (§3.3). Expects a size with its unit (GB, MB, KB or B; powers of ten, or
    GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    target: str
    """Depth to which a pause lets the queue drain (Q_Tg); 0: one bandwidth-delay product (§3.3).
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    bit_delay: str
    """Delay until the ingress knows that a queue has become congested, or has ceased to be.
    Footnote 1 only bounds it by the pipeline's latency, which §5.3 puts at 600 ns. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "600ns"
    """
    mirror_delay: str
    """Time from the arrival of a packet to the departure of its copy. The copy takes the egress
    pipeline and, recirculated, the ingress pipeline (§4): one more pass of 600 ns (§5.3). Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "600ns"
    """
    pause_unit: str
    """Pauses are rounded down to a whole multiple of this; 0: exact (§3.3: "We express T_P in
    microseconds"). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "1us"
    """
    filter: bool
    """Suppress further signals to a flow for a while (§3.2). Default: true"""
    filter_key: Literal["5-tuple", "pair"]
    """The fields that distinguish flows in the filter. Default: "5-tuple"
    """
    filter_hashes: int
    """Hash functions of the filter (App. B.2: "the minimal 3-hash filter design"). Default: 3"""
    filter_cells: int
    """Cells for each hash function. The paper states less than 0.1 % of the SRAM; Intel's open P4
    implementation has 65 536. Default: 65536
    """
    filter_reset: str
    """Interval of the filter's resets; 0: half the base RTT (§3.2). Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    filter_version: bool
    """Change the filter's hashes with every reset (§4). Default: true"""
    cache: bool
    """Remember congested receivers at switches that forward their signals (§3.4). Default: true"""
    cache_entries: int
    """Entries of that cache (§4). Default: 32768"""
    estimator: bool
    """Estimate incasts at the senders' switches from the traffic that passes them (§3.4, optional).
    Default: false
    """
    estimator_tau: str
    """Time window of the estimator (not stated); 0: the base RTT, after which signals arrive from
    the queue itself. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    to_pfc: bool
    """Turn signals into PFC frames at the sender's switch (§4, "SFC-P"). Default: false"""
    frame_size: str
    """Bytes of a signal on the wire (Intel's open P4 implementation truncates it to 64 B). Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "64B"
    """


class Sfqcodel(TypedDict, total=False):
    """Stochastic fair queueing with CoDel, where `switch.scheduler` is "sfqcodel". A turn is
    `switch.quantum`.
    """

    bins: int
    """Bins of a port ("up to 1024 bins": sfqCoDel of ns-2; RFC 8290 §5.2: 1024 queues). Expects a
    whole number from 0 to 65535. Default: 1024
    """
    interval: str
    """How long packets may wait for longer than `target` before one is dropped. About the longest
    RTT, so that senders can react (RFC 8289 §4.3: 100 ms on the Internet). 0: four base RTTs,
    because packets wait in several queues on their path. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """
    target: str
    """The wait of packets that is acceptable without limit: 5 to 10 % of the interval (RFC 8289
    §4.4). 0: 5 %, the ratio of its own 5 ms and 100 ms. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """


class Ets(TypedDict, total=False):
    """Enhanced transmission selection."""

    strict: str | int | Sequence[int]
    """Classes that are served before all others, in this order, as "0" or "1,0"; empty: none.
    Default: ""
    """
    weights: str | int | Sequence[int]
    """Weights of classes 0 to 7 among those that are not strict. A turn allows the weight times
    `switch.quantum`. Default: "1,1,1,1,1,1,1,1"
    """


class Fluid(TypedDict, total=False):
    """A numerical simulation of fluid flowlets, without packets, queues or delays. At every step
    the allocator learns of flowlets that arrived or ended since the last step and iterates once.
    Flowlets then flow at the new rates until the next step.
    """

    iterate: Literal["periodically", "on-change"]
    """The times of the steps. Default: "periodically"
    """
    step: str
    """Time between steps (§5.3: 10 us). Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "10us"
    """
    warmup: str
    """Steps before this time are not measured. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "20ms"
    """
    measure: str
    """Duration of the measurement. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "20ms"
    """
    rates: Literal["intermediate", "converged"]
    """The rates that flowlets use. Default: "intermediate"
    """
    optimum_every: int
    """Measured steps between computations of the optimum, by another allocator that runs to
    convergence; 0 disables them. Default: 0
    """
    tolerance: float
    """Convergence tolerance: the largest relative excess of a link's load over its capacity, and
    the largest fraction of the flows' payments for unused capacity. Expects a non-negative number.
    Default: 1e-6
    """
    most_iterations: int
    """Maximum number of iterations to find the optimum. Default: 100000"""


class Convergence(TypedDict, total=False):
    """Random networks. Each link's capacity is uniform in a range. The number of links of a flow is
    uniform too, and the links are distinct and random. An allocator starts from its initial prices
    and iterates. Its error is the largest relative difference between a flow's rate before
    normalisation and its optimal rate.
    """

    networks: int
    """Number of networks. Default: 100"""
    links: int
    """Links per network. Default: 20"""
    flows: int
    """Flows per network. Default: 60"""
    most_hops: int
    """Maximum number of links per flow. Default: 4"""
    least_capacity: float
    """Smallest capacity (Gb/s). Expects a non-negative number. Default: 10.0"""
    most_capacity: float
    """Largest capacity (Gb/s). Expects a non-negative number. Default: 40.0"""
    tolerance: float
    """A network has converged at the first iteration from which its error stays within this value.
    Expects a non-negative number. Default: 0.01
    """
    iterations: int
    """Iterations per network. Default: 2000"""


class Allocator(TypedDict, total=False):
    """The rate allocator."""

    optimizer: Literal["ned", "gradient", "fast-weighted-gradient", "newton-like", "newton"]
    """The rule that updates prices. Default: "ned"
    """
    precision: Literal["double", "single"]
    """Floating-point precision of the rates. Default: "double"
    """
    gamma: float
    """Step size of the price update (§5.3: 0.4 for NED). Gradient's has a unit: price per rate.
    Expects a non-negative number. Default: 0.4
    """
    interval: int
    """Iterations per measurement interval of Newton-like; other rules ignore it. Default: 10"""
    alpha: float
    """Alpha of the alpha-fair utility: 1 is proportional fairness; larger values approach max-min
    fairness. Expects a non-negative number. Default: 1.0
    """
    normalizer: Literal["f-norm", "f-norm-as-printed", "u-norm", "none"]
    """Normalisation of rates that exceed link capacities. Default: "f-norm"
    """
    threshold: float
    """Relative change at which a rate is reported again, and fraction of each link's capacity that
    is left free (§5.3.2). Expects a non-negative number. Default: 0.01
    """
    initial_price: float
    """Initial price of every link (§2). Expects a non-negative number. Default: 1.0"""
    rate_bound: float
    """Upper bound on a rate before normalisation, as a multiple of the smallest capacity on its
    path. Expects a non-negative number. Default: 2.0
    """


class _LinkDownKind(TypedDict):
    kind: Literal["link-down"]


class LinkDown(_LinkDownKind, total=False):
    """A link goes down: what is on it is lost, and what is sent into it. Times are rounded up to
    `run.grid`.
    """

    link: str | int | Sequence[int]
    """The two ends, such as leaf:0,spine:1; all parallel links between them go down. Default: ""
    """
    at: str
    """When it goes down. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    until: str
    """When it is back; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    detection: str
    """How long after it went down all switches route around it, and after it is back use it again.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "1ms"
    """
    local_repair: bool
    """Whether the switches at the ends of a failed link stop using it at once, where they have
    other ports on shortest paths. All others hear of it after `detection`. Default: false
    """


class _FlapKind(TypedDict):
    kind: Literal["flap"]


class Flap(_FlapKind, total=False):
    """A link flaps: in each `period` it is down for some time, and what is on it then is lost, and
    what is sent into it. Times are rounded up to `run.grid`.
    """

    link: str | int | Sequence[int]
    """The two ends, such as leaf:0,spine:1; all parallel links between them go down. Default: ""
    """
    at: str
    """When it goes down for the first time. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "0ps"
    """
    period: str
    """The time from one failure to the next. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "1ms"
    """
    down: str
    """How long it is down each time. Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "100us"
    """
    until: str
    """When it stops to flap; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "0ps"
    """
    detection: str
    """How long after it went down all switches route around it, and after it is back use it again.
    If it is back by then, they do not notice. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "50us"
    """
    local_repair: bool
    """Whether the switches at the ends of a failed link stop using it at once, where they have
    other ports on shortest paths. All others hear of it after `detection`. Default: false
    """


class _SwitchDownKind(TypedDict):
    kind: Literal["switch-down"]


class SwitchDown(_SwitchDownKind, total=False):
    """A switch goes down, with all of its links: what is on them is lost, and what is sent into
    them from either end. Hosts that have no link to another switch go down with it, as with `kind =
    "host-down"`. A switch without which other hosts cannot reach each other cannot go down. Times
    are rounded up to `run.grid`.
    """

    switch: str | int | Sequence[int]
    """The switch, such as leaf:0 or spine:1. Default: ""
    """
    at: str
    """When it goes down. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    until: str
    """When it is back; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    detection: str
    """How long after it went down all switches route around it, and after it is back use it again.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "1ms"
    """
    local_repair: bool
    """Whether the switches at the ends of a failed link stop using it at once, where they have
    other ports on shortest paths. All others hear of it after `detection`. Default: false
    """


class _HostDownKind(TypedDict):
    kind: Literal["host-down"]


class HostDown(_HostDownKind, total=False):
    """A host goes down, with all of its links: what is on them is lost, and what is sent into them
    from either end. If it comes back, its flows go on. If it does not, its flows cannot end, and
    the run does not wait for them. Times are rounded up to `run.grid`.
    """

    host: str | int | Sequence[int]
    """The host, such as 3. Default: ""
    """
    at: str
    """When it goes down. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    until: str
    """When it is back; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """


class _LossKind(TypedDict):
    kind: Literal["loss"]


class Loss(_LossKind, total=False):
    """Links lose packets at random. Times are rounded up to `run.grid`."""

    link: str | int | Sequence[int]
    """The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links. Default: "all"
    """
    direction: Literal["both", "there", "back"]
    """The directions in which they are lost. Default: "both"
    """
    share: float
    """The share of packets that are lost. With 1, the link drops everything, and no switch notices.
    Expects a non-negative number. Default: 0.01
    """
    keep_pauses: bool
    """Whether frames that pause and resume (PFC, BFC, SFC) always arrive. Default: false"""
    at: str
    """When it begins. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    until: str
    """When it ends; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """


class _BitErrorsKind(TypedDict):
    kind: Literal["bit-errors"]


class BitErrors(_BitErrorsKind, total=False):
    """Links corrupt bits at random, and packets with a wrong bit are lost: longer ones more often.
    Times are rounded up to `run.grid`.
    """

    link: str | int | Sequence[int]
    """The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links. Default: "all"
    """
    direction: Literal["both", "there", "back"]
    """The directions in which they are wrong. Default: "both"
    """
    ratio: float
    """The share of wrong bits. IEEE 802.3 allows 1e-12 on a link of 100 Gb/s after its error
    correction (§91.6); optical links before they fail have much more. Expects a non-negative
    number. Default: 1e-9
    """
    keep_pauses: bool
    """Whether frames that pause and resume (PFC, BFC, SFC) always arrive. Default: false"""
    at: str
    """When it begins. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    until: str
    """When it ends; 0: never. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """


class _DegradeKind(TypedDict):
    kind: Literal["degrade"]


class Degrade(_DegradeKind, total=False):
    """A link works at a lower rate, such as one of 100 Gb/s that falls back to 25 Gb/s. Each end
    sends its next packet at the new rate. No packet is lost, and no route changes. Times are
    rounded up to `run.grid`.
    """

    link: str | int | Sequence[int]
    """The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links. Default: ""
    """
    direction: Literal["both", "there", "back"]
    """The directions with the lower rate. Default: "both"
    """
    rate: str
    """The lower rate: at least 1 Mb/s, and less than the link's. Expects a rate with its unit
    (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "25Gbps"
    """
    at: str
    """When the link falls back. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    until: str
    """When it has its own rate again; 0: never. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "0ps"
    """


Fault: TypeAlias = LinkDown | Flap | SwitchDown | HostDown | Loss | BitErrors | Degrade
"""An entry of `fault`."""


class _OpenLoopKind(TypedDict):
    kind: Literal["open-loop"]


_OpenLoopClass = TypedDict("_OpenLoopClass", {"class": str}, total=False)


class OpenLoop(_OpenLoopKind, _OpenLoopClass, total=False):
    """Background traffic: one arrival process for the whole network, between distinct hosts. The
    source is drawn uniformly among the senders, then the destination uniformly among the receivers
    other than the source. A host that is the only receiver does not send, even if it is among the
    senders. The load counts the payload of all flows, as if every flow crossed the links of
    `load_on`. With `load_on = "core"` this includes flows that stay within a rack, so the core
    carries less payload than the load, and headers in addition. BFC counts this way. With `locality
    = "balanced"` every link carries the load in payload.
    """

    arrivals: Literal["poisson", "lognormal"]
    """The distribution of the gaps between flows. Default: "poisson"
    """
    sigma: float
    """The standard deviation of a log-normal gap's logarithm, up to 5 (BFC: 2). Expects a non-
    negative number. Default: 2.0
    """
    sizes: str | int | Sequence[int]
    """The distribution of flow sizes: the name of a table, or the path of a CSV file with the
    columns size_bytes,cdf. Default: "google"
    """
    reading: Literal["linear", "step"]
    """The reading of sizes between the points of the table. Default: "linear"
    """
    load: float
    """The offered load as a share of the capacity, above 0 and up to 2. Expects a non-negative
    number. Default: 0.6
    """
    load_on: Literal["core", "hosts", "receivers"]
    """The links with the capacity of a load of 1. Default: "core"
    """
    senders: str | int | Sequence[int]
    """The hosts that send: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    receivers: str | int | Sequence[int]
    """The hosts that receive: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    locality: Literal["uniform", "balanced"]
    """Distance between source and destination (BFC App. A.5: "such that average load on all links
    across the network is same"). Default: "uniform"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""
    start: str
    """Start of the arrivals. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    stop: str
    """End of the arrivals; 0 is the end of the run. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "0ps"
    """


class _IncastKind(TypedDict):
    kind: Literal["incast"]


_IncastClass = TypedDict("_IncastClass", {"class": str}, total=False)


class Incast(_IncastKind, _IncastClass, total=False):
    """Incast: in every period, `degree` flows send `bytes` in total to one host (the victim), which
    is drawn uniformly from `victims`, or to each of several hosts. The flows start at the same
    instant or are spread over some time. The senders are drawn from `senders` without the victim.
    They are distinct if there are enough of them. Otherwise every one of them sends, and they take
    turns in a random order until all flows are assigned. The bytes are divided evenly; the first
    flows get one byte more if there is a remainder.
    """

    victims: str | int | Sequence[int]
    """The hosts from which the victim is drawn: all, or numbers and ranges such as 0-3,7,9-12.
    Default: "all"
    """
    victims_per_event: int
    """Victims of an event, all distinct, each with flows of its own; 0: all of `victims` (DeTail
    §6.3: all-to-all incast). Default: 1
    """
    senders: str | int | Sequence[int]
    """The hosts that send: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    degree: int
    """Flows per victim (BFC: 100); with `flows_per_sender` above 1, senders per event. Default: 100
    """
    flows_per_sender: int
    """Flows of each sender to a victim (SFC 5.2: 25 queue pairs). Default: 1"""
    bytes: str
    """Total bytes of a victim's flows (BFC: 20 MB). Expects a size with its unit (GB, MB, KB or B;
    powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "20MB"
    """
    period: str
    """Time from one event to the next (BFC: 500 us); with Poisson arrivals, its mean. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    arrivals: Literal["periodic", "poisson"]
    """The distribution of the gaps between events. Default: "periodic"
    """
    events: int
    """Number of events; 0: events until `stop`. Default: 0"""
    spread: str
    """Each flow starts at an instant drawn uniformly within this time after the event; 0: all at
    once (SFC 5.3: 100 us). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    head_start: str
    """The first flow starts with the event, the others, and their `spread`, this much later.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    start: str
    """Time of the first event; with Poisson arrivals, the first event follows one gap later.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    stop: str
    """End of the events; 0 is the end of the run. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""
    labelled: bool
    """Senders label the packets of these flows as part of an incast (BFC App. A.7). Default: false
    """


class _QueriesKind(TypedDict):
    kind: Literal["queries"]


_QueriesClass = TypedDict("_QueriesClass", {"class": str}, total=False)


class Queries(_QueriesKind, _QueriesClass, total=False):
    """Web requests at `clients`. Each has a number of queries. In a query, a client sends `request`
    to a server; once that has arrived, the server sends a response. Requests and responses are
    flows. A query's server is drawn uniformly among `servers` without the client. Servers of
    parallel queries are distinct if there are enough of them.
    """

    workflow: Literal["single", "sequential", "parallel"]
    """The order of the queries in a web request. Default: "single"
    """
    queries: str | int | Sequence[int]
    """Number of queries in a web request, drawn uniformly from this list, such as 10,20,40.
    Default: "1"
    """
    clients: str | int | Sequence[int]
    """The hosts at which web requests arrive: all, or numbers and ranges such as 0-3,7,9-12.
    Default: "all"
    """
    servers: str | int | Sequence[int]
    """The hosts that answer: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    request: str
    """The payload of a request (DeTail 8.1: a full packet). Expects a size with its unit (GB, MB,
    KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "1460B"
    """
    sizes: str | int | Sequence[int]
    """The payload of a response, drawn uniformly from this list (DeTail 8.1.1). Default:
    "2KB,8KB,32KB"
    """
    rate: float
    """Web requests per second and client outside bursts, a Poisson process. Expects a non-negative
    number. Default: 1000.0
    """
    burst_rate: float
    """Web requests per second and client in a burst. Expects a non-negative number. Default: 0.0"""
    burst: str
    """Duration of a burst; 0: no bursts. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "0ps"
    """
    period: str
    """Time from one burst to the next, for all clients at once. The first burst is at `start`.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "50ms"
    """
    priorities: str | int | Sequence[int]
    """The priority of the packets of a web request, drawn uniformly from this list. Default: "0"
    """
    start: str
    """Start of the web requests. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    stop: str
    """End of the web requests; 0 is the end of the run. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """


class _SuccessiveKind(TypedDict):
    kind: Literal["successive"]


_SuccessiveClass = TypedDict("_SuccessiveClass", {"class": str}, total=False)


class Successive(_SuccessiveKind, _SuccessiveClass, total=False):
    """Each sender keeps some flows active. When a sender learns that all of a flow has arrived, the
    next one starts, to a receiver drawn uniformly among the others.
    """

    senders: str | int | Sequence[int]
    """The hosts that send: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    receivers: str | int | Sequence[int]
    """The hosts that receive: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    bytes: str
    """The size of each flow, at least 10 KB (DeTail 8.1.2: 1 MB). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "1MB"
    """
    flows: int
    """Active flows per sender. Expects a whole number from 0 to 65535. Default: 1"""
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""
    start: str
    """Start of the first flows. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    stop: str
    """Time from which no flow starts; 0 is the end of the run. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """


class _LongKind(TypedDict):
    kind: Literal["long"]


_LongClass = TypedDict("_LongClass", {"class": str}, total=False)


class Long(_LongKind, _LongClass, total=False):
    """Long-lived flows: some flows from one host to another that start together."""

    src: int
    """The sending host. Default: 0"""
    dst: int
    """The receiving host. Default: 1"""
    count: int
    """Number of flows. Expects a whole number from 0 to 65535. Default: 1"""
    bytes: str
    """The size of each flow; 0: it does not end. Expects a size with its unit (GB, MB, KB or B;
    powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    start: str
    """Start of the flows. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _ElephantsKind(TypedDict):
    kind: Literal["elephants"]


_ElephantsClass = TypedDict("_ElephantsClass", {"class": str}, total=False)


class Elephants(_ElephantsKind, _ElephantsClass, total=False):
    """Elephants: flows without an end between hosts of two sets, which start together. Senders take
    turns in a random order, so that their numbers of flows differ by one at most. So do receivers,
    in an order of their own.
    """

    count: int
    """Number of flows. Default: 20"""
    senders: str | int | Sequence[int]
    """The hosts that send: all, or numbers and ranges such as 0-3,7,9-12. None of them receives.
    Default: "0-63"
    """
    receivers: str | int | Sequence[int]
    """The hosts that receive: numbers and ranges such as 0-3,7,9-12. Default: "64-127"
    """
    start: str
    """Start of the flows. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _PermutationKind(TypedDict):
    kind: Literal["permutation"]


_PermutationClass = TypedDict("_PermutationClass", {"class": str}, total=False)


class Permutation(_PermutationKind, _PermutationClass, total=False):
    """A permutation: every host sends one flow to another host, and every host receives exactly
    one. All start together. The pairs are drawn uniformly among all permutations in which no host
    sends to itself. In a fabric with full bisection, only a bad choice of paths slows them down.
    """

    bytes: str
    """The size of each flow; 0: it does not end. Expects a size with its unit (GB, MB, KB or B;
    powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    start: str
    """Start of the flows. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _StaggeredKind(TypedDict):
    kind: Literal["staggered"]


_StaggeredClass = TypedDict("_StaggeredClass", {"class": str}, total=False)


class Staggered(_StaggeredKind, _StaggeredClass, total=False):
    """Staggered flows: every `interval` one of the senders starts a flow to the receiver. When all
    have started, one of them stops every `interval` (Flowtune 5.3.1). Bytes sent before the stop
    are delivered. These flows have no row and no slowdown, because their duration is set.
    """

    senders: str | int | Sequence[int]
    """The hosts that send, in the order of their numbers: numbers and ranges such as 0-3,7,9-12.
    Default: "1-5"
    """
    receiver: int
    """The receiving host. Default: 0"""
    interval: str
    """Time from one start, or stop, to the next (Flowtune 5.3.1: 10 ms). Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "10ms"
    """
    start: str
    """Start of the first flow. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    stop_order: Literal["first", "last"]
    """The order of stops. Default: "first"
    """
    bytes: str
    """Size of a flow, for networks that serve the flow with the fewest bytes left first. A flow
    that has sent all of it ends before its stop. 0: more than can be sent. Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _ListKind(TypedDict):
    kind: Literal["list"]


_ListClass = TypedDict("_ListClass", {"class": str}, total=False)


class List(_ListKind, _ListClass, total=False):
    """Flows in a CSV file with the columns src,dst,size_bytes,start_ps and, optionally, priority or
    dscp, and data_path,ack_path, sorted by start_ps. With `switch.balance = "given"`, `data_path`
    is the number of the equal-cost port that a flow's packets take, from 0 (in a leaf-spine fabric:
    the spine), and `ack_path` that of its acknowledgements. It is 0 where there is no choice.
    """

    file: str | int | Sequence[int]
    """The path of the file. Default: ""
    """
    priority: int
    """The priority of the packets of a file with neither a column priority nor a column dscp.
    Expects a traffic class from 0 to 7. Default: 0
    """
    dscp_map: str
    """The traffic classes of the code points in the column dscp, as switches map them: "26:3,
    46:5". Expects pairs of a DSCP from 0 to 63, each once, and a traffic class, such as "26:3,
    46:5". Default: ""
    """


class _ConnectionsKind(TypedDict):
    kind: Literal["connections"]


_ConnectionsClass = TypedDict("_ConnectionsClass", {"class": str}, total=False)


class Connections(_ConnectionsKind, _ConnectionsClass, total=False):
    """Flows in a connection matrix of htsim (`.cm`): `Nodes N`, `Connections N`, then a flow in
    each line, `src->dst start PICOSECONDS size BYTES`. A size of 0 is a flow without end. Instead
    of a start a flow may have a `trigger`, which others activate when they have ended
    (`send_done_trigger`) or have arrived (`recv_done_trigger`): a `oneshot` starts its flows at the
    first activation, a `multishot` one of them at each, a `barrier` all of them after `count` of
    them. Flows with a trigger are all measured, whenever they begin.
    """

    file: str | int | Sequence[int]
    """The path of the file. Default: ""
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _CollectiveKind(TypedDict):
    kind: Literal["collective"]


_CollectiveClass = TypedDict("_CollectiveClass", {"class": str}, total=False)


class Collective(_CollectiveKind, _CollectiveClass, total=False):
    """A collective operation of a job, in one or more rounds. A message begins at its sender when
    all that it depends on has arrived there. Messages of a lane from one rank to another go one
    after another: the next one begins when the last byte of the one before has left. A rank begins
    its next round when all messages to it have arrived, and its own are acknowledged. The flows are
    all measured, whenever they begin.
    """

    operation: Literal[
        "all-reduce",
        "reduce-scatter",
        "all-gather",
        "all-to-all",
        "broadcast",
        "barrier",
    ]
    """The operation. Default: "all-reduce"
    """
    algorithm: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """Its algorithm. Default: "ring"
    """
    bytes: str
    """Bytes of each rank's buffer, as NCCL counts them: the input of an all-reduce, reduce-scatter,
    all-to-all or broadcast, the output of an all-gather. Expects a size with its unit (GB, MB, KB
    or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "64MB"
    """
    lanes: int
    """Number of lanes: parts of the bytes with messages of their own, side by side. Default: 1"""
    chunks: int
    """Chunks of each lane, as NCCL pipelines them: a rank passes a chunk on while the next one
    arrives. Chunks from one rank to another go one after another. A tree or a broadcast with 1
    chunk takes the time of all its hops in turn. Default: 1
    """
    skew: float
    """Zipf exponent of the loads of an all-to-all, as of experts in a mixture: of what each rank
    sends, the k-th most popular rank gets a share in proportion to 1/k^skew. The seed decides which
    rank is how popular. 0: all get the same. From 0 to 10. Expects a non-negative number. Default:
    0.0
    """
    redraw: bool
    """Whether each round draws which ranks are popular; otherwise they are the same in all.
    Default: false
    """
    loads: str | int | Sequence[int]
    """A CSV file of loads of an all-to-all with the columns from,to,load: a rank shares its bytes
    out in proportion to its loads, which are whole numbers. What it has for itself stays, and pairs
    without a load exchange a message of one byte. Empty: `skew` decides. Default: ""
    """
    ranks_per_server: int
    """Successive ranks that share a server; 0: as many as the fabric's servers have GPUs
    (`network.topology = "rail"`). Default: 0
    """
    hosts: str | int | Sequence[int]
    """The hosts: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    placement: Literal["packed", "spread", "rail", "random", "listed"]
    """The order of ranks on them. Default: "packed"
    """
    rounds: int
    """Number of rounds. Default: 1"""
    compute: str
    """Time that each rank computes before a round. Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "0ps"
    """
    jitter: str
    """Most further time that a rank computes, drawn uniformly for each rank and round. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    stragglers: str | int | Sequence[int]
    """Hosts that compute longer: numbers and ranges; empty: none. Default: ""
    """
    straggle: str
    """How much longer they compute. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "100us"
    """
    start: str
    """Start of the job. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _PipelineTrafficKind(TypedDict):
    kind: Literal["pipeline"]


_PipelineTrafficClass = TypedDict("_PipelineTrafficClass", {"class": str}, total=False)


class PipelineTraffic(_PipelineTrafficKind, _PipelineTrafficClass, total=False):
    """A training job with pipeline parallelism. Each host has a stage of the model. In every
    iteration, each of its micro-batches goes forward through all stages and then backward. A stage
    computes one pass of one micro-batch at a time, in the order of its schedule, when its input has
    arrived. Then it sends the output to the next stage, forward, or to the one before, backward,
    while it goes on computing. It begins the next iteration when its own passes are over and its
    messages are acknowledged. The flows are all measured, whenever they begin. If messages take no
    time, an iteration takes (micro_batches + stages - 1) (forward + backward) under both schedules.
    The part (stages - 1) is the bubble (Narayanan et al., SC 2021, §2.2.1).
    """

    schedule: Literal["gpipe", "1f1b"]
    """The order of passes at a stage. Default: "1f1b"
    """
    micro_batches: int
    """Micro-batches of an iteration. Default: 8"""
    forward: str
    """Time of a stage for the forward pass of a micro-batch. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "1ms"
    """
    backward: str
    """Time of a stage for its backward pass. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "2ms"
    """
    jitter: str
    """Most further time of each pass, drawn uniformly. Expects a duration with its unit (s, ms, us,
    ns or ps), such as "2us". Default: "0ps"
    """
    bytes: str
    """Bytes of a message between two stages: the activations of a micro-batch, and backward their
    gradients. The default is that of 2,048 tokens of 4,096 values in 16 bits. Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "16777216B"
    """
    hosts: str | int | Sequence[int]
    """The hosts, one for each stage: all, or numbers and ranges such as 0-3,7,9-12. Default: "all"
    """
    placement: Literal["packed", "spread", "rail", "random", "listed"]
    """The order of stages on them. Default: "packed"
    """
    rounds: int
    """Number of iterations. Default: 1"""
    start: str
    """Start of the job. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _GoalKind(TypedDict):
    kind: Literal["goal"]


_GoalClass = TypedDict("_GoalClass", {"class": str}, total=False)


class Goal(_GoalKind, _GoalClass, total=False):
    """The operations of ranks in a GOAL schedule, in the text form of LogGOPSim or in the binary
    form that its `txt2bin` writes; the file's first bytes tell which. A `send` is a flow that
    begins when all that it `requires` has ended and all that it `irequires` has begun; it ends when
    all its bytes are acknowledged. Messages from one rank to another go one after another. A `recv`
    ends when a message with its sender and tag has arrived; the first reception takes the first
    message. A `calc` takes its nanoseconds, one at a time on each `cpu`. `nic` has no effect, nor
    has the size of a `recv`: in traces of MPI it is that of the buffer, and the `send` has that of
    the message. A message of 0 bytes has 1. The flows are all measured, whenever they begin.
    """

    file: str | int | Sequence[int]
    """The path of the file. Default: ""
    """
    hosts: str | int | Sequence[int]
    """The hosts: all, or numbers and ranges such as 0-3,7,9-12. Each rank needs one; of `all`, the
    first ones are used. Default: "all"
    """
    placement: Literal["packed", "spread", "rail", "random", "listed"]
    """The order of ranks on them. Default: "packed"
    """
    start: str
    """Start of the job. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _ChakraKind(TypedDict):
    kind: Literal["chakra"]


_ChakraClass = TypedDict("_ChakraClass", {"class": str}, total=False)


class Chakra(_ChakraKind, _ChakraClass, total=False):
    """The operations of ranks in a Chakra execution trace of MLCommons (protobuf, schema 0.0.4),
    with a file for each rank, as ASTRA-sim reads them. A node begins when all nodes in its
    `ctrl_deps` and `data_deps` have ended. A COMP_NODE takes its `duration_micros`, or those of its
    attribute `runtime`; nodes with and without `is_cpu_op` have a processor each, which does one
    thing at a time. A COMM_SEND_NODE is a flow, which ends when all its bytes are acknowledged. A
    COMM_RECV_NODE ends when a message with its `comm_src` and `comm_tag` has arrived. A
    COMM_COLL_NODE is an all-reduce, reduce-scatter, all-gather, all-to-all, broadcast or barrier of
    the ranks of its `pg_name`; the nth of a group at one rank belongs to the nth at the others, in
    the order of files. `comm_size` is the input of a rank. A METADATA_NODE takes no time. Other
    nodes are errors. Messages from one rank to another go one after another. The flows are all
    measured, whenever they begin.
    """

    file: str | int | Sequence[int]
    """The path of the files without the number of the rank: PREFIX of PREFIX.0.et, PREFIX.1.et and
    so on. Default: ""
    """
    groups: str | int | Sequence[int]
    """The path of a JSON file with the ranks of each communicator group, as {"1": [0, 1], "2": [2,
    3]}. Empty: none; all ranks are in the groups "" and "0". Default: ""
    """
    all_reduce: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """The algorithm of an all-reduce. Default: "ring"
    """
    reduce_scatter: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """The algorithm of a reduce-scatter. Default: "ring"
    """
    all_gather: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """The algorithm of an all-gather. Default: "ring"
    """
    all_to_all: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """The algorithm of an all-to-all. Default: "direct"
    """
    broadcast: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """The algorithm of a broadcast, from the first rank of its group. Default: "ring"
    """
    lanes: int
    """Number of lanes of a collective operation: parts of its bytes with messages of their own.
    Default: 1
    """
    chunks: int
    """Chunks of each lane, which follow one another through the ranks. Default: 1"""
    hosts: str | int | Sequence[int]
    """The hosts: all, or numbers and ranges such as 0-3,7,9-12. Each rank needs one; of `all`, the
    first ones are used. Default: "all"
    """
    placement: Literal["packed", "spread", "rail", "random", "listed"]
    """The order of ranks on them. Default: "packed"
    """
    start: str
    """Start of the job. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


class _DependentKind(TypedDict):
    kind: Literal["dependent"]


_DependentClass = TypedDict("_DependentClass", {"class": str}, total=False)


class Dependent(_DependentKind, _DependentClass, total=False):
    """Flows in a CSV file with the columns id,src,dst,size_bytes,after,delay_ps. `after` has the
    ids of the flows for which a flow waits, separated by spaces. Each of them must end where the
    flow begins: at its receiver when all its bytes have arrived, or at its sender when they are
    acknowledged. The flow begins `delay_ps` after the last of them has ended, or after `start` if
    it waits for none. Flows from one host to another go one after another. They are all measured,
    whenever they begin.
    """

    file: str | int | Sequence[int]
    """The path of the file. Default: ""
    """
    start: str
    """Start of the flows that wait for none. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "0ps"
    """
    priority: int
    """The priority of the packets. Expects a traffic class from 0 to 7. Default: 0"""


Traffic: TypeAlias = (
    OpenLoop
    | Incast
    | Queries
    | Successive
    | Long
    | Elephants
    | Permutation
    | Staggered
    | List
    | Connections
    | Collective
    | PipelineTraffic
    | Goal
    | Chakra
    | Dependent
)
"""An entry of `traffic`."""


class Settings(TypedDict, total=False):
    """The settings of a scenario: sections, and settings by the last part alone."""

    name: str | int | Sequence[int]
    """Name of the scenario in results and plots. Default: ""
    """
    engine: Literal["packets", "fluid", "convergence"]
    """The engine that runs the scenario. Default: "packets"
    """
    seed: int
    """Seed of every random stream. Default: 1"""
    scheme: Preset
    """The preset from which it starts. `xoff presets` lists them. Default: ""
    """
    network: Network
    """The network."""
    leaf_spine: LeafSpine
    """A leaf-spine fabric (a two-layer Clos). The defaults are BFC's fabric (§6.2.1): 128 hosts, 8
    leaves, 8 spines, 100 Gb/s everywhere (2:1 over-subscription), 1 us per link.
    """
    fat_tree: FatTree
    """A fat-tree: k pods, each of k/2 edge switches under k/2 aggregation switches, and (k/2)^2
    core switches, each linked to one aggregation switch of every pod. With k/2 hosts on each edge
    switch, all switches have k ports and no layer is over-subscribed: k^3/4 hosts. Results call the
    edge leaf and the aggregation spine, as in two-layer fabrics.
    """
    clos: Clos
    """A Clos network in pods: in each pod every leaf is linked to every spine, and the spine with
    the same place in each pod is linked to the same cores. Core c belongs to the spines with place
    c mod `spines_per_pod`. Switches may have a latency, which a packet spends between its arrival
    and its egress queue. The defaults are a fat-tree of 4-port switches.
    """
    star: Star
    """A single switch with hosts on it."""
    dumbbell: Dumbbell
    """Two switches joined by one link, with hosts on both. With `side_hosts`, a third switch is
    joined to the right one. BFC's testbed (§6.1, Fig. 6) has three: sender groups 1 and 2 on the
    left switch, group 3 on the side switch, both receivers on the right switch.
    """
    two_dc: TwoDc
    """Two equal data centres, each with a gateway, and a link between the gateways. A gateway is
    linked to every spine of its data centre, so that flows from all leaves have the same number of
    paths to it as within the data centre. The defaults are BFC's (App. A.9): 64 hosts in each data
    centre, 100 Gb/s and 1 us per link, half of the leaves of §6.2.1 with the same number of uplinks
    (2:1 over-subscription), and 200 Gb/s and 200 us between the gateways.
    """
    torus: Torus
    """A torus of two or three dimensions: a grid of switches, each with hosts and with links to its
    two neighbours in each dimension. The last switch of a row is linked to its first one; so are
    the last switch of a column and, with several planes, the last plane. In a ring of two switches,
    two parallel links join them. Uniform traffic among the hosts of the default torus can use all
    of their links' rate.
    """
    dragonfly: Dragonfly
    """A dragonfly: the routers of a group are linked to each other, and each pair of groups has the
    same number of links, as many as the routers' links to other groups allow. Group i numbers its
    links to other groups, and router r has those from r times `global_links_per_router` on. They
    lead to the other groups in order, again and again (the absolute arrangement of Hastings et al.,
    "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015). The default is
    balanced as in §3.1: twice as many routers in a group as hosts on a router or links to other
    groups.
    """
    rail: Rail
    """A rail-optimised fabric. A host is a GPU with its NIC. The NICs at the same place of all
    servers of a pod share a leaf, their rail; spines join all leaves. The GPUs of a server also
    have a link each to a switch inside the server. Hosts are numbered server by server. Those of
    one server reach each other through its switch, those of one rail and pod through their leaf,
    all others through a spine. A GPU forwards nothing for others. So without spines, in a rail-only
    fabric, it reaches the GPUs of its server and of its rail only. Such a fabric carries jobs whose
    messages need no more, such as `kind = "collective"` with `algorithm = "hierarchical"`.
    """
    graph: Graph
    """A network of any shape. Packets take the paths of the lowest cost: the fewest links, unless
    the file gives links a cost. The name of the file decides how it is read: - `.toml`: `hosts` and
    `switches` list the names of nodes, `links` has tables with `ends` (two names, or two lists,
    whose nodes are linked each to each) and, if wanted, `rate`, `delay`, `cost`, and `count`, the
    number of parallel links. - `.graphml` or `.xml`: GraphML, without direction. Attributes of
    nodes: `kind` (`host` or `switch`), `label`. Attributes of edges: `rate` or `LinkSpeedRaw` (in
    bit/s, as in the Internet Topology Zoo), `delay`, and `cost` or `weight`. Others are not read. -
    any other: a list of edges, one in a line: two names, separated by blanks or a comma, then
    `rate`, `delay` and `cost=N` in any order. `#` begins a comment. Where nodes have no kind, those
    with one link are hosts, and all others are switches; with `hosts_per_switch`, all are switches.
    Hosts and switches are numbered in the order of the file. The layer of a switch is its distance
    from the nearest switch with hosts.
    """
    run: Run
    """When and what to measure. Measured flows start in [warmup, warmup + measure). Arrivals
    continue until these flows have finished or `drain` has passed. A measured flow that has not
    finished then counts as infinitely slow.
    """
    frame: Frame
    """Frame sizes. The defaults are those of the HPCC simulator: 1000 B of payload, 48 B of headers
    (14 PPP, 20 IP, 8 UDP, 6 sequence), a 60 B acknowledgement for every data packet, no preamble.
    """
    transport: Transport
    """Transport of every flow."""
    switch: Switch
    """The parts of every switch."""
    buffer: Buffer
    """A switch's packet buffer."""
    flowtune: Flowtune
    """Flowtune: rates from an allocator (NSDI 2017; defaults from its simulations, §5.3, unless
    noted).
    """
    nic: Nic
    """Congestion at the NICs' end of the link."""
    ecn: Ecn
    """ECN marking at switches. BFC §6.2.1: Kmin 100 KB, Kmax 400 KB for DCQCN and DCTCP at 100
    Gb/s.
    """
    faults: Faults
    """Faults injected on purpose."""
    go_back_n: GoBackN
    """Go-back-N."""
    tcp: Tcp
    """TCP: its recovery (`transport.recovery = "sack"`, `"newreno"` or `"sack1"`) and the start of
    its windows.
    """
    dctcp: Dctcp
    """DCTCP."""
    dcqcn: Dcqcn
    """DCQCN, Mellanox form. Defaults: the HPCC simulator's run.py, "dcqcn", at 100 Gb/s."""
    dcqcn_rdma15: DcqcnRdma15
    """DCQCN, paper form. Defaults: the configuration in its authors' simulator (bobzhuyb/ns3-rdma,
    mix/config.txt).
    """
    hpcc: Hpcc
    """HPCC. Defaults: the parameters of its paper as repeated by the BFC paper (§6.2.1) and
    otherwise of its authors' simulator at 100 Gb/s.
    """
    cubic: Cubic
    """CUBIC."""
    dctcp_tcp: DctcpTcp
    """DCTCP with TCP's window."""
    dctcp_htsim: DctcpHtsim
    """DCTCP as in htsim. `tcp.initial_ssthresh` ends its slow start (htsim: 100 packets)."""
    xcp: Xcp
    """XCP, in switches and hosts. The gains are the paper's (§4: alpha 0.4, beta 0.226; §3.5.2: a
    tenth is shuffled). ns-2 and the draft have times in milliseconds; the defaults here suit a data
    centre.
    """
    pfabric: Pfabric
    """pFabric's hosts."""
    delay_window: DelayWindow
    """A window that keeps round trips near a target."""
    swift: Swift
    """Swift. Windows are in packets."""
    timely: Timely
    """TIMELY. Defaults: the HPCC simulator's, with the increments of its run.py at 100 Gb/s."""
    ns3_cubic: Ns3Cubic
    """CUBIC as ns-3 has it."""
    ns3_dctcp: Ns3Dctcp
    """DCTCP as ns-3 has it."""
    powertcp: Powertcp
    """PowerTCP with INT. The paper's parameters are `gamma` and `expected_flows`."""
    theta_powertcp: ThetaPowertcp
    """Theta-PowerTCP: PowerTCP from round-trip times."""
    hpcc_pint: HpccPint
    """HPCC with PINT. Defaults: those of section `hpcc`, and for PINT the HPCC simulator's
    (`scratch/third.cc`).
    """
    onramp: Onramp
    """Flow control by one-way delay, modelled on OnRamp."""
    crossbar: Crossbar
    """A switch with ingress and egress queues around a crossbar (`switch.architecture =
    "crossbar"`).
    """
    pause: Pause
    """Flow control of ingress queues, in a crossbar or a pipelined switch."""
    pipeline: Pipeline
    """A pipelined switch: its packet processor, and the memory of its queues. Each port has a queue
    per class at the ingress and at the egress.
    """
    capfc: Capfc
    """Requests of a pipelined switch's egress queues to its inputs (CaPFC). Sizes are bytes in one
    queue: one port and one class.
    """
    wcmp: Wcmp
    """Weighted multi-path, where `switch.balance` is "wcmp"."""
    alb: Alb
    """Adaptive load balancing."""
    spray: Spray
    """Packet spraying, where `switch.balance` is "spray"."""
    flowlets: Flowlets
    """Flowlets, where `switch.balance` is "letflow" or "conga"."""
    conga: Conga
    """CONGA, where `switch.balance` is "conga". A new flowlet takes the uplink with the least
    congested path.
    """
    ndp: Ndp
    """NDP's hosts, for `transport.kind` = "ndp"."""
    homa: Homa
    """Homa's hosts, for `transport.kind` = "homa"."""
    expresspass: Expresspass
    """ExpressPass, for `transport.kind` = "expresspass": its hosts, and the credit shapers of
    ports.
    """
    eqds: Eqds
    """EQDS's hosts, for `transport.kind` = "eqds"."""
    trim: Trim
    """Payload trimming at switches, where `switch.overflow` is "trim"."""
    pfc: Pfc
    """Priority flow control."""
    bfc: Bfc
    """Backpressure flow control, at switches and NICs."""
    tofino: Tofino
    """Limits of Tofino2 (BFC §4, §6.1), with `bfc.hardware = "tofino"`."""
    sfc: Sfc
    """Source flow control."""
    sfqcodel: Sfqcodel
    """Stochastic fair queueing with CoDel, where `switch.scheduler` is "sfqcodel". A turn is
    `switch.quantum`.
    """
    ets: Ets
    """Enhanced transmission selection."""
    fluid: Fluid
    """A numerical simulation of fluid flowlets, without packets, queues or delays. At every step
    the allocator learns of flowlets that arrived or ended since the last step and iterates once.
    Flowlets then flow at the new rates until the next step.
    """
    convergence: Convergence
    """Random networks. Each link's capacity is uniform in a range. The number of links of a flow is
    uniform too, and the links are distinct and random. An allocator starts from its initial prices
    and iterates. Its error is the largest relative difference between a flow's rate before
    normalisation and its optimal rate.
    """
    allocator: Allocator
    """The rate allocator."""
    fault: Sequence[Fault]
    """All entries of [[fault]]."""
    traffic: Sequence[Traffic]
    """All entries of [[traffic]]."""
    ack: str
    """frame: An acknowledgement, without INT (the smallest frame). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "60B"
    """
    ack_bytes: str
    """eqds: A receiver acknowledges a packet after more than this many bytes on the wire since its
    last acknowledgement. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "16384B"
    """
    ack_class: Literal["data", "control"]
    """transport: Where acknowledgements queue at switches and NICs. Default: "data"
    """
    ack_from: str
    """go_back_n: A receiver acknowledges nothing until this many bytes of a flow have arrived in
    order, except at the end of a chunk. From then on it acknowledges every packet (the HPCC
    simulator's L2_ACK_INTERVAL). A shorter flow ends only if its size is whole chunks. 0: every
    packet. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "0B"
    """
    ack_header: str
    """frame: Headers of an acknowledgement before padding. With INT an acknowledgement has the
    length of these headers and the INT header, and at least that of `ack` (the HPCC simulator: 88 B
    with 42 B of INT). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "46B"
    """
    additive_increase: str
    """In dctcp, dcqcn, dcqcn_rdma15, hpcc, timely, hpcc_pint."""
    advance_notice: str
    """flowtune: Time before its last byte leaves at which a flowlet is reported as ended (§6: sizes
    are known). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "0ps"
    """
    after_recovery: Literal["threshold", "deflated", "flight"]
    """tcp: The congestion window after a recovery without selective acknowledgements. Default:
    "threshold"
    """
    aggregation_delay: str
    """fat_tree: Propagation delay of a link between edge and aggregation. Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """
    aggregation_rate: str
    """fat_tree: Rate of a link between edge and aggregation. Expects a rate with its unit (Tbps,
    Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    aging: str
    """conga: A metric that has not been updated for this time is halved, again after each such time
    (CONGA §3.3: it decays gradually after "e.g., 10ms"). Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "10ms"
    """
    ai: float
    """swift: Additive increment: packets per round trip (ai; htsim: 1). Expects a non-negative
    number. Default: 1.0
    """
    algorithm: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic collective: Its algorithm. Default: "ring"
    """
    all_egress_max: str
    """pipeline: Shared memory: the most of the pool for all egress queues; 0: all of it. Expects a
    size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "0B"
    """
    all_gather: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic chakra: The algorithm of an all-gather. Default: "ring"
    """
    all_ingress_max: str
    """pipeline: Shared memory: the most of the pool for all ingress queues; 0: all of it. Expects a
    size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "0B"
    """
    all_reduce: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic chakra: The algorithm of an all-reduce. Default: "ring"
    """
    all_to_all: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic chakra: The algorithm of an all-to-all. Default: "direct"
    """
    allocators: Literal["one", "per-pod"]
    """flowtune: Number of allocators. Default: "one"
    """
    alpha: float
    """In buffer, flowtune, xcp, conga, expresspass, allocator."""
    alpha_interval: str
    """In dcqcn, dcqcn_rdma15."""
    architecture: Literal["output-queued", "crossbar", "pipelined"]
    """switch: The path of packets through a switch. Default: "output-queued"
    """
    arrivals: Literal["poisson", "lognormal", "periodic"]
    """In traffic open-loop, traffic incast."""
    assignment: Literal["dynamic", "stochastic", "single"]
    """bfc: How flows get their queues. Default: "dynamic"
    """
    at: str | Literal["dequeue", "enqueue"]
    """In ecn, fault link-down, fault flap, fault switch-down, fault host-down, fault loss, fault
    bit-errors, fault degrade.
    """
    back_to_zero: bool
    """go_back_n: A loss returns to the start of its chunk (the HPCC simulator's L2_BACK_TO_ZERO).
    Only whole chunks count as acknowledged: a flow ends only if its size is whole chunks. Default:
    false
    """
    backpressure: Literal["queues", "occupancy", "flows", "none"]
    """bfc: What a switch pauses when a queue grows long. Default: "queues"
    """
    backward: str
    """traffic pipeline: Time of a stage for its backward pass. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "2ms"
    """
    balance: Literal["ecmp", "wcmp", "given", "adaptive", "spray", "letflow", "conga"]
    """switch: The choice of a packet's port among equal-cost ports. Default: "ecmp"
    """
    base_rtt: str
    """transport: Base RTT for the window and for controls that need one. 0: derived, two
    propagation delays of the longest path and the serialisation of one full packet at each of its
    links. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    base_rtt_of: Literal["longest", "pair"]
    """transport: Path whose base RTT the window and the congestion control of a flow use: the
    longest path (as in the HPCC simulator), or the flow's own. Use the latter if paths differ much.
    Default: "longest"
    """
    batches: int
    """run: Batches of equal length that the measured time is divided into, for batches.parquet:
    slowdowns and completion times of each batch, at any length of a run in bounded memory. At most
    1000. 0: none. Expects a whole number from 0 to 65535. Default: 0
    """
    beta: float
    """In cubic, xcp, swift, timely, ns3_cubic."""
    bins: int
    """sfqcodel: Bins of a port ("up to 1024 bins": sfqCoDel of ns-2; RFC 8290 §5.2: 1024 queues).
    Expects a whole number from 0 to 65535. Default: 1024
    """
    bit_delay: str
    """sfc: Delay until the ingress knows that a queue has become congested, or has ceased to be.
    Footnote 1 only bounds it by the pipeline's latency, which §5.3 puts at 600 ns. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "600ns"
    """
    bitmap_period: str
    """tofino: Interval at which pipelines learn the empty queues (§4: "periodically", without a
    figure; this is half a 1-hop RTT of §6.2.1). 0: they always know them. Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """
    bits: int
    """conga: Bits of a congestion metric (CONGA §3.6: Q). The header has 8 bits for a metric and
    the tag of an uplink: with 3 bits, a leaf may have 32 uplinks. Default: 3
    """
    boost_tail: bool
    """homa: Give the last rtt_bytes of a longer message the priority of an unscheduled message of
    their remaining length. Homa's simulator has this option. The default is off because in BFC's
    comparison flows slightly longer than one bandwidth-delay product wait behind all unscheduled
    data. Default: false
    """
    broadcast: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic chakra: The algorithm of a broadcast, from the first rank of its group. Default:
    "ring"
    """
    burst: str
    """traffic queries: Duration of a burst; 0: no bursts. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """
    burst_rate: float
    """traffic queries: Web requests per second and client in a burst. Expects a non-negative
    number. Default: 0.0
    """
    by_class: str
    """In buffer, ecn."""
    byte_counter: str
    """dcqcn_rdma15: Bytes sent between increases of the rate by the byte counter (DCQCN §3.1, B).
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "300MB"
    """
    bytes: str
    """In traffic incast, traffic successive, traffic long, traffic permutation, traffic staggered,
    traffic collective, traffic pipeline.
    """
    cache: bool
    """sfc: Remember congested receivers at switches that forward their signals (§3.4). Default:
    true
    """
    cache_entries: int
    """sfc: Entries of that cache (§4). Default: 32768"""
    capture: str | int | Sequence[int]
    """run: Links with packets written to trace.pcapng, in both directions: the access links of
    hosts as "0" or "0-3,7", all links of switches as "leaf:0" or "spine:0-1"; empty: none. Default:
    ""
    """
    cell: str
    """tofino: Size of a memory cell: packets occupy whole cells, and queue lengths count cells
    (Fig. 7). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such
    as "12MB". Default: "176B"
    """
    check_invariants: bool
    """run: Check invariants of the simulation's state as it advances, such as the bytes that queues
    and memories count. A violation ends the run. Results do not depend on it. Default: false
    """
    chunk: str
    """go_back_n: Bytes of a chunk (the HPCC simulator's L2_CHUNK_SIZE). Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "4KB"
    """
    chunks: int
    """In traffic collective, traffic chakra."""
    clamp_target: bool
    """dcqcn: Set the target to the previous rate at every cut, not only at a cut after an increase.
    Default: false
    """
    classes: int
    """In crossbar, bfc."""
    clients: str | int | Sequence[int]
    """traffic queries: The hosts at which web requests arrive: all, or numbers and ranges such as
    0-3,7,9-12. Default: "all"
    """
    clocks: Literal["on-demand", "free"]
    """xcp: When the clocks of switches run. Default: "on-demand"
    """
    coalesce: bool
    """flowtune: Let a flow join an existing flowlet between the same two servers, with `detection =
    "send"`. Flows of one flowlet are served in sequence. Default: false
    """
    columns: int
    """torus: Columns of switches, 2 to 1024. Default: 4"""
    compute: str
    """traffic collective: Time that each rank computes before a round. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    compute_time: str
    """flowtune: Time from the start of an iteration until its rates are sent. 0: at once, as in the
    paper's simulations. Its implementation takes 8.29 us for 384 servers and 30.71 us for 4608
    (§8). The value must be at most `iteration`. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "0ps"
    """
    congestion: Literal[
        "none",
        "dctcp",
        "dcqcn",
        "dcqcn-rdma15",
        "hpcc",
        "newreno",
        "cubic",
        "dctcp-tcp",
        "dctcp-htsim",
        "newreno-htsim",
        "xcp",
        "pfabric",
        "delay-window",
        "swift",
        "timely",
        "ns3-cubic",
        "ns3-dctcp",
        "powertcp",
        "theta-powertcp",
        "hpcc-pint",
    ]
    """transport: Congestion control. Default: "none"
    """
    control: Literal["tcp", "udp"]
    """flowtune: The transport of messages between servers and allocators. Default: "tcp"
    """
    control_loss: float
    """faults: Share of flow-control frames (pauses, resumes, bitmaps, signals to senders) that are
    lost. Expects a non-negative number. Default: 0.0
    """
    core_delay: str
    """In fat_tree, clos."""
    core_latency: str
    """clos: Latency of a core. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    core_links: int
    """clos: Parallel links between a spine and a core. Default: 1"""
    core_rate: str
    """In fat_tree, clos."""
    cores_per_spine: int
    """clos: Cores that a spine is linked to; 0: none, which one pod allows. Default: 2"""
    count: int
    """In traffic long, traffic elephants."""
    credit_burst: int
    """expresspass: Maximum burst of credits that a port sends after an idle period (ExpressPass
    §3.1: 2). Default: 2
    """
    credit_queue: int
    """expresspass: Maximum number of credits that wait at a port (BFC §6.2.1: 16). Default: 16"""
    credit_size: str
    """expresspass: Mean size of a credit on the wire: the shortest Ethernet frame with preamble and
    gap. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "84B"
    """
    credit_size_spread: str
    """expresspass: Maximum deviation of a credit's size from the mean (ExpressPass §3.1; the
    authors' simulator: 76 to 92 B). Expects a size with its unit (GB, MB, KB or B; powers of ten,
    or GiB, MiB, KiB), such as "12MB". Default: "8B"
    """
    cut: float
    """capfc: With "stop-calibrate": the share of all counts that the blamed inputs must exceed,
    more than 0 and up to 1. 1 blames every input (Table II: 80 %). Expects a non-negative number.
    Default: 0.8
    """
    cutoffs: str | int | Sequence[int]
    """homa: Longest message (bytes) of each unscheduled priority but the last, such as "300,2000".
    Empty: each priority gets an equal share of the workload's unscheduled bytes (Homa 3.4).
    Default: ""
    """
    decrease_interval: str
    """dcqcn: Minimum interval between cuts of the rate. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "4us"
    """
    dedicated: str
    """pipeline: Shared memory: each queue's own part (§IV-C-7: 8 KB). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "8KB"
    """
    degree: int
    """traffic incast: Flows per victim (BFC: 100); with `flows_per_sender` above 1, senders per
    event. Default: 100
    """
    delay: str
    """In star, graph."""
    departure: Literal["start", "end"]
    """switch: When a packet leaves its queue and its memory. If at the end of its transmission, it
    takes room from others until then, and `ecn.at = "dequeue"` sees the queue with the packet
    itself (htsim). Default: "start"
    """
    deployment: Literal["tor", "all"]
    """sfc: Which switches run SFC. Default: "tor"
    """
    detection: str | Literal["send", "idle"]
    """In flowtune, fault link-down, fault flap, fault switch-down."""
    direction: Literal["both", "there", "back"]
    """In fault loss, fault bit-errors, fault degrade."""
    down: str
    """fault flap: How long it is down each time. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "100us"
    """
    drain: str
    """run: The longest wait after that for measured flows to finish. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "50ms"
    """
    dscp_map: str
    """traffic list: The traffic classes of the code points in the column dscp, as switches map
    them: "26:3, 46:5". Expects pairs of a DSCP from 0 to 63, each once, and a traffic class, such
    as "26:3, 46:5". Default: ""
    """
    dst: int
    """traffic long: The receiving host. Default: 1"""
    duplicate_acks: int
    """tcp: A packet is lost once this many later packets have arrived (RFC 6675: 3; more where
    packets overtake each other: Linux raises it to the longest overtaking it has seen, up to 127).
    0: only timeouts detect losses. Expects a whole number from 0 to 65535. Default: 3
    """
    early_stop: bool
    """expresspass: Let a sender stop credits early: as soon as the credits of one round trip, which
    is the number in flight, cover its remaining data. This is the behaviour of later versions of
    the authors' simulator. If they do not suffice, the sender requests more after
    `transport.timeout`. BFC's ExpressPass has credits "for an additional RTT" (§6.2.2). Default:
    false
    """
    egress_fifo: str
    """tofino: The "small hardware queues after the egress pipeline" (§6.1, without a size) accept
    packets while they hold less than this: two full packets. 0: no such queues. Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "2KB"
    """
    egress_overflow: Literal["hold", "drop", "push-out", "partition"]
    """crossbar: What becomes of packets for a full egress: they wait at their ingress, or packets
    are dropped there. Default: "hold"
    """
    egress_size: str
    """In crossbar, pipeline."""
    elide: Literal["none", "cycles", "bounces"]
    """switch: Packets without flow control (BFC App. B). They pause no neighbour, so they are
    dropped if there is no room, even under PFC. Default: "none"
    """
    empty_queue: Literal["rotating", "lowest"]
    """bfc: Order in which empty queues are taken. Default: "rotating"
    """
    empty_refreshes: int
    """bfc: Bitmaps sent after the last queue has resumed. They replace a resume frame that was
    lost, and may be lost themselves. The paper does not state when bitmaps end. Expects a whole
    number from 0 to 65535. Default: 10
    """
    entries: int
    """In wcmp, flowlets."""
    estimator: bool
    """sfc: Estimate incasts at the senders' switches from the traffic that passes them (§3.4,
    optional). Default: false
    """
    estimator_tau: str
    """sfc: Time window of the estimator (not stated); 0: the base RTT, after which signals arrive
    from the queue itself. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    events: int
    """traffic incast: Number of events; 0: events until `stop`. Default: 0"""
    expected_flows: float
    """In powertcp, theta_powertcp."""
    failures: Literal["known", "unknown"]
    """flowtune: The allocators' knowledge of failed links. Default: "known"
    """
    fast_convergence: bool
    """cubic: Reduce W_max further if the window was larger before the previous loss, to free
    bandwidth for new flows (§4.7). Default: true
    """
    fast_react: bool
    """hpcc: React to every acknowledgement. Otherwise once a round trip (the simulator's
    FAST_REACT). Default: true
    """
    fast_recovery_steps: int
    """In dcqcn, dcqcn_rdma15."""
    favoured: str
    """alb: Ports with fewer drain bytes are the most favoured (DeTail §6.2: 16 KB). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "16384B"
    """
    file: str | int | Sequence[int]
    """In graph, traffic list, traffic connections, traffic goal, traffic chakra, traffic dependent.
    """
    filter: bool
    """sfc: Suppress further signals to a flow for a while (§3.2). Default: true"""
    filter_cells: int
    """sfc: Cells for each hash function. The paper states less than 0.1 % of the SRAM; Intel's open
    P4 implementation has 65 536. Default: 65536
    """
    filter_hashes: int
    """sfc: Hash functions of the filter (App. B.2: "the minimal 3-hash filter design"). Default: 3
    """
    filter_key: Literal["5-tuple", "pair"]
    """sfc: The fields that distinguish flows in the filter. Default: "5-tuple"
    """
    filter_reset: str
    """sfc: Interval of the filter's resets; 0: half the base RTT (§3.2). Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    filter_version: bool
    """sfc: Change the filter's hashes with every reset (§4). Default: true"""
    first_interval_end: str
    """xcp: End of the first control interval and of the first search, at all ports; 0: after
    `initial_interval`. (ns-2 draws it for each port.) Expects a duration with its unit (s, ms, us,
    ns or ps), such as "2us". Default: "0ps"
    """
    first_rate: str
    """star: Rate of host 0's link, if it differs: a receiver behind a slower link. 0: the same.
    Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    flow_control: Literal["none", "onramp-like"]
    """transport: Flow control of the sender, in addition to its congestion control. Default: "none"
    """
    flow_series: str
    """run: Interval of flow_series.parquet: the bytes of each flow at its receiver in each
    interval. Each active flow adds a row per interval, so it suits a few flows or a short time. 0:
    none. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    flows: int | Literal["all", "sample", "none"]
    """In run, convergence, traffic successive."""
    flows_per_sender: int
    """traffic incast: Flows of each sender to a victim (SFC 5.2: 25 queue pairs). Default: 1"""
    forward: str
    """traffic pipeline: Time of a stage for the forward pass of a micro-batch. Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "1ms"
    """
    forwarding_delay: str
    """In crossbar, pipeline."""
    frame_size: str
    """In pfc, sfc."""
    fs_max_cwnd: float
    """swift: Windows from this one up get none of it (fs_max_cwnd; htsim: 100). Expects a non-
    negative number. Default: 100.0
    """
    fs_min_cwnd: float
    """swift: Windows up to this one get the whole addition (fs_min_cwnd; htsim: 0.1). Expects a
    non-negative number. Default: 0.1
    """
    fs_range: float
    """swift: Maximum addition to the target for small windows, in multiples of `queueing`
    (fs_range; htsim: 5 base targets, which are 10 times the default of `queueing`). 0: no flow-
    based scaling. Expects a non-negative number. Default: 10.0
    """
    gain: float
    """In dctcp, dcqcn, dcqcn_rdma15, dctcp_tcp, dctcp_htsim, timely, ns3_dctcp, onramp."""
    gamma: float
    """In flowtune, xcp, powertcp, theta_powertcp, allocator."""
    gaps: Literal["age-bit", "timestamp"]
    """flowlets: The measurement of this time. Default: "age-bit"
    """
    gateway_delay: str
    """two_dc: Propagation delay of a link between spine and gateway. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "1us"
    """
    gateway_rate: str
    """two_dc: Rate of a link between spine and gateway. Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    gateway_size: str
    """buffer: Size of the memory at gateways between data centres; 0: as at other switches. PFC
    reserves the bytes in flight on every link, and a long link holds more than the memory of a
    switch. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "0B"
    """
    generation_delay: str
    """pause: Time that a switch takes to put a frame at the head of its queue (DeTail §7.2.2, its
    software router: 48 us). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    global_delay: str
    """dragonfly: Propagation delay of a link between groups. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "1us"
    """
    global_links_per_router: int
    """dragonfly: Links of each router to other groups: h. Default: 2"""
    global_rate: str
    """dragonfly: Rate of a link between groups. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    gpus_per_server: int
    """rail: GPUs of a server, and rails of a pod. Default: 8"""
    grid: str
    """run: Interval of the grid: stop conditions are evaluated and samples taken at its multiples.
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "10us"
    """
    groups: int | str | Sequence[int]
    """In dragonfly, traffic chakra."""
    halved: Literal["flight", "pipe", "window"]
    """tcp: The bytes that a loss halves, or reduces otherwise. Default: "flight"
    """
    handshake: bool
    """tcp: A flow begins with a packet of one byte, whose answer lets it send data (a SYN).
    Default: false
    """
    handshake_rtt: str
    """tcp: Round-trip time measured before the first data, by the handshake that opened the
    connection. 0: none. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    hardware: Literal["ideal", "tofino"]
    """bfc: The hardware of switches. Default: "ideal"
    """
    head_start: str
    """traffic incast: The first flow starts with the event, the others, and their `spread`, this
    much later. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "0ps"
    """
    header: str
    """In frame, xcp, hpcc_pint."""
    header_bytes: str
    """trim: Bytes left of a trimmed packet (NDP: headers of 64 B). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "64B"
    """
    header_queue: str
    """trim: Capacity of a port's control queue, for headers, acknowledgements and pulls; 0B: "NDP
    sets the size of control packet queue at 1x BDP" (SFC §B.4), of base RTT and host rate, and at
    least one packet. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "0B"
    """
    header_weight: int
    """trim: Headers sent per data packet while both wait: ten to one (NDP); 0: headers always go
    first. Expects a whole number from 0 to 255. Default: 10
    """
    headroom_factor: int
    """pfc: Headroom of an ingress, as a multiple of the rate x propagation delay of its link. Two
    cover the round trip of a pause; the third covers frames already being sent (the HPCC
    simulator's 3). On slow or short links they exceed it, and packets may be dropped: `xoff check`
    says how much a headroom has to hold. Default: 3
    """
    headroom_oversubscription: float
    """pfc: The headrooms of all ingresses and classes come from one pool that is this many times
    smaller than their sum (SONiC's `over_subscribe_ratio`, by default 2 there). A packet that finds
    the pool used up is dropped. 0: each has its headroom to itself. Expects a non-negative number.
    Default: 0.0
    """
    high: str
    """timely: RTT above which the rate falls, whatever the gradient (T_high). Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    hop: Literal["none", "pfc", "bfc", "sfc"]
    """switch: Hop-by-hop flow control. Default: "none"
    """
    hop_processing: str
    """bfc: Part of the 1-hop RTT in addition to the propagation delay of both directions, such as a
    pipeline's latency (§6.2.1: none; 2 us over links of 1 us). Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    host: str | int | Sequence[int]
    """fault host-down: The host, such as 3. Default: ""
    """
    host_delay: str
    """In leaf_spine, fat_tree, clos, dumbbell, two_dc, torus, dragonfly."""
    host_rate: str
    """In leaf_spine, fat_tree, clos, dumbbell, two_dc, torus, dragonfly."""
    hosts: int | str | Sequence[int]
    """In star, traffic collective, traffic pipeline, traffic goal, traffic chakra."""
    hosts_per_edge: int
    """fat_tree: Hosts on each edge switch; more than k/2 over-subscribe it. 0: k/2. Default: 0"""
    hosts_per_leaf: int
    """In leaf_spine, clos, two_dc."""
    hosts_per_router: int
    """dragonfly: Hosts on each router: p. Default: 2"""
    hosts_per_switch: int
    """In torus, graph."""
    hyper_increase: str
    """In dcqcn, dcqcn_rdma15, timely."""
    hystart: bool
    """ns3_cubic: HyStart may end slow start before the first loss. Default: true"""
    hystart_delay: str
    """ns3_cubic: Least excess over the shortest round trip that ends slow start. Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "4ms"
    """
    hystart_gap: str
    """ns3_cubic: The longest gap between acknowledgements of one train. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "2ms"
    """
    hystart_window: int
    """ns3_cubic: HyStart acts from this window on, in packets. Default: 16"""
    idle_threshold: str
    """flowtune: Time without a backlog that ends a flowlet, with `detection = "idle"`. The paper
    gives no value. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "50us"
    """
    incast_queue: bool
    """bfc: Reserve one queue of every port, and of every NIC, for labelled flows: "BFC +
    IncastLabel assigns all the incast flows at an egress port to the same queue" (App. A.7).
    Default: false
    """
    increase: Literal["per-window", "per-ack", "per-ack-exact"]
    """tcp: Increase of the window in congestion avoidance (not of CUBIC's). Default: "per-window"
    """
    increase_interval: str
    """dcqcn: Interval between increases of the rate after a cut. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "300us"
    """
    ingress_size: str
    """In crossbar, pipeline."""
    initial_alpha: float
    """In dcqcn_rdma15, dctcp_tcp, ns3_dctcp."""
    initial_cwnd: float
    """swift: Initial window. 0: one bandwidth-delay product, rounded up to whole packets. The
    paper's flows are long-lived, so that it "has little effect" there (§3.2). Expects a non-
    negative number. Default: 0.0
    """
    initial_interval: str
    """xcp: Control interval of a port without a known RTT, also after an idle period; 0: derived,
    the base RTT. (ns-2: 50 ms.) Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    initial_price: float
    """allocator: Initial price of every link (§2). Expects a non-negative number. Default: 1.0"""
    initial_rto: str
    """tcp: Retransmission timeout before the first measured round trip (RFC 6298: 1 s; the same
    scripts: the least timeout). Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "1ms"
    """
    initial_ssthresh: str
    """tcp: First slow-start threshold. 0: slow start continues until the first loss. Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    initial_weight: float
    """expresspass: Initial weight: the fraction of the gap to the maximum rate that a round trip
    without congestion closes (w_init; BFC §6.2.1: 0.0625). Expects a non-negative number. Default:
    0.0625
    """
    initial_window: str
    """In pfabric, ndp."""
    initial_window_packets: int
    """In tcp, dctcp, xcp."""
    instants: Literal["phases", "as-set"]
    """network: Order of the events of one instant. Default: "phases"
    """
    int_bytes_unit: str
    """In hpcc, powertcp."""
    int_overhead: str
    """In hpcc, powertcp."""
    int_queue_unit: str
    """In hpcc, powertcp."""
    int_time_unit: str
    """In hpcc, powertcp."""
    interconnect_delay: str
    """two_dc: Propagation delay of the link between the gateways. Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "200us"
    """
    interconnect_rate: str
    """two_dc: Rate of the link between the gateways. Expects a rate with its unit (Tbps, Gbps,
    Mbps, Kbps or bps), such as "100Gbps". Default: "200Gbps"
    """
    interval: str | int
    """In hpcc_pint, sfqcodel, allocator, traffic staggered."""
    iterate: Literal["periodically", "on-change"]
    """fluid: The times of the steps. Default: "periodically"
    """
    iteration: str
    """flowtune: Time between iterations. Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "10us"
    """
    iterations: int
    """In crossbar, convergence."""
    jitter: float | str
    """In expresspass, traffic collective, traffic pipeline."""
    k: int
    """fat_tree: Pods, and ports of a switch: an even number from 2 to 128. Default: 8"""
    keep_pauses: bool
    """In fault loss, fault bit-errors."""
    kind: Literal[
        "sender",
        "ndp",
        "homa",
        "expresspass",
        "eqds",
        "shared",
        "unlimited",
        "dedicated",
    ]
    """In transport, buffer."""
    kmax: str
    """ecn: Every packet is marked while its queue holds more than this. Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "400KB"
    """
    kmin: str
    """ecn: No packet is marked while its queue holds no more than this. Expects a size with its
    unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "100KB"
    """
    labelled: bool
    """traffic incast: Senders label the packets of these flows as part of an incast (BFC App. A.7).
    Default: false
    """
    lanes: int
    """In traffic collective, traffic chakra."""
    leaf_latency: str
    """clos: Latency of a leaf. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    least_capacity: float
    """convergence: Smallest capacity (Gb/s). Expects a non-negative number. Default: 10.0"""
    leaves: int
    """In leaf_spine, two_dc."""
    leaves_per_pod: int
    """clos: Leaves (edge or top-of-rack switches) of a pod. Default: 2"""
    left_hosts: int
    """dumbbell: Hosts on the left switch (numbered first). Default: 2"""
    lifetime: str
    """flowtune: Validity of a server's rates after the last message from the allocator ("every few
    tens of microseconds", §6). A server without a message for half of this time gets a renewal.
    When rates expire, `transport.congestion` takes over from the last rate. Expects a duration with
    its unit (s, ms, us, ns or ps), such as "2us". Default: "100us"
    """
    limited_transmit: bool
    """tcp: The first duplicate acknowledgements, below `duplicate_acks`, let a packet of new data
    leave each (RFC 3042). With `recovery = "sack"` the packets they report make room. Default: true
    """
    link: str | int | Sequence[int]
    """In fault link-down, fault flap, fault loss, fault bit-errors, fault degrade."""
    link_delay: str
    """torus: Propagation delay of a link between switches. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "1us"
    """
    link_delays: bool
    """run: Record the queueing delays of all data packets at all ports of switches, by kind of
    link, such as spine-leaf (BFC App. A.2, Table 2). If unscheduled and scheduled packets have
    separate queues, also for each of them. Default: false
    """
    link_rate: str
    """In torus, flowtune."""
    links: int
    """In leaf_spine, convergence."""
    links_per_spine: int
    """rail: Links from each leaf to each spine. Default: 1"""
    load: float
    """traffic open-loop: The offered load as a share of the capacity, above 0 and up to 2. Expects
    a non-negative number. Default: 0.6
    """
    load_on: Literal["core", "hosts", "receivers"]
    """traffic open-loop: The links with the capacity of a load of 1. Default: "core"
    """
    loads: str | int | Sequence[int]
    """traffic collective: A CSV file of loads of an all-to-all with the columns from,to,load: a
    rank shares its bytes out in proportion to its loads, which are whole numbers. What it has for
    itself stays, and pairs without a load exchange a message of one byte. Empty: `skew` decides.
    Default: ""
    """
    local_delay: str
    """dragonfly: Propagation delay of a link within a group. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "1us"
    """
    local_rate: str
    """dragonfly: Rate of a link within a group. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    local_repair: bool
    """In fault link-down, fault flap, fault switch-down."""
    locality: Literal["uniform", "balanced"]
    """traffic open-loop: Distance between source and destination (BFC App. A.5: "such that average
    load on all links across the network is same"). Default: "uniform"
    """
    log_base: float
    """hpcc_pint: Utilisations are rounded to powers of this base (the simulator's PINT_LOG_BASE).
    Expects a non-negative number. Default: 1.05
    """
    low: str
    """timely: RTT below which the rate grows, whatever the gradient (T_low). Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "50us"
    """
    max_cwnd: float
    """swift: Maximum window. 0: what a flow at line rate has in flight with its round trips at the
    base target. The paper has "a ceiling value" without a number (§3.3, footnote 3). Expects a non-
    negative number. Default: 0.0
    """
    max_mdf: float
    """swift: Maximum share of the window that one decrease removes (max_mdf; htsim: 0.5). Expects a
    non-negative number. Default: 0.5
    """
    max_rto: str
    """In flowtune, tcp."""
    max_stage: int
    """In hpcc, hpcc_pint."""
    max_weight: float
    """expresspass: Maximum weight (w_max; the authors' simulator). Expects a non-negative number.
    Default: 0.5
    """
    max_window: str
    """delay_window: Maximum window. 0: `target_rtts` bandwidth-delay products, the most that a flow
    at line rate can have in flight with its round trips on target. The paper has no maximum. There
    the window of a flow without queues grows without limit, so that it no longer restrains the flow
    once a queue builds up. The minimum is one packet. Expects a size with its unit (GB, MB, KB or
    B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    measure: str
    """In run, fluid."""
    memory: Literal["dedicated", "shared"]
    """pipeline: The owner of memory. Default: "dedicated"
    """
    message_loss: float
    """flowtune: Fraction of control packets, including acknowledgements, that are lost
    deliberately. Expects a non-negative number. Default: 0.0
    """
    micro_batches: int
    """traffic pipeline: Micro-batches of an iteration. Default: 8"""
    min_current: float
    """In powertcp, theta_powertcp."""
    min_cwnd: float
    """swift: Minimum window (§3.4: 0.001). Below 1 a flow sends one packet per RTT / window.
    Expects a non-negative number. Default: 0.001
    """
    min_interval: str
    """xcp: Shortest control interval. (ns-2: 1 ms.) Expects a duration with its unit (s, ms, us, ns
    or ps), such as "2us". Default: "1us"
    """
    min_queue_interval: str
    """xcp: Shortest search for the persistent queue; 0: `min_interval`. (ns-2: 2 ms.) Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    min_rate: str
    """In dctcp, dcqcn, dcqcn_rdma15, hpcc, timely, powertcp, theta_powertcp, hpcc_pint."""
    min_rto: str
    """In flowtune, tcp."""
    min_rtt: str
    """timely: RTT by which the gradient is normalised (minRTT). Expects a duration with its unit
    (s, ms, us, ns or ps), such as "2us". Default: "20us"
    """
    min_weight: float
    """expresspass: Minimum weight (w_min of the authors' simulator). Expects a non-negative number.
    Default: 0.01
    """
    mirror_delay: str
    """sfc: Time from the arrival of a packet to the departure of its copy. The copy takes the
    egress pipeline and, recirculated, the ingress pipeline (§4): one more pass of 600 ns (§5.3).
    Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "600ns"
    """
    monitor: str | int | Sequence[int]
    """run: Hosts with a monitored access link, on the switch's side: every packet's queueing delay,
    and the queue length at every step of the grid. Written as "0" or "0-3,7"; empty: none. Default:
    ""
    """
    most_capacity: float
    """convergence: Largest capacity (Gb/s). Expects a non-negative number. Default: 40.0"""
    most_hops: int
    """convergence: Maximum number of links per flow. Default: 4"""
    most_iterations: int
    """fluid: Maximum number of iterations to find the optimum. Default: 100000"""
    multi_rate: bool
    """hpcc: Keep a rate for each hop, and send at the lowest. Otherwise one rate follows the most
    loaded hop (the simulator's MULTI_RATE). Default: false
    """
    nack_interval: str
    """transport: Least time between two requests for the same missing packet (HPCC simulator: 500
    us). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "500us"
    """
    networks: int
    """convergence: Number of networks. Default: 100"""
    newreno: Literal["rfc6582", "htsim"]
    """tcp: The rules of a recovery without selective acknowledgements. Default: "rfc6582"
    """
    newton_interval: int
    """flowtune: Iterations per measurement interval, with `optimizer = "newton-like"`. Default: 10
    """
    nic_delay: str
    """rail: Propagation delay of a NIC's link. Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "1us"
    """
    nic_rate: str
    """rail: Rate of a NIC's link. Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps or bps),
    such as "100Gbps". Default: "400Gbps"
    """
    nics_obey: bool
    """bfc: Whether NICs obey pauses (App. A.8: they do not in "BFC - NIC"). Default: true"""
    normalizer: Literal["f-norm", "f-norm-as-printed", "u-norm", "none"]
    """In flowtune, allocator."""
    notification_interval: str
    """dcqcn_rdma15: Minimum interval between a receiver's notifications to one flow's sender (DCQCN
    §3.1, N). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "50us"
    """
    on_full: Literal["drop", "stop"]
    """pipeline: The fate of a packet with a full egress queue. Default: "drop"
    """
    operation: Literal[
        "all-reduce",
        "reduce-scatter",
        "all-gather",
        "all-to-all",
        "broadcast",
        "barrier",
    ]
    """traffic collective: The operation. Default: "all-reduce"
    """
    optimizer: Literal["ned", "gradient", "fast-weighted-gradient", "newton-like", "newton"]
    """In flowtune, allocator."""
    optimum_every: int
    """fluid: Measured steps between computations of the optimum, by another allocator that runs to
    convergence; 0 disables them. Default: 0
    """
    order: Literal["random", "round-robin"]
    """spray: The order in which packets take the equal-cost ports. Default: "random"
    """
    outstanding: str
    """pause: Bytes in a switch's hardware, which it sends in spite of a pause (DeTail §7.2.2, its
    software router: 6 KB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB,
    MiB, KiB), such as "12MB". Default: "0B"
    """
    overcommitment: int
    """homa: Number of messages that a receiver grants at once. 0: the number of scheduled
    priorities (BFC App. A.2). Expects a whole number from 0 to 65535. Default: 0
    """
    overflow: Literal["drop", "trim"]
    """switch: The fate of a data packet with a full queue. Default: "drop"
    """
    pacing: bool
    """transport: Space the packets of a flow by its rate. Without pacing only the window limits a
    flow, and must follow the rate. Models a NIC that sends whole packets only, so that a flow never
    sends less than one packet a round trip (SFC §5.2: Intel's E810). Default: true
    """
    packet_rate: float
    """pipeline: Packets per second that the processor admits (CaPFC Table II: 1 or 0.5 Mpps).
    Expects a non-negative number. Default: 1000000.0
    """
    partitions: int
    """run: Partitions of the network; 0: a number that suits the threads. Results do not depend on
    it. Expects a whole number from 0 to 65535. Default: 0
    """
    path_discovery: str
    """flowtune: Time from the switches' re-routing until the allocators know the new paths. Until
    then the failed link has no capacity, so that flowlets over it wait. Expects a duration with its
    unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    paths: bool | Literal["known", "big-switch"]
    """In run, flowtune."""
    pause_unit: str
    """sfc: Pauses are rounded down to a whole multiple of this; 0: exact (§3.3: "We express T_P in
    microseconds"). Expects a duration with its unit (s, ms, us, ns or ps), such as "2us". Default:
    "1us"
    """
    payload: str
    """frame: Payload of a full packet. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "1KB"
    """
    period: str
    """In fault flap, traffic incast, traffic queries."""
    pipelines: int
    """tofino: Ingress pipelines (§4: 4). Each has an equal share of a switch's ports, in order, and
    its part of the flow table. The number must divide the ports of every switch. Expects a whole
    number from 0 to 255. Default: 4
    """
    placement: Literal["packed", "spread", "rail", "random", "listed"]
    """In traffic collective, traffic pipeline, traffic goal, traffic chakra."""
    planes: int
    """torus: Planes of rows and columns, 1 to 1024. With 1, the torus has two dimensions. Default:
    1
    """
    pmax: float
    """ecn: Marking probability at Kmax; linear from 0 at Kmin. Expects a non-negative number.
    Default: 0.2
    """
    pods: int
    """In clos, rail."""
    policy: Literal["none", "stop-max", "stop-calibrate"]
    """capfc: Which inputs are asked to pause their neighbours. Default: "none"
    """
    pool: str
    """pipeline: Shared memory: the common part (§IV-C-7: 350 KB). Expects a size with its unit (GB,
    MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "350KB"
    """
    port_max: str
    """pipeline: Shared memory: the most of the pool for the queues of one port and direction
    (§IV-C-7: 100 KB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB,
    KiB), such as "12MB". Default: "100KB"
    """
    port_samples: str
    """run: Interval of port_samples.parquet: the bytes in each port's queues, and its bytes sent
    and lost in the interval (Flowtune 5.3.3: 1 ms). 0: none. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    posted_acks: bool
    """transport: Acknowledgements take turns with the flows that post packets. Otherwise they go
    first, in turns by flow. Default: true
    """
    posted_packets: int
    """transport: Packets that a flow may have at the NIC, the one in service included (htsim: 3).
    Expects a whole number from 0 to 255. Default: 3
    """
    precision: Literal["double", "single"]
    """allocator: Floating-point precision of the rates. Default: "double"
    """
    priorities: int | str | Sequence[int]
    """In homa, traffic queries."""
    priority: int
    """In traffic open-loop, traffic incast, traffic successive, traffic long, traffic elephants,
    traffic permutation, traffic staggered, traffic list, traffic connections, traffic collective,
    traffic pipeline, traffic goal, traffic chakra, traffic dependent.
    """
    probe_after: int
    """In tcp, pfabric."""
    pull_bytes: str
    """eqds: The time between two pulls of a receiver is that of this many bytes on its link. 0B: a
    full packet on the wire. htsim: 4198 B, which is a packet of 4160 B with its preamble and gap.
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "0B"
    """
    pull_credit: str
    """eqds: Credit of one pull, rounded up to quanta. 0B: the payload of a full packet. Expects a
    size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "0B"
    """
    pull_rate: float
    """ndp: Rate of pulled packets, relative to that of the host's link. Below 1 the queue of the
    first window drains (htsim: 0.99). Expects a non-negative number. Default: 1.0
    """
    pull_spacing: float
    """eqds: Factor of the time between two pulls. htsim multiplies this time by 0.99, not the rate.
    Expects a non-negative number. Default: 0.99
    """
    quantum: str
    """In switch, eqds."""
    queries: str | int | Sequence[int]
    """traffic queries: Number of queries in a web request, drawn uniformly from this list, such as
    10,20,40. Default: "1"
    """
    queue_max: str
    """pipeline: Shared memory: the most of the pool for one queue (§IV-C-7: 80 KB). Expects a size
    with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default:
    "80KB"
    """
    queueing: str
    """swift: Queueing delay that the base target allows on top of the base RTT. 0: one base RTT of
    the longest path. The bottleneck then stays busy even when all windows halve: the base target is
    the least "required to provide 100% utilization" (§3.5). Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    queues: int
    """bfc: Queues of a port, including the control queue (§6.2.1: 32; Tofino2 has 128 at 400 Gb/s).
    Expects a whole number from 0 to 255. Default: 32
    """
    ranks_per_server: int
    """traffic collective: Successive ranks that share a server; 0: as many as the fabric's servers
    have GPUs (`network.topology = "rail"`). Default: 0
    """
    rate: str | float
    """In star, graph, fault degrade, traffic queries."""
    rate_bound: bool | float
    """In transport, allocator."""
    rate_limit: float
    """crossbar: Rate of an egress port, as a share of the line rate (DeTail §7.2.1, its software
    router: 0.98). Expects a non-negative number. Default: 1.0
    """
    rates: Literal["intermediate", "converged"]
    """fluid: The rates that flowlets use. Default: "intermediate"
    """
    ratio: float
    """fault bit-errors: The share of wrong bits. IEEE 802.3 allows 1e-12 on a link of 100 Gb/s
    after its error correction (§91.6); optical links before they fail have much more. Expects a
    non-negative number. Default: 1e-9
    """
    reading: Literal["linear", "step"]
    """traffic open-loop: The reading of sizes between the points of the table. Default: "linear"
    """
    receive_rate: str
    """nic: Rate at which a host reads data frames from its NIC. 0: unlimited. Expects a rate with
    its unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    receive_xoff: str
    """nic: XOFF threshold: with a larger backlog the NIC pauses the class of an arriving frame. No
    source. Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as
    "12MB". Default: "64KB"
    """
    receive_xon: str
    """nic: XON threshold: with at most this backlog the NIC resumes all classes. No source. Expects
    a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "32KB"
    """
    receiver: int
    """traffic staggered: The receiving host. Default: 0"""
    receivers: str | int | Sequence[int]
    """In traffic open-loop, traffic successive, traffic elephants."""
    recirculated_bytes: str
    """tofino: Bytes of a recirculated header (not stated; up to 60 B fit "for every packet" of
    "average packet size greater than 500 bytes", §4). 48 B are the headers of `frame.header`.
    Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB".
    Default: "48B"
    """
    recirculation_delay: str
    """tofino: Time of a packet's header from its egress back to its ingress, without waiting (not
    stated; §2.3 has some 500 ns for a pipeline). Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "500ns"
    """
    recirculation_share: float
    """tofino: Rate of a switch's recirculation, as a share of the rate of all its ports (§4: 12 %).
    Expects a non-negative number. Default: 0.12
    """
    recovery: Literal["go-back-n", "perfect", "selective-repeat", "sack", "newreno", "sack1"]
    """transport: Recovery from losses. Default: "go-back-n"
    """
    redraw: bool
    """traffic collective: Whether each round draws which ranks are popular; otherwise they are the
    same in all. Default: false
    """
    reduce_scatter: Literal[
        "ring",
        "both-ways",
        "halving-doubling",
        "tree",
        "double-tree",
        "hierarchical",
        "direct",
        "pairwise",
        "dissemination",
    ]
    """traffic chakra: The algorithm of a reduce-scatter. Default: "ring"
    """
    reduction: Literal["at-once", "prr"]
    """tcp: How the window falls after a loss or a mark. Default: "at-once"
    """
    refresh_period: str
    """bfc: Interval of the pause bitmap while a queue is paused, and for `empty_refreshes` bitmaps
    after that (§3.3.2: "periodically", without a figure). Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "10us"
    """
    request: str
    """traffic queries: The payload of a request (DeTail 8.1: a full packet). Expects a size with
    its unit (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "1460B"
    """
    reserve: float | str
    """In flowtune, pfc."""
    reserve_acks: bool
    """flowtune: Subtract the acknowledgements of allocated flowlets from the capacities of the
    links on which they return, as external traffic (§6). Rates count bits on the wire, so headers
    are included in any case. Without this, acknowledgements would have to fit into `threshold`,
    although they take 5 % of a link that is full in both directions. Default: true
    """
    reserve_control_queue: bool
    """bfc: Reserve one queue for pause and resume frames: "this reduces the number of queues
    available for dynamic queue assignment by 1" (§3.3.2). Set it to false if classes divide all
    queues (App. A.3). Default: true
    """
    response: str
    """pause: Time from the arrival of a frame until switches and NICs obey it: T_R, two times 512
    bit times at 1 Gb/s (DeTail §6.1). Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "1024ns"
    """
    resume_at: str
    """flowtune: Time at which the allocators restart; 0: never. They then have no flowlets and
    request a report of all. Expects a duration with its unit (s, ms, us, ns or ps), such as "2us".
    Default: "0ps"
    """
    resume_offset: str
    """pfc: An ingress resumes its neighbour once it holds this much less than the threshold (the
    HPCC simulator's 3 KiB). Expects a size with its unit (GB, MB, KB or B; powers of ten, or GiB,
    MiB, KiB), such as "12MB". Default: "3072B"
    """
    return_to_sender: bool
    """trim: Return a header to its sender, once, if it finds the control queue full (NDP). Default:
    true
    """
    retx_reset_threshold: int
    """swift: Number of consecutive timeouts after which the window falls to its minimum
    (RETX_RESET_THRESHOLD; htsim: 5). Default: 5
    """
    right_hosts: int
    """dumbbell: Hosts on the right switch (numbered next). Default: 2"""
    right_rate: str
    """dumbbell: Rate of the right hosts' links, if it differs; 0: the same. Expects a rate with its
    unit (Tbps, Gbps, Mbps, Kbps or bps), such as "100Gbps". Default: "0bps"
    """
    round_robin: Literal["ready", "index", "posted", "shortest", "fifo"]
    """transport: Order in which a NIC serves its flows. Default: "ready"
    """
    rounding: Literal["1ps-up", "1ns-down"]
    """network: Rounding of serialisation times. Default: "1ps-up"
    """
    rounds: int
    """In traffic collective, traffic pipeline."""
    router: Literal["draft", "ns2"]
    """xcp: Arithmetic of switches. ns-2's divides a decrease among the bytes of all packets, counts
    the departing packet as queued, and divides an increase by 1 s where no packet of the interval
    knew its RTT. Default: "draft"
    """
    routers_per_group: int
    """dragonfly: Routers of a group: a. Default: 4"""
    rows: int
    """torus: Rows of switches, 2 to 1024. Default: 4"""
    rto: str
    """pfabric: Fixed retransmission timeout. 0: three base RTTs (pFabric §4.2: "a small multiple of
    the round-trip time"; §5: 45 us). Expects a duration with its unit (s, ms, us, ns or ps), such
    as "2us". Default: "0ps"
    """
    rto_floor: Literal["timeout", "variation"]
    """tcp: What `min_rto` bounds: the timeout (RFC 6298), or only its term of variation, to which
    the mean round trip is added (Linux). Default: "timeout"
    """
    rtt_bytes: str
    """homa: RTTbytes, in whole packets: the unscheduled bytes of a message, and the limit of its
    granted but missing bytes. 0B: one bandwidth-delay product of base RTT and host rate (BFC App.
    A.2: "first BDP of traffic"). Expects a size with its unit (GB, MB, KB or B; powers of ten, or
    GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    rtt_gain: float
    """xcp: Gain of the moving average of the RTT; 1: the last sample, which is exact here. TCP's
    1/8 (RFC 6298) lags by several RTTs with a window of a few packets, and the control then
    oscillates. Expects a non-negative number. Default: 1.0
    """
    rtt_samples: Literal["all", "one"]
    """tcp: Which acknowledgements measure the round trip. A timeout stays doubled until the next
    measurement. Default: "all"
    """
    rtt_tick: str
    """xcp: Tick of the sender's clock, in which RTTs are whole numbers; 0: none. (ns-2: 10 ms
    unless set, and an RTT of 0 ticks counts as unknown.) Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "0ps"
    """
    sack_bytes: Literal["none", "option", "blocks"]
    """tcp: Bytes that selective acknowledgements add to an acknowledgement. Default: "none"
    """
    sample_feedback: bool
    """hpcc: Between the updates of the reference rate, look only at hops with a queue (the
    simulator's SAMPLE_FEEDBACK). Default: false
    """
    sampled: float
    """hpcc_pint: Share of the acknowledgements to which senders react, chosen at random (the
    simulator's PINT_PROB). Expects a non-negative number. Default: 1.0
    """
    sampling: float
    """bfc: Share of packets that count in their flow's size and in the pause counters, drawn for
    each packet (App. A.8: 0.5, if hardware cannot recirculate every packet). Expects a non-negative
    number. Default: 1.0
    """
    scale: float
    """In cubic, ns3_cubic."""
    schedule: Literal["gpipe", "1f1b"]
    """traffic pipeline: The order of passes at a stage. Default: "1f1b"
    """
    scheduler: Literal[
        "fifo",
        "drr",
        "per-flow",
        "srf",
        "per-flow-srf",
        "pfabric",
        "sfqcodel",
        "ets",
        "strict",
    ]
    """switch: Scheduler of data queues. Default: "fifo"
    """
    scope: Literal["none", "port", "class"]
    """pause: The unit of a pause, or "none". Default: "none"
    """
    second: str
    """alb: Ports with fewer drain bytes are favoured if no acceptable port is most favoured (DeTail
    §6.2: 64 KB). 0: only one threshold. Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "65536B"
    """
    sender: Literal["draft", "ns2"]
    """xcp: Arithmetic of senders. ns-2's has windows of whole packets, takes feedback for a change
    of payload, not of bytes on the wire, at the sender's RTT, not the packet's, and asks for any
    rate. Default: "draft"
    """
    senders: str | int | Sequence[int]
    """In traffic open-loop, traffic incast, traffic successive, traffic elephants, traffic
    staggered.
    """
    server_delay: str
    """rail: Propagation delay of a link inside a server. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "100ns"
    """
    server_rate: str
    """rail: Rate of a GPU's link inside its server; 0bps: there is none. The default is NVLink's
    450 GB/s each way (NVIDIA H100 data sheet). Expects a rate with its unit (Tbps, Gbps, Mbps, Kbps
    or bps), such as "100Gbps". Default: "3600Gbps"
    """
    servers: str | int | Sequence[int]
    """traffic queries: The hosts that answer: all, or numbers and ranges such as 0-3,7,9-12.
    Default: "all"
    """
    servers_per_pod: int
    """rail: Servers of a pod. Default: 16"""
    share: float
    """fault loss: The share of packets that are lost. With 1, the link drops everything, and no
    switch notices. Expects a non-negative number. Default: 0.01
    """
    side_hosts: int
    """dumbbell: Hosts on a third switch linked to the right one (numbered last); 0: no such switch.
    Default: 0
    """
    sigma: float
    """traffic open-loop: The standard deviation of a log-normal gap's logarithm, up to 5 (BFC: 2).
    Expects a non-negative number. Default: 2.0
    """
    signal: Literal["ingress", "egress"]
    """sfc: Where a switch checks a queue. Default: "ingress"
    """
    size: str
    """buffer: Size of the memory (BFC §6.2.1: 12 MB). If dedicated: size per queue, or per port if
    the scheduler does not divide it. 0: with scheduler = "pfabric", two bandwidth-delay products of
    the base RTT and the hosts' rate (pFabric §5: 36 KB at 10 Gb/s). Expects a size with its unit
    (GB, MB, KB or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "12MB"
    """
    sizes: str | int | Sequence[int]
    """In traffic open-loop, traffic queries."""
    skew: float
    """traffic collective: Zipf exponent of the loads of an all-to-all, as of experts in a mixture:
    of what each rank sends, the k-th most popular rank gets a share in proportion to 1/k^skew. The
    seed decides which rank is how popular. 0: all get the same. From 0 to 10. Expects a non-
    negative number. Default: 0.0
    """
    small_flow: int
    """expresspass: A flow of fewer packets starts at a proportionally lower rate, as in the
    authors' simulator. 1: never. Default: 40
    """
    smoothed_rtt: bool
    """swift: Least time between two decreases, and the RTT of pacing: the smoothed RTT, as in TCP
    (htsim). Otherwise the last measured one. Default: false
    """
    speedup: float
    """crossbar: Rate of the crossbar's lines, as a multiple of that of the switch's fastest port
    (DeTail §7.1: 4). Expects a non-negative number. Default: 4.0
    """
    spine_delay: str
    """In leaf_spine, clos, two_dc, rail."""
    spine_latency: str
    """clos: Latency of a spine. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    spine_links: int
    """clos: Parallel links between a leaf and a spine. Default: 1"""
    spine_rate: str
    """In leaf_spine, clos, two_dc, rail."""
    spines: int
    """In leaf_spine, two_dc, rail."""
    spines_per_pod: int
    """clos: Spines (aggregation switches) of a pod. Default: 2"""
    spread: str
    """traffic incast: Each flow starts at an instant drawn uniformly within this time after the
    event; 0: all at once (SFC 5.3: 100 us). Expects a duration with its unit (s, ms, us, ns or ps),
    such as "2us". Default: "0ps"
    """
    src: int
    """traffic long: The sending host. Default: 0"""
    start: str | Literal["line-rate", "slow-start"]
    """In dctcp, traffic open-loop, traffic incast, traffic queries, traffic successive, traffic
    long, traffic elephants, traffic permutation, traffic staggered, traffic collective, traffic
    pipeline, traffic goal, traffic chakra, traffic dependent.
    """
    start_before_allocation: bool
    """flowtune: Flows start under their own congestion control before they have a rate. Default:
    true
    """
    step: str
    """fluid: Time between steps (§5.3: 10 us). Expects a duration with its unit (s, ms, us, ns or
    ps), such as "2us". Default: "10us"
    """
    steps_before_hyper: int
    """timely: Increases in a row after which the rate grows faster. Default: 5"""
    sticky_hrtts: float
    """bfc: A flow keeps its queue for this many 1-hop RTTs after its last packet (§3.3.2: 2).
    Expects a non-negative number. Default: 2.0
    """
    stop: str
    """In traffic open-loop, traffic incast, traffic queries, traffic successive."""
    stop_at: str
    """flowtune: Time at which the allocators stop; 0: never. Their NICs keep acknowledging, but
    messages to them are lost. Expects a duration with its unit (s, ms, us, ns or ps), such as
    "2us". Default: "0ps"
    """
    stop_order: Literal["first", "last"]
    """traffic staggered: The order of stops. Default: "first"
    """
    straggle: str
    """traffic collective: How much longer they compute. Expects a duration with its unit (s, ms,
    us, ns or ps), such as "2us". Default: "100us"
    """
    stragglers: str | int | Sequence[int]
    """traffic collective: Hosts that compute longer: numbers and ranges; empty: none. Default: ""
    """
    strict: str | int | Sequence[int]
    """ets: Classes that are served before all others, in this order, as "0" or "1,0"; empty: none.
    Default: ""
    """
    symmetric_ecmp: bool
    """switch: Both directions of a flow take the same links. Switches of a layer use the same hash,
    and hash the 5-tuple of either direction to the same value. Default: false
    """
    table_factor: int
    """bfc: Flow-table entries of a port, for each of its queues (§3.3.1: 100). Default: 100"""
    target: str
    """In sfc, sfqcodel."""
    target_loss: float
    """expresspass: Fraction of credits that may be lost without a sign of congestion, for a flow
    with a rate near zero; the allowance falls to zero at the maximum rate (the authors' simulator;
    ExpressPass §3.2 has a constant target loss of 10 %). Expects a non-negative number. Default:
    0.125
    """
    target_power: float
    """In powertcp, theta_powertcp."""
    target_rtts: float
    """delay_window: The target in base RTTs (BFC App. A.1: 2.5, "to avoid hurting the throughput of
    long flows"). Expects a non-negative number. Default: 2.5
    """
    target_utilisation: float
    """In hpcc, hpcc_pint."""
    tau: str
    """conga: Time constant of the estimate of a link's load (CONGA §3.6: tau). Expects a duration
    with its unit (s, ms, us, ns or ps), such as "2us". Default: "160us"
    """
    threshold: float | str | Literal["active", "fixed"]
    """In flowtune, onramp, pfc, bfc, allocator."""
    threshold_factor: float
    """bfc: Multiple of the threshold's 1-hop BDP (§3.3.2: 1). Expects a non-negative number.
    Default: 1.0
    """
    threshold_follows_rate: bool
    """pfc: Double the threshold for each doubling of a port's rate over the hosts' rate, as the
    HPCC simulator does. Default: false
    """
    timeout: str
    """In transport, flowlets."""
    timeout_low: str
    """transport: The timeout of a flow with few packets in flight, with selective repeat: IRN's
    RTO_low is 100 us (IRN §4.1), 454 us in ConWeave's simulator. 0: `timeout` for all. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "100us"
    """
    timeout_low_packets: int
    """transport: Up to this many packets are few (IRN §4.1: N = 3). Expects a whole number from 0
    to 65535. Default: 3
    """
    timeout_scan: str
    """tcp: Timeouts are noticed at multiples of this interval only. A flow then sends after up to
    1/200 of the interval, the sooner the later it was noticed (htsim: 10 ms). 0: at once. Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "0ps"
    """
    timer: str
    """dcqcn_rdma15: Interval between increases of the rate by the timer (DCQCN §3.1, T). Expects a
    duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "60us"
    """
    timestamp: str
    """timely: Bytes of the timestamp in each packet. Expects a size with its unit (GB, MB, KB or B;
    powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "8B"
    """
    to_pfc: bool
    """sfc: Turn signals into PFC frames at the sender's switch (§4, "SFC-P"). Default: false"""
    tolerance: float
    """In fluid, convergence."""
    topology: Literal[
        "leaf-spine",
        "fat-tree",
        "clos",
        "star",
        "dumbbell",
        "two-dc",
        "torus",
        "dragonfly",
        "rail",
        "graph",
    ]
    """network: Its shape. The section with that name has its sizes. Default: "leaf-spine"
    """
    transit_share: float
    """flowtune: Maximum fraction of a link subtracted for flowlets from other pods, with
    `allocators = "per-pod"`. Expects a non-negative number. Default: 0.5
    """
    trigger: str
    """sfc: Depth above which a queue is congested (Q_Th); 0: two bandwidth-delay products of the
    hosts' rate and the base RTT (§3.3). Expects a size with its unit (GB, MB, KB or B; powers of
    ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    trim_arriving: float
    """trim: Probability that the arriving packet is trimmed, and not the packet at the tail of the
    full queue: one half, against phase effects (NDP). 1 in the simulator of SFC's comparison.
    Expects a non-negative number. Default: 0.5
    """
    trunk_delay: str
    """dumbbell: Propagation delay of a link between switches. Expects a duration with its unit (s,
    ms, us, ns or ps), such as "2us". Default: "1us"
    """
    trunk_rate: str
    """dumbbell: Rate of a link between switches. Expects a rate with its unit (Tbps, Gbps, Mbps,
    Kbps or bps), such as "100Gbps". Default: "100Gbps"
    """
    unscheduled_priorities: int
    """homa: Number of priorities for unscheduled data, from the highest. 0: in proportion to its
    share of the workload's bytes (BFC App. A.2: "divided [...] based on the ratio of unscheduled
    and scheduled traffic"). Expects a whole number from 0 to 255. Default: 0
    """
    until: str
    """In fault link-down, fault flap, fault switch-down, fault host-down, fault loss, fault bit-
    errors, fault degrade.
    """
    utility: Literal["log", "alpha-fair"]
    """flowtune: Utility of a flowlet's rate. Default: "log"
    """
    victims: str | int | Sequence[int]
    """traffic incast: The hosts from which the victim is drawn: all, or numbers and ranges such as
    0-3,7,9-12. Default: "all"
    """
    victims_per_event: int
    """traffic incast: Victims of an event, all distinct, each with flows of its own; 0: all of
    `victims` (DeTail §6.3: all-to-all incast). Default: 1
    """
    warmup: str
    """In run, fluid."""
    warn: str
    """capfc: It counts arrivals while it holds this much or more (Table II: 20 KB; "we set the WARN
    threshold the same value as the XON threshold", §III). Expects a size with its unit (GB, MB, KB
    or B; powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "20KB"
    """
    watchdog: str | Literal["off", "drop", "forward"]
    """In run, pfc."""
    watchdog_detection: str
    """pfc: Time for which a queue with packets must be paused before the watchdog releases it
    (SONiC's default). `run.watchdog` must be longer, or the run ends as stuck before that. Expects
    a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "200ms"
    """
    watchdog_restoration: str
    """pfc: Time without a pause after which the queue obeys pauses again (SONiC's default). Expects
    a duration with its unit (s, ms, us, ns or ps), such as "2us". Default: "200ms"
    """
    weight_step: float
    """expresspass: Increase of the weight per round trip without congestion, from the second
    consecutive one (the authors' simulator; in ExpressPass §3.2 the weight goes halfway to w_max).
    Expects a non-negative number. Default: 0.05
    """
    weights: str | int | Sequence[int]
    """ets: Weights of classes 0 to 7 among those that are not strict. A turn allows the weight
    times `switch.quantum`. Default: "1,1,1,1,1,1,1,1"
    """
    whole_bytes: bool
    """swift: Keep the window in whole bytes, and scale the target by the whole packets in it
    (htsim). Default: false
    """
    whole_packets: bool
    """frame: The payload of a flow's last packet is padded to that of a full one, as in htsim. Rows
    have the size without padding, and ideal completion times count the padding. Default: false
    """
    window: str | Literal["bdp", "fixed", "unlimited"]
    """In transport, eqds."""
    window_follows_rate: bool
    """transport: Scale the window by rate / line rate (HPCC and DCTCP of the HPCC simulator).
    Default: false
    """
    window_rtts: float
    """flowtune: Window opened by a rate: the bytes sent at the rate in this many base RTTs. The
    flow's congestion control stays active below the rate, so that losses and marks close the window
    again until the next rate ("our implementation keeps those unchanged", §5.1). Expects a non-
    negative number. Default: 2.0
    """
    window_size: str
    """transport: The window with `window = "fixed"`. Expects a size with its unit (GB, MB, KB or B;
    powers of ten, or GiB, MiB, KiB), such as "12MB". Default: "0B"
    """
    window_validation: bool
    """tcp: The window grows only while at least half of it is used (RFC 7661). Without this the
    window of a flow limited by its own NIC grows without bound, as in ns-2 and ns-3. Default: true
    """
    workflow: Literal["single", "sequential", "parallel"]
    """traffic queries: The order of the queries in a web request. Default: "single"
    """
    xoff: str
    """In pause, capfc."""
    xon: str
    """In pause, capfc."""
