//! Sections of a scenario that belong to no single part of the engine.

use xoff_core::knobs::{Checked, Effect};
use xoff_core::seam::{Need, need};
use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::arch::ArchitectureKind;
use xoff_net::balance::BalanceKind;
use xoff_net::capability::{BACKPRESSURE, CONTROL_FRAMES, TURNS};
use xoff_net::hop::HopKind;
use xoff_net::sched::SchedulerKind;
use xoff_net::topo::TopologyKind;
use xoff_net::trim::OverflowKind;

choices! {
    /// Rounding of serialisation times.
    pub enum RoundingKind {
        /// Up to a whole picosecond.
        Picosecond = "1ps-up",
        /// Down to a whole nanosecond, as simulators with a nanosecond clock do.
        Nanosecond = "1ns-down",
    }
}

choices! {
    /// Order of the events of one instant.
    pub enum InstantsKind {
        /// By kind and number, so that the order does not depend on the history of the run.
        Phases = "phases",
        /// The order in which they were set, as in ns-2, ns-3 and htsim. Where equal rates let
        /// packets meet at the same picosecond, it decides which one is dropped. One partition and
        /// one thread run the network.
        AsSet = "as-set",
    }
}

knobs! {
    /// The network.
    pub struct NetworkConfig in "network" {
        /// Its shape. The section with that name has its sizes.
        topology: TopologyKind = TopologyKind::LeafSpine,
        /// Rounding of serialisation times.
        rounding: RoundingKind = RoundingKind::Picosecond,
        /// Order of the events of one instant.
        instants: InstantsKind = InstantsKind::Phases,
    }
}

choices! {
    /// Which flows get a row in the results.
    pub enum FlowRows {
        /// Every measured flow.
        All = "all",
        /// One in a hundred, chosen by its number.
        Sample = "sample",
        /// None: only bins and percentiles, which always count every flow.
        None = "none",
    }
}

knobs! {
    /// When and what to measure. Measured flows start in [warmup, warmup + measure). Arrivals
    /// continue until these flows have finished or `drain` has passed. A measured flow that has not
    /// finished then counts as infinitely slow.
    pub struct RunConfig in "run" {
        /// Flows that start before this are not measured.
        warmup: Ps = Ps::from_us(1000),
        /// Duration of the measurement.
        measure: Ps = Ps::from_us(8000),
        /// The longest wait after that for measured flows to finish.
        drain: Ps = Ps::from_us(50_000),
        /// Interval of the grid: stop conditions are evaluated and samples taken at its multiples.
        grid: Ps = Ps::from_us(10),
        /// A run is stuck, which is an error, if flows wait and nothing is acknowledged for this
        /// time, or if paused queues wait for each other for it.
        watchdog: Ps = Ps::from_us(50_000),
        /// Which flows get a row in flows.parquet.
        flows: FlowRows = FlowRows::All,
        /// Hosts with a monitored access link, on the switch's side: every packet's queueing delay,
        /// and the queue length at every step of the grid. Written as "0" or "0-3,7"; empty: none.
        monitor: String = String::new(),
        /// Links with packets written to trace.pcapng, in both directions: the access links of
        /// hosts as "0" or "0-3,7", all links of switches as "leaf:0" or "spine:0-1"; empty: none.
        capture: String = String::new(),
        /// Interval of flow_series.parquet: the bytes of each flow at its receiver in each
        /// interval. Each active flow adds a row per interval, so it suits a few flows or a short
        /// time. 0: none.
        flow_series: Ps = Ps(0),
        /// Interval of port_samples.parquet: the bytes in each port's queues, and its bytes sent
        /// and lost in the interval (Flowtune 5.3.3: 1 ms). 0: none.
        port_samples: Ps = Ps(0),
        /// Record the queueing delays of all data packets at all ports of switches, by kind of
        /// link, such as spine-leaf (BFC App. A.2, Table 2). If unscheduled and scheduled packets
        /// have separate queues, also for each of them.
        link_delays: bool = false,
        /// Record paths.parquet: the ports that each flow takes through the network. Every flow
        /// adds a row for each of its links. Needs a load balancer that gives a flow one path.
        paths: bool = false,
        /// Batches of equal length that the measured time is divided into, for batches.parquet:
        /// slowdowns and completion times of each batch, at any length of a run in bounded memory.
        /// At most 1000. 0: none.
        batches: u16 = 0,
        /// Partitions of the network; 0: a number that suits the threads. Results do not depend on
        /// it.
        partitions: u16 = 0,
        /// Check invariants of the simulation's state as it advances, such as the bytes that queues
        /// and memories count. A violation ends the run. Results do not depend on it.
        check_invariants: bool = false,
    }
}

impl RunConfig {
    /// The latest end of a run.
    pub(crate) fn end(&self) -> Ps {
        Ps(self.warmup.0.saturating_add(self.measure.0).saturating_add(self.drain.0))
    }
}

choices! {
    /// Packets without hop-by-hop flow control, so that pauses cannot form a cycle.
    pub enum ElideKind {
        /// None.
        None = "none",
        /// Packets between the pairs of ports that break all cycles of this run's backpressure
        /// graph, with its faults (`xoff check` prints both).
        Cycles = "cycles",
        /// Packets that come from a higher layer and return to a higher one (BFC App. B: the rule
        /// for Clos topologies). No route then closes a cycle, with any failures.
        Bounces = "bounces",
    }
}

choices! {
    /// When a packet leaves its queue.
    pub enum Departure {
        /// When its transmission starts.
        Start = "start",
        /// When its transmission ends: the packet in service counts in its queue.
        End = "end",
    }
}

impl Departure {
    /// Values that it needs in other settings.
    #[must_use]
    pub fn needs(self) -> Vec<Need> {
        if self == Self::Start {
            return Vec::new();
        }
        let in_phases = "other switches move packets in phases";
        let at_start = "hop controls act when a transmission starts";
        let one_queue = "the packet in service takes room in one queue";
        let own_queue = "the packet in service takes room in its own queue";
        let unseen = "an arriving packet does not see the one in service";
        vec![
            need(("switch", "architecture"), &["output-queued"], in_phases),
            need(("switch", "hop"), &["none"], at_start),
            need(("switch", "scheduler"), &["fifo"], one_queue),
            need(("buffer", "kind"), &["dedicated"], own_queue),
            need(("ecn", "at"), &["dequeue"], unseen),
        ]
    }
}

knobs! {
    /// The parts of every switch.
    pub struct SwitchConfig in "switch" {
        /// The path of packets through a switch.
        architecture: ArchitectureKind = ArchitectureKind::OutputQueued,
        /// The choice of a packet's port among equal-cost ports.
        balance: BalanceKind = BalanceKind::Ecmp,
        /// Both directions of a flow take the same links. Switches of a layer use the same hash,
        /// and hash the 5-tuple of either direction to the same value.
        symmetric_ecmp: bool = false,
        /// Scheduler of data queues.
        scheduler: SchedulerKind = SchedulerKind::Fifo,
        /// Bytes per turn of round robin (one full packet, so that every turn sends one).
        quantum: Bytes = Bytes(1048) => [Effect::Needs(TURNS)],
        /// When a packet leaves its queue and its memory. If at the end of its transmission, it
        /// takes room from others until then, and `ecn.at = "dequeue"` sees the queue with the
        /// packet itself (htsim).
        departure: Departure = Departure::Start,
        /// Hop-by-hop flow control.
        hop: HopKind = HopKind::None,
        /// Packets without flow control (BFC App. B). They pause no neighbour, so they are dropped
        /// if there is no room, even under PFC.
        elide: ElideKind = ElideKind::None => [Effect::Needs(BACKPRESSURE)],
        /// The fate of a data packet with a full queue.
        overflow: OverflowKind = OverflowKind::Drop,
        /// Switches mark packets, as set in section `ecn`.
        ecn: bool = false,
    }
}

knobs! {
    /// Faults injected on purpose.
    pub struct FaultsConfig in "faults" {
        /// Share of flow-control frames (pauses, resumes, bitmaps, signals to senders) that are
        /// lost.
        control_loss: f64 = 0.0 => [Effect::Needs(CONTROL_FRAMES)],
    }
}

impl FaultsConfig {
    /// Checks the settings on their own.
    ///
    /// # Errors
    /// The key that is wrong, and what to write instead.
    pub fn check(&self) -> Checked {
        if self.control_loss > 1.0 {
            return Err(("control_loss", "control_loss is a share of the frames: 0 to 1".into()));
        }
        Ok(())
    }
}
