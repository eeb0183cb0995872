//! Assignments of flows to queues under BFC, and the frames that switches exchanged.

use xoff_net::hop::{BfcStats, FRAME_BYTES, TofinoStats};
use xoff_sim::{PortRow, Simulation};

use super::keys::{Named, keys};
use super::ports::PausedShares;
use super::samples::Sampled;
use super::share;

keys! {
    /// Backpressure Flow Control.
    pub struct Bfc {
        /// Share of the measured time in which a port had at least one paused queue, mean over
        /// ports.
        some_queue_paused_share: f64,
        /// The same by kind of link.
        some_queue_paused_share_by_link: Named<f64>,
        /// Frames that paused a queue.
        pauses: u64,
        /// Frames that resumed a queue.
        resumes: u64,
        /// Frames with the bitmap of all paused queues.
        refreshes: u64,
        /// Bytes of these frames.
        frame_bytes: u64,
        /// Their share of all bytes sent.
        frame_bytes_share: f64,
        /// Assignments of a flow to a queue.
        assignments: u64,
        /// Assignments to a queue in use.
        collisions: u64,
        /// Assignments to flows that had been at the switch before.
        reassignments: u64,
        /// Packets that found their flow-table entry in use, last by another flow.
        table_collisions: u64,
        /// Flows at a port that share their queue with another one, sampled at ports with flows.
        sharing_flows: Option<Sampled>,
    }
}

impl Bfc {
    pub(super) fn of(simulation: &Simulation, ports: &[PortRow], stats: &BfcStats) -> Self {
        let paused = PausedShares::of(simulation, ports);
        let (flows, frames) = (&stats.assignment, &stats.frames);
        let frame_bytes = frames.all() * u64::from(FRAME_BYTES);
        Self {
            some_queue_paused_share: paused.all,
            some_queue_paused_share_by_link: paused.by_link,
            pauses: frames.pauses,
            resumes: frames.resumes,
            refreshes: frames.refreshes,
            frame_bytes,
            frame_bytes_share: share(frame_bytes, sent_bytes(simulation)),
            assignments: flows.assignments,
            collisions: flows.collisions,
            reassignments: flows.reassignments,
            table_collisions: flows.table_collisions,
            sharing_flows: Sampled::of(simulation.sharing_flows()),
        }
    }
}

keys! {
    /// BFC as its hardware prototype implements it, over the whole run.
    pub struct BfcHardware {
        /// Headers sent through the pipeline once more.
        recirculated_headers: u64,
        /// Their bytes.
        recirculated_bytes: u64,
        /// The rate of these bytes as a share of the capacity of all ports of switches.
        recirculated_share_of_capacity: f64,
        /// The longest time that a header waited for recirculation.
        recirculation_longest_wait_ps: u64,
        /// Assignments to a queue in use that the switch took for an empty one.
        unseen_collisions: u64,
    }
}

impl BfcHardware {
    pub(super) fn of(simulation: &Simulation, stats: &TofinoStats) -> Self {
        let TofinoStats { recirculation, unseen_collisions } = stats;
        let topology = &simulation.setup().topology;
        let ports = topology.ports().iter().filter(|port| !topology.is_host(port.node));
        let capacity: u64 = ports.map(|port| port.rate.0).sum();
        let seconds = simulation.progress().sim_ps as f64 / 1e12;
        let share = recirculation.bytes as f64 * 8.0 / (capacity as f64 * seconds);
        Self {
            recirculated_headers: recirculation.headers,
            recirculated_bytes: recirculation.bytes,
            recirculated_share_of_capacity: share,
            recirculation_longest_wait_ps: recirculation.longest_wait_ps,
            unseen_collisions: *unseen_collisions,
        }
    }
}

/// Bytes that all ports have sent since the run began, the period over which frames are counted.
fn sent_bytes(simulation: &Simulation) -> u64 {
    let fabrics = simulation.partitions().iter().map(|part| part.fabric());
    fabrics
        .flat_map(|fabric| (0..fabric.port_count() as u32).map(|port| fabric.tx_bytes(port)))
        .sum()
}
