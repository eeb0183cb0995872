//! What BFC did: how flows got their queues, and what was said to neighbours.

use xoff_net::hop::{BfcStats, FRAME_BYTES, TofinoStats};
use xoff_sim::{PortRow, Simulation};

use super::{distribution_cdf, number, object, paused_shares};

pub(super) fn bfc(simulation: &Simulation, ports: &[PortRow], stats: &BfcStats) -> String {
    let shares = paused_shares(simulation, ports);
    let (flows, frames) = (&stats.assignment, &stats.frames);
    let frame_bytes = frames.all() * u64::from(FRAME_BYTES);
    object(&[
        ("some_queue_paused_share", shares.0),
        ("some_queue_paused_share_by_link", shares.1),
        ("pauses", frames.pauses.to_string()),
        ("resumes", frames.resumes.to_string()),
        ("refreshes", frames.refreshes.to_string()),
        ("frame_bytes", frame_bytes.to_string()),
        ("frame_bytes_share", number(frame_bytes as f64 / sent_bytes(simulation) as f64)),
        ("assignments", flows.assignments.to_string()),
        ("collisions", flows.collisions.to_string()),
        ("reassignments", flows.reassignments.to_string()),
        ("table_collisions", flows.table_collisions.to_string()),
        ("sharing_flows", distribution_cdf(simulation.sharing_flows())),
    ])
}

/// What it did that only hardware does.
pub(super) fn hardware(simulation: &Simulation, stats: &TofinoStats) -> String {
    let TofinoStats { recirculation, unseen_collisions } = stats;
    let topology = &simulation.setup().topology;
    let ports = topology.ports.iter().filter(|port| port.node >= topology.hosts);
    let capacity: u64 = ports.map(|port| port.rate.0).sum();
    let seconds = simulation.progress().sim_ps as f64 / 1e12;
    let share = recirculation.bytes as f64 * 8.0 / (capacity as f64 * seconds);
    object(&[
        ("recirculated_headers", recirculation.headers.to_string()),
        ("recirculated_bytes", recirculation.bytes.to_string()),
        ("recirculated_share_of_capacity", number(share)),
        ("recirculation_longest_wait_ps", recirculation.longest_wait_ps.to_string()),
        ("unseen_collisions", unseen_collisions.to_string()),
    ])
}

/// What all ports have sent since the beginning, as those frames are counted.
fn sent_bytes(simulation: &Simulation) -> u64 {
    let fabrics = simulation.partitions().iter().map(|part| part.fabric());
    fabrics
        .flat_map(|fabric| (0..fabric.port_count() as u32).map(|port| fabric.tx_bytes(port)))
        .sum()
}
