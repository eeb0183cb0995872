//! Sections of a scenario that belong to no single part of the engine.

use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::topo::TopologyKind;

choices! {
    /// How serialisation times are rounded.
    pub enum RoundingKind {
        /// Up to a whole picosecond.
        Picosecond = "1ps-up",
        /// Down to a whole nanosecond, as simulators with a nanosecond clock do.
        Nanosecond = "1ns-down",
    }
}

knobs! {
    /// The network.
    pub struct NetworkConfig in "network" {
        /// Its shape; the section of that name has its sizes.
        topology: TopologyKind = TopologyKind::LeafSpine,
        /// How serialisation times are rounded.
        rounding: RoundingKind = RoundingKind::Picosecond,
    }
}

choices! {
    /// Which flows get a row in the results.
    pub enum FlowRows {
        /// Every measured flow.
        All = "all",
        /// One in a hundred, chosen by its number.
        Sample = "sample",
        /// None: only bins and percentiles, which count every flow in any case.
        None = "none",
    }
}

knobs! {
    /// When and what to measure. Measured flows begin in [warmup, warmup + measure); arrivals go on
    /// until they have finished or `drain` has passed, and one that has not finished then counts as
    /// infinitely slow.
    pub struct RunConfig in "run" {
        /// Flows that begin before this are not measured.
        warmup: Ps = Ps::from_us(1000),
        /// For how long flows are measured.
        measure: Ps = Ps::from_us(8000),
        /// How long to wait after that for measured flows to finish.
        drain: Ps = Ps::from_us(50_000),
        /// Stop conditions are evaluated and samples taken at multiples of this.
        grid: Ps = Ps::from_us(10),
        /// A run in which nothing is acknowledged for so long, though flows wait, is stuck: an error.
        watchdog: Ps = Ps::from_us(50_000),
        /// Which flows get a row in flows.parquet.
        flows: FlowRows = FlowRows::All,
        /// Hosts whose access link, on the switch's side, is watched closely: every packet's queueing
        /// delay, and its queue at every step of the grid. As "0" or "0-3,7"; empty: none.
        monitor: String = String::new(),
        /// Links whose packets are written to trace.pcapng, in both directions: the access links of
        /// hosts as "0" or "0-3,7", all links of switches as "leaf:0" or "spine:0-1"; empty: none.
        capture: String = String::new(),
        /// For each flow and interval of this length, how much its receiver got: flow_series.parquet.
        /// A row for every flow that is under way, so a table for a few flows, or a short time. 0: none.
        flow_series: Ps = Ps(0),
        /// At intervals of this length, what each port holds, and has sent and lost since the one
        /// before: port_samples.parquet (Flowtune 5.3.3: 1 ms). 0: none.
        port_samples: Ps = Ps(0),
        /// Whether the queueing delays of all data packets are recorded at all ports of switches, and added
        /// up by kind of link, such as spine-leaf (BFC App. A.2, Table 2); where unscheduled and scheduled
        /// packets have queues of their own, of each of them as well.
        link_delays: bool = false,
        /// Parts the network is cut into; 0: as many as are good for the threads. Results do not
        /// depend on it.
        partitions: u16 = 0,
    }
}

choices! {
    /// Schedulers of data queues.
    pub enum SchedulerKind {
        /// First in, first out, by class.
        Fifo = "fifo",
        /// Deficit round robin over the hop control's queues.
        Drr = "drr",
        /// Deficit round robin with a queue for every flow.
        PerFlow = "per-flow",
        /// Shortest remaining flow first over the hop control's queues: the one whose first packet's flow
        /// has the least left (BFC App. A.2).
        Srf = "srf",
        /// Shortest remaining flow first with a queue for every flow.
        PerFlowSrf = "per-flow-srf",
        /// pFabric: the flow with least left goes first, and of a full port the one with most loses.
        PFabric = "pfabric",
        /// Stochastic fair queueing with CoDel, section `sfqcodel`.
        SfqCodel = "sfqcodel",
        /// Enhanced transmission selection: strict and weighted classes, section `ets`.
        Ets = "ets",
        /// Strict priorities that packets carry, `homa.priorities` of them.
        Strict = "strict",
    }
}

impl SchedulerKind {
    /// Whether its queues take turns, of `switch.quantum` each.
    pub(crate) fn takes_turns(self) -> bool {
        match self {
            Self::Drr | Self::PerFlow | Self::SfqCodel | Self::Ets => true,
            Self::Fifo | Self::Srf | Self::PerFlowSrf | Self::PFabric | Self::Strict => false,
        }
    }
}

choices! {
    /// Hop controls.
    pub enum HopKind {
        /// None: a full buffer drops.
        None = "none",
        /// Priority flow control, section `pfc`.
        Pfc = "pfc",
        /// Backpressure flow control, section `bfc`.
        Bfc = "bfc",
        /// Source flow control, section `sfc`.
        Sfc = "sfc",
    }
}

choices! {
    /// What happens to a data packet that finds its queue full.
    pub enum OverflowKind {
        /// It is lost.
        Drop = "drop",
        /// Its payload is, or that of the packet before it: section `trim`.
        Trim = "trim",
    }
}

choices! {
    /// How packets cross a switch.
    pub enum ArchitectureKind {
        /// A packet joins its egress queue when it arrives.
        OutputQueued = "output-queued",
        /// It waits at its ingress, crosses, and waits at its egress, section `crossbar`.
        Crossbar = "crossbar",
        /// It waits at its ingress, passes a processor of a fixed rate, and waits at its egress, section
        /// `pipeline`.
        Pipelined = "pipelined",
    }
}

choices! {
    /// Which of several equal ports a packet takes.
    pub enum BalanceKind {
        /// That of its flow's hash.
        Ecmp = "ecmp",
        /// A lightly loaded one, section `alb`.
        Adaptive = "adaptive",
        /// Another one for each packet, whatever its flow, section `spray`.
        Spray = "spray",
    }
}

choices! {
    /// For which packets hop-by-hop flow control is left out, so that pauses cannot go round in circles.
    pub enum ElideKind {
        /// For none.
        None = "none",
        /// For those of the pairs of ports that break all cycles of this run's backpressure graph, with its
        /// faults (`xoff check` prints both).
        Cycles = "cycles",
        /// For all that come from a higher layer and go back to a higher one (BFC App. B: the rule for
        /// Clos topologies). No route closes a cycle then, whatever fails.
        Bounces = "bounces",
    }
}

knobs! {
    /// What every switch is put together from.
    pub struct SwitchConfig in "switch" {
        /// How packets cross it.
        architecture: ArchitectureKind = ArchitectureKind::OutputQueued,
        /// Which of several equal ports a packet takes.
        balance: BalanceKind = BalanceKind::Ecmp,
        /// Whether both directions of a flow take the same links: switches of a layer hash alike, and the
        /// 5-tuple in either direction.
        symmetric_ecmp: bool = false,
        /// Scheduler of data queues.
        scheduler: SchedulerKind = SchedulerKind::Fifo,
        /// Bytes that a turn of round robin allows (one full packet, so that every turn sends one).
        quantum: Bytes = Bytes(1048),
        /// Hop-by-hop flow control.
        hop: HopKind = HopKind::None,
        /// For which packets it is left out (BFC App. B): they pause nobody, so that they are lost where they
        /// find no room, under PFC too.
        elide: ElideKind = ElideKind::None,
        /// What happens to a data packet that finds its queue full.
        overflow: OverflowKind = OverflowKind::Drop,
        /// Whether switches mark packets, section `ecn`.
        ecn: bool = false,
    }
}

knobs! {
    /// Faults injected on purpose.
    pub struct FaultsConfig in "faults" {
        /// Share of frames of flow controls (pauses, resumes, bitmaps, signals to senders) that are lost.
        control_loss: f64 = 0.0,
    }
}
