//! Sections of a scenario that belong to no single part of the engine.

use xoff_core::knobs::{Checked, Effect};
use xoff_core::{Bytes, Ps, choices, knobs};
use xoff_net::arch::ArchitectureKind;
use xoff_net::balance::BalanceKind;
use xoff_net::capability::{BACKPRESSURE, CONTROL_FRAMES, TURNS};
use xoff_net::hop::HopKind;
use xoff_net::sched::SchedulerKind;
use xoff_net::topo::TopologyKind;
use xoff_net::trim::OverflowKind;

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
    /// Packets without hop-by-hop flow control, so that pauses cannot form a cycle.
    pub enum ElideKind {
        /// None.
        None = "none",
        /// Packets between the pairs of ports that break all cycles of this run's backpressure graph, with
        /// its faults (`xoff check` prints both).
        Cycles = "cycles",
        /// Packets that come from a higher layer and go back to a higher one (BFC App. B: the rule for
        /// Clos topologies). No route closes a cycle then, whatever fails.
        Bounces = "bounces",
    }
}

knobs! {
    /// The parts of every switch.
    pub struct SwitchConfig in "switch" {
        /// How packets cross it.
        architecture: ArchitectureKind = ArchitectureKind::OutputQueued,
        /// Which of several equal ports a packet takes.
        balance: BalanceKind = BalanceKind::Ecmp,
        /// Both directions of a flow take the same links: switches of a layer hash alike, and hash the
        /// 5-tuple of either direction to the same value.
        symmetric_ecmp: bool = false,
        /// Scheduler of data queues.
        scheduler: SchedulerKind = SchedulerKind::Fifo,
        /// Bytes that a turn of round robin allows (one full packet, so that every turn sends one).
        quantum: Bytes = Bytes(1048) => [Effect::Needs(TURNS)],
        /// Hop-by-hop flow control.
        hop: HopKind = HopKind::None,
        /// Packets without flow control (BFC App. B). They pause nobody, so they are dropped where they find
        /// no room, under PFC too.
        elide: ElideKind = ElideKind::None => [Effect::Needs(BACKPRESSURE)],
        /// What happens to a data packet whose queue is full.
        overflow: OverflowKind = OverflowKind::Drop,
        /// Switches mark packets, section `ecn`.
        ecn: bool = false,
    }
}

knobs! {
    /// Faults injected on purpose.
    pub struct FaultsConfig in "faults" {
        /// Share of flow-control frames (pauses, resumes, bitmaps, signals to senders) that are lost.
        control_loss: f64 = 0.0 => [Effect::Needs(CONTROL_FRAMES)],
    }
}

impl FaultsConfig {
    /// Checks the settings by themselves.
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
