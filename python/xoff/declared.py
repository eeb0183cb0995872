"""The tables and summary keys of a run, as the engine declares them.

`make declared` writes this module from the declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa


class Tables:
    """The tables of a run by name."""

    def table(self, name: str) -> pa.Table:
        """Return a table. Raises `UsageError` where the run has none of this name."""
        raise NotImplementedError

    @property
    def flows(self) -> pa.Table:
        """One row for each measured flow that finished, in the order (time of finishing, flow).
        `run.flows` selects all rows, one in a hundred (`"sample"`), or none.
        """
        return self.table("flows")

    @property
    def samples(self) -> pa.Table:
        """Switches and monitored ports at every multiple of `run.grid` after the warm-up, up to the
        end of the measured time: one row for each switch, and one for each port towards a host of
        `run.monitor`.
        """
        return self.table("samples")

    @property
    def flow_series(self) -> pa.Table:
        """At the end of every full interval of `run.flow_series` in the measured time: one row for
        each flow that is under way or ended in the interval, in the order (time, flow). A flow ends
        when its sender knows that all data has arrived.

        Receivers report at the end of an interval, and forget a flow with its last byte. The
        bytes of a flow that begins and ends within an interval therefore count when its sender
        learns of the end, half a round trip later.

        Raises `UsageError` where the run has none: set run.flow_series.
        """
        return self.table("flow_series")

    @property
    def port_samples(self) -> pa.Table:
        """At the end of every full interval of `run.port_samples` in the measured time: one row for
        every port, in the order (time, node, port).

        Raises `UsageError` where the run has none: set run.port_samples.
        """
        return self.table("port_samples")

    @property
    def queries(self) -> pa.Table:
        """One row for each query that arrived in the measured time and has ended, in the order of
        their ends. A query lasts from the start of its request to the last byte of its response at
        the client. `run.flows = "sample"` selects one in a hundred web requests, with all of their
        queries.

        Raises `UsageError` where the run has none: add [[traffic]] with kind = "queries";
        run.flows must not be "none".
        """
        return self.table("queries")

    @property
    def requests(self) -> pa.Table:
        """One row for each web request that arrived in the measured time and has ended, in the
        order of their ends. A web request ends with its last query. `run.flows = "sample"` selects
        one in a hundred.

        Raises `UsageError` where the run has none: add [[traffic]] with kind = "queries";
        run.flows must not be "none".
        """
        return self.table("requests")

    @property
    def ports(self) -> pa.Table:
        """One row for each port (a link has two), over the measured time."""
        return self.table("ports")

    @property
    def batches(self) -> pa.Table:
        """The values of measured flows, queries and web requests by batch of time, as histograms
        that can be pooled over runs. The measured time has `run.batches` batches of equal length; a
        flow belongs to the batch in which it began, a web request with its queries to the batch in
        which it arrived. One row for each bucket that has values, in the order (kind, class, group,
        batch, bucket). Each flow is counted, with or without a row in other tables.

        A value is the slowdown of a flow, or the completion time of a query or web request in
        microseconds, rounded to thousandths. A bucket is one thousandth wide up to 0.512, and above
        that at most 1/256 of its lower end.

        A flow, query or web request that did not end with the run is censored: it is in the
        bucket of the least value that it can have. That is the time that it had lasted, for a flow
        divided by its ideal FCT. It counts under `censored`, and not under `finished`.

        Raises `UsageError` where the run has none: set run.batches.
        """
        return self.table("batches")

    @property
    def nodes(self) -> pa.Table:
        """One row for each node, in the order of their numbers."""
        return self.table("nodes")

    @property
    def paths(self) -> pa.Table:
        """The path of the data packets of each flow that has begun, the warm-up included: one row
        for each port that they leave by, in the order (since_ps, flow, hop). `run.flows = "sample"`
        selects one flow in a hundred. Acknowledgements, credits and grants take a path of their
        own.

        When switches change their routes after the failure or the recovery of a link
        (`[[fault]]`), the flows under way whose path changes get the rows of their new path. The
        hash of a flow then picks among fewer or more ports, so flows that never crossed the link
        may change, too. From the failure to its detection, flows keep their path into the link, and
        their packets are lost. Packets under way when routes change finish on the new ones.

        Raises `UsageError` where the run has none: set run.paths = true.
        """
        return self.table("paths")

    @property
    def rounds(self) -> pa.Table:
        """One row for each finished round of a job, in the order of their ends.

        Raises `UsageError` where the run has none: add [[traffic]] with kind = "collective",
        "pipeline", "goal", "chakra" or "dependent"; a step must have ended, and run.flows must not
        be "none".
        """
        return self.table("rounds")

    @property
    def steps(self) -> pa.Table:
        """One row for each finished step of a round of a job, in the order of their ends. Step s of
        a collective operation has the messages that ranks send in stage s of its algorithm.

        Raises `UsageError` where the run has none: add [[traffic]] with kind = "collective",
        "pipeline", "goal", "chakra" or "dependent"; a step must have ended, and run.flows must not
        be "none".
        """
        return self.table("steps")

    @property
    def cut_off(self) -> pa.Table:
        """One row for each measured flow that could not end, because a host was down for good, in
        the order of flows. It is in no other table and in no percentile. Flows that waited for a
        trigger, which nothing could activate any more, are among them.

        Raises `UsageError` where the run has none: add [[fault]] with kind = "host-down" and
        without until; flows must have an end on that host, and run.flows must not be "none".
        """
        return self.table("cut_off")

    @property
    def stuck_queues(self) -> pa.Table:
        """One row for each queue that a PFC watchdog found stuck and released (`pfc.watchdog`), in
        the order of releases.

        Raises `UsageError` where the run has none: set pfc.watchdog to "drop" or "forward"; a
        queue must have been paused for pfc.watchdog_detection.
        """
        return self.table("stuck_queues")


class SlowdownGroup(TypedDict):
    """Statistics of slowdowns in a group of flows. Percentiles count every measured flow, with or
    without a row in `flows.parquet`. A percentile above the median is null if fewer than ten flows
    lie beyond it. Percentiles have three significant digits.
    """

    flows: int
    """Flows of the group."""
    finished: int
    """Flows that finished."""
    mean: float | None
    """Mean; null if a flow did not finish."""
    p50: float | None
    """Median."""
    p95: float | None
    """95th percentile."""
    p99: float | None
    """99th percentile."""
    p999: float | None
    """99.9th percentile."""


class SlowdownBin(SlowdownGroup):
    """Slowdowns of flows within a range of sizes."""

    low_bytes: int
    """Smallest size."""
    high_bytes: int | None
    """Upper end of the sizes, excluded; null in the last bin."""


_ClassKeywords = TypedDict("_ClassKeywords", {"class": str})


class Class(_ClassKeywords):
    """A traffic class. The column `class` of tables is its index in the list."""

    flows: int
    """Measured flows."""
    finished: int
    """Measured flows that finished."""
    unfinished: int
    """Measured flows that did not finish. They count as infinitely slow."""
    bins: list[SlowdownBin]
    """Slowdowns by size."""
    ranges: dict[str, SlowdownGroup]
    """Slowdowns in named ranges of sizes: `short` below 3 KB, `medium` 200 KB to 1 MB, `long` above
    3 MB.
    """
    all: SlowdownGroup
    """Slowdowns of all sizes."""
    endless_goodput_bps: float | None
    """Goodput of flows without end and of stopped flows."""
    endless_flows: int
    """Flows without end."""
    endless_least_bps: float | None
    """Lowest goodput of a flow without end."""
    endless_most_bps: float | None
    """Highest goodput of a flow without end."""


class CompletionGroup(TypedDict):
    """Completion times of a group of queries or web requests. The group counts all that arrived in
    the measured time. Members that did not end with the run count as infinitely long, also a
    sequential query that never began. Percentiles follow the rules of those of flows.
    """

    count: int
    """Members of the group."""
    unfinished: int
    """Members that did not end."""
    mean_us: float | None
    """Mean, in microseconds; null if a member did not end."""
    p50_us: float | None
    """Median."""
    p95_us: float | None
    """95th percentile."""
    p99_us: float | None
    """99th percentile."""


_JobKeywords = TypedDict("_JobKeywords", {"class": str})


class Job(_JobKeywords):
    """The rounds of a job. Bandwidths are those of NCCL's tests: the bytes of all finished rounds
    over the time in which they were under way, and that times the share of the bytes that each rank
    must send at least.
    """

    ranks: int
    """Number of its ranks."""
    rounds: int
    """Rounds in all."""
    finished: int
    """Rounds that all ranks have finished."""
    mean_us: float | None
    """Time of a round from its first message to its end, mean over finished rounds, in
    microseconds. Null without any.
    """
    max_us: float | None
    """The longest time of a round."""
    iteration_us: float | None
    """Time from the start of the job to the end of its last finished round, over their number: with
    the time that ranks compute.
    """
    waited_us: float | None
    """From a rank's end of a round to that of the last rank, mean over ranks and finished
    rounds.
    """
    algorithm_gbytes_per_s: float | None
    """Algorithm bandwidth, in Gbyte/s; null for a barrier or a schedule."""
    bus_gbytes_per_s: float | None
    """Bus bandwidth, in Gbyte/s."""


class DeadHost(TypedDict):
    """A host that went down for good, and what it cut off. No percentile counts these flows and web
    requests, and the run did not wait for them.
    """

    host: int
    """The host."""
    down_ps: int
    """Time at which it went down."""
    flows: int
    """Measured flows to and from it that had not ended, or began later. `cut_off` lists them."""
    requests: int
    """Measured web requests with a query to or from it."""


class Frame(TypedDict):
    """Sizes of data packets."""

    payload_bytes: int
    """Payload of a full packet."""
    overhead_bytes: int
    """Headers and INT."""


class Buffer(TypedDict):
    """Bytes in the buffer of a switch."""

    p50_bytes: int | None
    """Median."""
    p90_bytes: int | None
    """90th percentile."""
    p99_bytes: int | None
    """99th percentile."""
    p999_bytes: int | None
    """99.9th percentile."""
    max_bytes: int
    """Maximum."""
    mean_bytes: float | None
    """Mean."""
    cdf: list[list[float]]
    """Cumulative distribution."""


class BufferWatermark(Buffer):
    """The keys of `buffer`, with an exact `max_bytes`, and one more."""

    run_max_bytes: int
    """Maximum over the whole run with warm-up and drain, exact."""


class ReceiverThroughput(TypedDict):
    """Payload that reached a host in an interval, over the length of the interval. One sample for
    each full interval of the measured time and each host that received anything from the start of
    the run to the end of the measured time.
    """

    interval_ps: int
    """Length of the interval: 100 us, or the next multiple of the grid."""
    p50_bps: int | None
    """Median."""
    p95_bps: int | None
    """95th percentile."""
    p99_bps: int | None
    """99th percentile."""
    mean_bps: float | None
    """Mean."""
    cdf: list[list[float]]
    """Cumulative distribution."""


class Sampled(TypedDict):
    """Samples on the grid, pooled over ports."""

    mean: float | None
    """Mean."""
    max: int
    """Maximum."""
    cdf: list[list[float]]
    """Cumulative distribution."""


class OutstandingFlows(TypedDict):
    """Counts of measured flows in progress."""

    middle: int
    """In the middle of the measured time."""
    end: int
    """At its end."""


class PfcWatchdog(TypedDict):
    """The PFC watchdog (`pfc.watchdog`), over the whole run."""

    stuck_queues: int
    """Queues that stayed paused and were released; a queue may count several times."""
    restored_queues: int
    """Queues that obeyed pauses again."""
    dropped_packets: int
    """Packets that it dropped, a part of `drops_packets`."""


class Pfc(TypedDict):
    """Pauses by PFC, by switches with ingress queues, and by NICs with a `nic.receive_rate`. All
    are zero without these.
    """

    pause_frames: int
    """Frames that paused a neighbour, over the whole run."""
    pause_time_share: float | None
    """Share of the measured time in which a port was paused, mean over ports."""
    pause_time_share_by_link: dict[str, float | None]
    """The same by kind of link."""
    watchdog: PfcWatchdog | None
    """The watchdog of switches. Null with `pfc.watchdog = "off"`."""


class RefusedPackets(TypedDict):
    """Packets of one class that found no room."""

    threshold: int
    """Lossy: their queue had reached its dynamic threshold."""
    headroom: int
    """Lossless: the headroom of their ingress was full."""
    headroom_pool: int
    """Lossless: the pool of all headrooms was used up."""
    memory: int
    """The memory was full: more classes used headroom than it was set aside for."""


class ClassMemory(TypedDict):
    """Accounts of classes in the memory of switches (`buffer.by_class`,
    `pfc.headroom_oversubscription`, or a watchdog of PFC), over the whole run.
    """

    headroom_max_bytes: int
    """The most bytes of headroom in use at once in one switch."""
    refused: dict[str, RefusedPackets]
    """Packets that found no room, by class and cause; classes without any are left out. A part of
    `drops_packets`.
    """


class Pipeline(TypedDict):
    """Pipelined switches over the whole run."""

    processed_packets: int
    """Packets that left the processor, dropped ones included."""
    ingress_drops: int
    """Packets dropped at a full ingress queue."""
    egress_drops: int
    """Packets dropped at a full egress queue."""
    egress_drop_share: float | None
    """`egress_drops` over `processed_packets`."""
    stops: int
    """Stops of a processor at a full egress queue."""
    blocked_ps: int
    """Time that processors were stopped, sum over switches."""
    blocked_share: float | None
    """Mean share of the run that a processor was stopped."""
    blocked_share_max: float | None
    """Maximum of this share over switches."""
    cross_class_ps: int
    """Time that packets waited for a full egress queue of another class, sum over packets."""
    cross_class_mean_ps: float | None
    """Mean of this time over processed packets."""
    blames: int
    """Inputs blamed by egress queues."""
    ingress_congestions: int
    """Transitions of an ingress queue to congestion."""
    resume_frames: int
    """Frames that resumed a neighbour."""
    counter_bytes: int
    """Bytes of CaPFC's counters."""


class Bfc(TypedDict):
    """Backpressure Flow Control."""

    some_queue_paused_share: float | None
    """Share of the measured time in which a port had at least one paused queue, mean over ports."""
    some_queue_paused_share_by_link: dict[str, float | None]
    """The same by kind of link."""
    pauses: int
    """Frames that paused a queue."""
    resumes: int
    """Frames that resumed a queue."""
    refreshes: int
    """Frames with the bitmap of all paused queues."""
    frame_bytes: int
    """Bytes of these frames."""
    frame_bytes_share: float | None
    """Their share of all bytes sent."""
    assignments: int
    """Assignments of a flow to a queue."""
    collisions: int
    """Assignments to a queue in use."""
    reassignments: int
    """Assignments to flows that had been at the switch before."""
    table_collisions: int
    """Packets that found their flow-table entry in use, last by another flow."""
    sharing_flows: Sampled | None
    """Flows at a port that share their queue with another one, sampled at ports with flows."""


class BfcHardware(TypedDict):
    """BFC as its hardware prototype implements it, over the whole run."""

    recirculated_headers: int
    """Headers sent through the pipeline once more."""
    recirculated_bytes: int
    """Their bytes."""
    recirculated_share_of_capacity: float | None
    """The rate of these bytes as a share of the capacity of all ports of switches."""
    recirculation_longest_wait_ps: int
    """The longest time that a header waited for recirculation."""
    unseen_collisions: int
    """Assignments to a queue in use that the switch took for an empty one."""


class Elision(TypedDict):
    """Elision of backpressure (`switch.elide`), over the whole run."""

    pairs: int
    """Pairs of ports without backpressure."""
    packets: int
    """Data packets that passed such a pair."""
    bytes_share: float | None
    """Their share of the bytes that hosts sent."""


class Sfc(TypedDict):
    """Source Flow Control, over all switches and the whole run."""

    bts_triggered: int
    """Data packets that triggered a signal."""
    bts_suppressed: int
    """Triggers without a signal, which the filter suppressed."""
    bts_suppressed_share: float | None
    """`bts_suppressed` over `bts_triggered`."""
    bts_sent: int
    """Signals sent."""
    bts_from_cache: int
    """Signals triggered by the cache or the estimator, not by the switch's own queue."""
    bts_from_cache_share: float | None
    """`bts_from_cache` over `bts_sent`."""
    bts_bytes: int
    """Bytes of the signals on the wire."""
    bts_to_pfc: int
    """Signals converted to PFC frames (SFC-P)."""
    filter_peak: int
    """Flows in the filter in one period, maximum over switches."""
    false_positives: int
    """Signals suppressed for flows that the filter did not hold."""
    cache_peak: int
    """Receivers in the cache, maximum over switches."""
    cache_collisions: int
    """Signals without room in the cache."""
    signals_heard: int
    """Signals that arrived at hosts."""
    signal_delay_mean_ps: float | None
    """Mean time from the start of the packet that triggered a signal to the signal's arrival at the
    packet's sender.
    """
    signal_delay_max_ps: int
    """Maximum of this time."""


class Homa(TypedDict):
    """Homa over the whole run."""

    unscheduled_priorities: int
    """Priority levels of unscheduled packets."""
    scheduled_priorities: int
    """Priority levels of scheduled packets."""
    grants: int
    """Grants."""
    granted_bytes: int
    """Bytes granted."""
    most_granted_at_once: int
    """Messages that one receiver granted at a time, maximum over receivers."""
    resends: int
    """Requests for missing bytes."""
    unscheduled_share: float | None
    """Unscheduled payload as a share of all payload sent, repeated payload included."""


class Stream(TypedDict):
    """Messages in one direction between servers and allocators. Shares are of the capacity of all
    hosts' links, one way.
    """

    messages: int
    """Messages, or datagrams with any number of them."""
    message_bytes: int
    """Bytes of the messages, or of the datagrams."""
    packets: int
    """Packets."""
    wire_bytes: int
    """Bytes of the packets on the wire."""
    capacity_share: float | None
    """Share of these bytes."""
    ack_wire_bytes: int
    """Bytes on the wire of the acknowledgements of these packets, sent the other way."""
    ack_capacity_share: float | None
    """Share of the acknowledgements."""
    repeated_packets: int
    """Packets sent again."""
    timeouts: int
    """Retransmission timeouts."""
    lost_on_purpose: int
    """Packets and acknowledgements lost by impairment."""


class Flowtune(TypedDict):
    """Flowtune's allocators and servers in the measured time."""

    iterations: int
    """Iterations of all allocators."""
    active_flowlets_mean: float | None
    """Flowlets that an allocator knew, mean over its iterations."""
    flowlets: int
    """Flowlets that servers announced."""
    joined_flows: int
    """Flows that joined a flowlet."""
    rates_sent: int
    """Rates that allocators sent."""
    rates_per_flowlet: float | None
    """`rates_sent` over the flowlets announced to allocators."""
    rates_received: int
    """Rates that servers received."""
    renewals: int
    """Messages that extend the validity of a server's rates. Each datagram does."""
    expiries: int
    """Expiries of a server's rates."""
    fallbacks: int
    """Flows handed to their own congestion control at an expiry."""
    refused_datagrams: int
    """Datagrams that servers and allocators refused, for instance because a later one came
    first.
    """
    to_allocator: Stream
    """Messages from servers to allocators."""
    from_allocator: Stream
    """Messages from allocators to servers."""
    between_allocators: Stream
    """Messages between allocators."""


class ExpressPass(TypedDict):
    """Credits of ExpressPass over the whole run."""

    credits_sent: int
    """Credits that receivers sent."""
    credits_dropped: int
    """Credits dropped by NICs and switches."""
    credits_used: int
    """Credits that released a data packet."""
    credits_wasted: int
    """Credits that reached a sender without data."""
    waste_share: float | None
    """Wasted credits as a share of the credits that reached senders."""


class Dropped(TypedDict):
    """Packets lost at ports in the measured time, and the traffic that hosts sent in it."""

    packets: int
    """Lost packets."""
    bytes: int
    """Their bytes on the wire."""
    bps: float | None
    """Rate of these bytes."""
    hosts_sent_bytes: int
    """Bytes that hosts put on their links."""
    hosts_sent_bps: float | None
    """Rate of these bytes."""
    share: float | None
    """`bytes` over `hosts_sent_bytes`."""


class Packets(TypedDict):
    """Data packets over the whole run. Shares are of the packets sent: those acknowledged and those
    sent again.
    """

    acknowledged: int
    """Data packets acknowledged."""
    retransmitted_share: float | None
    """Share of `retransmitted_packets`."""
    dropped_share: float | None
    """Share of `drops_packets`."""


class Transport(TypedDict):
    """Transports with selective acknowledgements."""

    spurious_retransmissions: int
    """Data packets that arrived a second time, over the whole run. Flows of one packet do not
    count, because receivers do not remember them.
    """


class Utilisation(TypedDict):
    """Bytes sent over capacity in the measured time."""

    core: float | None
    """All links between switches, except those of gateways."""
    hosts: float | None
    """All links of hosts."""
    by_link: dict[str, float | None]
    """Each kind of link, such as `gateway-gateway`."""


class Load(TypedDict):
    """Load in the measured time: a share of the core links, or of the hosts' links if there is no
    core or the traffic is balanced between both.
    """

    nominal: float | None
    """Load that the scenario asks for: that of open-loop, incast and web request traffic."""
    payload: float | None
    """Payload of the measured flows, over the capacity of these links one way, as if each flow
    crossed one of them. Flows within a rack cross no core link, and flows may end later, so the
    links may carry less.
    """
    wire: float | None
    """Bytes that these links carried in both directions over their capacity, with headers,
    acknowledgements, retransmissions and flows of the warm-up: the same as in `utilisation`.
    """


class Monitor(TypedDict):
    """The access link of a host of `run.monitor`, on the switch's side."""

    name: str
    """The host."""
    utilisation: float | None
    """Share of the link's capacity in use."""
    delay_p50_ps: int | None
    """Median queueing delay of data packets."""
    delay_p99_ps: int | None
    """99th percentile of the delay."""
    queue_mean_bytes: float | None
    """Mean bytes in the data queues of the port, sampled on the grid."""
    queue_p99_bytes: int | None
    """99th percentile of these bytes."""
    queue_max_bytes: int
    """Maximum of these bytes."""


class LinkDelay(TypedDict):
    """Queueing delays of data packets at all ports of switches on one kind of link."""

    link: str
    """Layers that the links join, from the port to its neighbour, such as `spine-leaf`."""
    packets: str
    """The packets counted: `all`, or those of one group of queues."""
    count: int
    """Number of packets."""
    mean_ps: float | None
    """Mean."""
    p50_ps: int | None
    """Median."""
    p95_ps: int | None
    """95th percentile."""
    p99_ps: int | None
    """99th percentile."""
    max_ps: int
    """Maximum."""


class Summary(TypedDict):
    """The results of a run with packets."""

    name: str
    """Name of the scenario."""
    scheme: str
    """Name of the scheme."""
    seed: int
    """Seed of the random numbers."""
    digest: str
    """Hash of all events, as 16 hexadecimal digits."""
    classes: list[Class]
    """Traffic classes."""
    queries: dict[str, dict[str, CompletionGroup]] | None
    """Completion times of queries by class, then by group: `all`, the response's bytes (`8000`),
    `priority0`, and both (`8000-priority0`) if a class has several priorities. Null without
    queries.
    """
    requests: dict[str, dict[str, CompletionGroup]] | None
    """Completion times of web requests by class, then by group: `all`, and by the number of queries
    (`10`). Null without web requests.
    """
    jobs: list[Job] | None
    """Jobs, in the order of their entries. Null without jobs."""
    dead_hosts: list[DeadHost] | None
    """Hosts that went down for good, by number. Null without any."""
    frame: Frame
    """Sizes of data packets."""
    buffer: Buffer
    """Bytes in a switch's buffer, sampled on the grid and pooled over switches."""
    buffer_watermark: BufferWatermark
    """Maximum of a switch's buffer since the previous step of the grid, pooled over switches and
    steps.
    """
    receiver_throughput: ReceiverThroughput | None
    """Throughput of receivers. Null if no host received anything in a full interval."""
    active_flows: Sampled | None
    """Flows with packets at an egress port, sampled on the grid and pooled over ports. Null without
    samples.
    """
    outstanding_flows: OutstandingFlows
    """Measured flows in progress. If they grow in number, the network cannot carry the load."""
    backlog_bytes: dict[str, float | None]
    """Bytes that wait at all ports of switches on a kind of link, such as `leaf-host` or
    `spine-leaf`: mean over the steps of the grid in the measured time. `upstream_share` is the
    share of all these bytes that does not wait for a host's link.
    """
    pfc: Pfc
    """Pauses by PFC, or by switches with ingress queues."""
    class_memory: ClassMemory | None
    """Memory of switches by traffic class. Null if they keep no accounts of classes."""
    pipeline: Pipeline | None
    """Pipelined switches. Null without any."""
    bfc: Bfc | None
    """Backpressure Flow Control. Null without BFC's queues."""
    bfc_hardware: BfcHardware | None
    """BFC's hardware prototype. Null without it."""
    elision: Elision | None
    """Ports without backpressure. Null with `switch.elide = "none"`."""
    sfc: Sfc | None
    """Source Flow Control. Null without SFC."""
    homa: Homa | None
    """Homa. Null under other schemes."""
    flowtune: Flowtune | None
    """Flowtune. Null without an allocator."""
    expresspass: ExpressPass | None
    """ExpressPass. Null under other schemes."""
    drops_packets: int
    """Packets that switches dropped, over the whole run."""
    dropped: Dropped
    """Packets lost at ports in the measured time."""
    trimmed_packets: int
    """Packets that a switch trimmed to their header, over the whole run."""
    returned_headers: int
    """Headers that a switch returned to their sender, over the whole run."""
    control_drops_packets: int
    """Acknowledgements and pulls that found no room in a control queue (NDP), over the whole
    run.
    """
    marked_packets: int
    """Packets marked with ECN, over the whole run."""
    control_frames_lost: int
    """Control frames of switches lost, over the whole run."""
    packets: Packets
    """Shares of data packets, over the whole run."""
    retransmitted_packets: int
    """Data packets sent again, over the whole run."""
    timeouts: int
    """Retransmission timeouts, over the whole run."""
    transport: Transport | None
    """Transports with selective acknowledgements. Null under others."""
    utilisation: Utilisation
    """Utilisation of links."""
    load: Load
    """Load of the network."""
    monitors: list[Monitor]
    """Access links of the hosts of `run.monitor`."""
    link_delays: list[LinkDelay]
    """Queueing delays by kind of link, with `run.link_delays`."""
    packet_hops: int
    """Packets of any kind put on a link, over the whole run."""
    flows_started: int
    """Flows that began, over the whole run."""
    flows_finished: int
    """Flows that finished, over the whole run."""
    sim_ps: int
    """Simulated time."""
    measured_ps: int
    """Measured part of it."""
    warmup_ps: int
    """Warm-up before the measured part."""
    warnings: list[str]
    """Texts about results that need care, such as unfinished flows."""


class Identity(TypedDict):
    """The run."""

    name: str
    """Name of the scenario."""
    engine: str
    """`fluid` or `convergence`."""
    seed: int
    """Seed of the random numbers."""
    digest: str
    """Hash of all events, as 16 hexadecimal digits."""
    classes: list[Class]
    """Traffic classes: an empty list."""


class Spread(TypedDict):
    """Statistics of a number without a unit. All are null without values."""

    mean: float | None
    """Mean."""
    min: float | None
    """Minimum."""
    p01: float | None
    """1st percentile."""
    p50: float | None
    """Median."""
    p90: float | None
    """90th percentile."""
    p99: float | None
    """99th percentile."""
    max: float | None
    """Maximum."""


class RateSpread(TypedDict):
    """Statistics of a rate in Gb/s. All are null without values."""

    mean_gbps: float | None
    """Mean."""
    min_gbps: float | None
    """Minimum."""
    p01_gbps: float | None
    """1st percentile."""
    p50_gbps: float | None
    """Median."""
    p90_gbps: float | None
    """90th percentile."""
    p99_gbps: float | None
    """99th percentile."""
    max_gbps: float | None
    """Maximum."""


class OverCapacity(RateSpread):
    """Allocations beyond capacities, summed over links, at each step."""

    settled_mean_gbps: float | None
    """Mean over the steps that follow at least 50 steps without arrival or end of a flowlet."""
    steps: float | None
    """Share of steps with any allocation beyond a capacity."""


class OptimumShare(Spread):
    """Throughput over that of the optimal rates."""

    above_one: float | None
    """Share of samples above 1."""


class Optimum(TypedDict):
    """Comparison with the optimal rates, at the steps that compute them."""

    share: OptimumShare
    """Throughput of the flowlets."""
    f_norm: OptimumShare
    """Throughput of the allocator's rates under F-NORM."""
    f_norm_as_printed: OptimumShare
    """The same under F-NORM as printed."""
    u_norm: OptimumShare
    """The same under U-NORM."""
    samples: int
    """Number of comparisons."""
    unsolved: int
    """Steps without a comparison, because the optimum was not found."""


class TimeSpread(TypedDict):
    """Statistics of a time in microseconds. All are null without values."""

    mean_us: float | None
    """Mean."""
    min_us: float | None
    """Minimum."""
    p01_us: float | None
    """1st percentile."""
    p50_us: float | None
    """Median."""
    p90_us: float | None
    """90th percentile."""
    p99_us: float | None
    """99th percentile."""
    max_us: float | None
    """Maximum."""


class FluidSummary(Identity):
    """The results of a run of the fluid engine, over the measured steps."""

    flows: Spread
    """Flowlets with bytes to send, at each step."""
    allocated: RateSpread
    """Sum of their allocations, at each step."""
    over_capacity: OverCapacity
    """Allocations beyond capacities."""
    most_used_link: Spread
    """Largest allocated share of a link's capacity, at each step."""
    optimum: Optimum
    """Comparison with the optimal rates."""
    wait: TimeSpread
    """Time from the start of a flowlet to its first rate."""
    slowdown: Spread
    """FCT over the FCT at the whole capacity of the path, of flowlets that began and ended in the
    measured time.
    """
    steps: int
    """Number of measured steps."""
    unfinished: int
    """Flowlets that began in the measured time and did not end."""
    flows_started: int
    """Flowlets that began, over the whole run."""
    flows_finished: int
    """Flowlets that ended, over the whole run."""
    sim_ps: int
    """Simulated time."""


class ConvergenceSummary(Identity):
    """The results of a run of the convergence engine."""

    networks: int
    """Number of networks."""
    unsolved: int
    """Networks left out, because their optimum was not found."""
    converged: float | None
    """Share of networks that converged."""
    iterations: Spread
    """Iterations to convergence of each network; infinite, hence null, if it did not converge."""
    final_error: Spread
    """Error of each network after the last iteration."""
