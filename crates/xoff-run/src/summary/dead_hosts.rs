//! Hosts that went down for good.

use xoff_sim::Simulation;

use super::keys::keys;

keys! {
    /// A host that went down for good, and what it cut off. No percentile counts these flows and
    /// web requests, and the run did not wait for them.
    pub struct DeadHost {
        /// The host.
        host: u32,
        /// Time at which it went down.
        down_ps: u64,
        /// Measured flows to and from it that had not ended, or began later. `cut_off` lists them.
        flows: u64,
        /// Measured web requests with a query to or from it.
        requests: u64,
    }
}

/// All of them, by number; `None` without any.
pub(super) fn dead_hosts(simulation: &Simulation) -> Option<Vec<DeadHost>> {
    let topology = &simulation.setup().topology;
    let hosts = simulation.dead_hosts().into_iter().map(|dead| DeadHost {
        host: topology.given_number(dead.host.node()),
        down_ps: dead.since.0,
        flows: dead.flows,
        requests: dead.requests,
    });
    let hosts: Vec<DeadHost> = hosts.collect();
    (!hosts.is_empty()).then_some(hosts)
}
